use serde::{Deserialize, Serialize};

use super::{Condition, Extra, LabelSelector, ObjectMeta, PodTemplate, Timestamp, is_default};

/// `batch/v1` Job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    pub metadata: ObjectMeta,
    pub spec: JobSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: JobStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub active_deadline_seconds: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub backoff_limit: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub completion_mode: String,
    #[serde(skip_serializing_if = "is_default")]
    pub completions: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub parallelism: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "is_default")]
    pub suspend: Option<bool>,
    pub template: PodTemplate,
    #[serde(skip_serializing_if = "is_default")]
    pub ttl_seconds_after_finished: Option<i32>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub active: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub completion_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "is_default")]
    pub failed: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub ready: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub start_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub succeeded: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub terminating: Option<i32>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// `apps/v1` StatefulSet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatefulSet {
    pub metadata: ObjectMeta,
    pub spec: StatefulSetSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: StatefulSetStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    /// `OrderedReady` or `Parallel`.
    #[serde(skip_serializing_if = "is_default")]
    pub pod_management_policy: String,
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub revision_history_limit: Option<i32>,
    pub selector: LabelSelector,
    #[serde(skip_serializing_if = "is_default")]
    pub service_name: String,
    pub template: PodTemplate,
    #[serde(skip_serializing_if = "is_default")]
    pub update_strategy: StatefulSetUpdateStrategy,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetUpdateStrategy {
    #[serde(skip_serializing_if = "is_default")]
    pub rolling_update: Option<StatefulSetRollingUpdate>,
    /// `RollingUpdate` or `OnDelete`.
    #[serde(rename = "type", skip_serializing_if = "is_default")]
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetRollingUpdate {
    #[serde(skip_serializing_if = "is_default")]
    pub partition: Option<i32>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetStatus {
    pub available_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub collision_count: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "is_default")]
    pub current_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub current_revision: String,
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub ready_replicas: i32,
    pub replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub update_revision: String,
    #[serde(skip_serializing_if = "is_default")]
    pub updated_replicas: i32,
}

/// `apps/v1` DaemonSet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaemonSet {
    pub metadata: ObjectMeta,
    pub spec: DaemonSetSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: DaemonSetStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub revision_history_limit: Option<i32>,
    pub selector: LabelSelector,
    pub template: PodTemplate,
    #[serde(skip_serializing_if = "is_default")]
    pub update_strategy: DaemonSetUpdateStrategy,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetUpdateStrategy {
    #[serde(skip_serializing_if = "is_default")]
    pub rolling_update: Option<super::RollingUpdate>,
    /// `RollingUpdate` or `OnDelete`.
    #[serde(rename = "type", skip_serializing_if = "is_default")]
    pub kind: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub collision_count: Option<i32>,
    pub current_number_scheduled: i32,
    pub desired_number_scheduled: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub number_available: i32,
    pub number_misscheduled: i32,
    pub number_ready: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub number_unavailable: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub updated_number_scheduled: i32,
}
