//! Where a pod wants to be, and with whom (`staging/src/k8s.io/api/core/v1/types.go`, v1.36).

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::{LabelSelector, LabelSelectorRequirement, is_default};

/// `spec.affinity`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    #[serde(skip_serializing_if = "is_default")]
    pub node_affinity: Option<NodeAffinity>,
    #[serde(skip_serializing_if = "is_default")]
    pub pod_affinity: Option<PodAffinity>,
    #[serde(skip_serializing_if = "is_default")]
    pub pod_anti_affinity: Option<PodAffinity>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeAffinity {
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "is_default")]
    pub preferred: Vec<PreferredSchedulingTerm>,
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "is_default")]
    pub required: Option<NodeSelector>,
}

/// Terms of which one is enough.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// Requirements that must all hold; a term without any holds nowhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    /// Operators are those of label selectors, and `Gt` and `Lt`.
    #[serde(skip_serializing_if = "is_default")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
    /// Only `metadata.name`, with `In` or `NotIn` and one value.
    #[serde(skip_serializing_if = "is_default")]
    pub match_fields: Vec<LabelSelectorRequirement>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreferredSchedulingTerm {
    pub preference: NodeSelectorTerm,
    pub weight: i32,
}

/// `podAffinity` and `podAntiAffinity`, which have the same form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodAffinity {
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "is_default")]
    pub preferred: Vec<WeightedPodAffinityTerm>,
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "is_default")]
    pub required: Vec<PodAffinityTerm>,
}

/// Pods, and the kind of place in which to be with them or without them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinityTerm {
    /// Selects no pod where it is missing.
    #[serde(skip_serializing_if = "is_default")]
    pub label_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "is_default")]
    pub match_label_keys: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub mismatch_label_keys: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub namespace_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "is_default")]
    pub namespaces: Vec<String>,
    pub topology_key: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WeightedPodAffinityTerm {
    pub pod_affinity_term: PodAffinityTerm,
    pub weight: i32,
}

/// `spec.topologySpreadConstraints[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySpreadConstraint {
    #[serde(skip_serializing_if = "is_default")]
    pub label_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "is_default")]
    pub match_label_keys: Vec<String>,
    pub max_skew: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub min_domains: Option<i32>,
    /// `Honor` (also when empty) or `Ignore`.
    #[serde(skip_serializing_if = "is_default")]
    pub node_affinity_policy: String,
    /// `Honor` or `Ignore` (also when empty).
    #[serde(skip_serializing_if = "is_default")]
    pub node_taints_policy: String,
    pub topology_key: String,
    /// `DoNotSchedule` or `ScheduleAnyway`.
    pub when_unsatisfiable: String,
}

/// Serialises an optional shared value as the value itself.
pub(super) mod shared_option {
    use super::{Affinity, Rc};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &Option<Rc<Affinity>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_deref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Rc<Affinity>>, D::Error> {
        Ok(Option::<Affinity>::deserialize(deserializer)?.map(Rc::new))
    }
}
