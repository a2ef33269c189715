use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Extra, IntOrPercent, Labels, Name, ObjectMeta, Uid, is_default};

/// `v1` Service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Service {
    pub metadata: ObjectMeta,
    pub spec: ServiceSpec,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceSpec {
    #[serde(rename = "clusterIP", skip_serializing_if = "is_default")]
    pub cluster_ip: String,
    #[serde(skip_serializing_if = "is_default")]
    pub ports: Vec<ServicePort>,
    #[serde(skip_serializing_if = "is_default")]
    pub publish_not_ready_addresses: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub selector: Labels,
    /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
    #[serde(rename = "type", skip_serializing_if = "is_default")]
    pub kind: String,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    pub port: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub protocol: String,
    #[serde(skip_serializing_if = "is_default")]
    pub target_port: Option<IntOrPercent>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// `discovery.k8s.io/v1` EndpointSlice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointSlice {
    pub metadata: ObjectMeta,
    pub address_type: String,
    pub endpoints: Vec<Endpoint>,
    #[serde(skip_serializing_if = "is_default")]
    pub ports: Vec<EndpointPort>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    pub addresses: Vec<String>,
    pub conditions: EndpointConditions,
    #[serde(skip_serializing_if = "is_default")]
    pub node_name: Name,
    #[serde(skip_serializing_if = "is_default")]
    pub target_ref: Option<TargetRef>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointConditions {
    pub ready: bool,
    pub serving: bool,
    pub terminating: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TargetRef {
    pub kind: String,
    pub name: Name,
    pub namespace: Name,
    pub uid: Uid,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointPort {
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    pub port: i32,
    pub protocol: String,
}

/// `v1` Namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Namespace {
    pub metadata: ObjectMeta,
    #[serde(skip_serializing_if = "is_default")]
    pub spec: NamespaceSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: NamespaceStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamespaceSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub finalizers: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamespaceStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<super::Condition>,
    /// `Active` or `Terminating`.
    #[serde(skip_serializing_if = "is_default")]
    pub phase: String,
}

/// `v1` ResourceQuota: amounts by resource name, such as `pods` or `requests.cpu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceQuota {
    pub metadata: ObjectMeta,
    pub spec: ResourceQuotaSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: ResourceQuotaStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceQuotaSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub hard: BTreeMap<String, super::Quantity>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceQuotaStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub hard: BTreeMap<String, super::Quantity>,
    #[serde(skip_serializing_if = "is_default")]
    pub used: BTreeMap<String, super::Quantity>,
}

/// `scheduling.k8s.io/v1` PriorityClass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityClass {
    pub metadata: ObjectMeta,
    #[serde(skip_serializing_if = "is_default")]
    pub global_default: bool,
    /// `PreemptLowerPriority` or `Never`.
    #[serde(skip_serializing_if = "is_default")]
    pub preemption_policy: String,
    pub value: i32,
    #[serde(flatten)]
    pub extra: Extra,
}

/// `policy/v1` PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodDisruptionBudget {
    pub metadata: ObjectMeta,
    pub spec: PodDisruptionBudgetSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: PodDisruptionBudgetStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub max_unavailable: Option<IntOrPercent>,
    #[serde(skip_serializing_if = "is_default")]
    pub min_available: Option<IntOrPercent>,
    /// Selects no pod where it is missing, every pod of the namespace where it is empty.
    #[serde(skip_serializing_if = "is_default")]
    pub selector: Option<super::LabelSelector>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<super::Condition>,
    pub current_healthy: i32,
    pub desired_healthy: i32,
    /// Pods whose eviction was granted and has not been seen yet, with the time it was granted.
    #[serde(skip_serializing_if = "is_default")]
    pub disrupted_pods: BTreeMap<String, super::Timestamp>,
    pub disruptions_allowed: i32,
    pub expected_pods: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
}
