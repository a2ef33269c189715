//! On which nodes a DaemonSet's pod belongs, and which of its pods go, as functions of plain values.
//!
//! Mirrors `pkg/controller/daemon/{daemon_controller,update}.go` and `util/daemonset_util.go`, v1.36.

use std::rc::Rc;

use crate::api::{
    Affinity, LabelSelectorRequirement, Labels, Name, Node, NodeAffinity, NodeSelector, NodeSelectorTerm, Pod, PodSpec,
    Toleration,
};

/// Taints that every pod of a DaemonSet tolerates, for ever.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Adds the tolerations that every pod of a DaemonSet has (`AddOrUpdateDaemonPodTolerations`).
pub fn tolerate(spec: &mut PodSpec) {
    let is_on_host = spec.extra.get("hostNetwork") == Some(&serde_json::Value::Bool(true));
    let network = is_on_host.then_some(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    for (key, effect) in TOLERATED.into_iter().chain(network) {
        let new =
            Toleration { key: key.into(), operator: "Exists".into(), effect: effect.into(), ..Toleration::default() };
        match spec.tolerations.iter_mut().find(|it| it.key == key && it.effect == effect) {
            Some(known) => *known = new,
            None => spec.tolerations.push(new),
        }
    }
}

/// Ties a pod to a node, in the place of any other wish (`ReplaceDaemonSetPodNodeNameNodeAffinity`).
pub fn pin(spec: &mut PodSpec, node: &Name) {
    let field =
        LabelSelectorRequirement { key: "metadata.name".into(), operator: "In".into(), values: vec![node.to_string()] };
    let term = NodeSelectorTerm { match_fields: vec![field], ..NodeSelectorTerm::default() };
    let mut affinity: Affinity = spec.affinity.as_deref().cloned().unwrap_or_default();
    affinity.node_affinity.get_or_insert_with(NodeAffinity::default).required =
        Some(NodeSelector { node_selector_terms: vec![term] });
    spec.affinity = Some(Rc::new(affinity));
}

/// The node that a pod is on or tied to.
pub fn target(pod: &Pod) -> Option<&str> {
    if pod.is_assigned() {
        return Some(&pod.spec.node_name);
    }
    let required = pod.spec.affinity.as_deref()?.node_affinity.as_ref()?.required.as_ref()?;
    let fields = required.node_selector_terms.iter().flat_map(|term| &term.match_fields);
    let mut named = fields.filter(|field| field.key == "metadata.name" && field.operator == "In");
    named.next()?.values.first().map(String::as_str)
}

fn holds(requirement: &LabelSelectorRequirement, labels: &Labels) -> bool {
    let value = labels.get(&requirement.key);
    let compare = |is_so: fn(i64, i64) -> bool| {
        let number = |text: &String| text.parse::<i64>().ok();
        let pair = value.and_then(number).zip(requirement.values.first().and_then(number));
        pair.is_some_and(|(a, b)| is_so(a, b))
    };
    match requirement.operator.as_str() {
        "In" => value.is_some_and(|value| requirement.values.contains(value)),
        "NotIn" => value.is_none_or(|value| !requirement.values.contains(value)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(|a, b| a > b),
        "Lt" => compare(|a, b| a < b),
        _ => false,
    }
}

/// Whether a node is one of those that a pod asks for by name, labels and affinity.
pub fn suits(spec: &PodSpec, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    let required = spec.affinity.as_deref().and_then(|it| it.node_affinity.as_ref()?.required.as_ref());
    let name: Labels = [("metadata.name".to_string(), node.metadata.name.to_string())].into_iter().collect();
    let meets = |term: &NodeSelectorTerm| {
        let is_empty = term.match_expressions.is_empty() && term.match_fields.is_empty();
        !is_empty
            && term.match_expressions.iter().all(|it| holds(it, labels))
            && term.match_fields.iter().all(|it| holds(it, &name))
    };
    (spec.node_name.is_empty() || spec.node_name == node.metadata.name)
        && spec.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        && required.is_none_or(|required| required.node_selector_terms.iter().any(meets))
}

/// Whether a pod should be started on a node, and whether one that is there may stay (`NodeShouldRunDaemonPod`).
/// The spec is a template's, with the tolerations of DaemonSets.
pub fn belongs(spec: &PodSpec, node: &Node) -> (bool, bool) {
    if !suits(spec, node) {
        return (false, false);
    }
    let is_kept_off = |effects: &[&str]| {
        node.spec.taints.iter().any(|taint| {
            effects.contains(&taint.effect.as_str())
                && !spec.tolerations.iter().any(|it| it.tolerates(&taint.key, &taint.value, &taint.effect))
        })
    };
    (!is_kept_off(&["NoSchedule", "NoExecute"]), !is_kept_off(&["NoExecute"]))
}

/// A node's pods as an update sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnNode<T> {
    /// The pod of the present template, and whether it is available.
    pub new: Option<(T, bool)>,
    pub old: Option<(T, bool)>,
    /// Two of a kind, which are sorted out before any update.
    pub is_muddled: bool,
}

/// The old pods that may go now, so that no more than so many nodes are without (`rollingUpdate` without surge).
pub fn replace<T: Copy>(nodes: &[OnNode<T>], max_unavailable: i32) -> Vec<T> {
    let mut unavailable = 0;
    let (mut allowed, mut candidates) = (Vec::new(), Vec::new());
    for node in nodes {
        match (node.is_muddled, node.new, node.old) {
            (true, ..) | (_, None, None) | (_, Some(_), Some(_)) => unavailable += 1,
            (_, Some((_, is_available)), None) => unavailable += i32::from(!is_available),
            (_, None, Some((pod, false))) => {
                allowed.push(pod);
                unavailable += 1;
            }
            (_, None, Some((pod, true))) => candidates.push(pod),
        }
    }
    let room = usize::try_from(max_unavailable - unavailable).unwrap_or(0);
    allowed.extend(candidates.into_iter().take(room));
    allowed
}

/// With surge: the old pods that can go since the new ones beside them are available, and the places in the list of
/// the nodes that get a new pod beside the old one.
pub fn surge<T: Copy>(nodes: &[OnNode<T>], max_surge: i32) -> (Vec<T>, Vec<usize>) {
    let mut surging = 0;
    let (mut gone, mut allowed, mut candidates) = (Vec::new(), Vec::new(), Vec::new());
    for (index, node) in nodes.iter().enumerate() {
        match (node.is_muddled, node.new, node.old) {
            (true, ..) => surging += 1,
            (_, _, None) => {}
            (_, None, Some((_, false))) => allowed.push(index),
            (_, None, Some((_, true))) => candidates.push(index),
            (_, Some((_, false)), Some(_)) => surging += 1,
            (_, Some((_, true)), Some((old, _))) => gone.push(old),
        }
    }
    let room = usize::try_from(max_surge - surging).unwrap_or(0);
    allowed.extend(candidates.into_iter().take(room));
    (gone, allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ObjectMeta, Taint};

    fn node(name: &str) -> Node {
        Node { metadata: ObjectMeta { name: name.into(), ..ObjectMeta::default() }, ..Node::default() }
    }

    fn old(pod: u32, is_available: bool) -> OnNode<u32> {
        OnNode { old: Some((pod, is_available)), ..OnNode::default() }
    }

    fn new(pod: u32, is_available: bool) -> OnNode<u32> {
        OnNode { new: Some((pod, is_available)), ..OnNode::default() }
    }

    #[test]
    fn one_node_at_a_time_is_without_a_pod() {
        assert_eq!(replace(&[old(1, true), old(2, true), old(3, true)], 1), [1]);
        assert!(replace(&[new(1, false), old(2, true), old(3, true)], 1).is_empty());
        assert_eq!(replace(&[new(1, true), old(2, true), old(3, true)], 2), [2, 3]);
        assert_eq!(replace(&[old(1, true), old(2, false)], 1), [2], "a broken one counts and goes first");
    }

    #[test]
    fn with_surge_the_new_pod_comes_before_the_old_one_goes() {
        assert_eq!(surge(&[old(1, true), old(2, true)], 1), (vec![], vec![0]));
        let both = |is_available| OnNode { new: Some((9, is_available)), ..old(1, true) };
        assert_eq!(surge(&[both(false), old(2, true)], 1), (vec![], vec![]));
        assert_eq!(surge(&[both(true), old(2, true)], 1), (vec![1], vec![1]));
    }

    #[test]
    fn a_cordoned_node_keeps_and_gets_its_pod_and_a_tainted_one_does_not() {
        let mut spec = PodSpec::default();
        tolerate(&mut spec);
        let mut it = node("a");
        let taint = |key: &str, effect: &str| Taint { key: key.into(), effect: effect.into(), ..Taint::default() };
        it.spec.taints = vec![taint("node.kubernetes.io/unschedulable", "NoSchedule")];
        assert_eq!(belongs(&spec, &it), (true, true));
        it.spec.taints = vec![taint("mine", "NoSchedule")];
        assert_eq!(belongs(&spec, &it), (false, true));
        it.spec.taints = vec![taint("mine", "NoExecute")];
        assert_eq!(belongs(&spec, &it), (false, false));
    }

    #[test]
    fn a_pod_is_tied_to_its_node_by_name() {
        let mut pod = Pod::default();
        pin(Rc::make_mut(&mut pod.spec), &"b".into());
        assert_eq!(target(&pod), Some("b"));
        assert_eq!(belongs(&pod.spec, &node("a")), (false, false));
        assert_eq!(belongs(&pod.spec, &node("b")), (true, true));
    }
}
