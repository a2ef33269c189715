//! What will come of a node that is not simply ready, and when.

use super::map::{faults, node_class, node_order};
use super::{NodeClass, NodeFaults};
use crate::api::{Kind, MicroTime, Node, Object, ObjectKey, condition};
use crate::controllers::node_lifecycle::health::GRACE;
use crate::world::Simulation;

const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// How long nothing has been heard of a node, in ms: its kubelet renews a lease every 10 s.
pub fn silence(simulation: &Simulation, node: &Node) -> i64 {
    let lease = ObjectKey::new(Kind::Lease, "kube-node-lease", node.metadata.name.clone());
    let lease = simulation.api().objects().get(&lease).and_then(Object::as_lease);
    let renewed = lease.and_then(|lease| lease.spec.renew_time).map(|MicroTime(at)| at);
    renewed.map_or(0, |at| simulation.wall_millis() - at)
}

/// What there is to say of a node that is not simply ready.
pub fn message(simulation: &Simulation, node: &Node, class: NodeClass) -> Option<String> {
    let name = &node.metadata.name;
    if class == NodeClass::Unreachable {
        let cut = if simulation.is_cut(name) { " It is cut off: its containers go on." } else { "" };
        let said = ["The API server shows what ", name, " last said.", cut].concat();
        return Some(match left(simulation, node) {
            Some(left) => said + " " + &eviction(left),
            None => said,
        });
    }
    let faults = faults(simulation, node);
    if faults.is_stopped || faults.is_cut {
        return Some([name, how(faults), "; the API server has not noticed yet."].concat());
    }
    match class {
        NodeClass::NotReady => condition(&node.status.conditions, "Ready").map(|ready| ready.message.to_string()),
        NodeClass::Cordoned => Some("Takes no new pods.".into()),
        _ => None,
    }
}

fn how(faults: NodeFaults) -> &'static str {
    if faults.is_stopped { " is off" } else { " is cut off" }
}

/// `Its pods are evicted in 287 s if it stays silent.`
fn eviction(left: i64) -> String {
    ["Its pods are evicted in ", &left.to_string(), " s if it stays silent."].concat()
}

/// When the silence of a node that was heard once will be noticed, and what follows.
fn notice(simulation: &Simulation, node: &Node) -> Option<String> {
    condition(&node.status.conditions, "Ready")?;
    let grace = GRACE.0 / 1000;
    let left = (grace as i64 - silence(simulation, node) / 1000).max(0);
    let after = match limit(simulation, node) {
        Some(seconds) => [", and its pods are evicted ", &seconds.to_string(), " s after that"].concat(),
        None => String::new(),
    };
    let (grace, left) = (grace.to_string(), left.to_string());
    Some(
        ["It is marked NotReady after ", &grace, " s without a heartbeat, in about ", &left, " s", &after, "."]
            .concat(),
    )
}

/// How many s the first of its pods will be left alone once the node is tainted.
fn limit(simulation: &Simulation, node: &Node) -> Option<i64> {
    let pods = simulation.api().objects().pods_on(&node.metadata.name).filter(|pod| !pod.is_terminating());
    let limits = pods.filter_map(|pod| {
        let tolerations = pod.spec.tolerations.iter().filter(|it| it.key == UNREACHABLE);
        tolerations.filter_map(|it| it.toleration_seconds).min()
    });
    limits.min()
}

/// How many s its pods still have: as long as they tolerate the taint. A node without the taint is one of a zone in which
/// nobody answers: there nothing is evicted.
fn left(simulation: &Simulation, node: &Node) -> Option<i64> {
    let taint = node.spec.taints.iter().find(|taint| taint.effect == "NoExecute")?;
    let seconds = limit(simulation, node)?;
    Some((taint.time_added?.0 + seconds - simulation.wall().0).max(0))
}

/// Between the condition and the taint that follows from it, unless no node answers: then there is no taint.
fn about_to_be_tainted(simulation: &Simulation, node: &Node) -> Option<String> {
    let mut nodes = simulation.api().objects().of_kind(Kind::Node).filter_map(Object::as_node);
    let is_next = nodes.any(|it| node_class(it) != NodeClass::Unreachable)
        && !node.spec.taints.iter().any(|taint| taint.effect == "NoExecute");
    let limit = limit(simulation, node).filter(|_| is_next)?;
    Some(["It is about to be tainted; its pods are evicted ", &limit.to_string(), " s after that."].concat())
}

/// What one waits for while nothing seems to happen: the silence of a node to be noticed, or its pods to be evicted. Of
/// several nodes the first.
pub fn outlook(simulation: &Simulation) -> Option<String> {
    let objects = simulation.api().objects();
    let mut found: Option<(&Node, String)> = None;
    for node in objects.of_kind(Kind::Node).filter_map(Object::as_node) {
        let name = &node.metadata.name;
        if found.as_ref().is_some_and(|(known, _)| node_order(&known.metadata.name) < node_order(name)) {
            continue;
        }
        let faults = faults(simulation, node);
        let text = if node_class(node) == NodeClass::Unreachable {
            let next = match left(simulation, node) {
                Some(left) => Some(eviction(left)),
                None => about_to_be_tainted(simulation, node),
            };
            next.map(|next| [name, " does not answer. ", &next].concat())
        } else if faults.is_stopped || faults.is_cut {
            notice(simulation, node).map(|text| [name, how(faults), ". ", &text].concat())
        } else {
            None
        };
        if let Some(text) = text {
            found = Some((node, text));
        }
    }
    found.map(|(_, text)| text)
}
