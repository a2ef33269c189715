//! The garbage collector: what belonged to an object that is gone goes too, what waits for its dependents is let go
//! once they are gone, and dependents that are to stay lose their owner.
//!
//! Mirrors `pkg/controller/garbagecollector/{garbagecollector,graph_builder,operations}.go`, v1.36. Fidelity: owners
//! are looked up in the cache, where the real collector asks the API server once more before it deletes.

use serde_json::Value;

use super::CONTROLLER_MANAGER;
use super::pods::finalizers_without;
use crate::api::{Kind, Name, Object, ObjectKey, ObjectMeta, OwnerReference, Uid, fields};
use crate::apiserver::{
    Change, ChangeKind, DeleteOptions, FOREGROUND_FINALIZER, ORPHAN_FINALIZER, Objects, PatchType, Propagation,
    Request, Verb,
};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Millis, Time};

/// Deletes what nobody owns any more.
#[derive(Clone, Debug, Default)]
pub struct GarbageCollector;

#[derive(Clone, Copy, Debug, Default)]
pub enum Turn {
    #[default]
    Observe,
    Diff,
    Act,
    /// The dependents were told that they have no owner; its finalizer comes next.
    Orphaned,
    Finish,
}

/// Where an object stands, seen from its owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// There, and to stay.
    Solid,
    /// Not there, or another object under the same name.
    Absent,
    /// Under deletion, until its dependents are gone.
    Waiting,
}

/// What is to be done about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    Nothing,
    /// Nobody owns it any more.
    Delete(Propagation),
    /// Some of its owners are gone, others stay.
    DropOwners(Vec<Uid>),
    /// It goes in the foreground, and so many dependents still block it.
    Wait(usize),
    /// Nothing blocks it any more: this finalizer goes.
    Release(&'static str),
    /// Its dependents are to stay without it.
    Orphan(Vec<ObjectKey>),
}

/// What becomes of an object with these owners (`attemptToDeleteItem`): it stays while one of them is to stay.
pub fn judge(owners: &[(Uid, OwnerState)], finalizers: &[String], has_dependents: bool) -> Work {
    let any = |state: OwnerState| owners.iter().any(|(_, it)| *it == state);
    if owners.is_empty() {
        return Work::Nothing;
    }
    if any(OwnerState::Solid) {
        let gone: Vec<Uid> = owners.iter().filter(|(_, it)| *it != OwnerState::Solid).map(|(uid, _)| *uid).collect();
        return if gone.is_empty() { Work::Nothing } else { Work::DropOwners(gone) };
    }
    let has = |finalizer: &str| finalizers.iter().any(|it| it == finalizer);
    Work::Delete(if any(OwnerState::Waiting) && has_dependents {
        Propagation::Foreground
    } else if has(ORPHAN_FINALIZER) {
        Propagation::Orphan
    } else if has(FOREGROUND_FINALIZER) {
        Propagation::Foreground
    } else {
        Propagation::Background
    })
}

/// The key of an owner; nothing where it is of a kind that is not known here.
fn owner_key(meta: &ObjectMeta, owner: &OwnerReference) -> Option<ObjectKey> {
    let kind = Kind::find(&owner.api_version, &owner.kind)?;
    let namespace = if kind.is_namespaced() { meta.namespace.clone() } else { Name::default() };
    Some(ObjectKey::new(kind, namespace, owner.name.clone()))
}

fn is_waiting(meta: &ObjectMeta) -> bool {
    meta.deletion_timestamp.is_some() && meta.finalizers.iter().any(|it| it == FOREGROUND_FINALIZER)
}

fn owner_state(cache: &Objects, meta: &ObjectMeta, owner: &OwnerReference) -> OwnerState {
    // An owner of an unknown kind is taken to be there: nobody can tell that it is not.
    let Some(key) = owner_key(meta, owner) else { return OwnerState::Solid };
    match cache.get(&key).map(Object::meta).filter(|found| found.uid == owner.uid) {
        None => OwnerState::Absent,
        Some(found) if is_waiting(found) => OwnerState::Waiting,
        Some(_) => OwnerState::Solid,
    }
}

fn blocks(dependent: &Object, owner: Uid) -> bool {
    dependent.meta().owner_references.iter().any(|it| it.uid == owner && it.block_owner_deletion)
}

fn work_for(cache: &Objects, object: &Object) -> Work {
    let meta = object.meta();
    if meta.deletion_timestamp.is_some() {
        if meta.finalizers.iter().any(|it| it == ORPHAN_FINALIZER) {
            let dependents: Vec<ObjectKey> = cache.dependents(meta.uid).map(Object::key).collect();
            return if dependents.is_empty() { Work::Release(ORPHAN_FINALIZER) } else { Work::Orphan(dependents) };
        }
        if is_waiting(meta) {
            let blocking = cache.dependents(meta.uid).filter(|it| blocks(it, meta.uid)).count();
            return if blocking == 0 { Work::Release(FOREGROUND_FINALIZER) } else { Work::Wait(blocking) };
        }
        return Work::Nothing;
    }
    let owners: Vec<(Uid, OwnerState)> =
        meta.owner_references.iter().map(|owner| (owner.uid, owner_state(cache, meta, owner))).collect();
    judge(&owners, &meta.finalizers, cache.dependents(meta.uid).next().is_some())
}

impl Reconciler for GarbageCollector {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let meta = change.object.meta();
        let old = change.old.as_ref().map(Object::meta);
        let mut keys = Vec::new();
        if change.kind == ChangeKind::Deleted {
            keys.extend(cache.dependents(meta.uid).map(Object::key));
            wake_owners(cache, meta, &mut keys);
        } else {
            let was_deleting =
                old.is_some_and(|old| old.deletion_timestamp.is_some() && old.finalizers == meta.finalizers);
            if meta.deletion_timestamp.is_some() && !meta.finalizers.is_empty() && !was_deleting {
                if is_waiting(meta) {
                    keys.extend(cache.dependents(meta.uid).map(Object::key));
                }
                keys.push(change.key.clone());
            }
            if old.is_none_or(|old| owners_differ(old, meta)) {
                let is_solid = |owner| owner_state(cache, meta, owner) == OwnerState::Solid;
                if !meta.owner_references.iter().all(is_solid) {
                    keys.push(change.key.clone());
                }
                if let Some(old) = old {
                    wake_owners(cache, old, &mut keys);
                }
            }
        }
        keys.into_iter().map(|key| (key, Millis(0))).collect()
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::Observe
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        let refused = outcomes.into_iter().find_map(Result::err).filter(|error| error.code() != 404);
        if let Some(error) = refused {
            return Step::Fail(error.message).into();
        }
        let Some(object) = context.cache.get(key) else { return Step::Done(Next::AwaitChange).into() };
        if let Turn::Orphaned = turn {
            *turn = Turn::Finish;
            return release(key, object.meta(), ORPHAN_FINALIZER);
        }
        let work = work_for(context.cache, object);
        if work == Work::Nothing || matches!(turn, Turn::Finish) {
            return Step::Done(Next::AwaitChange).into();
        }
        match *turn {
            Turn::Observe => {
                *turn = Turn::Diff;
                observe(key, object, &work)
            }
            Turn::Diff => {
                *turn = if let Work::Wait(_) = work { Turn::Finish } else { Turn::Act };
                diff(&work)
            }
            _ => {
                *turn = if let Work::Orphan(_) = work { Turn::Orphaned } else { Turn::Finish };
                act(key, object, work)
            }
        }
    }
}

/// Whether an object names other owners than before.
fn owners_differ(old: &ObjectMeta, new: &ObjectMeta) -> bool {
    let (old, new) = (&old.owner_references, &new.owner_references);
    old.len() != new.len()
        || old.iter().zip(new).any(|(a, b)| a.uid != b.uid || a.block_owner_deletion != b.block_owner_deletion)
}

/// An owner that waits for its dependents is looked at again when one of them leaves.
fn wake_owners(cache: &Objects, dependent: &ObjectMeta, keys: &mut Vec<ObjectKey>) {
    for owner in &dependent.owner_references {
        let waiting = owner_key(dependent, owner)
            .filter(|key| cache.get(key).is_some_and(|it| it.meta().uid == owner.uid && is_waiting(it.meta())));
        keys.extend(waiting);
    }
}

fn observe(key: &ObjectKey, object: &Object, work: &Work) -> Stepped {
    let facts: Facts = match work {
        Work::Delete(_) | Work::DropOwners(_) | Work::Nothing => {
            let facts: Facts = note!("**{}** names an owner", &key.name).into();
            match object.meta().owner_references.first() {
                Some(owner) => facts.with(note!("{}/{}", owner.kind.clone(), &owner.name)),
                None => facts,
            }
        }
        Work::Wait(_) | Work::Release(_) => {
            let facts: Facts = note!("**{}** waits to be gone", &key.name).into();
            facts.with(note!("it has a finalizer"))
        }
        Work::Orphan(dependents) => {
            let facts: Facts = note!("**{}** leaves its dependents behind", &key.name).into();
            facts.with(note!("{} of them", dependents.len()))
        }
    };
    Step::Observe(facts).into()
}

fn diff(work: &Work) -> Stepped {
    let facts: Facts = match work {
        Work::Delete(Propagation::Foreground) => {
            let facts: Facts = note!("the owner **waits** for it to go").into();
            facts.with(note!("what it owns goes first"))
        }
        Work::Delete(_) => {
            let facts: Facts = note!("the owner is **gone**").into();
            facts.with(note!("nobody else owns it"))
        }
        Work::DropOwners(gone) => {
            let facts: Facts = note!("**{}** of its owners is gone", gone.len()).into();
            facts.with(note!("another one stays, so it stays"))
        }
        Work::Wait(1) => note!("**1** dependent is left").into(),
        Work::Wait(left) => note!("**{}** dependents are left", *left).into(),
        Work::Orphan(_) => note!("they are to **stay**").into(),
        Work::Release(_) | Work::Nothing => note!("nothing holds it any more").into(),
    };
    Step::Diff(facts).into()
}

fn act(key: &ObjectKey, object: &Object, work: Work) -> Stepped {
    let meta = object.meta();
    match work {
        Work::Delete(propagation) => {
            let options = DeleteOptions {
                uid: Some(meta.uid),
                resource_version: Some(meta.resource_version),
                propagation: Some(propagation),
                ..DeleteOptions::default()
            };
            let facts: Facts = note!("delete **{}**", &key.name).into();
            let request = Request::new(CONTROLLER_MANAGER, Verb::Delete(key.clone(), options));
            Step::Act(facts.with(note!("DELETE {}", key.kind.plural())), vec![Action::Api(request)]).into()
        }
        Work::DropOwners(gone) => {
            let facts: Facts = note!("take the owner off **{}**", &key.name).into();
            let facts = facts.with(note!("PATCH {}", key.kind.plural()));
            Step::Act(facts, vec![disown(key, meta.uid, &gone)]).into()
        }
        Work::Orphan(dependents) => {
            let facts: Facts = note!("take the owner off **{}**", dependents.len()).into();
            let actions = dependents.iter().map(|it| disown(it, Uid::default(), &[meta.uid])).collect();
            Step::Act(facts.with(note!("PATCH ownerReferences")), actions).into()
        }
        Work::Release(finalizer) => release(key, meta, finalizer),
        Work::Wait(_) | Work::Nothing => Step::Done(Next::AwaitChange).into(),
    }
}

/// Takes owners off an object, which must still be the one with this UID, where one is given.
fn disown(key: &ObjectKey, uid: Uid, owners: &[Uid]) -> Action {
    let gone: Vec<_> =
        owners.iter().map(|uid| fields([("$patch", "delete".into()), ("uid", uid.to_string().into())])).collect();
    let mut metadata = fields([("ownerReferences", Value::Array(gone))]);
    if uid != Uid::default() {
        metadata["uid"] = uid.to_string().into();
    }
    let patch = fields([("metadata", metadata)]);
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Patch(key.clone(), PatchType::Strategic, patch)))
}

/// Takes a finalizer off an object, of which the cache must know the newest version.
fn release(key: &ObjectKey, meta: &ObjectMeta, finalizer: &str) -> Stepped {
    let version = meta.resource_version.to_string().into();
    let metadata = [("resourceVersion", version), ("finalizers", finalizers_without(meta, finalizer))];
    let patch = fields([("metadata", fields(metadata))]);
    let facts: Facts = note!("let **{}** go", &key.name).into();
    let request = Request::new(CONTROLLER_MANAGER, Verb::Patch(key.clone(), PatchType::Merge, patch));
    Step::Act(facts.with(note!("PATCH {}, finalizer", key.kind.plural())), vec![Action::Api(request)]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_stays_while_one_owner_stays() {
        use OwnerState::{Absent, Solid, Waiting};
        let (a, b) = (Uid(1), Uid(2));
        assert_eq!(judge(&[], &[], true), Work::Nothing);
        assert_eq!(judge(&[(a, Solid)], &[], false), Work::Nothing);
        assert_eq!(judge(&[(a, Absent), (b, Solid)], &[], false), Work::DropOwners(vec![a]));
        assert_eq!(judge(&[(a, Waiting), (b, Solid)], &[], false), Work::DropOwners(vec![a]));
    }

    #[test]
    fn what_nobody_owns_goes_in_the_way_that_its_owners_went() {
        use OwnerState::{Absent, Waiting};
        let orphan = [ORPHAN_FINALIZER.to_string()];
        assert_eq!(judge(&[(Uid(1), Absent)], &[], true), Work::Delete(Propagation::Background));
        assert_eq!(judge(&[(Uid(1), Absent)], &orphan, true), Work::Delete(Propagation::Orphan));
        assert_eq!(judge(&[(Uid(1), Waiting)], &[], true), Work::Delete(Propagation::Foreground));
        assert_eq!(judge(&[(Uid(1), Waiting)], &[], false), Work::Delete(Propagation::Background));
    }
}
