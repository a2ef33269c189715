use super::{Condition, Extra, LabelSelector, ObjectMeta, PodTemplate, Timestamp, record};

/// `batch/v1` Job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    pub metadata: ObjectMeta,
    pub spec: JobSpec,
    pub status: JobStatus,
    pub extra: Extra,
}

record!(Job { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSpec {
    pub active_deadline_seconds: Option<i64>,
    pub backoff_limit: Option<i32>,
    pub completion_mode: String,
    pub completions: Option<i32>,
    pub parallelism: Option<i32>,
    pub selector: Option<LabelSelector>,
    pub suspend: Option<bool>,
    pub template: PodTemplate,
    pub ttl_seconds_after_finished: Option<i32>,
    pub extra: Extra,
}

record!(JobSpec {
    active_deadline_seconds "activeDeadlineSeconds",
    backoff_limit "backoffLimit",
    completion_mode "completionMode",
    completions "completions",
    parallelism "parallelism",
    selector "selector",
    suspend "suspend",
    template "template" always,
    ttl_seconds_after_finished "ttlSecondsAfterFinished",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobStatus {
    pub active: i32,
    pub completion_time: Option<Timestamp>,
    pub conditions: Vec<Condition>,
    pub failed: i32,
    pub ready: Option<i32>,
    pub start_time: Option<Timestamp>,
    pub succeeded: i32,
    pub terminating: Option<i32>,
    pub extra: Extra,
}

record!(JobStatus {
    active "active",
    completion_time "completionTime",
    conditions "conditions",
    failed "failed",
    ready "ready",
    start_time "startTime",
    succeeded "succeeded",
    terminating "terminating",
} extra extra);

/// `apps/v1` StatefulSet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatefulSet {
    pub metadata: ObjectMeta,
    pub spec: StatefulSetSpec,
    pub status: StatefulSetStatus,
    pub extra: Extra,
}

record!(StatefulSet { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatefulSetSpec {
    pub min_ready_seconds: i32,
    /// `OrderedReady` or `Parallel`.
    pub pod_management_policy: String,
    pub replicas: Option<i32>,
    pub revision_history_limit: Option<i32>,
    pub selector: LabelSelector,
    pub service_name: String,
    pub template: PodTemplate,
    pub update_strategy: StatefulSetUpdateStrategy,
    pub extra: Extra,
}

record!(StatefulSetSpec {
    min_ready_seconds "minReadySeconds",
    pod_management_policy "podManagementPolicy",
    replicas "replicas",
    revision_history_limit "revisionHistoryLimit",
    selector "selector" always,
    service_name "serviceName",
    template "template" always,
    update_strategy "updateStrategy",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatefulSetUpdateStrategy {
    pub rolling_update: Option<StatefulSetRollingUpdate>,
    /// `RollingUpdate` or `OnDelete`.
    pub kind: String,
}

record!(StatefulSetUpdateStrategy { rolling_update "rollingUpdate", kind "type" });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatefulSetRollingUpdate {
    pub partition: Option<i32>,
    pub extra: Extra,
}

record!(StatefulSetRollingUpdate { partition "partition" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatefulSetStatus {
    pub available_replicas: i32,
    pub collision_count: Option<i32>,
    pub conditions: Vec<Condition>,
    pub current_replicas: i32,
    pub current_revision: String,
    pub observed_generation: i64,
    pub ready_replicas: i32,
    pub replicas: i32,
    pub update_revision: String,
    pub updated_replicas: i32,
}

record!(StatefulSetStatus {
    available_replicas "availableReplicas" always,
    collision_count "collisionCount",
    conditions "conditions",
    current_replicas "currentReplicas",
    current_revision "currentRevision",
    observed_generation "observedGeneration",
    ready_replicas "readyReplicas",
    replicas "replicas" always,
    update_revision "updateRevision",
    updated_replicas "updatedReplicas",
});

/// `apps/v1` DaemonSet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DaemonSet {
    pub metadata: ObjectMeta,
    pub spec: DaemonSetSpec,
    pub status: DaemonSetStatus,
    pub extra: Extra,
}

record!(DaemonSet { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DaemonSetSpec {
    pub min_ready_seconds: i32,
    pub revision_history_limit: Option<i32>,
    pub selector: LabelSelector,
    pub template: PodTemplate,
    pub update_strategy: DaemonSetUpdateStrategy,
    pub extra: Extra,
}

record!(DaemonSetSpec {
    min_ready_seconds "minReadySeconds",
    revision_history_limit "revisionHistoryLimit",
    selector "selector" always,
    template "template" always,
    update_strategy "updateStrategy",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DaemonSetUpdateStrategy {
    pub rolling_update: Option<super::RollingUpdate>,
    /// `RollingUpdate` or `OnDelete`.
    pub kind: String,
}

record!(DaemonSetUpdateStrategy { rolling_update "rollingUpdate", kind "type" });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DaemonSetStatus {
    pub collision_count: Option<i32>,
    pub current_number_scheduled: i32,
    pub desired_number_scheduled: i32,
    pub number_available: i32,
    pub number_misscheduled: i32,
    pub number_ready: i32,
    pub number_unavailable: i32,
    pub observed_generation: i64,
    pub updated_number_scheduled: i32,
}

record!(DaemonSetStatus {
    collision_count "collisionCount",
    current_number_scheduled "currentNumberScheduled" always,
    desired_number_scheduled "desiredNumberScheduled" always,
    number_available "numberAvailable",
    number_misscheduled "numberMisscheduled" always,
    number_ready "numberReady" always,
    number_unavailable "numberUnavailable",
    observed_generation "observedGeneration",
    updated_number_scheduled "updatedNumberScheduled",
});
