//! Which pods go first when there are too many.
//!
//! Mirrors `ActivePodsWithRanks` in `pkg/controller/controller_utils.go`, v1.36.

use std::rc::Rc;

use crate::api::{Name, Pod, Timestamp, Uid, condition};
use crate::sim::Map;

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// What decides a pod's place.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedPod {
    pub is_assigned: bool,
    /// 0 Pending, 1 Unknown, 2 Running.
    pub phase: u8,
    pub is_ready: bool,
    pub deletion_cost: i32,
    /// Active pods of the same owner on its node.
    pub neighbours: usize,
    pub ready_since: Option<Timestamp>,
    /// Of the container that was restarted most often.
    pub restarts: i32,
    pub sidecar_restarts: i32,
    pub created: Option<Timestamp>,
    pub uid: Uid,
}

impl RankedPod {
    fn of(pod: &Pod, neighbours: usize) -> Self {
        let ready = condition(&pod.status.conditions, "Ready").filter(|ready| ready.is_true());
        Self {
            is_assigned: pod.is_assigned(),
            phase: match pod.status.phase.as_str() {
                "" | "Pending" => 0,
                "Unknown" => 1,
                _ => 2,
            },
            is_ready: ready.is_some(),
            deletion_cost: pod.metadata.annotations.get(DELETION_COST).and_then(|text| text.parse().ok()).unwrap_or(0),
            neighbours,
            ready_since: ready.and_then(|ready| ready.last_transition_time),
            restarts: pod.status.container_statuses.iter().map(|it| it.restart_count).max().unwrap_or(0),
            sidecar_restarts: sidecar_restarts(pod),
            created: pod.metadata.creation_timestamp,
            uid: pod.metadata.uid,
        }
    }

    /// Whether this pod goes before another. Ages are compared by their order of magnitude (log₂ of nanoseconds),
    /// so that no age-old order decides everything; within one, the smaller UID goes first.
    ///
    /// Not a strict order when ready and creation times disagree, exactly as in Kubernetes.
    pub fn goes_before(&self, other: &Self, now_millis: i64) -> bool {
        if self.is_assigned != other.is_assigned {
            return !self.is_assigned;
        }
        if self.phase != other.phase {
            return self.phase < other.phase;
        }
        if self.is_ready != other.is_ready {
            return !self.is_ready;
        }
        if self.deletion_cost != other.deletion_cost {
            return self.deletion_cost < other.deletion_cost;
        }
        if self.neighbours != other.neighbours {
            return self.neighbours > other.neighbours;
        }
        if self.is_ready && other.is_ready && self.ready_since != other.ready_since {
            return self.is_younger(other, self.ready_since, other.ready_since, now_millis);
        }
        if self.restarts != other.restarts {
            return self.restarts > other.restarts;
        }
        if self.sidecar_restarts != other.sidecar_restarts {
            return self.sidecar_restarts > other.sidecar_restarts;
        }
        if self.created != other.created {
            return self.is_younger(other, self.created, other.created, now_millis);
        }
        false
    }

    fn is_younger(&self, other: &Self, a: Option<Timestamp>, b: Option<Timestamp>, now_millis: i64) -> bool {
        let (Some(a), Some(b)) = (a, b) else { return a.is_none() };
        let magnitude = |since: Timestamp| {
            let nanos = i128::from(now_millis - since.millis()) * 1_000_000;
            if nanos <= 0 { -1 } else { i64::from(nanos.ilog2()) }
        };
        match magnitude(a) - magnitude(b) {
            0 => self.uid < other.uid,
            difference => difference < 0,
        }
    }
}

fn sidecar_restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.extra.get("initContainerStatuses").and_then(serde_json::Value::as_array);
    let is_sidecar = |name: &str| {
        let mut all = pod.spec.init_containers.iter();
        all.any(|it| *it.name == *name && it.extra.get("restartPolicy").is_some_and(|policy| policy == "Always"))
    };
    let restarts = statuses.into_iter().flatten().filter_map(|status| {
        is_sidecar(status.get("name")?.as_str()?).then(|| status.get("restartCount")?.as_i64()).flatten()
    });
    restarts.max().and_then(|most| most.try_into().ok()).unwrap_or(0)
}

/// Sorts by a relation that need not be a strict order, which the standard library's sorts may refuse.
fn merge_sort<T: Clone>(items: &mut Vec<T>, before: &impl Fn(&T, &T) -> bool) {
    if items.len() < 2 {
        return;
    }
    let mut right = items.split_off(items.len() / 2);
    merge_sort(items, before);
    merge_sort(&mut right, before);
    let (left, mut merged) = (std::mem::take(items), Vec::new());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let source = if before(b, a) { &mut right } else { &mut left };
        merged.extend(source.next());
    }
    merged.extend(left);
    merged.extend(right);
    *items = merged;
}

/// The pods that go, in the order in which they go. Crowding is counted once, before the first one goes.
pub fn pods_to_delete(active: &[Rc<Pod>], related: &[Rc<Pod>], count: usize, now_millis: i64) -> Vec<Rc<Pod>> {
    if count >= active.len() {
        return active.to_vec();
    }
    let mut on_node: Map<&Name, usize> = Map::default();
    for pod in related.iter().filter(|pod| pod.is_active()) {
        *on_node.or_default(&pod.spec.node_name) += 1;
    }
    let mut ranked: Vec<(RankedPod, &Rc<Pod>)> = active
        .iter()
        .map(|pod| (RankedPod::of(pod, on_node.get(&pod.spec.node_name).copied().unwrap_or(0)), pod))
        .collect();
    merge_sort(&mut ranked, &|(a, _), (b, _)| a.goes_before(b, now_millis));
    ranked.into_iter().take(count).map(|(_, pod)| Rc::clone(pod)).collect()
}
