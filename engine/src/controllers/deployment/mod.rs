//! The Deployment controller: the right ReplicaSets at the right sizes.
//!
//! Mirrors `pkg/controller/deployment/deployment_controller.go`, v1.36. One turn takes the decisions of one
//! `syncDeployment` and sends its writes one after the other.

pub mod plan;
pub mod revision;
pub mod rolling;
pub mod status;

use std::rc::Rc;

use plan::{Plan, Planned, decide};

use super::pods::{adopt, release, suitors};
use super::{CONTROLLER_MANAGER, Recorder, controller_key};
use crate::api::{Deployment, Kind, Object, ObjectKey, ReplicaSet};
use crate::apiserver::{Change, DeleteOptions, Objects, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Millis, Time};

const RECORDER: Recorder = Recorder("deployment-controller");

/// Keeps each Deployment's ReplicaSets in step with its template and size.
#[derive(Clone, Debug, Default)]
pub struct DeploymentController;

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    plan: Option<Plan>,
    /// The planned write whose answer is awaited.
    sent: Option<Planned>,
    is_mere_check: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Act,
}

impl Reconciler for DeploymentController {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let key = match &change.object {
            Object::Deployment(_) => Some(change.key.clone()),
            Object::ReplicaSet(set) if set.metadata.controller().is_none() => {
                let keys = suitors(Kind::Deployment, change, cache);
                return keys.into_iter().map(|key| (key, Millis(0))).collect();
            }
            Object::ReplicaSet(_) => controller_key(&change.object, Kind::Deployment),
            // The last pod of a Deployment that waits for its old pods to be gone.
            Object::Pod(_) if change.kind == crate::apiserver::ChangeKind::Deleted => {
                controller_key(&change.object, Kind::ReplicaSet)
                    .and_then(|key| controller_key(cache.get(&key)?, Kind::Deployment))
                    .filter(|key| is_recreate(cache, key))
            }
            _ => None,
        };
        key.map(|key| (key, Millis(0))).into_iter().collect()
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        match turn.stage {
            Stage::Observe => observe(context, key, turn),
            Stage::Diff => diff(turn),
            Stage::Act => act(context, key, turn, outcomes),
        }
    }
}

fn is_recreate(cache: &Objects, key: &ObjectKey) -> bool {
    cache.get(key).and_then(Object::as_deployment).is_some_and(|it| !rolling::is_rolling_update(&it.spec))
}

fn observe(context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
    let Some(deployment) = context.cache.get(key).and_then(Object::as_deployment) else {
        return Step::Done(Next::AwaitChange).into();
    };
    let sets: Vec<Rc<ReplicaSet>> =
        context.cache.controlled_by(deployment.metadata.uid).filter_map(Object::as_replica_set).cloned().collect();
    let available: i32 = sets.iter().map(|set| set.status.available_replicas).sum();
    let facts: Facts = note!("want **{}**, available **{}**", deployment.spec.wanted(), available).into();
    let detail = match sets.len() {
        0 => note!("no ReplicaSet, cache rv {}", context.version),
        1 => note!("1 ReplicaSet, cache rv {}", context.version),
        n => note!("{} ReplicaSets, cache rv {}", n, context.version),
    };
    let has_old_pods = sets.iter().any(|set| context.cache.controlled_by(set.metadata.uid).next().is_some());
    let orphans = context.cache.orphans(Kind::ReplicaSet, &key.namespace).filter_map(Object::as_replica_set);
    let orphans: Vec<Rc<ReplicaSet>> = orphans.cloned().collect();
    let plan = decide(deployment, &sets, &orphans, has_old_pods, context.wall);
    turn.is_mere_check = plan.is_mere_check(context.wall, context.wall_millis);
    turn.plan = Some(plan);
    turn.stage = Stage::Diff;
    Stepped { is_background: turn.is_mere_check, ..Step::Observe(facts.with(detail)).into() }
}

fn diff(turn: &mut Turn) -> Stepped {
    turn.stage = Stage::Act;
    let Some(plan) = &turn.plan else { return Step::Done(Next::AwaitChange).into() };
    Stepped { is_background: turn.is_mere_check, ..Step::Diff(plan.facts()).into() }
}

fn act(context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
    let (Some(plan), sent) = (&mut turn.plan, turn.sent.take()) else {
        return Step::Done(Next::AwaitChange).into();
    };
    let mut events = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(Some(answer)) => {
                if let Some(sent) = &sent {
                    events.extend(sent.event(key));
                    plan.accept(sent, answer.object);
                }
            }
            Ok(None) => {}
            Err(_) if sent.as_ref().is_some_and(|sent| plan.passes_over(sent)) => {}
            Err(error) => {
                if let Some(Planned::Create(set)) = &sent
                    && error.code() == 409
                    && is_foreign(context, key, set)
                {
                    // Another template's name, by chance: the next one is worked out with a number more.
                    let planned = plan.collide();
                    let stepped = Step::Act(planned.facts(), vec![planned.action(&plan.deployment)]);
                    turn.sent = Some(planned);
                    return Stepped { events, ..stepped.into() };
                }
                let mut stepped: Stepped = Step::Fail(error.message.clone()).into();
                if let Some(Planned::Create(set)) = &sent
                    && error.code() != 409
                {
                    let message = format!("Failed to create new replica set \"{}\": {error}", set.metadata.name);
                    stepped.events.push(RECORDER.warning(key, "ReplicaSetCreateError", message));
                }
                return stepped;
            }
        }
    }
    let mut stepped = match plan.next(context.wall) {
        Some(planned) => {
            let stepped: Stepped = Step::Act(planned.facts(), vec![planned.action(&plan.deployment)]).into();
            turn.sent = Some(planned);
            stepped
        }
        None => Step::Done(plan.wait(context.wall_millis)).into(),
    };
    stepped.events = events;
    stepped
}

/// Whether the ReplicaSet that has a new one's name belongs to somebody else or has another template.
fn is_foreign(context: &Context<'_>, key: &ObjectKey, new: &ReplicaSet) -> bool {
    let name = ObjectKey::new(Kind::ReplicaSet, key.namespace.clone(), new.metadata.name.clone());
    let known = context.cache.get(&name).and_then(Object::as_replica_set);
    let owner = new.metadata.controller().map(|owner| owner.uid);
    known.is_some_and(|known| {
        let is_ours = owner.is_some_and(|owner| known.metadata.is_controlled_by(owner));
        !(is_ours && known.spec.template == new.spec.template)
    })
}

impl Planned {
    fn action(&self, deployment: &Rc<Deployment>) -> Action {
        let owner = &deployment.metadata;
        let set_key = |set: &ReplicaSet| {
            ObjectKey::new(Kind::ReplicaSet, set.metadata.namespace.clone(), set.metadata.name.clone())
        };
        let verb = match self {
            Planned::Adopt(set) => {
                return adopt(&set_key(set), &set.metadata, &owner.controller_reference(Kind::Deployment));
            }
            Planned::Release(set) => return release(&set_key(set), &set.metadata, owner),
            Planned::Create(set) => Verb::Create(Object::ReplicaSet(Rc::clone(set))),
            Planned::Resize { set, .. } | Planned::Annotate(set) => Verb::Update(Object::ReplicaSet(Rc::clone(set))),
            Planned::Remove(set) => {
                Verb::Delete(set_key(set), DeleteOptions { uid: Some(set.metadata.uid), ..DeleteOptions::default() })
            }
            Planned::Status(status, annotations) => {
                let mut deployment = Rc::clone(deployment);
                let it = Rc::make_mut(&mut deployment);
                it.status = (**status).clone();
                it.metadata.annotations = annotations.clone();
                Verb::UpdateStatus(Object::Deployment(deployment))
            }
        };
        Action::Api(Request::new(CONTROLLER_MANAGER, verb))
    }

    /// The Event that tells of a write that succeeded.
    fn event(&self, key: &ObjectKey) -> Option<crate::apiserver::EventDraft> {
        let (set, from) = match self {
            Planned::Create(set) => (set, 0),
            Planned::Resize { set, from, .. } => (set, *from),
            _ => return None,
        };
        let to = set.spec.wanted();
        if from == to {
            return None;
        }
        let direction = if to > from { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {} from {from} to {to}", set.metadata.name);
        Some(RECORDER.normal(key, "ScalingReplicaSet", message))
    }

    fn facts(&self) -> Facts {
        match self {
            Planned::Adopt(set) => {
                let facts: Facts = note!("adopt a ReplicaSet, size **{}**", set.spec.wanted()).into();
                facts.with(note!("PATCH replicasets/{}", &set.metadata.name))
            }
            Planned::Release(set) => {
                let facts: Facts = note!("release a ReplicaSet").into();
                facts.with(note!("PATCH replicasets/{}", &set.metadata.name))
            }
            Planned::Create(set) => {
                let facts: Facts = note!("create ReplicaSet, size **{}**", set.spec.wanted()).into();
                facts.with(note!("POST replicasets/{}", &set.metadata.name))
            }
            Planned::Resize { set, from, .. } => {
                let facts: Facts = note!("scale **{} → {}**", *from, set.spec.wanted()).into();
                facts.with(note!("PUT replicasets/{}", &set.metadata.name))
            }
            Planned::Annotate(set) => {
                let facts: Facts = note!("note revision and sizes").into();
                facts.with(note!("PUT replicasets/{}", &set.metadata.name))
            }
            Planned::Remove(set) => {
                let facts: Facts = note!("delete old ReplicaSet").into();
                facts.with(note!("DELETE replicasets/{}", &set.metadata.name))
            }
            Planned::Status(status, _) => {
                let facts: Facts =
                    note!("write status: **{}** of **{}** available", status.available_replicas, status.replicas)
                        .into();
                facts.with(note!("PUT deployments/status"))
            }
        }
    }
}
