//! An object's conditions, with what each of Kubernetes' own means.

use super::ConditionRow;
use super::words::age;
use crate::api::{Kind, Object, Timestamp};

pub fn conditions(object: &Object, wall_ms: i64) -> Vec<ConditionRow> {
    let since = |at: Option<Timestamp>| at.map_or(0, |at| (wall_ms - at.millis()).max(0).unsigned_abs());
    object
        .conditions()
        .iter()
        .map(|condition| ConditionRow {
            kind: condition.kind.to_string(),
            status: condition.status.to_string(),
            reason: condition.reason.to_string(),
            message: condition.message.to_string(),
            // Of what is unknown nobody knows that it is well.
            is_good: &*condition.status != "Unknown" && condition.is_true() != is_bad_when_true(&condition.kind),
            age: age(since(condition.last_transition_time)),
            meaning: meaning(object.kind(), &condition.kind),
        })
        .collect()
}

fn is_bad_when_true(kind: &str) -> bool {
    kind.ends_with("Pressure")
        || kind.starts_with("Namespace")
        || matches!(
            kind,
            "ReplicaFailure"
                | "ScalingLimited"
                | "DisruptionTarget"
                | "Failed"
                | "FailureTarget"
                | "Suspended"
                | "NetworkUnavailable"
        )
}

/// What it means that a condition is true (`k8s.io/api`, v1.36).
pub fn meaning(of: Kind, kind: &str) -> &'static str {
    match (of, kind) {
        (Kind::Deployment, "Available") => {
            "enough pods have been ready for minReadySeconds: replicas less maxUnavailable."
        }
        (Kind::HorizontalPodAutoscaler, "AbleToScale") => "the target's size can be read and written.",
        (Kind::HorizontalPodAutoscaler, "ScalingActive") => "a size can be worked out from the metrics.",
        (Kind::HorizontalPodAutoscaler, "ScalingLimited") => {
            "the size that is wanted is cut by minReplicas, maxReplicas or how fast it may change."
        }
        (Kind::Deployment, "Progressing") => "the rollout is done, or got on within progressDeadlineSeconds.",
        (Kind::Deployment | Kind::ReplicaSet, "ReplicaFailure") => "the API server refused to create or delete a pod.",
        (Kind::Pod, "PodScheduled") => "a node has been chosen for it.",
        (Kind::Pod, "PodReadyToStartContainers") => "its sandbox and its network are set up on the node.",
        (Kind::Pod, "Initialized") => "its init containers have ended well.",
        (Kind::Pod, "ContainersReady") => "all its containers are ready.",
        (Kind::Pod, "Ready") => "it can serve: Services send it traffic.",
        (Kind::Pod, "DisruptionTarget") => "it is about to be ended from outside: preempted, evicted or cleaned up.",
        (Kind::Pod, "PodResizePending") => "a change of its resources waits for room on the node.",
        (Kind::Pod, "PodResizeInProgress") => "a change of its resources is being carried out.",
        (Kind::Node, "Ready") => "its kubelet is well and takes pods; Unknown once nobody has heard from it.",
        (Kind::Node, "MemoryPressure") => "it is short of memory, and its kubelet evicts pods.",
        (Kind::Node, "DiskPressure") => "it is short of disk space, and its kubelet evicts pods.",
        (Kind::Node, "PIDPressure") => "it runs too many processes.",
        (Kind::Node, "NetworkUnavailable") => "its network is not set up.",
        (Kind::Job, "Complete") => "enough of its pods have succeeded.",
        (Kind::Job, "SuccessCriteriaMet") => "enough have succeeded; what still runs is being ended.",
        (Kind::Job, "Failed") => "it gave up: too many pods failed, or it took too long.",
        (Kind::Job, "FailureTarget") => "it is about to fail; what still runs is being ended.",
        (Kind::Job, "Suspended") => "it is told to wait and runs no pods.",
        (Kind::PodDisruptionBudget, "DisruptionAllowed") => "at least one pod may be evicted now.",
        (Kind::Namespace, "NamespaceDeletionDiscoveryFailure") => "which kinds are in it could not be found out.",
        (Kind::Namespace, "NamespaceDeletionGroupVersionParsingFailure") => "a kind's version could not be read.",
        (Kind::Namespace, "NamespaceDeletionContentFailure") => "something in it could not be deleted.",
        (Kind::Namespace, "NamespaceContentRemaining") => "something is still in it.",
        (Kind::Namespace, "NamespaceFinalizersRemaining") => "something in it is held back by finalizers.",
        _ => "",
    }
}
