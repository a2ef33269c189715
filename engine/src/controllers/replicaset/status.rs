//! Mirrors `pkg/controller/replicaset/replica_set_utils.go`, v1.36.

use crate::api::{Condition, Labels, Object, Pod, ReplicaSet, ReplicaSetStatus, Timestamp, condition};
use crate::apiserver::Objects;

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
    /// When the next pod that is ready will have been so for long enough (`FindMinNextPodAvailabilityCheck`).
    pub next: Option<Timestamp>,
}

impl StatusInput {
    /// Counts one pod more, or one fewer.
    pub(super) fn shift(&mut self, set: &ReplicaSet, pod: &Pod, sign: i32) {
        let template = &set.spec.template.metadata.labels;
        let is_full = template.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value));
        let is_ready = pod.is_ready();
        self.active += sign;
        self.fully_labeled += sign * i32::from(is_full);
        self.ready += sign * i32::from(is_ready);
        self.available += sign * i32::from(is_ready && pod.is_available(set.spec.min_ready_seconds, self.at));
    }

    pub fn count(set: &ReplicaSet, cache: &Objects, now: Timestamp) -> Self {
        let Some(tally) = cache.tally(set.metadata.uid) else { return Self { at: now, ..Self::default() } };
        let template = &set.spec.template.metadata.labels;
        let is_full = |labels: &Labels| template.iter().all(|(key, value)| labels.get(key) == Some(value));
        let min_ready = set.spec.min_ready_seconds;
        let (mut available, mut next) = (tally.ready, None);
        if min_ready > 0 {
            let pods = cache.controlled_by(set.metadata.uid).filter_map(Object::as_pod);
            for pod in pods.filter(|pod| pod.is_active() && pod.is_ready() && !pod.is_available(min_ready, now)) {
                available -= 1;
                let since = condition(&pod.status.conditions, "Ready").and_then(|ready| ready.last_transition_time);
                let at = since.map(|since| Timestamp(since.0 + i64::from(min_ready)));
                next = next.into_iter().chain(at).min();
            }
        }
        Self {
            active: tally.active,
            fully_labeled: tally.labels.iter().filter(|(labels, _)| is_full(labels)).map(|(_, count)| count).sum(),
            ready: tally.ready,
            available,
            terminating: tally.terminating,
            at: now,
            next,
        }
    }
}

/// The status that follows from the count; `failure` is why creating or deleting pods failed, if it did.
pub fn calculate_status(set: &ReplicaSet, input: &StatusInput, failure: Option<&str>) -> ReplicaSetStatus {
    let mut conditions = set.status.conditions.clone();
    match (failure, condition(&conditions, "ReplicaFailure")) {
        (Some(message), None) => {
            let reason = if input.active < set.spec.wanted() { "FailedCreate" } else { "FailedDelete" };
            let mut failed = Condition::new("ReplicaFailure", true).because(reason, message.to_string());
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
