//! The scheduler: a node for each pod that has none.
//!
//! Mirrors `pkg/scheduler/schedule_one.go` and `framework/plugins/noderesources`, v1.36: filters, then scores.
//! So far it filters by readiness taints, cordons, node selector and resources, and scores by free resources.

mod fit;

pub use fit::{Candidate, Placement, Rejection, least_allocated_score, place};

use super::Recorder;
use crate::api::{Condition, Name, Object, ObjectKey, condition, set_condition};
use crate::apiserver::{Change, ChangeKind, Objects, Request, Usage, Verb};
use crate::client::{Action, Arg, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time};

const MANAGER: &str = "kube-scheduler";
const RECORDER: Recorder = Recorder("default-scheduler");
/// How long a pod that did not fit is left alone after the cluster changed (`podInitialBackoffSeconds`, doubling up to
/// `podMaxBackoffSeconds`).
const BACKOFF: Millis = Millis(1_000);
const BACKOFF_CAP: Millis = Millis(10_000);

/// Assigns pods to nodes, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    /// Pods that were assigned and that the cache still shows without a node.
    assumed: Map<ObjectKey, (Name, Usage)>,
    /// Pods that fitted nowhere, with the number of tries and the time of the last.
    unschedulable: Map<ObjectKey, (u32, Time)>,
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    placement: Option<Placement>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Act,
    Bound,
    Marked,
}

impl Reconciler for Scheduler {
    type State = Turn;

    fn concerns(&mut self, change: &Change, _cache: &Objects, now: Time) -> Vec<Wakeup> {
        match &change.object {
            Object::Pod(pod) => {
                let key = change.object.key();
                if change.kind == ChangeKind::Deleted || pod.is_assigned() || pod.is_terminating() {
                    self.assumed.remove(&key);
                    self.unschedulable.remove(&key);
                    let frees_room = change.kind == ChangeKind::Deleted && pod.is_assigned();
                    return if frees_room { self.retries(now) } else { Vec::new() };
                }
                if change.kind == ChangeKind::Added { vec![(key, Millis(0))] } else { Vec::new() }
            }
            Object::Node(node) => {
                let more_room = match change.old.as_ref().and_then(Object::as_node) {
                    None => true,
                    Some(old) => {
                        old.spec != node.spec
                            || old.status.allocatable != node.status.allocatable
                            || old.metadata.labels != node.metadata.labels
                    }
                };
                if more_room { self.retries(now) } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        match turn.stage {
            Stage::Observe => self.observe(context, key, turn),
            Stage::Diff => diff(key, turn),
            Stage::Act => self.act(context, key, turn),
            Stage::Bound => self.bound(key, turn, outcomes),
            Stage::Marked => Step::Done(Next::AwaitChange).into(),
        }
    }
}

impl Scheduler {
    /// Every pod that fitted nowhere, each after its own back-off.
    fn retries(&self, now: Time) -> Vec<Wakeup> {
        let wait = |tries: u32, last: Time| {
            let backoff = Millis((BACKOFF.0 << tries.saturating_sub(1).min(10)).min(BACKOFF_CAP.0));
            (last + backoff).since(now)
        };
        self.unschedulable.iter().map(|(key, (tries, last))| (key.clone(), wait(*tries, *last))).collect()
    }

    fn observe(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let Some(pod) = context.cache.pod(key).filter(|pod| !pod.is_assigned() && !pod.is_terminating()) else {
            self.unschedulable.remove(key);
            return Step::Done(Next::AwaitChange).into();
        };
        if self.assumed.contains_key(key) {
            return Step::Done(Next::AwaitChange).into();
        }
        let mut assumed: Map<&Name, Usage> = Map::default();
        for (node, usage) in self.assumed.values() {
            assumed.or_default(node).add(*usage);
        }
        let nodes = context.cache.nodes().map(|(node, on)| {
            let mut usage = on.usage;
            if let Some(assumed) = assumed.get(&node.metadata.name) {
                usage.add(*assumed);
            }
            Candidate { node, room: on.room, usage }
        });
        let placement = place(pod, nodes);
        let facts: Facts = note!("pod **{}** has no node", Arg::Short(key.name.clone())).into();
        let facts = facts.with(note!("{} of {} nodes fit", placement.fitting, placement.total));
        turn.placement = Some(placement);
        turn.stage = Stage::Diff;
        Step::Observe(facts).into()
    }

    fn act(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let Some(pod) = context.cache.pod(key).filter(|pod| !pod.is_terminating()) else {
            return Step::Done(Next::AwaitChange).into();
        };
        let Some(placement) = &turn.placement else { return Step::Done(Next::AwaitChange).into() };
        if let Some((node, _)) = &placement.chosen {
            self.assumed.insert(key.clone(), (node.clone(), Usage::of(pod)));
            let facts: Facts = note!("bind {} to **{}**", Arg::Short(key.name.clone()), node).into();
            let request = Request::new(MANAGER, Verb::Bind(key.clone(), node.clone()));
            turn.stage = Stage::Bound;
            return Step::Act(facts.with(note!("POST binding")), vec![Action::Api(request)]).into();
        }
        let message = placement.message();
        let (tries, last) = self.unschedulable.or_default(key.clone());
        *tries += 1;
        *last = context.now;
        let event = RECORDER.warning(key, "FailedScheduling", message.clone());
        let known = condition(&pod.status.conditions, "PodScheduled");
        if known.is_some_and(|known| known.reason == "Unschedulable" && known.message == message) {
            return Stepped { events: vec![event], ..Step::Done(Next::AwaitChange).into() };
        }
        let mut pod = pod.clone();
        let status = &mut std::rc::Rc::make_mut(&mut pod).status;
        let condition = Condition::new("PodScheduled", false).because("Unschedulable", message);
        set_condition(&mut status.conditions, condition, context.wall);
        std::rc::Rc::make_mut(&mut pod).metadata.resource_version = 0;
        let facts: Facts = note!("mark {} as unschedulable", Arg::Short(key.name.clone())).into();
        let request = Request::new(MANAGER, Verb::UpdateStatus(Object::Pod(pod)));
        turn.stage = Stage::Marked;
        let step = Step::Act(facts.with(note!("PUT pods/status")), vec![Action::Api(request)]);
        Stepped { events: vec![event], ..step.into() }
    }

    fn bound(&mut self, key: &ObjectKey, turn: &Turn, outcomes: Vec<Outcome>) -> Stepped {
        let Some((node, _)) = turn.placement.as_ref().and_then(|placement| placement.chosen.as_ref()) else {
            return Step::Done(Next::AwaitChange).into();
        };
        if let Some(Err(error)) = outcomes.into_iter().next() {
            self.assumed.remove(key);
            if error.code() == 404 {
                return Step::Done(Next::AwaitChange).into();
            }
            return Step::Fail(error.message).into();
        }
        self.unschedulable.remove(key);
        let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
        let event = RECORDER.normal(key, "Scheduled", message);
        Stepped { events: vec![event], ..Step::Done(Next::AwaitChange).into() }
    }
}

fn diff(key: &ObjectKey, turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Act;
    let Some(placement) = &turn.placement else { return Step::Done(Next::AwaitChange).into() };
    let facts: Facts = match (&placement.chosen, &placement.runner_up) {
        (Some((node, score)), Some((second, other))) => {
            let facts: Facts = note!("**{}** over {}", node, second).into();
            facts.with(note!("{} of 100 free there, {} here", *score, *other))
        }
        (Some((node, _)), None) => {
            let facts: Facts = note!("**{}**, the only one", node).into();
            facts.with(note!("no other node fits"))
        }
        (None, _) => {
            let facts: Facts = note!("**{}** fits nowhere", Arg::Short(key.name.clone())).into();
            facts.with(note!("{}", Arg::from(placement.reasons())))
        }
    };
    Step::Diff(facts).into()
}
