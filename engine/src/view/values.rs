//! Why a value of an object is what it is: the write that made it so.

use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::Effect;
use crate::client::{
    Arg, Changed, ENDPOINTS, Field, IMAGE, NODE_NAME, PHASE, READY_ENDPOINTS, REPLICAS, RESTARTS, TAINTS, What,
};
use crate::sim::Seq;
use crate::world::Simulation;

/// What is asked about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The condition of a type.
    Condition(String),
    /// What is in the row of the comparison that begins with this.
    Row(String),
    /// How many replicas are wanted.
    Wanted,
    /// How many of them are ready.
    Ready,
}

/// The trace event of the newest write that changed a value; where none did, of the one that created the object.
pub fn source(simulation: &Simulation, key: &ObjectKey, asked: &Asked) -> Option<Seq> {
    if key.kind == Kind::Node && matches!(asked, Asked::Row(row) if row == "pods" || row.ends_with("asked")) {
        return newest_bound(simulation, key).or_else(|| simulation.creation(key));
    }
    let (keys, fields) = meant(simulation, key, asked);
    let is_it = |it: &Changed| fields.contains(&it.field);
    let found = simulation.trace().events().rev().find(|event| match &event.what {
        What::Wrote { key, changed, effect, .. } if keys.contains(key) => {
            // Without fields of its own any change is meant, and a slice that came or went is one of its Service.
            changed.iter().any(is_it) || fields.is_empty() || (keys.len() > 1 && *effect == Effect::Created)
        }
        _ => false,
    });
    found.map(|event| event.seq).or_else(|| keys.iter().find_map(|key| simulation.creation(key)))
}

/// The newest binding of a pod to a node.
fn newest_bound(simulation: &Simulation, node: &ObjectKey) -> Option<Seq> {
    let is_here =
        |it: &Changed| it.field == Field::Of(NODE_NAME) && matches!(&it.to, Arg::Name(to) if *to == node.name);
    let found = simulation.trace().events().rev().find(|event| match &event.what {
        What::Wrote { changed, .. } => changed.iter().any(is_here),
        _ => false,
    });
    found.map(|event| event.seq)
}

/// The objects and the fields that a value is read from; no fields where any change may have made it.
fn meant(simulation: &Simulation, key: &ObjectKey, asked: &Asked) -> (Vec<ObjectKey>, Vec<Field>) {
    let one = |field: &'static str| vec![Field::Of(field)];
    let of_condition =
        |kind: &str| vec![Field::Condition(kind.to_owned().into()), Field::Reason(kind.to_owned().into())];
    let fields = match asked {
        Asked::Condition(kind) => of_condition(kind),
        Asked::Wanted if key.kind == Kind::DaemonSet => one("status.desiredNumberScheduled"),
        Asked::Wanted => one(REPLICAS),
        Asked::Ready => one(if key.kind == Kind::DaemonSet { "status.numberReady" } else { "status.readyReplicas" }),
        Asked::Row(row) => match key.kind {
            Kind::Pod => return (vec![key.clone()], of_pod(row)),
            Kind::Node if row == "ready" => of_condition("Ready"),
            Kind::Service => {
                let objects = simulation.api().objects();
                let uid = objects.get(key).map(|it| it.meta().uid);
                let slices = uid.into_iter().flat_map(|uid| objects.controlled_by(uid)).map(Object::key);
                let mut keys: Vec<ObjectKey> = slices.filter(|it| it.kind == Kind::EndpointSlice).collect();
                keys.push(key.clone());
                return (keys, vec![Field::Of(ENDPOINTS), Field::Of(READY_ENDPOINTS)]);
            }
            kind => of_row(kind, row).map(one).unwrap_or_default(),
        },
    };
    (vec![key.clone()], fields)
}

fn of_pod(row: &str) -> Vec<Field> {
    match row {
        "node" => vec![Field::Of(NODE_NAME)],
        "ready" => vec![Field::Condition("Ready".into())],
        "restarts" => vec![Field::Of(RESTARTS)],
        // Any change of its life, deletion among them.
        "status" => vec![Field::Of(PHASE)],
        container => vec![Field::Container(container.into())],
    }
}

/// The field whose value a row of the comparison shows beside what is wanted.
fn of_row(kind: Kind, row: &str) -> Option<&'static str> {
    if row.starts_with("image") {
        return Some(IMAGE);
    }
    Some(match (kind, row) {
        (Kind::Deployment, "replicas") | (Kind::ReplicaSet | Kind::StatefulSet, "ready") => "status.readyReplicas",
        (Kind::ReplicaSet | Kind::StatefulSet, "replicas") => "status.replicas",
        (Kind::Deployment | Kind::StatefulSet, "updated") => "status.updatedReplicas",
        (Kind::Deployment | Kind::ReplicaSet, "available") => "status.availableReplicas",
        (Kind::ReplicaSet, "terminating") => "status.terminatingReplicas",
        (Kind::Deployment, "paused") => "spec.paused",
        (Kind::Deployment | Kind::ReplicaSet, "generation") => "status.observedGeneration",
        (Kind::DaemonSet, "one a node") => "status.currentNumberScheduled",
        (Kind::DaemonSet, "ready") => "status.numberReady",
        (Kind::DaemonSet, "updated") => "status.updatedNumberScheduled",
        (Kind::DaemonSet, "misplaced") => "status.numberMisscheduled",
        (Kind::Job, "completions") => "status.succeeded",
        (Kind::Job, "active") => "status.active",
        (Kind::Job, "failed") => "status.failed",
        (Kind::PodDisruptionBudget, "healthy") => "status.currentHealthy",
        (Kind::PodDisruptionBudget, "pods") => "status.expectedPods",
        (Kind::Node, "taint" | "taint NoSchedule" | "taint NoExecute") => TAINTS,
        _ => return None,
    })
}
