//! The kubelet: what its node's pods ask for, and the containers that are there.
//!
//! Mirrors `pkg/kubelet` v1.36: `syncPod` per pod, the status manager, the prober, the lease and node status loops.

mod admission;
mod adopt;
mod decide;
mod heartbeat;
mod memory;
mod probes;
mod status;
mod tell;

use std::rc::Rc;

pub use adopt::{BEFORE, adopt};
pub use decide::{Work, decide};
pub use heartbeat::{fresh_lease, register};
pub use memory::{PodMemory, pull_delay, restart_at};
pub use status::report;

use super::Recorder;
use crate::api::{Kind, Name, Object, ObjectKey, Pod, PodStatus, Uid};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, EventDraft, Objects, Request, Verb};
use crate::client::{
    Action, Arg, Context, Facts, Next, Outcome, PodRecord, Reconciler, RuntimeCall, Step, Stepped, Wakeup, WorkQueue,
};
use crate::note;
use crate::sim::{Map, Millis, OnWrite, Time};

const MANAGER: &str = "kubelet";
const RECORDER: Recorder = Recorder("kubelet");
const HEARTBEAT: Millis = Millis(10_000);
/// Until a pod that is refused is said to be: a controller that makes another one at once makes five in a second, where
/// the kubelet's own limit of 50 requests a second would stop it in Kubernetes.
const REFUSAL_TAKES: Millis = Millis(200);

/// Runs the pods of one node.
#[derive(Clone, Debug)]
pub struct Kubelet {
    node: Name,
    /// Of the Node object and of its lease.
    keys: [ObjectKey; 2],
    /// It has made its Node object known, or found it, since it started.
    is_registered: bool,
    memory: Map<Uid, OnWrite<PodMemory>>,
}

/// One turn: for a pod, or for the node itself.
#[derive(Clone, Debug)]
pub struct Turn {
    stage: Stage,
    works: Vec<Work>,
    /// What the API does not know yet.
    status: Option<PodStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Observe,
    Diff,
    Run,
    Reported,
    Deleted,
}

/// A pod as the API has it, and its containers on this node.
#[derive(Clone, Copy)]
struct Sight<'a> {
    key: &'a ObjectKey,
    pod: Option<&'a Rc<Pod>>,
    uid: Uid,
    record: Option<&'a PodRecord>,
}

impl Kubelet {
    pub fn new(node: Name) -> Self {
        let keys = [ObjectKey::node(node.clone()), heartbeat::lease_of(&node)];
        Self { node, keys, is_registered: false, memory: Map::default() }
    }

    /// A kubelet that has been at work: of each pod the version that it wrote last, and what it remembers.
    pub fn at_work(node: Name, memory: impl IntoIterator<Item = (Uid, PodMemory)>) -> Self {
        let memory = memory.into_iter().map(|(uid, memory)| (uid, OnWrite::new(memory))).collect();
        Self { is_registered: true, memory, ..Self::new(node) }
    }
}

impl Reconciler for Kubelet {
    type State = Turn;

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        match &change.object {
            Object::Pod(pod) if pod.spec.node_name == self.node => {
                let memory = self.memory.get(&pod.metadata.uid);
                // Its own word about the pod is no news to it.
                let is_own = change.kind == ChangeKind::Modified
                    && memory.is_some_and(|memory| memory.version == pod.metadata.resource_version);
                if is_own { Vec::new() } else { vec![(change.key.clone(), Millis(0))] }
            }
            // The keys as the cache has them: the very same are found at a glance.
            Object::Node(_) => {
                self.keys[0] = change.key.clone();
                Vec::new()
            }
            Object::Lease(_) => {
                self.keys[1] = change.key.clone();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn backoff(&self, key: &ObjectKey) -> (Millis, Millis) {
        if key.kind == Kind::Node { heartbeat::BACKOFF } else { WorkQueue::BACKOFF }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn { stage: Stage::Observe, works: Vec::new(), status: None }
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((self.keys[0].clone(), HEARTBEAT))
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        if key.kind == Kind::Node {
            let [node, lease] = &self.keys;
            return heartbeat::step(context, (node, lease), &mut self.is_registered, turn, outcomes);
        }
        let sight = see(context, key);
        match turn.stage {
            Stage::Observe => self.observe(context, sight, turn),
            Stage::Diff => {
                turn.stage = Stage::Run;
                Step::Diff(tell::difference(&turn.works)).into()
            }
            Stage::Run => self.run(context, sight, turn),
            Stage::Reported => self.reported(context, sight, turn, outcomes),
            Stage::Deleted => match outcomes.into_iter().find_map(Result::err) {
                Some(error) if error.code() != 404 && error.code() != 409 => Step::Fail(error.message).into(),
                _ => Step::Done(Next::AwaitChange).into(),
            },
        }
    }
}

/// The pod's containers on this node. What an older pod of the same name left behind must go before a new one can
/// start.
fn see<'a>(context: &Context<'a>, key: &'a ObjectKey) -> Sight<'a> {
    let pod = context.cache.pod(key);
    let uid = pod.map(|pod| pod.metadata.uid).unwrap_or_default();
    let Some(runtime) = context.runtime else { return Sight { key, pod, uid, record: None } };
    if let Some(record) = runtime.pods.get(&uid) {
        return Sight { key, pod, uid, record: Some(record) };
    }
    match runtime.pods.iter().find(|(_, record)| record.key == *key) {
        Some((uid, record)) => Sight { key, pod: None, uid: *uid, record: Some(record) },
        None => Sight { key, pod, uid, record: None },
    }
}

impl Kubelet {
    fn observe(&mut self, context: &Context<'_>, sight: Sight<'_>, turn: &mut Turn) -> Stepped {
        let Sight { key, pod, uid, record } = sight;
        let mut events = Vec::new();
        if let (Some(pod), Some(record)) = (pod, record) {
            let memory = self.memory.or_default(uid);
            for (container, noticed) in memory.look(pod, uid, record, context.now) {
                events.extend(tell::events(key, pod, record, &container, &noticed));
            }
        } else if pod.is_none() {
            self.memory.remove(&uid);
        }
        let blank = PodMemory::default();
        let images = context.runtime.map(|runtime| &runtime.images);
        let memory = self.remembered(uid).unwrap_or(&blank);
        // Without a network nothing new starts; what is there can still be ended.
        let can_run = context.runtime.is_some_and(|runtime| runtime.ready_from <= context.now);
        let is_old = record.is_some() || pod.is_some_and(|pod| pod.is_terminating());
        turn.works = match images {
            Some(images) if can_run || is_old => decide(pod.map(|pod| &**pod), record, memory, images, context.now),
            _ => Vec::new(),
        };
        let is_new = matches!(turn.works.first(), Some(Work::Create { .. }));
        if let Some(pod) = pod.filter(|pod| is_new && pod.status.start_time.is_none()) {
            let known = self.memory.get(&uid).and_then(|memory| memory.refused.clone());
            let refused = known.or_else(|| Some((context.now + REFUSAL_TAKES, self.refuse(context, pod)?)));
            if let Some((until, refusal)) = refused {
                self.memory.or_default(uid).refused = Some((until, refusal.clone()));
                if context.now < until {
                    let step = Step::Done(Next::After(until.since(context.now)));
                    return Stepped { is_background: true, ..step.into() };
                }
                events.push(RECORDER.warning(key, refusal.0, refusal.1.clone()));
                turn.works.clear();
                turn.status = Some(admission::rejected(pod, &refusal, context.wall));
                turn.stage = Stage::Run;
                return Stepped { events, ..Step::Observe(tell::observed(key, Some(pod), None)).into() };
            }
            self.memory.or_default(uid).is_admitted = true;
        }
        let memory = self.remembered(uid).unwrap_or(&blank);
        let fresh = pod.filter(|_| is_new).map(|pod| decide::fresh(pod, context.now));
        turn.status = match (pod, record.or(fresh.as_ref())) {
            (Some(pod), Some(record)) => report(pod, record, memory, context),
            _ => None,
        };
        let is_news = turn.status.is_some();
        let is_idle = turn.works.is_empty() && !is_news;
        turn.stage = match (is_idle, turn.works.is_empty()) {
            (true, _) => Stage::Reported,
            (_, true) => Stage::Run,
            _ => Stage::Diff,
        };
        let is_background = is_idle && events.is_empty();
        Stepped { events, is_background, ..Step::Observe(tell::observed(key, pod, record)).into() }
    }

    fn remembered(&self, uid: Uid) -> Option<&PodMemory> {
        self.memory.get(&uid).map(|memory| &**memory)
    }

    /// Why a new pod cannot run here, beside the pods that were let in before it.
    fn refuse(&self, context: &Context<'_>, pod: &Pod) -> Option<admission::Refusal> {
        let node = context.cache.get(&self.keys[0])?.as_node()?;
        let is_in = |other: &Pod| {
            let is_admitted = self.memory.get(&other.metadata.uid).is_some_and(|memory| memory.is_admitted);
            !other.is_finished() && (is_admitted || other.status.start_time.is_some())
        };
        // Where there is room for all, nobody needs to be counted.
        let count = if admission::fits(&context.cache.usage(&self.node), node) { 0 } else { usize::MAX };
        let all = context.cache.pods_on(&self.node).map(|other| &**other);
        let others = all.filter(|other| other.metadata.uid != pod.metadata.uid && is_in(other));
        admission::refuse(pod, node, others.take(count))
    }

    /// Reports what differs and does what is to be done, in one go: the real status manager keeps nobody waiting.
    fn run(&mut self, context: &Context<'_>, sight: Sight<'_>, turn: &mut Turn) -> Stepped {
        let Sight { key, pod, uid, record } = sight;
        turn.stage = Stage::Reported;
        let mut actions = Vec::new();
        let mut events = Vec::new();
        let mut word = None;
        if let (Some(pod), Some(status)) = (pod, turn.status.take()) {
            word = Some(status::word(&status));
            events.extend(tell::refusals(key, pod, &status));
            actions.push(update(pod, status));
        }
        for work in &turn.works {
            events.extend(tell::work_events(key, record, work));
            actions.extend(call(work).map(|call| Action::Runtime(key.clone(), uid, call)));
        }
        if actions.is_empty() {
            return Stepped { events, ..self.reported(context, sight, turn, Vec::new()) };
        }
        let step = Step::Act(tell::deed(key, &turn.works, word), actions);
        Stepped { events, ..step.into() }
    }

    /// The status is told, or already was as it is: delete the pod if it is over, or wait for what comes next.
    fn reported(
        &mut self,
        context: &Context<'_>,
        sight: Sight<'_>,
        turn: &mut Turn,
        outcomes: Vec<Outcome>,
    ) -> Stepped {
        let Sight { key, pod, uid, record } = sight;
        for outcome in outcomes {
            match outcome {
                Ok(Some(answer)) if pod.is_some() => {
                    self.memory.or_default(uid).version = answer.object.meta().resource_version;
                }
                Ok(_) => {}
                Err(error) if matches!(error.code(), 404 | 409) => {}
                Err(error) => return Step::Fail(error.message).into(),
            }
        }
        if turn.works.contains(&Work::Remove) && context.cache.pod(key).is_some() {
            // A newer pod of the same name was waiting for this one to go, and is what is seen now.
            return Step::Done(Next::After(Millis(1))).into();
        }
        let Some(pod) = pod else { return Step::Done(Next::AwaitChange).into() };
        if turn.works.contains(&Work::Delete) {
            return delete(pod, key, turn);
        }
        let has_stopped = turn.works.iter().any(|work| matches!(work, Work::Stop { .. }))
            && record.is_some_and(|record| !record.is_up());
        if has_stopped {
            return Step::Done(Next::After(Millis(1))).into();
        }
        let not_yet = context.runtime.map(|runtime| runtime.ready_from).filter(|from| *from > context.now);
        let wakes = self.memory.get(&uid).zip(record).and_then(|(memory, it)| memory.wakes_at(it));
        let next = not_yet.or(wakes).map(|at| Next::After(at.since(context.now)));
        Step::Done(next.unwrap_or(Next::AwaitChange)).into()
    }
}

fn update(pod: &Rc<Pod>, status: PodStatus) -> Action {
    let mut metadata = pod.metadata.clone();
    metadata.resource_version = 0;
    let pod = Pod { metadata, spec: Rc::clone(&pod.spec), status, extra: pod.extra.clone() };
    Action::Api(Request::new(MANAGER, Verb::UpdateStatus(Object::Pod(Rc::new(pod)))))
}

/// What the container runtime is to do about a piece of work.
fn call(work: &Work) -> Option<RuntimeCall> {
    Some(match work {
        Work::Create { containers, is_task } => {
            RuntimeCall::Create { containers: containers.clone(), is_task: *is_task }
        }
        Work::Pull(container, _) => RuntimeCall::Pull { container: container.clone() },
        Work::Start { container, back_off, .. } => {
            RuntimeCall::Start { container: container.clone(), back_off: *back_off }
        }
        Work::Kill { container, grace, hook, .. } => {
            RuntimeCall::Kill { container: container.clone(), grace: *grace, hook: *hook }
        }
        Work::Stop { grace, hooks } => RuntimeCall::Stop { grace: *grace, hooks: hooks.clone() },
        Work::Remove => RuntimeCall::Remove,
        Work::Delete => return None,
    })
}

fn delete(pod: &Pod, key: &ObjectKey, turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Deleted;
    let options = DeleteOptions { grace_seconds: Some(0), uid: Some(pod.metadata.uid), ..DeleteOptions::default() };
    let request = Request::new(MANAGER, Verb::Delete(key.clone(), options));
    let facts: Facts = note!("delete **{}** for good", Arg::Short(key.name.clone())).into();
    Step::Act(facts.with(note!("DELETE pods, grace 0")), vec![Action::Api(request)]).into()
}

/// An Event draft about a pod.
fn normal(key: &ObjectKey, reason: &'static str, message: String) -> EventDraft {
    RECORDER.normal(key, reason, message)
}
