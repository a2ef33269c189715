//! Whether a pod can run on its node at all.
//!
//! Mirrors `pkg/kubelet/lifecycle/predicate.go`, v1.36. The scheduler has asked the same; a pod that names its node
//! itself has gone past it. Fidelity: CPU, memory and the number of pods, no other resource and no host ports.

use crate::api::{Node, Pod, PodStatus, Timestamp};
use crate::apiserver::Usage;
use crate::controllers::daemonset::suits;

/// Why a pod is refused: the reason and the message.
pub type Refusal = (&'static str, String);

/// Whether a node has room for all that is on it.
pub fn fits(usage: &Usage, node: &Node) -> bool {
    usage.pods <= node.allocatable("pods").units()
        && usage.cpu_milli <= node.allocatable("cpu").milli()
        && usage.memory_bytes <= node.allocatable("memory").units()
}

/// Looks at a pod that is new on its node, beside those that were let in before.
pub fn refuse<'a>(pod: &Pod, node: &Node, others: impl Iterator<Item = &'a Pod>) -> Option<Refusal> {
    let mut used = Usage::default();
    for other in others {
        let usage = Usage::of(other);
        used.cpu_milli += usage.cpu_milli;
        used.memory_bytes += usage.memory_bytes;
        used.pods += usage.pods;
    }
    let asked = Usage::of(pod);
    let resources = [
        ("OutOfpods", "pods", asked.pods, used.pods, node.allocatable("pods").units()),
        ("OutOfcpu", "cpu", asked.cpu_milli, used.cpu_milli, node.allocatable("cpu").milli()),
        ("OutOfmemory", "memory", asked.memory_bytes, used.memory_bytes, node.allocatable("memory").units()),
    ];
    for (reason, resource, asked, used, capacity) in resources {
        if asked > 0 && asked > capacity - used {
            let message = format!(
                "Node didn't have enough resource: {resource}, requested: {asked}, used: {used}, capacity: {capacity}"
            );
            return Some((reason, message));
        }
    }
    if !suits(&pod.spec, node) {
        let message = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
        return Some(("NodeAffinity", message.into()));
    }
    let message = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
    node.untolerated(pod, &["NoExecute"]).map(|_| ("TaintToleration", message.into()))
}

/// The status of a pod that is refused.
pub fn rejected(pod: &Pod, refusal: &Refusal, now: Timestamp) -> PodStatus {
    let mut status = pod.status.clone();
    status.phase = "Failed".into();
    status.reason = refusal.0.into();
    status.message = format!("Pod was rejected: {}", refusal.1).into();
    status.observed_generation = pod.metadata.generation;
    status.start_time.get_or_insert(now);
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Container, Quantity, Taint};
    use std::rc::Rc;

    fn pod(cpu: &str) -> Pod {
        let mut pod = Pod::default();
        let spec = Rc::make_mut(&mut pod.spec);
        let mut container = Container::default();
        container.resources.requests.insert("cpu".into(), cpu.parse().expect("a quantity"));
        spec.containers.push(container);
        pod
    }

    fn node() -> Node {
        let mut node = Node::default();
        for (resource, amount) in [("cpu", "4"), ("memory", "8Gi"), ("pods", "3")] {
            node.status.allocatable.insert(resource.into(), amount.parse::<Quantity>().expect("a quantity"));
        }
        node
    }

    #[test]
    fn a_pod_is_refused_for_the_first_thing_that_lacks() {
        let others = [pod("100m"), pod("1")];
        let ask = |new: &Pod, node: &Node| refuse(new, node, others.iter());
        assert_eq!(ask(&pod("2900m"), &node()), None);
        let message = "Node didn't have enough resource: cpu, requested: 5000, used: 1100, capacity: 4000";
        assert_eq!(ask(&pod("5"), &node()), Some(("OutOfcpu", message.into())));
        let mut small = node();
        small.status.allocatable.insert("pods".into(), "2".parse().expect("a quantity"));
        let message = "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2";
        assert_eq!(ask(&pod("5"), &small), Some(("OutOfpods", message.into())));
        let mut picky = pod("1");
        Rc::make_mut(&mut picky.spec).node_selector.insert("disk".into(), "ssd".into());
        assert_eq!(ask(&picky, &node()).map(|it| it.0), Some("NodeAffinity"));
        let mut tainted = node();
        tainted.spec.taints = vec![Taint { key: "a".into(), effect: "NoExecute".into(), ..Taint::default() }];
        assert_eq!(ask(&pod("1"), &tainted).map(|it| it.0), Some("TaintToleration"));
        tainted.spec.taints[0].effect = "NoSchedule".into();
        assert_eq!(ask(&pod("1"), &tainted), None);
    }
}
