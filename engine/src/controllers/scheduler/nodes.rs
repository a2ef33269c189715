//! Node selectors and node affinity (`component-helpers/scheduling/corev1/nodeaffinity`, v1.36).

use crate::api::{LabelSelectorRequirement, Name, Node, NodeSelectorTerm, Pod};
use crate::sim::sort_by;

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn holds(requirement: &LabelSelectorRequirement, value: Option<&str>) -> bool {
    let values = &requirement.values;
    let is_listed = |value: &str| values.iter().any(|it| it == value);
    let compare = |is_right: fn(&i64, &i64) -> bool| {
        let limit = values.first().and_then(|it| number(it));
        value.and_then(number).zip(limit).is_some_and(|(value, limit)| is_right(&value, &limit))
    };
    match requirement.operator.as_str() {
        "In" => value.is_some_and(is_listed),
        "NotIn" => !value.is_some_and(is_listed),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(i64::gt),
        "Lt" => compare(i64::lt),
        _ => false,
    }
}

/// Whether a node meets all of a term; an empty term is met by none.
pub(super) fn term_holds(term: &NodeSelectorTerm, node: &Node) -> bool {
    let label = |key: &String| node.metadata.labels.get(key).map(String::as_str);
    let field = |key: &String| (key == "metadata.name").then_some(&*node.metadata.name);
    !(term.match_expressions.is_empty() && term.match_fields.is_empty())
        && term.match_expressions.iter().all(|it| holds(it, label(&it.key)))
        && term.match_fields.iter().all(|it| holds(it, field(&it.key)))
}

/// Whether a pod asks for anything of a node's labels.
pub(super) fn selects(pod: &Pod) -> bool {
    let required = pod.spec.affinity.as_ref().and_then(|it| it.node_affinity.as_ref()?.required.as_ref());
    !pod.spec.node_selector.is_empty() || required.is_some()
}

/// Whether a node is one of those that a pod asks for.
pub(super) fn is_wanted(pod: &Pod, node: &Node) -> bool {
    let required = pod.spec.affinity.as_ref().and_then(|it| it.node_affinity.as_ref()?.required.as_ref());
    pod.spec.node_selector.iter().all(|(key, value)| node.metadata.labels.get(key) == Some(value))
        && required.is_none_or(|it| it.node_selector_terms.iter().any(|term| term_holds(term, node)))
}

/// The nodes that every term names, as a DaemonSet's pods do; nothing where a term leaves the name open.
pub(super) fn pinned(pod: &Pod) -> Option<Vec<Name>> {
    let required = pod.spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
    let mut names: Vec<Name> = Vec::new();
    for term in &required.node_selector_terms {
        let mut fields = term.match_fields.iter().filter(|it| it.key == "metadata.name" && it.operator == "In");
        let first = fields.next()?;
        let rest: Vec<_> = fields.collect();
        let all = first.values.iter().filter(|name| rest.iter().all(|it| it.values.contains(name)));
        names.extend(all.map(|name| Name::from(name.as_str())));
    }
    sort_by(&mut names, Ord::cmp);
    names.dedup();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Node {
        let mut node = Node::default();
        node.metadata.name = "a".into();
        node.metadata.labels = [("disk", "ssd"), ("cores", "8")].map(|(k, v)| (k.into(), v.into())).into();
        node
    }

    fn requirement(key: &str, operator: &str, values: &[&str]) -> LabelSelectorRequirement {
        let values = values.iter().map(|it| (*it).to_string()).collect();
        LabelSelectorRequirement { key: key.into(), operator: operator.into(), values }
    }

    #[test]
    fn every_operator_is_known() {
        for (key, operator, values, expected) in [
            ("disk", "In", &["hdd", "ssd"][..], true),
            ("disk", "In", &["hdd"], false),
            ("disk", "NotIn", &["ssd"], false),
            ("gone", "NotIn", &["ssd"], true),
            ("gone", "In", &["ssd"], false),
            ("disk", "Exists", &[], true),
            ("gone", "Exists", &[], false),
            ("gone", "DoesNotExist", &[], true),
            ("cores", "Gt", &["7"], true),
            ("cores", "Gt", &["8"], false),
            ("cores", "Lt", &["9"], true),
            ("disk", "Lt", &["9"], false),
        ] {
            let term = NodeSelectorTerm {
                match_expressions: vec![requirement(key, operator, values)],
                ..NodeSelectorTerm::default()
            };
            assert_eq!(term_holds(&term, &node()), expected, "{key} {operator} {values:?}");
        }
        assert!(!term_holds(&NodeSelectorTerm::default(), &node()), "an empty term is met by no node");
    }

    #[test]
    fn a_term_may_name_the_node() {
        let term = |operator: &str, name: &str| NodeSelectorTerm {
            match_fields: vec![requirement("metadata.name", operator, &[name])],
            ..NodeSelectorTerm::default()
        };
        assert!(term_holds(&term("In", "a"), &node()));
        assert!(!term_holds(&term("In", "b"), &node()));
        assert!(term_holds(&term("NotIn", "b"), &node()));
    }
}
