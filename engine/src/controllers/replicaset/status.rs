//! Mirrors `pkg/controller/replicaset/replica_set_utils.go`, v1.36.

use std::rc::Rc;

use crate::api::{Condition, Pod, ReplicaSet, ReplicaSetStatus, Timestamp, condition};

/// What was counted among a ReplicaSet's pods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusInput {
    pub active: i32,
    pub fully_labeled: i32,
    pub ready: i32,
    pub available: i32,
    pub terminating: i32,
    /// When the count was taken.
    pub at: Timestamp,
}

impl StatusInput {
    pub fn count(set: &ReplicaSet, active: &[Rc<Pod>], terminating: usize, now: Timestamp) -> Self {
        let template = &set.spec.template.metadata.labels;
        let labeled = |pod: &Pod| template.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value));
        let n = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let min_ready = set.spec.min_ready_seconds;
        Self {
            active: n(active.len()),
            fully_labeled: n(active.iter().filter(|pod| labeled(pod)).count()),
            ready: n(active.iter().filter(|pod| pod.is_ready()).count()),
            available: n(active.iter().filter(|pod| pod.is_available(min_ready, now)).count()),
            terminating: n(terminating),
            at: now,
        }
    }
}

/// The status that follows from the count; `failure` is why creating or deleting pods failed, if it did.
pub fn calculate_status(set: &ReplicaSet, input: &StatusInput, failure: Option<&str>) -> ReplicaSetStatus {
    let mut conditions = set.status.conditions.clone();
    match (failure, condition(&conditions, "ReplicaFailure")) {
        (Some(message), None) => {
            let reason = if input.active < set.spec.wanted() { "FailedCreate" } else { "FailedDelete" };
            let mut failed = Condition::new("ReplicaFailure", true).because(reason, message);
            failed.last_transition_time = Some(input.at);
            conditions.push(failed);
        }
        (None, Some(_)) => conditions.retain(|condition| condition.kind != "ReplicaFailure"),
        _ => {}
    }
    ReplicaSetStatus {
        available_replicas: input.available,
        conditions,
        fully_labeled_replicas: input.fully_labeled,
        observed_generation: set.metadata.generation,
        ready_replicas: input.ready,
        replicas: input.active,
        terminating_replicas: Some(input.terminating),
    }
}
