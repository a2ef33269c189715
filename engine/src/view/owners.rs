//! Whose the pods are: one card for each workload, with the pods of its old and its new template apart.

use std::rc::Rc;

use super::frame::silent_nodes;
use super::map::{by_name, count};
use super::stuck::{Ground, Holds};
use super::truth::differing;
use super::workloads::workloads;
use super::{Capacity, Convergence, NodeCard, NodeClass, NodeFaults, OwnerFacts, Part, PodClass, PodRow};
use crate::api::{Kind, Name, Object, ObjectKey, Pod, ReplicaSet, Uid};
use crate::apiserver::Objects;
use crate::controllers::deployment::revision::{by_creation, find_new_set};
use crate::controllers::history::HASH_LABEL;
use crate::sim::sort_by;
use crate::world::Simulation;

/// The rows in one card for each top owner, in the order of the workloads; bare pods come last, in one card.
pub fn group(simulation: &Simulation, rows: Vec<PodRow>) -> Vec<NodeCard> {
    let objects = simulation.api().objects();
    let mut cards: Vec<(Uid, NodeCard)> = Vec::new();
    let mut bare = blank(ObjectKey::new(Kind::Pod, "", ""));
    let silent = silent_nodes(simulation);
    let ground = Ground::new(simulation, &silent);
    for workload in workloads(simulation) {
        let convergence = match Holds::default().look(&ground, &workload) {
            true => Convergence::Stuck,
            false if workload.is_current => Convergence::Converged,
            false => Convergence::Converging,
        };
        match workload.object {
            Object::Pod(_) => facts(&mut bare).want += workload.wants,
            object => {
                let mut card = blank(object.key());
                let facts = facts(&mut card);
                (facts.want, facts.convergence) = (workload.wants, convergence);
                cards.push((object.meta().uid, card));
            }
        }
    }
    for row in rows {
        let owner = objects.pod(&row.key).filter(|_| row.is_known).and_then(|pod| top(objects, pod));
        let found = owner.as_ref().and_then(|owner| cards.iter().position(|(uid, _)| *uid == owner.meta().uid));
        let card = match (found, owner) {
            (Some(at), _) => &mut cards[at].1,
            // A ReplicaSet whose Deployment is gone: the garbage collector will take it.
            (None, Some(owner)) => {
                cards.push((owner.meta().uid, blank(owner.key())));
                let Some((_, card)) = cards.last_mut() else { continue };
                card
            }
            (None, None) => &mut bare,
        };
        card.pods.push(row);
    }
    let mut all: Vec<NodeCard> = cards.into_iter().map(|(_, card)| card).collect();
    sort_by(&mut all, |a, b| (a.key.kind, &a.key.name).cmp(&(b.key.kind, &b.key.name)));
    if !bare.pods.is_empty() {
        all.push(bare);
    }
    all.iter_mut().for_each(|card| fill(objects, card));
    all
}

fn blank(key: ObjectKey) -> NodeCard {
    let facts = OwnerFacts { want: 0, ready: 0, convergence: Convergence::Converged, parts: Vec::new() };
    NodeCard {
        word: if key.name.is_empty() { "bare pods" } else { key.kind.name() }.into(),
        key,
        owner: Some(facts),
        class: NodeClass::Ready,
        reported: None,
        faults: NodeFaults::default(),
        last_heard: None,
        cpu: Capacity::default(),
        memory: Capacity::default(),
        pods: Vec::new(),
        counts: Vec::new(),
        message: None,
    }
}

fn facts(card: &mut NodeCard) -> &mut OwnerFacts {
    card.owner.get_or_insert_with(|| OwnerFacts {
        want: 0,
        ready: 0,
        convergence: Convergence::Empty,
        parts: Vec::new(),
    })
}

/// What made the pod, or made what made it, while that exists.
fn top<'a>(objects: &'a Objects, pod: &Pod) -> Option<&'a Object> {
    let owner = owner_of(objects, &pod.metadata)?;
    Some(owner_of(objects, owner.meta()).unwrap_or(owner))
}

fn owner_of<'a>(objects: &'a Objects, meta: &crate::api::ObjectMeta) -> Option<&'a Object> {
    let owner = meta.controller()?;
    let kind = [Kind::ReplicaSet, Kind::Deployment, Kind::StatefulSet, Kind::DaemonSet, Kind::Job];
    let kind = kind.into_iter().find(|kind| owner.kind == kind.name())?;
    let object = objects.get(&ObjectKey::new(kind, meta.namespace.clone(), owner.name.clone()))?;
    (object.meta().uid == owner.uid).then_some(object)
}

/// Puts the card's pods into parts, and counts.
fn fill(objects: &Objects, card: &mut NodeCard) {
    by_name(&mut card.pods);
    let parts = match objects.get(&card.key) {
        Some(Object::Deployment(it)) => {
            let sets = objects.controlled_by(it.metadata.uid).filter_map(Object::as_replica_set);
            let mut sets: Vec<Rc<ReplicaSet>> = sets.cloned().collect();
            sort_by(&mut sets, |a, b| by_creation(b, a));
            let new = find_new_set(it, &sets).map(|set| set.metadata.uid);
            by_set(card, &sets, new)
        }
        Some(object @ (Object::StatefulSet(_) | Object::DaemonSet(_))) => by_revision(objects, card, object),
        _ => Vec::new(),
    };
    card.counts = count(card.pods.iter());
    let ready = n_ready(&card.pods);
    let differ = card.pods.iter().filter(|row| row.reported.is_some()).count();
    card.message = (differ > 0).then(|| differing(differ));
    let facts = facts(card);
    facts.ready = ready;
    facts.parts = parts;
    let is_short = usize::try_from(facts.want).unwrap_or(0) != ready;
    if is_short && facts.convergence == Convergence::Converged {
        facts.convergence = Convergence::Converging;
    }
}

fn n_ready(rows: &[PodRow]) -> usize {
    rows.iter().filter(|row| row.class == PodClass::Ready).count()
}

/// The pods of a Deployment by ReplicaSet: the new one first, then the youngest.
fn by_set(card: &mut NodeCard, sets: &[Rc<ReplicaSet>], new: Option<Uid>) -> Vec<Part> {
    let mut order: Vec<&Rc<ReplicaSet>> = sets.iter().collect();
    sort_by(&mut order, |a, b| (Some(b.metadata.uid) == new).cmp(&(Some(a.metadata.uid) == new)));
    let mut rest = std::mem::take(&mut card.pods);
    let mut parts = Vec::new();
    for set in order {
        let is_new = Some(set.metadata.uid) == new;
        let (mine, others): (Vec<PodRow>, Vec<PodRow>) =
            rest.into_iter().partition(|row| row.owner == set.metadata.name);
        rest = others;
        let want = set.spec.wanted();
        if is_new || want > 0 || !mine.is_empty() {
            let (name, n) = (set.metadata.name.clone(), mine.len());
            parts.push(Part { name, is_new, want: Some(want), ready: n_ready(&mine), n });
        }
        card.pods.extend(mine);
    }
    card.pods.extend(rest);
    parts
}

/// The pods of a StatefulSet or DaemonSet, those of its present template first; no parts where there are no others.
fn by_revision(objects: &Objects, card: &mut NodeCard, owner: &Object) -> Vec<Part> {
    let present = newest_revision(objects, owner.meta().uid);
    let is_new = |row: &PodRow| {
        let label = objects.pod(&row.key).and_then(|pod| pod.metadata.labels.get(HASH_LABEL));
        present.as_ref().zip(label).is_none_or(|(present, label)| present.ends_with(label.as_str()))
    };
    let (new, old): (Vec<PodRow>, Vec<PodRow>) = std::mem::take(&mut card.pods).into_iter().partition(is_new);
    let part = |rows: &[PodRow], is_new| {
        (!rows.is_empty()).then(|| Part {
            name: Name::default(),
            is_new,
            want: None,
            ready: n_ready(rows),
            n: rows.len(),
        })
    };
    let parts =
        if old.is_empty() { Vec::new() } else { [part(&new, true), part(&old, false)].into_iter().flatten().collect() };
    card.pods.extend(new);
    card.pods.extend(old);
    parts
}

/// The name of the newest ControllerRevision, which ends in the hash that its pods have as a label.
fn newest_revision(objects: &Objects, owner: Uid) -> Option<Name> {
    let number = |object: &Object| match object {
        Object::Generic(_, it) => it.fields.get("revision").and_then(serde_json::Value::as_i64),
        _ => None,
    };
    let newest = objects.owned(owner, Kind::ControllerRevision).max_by_key(|object| number(object))?;
    Some(newest.meta().name.clone())
}
