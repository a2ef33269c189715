//! The taints that follow from a node's conditions and its cordon, with everybody else's taints kept.

use crate::api::{Node, Taint, Timestamp, condition};

pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Conditions that taint a node where they are True.
const TROUBLES: [(&str, &str); 4] = [
    ("MemoryPressure", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "node.kubernetes.io/pid-pressure"),
];

/// The taint of a node that is not ready, by the status of its Ready condition.
pub fn key_of(readiness: &str) -> Option<&'static str> {
    match readiness {
        "False" => Some(NOT_READY),
        "Unknown" => Some(UNREACHABLE),
        _ => None,
    }
}

fn taint(key: &str, effect: &str, now: Timestamp) -> Taint {
    Taint { key: key.into(), effect: effect.into(), time_added: Some(now), value: String::new() }
}

/// The node's taints with the NoSchedule ones as its conditions ask for; nothing where they already are.
pub fn for_scheduling(node: &Node, now: Timestamp) -> Option<Vec<Taint>> {
    let ready = condition(&node.status.conditions, "Ready").and_then(|ready| key_of(&ready.status));
    let is_in = |kind: &str| condition(&node.status.conditions, kind).is_some_and(|it| it.is_true());
    let troubles = TROUBLES.into_iter().filter(|(kind, _)| is_in(kind)).map(|(_, key)| key);
    let wanted: Vec<&str> =
        ready.into_iter().chain(troubles).chain(node.spec.unschedulable.then_some(UNSCHEDULABLE)).collect();
    let is_ours = |taint: &Taint| {
        let key = taint.key.as_str();
        taint.effect == "NoSchedule"
            && ([NOT_READY, UNREACHABLE, UNSCHEDULABLE].contains(&key) || TROUBLES.iter().any(|(_, it)| *it == key))
    };
    let known = &node.spec.taints;
    let mut taints: Vec<Taint> =
        known.iter().filter(|it| !is_ours(it) || wanted.contains(&it.key.as_str())).cloned().collect();
    let missing: Vec<&str> = wanted.into_iter().filter(|key| !node.has_taint(key, "NoSchedule")).collect();
    let is_same = missing.is_empty() && taints.len() == known.len();
    taints.extend(missing.into_iter().map(|key| taint(key, "NoSchedule", now)));
    (!is_same).then_some(taints)
}

fn is_for_eviction(taint: &Taint) -> bool {
    taint.effect == "NoExecute" && [NOT_READY, UNREACHABLE].contains(&taint.key.as_str())
}

/// Whether a node has a NoExecute taint that the controller gives.
pub fn evicts(node: &Node) -> bool {
    node.spec.taints.iter().any(is_for_eviction)
}

/// The node's taints with this NoExecute taint alone of the two that the controller gives; nothing where they already
/// are so.
pub fn for_eviction(node: &Node, key: Option<&str>, now: Timestamp) -> Option<Vec<Taint>> {
    let known = &node.spec.taints;
    let mut taints: Vec<Taint> =
        known.iter().filter(|it| !is_for_eviction(it) || Some(it.key.as_str()) == key).cloned().collect();
    let missing = key.filter(|key| !node.has_taint(key, "NoExecute"));
    let is_same = missing.is_none() && taints.len() == known.len();
    taints.extend(missing.map(|key| taint(key, "NoExecute", now)));
    (!is_same).then_some(taints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Condition;

    fn node(ready: bool, taints: &[(&str, &str)]) -> Node {
        let mut node = Node::default();
        node.status.conditions.push(Condition::new("Ready", ready));
        node.spec.taints = taints.iter().map(|(key, effect)| taint(key, effect, Timestamp(1))).collect();
        node
    }

    fn told(taints: Option<Vec<Taint>>) -> Option<Vec<String>> {
        taints.map(|all| all.iter().map(|it| format!("{}:{}", it.key.rsplit('/').next().unwrap(), it.effect)).collect())
    }

    #[test]
    fn conditions_and_a_cordon_ask_for_no_schedule_taints_and_leave_the_rest_alone() {
        assert_eq!(told(for_scheduling(&node(true, &[("mine", "NoSchedule")]), Timestamp(2))), None);
        let mut full = node(false, &[("mine", "NoSchedule"), (UNREACHABLE, "NoSchedule"), (UNREACHABLE, "NoExecute")]);
        full.spec.unschedulable = true;
        full.status.conditions.push(Condition::new("DiskPressure", true));
        assert_eq!(
            told(for_scheduling(&full, Timestamp(2))).unwrap(),
            [
                "mine:NoSchedule",
                "unreachable:NoExecute",
                "not-ready:NoSchedule",
                "disk-pressure:NoSchedule",
                "unschedulable:NoSchedule"
            ]
        );
        let back = node(true, &[(UNSCHEDULABLE, "NoSchedule"), ("mine", "NoExecute")]);
        assert_eq!(told(for_scheduling(&back, Timestamp(2))).unwrap(), ["mine:NoExecute"]);
    }

    #[test]
    fn of_the_two_no_execute_taints_a_node_has_one_at_most() {
        let gone = node(false, &[("mine", "NoExecute"), (NOT_READY, "NoExecute"), (NOT_READY, "NoSchedule")]);
        assert_eq!(
            told(for_eviction(&gone, Some(UNREACHABLE), Timestamp(2))).unwrap(),
            ["mine:NoExecute", "not-ready:NoSchedule", "unreachable:NoExecute"]
        );
        assert_eq!(told(for_eviction(&gone, Some(NOT_READY), Timestamp(2))), None);
        assert_eq!(told(for_eviction(&gone, None, Timestamp(2))).unwrap(), ["mine:NoExecute", "not-ready:NoSchedule"]);
    }
}
