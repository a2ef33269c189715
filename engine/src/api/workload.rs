use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::{Condition, Extra, IntOrPercent, LabelSelector, ObjectMeta, PodSpec, is_default};

/// `apps/v1` Deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Deployment {
    pub metadata: ObjectMeta,
    pub spec: DeploymentSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: DeploymentStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub paused: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub progress_deadline_seconds: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub revision_history_limit: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub selector: LabelSelector,
    #[serde(skip_serializing_if = "is_default")]
    pub strategy: DeploymentStrategy,
    pub template: PodTemplate,
    #[serde(flatten)]
    pub extra: Extra,
}

impl DeploymentSpec {
    /// The wanted number of pods; defaulting has set it on every stored object.
    pub fn wanted(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStrategy {
    #[serde(skip_serializing_if = "is_default")]
    pub rolling_update: Option<RollingUpdate>,
    /// `RollingUpdate` or `Recreate`.
    #[serde(rename = "type", skip_serializing_if = "is_default")]
    pub kind: String,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    #[serde(skip_serializing_if = "is_default")]
    pub max_surge: Option<IntOrPercent>,
    #[serde(skip_serializing_if = "is_default")]
    pub max_unavailable: Option<IntOrPercent>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub available_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub collision_count: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub ready_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub terminating_replicas: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub unavailable_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub updated_replicas: i32,
}

/// `spec.template` of a workload. The pod's spec is shared with the pods that are made from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodTemplate {
    #[serde(skip_serializing_if = "is_default")]
    pub metadata: ObjectMeta,
    #[serde(with = "shared")]
    pub spec: Rc<PodSpec>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// `apps/v1` ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSet {
    pub metadata: ObjectMeta,
    pub spec: ReplicaSetSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: ReplicaSetStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub selector: LabelSelector,
    pub template: PodTemplate,
    #[serde(flatten)]
    pub extra: Extra,
}

impl ReplicaSetSpec {
    /// The wanted number of pods; defaulting has set it on every stored object.
    pub fn wanted(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub available_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "is_default")]
    pub fully_labeled_replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub ready_replicas: i32,
    pub replicas: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub terminating_replicas: Option<i32>,
}

/// Serde for a shared value.
pub(super) mod shared {
    use std::rc::Rc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(value: &Rc<T>, serializer: S) -> Result<S::Ok, S::Error> {
        (**value).serialize(serializer)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Rc<T>, D::Error> {
        T::deserialize(deserializer).map(Rc::new)
    }
}
