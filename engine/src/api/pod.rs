use std::rc::Rc;

use serde_json::Value;

use super::{
    Affinity, Condition, DecodeError, Extra, Field, IntOrPercent, Labels, Name, ObjectMeta, Quantity, Text, Timestamp,
    TopologySpreadConstraint, condition, read_value, record,
};
use crate::sim::Dict;

/// `v1` Pod. The spec is shared with the template it was made from until something changes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    pub metadata: ObjectMeta,
    pub spec: Rc<PodSpec>,
    pub status: PodStatus,
    pub extra: Extra,
}

record!(Pod { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodSpec {
    pub affinity: Option<Rc<Affinity>>,
    pub containers: Vec<Container>,
    pub init_containers: Vec<Container>,
    pub node_name: Name,
    pub node_selector: Labels,
    pub priority: Option<i32>,
    pub restart_policy: Text,
    pub termination_grace_period_seconds: Option<i64>,
    pub tolerations: Vec<Toleration>,
    pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    pub extra: Extra,
}

record!(PodSpec {
    affinity "affinity",
    containers "containers" always,
    init_containers "initContainers",
    node_name "nodeName",
    node_selector "nodeSelector",
    priority "priority",
    restart_policy "restartPolicy",
    termination_grace_period_seconds "terminationGracePeriodSeconds",
    tolerations "tolerations",
    topology_spread_constraints "topologySpreadConstraints",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Container {
    pub image: String,
    pub image_pull_policy: Text,
    pub name: Name,
    pub liveness_probe: Option<Probe>,
    pub readiness_probe: Option<Probe>,
    pub startup_probe: Option<Probe>,
    pub resources: ResourceRequirements,
    pub extra: Extra,
}

record!(Container {
    image "image",
    image_pull_policy "imagePullPolicy",
    name "name" always,
    liveness_probe "livenessProbe",
    readiness_probe "readinessProbe",
    startup_probe "startupProbe",
    resources "resources",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceRequirements {
    pub limits: Dict<Quantity>,
    pub requests: Dict<Quantity>,
    pub extra: Extra,
}

record!(ResourceRequirements { limits "limits", requests "requests" } extra extra);

/// A probe's timing; how it asks (HTTP, TCP, exec, gRPC) is kept in `extra` and not simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probe {
    pub failure_threshold: Option<i32>,
    pub initial_delay_seconds: i32,
    pub period_seconds: Option<i32>,
    pub success_threshold: Option<i32>,
    pub timeout_seconds: Option<i32>,
    pub extra: Extra,
}

record!(Probe {
    failure_threshold "failureThreshold",
    initial_delay_seconds "initialDelaySeconds",
    period_seconds "periodSeconds",
    success_threshold "successThreshold",
    timeout_seconds "timeoutSeconds",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Toleration {
    pub key: Text,
    /// `Equal` (also when empty) or `Exists`.
    pub operator: Text,
    pub value: Text,
    pub effect: Text,
    pub toleration_seconds: Option<i64>,
}

record!(Toleration {
    key "key",
    operator "operator",
    value "value",
    effect "effect",
    toleration_seconds "tolerationSeconds",
});

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodStatus {
    pub conditions: Vec<Condition>,
    pub container_statuses: Vec<ContainerStatus>,
    pub init_container_statuses: Vec<ContainerStatus>,
    pub host_ip: Name,
    pub message: Text,
    /// Where pods are leaving to make room for this one.
    pub nominated_node_name: Name,
    pub observed_generation: i64,
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: Text,
    pub pod_ip: Name,
    pub qos_class: Text,
    pub reason: Text,
    pub start_time: Option<Timestamp>,
    pub extra: Extra,
}

record!(PodStatus {
    conditions "conditions",
    container_statuses "containerStatuses",
    init_container_statuses "initContainerStatuses",
    host_ip "hostIP",
    message "message",
    nominated_node_name "nominatedNodeName",
    observed_generation "observedGeneration",
    phase "phase",
    pod_ip "podIP",
    qos_class "qosClass",
    reason "reason",
    start_time "startTime",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerStatus {
    pub container_id: String,
    pub image: Name,
    /// Images have no digest here: empty.
    pub image_id: Text,
    pub name: Name,
    pub ready: bool,
    pub restart_count: i32,
    pub started: bool,
    pub state: ContainerState,
    pub last_state: Option<ContainerState>,
    pub extra: Extra,
}

record!(ContainerStatus {
    container_id "containerID",
    image "image" always,
    image_id "imageID" always,
    name "name" always,
    ready "ready" always,
    restart_count "restartCount" always,
    started "started" always,
    state "state" always,
    last_state "lastState",
} extra extra);

/// `state` of a container: exactly one of the three.
#[derive(Clone, Debug, PartialEq)]
pub enum ContainerState {
    Waiting(ContainerWaiting),
    Running(ContainerRunning),
    Terminated(ContainerTerminated),
}

impl Field for ContainerState {
    fn write(&mut self) -> Option<Value> {
        Some(self.write_always())
    }

    fn write_always(&mut self) -> Value {
        let (name, value) = match self {
            ContainerState::Waiting(it) => ("waiting", it.write_always()),
            ContainerState::Running(it) => ("running", it.write_always()),
            ContainerState::Terminated(it) => ("terminated", it.write_always()),
        };
        let mut map = serde_json::Map::new();
        map.insert(name.into(), value);
        Value::Object(map)
    }

    fn read(&mut self, mut value: Value) -> Result<(), DecodeError> {
        if let Some(value) = value.get_mut("running") {
            let mut running = ContainerRunning::default();
            running.read(value.take())?;
            *self = ContainerState::Running(running);
        } else if let Some(value) = value.get_mut("terminated") {
            let mut terminated = ContainerTerminated::default();
            terminated.read(value.take())?;
            *self = ContainerState::Terminated(terminated);
        } else if let Some(value) = value.get_mut("waiting") {
            let mut waiting = ContainerWaiting::default();
            waiting.read(value.take())?;
            *self = ContainerState::Waiting(waiting);
        }
        Ok(())
    }
}

impl Default for ContainerState {
    fn default() -> Self {
        Self::Waiting(ContainerWaiting::default())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerWaiting {
    pub message: Text,
    pub reason: Text,
}

record!(ContainerWaiting { message "message", reason "reason" always });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerRunning {
    pub started_at: Timestamp,
}

record!(ContainerRunning { started_at "startedAt" always });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerTerminated {
    pub container_id: String,
    pub exit_code: i32,
    pub signal: i32,
    pub reason: Text,
    pub message: Text,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
}

record!(ContainerTerminated {
    container_id "containerID",
    exit_code "exitCode" always,
    signal "signal",
    reason "reason" always,
    message "message",
    started_at "startedAt" always,
    finished_at "finishedAt" always,
});

impl Pod {
    pub fn is_assigned(&self) -> bool {
        !self.spec.node_name.is_empty()
    }

    /// On its way out, and not finished (`controller.IsPodTerminating`, v1.36).
    pub fn counts_as_terminating(&self) -> bool {
        self.is_terminating() && !self.is_finished()
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
        self.statuses().map(|status| status.restart_count).sum()
    }

    /// The statuses of all containers, init containers first.
    pub fn statuses(&self) -> impl Iterator<Item = &ContainerStatus> {
        self.status.init_container_statuses.iter().chain(&self.status.container_statuses)
    }
}

impl PodSpec {
    pub fn grace_seconds(&self) -> i64 {
        self.termination_grace_period_seconds.unwrap_or(30)
    }

    /// What the pod asks of a node: the sum over its containers and sidecars, or what an init container asks together
    /// with the sidecars before it where that is more (`resource.PodRequests`, component-helpers v1.36).
    pub fn request(&self, resource: &str) -> Quantity {
        self.request_or(resource, Quantity::ZERO)
    }

    /// As [`PodSpec::request`], with an amount for each container that asks for nothing.
    pub fn request_or(&self, resource: &str, unset: Quantity) -> Quantity {
        let of = |container: &Container| container.resources.requests.get(resource).unwrap_or(&unset).milli();
        let mut sidecars = 0_i64;
        let mut peak = 0_i64;
        for container in &self.init_containers {
            let asks = of(container);
            if container.is_sidecar() {
                sidecars = sidecars.saturating_add(asks);
                peak = peak.max(sidecars);
            } else {
                peak = peak.max(sidecars.saturating_add(asks));
            }
        }
        let sum = self.containers.iter().map(of).fold(sidecars, i64::saturating_add);
        Quantity::from_milli(sum.max(peak))
    }

    /// Set by name, such as `schedulerName`, among the fields that are kept as written.
    pub fn text(&self, field: &str) -> &str {
        self.extra.get(field).and_then(Value::as_str).unwrap_or_default()
    }
}

impl Container {
    /// An init container that goes on running beside the others.
    pub fn is_sidecar(&self) -> bool {
        self.extra.get("restartPolicy").and_then(Value::as_str) == Some("Always")
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
        read_value(ask.get("port")?.clone()).ok()
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
