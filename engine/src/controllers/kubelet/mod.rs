//! The kubelet: what its node's pods ask for, and the containers that are there.
//!
//! Mirrors `pkg/kubelet` v1.36: `syncPod` per pod, the status manager, the lease and node status loops.

mod decide;
mod heartbeat;
mod status;

use std::rc::Rc;

pub use decide::{Work, decide, restart_delay};
pub use heartbeat::report_well;
pub use status::{ready_at, report};

use super::Recorder;
use crate::api::{Kind, Name, Object, ObjectKey, Pod};
use crate::apiserver::{Change, DeleteOptions, EventDraft, Objects, Request, Verb};
use crate::client::{
    Action, Arg, Context, Facts, Next, Outcome, PodRecord, Reconciler, RuntimeCall, Step, Stepped, Wakeup,
};
use crate::note;
use crate::sim::{Millis, Time};

const MANAGER: &str = "kubelet";
const RECORDER: Recorder = Recorder("kubelet");
const HEARTBEAT: Millis = Millis(10_000);

/// Runs the pods of one node.
#[derive(Clone, Debug)]
pub struct Kubelet {
    node: Name,
}

/// One turn: for a pod, or for the node itself.
#[derive(Clone, Debug)]
pub struct Turn {
    stage: Stage,
    work: Option<Work>,
    /// What the API says of the pod is out of date.
    is_stale: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Observe,
    Diff,
    Run,
    Report,
    Reported,
    Deleted,
}

impl Kubelet {
    pub fn new(node: Name) -> Self {
        Self { node }
    }
}

impl Reconciler for Kubelet {
    type State = Turn;

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        match &change.object {
            Object::Pod(pod) if pod.spec.node_name == self.node => vec![(change.object.key(), Millis(0))],
            _ => Vec::new(),
        }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn { stage: Stage::Observe, work: None, is_stale: false }
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((ObjectKey::node(self.node.clone()), HEARTBEAT))
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        if key.kind == Kind::Node {
            return heartbeat::step(context, &self.node, turn, outcomes);
        }
        let pod = context.cache.pod(key);
        let record = find_record(context, key, pod);
        match turn.stage {
            Stage::Observe => observe(context, key, pod, record, turn),
            Stage::Diff => diff(turn),
            Stage::Run => run(context, key, pod, record, turn),
            Stage::Report => report_status(context, key, pod, record, turn),
            Stage::Reported => reported(context, pod, record, turn, outcomes),
            Stage::Deleted => deleted(outcomes),
        }
    }
}

/// The pod's containers on this node; for a pod that is gone from the API, whatever is left under its name.
fn find_record<'a>(
    context: &Context<'a>,
    key: &ObjectKey,
    pod: Option<&Rc<Pod>>,
) -> Option<(crate::api::Uid, &'a PodRecord)> {
    let runtime = context.runtime?;
    let leftover = || {
        runtime.pods.iter().find(|(uid, record)| record.key == *key && pod.is_none_or(|pod| pod.metadata.uid != **uid))
    };
    // Containers of an older pod of the same name must go before the new one can start.
    if let Some((uid, record)) = leftover().filter(|_| pod.is_none()) {
        return Some((*uid, record));
    }
    let uid = pod?.metadata.uid;
    runtime.pods.get(&uid).map(|record| (uid, record))
}

fn observe(
    context: &Context<'_>,
    key: &ObjectKey,
    pod: Option<&Rc<Pod>>,
    record: Option<(crate::api::Uid, &PodRecord)>,
    turn: &mut Turn,
) -> Stepped {
    let work = decide(pod.map(|pod| &**pod), record.map(|(_, record)| record), context.runtime, context.now);
    let name = Arg::Short(key.name.clone());
    let facts: Facts = match pod {
        None => note!("**{}** is gone from the API", name).into(),
        Some(pod) if pod.is_terminating() => note!("**{}** is to stop", name).into(),
        Some(pod) if pod.is_finished() => note!("**{}** has finished", name).into(),
        Some(_) => note!("**{}** is bound here", name).into(),
    };
    let containers = record.map(|(_, record)| record.containers.as_slice()).unwrap_or_default();
    let up = containers.iter().filter(|container| container.is_up()).count();
    let detail = match containers.len() {
        0 => note!("no container here"),
        n => note!("{} of {} containers run", up, n),
    };
    turn.is_stale = pod.zip(record).is_some_and(|(pod, (_, record))| report(pod, record, context).is_some());
    let has_nothing_to_do = matches!(work, Work::Nothing) && !turn.is_stale;
    turn.work = Some(work);
    turn.stage = Stage::Diff;
    Stepped { is_background: has_nothing_to_do, ..Step::Observe(facts.with(detail)).into() }
}

fn diff(turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Run;
    let work = turn.work.as_ref().unwrap_or(&Work::Nothing);
    let facts: Facts = match work {
        Work::Create(spec) => {
            let n = spec.len();
            let facts: Facts =
                note!("**{} − 0 = +{}** {}", n, n, if n == 1 { "container" } else { "containers" }).into();
            facts.with(note!("nothing of it is here"))
        }
        Work::Pull(_, image) => {
            let facts: Facts = note!("image is **missing**").into();
            facts.with(note!("{}", image))
        }
        Work::Start { container, restart: false, .. } => {
            let facts: Facts = note!("**{}** does not run", container).into();
            facts.with(note!("its image is here"))
        }
        Work::Start { container, .. } => {
            let facts: Facts = note!("**{}** has exited", container).into();
            facts.with(note!("restartPolicy Always"))
        }
        Work::BackOff { wait, .. } => {
            let facts: Facts = note!("waits in **back-off**").into();
            facts.with(note!("starts again in {}", Arg::Millis(wait.0)))
        }
        Work::Stop { .. } => {
            let facts: Facts = note!("runs, should **not**").into();
            facts.with(note!("its grace period begins"))
        }
        Work::Delete => {
            let facts: Facts = note!("all containers have **stopped**").into();
            facts.with(note!("the pod can go"))
        }
        Work::Remove => {
            let facts: Facts = note!("left over, should **not** be").into();
            facts.with(note!("the pod is gone"))
        }
        Work::Nothing if turn.is_stale => {
            let facts: Facts = note!("the API **knows less**").into();
            facts.with(note!("its status is out of date"))
        }
        Work::Nothing => {
            let facts: Facts = note!("containers as asked").into();
            facts.with(note!("the API knows it"))
        }
    };
    let is_background = matches!(work, Work::Nothing) && !turn.is_stale;
    Stepped { is_background, ..Step::Diff(facts).into() }
}

fn run(
    context: &Context<'_>,
    key: &ObjectKey,
    pod: Option<&Rc<Pod>>,
    record: Option<(crate::api::Uid, &PodRecord)>,
    turn: &mut Turn,
) -> Stepped {
    turn.stage = Stage::Report;
    let uid = record.map(|(uid, _)| uid).or_else(|| pod.map(|pod| pod.metadata.uid)).unwrap_or_default();
    let order = |call: RuntimeCall| vec![Action::Runtime(key.clone(), uid, call)];
    let mut events = Vec::new();
    let (facts, actions): (Facts, _) = match turn.work.as_ref().unwrap_or(&Work::Nothing) {
        Work::Create(containers) => {
            (note!("prepare the pod").into(), order(RuntimeCall::Create { containers: containers.clone() }))
        }
        Work::Pull(container, image) => {
            events.push(RECORDER.normal(key, "Pulling", format!("Pulling image \"{image}\"")));
            (note!("pull **{}**", image).into(), order(RuntimeCall::Pull { container: container.clone() }))
        }
        Work::Start { container, image, pulled_in, .. } => {
            events.push(RECORDER.normal(key, "Pulled", pulled_message(image, *pulled_in)));
            events.push(RECORDER.normal(key, "Created", "Container created".into()));
            (note!("start **{}**", container).into(), order(RuntimeCall::Start { container: container.clone() }))
        }
        Work::Stop { grace_ms } => {
            let names =
                record.map(|(_, record)| record.containers.iter().map(|it| it.name.clone())).into_iter().flatten();
            events.extend(names.map(|name| RECORDER.normal(key, "Killing", format!("Stopping container {name}"))));
            let facts: Facts = note!("stop **{}**", Arg::Short(key.name.clone())).into();
            let facts = facts.with(note!("SIGTERM, {} of grace", Arg::Millis(*grace_ms)));
            (facts, order(RuntimeCall::Stop { grace_ms: *grace_ms }))
        }
        Work::Remove => (note!("remove what is left").into(), order(RuntimeCall::Remove)),
        Work::BackOff { container, is_new, .. } => {
            if *is_new {
                let message = format!("Back-off restarting failed container {container} in pod {}", pod_ref(key, pod));
                events.push(RECORDER.warning(key, "BackOff", message));
            }
            return Stepped { events, ..report_status(context, key, pod, record, turn) };
        }
        Work::Delete | Work::Nothing => return report_status(context, key, pod, record, turn),
    };
    Stepped { events, ..Step::Act(facts, actions).into() }
}

fn pod_ref(key: &ObjectKey, pod: Option<&Rc<Pod>>) -> String {
    let uid = pod.map(|pod| pod.metadata.uid).unwrap_or_default();
    format!("{}_{}({uid})", key.name, key.namespace)
}

fn pulled_message(image: &str, pulled_in: Option<u64>) -> String {
    match pulled_in {
        Some(ms) => {
            let took = if ms >= 1000 { format!("{}.{:03}s", ms / 1000, ms % 1000) } else { format!("{ms}ms") };
            format!("Successfully pulled image \"{image}\" in {took} ({took} including waiting)")
        }
        None => format!("Container image \"{image}\" already present on machine and can be accessed by the pod"),
    }
}

fn report_status(
    context: &Context<'_>,
    key: &ObjectKey,
    pod: Option<&Rc<Pod>>,
    record: Option<(crate::api::Uid, &PodRecord)>,
    turn: &mut Turn,
) -> Stepped {
    let (Some(pod), Some((_, record))) = (pod, record) else {
        if let (Some(pod), Some(Work::Delete)) = (pod, &turn.work) {
            return delete(pod, key, turn);
        }
        return Step::Done(Next::AwaitChange).into();
    };
    let Some(status) = report(pod, record, context) else {
        return reported(context, Some(pod), Some((pod.metadata.uid, record)), turn, Vec::new());
    };
    turn.stage = Stage::Reported;
    let events = started_events(key, pod, &status);
    let word = status::word(&status);
    let facts: Facts = note!("report **{}**", word).into();
    let mut pod = Rc::clone(pod);
    let it = Rc::make_mut(&mut pod);
    it.status = status;
    it.metadata.resource_version = 0;
    let request = Request::new(MANAGER, Verb::UpdateStatus(Object::Pod(pod)));
    let step = Step::Act(facts.with(note!("PATCH pods/status")), vec![Action::Api(request)]);
    Stepped { events, ..step.into() }
}

/// A container that the API did not know to run, and that does: it has started.
fn started_events(key: &ObjectKey, pod: &Pod, status: &crate::api::PodStatus) -> Vec<EventDraft> {
    let known = &pod.status.container_statuses;
    let runs = |statuses: &[crate::api::ContainerStatus], name: &Name| {
        statuses.iter().any(|it| it.name == *name && matches!(it.state, crate::api::ContainerState::Running(_)))
    };
    let newly = status
        .container_statuses
        .iter()
        .filter(|it| runs(&status.container_statuses, &it.name) && !runs(known, &it.name));
    newly.map(|_| RECORDER.normal(key, "Started", "Container started".into())).collect()
}

/// The status is told, or already was as it is: delete the pod if it is over, or wait for what comes next.
fn reported(
    context: &Context<'_>,
    pod: Option<&Rc<Pod>>,
    record: Option<(crate::api::Uid, &PodRecord)>,
    turn: &mut Turn,
    outcomes: Vec<Outcome>,
) -> Stepped {
    if let Some(Err(error)) = outcomes.into_iter().next() {
        let is_over = matches!(error.code(), 404 | 409);
        return if is_over { Step::Done(Next::AwaitChange).into() } else { Step::Fail(error.message).into() };
    }
    let Some(pod) = pod else { return Step::Done(Next::AwaitChange).into() };
    let key = ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let is_over = record.is_none_or(|(_, record)| record.containers.iter().all(|it| !it.is_up()) && record.is_stopping);
    if pod.is_terminating() && is_over {
        return delete(pod, &key, turn);
    }
    let wait = match &turn.work {
        Some(Work::BackOff { wait, .. }) => Some(*wait),
        _ => record.and_then(|(_, record)| next_probe(pod, record, context.now)),
    };
    Step::Done(wait.map_or(Next::AwaitChange, Next::After)).into()
}

/// How long until a readiness probe will find a container ready that is not yet.
fn next_probe(pod: &Pod, record: &PodRecord, now: Time) -> Option<Millis> {
    let spec = |name: &Name| pod.spec.containers.iter().find(|container| container.name == *name);
    let times = record.containers.iter().filter_map(|container| ready_at(spec(&container.name)?, container));
    times.filter(|at| *at > now && at.0 < u64::MAX).min().map(|at| at.since(now))
}

fn delete(pod: &Pod, key: &ObjectKey, turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Deleted;
    let options = DeleteOptions { grace_seconds: Some(0), uid: Some(pod.metadata.uid), ..DeleteOptions::default() };
    let request = Request::new(MANAGER, Verb::Delete(key.clone(), options));
    let facts: Facts = note!("delete **{}** for good", Arg::Short(key.name.clone())).into();
    Step::Act(facts.with(note!("DELETE pods, grace 0")), vec![Action::Api(request)]).into()
}

fn deleted(outcomes: Vec<Outcome>) -> Stepped {
    match outcomes.into_iter().next() {
        Some(Err(error)) if error.code() != 404 && error.code() != 409 => Step::Fail(error.message).into(),
        _ => Step::Done(Next::AwaitChange).into(),
    }
}
