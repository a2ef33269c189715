//! Which pods go first when there are too many.
//!
//! Mirrors `ActivePodsWithRanks` in `pkg/controller/controller_utils.go`, v1.36.

use std::cmp::Reverse;
use std::ops::Range;
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
            phase: phase_of(pod),
            is_ready: ready.is_some(),
            deletion_cost: deletion_cost(pod),
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

fn phase_of(pod: &Pod) -> u8 {
    match pod.status.phase.as_str() {
        "" | "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    }
}

fn deletion_cost(pod: &Pod) -> i32 {
    pod.metadata.annotations.get(DELETION_COST).and_then(|text| text.parse().ok()).unwrap_or(0)
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

/// What decides before anything else, and is a strict order: in it the pods of [`RankedPod::goes_before`] come as well.
type Rough = (bool, u8, bool, i32, Reverse<usize>);

impl RankedPod {
    fn rough(pod: &Pod, neighbours: usize) -> Rough {
        (pod.is_assigned(), phase_of(pod), pod.is_ready(), deletion_cost(pod), Reverse(neighbours))
    }
}

/// Numbers of pods, and what a merge sort of all would do with them.
struct Order<'a> {
    before: &'a dyn Fn(u32, u32) -> bool,
    /// More are not asked for.
    count: usize,
}

impl Order<'_> {
    /// Puts the first `count` in their places as a merge sort of all in a range of numbers would, by a relation that
    /// need not be a strict order, which the standard library's sorts may refuse. `items` are some of the numbers, in
    /// their order; those left out come after them.
    ///
    /// Of each half no more than `count` can come among the first `count` of both.
    fn sort(&self, range: Range<usize>, items: &mut [u32], spare: &mut [u32]) {
        if items.len() < 2 {
            return;
        }
        let half = range.start + range.len() / 2;
        let split = items.partition_point(|item| (*item as usize) < half);
        self.sort(range.start..half, &mut items[..split], &mut spare[..split]);
        self.sort(half..range.end, &mut items[split..], &mut spare[split..]);
        let (lefts, rights) = (split.min(self.count), (items.len() - split).min(self.count));
        spare[..lefts].copy_from_slice(&items[..lefts]);
        spare[split..split + rights].copy_from_slice(&items[split..split + rights]);
        let (mut left, mut right) = (0, split);
        for item in items.iter_mut().take(self.count) {
            let takes_right = left == lefts || (right < split + rights && (self.before)(spare[right], spare[left]));
            let from = if takes_right { &mut right } else { &mut left };
            *item = spare[*from];
            *from += 1;
        }
    }
}

/// Pods counted by node. Pods of a node mostly share its name, which need not be read then.
struct Crowds<'a> {
    counts: Map<&'a Name, usize>,
    slots: Vec<(usize, u32)>,
}

impl<'a> Crowds<'a> {
    const SEEN: usize = 1 << 11;

    fn of(pods: impl Iterator<Item = &'a Rc<Pod>>) -> Self {
        let mut crowds = Self { counts: Map::default(), slots: vec![(0, 0); Self::SEEN] };
        for pod in pods {
            let slot = crowds.slot(&pod.spec.node_name);
            if let Some(count) = crowds.counts.at_mut(slot) {
                *count += 1;
            }
        }
        crowds
    }

    fn slot(&mut self, node: &'a Name) -> u32 {
        let address = node.address();
        let seen = (address >> 4) % Self::SEEN;
        match self.slots.get(seen) {
            Some((known, slot)) if *known == address => *slot,
            _ => {
                let slot = self.counts.slot(node).unwrap_or_else(|| self.counts.add_at(node, 0));
                self.slots[seen] = (address, slot);
                slot
            }
        }
    }

    fn count(&mut self, node: &'a Name) -> usize {
        let slot = self.slot(node);
        self.counts.at(slot).copied().unwrap_or(0)
    }
}

/// The pods that go, in the order in which they go. Crowding is counted once, before the first one goes.
pub fn pods_to_delete(active: &[Rc<Pod>], related: &[Rc<Pod>], count: usize, now_millis: i64) -> Vec<Rc<Pod>> {
    first_to_go(&active.iter().collect::<Vec<_>>(), related.iter(), count, now_millis)
}

/// As [`pods_to_delete`]. Only those of which any may be among the first are compared with each other.
pub(super) fn first_to_go<'a>(
    active: &[&'a Rc<Pod>],
    related: impl Iterator<Item = &'a Rc<Pod>>,
    count: usize,
    now_millis: i64,
) -> Vec<Rc<Pod>> {
    if count >= active.len() || count == 0 {
        return active.iter().take(count).copied().cloned().collect();
    }
    let mut crowds = Crowds::of(related.filter(|pod| pod.is_active()));
    let rough: Vec<Rough> = active.iter().map(|pod| RankedPod::rough(pod, crowds.count(&pod.spec.node_name))).collect();
    let last = *rough.clone().select_nth_unstable(count - 1).1;
    let mut order: Vec<u32> = (0..).zip(&rough).filter(|(_, rough)| **rough <= last).map(|(at, _)| at).collect();
    let ranked: Vec<RankedPod> = order
        .iter()
        .map(|at| {
            let pod = active[*at as usize];
            RankedPod::of(pod, crowds.count(&pod.spec.node_name))
        })
        .collect();
    let numbers = order.clone();
    let ranked = |at: u32| &ranked[numbers.binary_search(&at).unwrap_or_default()];
    let before = |a: u32, b: u32| ranked(a).goes_before(ranked(b), now_millis);
    let mut spare = vec![0; order.len()];
    Order { before: &before, count }.sort(0..active.len(), &mut order, &mut spare);
    order.into_iter().take(count).map(|at| Rc::clone(active[at as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Condition, ContainerStatus};
    use proptest::prelude::*;

    /// Everything in its place by the whole of the relation, as `sort.Sort` would be asked for it.
    fn plain(ranked: &[RankedPod], now_millis: i64) -> Vec<u32> {
        let before = |a: u32, b: u32| ranked[a as usize].goes_before(&ranked[b as usize], now_millis);
        let mut order: Vec<u32> = (0..).take(ranked.len()).collect();
        let mut spare = vec![0; ranked.len()];
        let whole = Order { before: &before, count: ranked.len() };
        whole.sort(0..ranked.len(), &mut order, &mut spare);
        order
    }

    fn pod(uid: u32, draw: u32) -> Rc<Pod> {
        let mut pod = Pod::default();
        pod.metadata.uid = Uid(u128::from(uid.wrapping_mul(0x9e37_79b9)));
        pod.metadata.creation_timestamp = Some(Timestamp(i64::from(draw % 3) * 400));
        Rc::make_mut(&mut pod.spec).node_name = ["", "a", "b", "c"][draw as usize / 3 % 4].into();
        let mut ready = Condition::new("Ready", (draw / 12).is_multiple_of(2));
        ready.last_transition_time = Some(Timestamp(1_000 + i64::from(draw / 24 % 5) * 100));
        pod.status.conditions.push(ready);
        pod.status.phase = if (draw / 120).is_multiple_of(4) { "Pending".into() } else { "Running".into() };
        let restart_count = (draw / 480 % 2) as i32;
        pod.status.container_statuses.push(ContainerStatus { restart_count, ..ContainerStatus::default() });
        Rc::new(pod)
    }

    proptest! {
        /// The relation is no order at all: what beats what is drawn.
        #[test]
        fn the_first_few_are_those_of_a_whole_sort(n in 0..60_u32, count in 0..70_usize, seed in any::<u64>()) {
            let mixed = |a: u32, b: u32| u64::from(a * 64 + b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let before = |a: u32, b: u32| (seed ^ mixed(a, b)).count_ones().is_multiple_of(2);
            let sorted = |count: usize| {
                let mut items: Vec<u32> = (0..n).collect();
                Order { before: &before, count }.sort(0..n as usize, &mut items, &mut vec![0; n as usize]);
                items
            };
            let (whole, part) = (sorted(n as usize), sorted(count));
            let few = count.min(n as usize);
            prop_assert_eq!(&part[..few], &whole[..few]);
        }

        #[test]
        fn a_few_of_many_are_chosen_as_if_all_were_put_in_order(
            draws in prop::collection::vec(0..960_u32, 1..80),
            count in 1..80_usize,
        ) {
            let pods: Vec<Rc<Pod>> = (0..).zip(&draws).map(|(uid, draw)| pod(uid, *draw)).collect();
            let on = |name: &Name| pods.iter().filter(|pod| pod.is_active() && pod.spec.node_name == *name).count();
            let ranked: Vec<RankedPod> = pods.iter().map(|pod| RankedPod::of(pod, on(&pod.spec.node_name))).collect();
            let wanted: Vec<Uid> = plain(&ranked, 2_000_000).iter().take(count).map(|at| pods[*at as usize].metadata.uid).collect();
            let found: Vec<Uid> = pods_to_delete(&pods, &pods, count, 2_000_000).iter().map(|pod| pod.metadata.uid).collect();
            // All of them go as they come.
            if count < pods.len() {
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
