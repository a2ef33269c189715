//! The ReplicaSet controller: as many pods as asked for.
//!
//! Mirrors `pkg/controller/replicaset/replica_set.go`, v1.36.

mod edge;
mod ranking;
mod status;

use std::rc::Rc;

pub use edge::EdgeTriggered;
use ranking::first_to_go;
pub use ranking::{RankedPod, pods_to_delete};
pub use status::{StatusInput, calculate_status};

use super::pods::{Claims, pod_from, suitors};
use super::{CONTROLLER_MANAGER, Recorder};
use crate::api::{Kind, Labels, Object, ObjectKey, Pod, ReplicaSet, condition};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Objects, Request, Verb};
use crate::client::{
    Action, Arg, Context, Expectations, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup, observe_pod_of,
};
use crate::note;
use crate::sim::{Millis, Time};

const RECORDER: Recorder = Recorder("replicaset-controller");
/// Pods created or deleted in one turn at the most.
const BURST: usize = 500;

/// Keeps the number of pods of each ReplicaSet.
#[derive(Clone, Debug, Default)]
pub struct ReplicaSetController {
    expectations: Expectations,
}

#[derive(Clone, Debug)]
pub struct Turn {
    stage: Stage,
    seen: Option<Seen>,
    /// When its last step was.
    wall_millis: i64,
    failure: Option<String>,
    /// The status was refused once, since the ReplicaSet was older than thought.
    has_retried: bool,
}

#[derive(Clone, Debug)]
enum Stage {
    Observe,
    /// Pods are to be adopted or released before anything is counted.
    Claim,
    Claiming,
    Claimed,
    Diff,
    Act,
    /// A batch of creations is under way: its size, and how many are left after it.
    Creating {
        batch: usize,
        left: usize,
    },
    Deleting(Vec<Rc<Pod>>),
    Status,
    Finish,
}

#[derive(Clone, Debug)]
struct Seen {
    set: Rc<ReplicaSet>,
    input: StatusInput,
    claims: Claims,
    /// Whether the cache had shown all that was asked for when it was read: what comes in later was not counted.
    may_act: bool,
}

impl Reconciler for ReplicaSetController {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let keys = match &change.object {
            Object::ReplicaSet(_) => {
                let key = change.key.clone();
                if change.kind == ChangeKind::Deleted {
                    self.expectations.forget(&key);
                }
                vec![key]
            }
            Object::Pod(pod) => match observe_pod_of(&mut self.expectations, Kind::ReplicaSet, change) {
                Some(key) => vec![key],
                None if pod.metadata.controller().is_none() => suitors(Kind::ReplicaSet, change, cache),
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        keys.into_iter().map(|key| (key, Millis(0))).collect()
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn { stage: Stage::Observe, seen: None, wall_millis: 0, failure: None, has_retried: false }
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        turn.wall_millis = context.wall_millis;
        match std::mem::replace(&mut turn.stage, Stage::Finish) {
            Stage::Observe => self.observe(context, key, turn),
            Stage::Claim => claim(turn),
            Stage::Claiming => claiming(turn),
            Stage::Claimed => claimed(turn, &outcomes),
            Stage::Diff => diff(turn),
            Stage::Act => self.act(context, key, turn),
            Stage::Creating { batch, left } => self.created(key, turn, outcomes, batch, left),
            Stage::Deleting(pods) => self.deleted(key, turn, outcomes, &pods),
            Stage::Status => self.status_step(turn),
            Stage::Finish => self.finish(turn, &outcomes),
        }
    }
}

fn claim(turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Claiming;
    Step::Diff(note!("labels and owners **differ**").into()).into()
}

fn claiming(turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Claimed;
    let Some(Seen { set, claims, .. }) = &turn.seen else { return Step::Done(Next::AwaitChange).into() };
    let requests = claims.requests(&set.metadata, Kind::ReplicaSet);
    Step::Act(claims.facts(), requests.into_iter().map(|(action, _)| action).collect()).into()
}

/// The pods changed hands: from here on they are counted so, whatever the cache still shows.
fn claimed(turn: &mut Turn, outcomes: &[Outcome]) -> Stepped {
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    if let Some(error) = refused.into_iter().find(|error| error.code() != 404) {
        return Step::Fail(error.message.clone()).into();
    }
    if let Some(seen) = &mut turn.seen {
        for pod in &seen.claims.adopted {
            seen.input.shift(&seen.set, pod, 1);
        }
        for pod in &seen.claims.released {
            seen.input.shift(&seen.set, pod, -1);
        }
    }
    diff(turn)
}

fn diff(turn: &mut Turn) -> Stepped {
    let Some(seen) = &turn.seen else { return Step::Done(Next::AwaitChange).into() };
    let (want, active) = (i64::from(seen.set.spec.wanted()), i64::from(seen.input.active));
    let missing = want - active;
    if seen.set.metadata.deletion_timestamp.is_some() {
        turn.stage = Stage::Status;
        return Step::Diff(note!("is being deleted").into()).into();
    }
    if !seen.may_act {
        turn.stage = Stage::Status;
        let facts: Facts = note!("waits for its own writes").into();
        return Step::Diff(facts.with(note!("the cache has not shown them yet"))).into();
    }
    turn.stage = if missing == 0 { Stage::Status } else { Stage::Act };
    let facts: Facts = match missing {
        0 => note!("**{} = {}**", want, active).into(),
        n if n > 0 => note!("**{} − {} = +{}**", want, active, n).into(),
        n => note!("**{} − {} = −{}**", want, active, -n).into(),
    };
    let detail = match missing {
        0 => note!("nothing missing"),
        1 => note!("one pod missing"),
        -1 => note!("one pod too many"),
        n if n > 0 => note!("{} pods missing", n),
        n => note!("{} pods too many", -n),
    };
    Step::Diff(facts.with(detail)).into()
}

fn pod_count(count: usize) -> (Arg, &'static str) {
    (Arg::from(count), if count == 1 { "pod" } else { "pods" })
}

impl ReplicaSetController {
    fn observe(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let Some(Object::ReplicaSet(set)) = context.cache.get(key) else {
            self.expectations.forget(key);
            return Step::Done(Next::AwaitChange).into();
        };
        let input = StatusInput::count(set, context.cache, context.wall);
        let facts = note!("want **{}**, active **{}**", set.spec.wanted(), input.active);
        let detail = match input.terminating {
            0 => note!("{} ready, cache rv {}", input.ready, context.version),
            1 => note!("1 stopping, not counted"),
            n => note!("{} stopping, not counted", n),
        };
        let claims = Claims::find(context.cache, &set.metadata, &set.spec.selector, |_| true);
        turn.stage = if claims.is_empty() { Stage::Diff } else { Stage::Claim };
        let may_act = self.expectations.are_met(key, context);
        turn.seen = Some(Seen { set: Rc::clone(set), input, claims, may_act });
        let facts: Facts = facts.into();
        Step::Observe(facts.with(detail)).into()
    }

    fn act(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let Some(seen) = &turn.seen else { return Step::Done(Next::AwaitChange).into() };
        let wanted = usize::try_from(seen.set.spec.wanted()).unwrap_or(0);
        let counted = usize::try_from(seen.input.active).unwrap_or(0);
        if wanted > counted {
            let missing = (wanted - counted).min(BURST);
            self.expectations.expect_creations(key, missing as i64, context.now);
            return create_batch(turn, 1, missing);
        }
        let owned = context.cache.controlled_by(seen.set.metadata.uid).filter_map(Object::as_pod);
        let claims = &seen.claims;
        let among = |pods: &[Rc<Pod>], pod: &Pod| pods.iter().any(|it| it.metadata.uid == pod.metadata.uid);
        let stays = |pod: &&Rc<Pod>| pod.is_active() && !among(&claims.released, pod);
        let mut active: Vec<&Rc<Pod>> = owned.filter(stays).collect();
        let is_new = |pod: &&Rc<Pod>| !active.iter().any(|it| it.metadata.uid == pod.metadata.uid);
        let adopted: Vec<&Rc<Pod>> = claims.adopted.iter().filter(is_new).collect();
        active.extend(adopted);
        let surplus = active.len().saturating_sub(wanted).min(BURST);
        let siblings = related_pods(context.cache, &seen.set);
        let victims = first_to_go(&active, siblings.into_iter(), surplus, context.wall_millis);
        self.expectations.expect_deletions(key, victims.iter().map(|pod| pod.metadata.uid), context.now);
        let actions = victims.iter().map(delete_pod).collect();
        let (count, noun) = pod_count(victims.len());
        let facts: Facts = note!("delete **{}** {}", count, noun).into();
        let first = victims.first().map(|pod| Arg::Short(pod.metadata.name.clone())).unwrap_or(Arg::Word(""));
        let facts = facts.with(note!("DELETE pods, first {}", first));
        turn.stage = Stage::Deleting(victims);
        Step::Act(facts, actions).into()
    }

    /// The answers to a batch of creations: twice as many next, or none once one was refused (slow start).
    fn created(
        &mut self,
        key: &ObjectKey,
        turn: &mut Turn,
        outcomes: Vec<Outcome>,
        batch: usize,
        left: usize,
    ) -> Stepped {
        let mut events = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(Some(answer)) => {
                    let message = format!("Created pod: {}", answer.object.meta().name);
                    events.push(RECORDER.normal(key, "SuccessfulCreate", message));
                }
                Ok(None) => {}
                // Nothing can be created there any more, and all of it goes soon.
                Err(error) if error.is_namespace_terminating() => {}
                Err(error) => {
                    self.expectations.creation_observed(key);
                    events.push(RECORDER.warning(key, "FailedCreate", format!("Error creating: {error}")));
                    turn.failure.get_or_insert(error.message);
                }
            }
        }
        let mut stepped = if turn.failure.is_some() {
            for _ in 0..left {
                self.expectations.creation_observed(key);
            }
            turn.stage = Stage::Finish;
            self.status_step(turn)
        } else if left == 0 {
            self.status_step(turn)
        } else {
            create_batch(turn, batch * 2, left)
        };
        stepped.events = events;
        stepped
    }

    fn deleted(&mut self, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>, pods: &[Rc<Pod>]) -> Stepped {
        let mut events = Vec::new();
        for (outcome, pod) in outcomes.into_iter().zip(pods) {
            match outcome {
                Ok(_) => {
                    let message = format!("Deleted pod: {}", pod.metadata.name);
                    events.push(RECORDER.normal(key, "SuccessfulDelete", message));
                }
                Err(error) => {
                    self.expectations.deletion_observed(key, pod.metadata.uid);
                    if error.code() != 404 {
                        let message = format!("Error deleting: {error}");
                        events.push(RECORDER.warning(key, "FailedDelete", message));
                        turn.failure.get_or_insert(error.message);
                    }
                }
            }
        }
        let mut stepped = self.status_step(turn);
        stepped.events = events;
        stepped
    }

    fn status_step(&self, turn: &mut Turn) -> Stepped {
        match status_action(turn) {
            Some((facts, action)) => {
                turn.stage = Stage::Finish;
                Step::Act(facts, vec![action]).into()
            }
            None => finish(turn, None),
        }
    }

    /// A status that comes too late for the version it was meant for is sent once more for the newest one
    /// (`statusUpdateRetries`).
    fn finish(&mut self, turn: &mut Turn, outcomes: &[Outcome]) -> Stepped {
        let refused = outcomes.iter().find_map(|outcome| outcome.as_ref().err());
        if refused.is_some_and(|error| error.code() == 409)
            && !std::mem::replace(&mut turn.has_retried, true)
            && let Some(seen) = &mut turn.seen
        {
            Rc::make_mut(&mut seen.set).metadata.resource_version = 0;
            return self.status_step(turn);
        }
        finish(turn, refused.map(|error| error.message.clone()))
    }
}

fn finish(turn: &Turn, refused: Option<String>) -> Stepped {
    if let Some(error) = turn.failure.clone().or(refused) {
        return Step::Fail(error).into();
    }
    let waiting = turn
        .seen
        .as_ref()
        .filter(|seen| seen.set.spec.min_ready_seconds > 0 && seen.input.ready != seen.input.available);
    let next = match waiting {
        Some(Seen { set, input, .. }) => {
            let usual = i64::from(set.spec.min_ready_seconds) * 1_000;
            let wait = input.next.map_or(usual, |at| at.millis() - turn.wall_millis);
            Next::After(Millis(u64::try_from(wait).unwrap_or(0)))
        }
        None => Next::AwaitChange,
    };
    Step::Done(next).into()
}

fn status_action(turn: &Turn) -> Option<(Facts, Action)> {
    let seen = turn.seen.as_ref()?;
    let status = calculate_status(&seen.set, &seen.input, turn.failure.as_deref());
    if status == seen.set.status {
        return None;
    }
    let facts: Facts =
        note!("write status: **{}** replicas, **{}** ready", status.replicas, status.ready_replicas).into();
    let facts = facts.with(note!("PUT replicasets/status, {} stopping", seen.input.terminating));
    let mut set = Rc::clone(&seen.set);
    Rc::make_mut(&mut set).status = status;
    let request = Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::ReplicaSet(set)));
    Some((facts, Action::Api(request)))
}

fn create_batch(turn: &mut Turn, size: usize, left: usize) -> Stepped {
    let Some(seen) = &turn.seen else { return Step::Done(Next::AwaitChange).into() };
    let batch = size.min(left);
    let actions = (0..batch).map(|_| create_pod(&seen.set)).collect();
    turn.stage = Stage::Creating { batch, left: left - batch };
    let (count, noun) = pod_count(batch);
    let facts: Facts = note!("create **{}** {}", count, noun).into();
    let facts = match left - batch {
        0 => facts.with(note!("POST pods")),
        rest => facts.with(note!("POST pods, {} more after these", rest)),
    };
    Step::Act(facts, actions).into()
}

fn create_pod(set: &Rc<ReplicaSet>) -> Action {
    let pod = pod_from(&set.spec.template, &set.metadata, Kind::ReplicaSet);
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Create(Object::Pod(Rc::new(pod)))))
}

fn delete_pod(pod: &Rc<Pod>) -> Action {
    let key = ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Delete(key, DeleteOptions::default())))
}

/// The pods that the ReplicaSets of the same owner select, whoever owns them by now: crowding is counted over all of
/// them (`getIndirectlyRelatedPods`).
fn related_pods<'a>(cache: &'a Objects, set: &ReplicaSet) -> Vec<&'a Rc<Pod>> {
    let Some(owner) = set.metadata.controller() else {
        return cache.controlled_by(set.metadata.uid).filter_map(Object::as_pod).collect();
    };
    let siblings: Vec<&Rc<ReplicaSet>> = cache.controlled_by(owner.uid).filter_map(Object::as_replica_set).collect();
    let selected = move |labels: &Labels| siblings.iter().any(|sibling| sibling.spec.selector.matches(labels));
    cache.pods_labeled(&set.metadata.namespace, selected).filter(|pod| pod.is_active()).collect()
}

/// What a turn's Observe said: how many pods are wanted, and how many count.
pub fn observed(facts: &Facts) -> Option<(i64, i64)> {
    match facts.text.args.as_slice() {
        [Arg::Int(want), Arg::Int(active)] => Some((*want, *active)),
        _ => None,
    }
}

/// Whether an Act only says how things are.
pub fn is_report(facts: &Facts) -> bool {
    facts.text.text.starts_with("write status")
}

/// Whether a ReplicaSet says that it cannot create or delete pods.
pub fn replica_failure(set: &ReplicaSet) -> Option<&crate::api::Condition> {
    condition(&set.status.conditions, "ReplicaFailure")
}
