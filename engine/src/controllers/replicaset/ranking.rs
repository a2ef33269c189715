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
        // Go's durations end at 292 years too.
        let magnitude = |since: Timestamp| match (now_millis - since.millis()).saturating_mul(1_000_000) {
            nanos if nanos <= 0 => -1,
            nanos => i64::from(nanos.ilog2()),
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

/// Puts the first `count` in their places as a merge sort of all would, by a relation that need not be a strict order,
/// which the standard library's sorts may refuse. What is sorted are numbers of pods, which are moved more often than
/// pods should be.
///
/// Of each half no more than `count` can come among the first `count` of both.
fn merge_sort(items: &mut [u32], spare: &mut [u32], count: usize, before: &impl Fn(u32, u32) -> bool) {
    if items.len() < 2 {
        return;
    }
    let half = items.len() / 2;
    merge_sort(&mut items[..half], &mut spare[..half], count, before);
    merge_sort(&mut items[half..], &mut spare[half..], count, before);
    let (lefts, rights) = (half.min(count), (items.len() - half).min(count));
    spare[..lefts].copy_from_slice(&items[..lefts]);
    spare[half..half + rights].copy_from_slice(&items[half..half + rights]);
    let (mut left, mut right) = (0, half);
    for item in items.iter_mut().take(count) {
        let takes_right = left == lefts || (right < half + rights && before(spare[right], spare[left]));
        let from = if takes_right { &mut right } else { &mut left };
        *item = spare[*from];
        *from += 1;
    }
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
    let neighbours = |pod: &Pod| on_node.get(&pod.spec.node_name).copied().unwrap_or(0);
    let ranked: Vec<RankedPod> = active.iter().map(|pod| RankedPod::of(pod, neighbours(pod))).collect();
    let mut order: Vec<u32> = (0..).take(active.len()).collect();
    let before = |a: u32, b: u32| ranked[a as usize].goes_before(&ranked[b as usize], now_millis);
    merge_sort(&mut order, &mut vec![0; active.len()], count, &before);
    order.into_iter().take(count).map(|index| Rc::clone(&active[index as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::merge_sort;
    use proptest::prelude::*;

    proptest! {
        /// The relation is no order at all: what beats what is drawn.
        #[test]
        fn the_first_few_are_those_of_a_whole_sort(n in 0..60_u32, count in 0..70_usize, seed in any::<u64>()) {
            let before = |a: u32, b: u32| (seed ^ u64::from(a * 64 + b).wrapping_mul(0x9e37_79b9_7f4a_7c15)).count_ones() % 2 == 0;
            let sorted = |count: usize| {
                let mut items: Vec<u32> = (0..n).collect();
                merge_sort(&mut items, &mut vec![0; n as usize], count, &before);
                items
            };
            let (whole, part) = (sorted(n as usize), sorted(count));
            let few = count.min(n as usize);
            prop_assert_eq!(&part[..few], &whole[..few]);
        }
    }
}
