//! The disruption controller: how many pods of each budget may be evicted right now.
//!
//! Mirrors `pkg/controller/disruption/disruption.go`, v1.36. It only counts; the eviction itself asks at the API server.

mod budget;

use std::rc::Rc;

pub use budget::{Member, Tally, expected, status_of};

use super::{CONTROLLER_MANAGER, Recorder};
use crate::api::{Kind, LabelSelector, Object, ObjectKey, Pod, PodDisruptionBudget};
use crate::apiserver::{Change, ChangeKind, Objects, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time};

const RECORDER: Recorder = Recorder("controllermanager");

/// Keeps the status of disruption budgets.
#[derive(Clone, Debug, Default)]
pub struct DisruptionController {
    budgets: Map<ObjectKey, Selected>,
}

/// A budget's selector and the pods it selects.
#[derive(Clone, Debug, Default)]
struct Selected {
    selector: Option<LabelSelector>,
    tally: Tally,
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    budget: Option<Rc<PodDisruptionBudget>>,
    differs: bool,
    recheck: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Act,
    Finish,
}

fn member(pod: &Pod) -> Member {
    let namespace = &pod.metadata.namespace;
    let controller = pod
        .metadata
        .controller()
        .and_then(|owner| Some(ObjectKey::new(Kind::by_name(&owner.kind)?, namespace.clone(), owner.name.clone())));
    let is_terminating = pod.is_terminating();
    Member { is_healthy: pod.is_ready() && !is_terminating, is_terminating, controller }
}

impl Selected {
    fn selects(&self, pod: &Pod) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(&pod.metadata.labels))
    }
}

/// What the controllers of a budget's pods ask for together; a ReplicaSet speaks through its Deployment.
fn scale_of(cache: &Objects, tally: &Tally) -> i32 {
    let mut scales: Map<ObjectKey, i32> = Map::default();
    for key in tally.controllers() {
        let Some(object) = cache.get(key) else { continue };
        let above = super::controller_key(object, Kind::Deployment).filter(|_| key.kind == Kind::ReplicaSet);
        let (key, object) = match above.and_then(|key| Some((key.clone(), cache.get(&key)?))) {
            Some(deployment) => deployment,
            None => (key.clone(), object),
        };
        let scale = match object {
            Object::Deployment(it) => it.spec.wanted(),
            Object::ReplicaSet(it) => it.spec.wanted(),
            Object::StatefulSet(it) => it.spec.replicas.unwrap_or(1),
            _ => continue,
        };
        scales.insert(key, scale);
    }
    scales.values().fold(0, |sum: i32, scale| sum.saturating_add(*scale))
}

impl DisruptionController {
    fn hear_budget(&mut self, change: &Change, cache: &Objects, budget: &PodDisruptionBudget) -> Vec<Wakeup> {
        let key = change.key.clone();
        if change.kind == ChangeKind::Deleted {
            self.budgets.remove(&key);
            return Vec::new();
        }
        let is_known = self.budgets.get(&key).is_some_and(|it| it.selector == budget.spec.selector);
        if !is_known {
            let mut selected = Selected { selector: budget.spec.selector.clone(), tally: Tally::default() };
            for pod in cache.in_namespace(Kind::Pod, &key.namespace).filter_map(Object::as_pod) {
                if selected.selects(pod) {
                    selected.tally.take(&pod.metadata.name, Some(member(pod)));
                }
            }
            self.budgets.insert(key.clone(), selected);
        }
        vec![(key, Millis(0))]
    }

    fn hear_pod(&mut self, change: &Change, pod: &Pod) -> Vec<Wakeup> {
        let is_there = change.kind != ChangeKind::Deleted;
        let mut keys = Vec::new();
        self.budgets.each(|key, selected| {
            if key.namespace != pod.metadata.namespace {
                return;
            }
            let member = (is_there && selected.selects(pod)).then(|| member(pod));
            if selected.tally.take(&pod.metadata.name, member) {
                keys.push((key.clone(), Millis(0)));
            }
        });
        keys
    }
}

impl Reconciler for DisruptionController {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        match &change.object {
            Object::PodDisruptionBudget(budget) => self.hear_budget(change, cache, budget),
            Object::Pod(pod) if !self.budgets.is_empty() => self.hear_pod(change, pod),
            _ => Vec::new(),
        }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        match turn.stage {
            Stage::Observe => self.observe(context, key, turn),
            Stage::Diff => diff(turn),
            Stage::Act => {
                turn.stage = Stage::Finish;
                let Some(budget) = turn.budget.clone() else { return Step::Done(Next::AwaitChange).into() };
                let facts: Facts = note!("write **{}** allowed", budget.status.disruptions_allowed).into();
                let request = Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::PodDisruptionBudget(budget)));
                let facts = facts.with(note!("PUT poddisruptionbudgets/status"));
                Step::Act(facts, vec![Action::Api(request)]).into()
            }
            Stage::Finish => finish(turn, outcomes),
        }
    }
}

impl DisruptionController {
    fn observe(&self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let budget = context.cache.get(key).and_then(Object::as_pod_disruption_budget);
        let (Some(budget), Some(selected)) = (budget, self.budgets.get(key)) else {
            return Step::Done(Next::AwaitChange).into();
        };
        let scale = scale_of(context.cache, &selected.tally);
        let (status, recheck) = status_of(budget, &selected.tally, scale, context.wall);
        turn.differs = status != budget.status;
        turn.recheck = recheck;
        turn.stage = Stage::Diff;
        let facts: Facts = note!("**{}** of **{}** pods healthy", status.current_healthy, status.expected_pods).into();
        let facts = facts.with(note!("{} must stay", status.desired_healthy));
        let mut budget = Rc::clone(budget);
        if turn.differs {
            Rc::make_mut(&mut budget).status = status;
        }
        turn.budget = Some(budget);
        let mut stepped: Stepped = Step::Observe(facts).into();
        if selected.tally.size() == 0 {
            stepped.events.push(RECORDER.normal(key, "NoPods", "No matching pods found".into()));
        }
        stepped.is_background = !turn.differs;
        stepped
    }
}

fn diff(turn: &mut Turn) -> Stepped {
    turn.stage = if turn.differs { Stage::Act } else { Stage::Finish };
    let allowed = turn.budget.as_ref().map_or(0, |budget| budget.status.disruptions_allowed);
    let facts: Facts = match allowed {
        0 => note!("**none** may be evicted").into(),
        1 => note!("**one** may be evicted").into(),
        n => note!("**{}** may be evicted", n).into(),
    };
    let facts = if turn.differs { facts } else { facts.with(note!("as written")) };
    Stepped { is_background: !turn.differs, ..Step::Diff(facts).into() }
}

fn finish(turn: &Turn, outcomes: Vec<Outcome>) -> Stepped {
    if let Some(error) = outcomes.into_iter().find_map(Result::err).filter(|error| error.code() != 404) {
        return Step::Fail(error.message).into();
    }
    let seconds = turn.recheck.and_then(|left| u64::try_from(left).ok());
    let next = seconds.map_or(Next::AwaitChange, |left| Next::After(Millis::from_secs(left)));
    Stepped { is_background: true, ..Step::Done(next).into() }
}
