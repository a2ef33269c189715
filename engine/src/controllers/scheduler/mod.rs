//! The scheduler: a node for each pod that has none.
//!
//! Mirrors `pkg/scheduler`, v1.36, with the default profile: `schedule_one.go` (the turn), `backend/queue` (who is
//! next and who waits), `backend/cache` (`snapshot.rs`), and the plugins, one file for each topic.

mod company;
mod hints;
mod nodes;
mod place;
mod ports;
mod preempt;
mod query;
mod reasons;
mod score;
mod snapshot;
mod spread;
#[cfg(test)]
mod testing;

use std::rc::Rc;

pub use place::enough_nodes;
use place::{Placement, place};
use preempt::{Candidate, Preemption, preempt};
use query::Query;
use reasons::{ALL, Reasons};
pub use score::{balanced_allocation_score, evenness, least_allocated_score};
use snapshot::Snapshot;
pub use spread::topology_spread_scores;

use super::Recorder;
use crate::api::{Condition, Name, Object, ObjectKey, Pod, condition, set_condition};
use crate::apiserver::{Change, DeleteOptions, Objects, Request, Usage, Verb};
use crate::client::{Action, Arg, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time};

const MANAGER: &str = "kube-scheduler";
const RECORDER: Recorder = Recorder("default-scheduler");
/// How long a pod that fitted nowhere stands behind the others (`podInitialBackoffSeconds`, doubling up to
/// `podMaxBackoffSeconds`). Where nobody else waits, it does not wait either (`SchedulerPopFromBackoffQ`).
const BACKOFF: Millis = Millis(1_000);
const BACKOFF_CAP: Millis = Millis(10_000);
/// When a pod that fitted nowhere is tried again though nothing happened (`flushUnschedulablePodsLeftover`).
const FLUSH: Millis = Millis(300_000);

/// Assigns pods to nodes, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    snapshot: Snapshot,
    /// Pods that fitted nowhere.
    unschedulable: Map<ObjectKey, Waiting>,
    /// Pods for which others leave a node: the node, what they ask for, their priority.
    nominated: Map<ObjectKey, (Name, Usage, i32)>,
    /// Where the search among many nodes goes on.
    start: usize,
}

/// A pod that fitted nowhere.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    tries: u32,
    last: Time,
    why: Reasons,
}

impl Waiting {
    fn is_backing_off(&self, now: Time) -> bool {
        let backoff = (BACKOFF.0 << self.tries.saturating_sub(1).min(10)).min(BACKOFF_CAP.0);
        now < self.last + Millis(backoff)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    placement: Placement,
    preemption: Option<Preemption>,
    /// It says again what is known.
    is_old_news: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Act,
    Bound,
    Marked,
    Evicted,
}

/// Whether a pod is this scheduler's to place, and free to be placed.
fn is_waiting(pod: &Pod) -> bool {
    let gates = pod.spec.extra.get("schedulingGates").and_then(|it| it.as_array());
    !pod.is_assigned()
        && pod.is_active()
        && matches!(pod.spec.text("schedulerName"), "" | "default-scheduler")
        && gates.is_none_or(Vec::is_empty)
}

impl Reconciler for Scheduler {
    type State = Turn;

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        self.snapshot.hear(change);
        let mut woken = Vec::new();
        if let Object::Pod(pod) = &change.object
            && self.hear_waiting(change, &change.key, pod)
        {
            woken.push((change.key.clone(), Millis(0)));
        }
        let helps = hints::helps(change);
        if helps != 0 {
            let all = self.unschedulable.iter().filter(|(_, it)| it.why & helps != 0 || helps == ALL);
            woken.extend(all.map(|(key, _)| (key.clone(), Millis(0))));
        }
        woken
    }

    /// Higher priorities first; pods that fitted nowhere a moment ago after all others.
    fn rank(&self, key: &ObjectKey, cache: &Objects, now: Time) -> i64 {
        let priority = cache.pod(key).and_then(|pod| pod.spec.priority).unwrap_or(0);
        let is_behind = self.unschedulable.get(key).is_some_and(|it| it.is_backing_off(now));
        i64::from(priority) - if is_behind { 1 << 32 } else { 0 }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        match turn.stage {
            Stage::Observe => self.observe(context, key, turn),
            Stage::Diff => diff(key, turn),
            Stage::Act => match turn.placement.chosen.clone() {
                Some((node, _)) => self.bind(context, key, turn, &node),
                None => self.mark(context, key, turn),
            },
            Stage::Bound => self.bound(key, turn, outcomes),
            Stage::Marked => evict(context, key, turn, outcomes),
            Stage::Evicted => match outcomes.into_iter().flat_map(Result::err).find(|it| it.code() != 404) {
                Some(error) => Step::Fail(error.message).into(),
                None => Step::Done(Next::After(FLUSH)).into(),
            },
        }
    }
}

impl Scheduler {
    /// Notes what a change means for a pod without a node. Returns whether it is to be placed now.
    fn hear_waiting(&mut self, change: &Change, key: &ObjectKey, pod: &Rc<Pod>) -> bool {
        let is_gone = change.kind == crate::apiserver::ChangeKind::Deleted;
        if is_gone || !is_waiting(pod) {
            self.unschedulable.remove(key);
            self.nominated.remove(key);
            return false;
        }
        let nominated = &pod.status.nominated_node_name;
        if nominated.is_empty() {
            self.nominated.remove(key);
        } else {
            let reserved = (nominated.clone(), Usage::of(pod), pod.spec.priority.unwrap_or(0));
            self.nominated.insert(key.clone(), reserved);
        }
        match change.old.as_ref().and_then(Object::as_pod) {
            None => true,
            Some(old) => {
                !Rc::ptr_eq(&old.spec, &pod.spec) && old.spec != pod.spec || old.metadata.labels != pod.metadata.labels
            }
        }
    }

    fn observe(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let Some(pod) = context.cache.pod(key).filter(|pod| is_waiting(pod)) else {
            self.unschedulable.remove(key);
            return Step::Done(Next::AwaitChange).into();
        };
        if self.snapshot.is_assumed(key) {
            return Step::Done(Next::AwaitChange).into();
        }
        self.snapshot.refresh(context.cache);
        let priority = pod.spec.priority.unwrap_or(0);
        let others = self.nominated.iter().filter(|(other, it)| *other != key && it.2 >= priority);
        let reserved = others.filter_map(|(_, (node, usage, _))| Some((self.snapshot.find(node)?, *usage))).collect();
        let query = Query::new(&mut self.snapshot, context.cache, pod, reserved);
        let placement = place(&mut self.snapshot, context.cache, &query, &mut self.start);
        let mut facts: Facts = note!("pod **{}** has no node", Arg::Short(key.name.clone())).into();
        facts = facts.with(if placement.seen < placement.total && placement.absent == 0 {
            note!("{} nodes fit of the {} looked at, {} in all", placement.fitting, placement.seen, placement.total)
        } else {
            note!("{} of {} nodes fit", placement.fitting, placement.total)
        });
        if placement.chosen.is_none() {
            let preemption = match placement.total {
                0 => Preemption::Nothing { why: String::new(), keeps_nomination: false },
                _ => preempt(&self.snapshot, context.cache, &query, &placement),
            };
            let waiting = Waiting { tries: 0, last: context.now, why: 0 };
            let it = self.unschedulable.or_insert_with(key.clone(), || waiting);
            (it.tries, it.last, it.why) = (it.tries.saturating_add(1), context.now, placement.why());
            let message = failure(&placement, &preemption);
            let known = condition(&pod.status.conditions, "PodScheduled");
            turn.is_old_news = !matches!(preemption, Preemption::Found(_))
                && nomination(pod, &preemption) == pod.status.nominated_node_name
                && known.is_some_and(|known| known.reason == "Unschedulable" && known.message == message);
            turn.preemption = Some(preemption);
        }
        turn.placement = placement;
        turn.stage = Stage::Diff;
        Stepped { is_background: turn.is_old_news, ..Step::Observe(facts).into() }
    }

    fn bind(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, node: &Name) -> Stepped {
        let Some(pod) = context.cache.pod(key).filter(|pod| !pod.is_terminating()) else {
            return Step::Done(Next::AwaitChange).into();
        };
        self.snapshot.refresh(context.cache);
        self.snapshot.assume(key, node, pod);
        self.nominated.remove(key);
        let facts: Facts = note!("bind {} to **{}**", Arg::Short(key.name.clone()), node).into();
        let request = Request::new(MANAGER, Verb::Bind(key.clone(), node.clone()));
        turn.stage = Stage::Bound;
        Step::Act(facts.with(note!("POST binding")), vec![Action::Api(request)]).into()
    }

    /// Says in the pod's status that it fits nowhere, and on which node others make room for it.
    fn mark(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let Some(pod) = context.cache.pod(key).filter(|pod| is_waiting(pod)) else {
            return Step::Done(Next::AwaitChange).into();
        };
        let Some(preemption) = &turn.preemption else { return Step::Done(Next::AwaitChange).into() };
        let message = failure(&turn.placement, preemption);
        let event = RECORDER.warning(key, "FailedScheduling", message.clone());
        if turn.is_old_news {
            return Stepped { events: vec![event], is_background: true, ..Step::Done(Next::After(FLUSH)).into() };
        }
        let mut changed = Rc::clone(pod);
        let status = &mut Rc::make_mut(&mut changed).status;
        let condition = Condition::new("PodScheduled", false).because("Unschedulable", message);
        set_condition(&mut status.conditions, condition, context.wall);
        status.nominated_node_name = nomination(pod, preemption);
        let update = |pod: Rc<Pod>| Action::Api(Request::new(MANAGER, Verb::UpdateStatus(Object::Pod(pod))));
        let mut actions = vec![update(changed)];
        let mut facts: Facts = note!("mark {} as unschedulable", Arg::Short(key.name.clone())).into();
        facts = facts.with(note!("PUT pods/status"));
        if let Preemption::Found(Candidate { node, victims, .. }) = preemption {
            facts = note!("keep **{}** for {}", node, Arg::Short(key.name.clone())).into();
            facts = facts.with(note!("PUT pods/status, and for {} that leave", victims.len()));
            let staying = victims.iter().filter(|victim| !victim.is_terminating());
            actions.extend(staying.map(|victim| update(marked(victim, context))));
            let priority = pod.spec.priority.unwrap_or(0);
            let lower = self.nominated.iter().filter(|(_, it)| it.0 == *node && it.2 < priority);
            for other in lower.filter_map(|(other, _)| context.cache.pod(other)) {
                let mut other = Rc::clone(other);
                Rc::make_mut(&mut other).status.nominated_node_name = Name::default();
                actions.push(update(other));
            }
            self.nominated.insert(key.clone(), (node.clone(), Usage::of(pod), priority));
        }
        turn.stage = Stage::Marked;
        Stepped { events: vec![event], ..Step::Act(facts, actions).into() }
    }

    fn bound(&mut self, key: &ObjectKey, turn: &Turn, outcomes: Vec<Outcome>) -> Stepped {
        let Some((node, _)) = &turn.placement.chosen else { return Step::Done(Next::AwaitChange).into() };
        if let Some(Err(error)) = outcomes.into_iter().next() {
            self.snapshot.forget(key);
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

/// The FailedScheduling text.
fn failure(placement: &Placement, preemption: &Preemption) -> String {
    let message = placement.message();
    match preemption {
        Preemption::Nothing { why, .. } if !why.is_empty() => {
            format!("{message} no new claims to deallocate, preemption: {why}")
        }
        _ => message,
    }
}

/// The node that is kept for a pod.
fn nomination(pod: &Pod, preemption: &Preemption) -> Name {
    match preemption {
        Preemption::Found(candidate) => candidate.node.clone(),
        Preemption::Nothing { keeps_nomination: true, .. } => pod.status.nominated_node_name.clone(),
        Preemption::Nothing { .. } => Name::default(),
    }
}

/// A victim with the reason for its end in its status.
fn marked(victim: &Rc<Pod>, context: &Context<'_>) -> Rc<Pod> {
    let mut victim = Rc::clone(victim);
    let target = Condition::new("DisruptionTarget", true)
        .because("PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod");
    set_condition(&mut Rc::make_mut(&mut victim).status.conditions, target, context.wall);
    victim
}

/// Deletes the victims once they are marked.
fn evict(context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
    if let Some(error) = outcomes.into_iter().flat_map(Result::err).find(|it| it.code() != 404) {
        return Step::Fail(error.message).into();
    }
    let (Some(Preemption::Found(candidate)), Some(pod)) = (&turn.preemption, context.cache.pod(key)) else {
        return Step::Done(Next::After(FLUSH)).into();
    };
    let mut actions = Vec::new();
    let mut events = Vec::new();
    for victim in candidate.victims.iter().filter(|victim| !victim.is_terminating()) {
        let victim_key = Object::Pod(Rc::clone(victim)).key();
        let options = DeleteOptions { uid: Some(victim.metadata.uid), ..DeleteOptions::default() };
        let message = format!("Preempted by pod {} on node {}", pod.metadata.uid, candidate.node);
        events.push(RECORDER.normal(&victim_key, "Preempted", message));
        actions.push(Action::Api(Request::new(MANAGER, Verb::Delete(victim_key, options))));
    }
    if actions.is_empty() {
        return Step::Done(Next::After(FLUSH)).into();
    }
    turn.stage = Stage::Evicted;
    let facts: Facts = note!("delete **{}** of lower priority", actions.len()).into();
    Stepped { events, ..Step::Act(facts.with(note!("DELETE pods")), actions).into() }
}

fn diff(key: &ObjectKey, turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Act;
    let placement = &turn.placement;
    let facts: Facts = match (&placement.chosen, &placement.runner_up, &turn.preemption) {
        (Some((node, score)), Some((second, other)), _) if score == other => {
            let facts: Facts = note!("**{}** or {}: drawn by lot", node, second).into();
            facts.with(note!("{} points each", *score))
        }
        (Some((node, score)), Some((second, other)), _) => {
            let facts: Facts = note!("**{}** over {}", node, second).into();
            facts.with(note!("{} points to {}, chiefly for {}", *score, *other, placement.chiefly))
        }
        (Some((node, _)), None, _) => {
            let facts: Facts = note!("**{}**, the only one", node).into();
            facts.with(note!("no other node fits"))
        }
        (None, _, Some(Preemption::Found(candidate))) => {
            let facts: Facts = note!(
                "**{}** fits once {} leave **{}**",
                Arg::Short(key.name.clone()),
                candidate.victims.len(),
                &candidate.node
            )
            .into();
            facts.with(note!("lower priority; {}", Arg::from(placement.reasons())))
        }
        (None, ..) => {
            let facts: Facts = note!("**{}** fits nowhere", Arg::Short(key.name.clone())).into();
            facts.with(note!("{}", Arg::from(placement.reasons())))
        }
    };
    Stepped { is_background: turn.is_old_news, ..Step::Diff(facts).into() }
}
