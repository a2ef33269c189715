use super::Behaviors;
use crate::api::{Name, ObjectKey, Uid};
use crate::client::{
    Answers, Arg, ContainerPhase, ContainerRecord, Exit, Hook, NodeRuntime, Note, PodRecord, Pull, Role, RuntimeCall,
};
use crate::note;
use crate::sim::{Map, Millis, OnWrite, Time};

/// What is left of the grace period after a hook, at least (`minimumGracePeriodInSeconds`, v1.36).
const LEAST_GRACE: u64 = 2_000;
/// A registry is asked whether an image that is here is still the newest: this share of the time a download takes.
const CHECK_SHARE: u64 = 10;
/// The most changes of a container's answers that are kept.
const MOST_FORCED: usize = 32;

/// Something that is going to happen inside a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Occurrence {
    Pulled { image: Name },
    Started { pod: Uid, container: Name },
    Ended { pod: Uid, container: Name, code: i32, plan: u32, is_oom: bool },
}

/// What came of an occurrence: which pod it concerns, in words.
pub type Happening = (ObjectKey, Note);

/// What is going to happen, and when.
pub type Plan = Vec<(Time, Occurrence)>;

/// One node's machine: its containers and images. Deterministic: same calls, same course.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub runtime: NodeRuntime,
    pub is_on: bool,
    /// Counts starts, so that what was going to happen before a power cut does not happen after it.
    pub boot: u32,
    pulls: Map<Name, Time>,
}

impl Machine {
    pub fn new() -> Self {
        Self { is_on: true, ..Self::default() }
    }

    /// Carries out a call of the kubelet. Returns what will come of it, and when.
    pub fn call(&mut self, key: &ObjectKey, uid: Uid, call: &RuntimeCall, behaviors: &Behaviors, now: Time) -> Plan {
        match call {
            RuntimeCall::Create { containers, is_task } => {
                let containers = containers
                    .iter()
                    .map(|(name, image, role)| ContainerRecord::new(name.clone(), image.clone(), *role))
                    .collect();
                let record =
                    PodRecord { key: key.clone(), containers, created: now, is_task: *is_task, is_stopping: false };
                self.runtime.pods.or_insert_with(uid, || OnWrite::new(record));
                Vec::new()
            }
            RuntimeCall::Pull { container } => self.pull(uid, container, behaviors, now),
            RuntimeCall::Start { container, back_off } => {
                let Some(record) = self.record(uid) else { return Vec::new() };
                let Some(it) = record.containers.iter_mut().find(|it| it.name == *container) else {
                    return Vec::new();
                };
                it.back_off = *back_off;
                let until = now + Millis(behaviors.within(&record.key, &it.image).start_ms);
                start(it, until);
                vec![(until, Occurrence::Started { pod: uid, container: container.clone() })]
            }
            RuntimeCall::Kill { container, grace, hook } => {
                let Some(record) = self.record(uid) else { return Vec::new() };
                let Some(it) = record.containers.iter_mut().find(|it| it.name == *container) else {
                    return Vec::new();
                };
                it.was_killed = true;
                terminate(it, &record.key, uid, *grace, *hook, behaviors, now).into_iter().collect()
            }
            RuntimeCall::Stop { grace, hooks } => self.stop(uid, *grace, hooks, behaviors, now),
            RuntimeCall::Remove => {
                self.runtime.pods.remove(&uid);
                Vec::new()
            }
        }
    }

    fn record(&mut self, pod: Uid) -> Option<&mut PodRecord> {
        self.runtime.pods.get_mut(&pod).map(|record| &mut **record)
    }

    fn container(&mut self, pod: Uid, name: &Name) -> Option<&mut ContainerRecord> {
        self.record(pod)?.containers.iter_mut().find(|it| it.name == *name)
    }

    fn pull(&mut self, pod: Uid, name: &Name, behaviors: &Behaviors, now: Time) -> Plan {
        let Some(container) = self.container(pod, name) else { return Vec::new() };
        container.pull = Pull::UnderWay { since: now };
        let image = container.image.clone();
        // A second pod that wants an image that is on its way waits for the same download.
        if self.pulls.get(&image).is_some_and(|until| *until > now) {
            return Vec::new();
        }
        let takes = behaviors.of(&image).pull_ms;
        let share = if self.runtime.images.contains(&image) { CHECK_SHARE } else { 1 };
        let until = now + Millis(takes / share);
        self.pulls.insert(image.clone(), until);
        vec![(until, Occurrence::Pulled { image })]
    }

    fn stop(&mut self, pod: Uid, grace: Millis, hooks: &[(Name, Hook)], behaviors: &Behaviors, now: Time) -> Plan {
        let Some(record) = self.record(pod) else { return Vec::new() };
        record.is_stopping = true;
        let key = &record.key;
        let containers = record.containers.iter_mut();
        containers
            .filter_map(|container| {
                let hook = hooks.iter().find(|(name, _)| *name == container.name).map(|(_, hook)| *hook);
                terminate(container, key, pod, grace, hook, behaviors, now)
            })
            .collect()
    }

    /// Lets something happen. Returns what it means for which pods, and what will come of it.
    pub fn occur(&mut self, occurrence: &Occurrence, behaviors: &Behaviors, now: Time) -> (Vec<Happening>, Plan) {
        match occurrence {
            Occurrence::Pulled { image } => (self.pulled(image, behaviors, now), Vec::new()),
            Occurrence::Started { pod, container } => self.started(*pod, container, behaviors, now),
            Occurrence::Ended { pod, container, code, plan, is_oom } => {
                (self.ended(*pod, container, *code, *plan, *is_oom, now), Vec::new())
            }
        }
    }

    fn pulled(&mut self, image: &Name, behaviors: &Behaviors, now: Time) -> Vec<Happening> {
        self.pulls.remove(image);
        let is_missing = behaviors.of(image).is_missing;
        if !is_missing {
            self.runtime.images.add(image.clone());
        }
        let mut happenings = Vec::new();
        let waits = |it: &ContainerRecord| it.image == *image && matches!(it.pull, Pull::UnderWay { .. });
        for record in self.runtime.pods.values_mut().filter(|it| it.containers.iter().any(waits)) {
            let PodRecord { key, containers, .. } = &mut **record;
            for container in containers.iter_mut().filter(|it| waits(it)) {
                let Pull::UnderWay { since } = container.pull else { continue };
                let note = if is_missing {
                    container.pull = Pull::Failed { at: now };
                    container.failed_pulls += 1;
                    note!("image {} was not found", image)
                } else {
                    container.pull = Pull::Done { took: now.since(since).0 };
                    container.failed_pulls = 0;
                    note!("image {} arrived", image)
                };
                happenings.push((key.clone(), note));
            }
        }
        happenings
    }

    fn started(&mut self, pod: Uid, name: &Name, behaviors: &Behaviors, now: Time) -> (Vec<Happening>, Plan) {
        let Some(record) = self.record(pod) else { return (Vec::new(), Vec::new()) };
        let key = record.key.clone();
        let Some(container) = record.containers.iter_mut().find(|it| it.name == *name) else {
            return (Vec::new(), Vec::new());
        };
        if !matches!(container.phase, ContainerPhase::Starting { until } if until <= now) {
            return (Vec::new(), Vec::new());
        }
        container.phase = ContainerPhase::Running { since: now };
        let note = note!("container {} of {} runs", name, Arg::Short(key.name.clone()));
        let plan = describe_run(container, (&key, record.is_task), pod, behaviors, now, now);
        (vec![(key, note)], plan)
    }

    fn ended(&mut self, pod: Uid, name: &Name, code: i32, plan: u32, is_oom: bool, now: Time) -> Vec<Happening> {
        let key = self.runtime.pods.get(&pod).map(|record| record.key.clone());
        let (Some(key), Some(container)) = (key, self.container(pod, name)) else { return Vec::new() };
        let since = match container.phase {
            ContainerPhase::Running { since } if container.plan == plan => since,
            ContainerPhase::Stopping { since, until } if until <= now => since,
            _ => return Vec::new(),
        };
        container.phase = ContainerPhase::Exited(Exit { code, since, at: now, is_oom });
        let short = Arg::Short(key.name.clone());
        let note = if is_oom {
            note!("container {} of {} took too much memory and was killed", name, short)
        } else {
            note!("container {} of {} ended with code {}", name, short, code)
        };
        vec![(key, note)]
    }

    /// A person ends a container's process. Returns what happened, if it ran.
    pub fn crash(&mut self, pod: &ObjectKey, name: &Name, code: i32, now: Time) -> Vec<Happening> {
        let found = self.runtime.pods.iter().find(|(_, record)| record.key == *pod).map(|(uid, _)| *uid);
        let Some(uid) = found else { return Vec::new() };
        let Some(plan) = self.container(uid, name).map(|container| container.plan) else { return Vec::new() };
        self.ended(uid, name, code, plan, false, now)
    }

    /// A person makes a pod's programs say that they are ready, or not. Returns what happened, if any of them runs.
    pub fn force(&mut self, pod: &ObjectKey, ready: bool, now: Time) -> Vec<Happening> {
        let Some(record) = self.runtime.pods.values_mut().find(|record| record.key == *pod) else { return Vec::new() };
        let mut happenings = Vec::new();
        for container in record.containers.iter_mut().filter(|it| it.is_up()) {
            if container.answers.forced.len() >= MOST_FORCED {
                container.answers.forced.remove(0);
            }
            container.answers.forced.push((now, ready));
            let word = if ready { "answers that it is ready" } else { "answers that it is not ready" };
            happenings.push((
                pod.clone(),
                note!("container {} of {} {}", &container.name, Arg::Short(pod.name.clone()), word),
            ));
        }
        happenings
    }

    /// Behaviors have changed: programs that run take on theirs, as if they had started now.
    pub fn reconsider(
        &mut self,
        behaviors: &Behaviors,
        concerns: impl Fn(&ObjectKey, &Name) -> bool,
        now: Time,
    ) -> (Vec<Happening>, Plan) {
        let (mut happenings, mut plan) = (Vec::new(), Vec::new());
        let uids: Vec<Uid> = self.runtime.pods.keys().copied().collect();
        for uid in uids {
            let Some(record) = self.record(uid) else { continue };
            for container in record.containers.iter_mut().filter(|it| concerns(&record.key, &it.image)) {
                let ContainerPhase::Running { since } = container.phase else { continue };
                plan.extend(describe_run(container, (&record.key, record.is_task), uid, behaviors, since, now));
                let short = Arg::Short(record.key.name.clone());
                happenings
                    .push((record.key.clone(), note!("container {} of {} behaves otherwise", &container.name, short)));
            }
        }
        (happenings, plan)
    }

    /// Cuts the power: nothing runs any more, and nothing that was under way will come.
    pub fn power_off(&mut self, now: Time) {
        self.is_on = false;
        self.boot += 1;
        self.pulls.clear();
        for record in self.runtime.pods.values_mut() {
            for container in &mut record.containers {
                if matches!(container.pull, Pull::UnderWay { .. }) {
                    container.pull = Pull::NotAsked;
                }
                container.back_off = None;
                container.phase = match container.phase {
                    ContainerPhase::Running { since } | ContainerPhase::Stopping { since, .. } => {
                        ContainerPhase::Exited(Exit { code: 255, since, at: now, is_oom: false })
                    }
                    ContainerPhase::Starting { .. } => ContainerPhase::Waiting,
                    other => other,
                };
            }
        }
    }

    pub fn power_on(&mut self) {
        self.is_on = true;
    }
}

fn start(container: &mut ContainerRecord, until: Time) {
    if let ContainerPhase::Exited(exit) = container.phase {
        container.last_exit = Some(exit);
        container.restarts = container.restarts.saturating_add(1);
    }
    container.was_killed = false;
    container.deaf_from = None;
    container.pull = Pull::NotAsked;
    container.phase = ContainerPhase::Starting { until };
}

/// Notes what a run's program will answer, and plans its end. `since` is the run's start; an end is counted from now.
fn describe_run(
    container: &mut ContainerRecord,
    (key, is_task): (&ObjectKey, bool),
    pod: Uid,
    behaviors: &Behaviors,
    since: Time,
    now: Time,
) -> Plan {
    let mut behavior = behaviors.within(key, &container.image);
    let is_to_end = container.role == Role::Init || is_task && container.role == Role::Main;
    if is_to_end && !behaviors.describes(key, &container.image) {
        // A program that nobody described does what its place asks of it: it ends well after a while.
        behavior.exit = behavior.serve_ms.map(|ms| (ms, 0));
    }
    container.answers = Answers {
        serves_from: behavior.serve_ms.map_or(Answers::NEVER, |ms| since + Millis(ms)),
        lapse: behavior.lapse.map(|(from, lasts)| (now + Millis(from), now + Millis(from.saturating_add(lasts)))),
        hangs_from: behavior.hang_ms.map(|ms| now + Millis(ms)),
        forced: Vec::new(),
        is_heard: behavior.tells_ready,
    };
    container.plan += 1;
    let plan = container.plan;
    let end = behavior.end_of(container.restarts).map(|(after, code)| {
        let container = container.name.clone();
        (now + Millis(after), Occurrence::Ended { pod, container, code, plan, is_oom: behavior.is_oom })
    });
    end.into_iter().collect()
}

/// Tells a container to stop: its hook runs first, and what outlasts the grace period is killed with code 137.
fn terminate(
    container: &mut ContainerRecord,
    key: &ObjectKey,
    pod: Uid,
    grace: Millis,
    hook: Option<Hook>,
    behaviors: &Behaviors,
    now: Time,
) -> Option<(Time, Occurrence)> {
    let ContainerPhase::Running { since } = container.phase else {
        if matches!(container.phase, ContainerPhase::Waiting | ContainerPhase::Starting { .. }) {
            container.phase = ContainerPhase::Exited(Exit { code: 137, since: now, at: now, is_oom: false });
            container.deaf_from = Some(now);
        }
        return None;
    };
    let behavior = behaviors.within(key, &container.image);
    let hook = match hook {
        Some(Hook::Sleep(span)) => span.0,
        Some(Hook::Program) => behavior.hook_ms,
        None => 0,
    };
    let hook = hook.min(grace.0);
    let left = if grace.0 == 0 { 0 } else { (grace.0 - hook).max(LEAST_GRACE.min(grace.0)) };
    let heeds = !behavior.ignores_term && behavior.stop_ms <= left;
    let (takes, code) = if heeds { (behavior.stop_ms, 0) } else { (left, 137) };
    let until = now + Millis(hook + takes);
    container.deaf_from = (!behavior.ignores_term).then(|| now + Millis(hook));
    container.phase = ContainerPhase::Stopping { since, until };
    let (plan, container) = (container.plan, container.name.clone());
    Some((until, Occurrence::Ended { pod, container, code, plan, is_oom: false }))
}
