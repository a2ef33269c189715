use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::affinity::shared_option;
use super::workload::shared;
use super::{
    Affinity, Condition, Extra, IntOrPercent, Labels, Name, ObjectMeta, Quantity, Timestamp, condition, is_default,
};

/// `v1` Pod. The spec is shared with the template it was made from until something changes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    pub metadata: ObjectMeta,
    #[serde(with = "shared")]
    pub spec: Rc<PodSpec>,
    #[serde(skip_serializing_if = "is_default")]
    pub status: PodStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    #[serde(skip_serializing_if = "is_default", with = "shared_option")]
    pub affinity: Option<Rc<Affinity>>,
    pub containers: Vec<Container>,
    #[serde(skip_serializing_if = "is_default")]
    pub init_containers: Vec<Container>,
    #[serde(skip_serializing_if = "is_default")]
    pub node_name: Name,
    #[serde(skip_serializing_if = "is_default")]
    pub node_selector: Labels,
    #[serde(skip_serializing_if = "is_default")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub restart_policy: String,
    #[serde(skip_serializing_if = "is_default")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub tolerations: Vec<Toleration>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    #[serde(skip_serializing_if = "is_default")]
    pub image: String,
    #[serde(skip_serializing_if = "is_default")]
    pub image_pull_policy: String,
    pub name: Name,
    #[serde(skip_serializing_if = "is_default")]
    pub liveness_probe: Option<Probe>,
    #[serde(skip_serializing_if = "is_default")]
    pub readiness_probe: Option<Probe>,
    #[serde(skip_serializing_if = "is_default")]
    pub startup_probe: Option<Probe>,
    #[serde(skip_serializing_if = "is_default")]
    pub resources: ResourceRequirements,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceRequirements {
    #[serde(skip_serializing_if = "is_default")]
    pub limits: BTreeMap<String, Quantity>,
    #[serde(skip_serializing_if = "is_default")]
    pub requests: BTreeMap<String, Quantity>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A probe's timing; how it asks (HTTP, TCP, exec, gRPC) is kept in `extra` and not simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Probe {
    #[serde(skip_serializing_if = "is_default")]
    pub failure_threshold: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub initial_delay_seconds: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub period_seconds: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub success_threshold: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub timeout_seconds: Option<i32>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    #[serde(skip_serializing_if = "is_default")]
    pub key: String,
    /// `Equal` (also when empty) or `Exists`.
    #[serde(skip_serializing_if = "is_default")]
    pub operator: String,
    #[serde(skip_serializing_if = "is_default")]
    pub value: String,
    #[serde(skip_serializing_if = "is_default")]
    pub effect: String,
    #[serde(skip_serializing_if = "is_default")]
    pub toleration_seconds: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    #[serde(skip_serializing_if = "is_default")]
    pub container_statuses: Vec<ContainerStatus>,
    #[serde(rename = "hostIP", skip_serializing_if = "is_default")]
    pub host_ip: String,
    #[serde(skip_serializing_if = "is_default")]
    pub message: String,
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    #[serde(skip_serializing_if = "is_default")]
    pub phase: String,
    #[serde(rename = "podIP", skip_serializing_if = "is_default")]
    pub pod_ip: String,
    #[serde(skip_serializing_if = "is_default")]
    pub qos_class: String,
    #[serde(skip_serializing_if = "is_default")]
    pub reason: String,
    #[serde(skip_serializing_if = "is_default")]
    pub start_time: Option<Timestamp>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    #[serde(rename = "containerID", skip_serializing_if = "is_default")]
    pub container_id: String,
    pub image: String,
    pub name: Name,
    pub ready: bool,
    pub restart_count: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub started: bool,
    pub state: ContainerState,
    #[serde(skip_serializing_if = "is_default")]
    pub last_state: Option<ContainerState>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// `state` of a container: exactly one of the three.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ContainerState {
    Waiting(ContainerWaiting),
    Running(ContainerRunning),
    Terminated(ContainerTerminated),
}

impl Default for ContainerState {
    fn default() -> Self {
        Self::Waiting(ContainerWaiting::default())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerWaiting {
    #[serde(skip_serializing_if = "is_default")]
    pub message: String,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerRunning {
    pub started_at: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerTerminated {
    pub exit_code: i32,
    pub reason: String,
    #[serde(skip_serializing_if = "is_default")]
    pub message: String,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
}

impl Pod {
    pub fn is_assigned(&self) -> bool {
        !self.spec.node_name.is_empty()
    }

    pub fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Succeeded or Failed: its containers will not run again.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Counts towards its controller's replicas (`controller.IsPodActive`, v1.36).
    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.is_terminating()
    }

    pub fn is_ready(&self) -> bool {
        condition(&self.status.conditions, "Ready").is_some_and(Condition::is_true)
    }

    /// Ready for at least the given time (`podutil.IsPodAvailable`, v1.36).
    pub fn is_available(&self, min_ready_seconds: i32, now: Timestamp) -> bool {
        match condition(&self.status.conditions, "Ready") {
            Some(ready) if ready.is_true() => {
                min_ready_seconds == 0
                    || ready.last_transition_time.is_some_and(|since| since.0 + i64::from(min_ready_seconds) <= now.0)
            }
            _ => false,
        }
    }

    pub fn restarts(&self) -> i32 {
        self.status.container_statuses.iter().map(|status| status.restart_count).sum()
    }
}

impl PodSpec {
    pub fn grace_seconds(&self) -> i64 {
        self.termination_grace_period_seconds.unwrap_or(30)
    }

    /// What the pod asks of a node: the sum over its containers, or the largest init container where that is more.
    pub fn request(&self, resource: &str) -> Quantity {
        let of = |container: &Container| container.resources.requests.get(resource).map_or(0, |it| it.milli());
        let sum = self.containers.iter().map(of).fold(0, i64::saturating_add);
        let init = self.init_containers.iter().map(of).max().unwrap_or(0);
        Quantity::from_milli(sum.max(init))
    }
}

impl Probe {
    pub fn period_ms(&self) -> u64 {
        u64::try_from(self.period_seconds.unwrap_or(10).max(1)).unwrap_or(10) * 1000
    }

    pub fn initial_delay_ms(&self) -> u64 {
        u64::try_from(self.initial_delay_seconds.max(0)).unwrap_or(0) * 1000
    }

    pub fn failures(&self) -> i32 {
        self.failure_threshold.unwrap_or(3).max(1)
    }

    pub fn successes(&self) -> i32 {
        self.success_threshold.unwrap_or(1).max(1)
    }

    /// The port that the probe asks, where it names one.
    pub fn port(&self) -> Option<IntOrPercent> {
        let ask =
            self.extra.get("httpGet").or_else(|| self.extra.get("tcpSocket")).or_else(|| self.extra.get("grpc"))?;
        serde_json::from_value(ask.get("port")?.clone()).ok()
    }
}

impl Toleration {
    /// Whether this toleration covers a taint (`v1.Toleration.ToleratesTaint`, v1.36).
    pub fn tolerates(&self, key: &str, value: &str, effect: &str) -> bool {
        (self.effect.is_empty() || self.effect == effect)
            && (self.key.is_empty() || self.key == key)
            && match self.operator.as_str() {
                "" | "Equal" => self.value == value,
                "Exists" => true,
                _ => false,
            }
    }
}
