//! Which node: filters and scores as functions of plain values.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::Hash as _;

use crate::api::{Name, Node, Pod};
use crate::apiserver::Usage;
use crate::sim::{Digest, sort_by};

/// Why a node will not do, in the scheduler's words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    Unschedulable,
    Taint,
    Selector,
    TooManyPods,
    InsufficientCpu,
    InsufficientMemory,
}

impl Rejection {
    pub fn message(&self) -> &'static str {
        match self {
            Rejection::Unschedulable => "node(s) were unschedulable",
            Rejection::Taint => "node(s) had untolerated taint(s)",
            Rejection::Selector => "node(s) didn't match Pod's node affinity/selector",
            Rejection::TooManyPods => "Too many pods",
            Rejection::InsufficientCpu => "Insufficient cpu",
            Rejection::InsufficientMemory => "Insufficient memory",
        }
    }

    /// Whether pods of lower priority leaving could help.
    fn is_about_room(&self) -> bool {
        matches!(self, Rejection::TooManyPods | Rejection::InsufficientCpu | Rejection::InsufficientMemory)
    }
}

/// The outcome for one pod.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    pub chosen: Option<(Name, i64)>,
    pub runner_up: Option<(Name, i64)>,
    pub fitting: usize,
    pub total: usize,
    /// How many nodes were rejected for each reason; a node may have several.
    pub rejections: BTreeMap<&'static str, usize>,
    pub without_victims: usize,
}

impl Placement {
    /// `1 node(s) had untolerated taint(s), 3 Insufficient cpu`, in the order of the text as Kubernetes sorts it.
    pub fn reasons(&self) -> String {
        let mut reasons: Vec<String> = self.rejections.iter().map(|(text, count)| format!("{count} {text}")).collect();
        sort_by(&mut reasons, Ord::cmp);
        reasons.join(", ")
    }

    /// The FailedScheduling text, for pods that nothing could be preempted for.
    pub fn message(&self) -> String {
        let total = self.total;
        if total == 0 {
            return "no nodes available to schedule pods".into();
        }
        let mut text = format!("0/{total} nodes are available: {}.", self.reasons());
        let (none, unhelpful) = (self.without_victims, total - self.without_victims);
        let mut parts = Vec::new();
        if none > 0 {
            parts.push(format!("{none} No preemption victims found for incoming pod"));
        }
        if unhelpful > 0 {
            parts.push(format!("{unhelpful} Preemption is not helpful for scheduling"));
        }
        sort_by(&mut parts, Ord::cmp);
        let _ = write!(
            text,
            " no new claims to deallocate, preemption: 0/{total} nodes are available: {}.",
            parts.join(", ")
        );
        text
    }
}

/// A node, what it has to give, and what is asked of it already.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub node: &'a Node,
    pub room: Usage,
    pub usage: Usage,
}

fn reject(pod: &Pod, candidate: Candidate<'_>, asks: Usage) -> Vec<Rejection> {
    let Candidate { node, room, usage } = candidate;
    let tolerates_cordon =
        || pod.spec.tolerations.iter().any(|it| it.tolerates("node.kubernetes.io/unschedulable", "", "NoSchedule"));
    if node.spec.unschedulable && !tolerates_cordon() {
        return vec![Rejection::Unschedulable];
    }
    if node.untolerated(pod, &["NoSchedule", "NoExecute"]).is_some() {
        return vec![Rejection::Taint];
    }
    if !pod.spec.node_selector.iter().all(|(key, value)| node.metadata.labels.get(key) == Some(value)) {
        return vec![Rejection::Selector];
    }
    let mut reasons = Vec::new();
    if usage.pods + 1 > room.pods {
        reasons.push(Rejection::TooManyPods);
    }
    if asks.cpu_milli > 0 && usage.cpu_milli + asks.cpu_milli > room.cpu_milli {
        reasons.push(Rejection::InsufficientCpu);
    }
    if asks.memory_bytes > 0 && usage.memory_bytes + asks.memory_bytes > room.memory_bytes {
        reasons.push(Rejection::InsufficientMemory);
    }
    reasons
}

/// Free share of the node after the pod, 0 to 100, averaged over CPU and memory
/// (`leastResourceScorer`, `framework/plugins/noderesources/least_allocated.go`, v1.36).
pub fn least_allocated_score(requested: [i64; 2], capacity: [i64; 2]) -> i64 {
    let mut sum = 0;
    let mut weights = 0;
    for (requested, capacity) in requested.into_iter().zip(capacity) {
        if capacity > 0 {
            weights += 1;
            if requested <= capacity {
                sum += (capacity - requested) * 100 / capacity;
            }
        }
    }
    if weights == 0 { 0 } else { sum / weights }
}

/// A pod's place among nodes with equal scores: even over nodes, the same in every run.
fn tie_break(pod: &Pod, node: &Name) -> u64 {
    let mut digest = Digest::default();
    pod.metadata.uid.hash(&mut digest);
    node.hash(&mut digest);
    digest.value()
}

/// Chooses a node for a pod among nodes with what is requested of them.
pub fn place<'a>(pod: &Pod, nodes: impl Iterator<Item = Candidate<'a>>) -> Placement {
    let asks = Usage::of(pod);
    let mut placement = Placement::default();
    let mut best: Option<(i64, u64, &Name)> = None;
    let mut second: Option<(i64, u64, &Name)> = None;
    for candidate in nodes {
        let Candidate { node, room, mut usage } = candidate;
        placement.total += 1;
        let reasons = reject(pod, candidate, asks);
        if !reasons.is_empty() {
            placement.without_victims += usize::from(reasons.iter().all(Rejection::is_about_room));
            for reason in reasons {
                *placement.rejections.entry(reason.message()).or_default() += 1;
            }
            continue;
        }
        placement.fitting += 1;
        usage.add(asks);
        let score = least_allocated_score(
            [usage.cpu_milli_nonzero, usage.memory_bytes_nonzero],
            [room.cpu_milli, room.memory_bytes],
        );
        let rank = (score, tie_break(pod, &node.metadata.name), &node.metadata.name);
        if best.is_none_or(|best| rank > best) {
            second = best.replace(rank);
        } else if second.is_none_or(|second| rank > second) {
            second = Some(rank);
        }
    }
    placement.chosen = best.map(|(score, _, node)| (node.clone(), score));
    placement.runner_up = second.map(|(score, _, node)| (node.clone(), score));
    placement
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Container, PodSpec, Quantity};

    fn node(name: &str, cpu: &str) -> Node {
        let mut node = Node::default();
        node.metadata.name = name.into();
        for (resource, amount) in [("cpu", cpu), ("memory", "4Gi"), ("pods", "110")] {
            node.status.allocatable.insert(resource.into(), amount.parse().unwrap());
        }
        node
    }

    fn empty(node: &Node) -> Candidate<'_> {
        Candidate { node, room: Usage::room(node), usage: Usage::default() }
    }

    fn pod(cpu: &str) -> Pod {
        let mut container = Container::default();
        container.resources.requests.insert("cpu".into(), cpu.parse::<Quantity>().unwrap());
        let spec = PodSpec { containers: vec![container], ..PodSpec::default() };
        Pod { spec: spec.into(), ..Pod::default() }
    }

    #[test]
    fn the_node_with_the_most_room_is_chosen() {
        let (a, b) = (node("a", "1"), node("b", "4"));
        let placement = place(&pod("500m"), [empty(&a), empty(&b)].into_iter());
        assert_eq!(placement.chosen.map(|(name, _)| name.to_string()), Some("b".into()));
        assert_eq!(placement.fitting, 2);
    }

    /// The texts are recorded from kube-scheduler v1.36.2 (recording `l_unschedulable_then_node_added`).
    #[test]
    fn a_pod_that_fits_nowhere_is_told_why() {
        let nodes = [node("a", "1"), node("b", "1"), node("c", "1")];
        let placement = place(&pod("5"), nodes.iter().map(empty));
        assert_eq!(
            placement.message(),
            "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
        );
        let mut tainted = node("d", "16");
        tainted.spec.taints.push(crate::api::Taint {
            key: "x".into(),
            effect: "NoSchedule".into(),
            ..Default::default()
        });
        let all = nodes.iter().chain([&tainted]).map(empty);
        assert_eq!(
            place(&pod("5"), all).message(),
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: 1 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod."
        );
    }

    #[test]
    fn scores_are_the_free_share() {
        assert_eq!(least_allocated_score([1000, 1024], [4000, 4096]), 75);
        assert_eq!(least_allocated_score([5000, 0], [4000, 4096]), 50);
    }
}
