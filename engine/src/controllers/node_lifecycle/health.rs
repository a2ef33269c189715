//! What is known of a node's heartbeats, and what follows from it, as functions of plain values.

use std::rc::Rc;

use super::{NOT_READY, UNREACHABLE, UNSCHEDULABLE};
use crate::api::{MicroTime, Node, Pod, Taint, Timestamp, condition};
use crate::sim::{Millis, Time, sort_by};

/// How long a node may stay silent (`nodeMonitorGracePeriod`, v1.36).
const GRACE: Millis = Millis(50_000);
/// From this share of silent nodes on a zone counts as disrupted (`unhealthyZoneThreshold`), in percent.
const DISRUPTED_PERCENT: usize = 55;
/// A disrupted zone of at most this many nodes evicts nothing (`largeClusterSizeThreshold`).
const SMALL_CLUSTER: usize = 50;

/// The newest heartbeat of a node, and when this controller saw it by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    renewed: Option<MicroTime>,
    heartbeat: Option<Timestamp>,
    seen_at: Time,
}

impl Health {
    pub fn new(now: Time) -> Self {
        Self { renewed: None, heartbeat: None, seen_at: now }
    }

    /// Takes in the lease and the node's status as the cache has them.
    pub fn hear(&mut self, renewed: Option<MicroTime>, node: &Node, now: Time) {
        let ready = condition(&node.status.conditions, "Ready");
        let heartbeat = ready.and_then(|ready| ready.last_heartbeat_time);
        if renewed != self.renewed || heartbeat != self.heartbeat {
            *self = Self { renewed, heartbeat, seen_at: now };
        }
    }

    pub fn silence(&self, now: Time) -> Millis {
        now.since(self.seen_at)
    }

    pub fn is_late(&self, now: Time) -> bool {
        self.silence(now) > GRACE
    }
}

/// Whether pods may be evicted at all (`ComputeZoneState`, one zone): not when all nodes are down, and not in a small
/// cluster of which most is down.
pub fn may_evict(unready: usize, total: usize) -> bool {
    let is_full = unready > 0 && unready == total;
    let is_partial = unready > 2 && unready * 100 >= total * DISRUPTED_PERCENT;
    let is_stopped = is_partial && total <= SMALL_CLUSTER;
    !is_full && !is_stopped
}

/// What is to be done about one node.
#[derive(Clone, Debug)]
pub struct NodeWork {
    pub node: Rc<Node>,
    /// It has been silent for too long: its conditions become Unknown.
    pub silent: bool,
    /// Its pods that still count as ready.
    pub pods: Vec<Rc<Pod>>,
    /// It is to get the taint that lets pods be evicted.
    pub evict: bool,
    /// The NoSchedule taints differ from what its conditions ask for.
    retaint: bool,
}

impl NodeWork {
    /// The work for a node; nothing where there is none.
    pub fn of(node: &Rc<Node>, is_late: bool, ready_pods: Vec<Rc<Pod>>) -> Option<Self> {
        let silent = is_late && node.readiness() != "Unknown";
        let readiness = if is_late { "Unknown" } else { node.readiness() };
        let is_up = readiness == "True";
        let key = taint_key(readiness);
        let evict = !is_up && key.is_some_and(|key| !node.has_taint(key, "NoExecute"));
        let pods = if is_up { Vec::new() } else { ready_pods };
        let wanted = wanted_taints(node, readiness, false, Timestamp(0));
        let work = Self { node: Rc::clone(node), silent, pods, evict, retaint: differ(&wanted, &node.spec.taints) };
        (!work.is_empty()).then_some(work)
    }

    pub fn is_empty(&self) -> bool {
        !self.silent && self.pods.is_empty() && !self.evict && !self.retaint
    }

    /// The node's taints as they should be; nothing where they already are.
    pub fn taints(&self, now: Timestamp) -> Option<Vec<Taint>> {
        let readiness = if self.silent { "Unknown" } else { self.node.readiness() };
        let wanted = wanted_taints(&self.node, readiness, self.evict, now);
        differ(&wanted, &self.node.spec.taints).then_some(wanted)
    }
}

fn taint_key(readiness: &str) -> Option<&'static str> {
    match readiness {
        "True" => None,
        "False" => Some(NOT_READY),
        _ => Some(UNREACHABLE),
    }
}

fn differ(a: &[Taint], b: &[Taint]) -> bool {
    let keys = |taints: &[Taint]| {
        let mut keys: Vec<_> = taints.iter().map(|taint| (taint.key.clone(), taint.effect.clone())).collect();
        sort_by(&mut keys, Ord::cmp);
        keys
    };
    keys(a) != keys(b)
}

/// The taints that follow from a node's readiness and cordon, with the person's own taints kept.
fn wanted_taints(node: &Node, readiness: &str, evict: bool, now: Timestamp) -> Vec<Taint> {
    let key = taint_key(readiness);
    let mut taints: Vec<Taint> = node
        .spec
        .taints
        .iter()
        .filter(|taint| match taint.key.as_str() {
            NOT_READY | UNREACHABLE => Some(taint.key.as_str()) == key,
            UNSCHEDULABLE => node.spec.unschedulable,
            _ => true,
        })
        .cloned()
        .collect();
    let mut want = |key: &str, effect: &str| {
        if !taints.iter().any(|taint| taint.key == key && taint.effect == effect) {
            taints.push(Taint { key: key.into(), effect: effect.into(), time_added: Some(now), value: String::new() });
        }
    };
    if let Some(key) = key {
        want(key, "NoSchedule");
        if evict {
            want(key, "NoExecute");
        }
    }
    if node.spec.unschedulable {
        want(UNSCHEDULABLE, "NoSchedule");
    }
    taints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_that_is_mostly_silent_evicts_nothing() {
        for (unready, total, expected) in
            [(0, 3, true), (1, 3, true), (3, 3, false), (3, 5, false), (2, 3, true), (30, 60, true), (40, 60, true)]
        {
            assert_eq!(may_evict(unready, total), expected, "{unready} of {total}");
        }
    }
}
