use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Condition, Extra, MicroTime, ObjectMeta, Pod, Quantity, Timestamp, condition, is_default};

/// `v1` Node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    pub metadata: ObjectMeta,
    pub spec: NodeSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: NodeStatus,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub taints: Vec<Taint>,
    #[serde(skip_serializing_if = "is_default")]
    pub unschedulable: bool,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    pub key: String,
    #[serde(skip_serializing_if = "is_default")]
    pub time_added: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_default")]
    pub value: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub allocatable: BTreeMap<String, Quantity>,
    #[serde(skip_serializing_if = "is_default")]
    pub capacity: BTreeMap<String, Quantity>,
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Vec<Condition>,
    #[serde(flatten)]
    pub extra: Extra,
}

impl Node {
    /// `True`, `False` or `Unknown`.
    pub fn readiness(&self) -> &str {
        condition(&self.status.conditions, "Ready").map_or("Unknown", |ready| ready.status.as_str())
    }

    pub fn allocatable(&self, resource: &str) -> Quantity {
        self.status.allocatable.get(resource).copied().unwrap_or_default()
    }

    pub fn has_taint(&self, key: &str, effect: &str) -> bool {
        self.spec.taints.iter().any(|taint| taint.key == key && taint.effect == effect)
    }

    /// The first taint of one of the effects that the pod does not tolerate.
    pub fn untolerated<'a>(&'a self, pod: &Pod, effects: &[&str]) -> Option<&'a Taint> {
        self.spec.taints.iter().find(|taint| {
            effects.contains(&taint.effect.as_str())
                && !pod.spec.tolerations.iter().any(|it| it.tolerates(&taint.key, &taint.value, &taint.effect))
        })
    }
}

/// `coordination.k8s.io/v1` Lease: a kubelet's heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lease {
    pub metadata: ObjectMeta,
    pub spec: LeaseSpec,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaseSpec {
    pub holder_identity: String,
    pub lease_duration_seconds: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub renew_time: Option<MicroTime>,
    #[serde(flatten)]
    pub extra: Extra,
}
