use super::Behaviors;
use crate::api::{Name, ObjectKey, Uid};
use crate::client::{Arg, ContainerPhase, ContainerRecord, NodeRuntime, Note, PodRecord, RuntimeCall};
use crate::note;
use crate::sim::{Map, Millis, Time};

/// A run that lasted this long clears the memory of earlier crashes (`2 × MaxContainerBackOff`, v1.36).
const HEALTHY_AFTER: Millis = Millis(600_000);

/// Something that is going to happen inside a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Occurrence {
    Pulled { image: Name },
    Started { pod: Uid, container: Name },
    Ended { pod: Uid, container: Name, code: i32, run: i32 },
}

/// What came of an occurrence: which pod it concerns, in words.
pub type Happening = (ObjectKey, Note);

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
    pub fn call(
        &mut self,
        key: &ObjectKey,
        uid: Uid,
        call: &RuntimeCall,
        behaviors: &Behaviors,
        now: Time,
    ) -> Vec<(Time, Occurrence)> {
        match call {
            RuntimeCall::Create { containers } => {
                let containers =
                    containers.iter().map(|(name, image)| ContainerRecord::new(name.clone(), image.clone())).collect();
                let record = PodRecord { key: key.clone(), containers, is_stopping: false };
                self.runtime.pods.or_insert_with(uid, || record);
                Vec::new()
            }
            RuntimeCall::Pull { container } => self.pull(uid, container, behaviors, now),
            RuntimeCall::Start { container } => self.start(uid, container, behaviors, now),
            RuntimeCall::Stop { grace_ms } => self.stop(uid, *grace_ms, behaviors, now),
            RuntimeCall::Remove => {
                self.runtime.pods.remove(&uid);
                Vec::new()
            }
        }
    }

    fn container(&mut self, pod: Uid, name: &Name) -> Option<&mut ContainerRecord> {
        self.runtime.pods.get_mut(&pod)?.containers.iter_mut().find(|it| it.name == *name)
    }

    fn pull(&mut self, pod: Uid, name: &Name, behaviors: &Behaviors, now: Time) -> Vec<(Time, Occurrence)> {
        let Some(container) = self.container(pod, name) else { return Vec::new() };
        container.phase = ContainerPhase::Pulling { since: now };
        let image = container.image.clone();
        // A second pod that wants an image that is on its way waits for the same download.
        if self.pulls.get(&image).is_some_and(|until| *until > now) {
            return Vec::new();
        }
        let until = now + Millis(behaviors.of(&image).pull_ms);
        self.pulls.insert(image.clone(), until);
        vec![(until, Occurrence::Pulled { image })]
    }

    fn start(&mut self, pod: Uid, name: &Name, behaviors: &Behaviors, now: Time) -> Vec<(Time, Occurrence)> {
        let Some(container) = self.container(pod, name) else { return Vec::new() };
        if let ContainerPhase::Exited { code, since, at } = container.phase {
            container.last_exit = Some((code, since, at));
            container.restarts += 1;
        }
        let until = now + Millis(behaviors.of(&container.image).start_ms);
        container.phase = ContainerPhase::Starting { until };
        vec![(until, Occurrence::Started { pod, container: name.clone() })]
    }

    fn stop(&mut self, pod: Uid, grace_ms: u64, behaviors: &Behaviors, now: Time) -> Vec<(Time, Occurrence)> {
        let Some(record) = self.runtime.pods.get_mut(&pod) else { return Vec::new() };
        record.is_stopping = true;
        let mut planned = Vec::new();
        for container in &mut record.containers {
            let ContainerPhase::Running { since } = container.phase else {
                if !container.is_over() {
                    container.phase = ContainerPhase::Exited { code: 137, since: now, at: now };
                }
                continue;
            };
            let takes = behaviors.of(&container.image).stop_ms;
            let (takes, code) = if takes <= grace_ms { (takes, 0) } else { (grace_ms, 137) };
            let until = now + Millis(takes);
            container.phase = ContainerPhase::Stopping { since, until };
            planned.push((
                until,
                Occurrence::Ended { pod, container: container.name.clone(), code, run: container.restarts },
            ));
        }
        planned
    }

    /// Lets something happen. Returns what it means for which pods, and what will come of it.
    pub fn occur(
        &mut self,
        occurrence: &Occurrence,
        behaviors: &Behaviors,
        now: Time,
    ) -> (Vec<Happening>, Vec<(Time, Occurrence)>) {
        match occurrence {
            Occurrence::Pulled { image } => (self.pulled(image, behaviors, now), Vec::new()),
            Occurrence::Started { pod, container } => self.started(*pod, container, behaviors, now),
            Occurrence::Ended { pod, container, code, run } => {
                (self.ended(*pod, container, *code, *run, now), Vec::new())
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
        for record in self.runtime.pods.values_mut() {
            for container in record.containers.iter_mut().filter(|it| it.image == *image) {
                let ContainerPhase::Pulling { since } = container.phase else { continue };
                let note = if is_missing {
                    container.phase = ContainerPhase::ImageFailed { at: now };
                    container.crashes += 1;
                    note!("image {} was not found", image)
                } else {
                    container.phase = ContainerPhase::Waiting;
                    container.pulled_in = Some(now.since(since).0);
                    note!("image {} arrived", image)
                };
                happenings.push((record.key.clone(), note));
            }
        }
        happenings
    }

    fn started(
        &mut self,
        pod: Uid,
        name: &Name,
        behaviors: &Behaviors,
        now: Time,
    ) -> (Vec<Happening>, Vec<(Time, Occurrence)>) {
        let key = self.runtime.pods.get(&pod).map(|record| record.key.clone());
        let (Some(key), Some(container)) = (key, self.container(pod, name)) else { return (Vec::new(), Vec::new()) };
        if !matches!(container.phase, ContainerPhase::Starting { until } if until <= now) {
            return (Vec::new(), Vec::new());
        }
        let behavior = behaviors.of(&container.image);
        container.phase = ContainerPhase::Running { since: now };
        container.serves_from = behavior.serve_ms.map_or(Time(u64::MAX), |ms| now + Millis(ms));
        let note = note!("container {} of {} runs", name, Arg::Short(key.name.clone()));
        let run = container.restarts;
        let end = behavior
            .exit
            .map(|(after, code)| (now + Millis(after), Occurrence::Ended { pod, container: name.clone(), code, run }));
        (vec![(key, note)], end.into_iter().collect())
    }

    fn ended(&mut self, pod: Uid, name: &Name, code: i32, run: i32, now: Time) -> Vec<Happening> {
        let key = self.runtime.pods.get(&pod).map(|record| record.key.clone());
        let (Some(key), Some(container)) = (key, self.container(pod, name)) else { return Vec::new() };
        let since = match container.phase {
            ContainerPhase::Running { since } if container.restarts == run => since,
            ContainerPhase::Stopping { since, until } if until <= now => since,
            _ => return Vec::new(),
        };
        container.crashes = if now.since(since) >= HEALTHY_AFTER { 1 } else { container.crashes + 1 };
        container.phase = ContainerPhase::Exited { code, since, at: now };
        vec![(key.clone(), note!("container {} of {} ended with code {}", name, Arg::Short(key.name), code))]
    }

    /// Cuts the power: nothing runs any more, and nothing that was under way will come.
    pub fn power_off(&mut self, now: Time) {
        self.is_on = false;
        self.boot += 1;
        self.pulls.clear();
        for record in self.runtime.pods.values_mut() {
            for container in &mut record.containers {
                container.phase = match container.phase {
                    ContainerPhase::Running { since } | ContainerPhase::Stopping { since, .. } => {
                        ContainerPhase::Exited { code: 255, since, at: now }
                    }
                    ContainerPhase::Starting { .. } | ContainerPhase::Pulling { .. } => ContainerPhase::Waiting,
                    ref other => other.clone(),
                };
            }
        }
    }

    pub fn power_on(&mut self) {
        self.is_on = true;
    }
}
