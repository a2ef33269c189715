use super::{Condition, Dict, Extra, MicroTime, ObjectMeta, Pod, Quantity, Timestamp, condition, record};

/// `v1` Node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub metadata: ObjectMeta,
    pub spec: NodeSpec,
    pub status: NodeStatus,
    pub extra: Extra,
}

record!(Node { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeSpec {
    pub taints: Vec<Taint>,
    pub unschedulable: bool,
    pub extra: Extra,
}

record!(NodeSpec { taints "taints", unschedulable "unschedulable" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taint {
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
    pub key: String,
    pub time_added: Option<Timestamp>,
    pub value: String,
}

record!(Taint { effect "effect" always, key "key" always, time_added "timeAdded", value "value" });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeStatus {
    pub allocatable: Dict<Quantity>,
    pub capacity: Dict<Quantity>,
    pub conditions: Vec<Condition>,
    pub extra: Extra,
}

record!(NodeStatus { allocatable "allocatable", capacity "capacity", conditions "conditions" } extra extra);

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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lease {
    pub metadata: ObjectMeta,
    pub spec: LeaseSpec,
    pub extra: Extra,
}

record!(Lease { metadata "metadata" always, spec "spec" always } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaseSpec {
    pub holder_identity: String,
    pub lease_duration_seconds: i32,
    pub renew_time: Option<MicroTime>,
    pub extra: Extra,
}

record!(LeaseSpec {
    holder_identity "holderIdentity" always,
    lease_duration_seconds "leaseDurationSeconds" always,
    renew_time "renewTime",
} extra extra);
