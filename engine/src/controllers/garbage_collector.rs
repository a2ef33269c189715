//! The garbage collector: what belonged to an object that is gone goes too.
//!
//! Mirrors the background policy of `pkg/controller/garbagecollector`, v1.36.

use crate::api::{Object, ObjectKey};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Objects, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Millis, Time};

use super::CONTROLLER_MANAGER;

/// Deletes objects whose controller is gone.
#[derive(Clone, Debug, Default)]
pub struct GarbageCollector;

#[derive(Clone, Copy, Debug, Default)]
pub enum Turn {
    #[default]
    Observe,
    Diff,
    Act,
    Deleted,
}

/// The controller that an object names, where no such object is left.
fn missing_owner(cache: &Objects, object: &Object) -> Option<ObjectKey> {
    let meta = object.meta();
    let owner = meta.controller()?;
    let kind = crate::api::Kind::by_name(&owner.kind)?;
    let namespace = if kind.is_namespaced() { meta.namespace.clone() } else { crate::api::Name::default() };
    let key = ObjectKey::new(kind, namespace, owner.name.clone());
    let lives = cache.get(&key).is_some_and(|found| found.meta().uid == owner.uid);
    (!lives).then_some(key)
}

impl Reconciler for GarbageCollector {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let orphans = (change.kind == ChangeKind::Deleted).then(|| cache.controlled_by(change.object.meta().uid));
        let orphans = orphans.into_iter().flatten().map(Object::key);
        let own = (change.kind == ChangeKind::Added && missing_owner(cache, &change.object).is_some())
            .then(|| change.object.key());
        orphans.chain(own).map(|key| (key, Millis(0))).collect()
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::Observe
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        if let Turn::Deleted = turn {
            return match outcomes.into_iter().next() {
                Some(Err(error)) if error.code() != 404 => Step::Fail(error.message).into(),
                _ => Step::Done(Next::AwaitChange).into(),
            };
        }
        let found = context.cache.get(key).and_then(|object| Some((object, missing_owner(context.cache, object)?)));
        let Some((object, owner)) = found.filter(|(object, _)| object.meta().deletion_timestamp.is_none()) else {
            return Step::Done(Next::AwaitChange).into();
        };
        match *turn {
            Turn::Observe => {
                *turn = Turn::Diff;
                let facts: Facts = note!("**{}** names an owner", &key.name).into();
                Step::Observe(facts.with(note!("{}", &owner))).into()
            }
            Turn::Diff => {
                *turn = Turn::Act;
                let facts: Facts = note!("the owner is **gone**").into();
                Step::Diff(facts.with(note!("nobody else owns it"))).into()
            }
            _ => {
                *turn = Turn::Deleted;
                let options = DeleteOptions { uid: Some(object.meta().uid), ..DeleteOptions::default() };
                let facts: Facts = note!("delete **{}**", &key.name).into();
                let request = Request::new(CONTROLLER_MANAGER, Verb::Delete(key.clone(), options));
                Step::Act(facts.with(note!("DELETE {}", key.kind.plural())), vec![Action::Api(request)]).into()
            }
        }
    }
}
