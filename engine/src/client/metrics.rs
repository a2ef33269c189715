//! What a loop may ask of the metrics API.

use crate::api::{Name, Pod};
use crate::sim::Millis;

/// What one container uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerUsage {
    pub name: Name,
    /// Billionths of a CPU, on average over the window.
    pub cpu_nano: u64,
    /// Bytes.
    pub memory: u64,
}

/// What a pod uses (`metrics.k8s.io/v1beta1` PodMetrics).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodUsage {
    /// The end of the window, in milliseconds since 1970.
    pub at_ms: i64,
    pub window: Millis,
    pub containers: Vec<ContainerUsage>,
}

/// The metrics API: what is known there may be behind what is.
pub trait Metrics {
    /// What a pod uses; nothing where nothing was measured yet.
    fn of(&self, pod: &Pod) -> Option<PodUsage>;
}
