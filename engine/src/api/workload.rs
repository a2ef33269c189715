use std::rc::Rc;

use super::{Condition, Extra, IntOrPercent, LabelSelector, ObjectMeta, PodSpec, record};

/// `apps/v1` Deployment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deployment {
    pub metadata: ObjectMeta,
    pub spec: DeploymentSpec,
    pub status: DeploymentStatus,
    pub extra: Extra,
}

record!(Deployment { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeploymentSpec {
    pub min_ready_seconds: i32,
    pub paused: bool,
    pub progress_deadline_seconds: Option<i32>,
    pub replicas: Option<i32>,
    pub revision_history_limit: Option<i32>,
    pub selector: LabelSelector,
    pub strategy: DeploymentStrategy,
    pub template: PodTemplate,
    pub extra: Extra,
}

record!(DeploymentSpec {
    min_ready_seconds "minReadySeconds",
    paused "paused",
    progress_deadline_seconds "progressDeadlineSeconds",
    replicas "replicas",
    revision_history_limit "revisionHistoryLimit",
    selector "selector",
    strategy "strategy",
    template "template" always,
} extra extra);

impl DeploymentSpec {
    /// The wanted number of pods; defaulting has set it on every stored object.
    pub fn wanted(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeploymentStrategy {
    pub rolling_update: Option<RollingUpdate>,
    /// `RollingUpdate` or `Recreate`.
    pub kind: String,
    pub extra: Extra,
}

record!(DeploymentStrategy { rolling_update "rollingUpdate", kind "type" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RollingUpdate {
    pub max_surge: Option<IntOrPercent>,
    pub max_unavailable: Option<IntOrPercent>,
    pub extra: Extra,
}

record!(RollingUpdate { max_surge "maxSurge", max_unavailable "maxUnavailable" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeploymentStatus {
    pub available_replicas: i32,
    pub collision_count: Option<i32>,
    pub conditions: Vec<Condition>,
    pub observed_generation: i64,
    pub ready_replicas: i32,
    pub replicas: i32,
    pub terminating_replicas: Option<i32>,
    pub unavailable_replicas: i32,
    pub updated_replicas: i32,
}

record!(DeploymentStatus {
    available_replicas "availableReplicas",
    collision_count "collisionCount",
    conditions "conditions",
    observed_generation "observedGeneration",
    ready_replicas "readyReplicas",
    replicas "replicas",
    terminating_replicas "terminatingReplicas",
    unavailable_replicas "unavailableReplicas",
    updated_replicas "updatedReplicas",
});

/// `spec.template` of a workload. The pod's spec is shared with the pods that are made from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodTemplate {
    pub metadata: ObjectMeta,
    pub spec: Rc<PodSpec>,
    pub extra: Extra,
}

record!(PodTemplate { metadata "metadata", spec "spec" always } extra extra);

/// `apps/v1` ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaSet {
    pub metadata: ObjectMeta,
    pub spec: ReplicaSetSpec,
    pub status: ReplicaSetStatus,
    pub extra: Extra,
}

record!(ReplicaSet { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaSetSpec {
    pub min_ready_seconds: i32,
    pub replicas: Option<i32>,
    pub selector: LabelSelector,
    pub template: PodTemplate,
    pub extra: Extra,
}

record!(ReplicaSetSpec {
    min_ready_seconds "minReadySeconds",
    replicas "replicas",
    selector "selector",
    template "template" always,
} extra extra);

impl ReplicaSetSpec {
    /// The wanted number of pods; defaulting has set it on every stored object.
    pub fn wanted(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaSetStatus {
    pub available_replicas: i32,
    pub conditions: Vec<Condition>,
    pub fully_labeled_replicas: i32,
    pub observed_generation: i64,
    pub ready_replicas: i32,
    pub replicas: i32,
    pub terminating_replicas: Option<i32>,
}

record!(ReplicaSetStatus {
    available_replicas "availableReplicas",
    conditions "conditions",
    fully_labeled_replicas "fullyLabeledReplicas",
    observed_generation "observedGeneration",
    ready_replicas "readyReplicas",
    replicas "replicas" always,
    terminating_replicas "terminatingReplicas",
});
