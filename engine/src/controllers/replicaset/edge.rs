//! A ReplicaSet controller as one may not write it: it counts the events that it hears and looks at nothing.
//!
//! Made to be laid beside the real one, which looks at what is there. It is honest: it never reads its cache, it counts
//! what it has ordered until it hears of it, and its counts outlive a crash, as if it wrote each down at once. What it is
//! not told it does not know.

use std::rc::Rc;

use super::{BURST, RECORDER, create_pod, pod_count};
use crate::api::{Kind, Name, Object, ObjectKey, ReplicaSet, ReplicaSetStatus};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Objects, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::controllers::{CONTROLLER_MANAGER, controller_key};
use crate::note;
use crate::sim::{Map, Millis, Time};

/// Counts creations and deletions of each ReplicaSet's pods.
#[derive(Clone, Debug, Default)]
pub struct EdgeTriggered {
    counts: Map<ObjectKey, Count>,
}

/// What it believes of one ReplicaSet.
#[derive(Clone, Debug, Default)]
struct Count {
    /// As it was told last.
    set: Option<Rc<ReplicaSet>>,
    have: i64,
    /// Ordered, and not yet heard of.
    coming: i64,
    leaving: i64,
    ready: i64,
    /// Those that it may delete, the newest last.
    names: Vec<Name>,
    events: u64,
}

impl Count {
    fn missing(&self) -> i64 {
        let want = self.set.as_ref().map_or(0, |set| i64::from(set.spec.wanted()));
        want - self.expected()
    }

    /// What there will be once all that it ordered has happened.
    fn expected(&self) -> i64 {
        self.have + self.coming - self.leaving
    }

    fn status(&self) -> Option<ReplicaSetStatus> {
        let set = self.set.as_ref()?;
        let number = |n: i64| i32::try_from(n.max(0)).unwrap_or(i32::MAX);
        let status = ReplicaSetStatus {
            available_replicas: number(self.ready),
            conditions: set.status.conditions.clone(),
            fully_labeled_replicas: number(self.have),
            observed_generation: set.metadata.generation,
            ready_replicas: number(self.ready),
            replicas: number(self.have),
            terminating_replicas: Some(number(self.leaving)),
        };
        (status != set.status).then_some(status)
    }

    fn hear(&mut self, change: &Change) {
        let is_ready = |object: Option<&Object>| object.and_then(Object::as_pod).is_some_and(|pod| pod.is_ready());
        let name = &change.key.name;
        self.events += 1;
        match change.kind {
            ChangeKind::Added => {
                self.have += 1;
                self.coming = (self.coming - 1).max(0);
                self.ready += i64::from(is_ready(Some(&change.object)));
                self.names.push(name.clone());
            }
            ChangeKind::Deleted => {
                self.have -= 1;
                self.leaving = (self.leaving - 1).max(0);
                self.ready -= i64::from(is_ready(Some(&change.object)));
                self.names.retain(|it| it != name);
            }
            ChangeKind::Modified => {
                self.ready += i64::from(is_ready(Some(&change.object))) - i64::from(is_ready(change.old.as_ref()));
            }
        }
    }
}

#[derive(Clone, Debug)]
pub enum Stage {
    Observe,
    Diff,
    Act,
    Creating,
    Deleting(Vec<Name>),
    Status,
    Finish,
}

impl Reconciler for EdgeTriggered {
    type State = Stage;

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let key = match &change.object {
            Object::ReplicaSet(_) if change.kind == ChangeKind::Deleted => {
                self.counts.remove(&change.key);
                return Vec::new();
            }
            Object::ReplicaSet(set) => {
                let count = self.counts.or_default(change.key.clone());
                let is_same = count.set.replace(Rc::clone(set)).is_some_and(|old| old.spec == set.spec);
                if is_same {
                    return Vec::new();
                }
                change.key.clone()
            }
            object @ Object::Pod(_) => {
                let Some(key) = controller_key(object, Kind::ReplicaSet) else { return Vec::new() };
                self.counts.or_default(key.clone()).hear(change);
                key
            }
            _ => return Vec::new(),
        };
        vec![(key, Millis(0))]
    }

    fn relisted(&mut self) {
        self.counts = Map::default();
    }

    fn start(&mut self, _key: &ObjectKey) -> Stage {
        Stage::Observe
    }

    fn step(&mut self, _context: &Context<'_>, key: &ObjectKey, turn: &mut Stage, outcomes: Vec<Outcome>) -> Stepped {
        let Some(count) = self.counts.get_mut(key) else { return Step::Done(Next::AwaitChange).into() };
        let Some(set) = count.set.clone() else { return Step::Done(Next::AwaitChange).into() };
        let stage = std::mem::replace(turn, Stage::Finish);
        let (stepped, next) = match stage {
            Stage::Observe => (observe(count, &set), Stage::Diff),
            Stage::Diff => diff(count, &set),
            Stage::Act => act(count, &set),
            Stage::Creating => created(count, key, outcomes),
            Stage::Deleting(names) => deleted(count, key, outcomes, &names),
            Stage::Status => report(count, &set),
            Stage::Finish => {
                let refused = outcomes.into_iter().find_map(Result::err);
                let step = refused.map_or(Step::Done(Next::AwaitChange), |error| Step::Fail(error.message));
                (step.into(), Stage::Finish)
            }
        };
        *turn = next;
        stepped
    }
}

fn observe(count: &Count, set: &ReplicaSet) -> Stepped {
    let facts: Facts = note!("want **{}**, counts **{}**", set.spec.wanted(), count.expected()).into();
    Step::Observe(facts.with(note!("from the {} events it was told of, it does not look", count.events))).into()
}

fn diff(count: &Count, set: &ReplicaSet) -> (Stepped, Stage) {
    let (want, have, missing) = (i64::from(set.spec.wanted()), count.expected(), count.missing());
    if set.metadata.deletion_timestamp.is_some() {
        return (Step::Diff(note!("is being deleted").into()).into(), Stage::Finish);
    }
    let facts = match missing {
        0 => note!("**{} = {}**", want, have),
        n if n > 0 => note!("**{} − {} = +{}**", want, have, n),
        n => note!("**{} − {} = −{}**", want, have, -n),
    };
    let detail = note!("by its own count");
    (Step::Diff(Facts::from(facts).with(detail)).into(), if missing == 0 { Stage::Status } else { Stage::Act })
}

fn act(count: &mut Count, set: &Rc<ReplicaSet>) -> (Stepped, Stage) {
    let most = |n: i64| usize::try_from(n).unwrap_or(0).min(BURST);
    let missing = count.missing();
    if missing > 0 {
        let n = most(missing);
        count.coming += n as i64;
        let actions = (0..n).map(|_| create_pod(set)).collect();
        let (n, noun) = pod_count(n);
        let facts = Facts::from(note!("create **{}** {}", n, noun)).with(note!("POST pods"));
        return (Step::Act(facts, actions).into(), Stage::Creating);
    }
    let names: Vec<Name> = count.names.iter().rev().take(most(-missing)).cloned().collect();
    count.leaving += names.len() as i64;
    let delete = |name: &Name| {
        let key = ObjectKey::new(Kind::Pod, set.metadata.namespace.clone(), name.clone());
        Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Delete(key, DeleteOptions::default())))
    };
    let actions = names.iter().map(delete).collect();
    let (n, noun) = pod_count(names.len());
    let facts = Facts::from(note!("delete **{}** {}", n, noun)).with(note!("DELETE pods"));
    (Step::Act(facts, actions).into(), Stage::Deleting(names))
}

fn created(count: &mut Count, key: &ObjectKey, outcomes: Vec<Outcome>) -> (Stepped, Stage) {
    let (mut events, mut failure) = (Vec::new(), None);
    for outcome in outcomes {
        match outcome {
            Ok(answer) => {
                let name = answer.map(|answer| answer.object.meta().name.clone()).unwrap_or_default();
                events.push(RECORDER.normal(key, "SuccessfulCreate", format!("Created pod: {name}")));
            }
            Err(error) => {
                count.coming = (count.coming - 1).max(0);
                events.push(RECORDER.warning(key, "FailedCreate", format!("Error creating: {error}")));
                failure = Some(error.message);
            }
        }
    }
    after(count, failure, events)
}

fn deleted(count: &mut Count, key: &ObjectKey, outcomes: Vec<Outcome>, names: &[Name]) -> (Stepped, Stage) {
    let (mut events, mut failure) = (Vec::new(), None);
    for (outcome, name) in outcomes.into_iter().zip(names) {
        match outcome {
            Ok(_) => events.push(RECORDER.normal(key, "SuccessfulDelete", format!("Deleted pod: {name}"))),
            Err(error) => {
                count.leaving = (count.leaving - 1).max(0);
                events.push(RECORDER.warning(key, "FailedDelete", format!("Error deleting: {error}")));
                failure = Some(error.message);
            }
        }
    }
    after(count, failure, events)
}

/// A failure is tried again later; else the status follows.
fn after(count: &Count, failure: Option<String>, events: Vec<crate::apiserver::EventDraft>) -> (Stepped, Stage) {
    let (mut stepped, stage) = match (failure, &count.set) {
        (Some(error), _) => (Step::Fail(error).into(), Stage::Finish),
        (None, Some(set)) => report(count, set),
        (None, None) => (Step::Done(Next::AwaitChange).into(), Stage::Finish),
    };
    stepped.events = events;
    (stepped, stage)
}

fn report(count: &Count, set: &Rc<ReplicaSet>) -> (Stepped, Stage) {
    let Some(status) = count.status() else { return (Step::Done(Next::AwaitChange).into(), Stage::Finish) };
    let facts = note!("write status: **{}** replicas, **{}** ready", status.replicas, status.ready_replicas);
    let mut set = Rc::clone(set);
    Rc::make_mut(&mut set).status = status;
    let request = Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::ReplicaSet(set)));
    let facts = Facts::from(facts).with(note!("PUT replicasets/status, as counted"));
    (Step::Act(facts, vec![Action::Api(request)]).into(), Stage::Finish)
}
