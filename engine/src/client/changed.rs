//! What a write changed, as far as somebody may ask why it is so.

use super::Arg;
use crate::api::{Condition, Container, ContainerState, ContainerStatus, Name, Object, Pod, Text};

/// What of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The status of the condition of a type.
    Condition(Text),
    /// Why that is its status.
    Reason(Text),
    /// A container's state.
    Container(Name),
    /// Any other, as Kubernetes names it: `status.readyReplicas`.
    Of(&'static str),
}

/// One field's value before and after a write. What was not there before is an empty word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Changed {
    pub field: Field,
    pub from: Arg,
    pub to: Arg,
}

/// Fields of status that change with almost every write are left out, and so is everything of a new object but its
/// conditions.
pub fn changed(old: Option<&Object>, new: &Object) -> Vec<Changed> {
    let mut all = Vec::new();
    if let Some(old) = old {
        values(old, new, &mut all);
    }
    conditions(old.map_or(&[], Object::conditions), new.conditions(), &mut all);
    all
}

fn conditions(old: &[Condition], new: &[Condition], all: &mut Vec<Changed>) {
    for it in new {
        let before = old.iter().find(|old| old.kind == it.kind);
        let status = before.map(|it| &it.status);
        if status != Some(&it.status) {
            let from = status.map_or(Arg::Word(""), Arg::from);
            all.push(Changed { field: Field::Condition(it.kind.clone()), from, to: (&it.status).into() });
        } else if let Some(before) = before.filter(|before| before.reason != it.reason) {
            let field = Field::Reason(it.kind.clone());
            all.push(Changed { field, from: (&before.reason).into(), to: (&it.reason).into() });
        }
    }
}

/// Adds a field where two numbers differ.
fn number(field: &'static str, from: impl Into<i64>, to: impl Into<i64>, all: &mut Vec<Changed>) {
    let (from, to) = (from.into(), to.into());
    if from != to {
        all.push(Changed { field: Field::Of(field), from: Arg::Int(from), to: Arg::Int(to) });
    }
}

fn numbers<const N: usize>(fields: [(&'static str, i32, i32); N], all: &mut Vec<Changed>) {
    fields.into_iter().for_each(|(field, from, to)| number(field, from, to, all));
}

fn switch(field: &'static str, from: bool, to: bool, all: &mut Vec<Changed>) {
    let word = |on: bool| Arg::Word(if on { "true" } else { "false" });
    if from != to {
        all.push(Changed { field: Field::Of(field), from: word(from), to: word(to) });
    }
}

pub const REPLICAS: &str = "spec.replicas";
pub const IMAGE: &str = "spec.template.spec.containers.image";

fn images(old: &[Container], new: &[Container], all: &mut Vec<Changed>) {
    let text = |container: &Container| Arg::Text(container.image.as_str().into());
    for (old, new) in old.iter().zip(new).filter(|(old, new)| old.image != new.image) {
        all.push(Changed { field: Field::Of(IMAGE), from: text(old), to: text(new) });
    }
}

fn values(old: &Object, new: &Object, all: &mut Vec<Changed>) {
    match (old, new) {
        (Object::Pod(old), Object::Pod(new)) => pod(old, new, all),
        (Object::Deployment(a), Object::Deployment(b)) => {
            number(REPLICAS, a.spec.wanted(), b.spec.wanted(), all);
            switch("spec.paused", a.spec.paused, b.spec.paused, all);
            images(&a.spec.template.spec.containers, &b.spec.template.spec.containers, all);
            let (a, b) = (&a.status, &b.status);
            numbers(
                [
                    ("status.replicas", a.replicas, b.replicas),
                    ("status.readyReplicas", a.ready_replicas, b.ready_replicas),
                    ("status.updatedReplicas", a.updated_replicas, b.updated_replicas),
                    ("status.availableReplicas", a.available_replicas, b.available_replicas),
                ],
                all,
            );
            number("status.observedGeneration", a.observed_generation, b.observed_generation, all);
        }
        (Object::ReplicaSet(a), Object::ReplicaSet(b)) => {
            number(REPLICAS, a.spec.wanted(), b.spec.wanted(), all);
            let (a, b) = (&a.status, &b.status);
            let terminating = |n: Option<i32>| n.unwrap_or_default();
            numbers(
                [
                    ("status.replicas", a.replicas, b.replicas),
                    ("status.readyReplicas", a.ready_replicas, b.ready_replicas),
                    ("status.availableReplicas", a.available_replicas, b.available_replicas),
                    (
                        "status.terminatingReplicas",
                        terminating(a.terminating_replicas),
                        terminating(b.terminating_replicas),
                    ),
                ],
                all,
            );
            number("status.observedGeneration", a.observed_generation, b.observed_generation, all);
        }
        _ => others(old, new, all),
    }
}

fn others(old: &Object, new: &Object, all: &mut Vec<Changed>) {
    match (old, new) {
        (Object::StatefulSet(a), Object::StatefulSet(b)) => {
            number(REPLICAS, a.spec.replicas.unwrap_or(1), b.spec.replicas.unwrap_or(1), all);
            images(&a.spec.template.spec.containers, &b.spec.template.spec.containers, all);
            let (a, b) = (&a.status, &b.status);
            numbers(
                [
                    ("status.replicas", a.replicas, b.replicas),
                    ("status.readyReplicas", a.ready_replicas, b.ready_replicas),
                    ("status.updatedReplicas", a.updated_replicas, b.updated_replicas),
                ],
                all,
            );
        }
        (Object::DaemonSet(a), Object::DaemonSet(b)) => {
            images(&a.spec.template.spec.containers, &b.spec.template.spec.containers, all);
            let (a, b) = (&a.status, &b.status);
            numbers(
                [
                    ("status.desiredNumberScheduled", a.desired_number_scheduled, b.desired_number_scheduled),
                    ("status.currentNumberScheduled", a.current_number_scheduled, b.current_number_scheduled),
                    ("status.numberReady", a.number_ready, b.number_ready),
                    ("status.updatedNumberScheduled", a.updated_number_scheduled, b.updated_number_scheduled),
                    ("status.numberMisscheduled", a.number_misscheduled, b.number_misscheduled),
                ],
                all,
            );
        }
        (Object::Job(a), Object::Job(b)) => {
            switch("spec.suspend", a.spec.suspend == Some(true), b.spec.suspend == Some(true), all);
            let (a, b) = (&a.status, &b.status);
            numbers(
                [
                    ("status.active", a.active, b.active),
                    ("status.succeeded", a.succeeded, b.succeeded),
                    ("status.failed", a.failed, b.failed),
                ],
                all,
            );
        }
        (Object::PodDisruptionBudget(a), Object::PodDisruptionBudget(b)) => {
            let (a, b) = (&a.status, &b.status);
            numbers(
                [
                    ("status.currentHealthy", a.current_healthy, b.current_healthy),
                    ("status.desiredHealthy", a.desired_healthy, b.desired_healthy),
                    ("status.expectedPods", a.expected_pods, b.expected_pods),
                    ("status.disruptionsAllowed", a.disruptions_allowed, b.disruptions_allowed),
                ],
                all,
            );
        }
        (Object::Node(a), Object::Node(b)) => {
            switch("spec.unschedulable", a.spec.unschedulable, b.spec.unschedulable, all);
            number(TAINTS, a.spec.taints.len() as i64, b.spec.taints.len() as i64, all);
        }
        (Object::EndpointSlice(a), Object::EndpointSlice(b)) => {
            let ready = |it: &crate::api::EndpointSlice| it.endpoints.iter().filter(|it| it.conditions.ready).count();
            number(ENDPOINTS, a.endpoints.len() as i64, b.endpoints.len() as i64, all);
            number(READY_ENDPOINTS, ready(a) as i64, ready(b) as i64, all);
        }
        _ => {}
    }
}

pub const TAINTS: &str = "spec.taints";
pub const ENDPOINTS: &str = "endpoints";
pub const READY_ENDPOINTS: &str = "ready endpoints";
pub const NODE_NAME: &str = "spec.nodeName";
pub const PHASE: &str = "status.phase";
pub const RESTARTS: &str = "restarts";

fn pod(old: &Pod, new: &Pod, all: &mut Vec<Changed>) {
    if old.spec.node_name != new.spec.node_name {
        let (from, to) = ((&old.spec.node_name).into(), (&new.spec.node_name).into());
        all.push(Changed { field: Field::Of(NODE_NAME), from, to });
    }
    let (old, new) = (&old.status, &new.status);
    if old.phase != new.phase {
        all.push(Changed { field: Field::Of(PHASE), from: (&old.phase).into(), to: (&new.phase).into() });
    }
    containers(&old.init_container_statuses, &new.init_container_statuses, all);
    containers(&old.container_statuses, &new.container_statuses, all);
}

fn containers(old: &[ContainerStatus], new: &[ContainerStatus], all: &mut Vec<Changed>) {
    for it in new {
        let before = old.iter().find(|old| old.name == it.name);
        let from = before.map_or_else(Text::default, |it| state(&it.state));
        let to = state(&it.state);
        if from.as_str() != to.as_str() {
            let (from, to) = ((&from).into(), (&to).into());
            all.push(Changed { field: Field::Container(it.name.clone()), from, to });
        }
        number(RESTARTS, before.map_or(0, |it| it.restart_count), it.restart_count, all);
    }
}

/// `running`; else why it does not run.
fn state(state: &ContainerState) -> Text {
    match state {
        ContainerState::Running(_) => "running".into(),
        ContainerState::Waiting(it) => it.reason.clone(),
        ContainerState::Terminated(it) => it.reason.clone(),
    }
}
