//! Which node: filters, then scores, then a draw among equals.
//!
//! Mirrors `schedulePod`, `findNodesThatPassFilters` and `selectHost` of `pkg/scheduler/schedule_one.go`, v1.36.

use super::query::Query;
use super::reasons::{FINAL, PINNED, Reasons, none_available, tell};
use super::score::{BEST, balanced_allocation_score, least_allocated_score, normalize, stretch};
use super::snapshot::{Slot, Snapshot};
use super::{company, nodes, spread};
use crate::api::{Name, Pod};
use crate::apiserver::{Objects, Usage};

/// The measures, in words and with their weights.
const MEASURES: [(&str, i32); 6] =
    [("free room", 1), ("even use", 1), ("taints", 3), ("node affinity", 2), ("spread", 2), ("pods around", 2)];

type Points = [i32; MEASURES.len()];

/// What one choice fills and the next fills anew: of hundreds of nodes these lists are long, and need not be made each
/// time.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk {
    /// The nodes that fit.
    feasible: Vec<usize>,
    /// Their points by free room and by even use.
    own: Vec<[i32; 2]>,
    spread: Vec<i64>,
    totals: Vec<i32>,
}

/// The outcome for one pod.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    pub chosen: Option<(Name, i32)>,
    pub runner_up: Option<(Name, i32)>,
    /// By which measure the chosen node is ahead of the next most.
    pub chiefly: &'static str,
    pub fitting: usize,
    /// Nodes that were looked at: not all, where enough fit.
    pub seen: usize,
    pub total: usize,
    /// What each refused node was refused for, in the order of the nodes.
    pub(super) refused: Vec<(usize, Reasons)>,
    /// Nodes that the pod's own list of nodes leaves out.
    pub(super) absent: usize,
    pub(super) other: Vec<(String, i64)>,
}

impl Placement {
    /// `1 node(s) had untolerated taint(s), 3 Insufficient cpu`
    pub fn reasons(&self) -> String {
        let mut all: Vec<Reasons> = self.refused.iter().map(|(_, reasons)| *reasons).collect();
        all.extend(std::iter::repeat_n(PINNED | FINAL, self.absent));
        tell(&all, &self.other)
    }

    /// All that any node was refused for.
    pub(super) fn why(&self) -> Reasons {
        let absent = if self.absent > 0 { PINNED } else { 0 };
        self.refused.iter().fold(absent, |all, (_, reasons)| all | reasons) & !FINAL
    }

    /// The first part of the FailedScheduling text.
    pub fn message(&self) -> String {
        if self.total == 0 {
            return "no nodes available to schedule pods".into();
        }
        none_available(self.total, &self.reasons())
    }
}

/// How many nodes that fit are enough (`numFeasibleNodesToFind`): all of fewer than a hundred, then a share that falls
/// from 50 % by one for each 125 nodes, and never fewer than a hundred.
pub fn enough_nodes(total: usize) -> usize {
    const LEAST: usize = 100;
    if total < LEAST {
        return total;
    }
    let percent = 50_usize.saturating_sub(total / 125).max(5);
    (total * percent / 100).max(LEAST)
}

/// A number for each pod and draw, the same in every run (the mixing step of SplitMix64).
pub(super) fn draw(pod: &Pod, number: usize) -> u64 {
    let uid = pod.metadata.uid.0;
    let seed = (uid >> 64) as u64 ^ uid as u64;
    let mixed = seed.wrapping_add((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Chooses a node. `start` is where the search begins, and moves on by the nodes looked at.
pub(super) fn place(snapshot: &mut Snapshot, cache: &Objects, query: &Query<'_>, start: &mut usize) -> Placement {
    let total = snapshot.slots.len();
    let mut placement = Placement { total, other: query.other.clone(), ..Placement::default() };
    let mut desk = std::mem::take(&mut snapshot.desk);
    desk.feasible.clear();
    desk.own.clear();
    let is_plain = query.is_plain();
    snapshot.regard(&query.pod.spec);
    let nominated = match query.pod.status.nominated_node_name.as_str() {
        "" => None,
        _ => snapshot.find(&query.pod.status.nominated_node_name),
    };
    let is_nominated = nominated.filter(|at| query.filter(snapshot, *at, None) == 0);
    let named: Option<Vec<usize>> =
        query.pinned.as_ref().map(|names| names.iter().filter_map(|name| snapshot.find(name)).collect());
    let consider = |snapshot: &mut Snapshot, at: usize, placement: &mut Placement, desk: &mut Desk| {
        let reasons = query.filter(snapshot, at, None);
        let points = match snapshot.slots.get(at) {
            Some(slot) if reasons == 0 => resource_points(slot, query.asks).map(|points| points as i32),
            _ => [0; 2],
        };
        if is_plain {
            snapshot.remember(at, reasons, points);
        }
        desk.take(at, reasons, points, placement);
    };
    if let Some(at) = is_nominated {
        consider(snapshot, at, &mut placement, &mut desk);
    } else if let Some(named) = named {
        placement.absent = total - named.len();
        named.into_iter().for_each(|at| consider(snapshot, at, &mut placement, &mut desk));
    } else if total > 0 {
        let enough = enough_nodes(total);
        let first = *start % total;
        for range in [first..total, 0..first] {
            let mut at = range.start;
            while at < range.end && desk.feasible.len() < enough {
                if is_plain {
                    let known = snapshot.known(at..range.end);
                    let before = placement.seen;
                    desk.take_known(known, at, enough, &mut placement);
                    at += placement.seen - before;
                    if at == range.end || desk.feasible.len() == enough {
                        break;
                    }
                }
                consider(snapshot, at, &mut placement, &mut desk);
                at += 1;
            }
        }
        *start = (first + placement.seen) % total;
    }
    placement.fitting = desk.feasible.len();
    let others = score(snapshot, cache, query, &mut desk);
    choose(snapshot, query.pod, &mut desk, &others, &mut placement);
    snapshot.desk = desk;
    placement
}

/// The points by the measures that compare nodes.
type Columns = [Column; MEASURES.len() - 2];

/// Points by one measure.
enum Column {
    /// Every node has the same.
    Same(i32),
    Each(Vec<i64>),
    /// Those by spread lie on the desk.
    Spread,
}

impl From<Option<Vec<i64>>> for Column {
    fn from(values: Option<Vec<i64>>) -> Self {
        values.map_or(Column::Same(0), Column::Each)
    }
}

impl Desk {
    /// Puts a node with those that fit or with those that do not.
    fn take(&mut self, at: usize, reasons: Reasons, points: [i32; 2], placement: &mut Placement) {
        placement.seen += 1;
        match reasons {
            0 => {
                self.feasible.push(at);
                self.own.push(points);
            }
            reasons => placement.refused.push((at, reasons)),
        }
    }

    /// Takes the nodes from one on, up to the first of which nothing is known or until enough fit.
    fn take_known<'a>(
        &mut self,
        known: impl Iterator<Item = (Reasons, &'a [i32; 2])>,
        first: usize,
        enough: usize,
        placement: &mut Placement,
    ) {
        for (at, (reasons, points)) in (first..).zip(known) {
            self.take(at, reasons, *points, placement);
            if self.feasible.len() == enough {
                break;
            }
        }
    }

    fn points(&self, others: &Columns, at: usize) -> Points {
        let mut points = Points::default();
        points[..2].copy_from_slice(&self.own.get(at).copied().unwrap_or_default());
        for (place, column) in points[2..].iter_mut().zip(others) {
            let each = |values: &[i64]| values.get(at).copied().unwrap_or(0) as i32;
            *place = match column {
                Column::Same(value) => *value,
                Column::Each(values) => each(values),
                Column::Spread => each(&self.spread),
            };
        }
        points
    }

    /// Sums up each node's points by all measures together, with their weights.
    fn add_up(&mut self, others: &Columns) {
        let [(_, free), (_, even), weights @ ..] = MEASURES;
        let all = others.iter().zip(weights);
        let same = all.clone().map(|(column, (_, weight))| if let Column::Same(it) = column { it * weight } else { 0 });
        let same: i32 = same.sum();
        let totals = &mut self.totals;
        totals.clear();
        totals.extend(self.own.iter().map(|own| own[0] * free + own[1] * even + same));
        for (column, (_, weight)) in all {
            let values = match column {
                Column::Same(_) => continue,
                Column::Each(values) => values,
                Column::Spread => &self.spread,
            };
            totals.iter_mut().zip(values).for_each(|(total, value)| *total += *value as i32 * weight);
        }
    }
}

/// Each node's points by each measure, 0 to 100.
fn score(snapshot: &mut Snapshot, cache: &Objects, query: &Query<'_>, desk: &mut Desk) -> Columns {
    let feasible = &desk.feasible;
    if feasible.len() < 2 {
        desk.own.fill([0; 2]);
        return [const { Column::Same(0) }; 4];
    }
    let taints = match snapshot.has_taints() {
        true => Column::Each(taint_scores(snapshot, query.pod, feasible)),
        false => Column::Same(BEST as i32),
    };
    let affinity = node_affinity_scores(snapshot, query.pod, feasible);
    let spread = match spread::raw_scores(snapshot, cache, query.pod, feasible, &mut desk.spread) {
        true => Column::Spread,
        false => Column::Same(0),
    };
    spread::normalize(&mut desk.spread);
    let mut company = company::raw_scores(snapshot, cache, query.pod, feasible);
    if let Some(values) = &mut company {
        stretch(values);
    }
    [taints, affinity.into(), spread, company.into()]
}

/// The points of a node by itself: for free room and for even use.
fn resource_points(slot: &Slot, asks: Usage) -> [i64; 2] {
    let asks_nothing = asks.cpu_milli == 0 && asks.memory_bytes == 0;
    let (usage, room) = (slot.usage, [slot.room.cpu_milli, slot.room.memory_bytes]);
    let requested =
        [usage.cpu_milli_nonzero + asks.cpu_milli_nonzero, usage.memory_bytes_nonzero + asks.memory_bytes_nonzero];
    let used = [usage.cpu_milli, usage.memory_bytes];
    let even =
        if asks_nothing { 0 } else { balanced_allocation_score(used, [asks.cpu_milli, asks.memory_bytes], room) };
    [least_allocated_score(requested, room), even]
}

/// Fewer taints of effect PreferNoSchedule that the pod does not tolerate are better.
fn taint_scores(snapshot: &Snapshot, pod: &Pod, feasible: &[usize]) -> Vec<i64> {
    const EFFECT: &str = "PreferNoSchedule";
    let tolerated = |taint: &crate::api::Taint| {
        let mut all = pod.spec.tolerations.iter();
        all.any(|it| it.tolerates(&taint.key, &taint.value, &taint.effect))
    };
    let count = |at: &usize| {
        let tainted = snapshot.slots.get(*at).filter(|slot| slot.has_taints);
        let taints = tainted.map_or(&[][..], |slot| &slot.node.spec.taints);
        taints.iter().filter(|taint| taint.effect == EFFECT && !tolerated(taint)).count() as i64
    };
    let mut counts: Vec<i64> = feasible.iter().map(count).collect();
    normalize(&mut counts, true);
    counts
}

/// More weight of preferred node affinity terms is better.
fn node_affinity_scores(snapshot: &Snapshot, pod: &Pod, feasible: &[usize]) -> Option<Vec<i64>> {
    let terms = &pod.spec.affinity.as_ref()?.node_affinity.as_ref()?.preferred;
    if terms.is_empty() {
        return None;
    }
    let sum = |at: &usize| {
        let node = snapshot.slots.get(*at).map(|slot| &*slot.node);
        let held = terms.iter().filter(|it| node.is_some_and(|node| nodes::term_holds(&it.preference, node)));
        held.map(|it| i64::from(it.weight)).sum()
    };
    let mut sums: Vec<i64> = feasible.iter().map(sum).collect();
    normalize(&mut sums, false);
    Some(sums)
}

/// The node with the most points, one of the best by lot, and the next.
fn choose(snapshot: &Snapshot, pod: &Pod, desk: &mut Desk, others: &Columns, placement: &mut Placement) {
    desk.add_up(others);
    const NONE: (i32, usize) = (i32::MIN, 0);
    let (mut best, mut second, mut equals) = (NONE, NONE, 0);
    for (at, total) in desk.totals.iter().copied().enumerate() {
        let is_better = if total == best.0 {
            equals += 1;
            draw(pod, at).is_multiple_of(equals)
        } else {
            total > best.0
        };
        if total > best.0 {
            equals = 1;
        }
        let loser = if is_better { std::mem::replace(&mut best, (total, at)) } else { (total, at) };
        if loser.0 > second.0 {
            second = loser;
        }
    }
    let [best, second] = [best, second].map(|found| Some(found).filter(|found| *found != NONE));
    let named = |found: Option<(i32, usize)>| {
        let (total, at) = found?;
        Some((snapshot.slots.get(*desk.feasible.get(at)?)?.node.metadata.name.clone(), total))
    };
    (placement.chosen, placement.runner_up) = (named(best), named(second));
    if let (Some((most, first)), Some((less, next))) = (best, second)
        && most > less
    {
        let (first, next) = (desk.points(others, first), desk.points(others, next));
        let ahead = |measure: usize| {
            let points = |all: &Points| all.get(measure).copied().unwrap_or(0);
            MEASURES.get(measure).map_or(0, |(_, weight)| (points(&first) - points(&next)) * weight)
        };
        let most = (0..MEASURES.len()).rev().max_by_key(|measure| ahead(*measure));
        placement.chiefly = most.and_then(|measure| MEASURES.get(measure)).map_or("", |(words, _)| words);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cluster, labelled, pod, put};
    use super::*;
    use crate::api::Uid;

    fn placed(cache: &Objects, pod: &Pod, start: &mut usize) -> Placement {
        let mut snapshot = Snapshot::default();
        snapshot.refresh(cache);
        let query = Query::new(&mut snapshot, cache, pod, Vec::new());
        place(&mut snapshot, cache, &query, start)
    }

    /// The figures of `numFeasibleNodesToFind`'s own comment and tests, v1.36.
    #[test]
    fn of_many_nodes_a_share_is_enough() {
        let found = [10, 99, 100, 500, 1000, 5000, 6000].map(enough_nodes);
        assert_eq!(found, [10, 99, 100, 230, 420, 500, 300]);
    }

    #[test]
    fn the_search_goes_on_where_it_ended() {
        let cache = cluster(300, |_, _| {});
        let mut start = 0;
        let placement = placed(&cache, &pod("p", "100m"), &mut start);
        assert_eq!((placement.fitting, placement.seen, start), (144, 144, 144));
        placed(&cache, &pod("p", "100m"), &mut start);
        placed(&cache, &pod("p", "100m"), &mut start);
        assert_eq!(start, 132);
    }

    #[test]
    fn equals_are_drawn_evenly() {
        let cache = cluster(4, |_, _| {});
        let mut counts = std::collections::BTreeMap::new();
        for uid in 0..400_u128 {
            let mut pod = pod("p", "100m");
            pod.metadata.uid = Uid(uid * 0x9e37_79b9_7f4a_7c15);
            let placement = placed(&cache, &pod, &mut 0);
            *counts.entry(placement.chosen.map(|(node, _)| node.to_string())).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 4, "{counts:?}");
        assert!(counts.values().all(|count| (60..=140).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_node_with_more_room_is_chosen_and_the_reason_told() {
        let mut cache = cluster(2, |_, _| {});
        put(&mut cache, "a", 0, ("app", "x"));
        super::super::testing::put_pod(&mut cache, labelled(pod("b", "3"), "app", "y"), 0);
        let placement = placed(&cache, &pod("p", "500m"), &mut 0);
        assert_eq!(placement.chosen.map(|(node, _)| node.to_string()), Some("n1".into()));
        assert_eq!((placement.fitting, placement.chiefly), (2, "free room"));
        let placement = placed(&cache, &pod("p", "2"), &mut 0);
        assert_eq!((placement.fitting, placement.reasons()), (1, "1 Insufficient cpu".into()));
    }

    /// Recording `x7_daemonset`.
    #[test]
    fn a_pod_that_names_its_node_is_held_to_it() {
        let cache = cluster(4, |_, _| {});
        let mut wanted = pod("p", "8");
        let requirement = crate::api::LabelSelectorRequirement {
            key: "metadata.name".into(),
            operator: "In".into(),
            values: vec!["n2".into()],
        };
        let term = crate::api::NodeSelectorTerm { match_fields: vec![requirement], ..Default::default() };
        let required = Some(crate::api::NodeSelector { node_selector_terms: vec![term] });
        let affinity = crate::api::NodeAffinity { required, ..Default::default() };
        let affinity = crate::api::Affinity { node_affinity: Some(affinity), ..Default::default() };
        std::rc::Rc::make_mut(&mut wanted.spec).affinity = Some(affinity.into());
        let placement = placed(&cache, &wanted, &mut 0);
        assert_eq!(
            placement.message(),
            "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        );
    }

    #[test]
    fn what_a_node_has_of_other_resources_counts_as_well() {
        let cache = cluster(1, |_, _| {});
        let mut wanted = pod("p", "1");
        let spec = std::rc::Rc::make_mut(&mut wanted.spec);
        spec.containers[0].resources.requests.insert("nvidia.com/gpu".into(), "1".parse().unwrap());
        let placement = placed(&cache, &wanted, &mut 0);
        assert_eq!(placement.message(), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
    }
}
