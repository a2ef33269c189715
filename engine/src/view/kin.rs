//! Who owns an object, and what it owns.

use super::{Kin, status_word};
use crate::api::{Kind, Name, Object, ObjectKey};
use crate::sim::sort_by;
use crate::world::Simulation;

/// Objects listed at the most.
const MOST: usize = 60;
/// Generations below the object: a Deployment shows its ReplicaSets and their pods.
const BELOW: usize = 2;

/// The owner's key, whether or not the owner is still there.
pub fn owner_of(object: &Object) -> Option<ObjectKey> {
    let meta = object.meta();
    let owner = meta.controller().or_else(|| meta.owner_references.first())?;
    let kind = Kind::by_name(&owner.kind)?;
    let namespace = if kind.is_namespaced() { meta.namespace.clone() } else { Name::default() };
    Some(ObjectKey::new(kind, namespace, owner.name.clone()))
}

/// The owners from the first on, the object, and what it owns; just nothing where it stands alone.
pub fn kin(simulation: &Simulation, object: &Object) -> Vec<Kin> {
    let objects = simulation.api().objects();
    let mut owners = Vec::new();
    let mut next = owner_of(object);
    while let Some(owner) = next.and_then(|key| objects.get(&key)).filter(|_| owners.len() < MOST) {
        next = owner_of(owner);
        owners.push(owner);
    }
    let depth = owners.len();
    let mut all: Vec<Kin> = owners.into_iter().rev().enumerate().map(|(depth, it)| row(it, depth, false)).collect();
    all.push(row(object, depth, true));
    add_owned(simulation, object, depth + 1, depth + BELOW, &mut all);
    if all.len() == 1 {
        all.clear();
    }
    all
}

fn add_owned(simulation: &Simulation, object: &Object, depth: usize, deepest: usize, all: &mut Vec<Kin>) {
    let mut owned: Vec<&Object> = simulation.api().objects().controlled_by(object.meta().uid).collect();
    let order = |it: &Object| (it.kind(), it.meta().name.clone());
    sort_by(&mut owned, |a, b| order(a).cmp(&order(b)));
    for it in owned {
        if all.len() >= MOST {
            return;
        }
        all.push(row(it, depth, false));
        if depth < deepest {
            add_owned(simulation, it, depth + 1, deepest, all);
        }
    }
}

fn row(object: &Object, depth: usize, is_self: bool) -> Kin {
    Kin { key: object.key(), depth, state: state(object), is_self }
}

/// How an object is, in a few words.
fn state(object: &Object) -> String {
    let ready = |is: i32, wanted: i32| format!("{is} of {wanted} ready");
    match object {
        Object::Pod(it) => status_word(it),
        Object::Deployment(it) => ready(it.status.ready_replicas, it.spec.wanted()),
        Object::ReplicaSet(it) => ready(it.status.ready_replicas, it.spec.wanted()),
        Object::StatefulSet(it) => ready(it.status.ready_replicas, it.spec.replicas.unwrap_or(1)),
        Object::DaemonSet(it) => ready(it.status.number_ready, it.status.desired_number_scheduled),
        Object::Job(it) => format!("{} succeeded, {} failed", it.status.succeeded, it.status.failed),
        _ => String::new(),
    }
}
