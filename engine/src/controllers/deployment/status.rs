//! A Deployment's status: counts, `Available`, `Progressing`.
//!
//! Mirrors `pkg/controller/deployment/{progress,sync}.go`, v1.36.

use std::rc::Rc;

use super::rolling::max_unavailable;
use crate::api::{Condition, Deployment, DeploymentStatus, ReplicaSet, Text, Timestamp, condition};

const AVAILABLE: &str = "Available";
const PROGRESSING: &str = "Progressing";
const REPLICA_FAILURE: &str = "ReplicaFailure";
/// What the API stores for "no deadline".
const NO_DEADLINE: i32 = i32::MAX;

/// Sets a Deployment's condition: one that only repeats status and reason is left alone, a new one goes to the end.
pub fn set(status: &mut DeploymentStatus, mut new: Condition, now: Timestamp) {
    new.last_update_time = Some(now);
    new.last_transition_time.get_or_insert(now);
    if let Some(current) = condition(&status.conditions, &new.kind) {
        if current.status == new.status && current.reason == new.reason {
            return;
        }
        if current.status == new.status {
            new.last_transition_time = current.last_transition_time;
        }
    }
    status.conditions.retain(|it| it.kind != new.kind);
    status.conditions.push(new);
}

pub fn progressing(is_true: bool, reason: impl Into<Text>, message: String) -> Condition {
    Condition::new(PROGRESSING, is_true).because(reason, message)
}

fn sum(sets: &[Rc<ReplicaSet>], of: impl Fn(&ReplicaSet) -> i32) -> i32 {
    sets.iter().map(|set| of(set)).sum()
}

/// The counts and the `Available` condition (`calculateStatus`).
pub fn calculate(
    deployment: &Deployment,
    sets: &[Rc<ReplicaSet>],
    new: Option<&ReplicaSet>,
    now: Timestamp,
) -> DeploymentStatus {
    let available = sum(sets, |set| set.status.available_replicas);
    let total = sum(sets, |set| set.spec.wanted());
    let mut status = DeploymentStatus {
        available_replicas: available,
        collision_count: deployment.status.collision_count,
        conditions: deployment.status.conditions.clone(),
        observed_generation: deployment.metadata.generation,
        ready_replicas: sum(sets, |set| set.status.ready_replicas),
        replicas: sum(sets, |set| set.status.replicas),
        terminating_replicas: Some(sum(sets, |set| set.status.terminating_replicas.unwrap_or(0))),
        unavailable_replicas: (total - available).max(0),
        updated_replicas: new.map_or(0, |set| set.status.replicas),
    };
    let needed = deployment.spec.wanted() - max_unavailable(&deployment.spec);
    let is_available = available >= needed;
    let (reason, message) = if is_available {
        ("MinimumReplicasAvailable", "Deployment has minimum availability.")
    } else {
        ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    };
    set(&mut status, Condition::new(AVAILABLE, is_available).because(reason, message), now);
    status
}

/// Everything wanted is there, up to date, available, and nothing else is (`DeploymentComplete`).
pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = deployment.spec.wanted();
    status.updated_replicas == wanted
        && status.replicas == wanted
        && status.available_replicas == wanted
        && status.observed_generation >= deployment.metadata.generation
}

/// Whether a status shows that the rollout got on (`DeploymentProgressing`).
pub fn has_progressed(deployment: &Deployment, new: &DeploymentStatus) -> bool {
    let old = &deployment.status;
    let old_rest = |status: &DeploymentStatus| status.replicas - status.updated_replicas;
    new.updated_replicas > old.updated_replicas
        || old_rest(new) < old_rest(old)
        || new.ready_replicas > old.ready_replicas
        || new.available_replicas > old.available_replicas
}

fn deadline(deployment: &Deployment) -> Option<i64> {
    deployment.spec.progress_deadline_seconds.filter(|seconds| *seconds != NO_DEADLINE).map(i64::from)
}

pub fn has_deadline(deployment: &Deployment) -> bool {
    deadline(deployment).is_some()
}

/// Whether the deadline has passed since the last progress (`DeploymentTimedOut`).
pub fn is_timed_out(deployment: &Deployment, status: &DeploymentStatus, now: Timestamp) -> bool {
    let Some(progress) = condition(&status.conditions, PROGRESSING) else { return false };
    if progress.reason == "NewReplicaSetAvailable" {
        return false;
    }
    if progress.reason == "ProgressDeadlineExceeded" {
        return true;
    }
    match (deadline(deployment), progress.last_update_time) {
        // Within the second that begins with the deadline it has passed.
        (Some(seconds), Some(from)) => from.0 + seconds <= now.0,
        _ => false,
    }
}

/// Brings the `Progressing` and `ReplicaFailure` conditions up to date (`syncRolloutStatus`).
pub fn judge_progress(
    deployment: &Deployment,
    status: &mut DeploymentStatus,
    sets: &[Rc<ReplicaSet>],
    new: Option<&ReplicaSet>,
    now: Timestamp,
) {
    let current = condition(&deployment.status.conditions, PROGRESSING);
    let was_complete = status.replicas == status.updated_replicas
        && current.is_some_and(|condition| condition.reason == "NewReplicaSetAvailable");
    if deadline(deployment).is_some() && !was_complete {
        let subject = match new {
            Some(set) => format!("ReplicaSet \"{}\"", set.metadata.name),
            None => format!("Deployment \"{}\"", deployment.metadata.name),
        };
        if is_complete(deployment, status) {
            let message = format!("{subject} has successfully progressed.");
            set(status, progressing(true, "NewReplicaSetAvailable", message), now);
        } else if has_progressed(deployment, status) {
            let mut condition = progressing(true, "ReplicaSetUpdated", format!("{subject} is progressing."));
            if let Some(current) = current {
                if current.is_true() {
                    condition.last_transition_time = current.last_transition_time;
                }
                status.conditions.retain(|it| it.kind != PROGRESSING);
            }
            set(status, condition, now);
        } else if is_timed_out(deployment, status, now) {
            let message = format!("{subject} has timed out progressing.");
            set(status, progressing(false, "ProgressDeadlineExceeded", message), now);
        }
    }
    let failures = sets.iter().filter_map(|set| condition(&set.status.conditions, REPLICA_FAILURE));
    let worst = match new.and_then(|set| condition(&set.status.conditions, REPLICA_FAILURE)) {
        Some(failure) => Some(failure),
        None => failures.into_iter().next(),
    };
    match worst {
        Some(failure) => {
            let failure = Condition { last_transition_time: failure.last_transition_time, ..failure.clone() };
            set(status, failure, now);
        }
        None => status.conditions.retain(|it| it.kind != REPLICA_FAILURE),
    }
}

/// How many ms a rollout that makes no progress has until its deadline, 0 when it has passed (`requeueStuckDeployment`).
pub fn millis_until_deadline(deployment: &Deployment, status: &DeploymentStatus, now_millis: i64) -> Option<u64> {
    let progress = condition(&status.conditions, PROGRESSING)?;
    let seconds = deadline(deployment)?;
    if is_complete(deployment, status) || progress.reason == "ProgressDeadlineExceeded" {
        return None;
    }
    let after = (progress.last_update_time?.0 + seconds) * 1000 - now_millis;
    Some(u64::try_from(after).unwrap_or(0))
}
