use super::{Extra, IntOrPercent, Labels, Name, ObjectMeta, Uid, record};
use crate::sim::Dict;

/// `v1` Service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    pub metadata: ObjectMeta,
    pub spec: ServiceSpec,
    pub extra: Extra,
}

record!(Service { metadata "metadata" always, spec "spec" always } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceSpec {
    pub cluster_ip: String,
    pub ports: Vec<ServicePort>,
    pub publish_not_ready_addresses: bool,
    pub selector: Labels,
    /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
    pub kind: String,
    pub extra: Extra,
}

record!(ServiceSpec {
    cluster_ip "clusterIP",
    ports "ports",
    publish_not_ready_addresses "publishNotReadyAddresses",
    selector "selector",
    kind "type",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServicePort {
    pub name: String,
    pub port: i32,
    pub protocol: String,
    pub target_port: Option<IntOrPercent>,
    pub extra: Extra,
}

record!(ServicePort { name "name", port "port" always, protocol "protocol", target_port "targetPort" } extra extra);

/// `discovery.k8s.io/v1` EndpointSlice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointSlice {
    pub metadata: ObjectMeta,
    pub address_type: String,
    pub endpoints: Vec<Endpoint>,
    pub ports: Vec<EndpointPort>,
    pub extra: Extra,
}

record!(EndpointSlice {
    metadata "metadata" always,
    address_type "addressType" always,
    endpoints "endpoints" always,
    ports "ports",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoint {
    pub addresses: Vec<String>,
    pub conditions: EndpointConditions,
    pub node_name: Name,
    pub target_ref: Option<TargetRef>,
    pub extra: Extra,
}

record!(Endpoint {
    addresses "addresses" always,
    conditions "conditions" always,
    node_name "nodeName",
    target_ref "targetRef",
} extra extra);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointConditions {
    pub ready: bool,
    pub serving: bool,
    pub terminating: bool,
}

record!(EndpointConditions { ready "ready" always, serving "serving" always, terminating "terminating" always });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetRef {
    pub kind: String,
    pub name: Name,
    pub namespace: Name,
    pub uid: Uid,
}

record!(TargetRef { kind "kind" always, name "name" always, namespace "namespace" always, uid "uid" always });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointPort {
    pub name: String,
    pub port: i32,
    pub protocol: String,
}

record!(EndpointPort { name "name" always, port "port" always, protocol "protocol" always });

/// `v1` Namespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Namespace {
    pub metadata: ObjectMeta,
    pub spec: NamespaceSpec,
    pub status: NamespaceStatus,
    pub extra: Extra,
}

record!(Namespace { metadata "metadata" always, spec "spec", status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamespaceSpec {
    pub finalizers: Vec<String>,
}

record!(NamespaceSpec { finalizers "finalizers" });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamespaceStatus {
    pub conditions: Vec<super::Condition>,
    /// `Active` or `Terminating`.
    pub phase: String,
}

record!(NamespaceStatus { conditions "conditions", phase "phase" });

/// `v1` ResourceQuota: amounts by resource name, such as `pods` or `requests.cpu`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceQuota {
    pub metadata: ObjectMeta,
    pub spec: ResourceQuotaSpec,
    pub status: ResourceQuotaStatus,
    pub extra: Extra,
}

record!(ResourceQuota { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceQuotaSpec {
    pub hard: Dict<super::Quantity>,
    pub extra: Extra,
}

record!(ResourceQuotaSpec { hard "hard" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceQuotaStatus {
    pub hard: Dict<super::Quantity>,
    pub used: Dict<super::Quantity>,
}

record!(ResourceQuotaStatus { hard "hard", used "used" });

/// `scheduling.k8s.io/v1` PriorityClass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorityClass {
    pub metadata: ObjectMeta,
    pub global_default: bool,
    /// `PreemptLowerPriority` or `Never`.
    pub preemption_policy: String,
    pub value: i32,
    pub extra: Extra,
}

record!(PriorityClass {
    metadata "metadata" always,
    global_default "globalDefault",
    preemption_policy "preemptionPolicy",
    value "value" always,
} extra extra);

/// `policy/v1` PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodDisruptionBudget {
    pub metadata: ObjectMeta,
    pub spec: PodDisruptionBudgetSpec,
    pub status: PodDisruptionBudgetStatus,
    pub extra: Extra,
}

record!(PodDisruptionBudget { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodDisruptionBudgetSpec {
    pub max_unavailable: Option<IntOrPercent>,
    pub min_available: Option<IntOrPercent>,
    /// Selects no pod where it is missing, every pod of the namespace where it is empty.
    pub selector: Option<super::LabelSelector>,
    pub extra: Extra,
}

record!(PodDisruptionBudgetSpec {
    max_unavailable "maxUnavailable",
    min_available "minAvailable",
    selector "selector",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodDisruptionBudgetStatus {
    pub conditions: Vec<super::Condition>,
    pub current_healthy: i32,
    pub desired_healthy: i32,
    /// Pods whose eviction was granted and has not been seen yet, with the time it was granted.
    pub disrupted_pods: Dict<super::Timestamp>,
    pub disruptions_allowed: i32,
    pub expected_pods: i32,
    pub observed_generation: i64,
}

record!(PodDisruptionBudgetStatus {
    conditions "conditions",
    current_healthy "currentHealthy" always,
    desired_healthy "desiredHealthy" always,
    disrupted_pods "disruptedPods",
    disruptions_allowed "disruptionsAllowed" always,
    expected_pods "expectedPods" always,
    observed_generation "observedGeneration",
});
