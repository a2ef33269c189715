//! Where a pod wants to be, and with whom (`staging/src/k8s.io/api/core/v1/types.go`, v1.36).

use super::{LabelSelector, LabelSelectorRequirement, record};

/// `spec.affinity`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affinity {
    pub node_affinity: Option<NodeAffinity>,
    pub pod_affinity: Option<PodAffinity>,
    pub pod_anti_affinity: Option<PodAffinity>,
}

record!(Affinity {
    node_affinity "nodeAffinity",
    pod_affinity "podAffinity",
    pod_anti_affinity "podAntiAffinity",
});

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeAffinity {
    pub preferred: Vec<PreferredSchedulingTerm>,
    pub required: Option<NodeSelector>,
}

record!(NodeAffinity {
    preferred "preferredDuringSchedulingIgnoredDuringExecution",
    required "requiredDuringSchedulingIgnoredDuringExecution",
});

/// Terms of which one is enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSelector {
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

record!(NodeSelector { node_selector_terms "nodeSelectorTerms" always });

/// Requirements that must all hold; a term without any holds nowhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSelectorTerm {
    /// Operators are those of label selectors, and `Gt` and `Lt`.
    pub match_expressions: Vec<LabelSelectorRequirement>,
    /// Only `metadata.name`, with `In` or `NotIn` and one value.
    pub match_fields: Vec<LabelSelectorRequirement>,
}

record!(NodeSelectorTerm { match_expressions "matchExpressions", match_fields "matchFields" });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreferredSchedulingTerm {
    pub preference: NodeSelectorTerm,
    pub weight: i32,
}

record!(PreferredSchedulingTerm { preference "preference" always, weight "weight" always });

/// `podAffinity` and `podAntiAffinity`, which have the same form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodAffinity {
    pub preferred: Vec<WeightedPodAffinityTerm>,
    pub required: Vec<PodAffinityTerm>,
}

record!(PodAffinity {
    preferred "preferredDuringSchedulingIgnoredDuringExecution",
    required "requiredDuringSchedulingIgnoredDuringExecution",
});

/// Pods, and the kind of place in which to be with them or without them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodAffinityTerm {
    /// Selects no pod where it is missing.
    pub label_selector: Option<LabelSelector>,
    pub match_label_keys: Vec<String>,
    pub mismatch_label_keys: Vec<String>,
    pub namespace_selector: Option<LabelSelector>,
    pub namespaces: Vec<String>,
    pub topology_key: String,
}

record!(PodAffinityTerm {
    label_selector "labelSelector",
    match_label_keys "matchLabelKeys",
    mismatch_label_keys "mismatchLabelKeys",
    namespace_selector "namespaceSelector",
    namespaces "namespaces",
    topology_key "topologyKey" always,
});

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightedPodAffinityTerm {
    pub pod_affinity_term: PodAffinityTerm,
    pub weight: i32,
}

record!(WeightedPodAffinityTerm { pod_affinity_term "podAffinityTerm" always, weight "weight" always });

/// `spec.topologySpreadConstraints[]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologySpreadConstraint {
    pub label_selector: Option<LabelSelector>,
    pub match_label_keys: Vec<String>,
    pub max_skew: i32,
    pub min_domains: Option<i32>,
    /// `Honor` (also when empty) or `Ignore`.
    pub node_affinity_policy: String,
    /// `Honor` or `Ignore` (also when empty).
    pub node_taints_policy: String,
    pub topology_key: String,
    /// `DoNotSchedule` or `ScheduleAnyway`.
    pub when_unsatisfiable: String,
}

record!(TopologySpreadConstraint {
    label_selector "labelSelector",
    match_label_keys "matchLabelKeys",
    max_skew "maxSkew" always,
    min_domains "minDomains",
    node_affinity_policy "nodeAffinityPolicy",
    node_taints_policy "nodeTaintsPolicy",
    topology_key "topologyKey" always,
    when_unsatisfiable "whenUnsatisfiable" always,
});
