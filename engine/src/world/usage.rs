//! What pods and nodes use, as the metrics API writes it.

use serde_json::Value;

use super::Simulation;
use crate::api::{Kind, Object, Pod, Quantity, Timestamp, fields};
use crate::client::{Metrics, PodUsage};

/// Billionths of a CPU and bytes.
fn usage(cpu_nano: u64, memory: u64) -> Value {
    let micro = Quantity::from_micro(i64::try_from(cpu_nano.div_ceil(1_000)).unwrap_or(i64::MAX));
    let bytes = Quantity::from_bytes(i64::try_from(memory).unwrap_or(i64::MAX));
    fields([("cpu", micro.to_string().into()), ("memory", bytes.to_string().into())])
}

fn of_pod(pod: &Pod, it: &PodUsage) -> Value {
    let container = |it: &crate::client::ContainerUsage| {
        fields([("name", it.name.as_str().into()), ("usage", usage(it.cpu_nano, it.memory))])
    };
    let (name, namespace) = (pod.metadata.name.as_str(), pod.metadata.namespace.as_str());
    fields([
        ("metadata", fields([("name", name.into()), ("namespace", namespace.into())])),
        ("timestamp", Timestamp::from_millis(it.at_ms).to_string().into()),
        ("window", [&(it.window.0 / 1_000).to_string(), "s"].concat().into()),
        ("containers", it.containers.iter().map(container).collect()),
    ])
}

/// `PodMetrics` or `NodeMetrics`. A node's are those of its pods together.
pub(super) fn metrics(simulation: &Simulation, of_nodes: bool) -> Vec<Value> {
    let traffic = simulation.traffic_now();
    let readings = simulation.readings(&traffic);
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod);
    let known: Vec<(&Pod, PodUsage)> = pods.filter_map(|pod| Some((&**pod, readings.of(pod)?))).collect();
    if !of_nodes {
        return known.iter().map(|(pod, it)| of_pod(pod, it)).collect();
    }
    let nodes = simulation.machines().iter().filter(|(name, it)| it.is_on && !simulation.is_cut(name));
    nodes
        .map(|(name, _)| {
            let here = known.iter().filter(|(pod, _)| pod.spec.node_name == *name).flat_map(|(_, it)| &it.containers);
            let (cpu, memory) = here.fold((0, 0), |sum, it| (sum.0 + it.cpu_nano, sum.1 + it.memory));
            fields([("metadata", fields([("name", name.as_str().into())])), ("usage", usage(cpu, memory))])
        })
        .collect()
}
