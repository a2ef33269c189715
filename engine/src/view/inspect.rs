//! One object: what is wanted beside what is.

use super::causes::why;
use super::compare::{daemon_set, endpoint_slice, job, pod, service, stateful_set};
use super::conditions::conditions;
use super::kin::kin;
use super::map::faults;
use super::programs::programs;
use super::words::age;
use super::workloads::is_own;
use super::{CompareRow, Edit, Inspection, ObjectEvent, Phrase, RunningContainer, yaml};
use crate::api::{
    Container, ContainerState, ContainerStatus, Deployment, Kind, Node, Object, ObjectKey, Pod, PodDisruptionBudget,
    ReplicaSet, ResourceQuota, Support, condition,
};
use crate::controllers::deployment::rolling::max_unavailable;
use crate::controllers::thermostat::room_key;
use crate::world::Simulation;

/// Events shown about one object.
const MAX_EVENTS: usize = 20;

/// An object, spec beside status; nothing when it is gone.
pub fn inspect(simulation: &Simulation, key: &ObjectKey) -> Option<Inspection> {
    let objects = simulation.api().objects();
    let object = objects.get(key)?;
    let (rows, verdict) = match object {
        Object::Deployment(it) => deployment(it),
        Object::ReplicaSet(it) => replica_set(it),
        Object::StatefulSet(it) => stateful_set(it),
        Object::DaemonSet(it) => daemon_set(it),
        Object::Job(it) => job(it),
        Object::Service(it) => service(simulation, it),
        Object::EndpointSlice(it) => endpoint_slice(it),
        Object::Pod(it) => pod(it, super::pods::node_of(simulation, &it.spec.node_name)),
        Object::Node(it) => node(simulation, it),
        Object::PodDisruptionBudget(it) => budget(it),
        Object::ResourceQuota(it) => quota(it),
        Object::HorizontalPodAutoscaler(it) => super::autoscaler::compared(it),
        _ if object.meta().deletion_timestamp.is_some() => (Vec::new(), "**On its way out.**".into()),
        _ if *key == room_key() => {
            (Vec::new(), "The thermostat reads here what is wanted, and writes the heater.".into())
        }
        _ => (Vec::new(), stored(key.kind)),
    };
    let meta = object.meta();
    Some(Inspection {
        title: format!("{} {}", key.kind.name(), key.name),
        rows,
        verdict,
        why: simulation.origin(key).map(|seq| why(simulation, seq.0)).unwrap_or_default(),
        conditions: conditions(object, simulation.wall_millis()),
        kin: kin(simulation, object),
        events: events(simulation, key),
        yaml: yaml(simulation, key, false).unwrap_or_default(),
        gone: None,
        can_delete: !matches!(key.kind, Kind::Node | Kind::Lease) && is_own(key),
        resource_version: meta.resource_version,
        faults: object
            .as_node()
            .filter(|_| simulation.machines().contains_key(&key.name))
            .map(|node| faults(simulation, node)),
        containers: object.as_pod().map(|pod| running(pod)).unwrap_or_default(),
        programs: programs(simulation, object),
        can_roll_back: key.kind == Kind::Deployment && objects.owned(meta.uid, Kind::ReplicaSet).nth(1).is_some(),
        key: key.clone(),
    })
}

fn events(simulation: &Simulation, key: &ObjectKey) -> Vec<ObjectEvent> {
    let now = simulation.now();
    let found = simulation.api().events.about(key.kind, &key.namespace, &key.name);
    let mut all: Vec<ObjectEvent> = found
        .map(|event| ObjectEvent {
            age: age(now.since(event.last).0),
            is_warning: event.draft.is_warning,
            reason: event.draft.reason.into(),
            message: event.draft.message.clone(),
            count: event.count,
            over: if event.count > 1 { age(event.last.since(event.first).0) } else { String::new() },
            seq: event.seq.0,
        })
        .collect();
    all.split_off(all.len().saturating_sub(MAX_EVENTS))
}

/// The containers of a pod that a person can reach.
fn running(pod: &Pod) -> Vec<RunningContainer> {
    let runs = |status: &&ContainerStatus| matches!(status.state, ContainerState::Running(_));
    let found = pod.status.container_statuses.iter().filter(runs);
    found.map(|status| RunningContainer { name: status.name.to_string(), is_ready: status.ready }).collect()
}

pub(super) fn row(field: &str, want: impl Into<Phrase>, is: impl Into<Phrase>, short_by: i64) -> CompareRow {
    let differs = match short_by {
        0 => "no".into(),
        n if n > 0 => format!("{n} short"),
        n => format!("{} over", -n),
    };
    CompareRow { field: field.into(), want: want.into(), edit: None, is: is.into(), differs, is_off: short_by != 0 }
}

pub(super) fn fact(field: &str, want: impl Into<Phrase>, is: impl Into<Phrase>, is_off: bool) -> CompareRow {
    let differs = if is_off { "yes" } else { "no" };
    CompareRow { field: field.into(), want: want.into(), edit: None, is: is.into(), differs: differs.into(), is_off }
}

pub(super) fn pods_word(n: i32) -> String {
    if n == 1 { "1 pod".into() } else { format!("{n} pods") }
}

pub(super) fn image_rows(containers: &[Container], is: &str, is_off: bool) -> Vec<CompareRow> {
    let only = containers.len() == 1;
    containers
        .iter()
        .map(|container| {
            let field = if only { "image".into() } else { format!("image {}", container.name) };
            let edit = Edit::Image { container: container.name.to_string(), image: container.image.clone() };
            CompareRow { edit: Some(edit), ..fact(&field, container.image.clone(), is, is_off) }
        })
        .collect()
}

fn deployment(it: &Deployment) -> (Vec<CompareRow>, Phrase) {
    let (wanted, status) = (it.spec.wanted(), &it.status);
    let least = wanted - max_unavailable(&it.spec);
    let mut rows = vec![CompareRow {
        edit: Some(Edit::Replicas(wanted)),
        ..row(
            "replicas",
            wanted.to_string(),
            format!("{} ready", status.ready_replicas),
            (wanted - status.ready_replicas).into(),
        )
    }];
    rows.push(row(
        "updated",
        wanted.to_string(),
        status.updated_replicas.to_string(),
        (wanted - status.updated_replicas).into(),
    ));
    let want_available = if least == wanted { wanted.to_string() } else { format!("{least} or more") };
    rows.push(row(
        "available",
        want_available,
        status.available_replicas.to_string(),
        (least - status.available_replicas).max(0).into(),
    ));
    let old = status.replicas - status.updated_replicas;
    let is = if old > 0 { format!("{} of older", pods_word(old)) } else { "same".into() };
    rows.extend(image_rows(&it.spec.template.spec.containers, &is, old > 0));
    let rollout = if it.spec.paused { "paused" } else { "goes on" };
    let paused = fact("paused", it.spec.paused.to_string(), rollout, false);
    rows.push(CompareRow { edit: Some(Edit::Paused(it.spec.paused)), ..paused });
    let generation = it.metadata.generation;
    rows.push(fact(
        "generation",
        generation.to_string(),
        status.observed_generation.to_string(),
        generation != status.observed_generation,
    ));
    let missing = wanted - status.ready_replicas;
    let failure = condition(&status.conditions, "ReplicaFailure").filter(|it| it.is_true());
    let verdict = match missing {
        n if n > 0 && failure.is_some() => {
            let why = failure.map(|it| it.message.as_str()).unwrap_or_default();
            format!("**{} short.** They are refused: {why}", pods_word(n))
        }
        0 if old == 0 && status.replicas == wanted => "**As asked.** Nothing to do.".to_string(),
        0 => format!("**Rolling out.** {} of the old template to go.", pods_word(old.max(0))),
        n if n > 0 && status.unavailable_replicas > 0 => {
            format!("**{} short.** {} not ready yet.", pods_word(n), pods_word(status.unavailable_replicas))
        }
        n if n > 0 => format!("**{} short.**", pods_word(n)),
        n => format!("**{} too many.**", pods_word(-n)),
    };
    (rows, verdict.into())
}

fn replica_set(it: &ReplicaSet) -> (Vec<CompareRow>, Phrase) {
    let (wanted, status) = (it.spec.wanted(), &it.status);
    let mut rows = vec![
        CompareRow {
            edit: Some(Edit::Replicas(wanted)),
            ..row("replicas", wanted.to_string(), status.replicas.to_string(), (wanted - status.replicas).into())
        },
        row("ready", wanted.to_string(), status.ready_replicas.to_string(), (wanted - status.ready_replicas).into()),
        row(
            "available",
            wanted.to_string(),
            status.available_replicas.to_string(),
            (wanted - status.available_replicas).into(),
        ),
    ];
    if let Some(terminating) = status.terminating_replicas.filter(|n| *n > 0) {
        rows.push(fact("terminating", "not counted", terminating.to_string(), false));
    }
    for container in &it.spec.template.spec.containers {
        rows.push(fact("image", container.image.clone(), "same", false));
    }
    let generation = it.metadata.generation;
    rows.push(fact(
        "generation",
        generation.to_string(),
        status.observed_generation.to_string(),
        generation != status.observed_generation,
    ));
    let verdict = match wanted - status.ready_replicas {
        0 => "**As asked.** Nothing to do.".to_string(),
        n if n > 0 => format!("**{} short.**", pods_word(n)),
        n => format!("**{} too many.**", pods_word(-n)),
    };
    (rows, verdict.into())
}

fn node(simulation: &Simulation, it: &Node) -> (Vec<CompareRow>, Phrase) {
    let usage = simulation.api().objects().usage(&it.metadata.name);
    let mebi = 1024 * 1024;
    let mut rows = vec![
        fact("ready", "True", it.readiness(), it.readiness() != "True"),
        fact(
            "cpu asked",
            format!("at most {}m", it.allocatable("cpu").milli()),
            format!("{}m", usage.cpu_milli),
            false,
        ),
        fact(
            "memory asked",
            format!("at most {} Mi", it.allocatable("memory").units() / mebi),
            format!("{} Mi", usage.memory_bytes / mebi),
            false,
        ),
        fact("pods", format!("at most {}", it.allocatable("pods").units()), usage.pods.to_string(), false),
    ];
    for taint in &it.spec.taints {
        // One key may have several effects.
        let field = match &*taint.effect {
            "NoSchedule" => "taint NoSchedule",
            "NoExecute" => "taint NoExecute",
            _ => "taint",
        };
        rows.push(fact(field, "none", taint.key.to_string(), true));
    }
    let faults = faults(simulation, it);
    let verdict = match it.readiness() {
        "True" if faults.is_stopped => "**Off**, and nobody has noticed yet.",
        "True" if faults.is_cut => "**Cut off**, and nobody has noticed yet. Its containers go on.",
        "True" if it.spec.unschedulable => "**Cordoned.** No new pods.",
        "True" => "**As asked.** Its kubelet reports every 10 s.",
        "False" => "**Not ready**, its kubelet says.",
        _ => "**Silent.** Nobody knows what runs there.",
    };
    (rows, verdict.into())
}

fn budget(it: &PodDisruptionBudget) -> (Vec<CompareRow>, Phrase) {
    let status = &it.status;
    let (healthy, desired) = (status.current_healthy, status.desired_healthy);
    let rows = vec![
        row("healthy", format!("{desired} or more"), healthy.to_string(), (desired - healthy).max(0).into()),
        fact("pods", status.expected_pods.to_string(), status.expected_pods.to_string(), false),
    ];
    let verdict = match status.disruptions_allowed {
        0 => "**No pod** may be evicted now.".to_string(),
        1 => "**One pod** may be evicted now.".to_string(),
        n => format!("**{n} pods** may be evicted now."),
    };
    (rows, verdict.into())
}

fn quota(it: &ResourceQuota) -> (Vec<CompareRow>, Phrase) {
    let used = |resource: &str| it.status.used.get(resource).copied().unwrap_or_default();
    let is_full = it.status.hard.iter().any(|(resource, hard)| used(resource) >= *hard);
    let rows = it.spec.hard.iter().map(|(resource, hard)| {
        fact(resource, format!("at most {hard}"), used(resource).to_string(), used(resource) > *hard)
    });
    let verdict = if is_full { "**Full.** More is refused." } else { "There is room." };
    (rows.collect(), verdict.into())
}

fn stored(kind: Kind) -> Phrase {
    match kind.support() {
        Support::Simulated => Phrase::default(),
        Support::StoredOnly => {
            format!("**Not simulated.** The {} is stored and shown; no loop acts on it.", kind.name()).into()
        }
    }
}
