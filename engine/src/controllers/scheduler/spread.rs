//! Spreading pods over domains: what must hold, and what is better.
//!
//! Mirrors `framework/plugins/podtopologyspread`, v1.36. The logarithm comes from `libm`, so that every platform
//! rounds alike.

use std::rc::Rc;

use super::nodes;
use super::score::BEST;
use super::snapshot::{Domains, Matcher, NOWHERE, Scope, Snapshot};
use crate::api::{Kind, LabelSelector, LabelSelectorRequirement, Name, ObjectKey, Pod, TopologySpreadConstraint};
use crate::apiserver::Objects;

const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// A constraint that must hold.
#[derive(Debug)]
pub(super) struct Hard {
    pub matcher: Matcher,
    domains: Rc<Domains>,
    counts: Vec<i32>,
    fewest: i32,
    too_few_domains: bool,
    max_skew: i32,
    counts_itself: i32,
}

/// What a node makes of a constraint that must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skew {
    Fine,
    Missing,
    TooMuch,
}

impl Hard {
    /// `removed` pods of those counted are about to leave the node.
    pub fn check(&self, node: usize, removed: i32) -> Skew {
        let domain = self.domains.at(node);
        if domain == NOWHERE {
            return Skew::Missing;
        }
        let count = self.counts.get(domain as usize).copied().unwrap_or(0).max(0) - removed;
        let fewest = if self.too_few_domains { 0 } else { self.fewest.min(count) };
        if count + self.counts_itself - fewest > self.max_skew { Skew::TooMuch } else { Skew::Fine }
    }
}

fn matcher(constraint: &TopologySpreadConstraint, pod: &Pod) -> Matcher {
    let mut selector = constraint.label_selector.clone();
    for key in &constraint.match_label_keys {
        if let (Some(selector), Some(value)) = (&mut selector, pod.metadata.labels.get(key)) {
            let values = vec![value.clone()];
            let requirement = LabelSelectorRequirement { key: key.clone(), operator: "In".into(), values };
            selector.match_expressions.push(requirement);
        }
    }
    Matcher { scope: Scope::In(vec![pod.metadata.namespace.clone()]), selector }
}

/// The nodes whose pods count for a constraint; nothing where all do.
fn counted_nodes(snapshot: &Snapshot, pod: &Pod, constraint: &TopologySpreadConstraint) -> Option<Vec<bool>> {
    let wants = constraint.node_affinity_policy != "Ignore" && nodes::selects(pod);
    let shuns = constraint.node_taints_policy == "Honor";
    (wants || shuns).then(|| {
        let counts = |slot: &super::snapshot::Slot| {
            (!wants || nodes::is_wanted(pod, &slot.node))
                && !(shuns && slot.node.untolerated(pod, &["NoSchedule", "NoExecute"]).is_some())
        };
        snapshot.slots.iter().map(counts).collect()
    })
}

/// Pods by domain, −1 where a domain has no node that counts.
fn by_domain(per_node: &[i32], domains: &Domains, nodes: Option<&[bool]>) -> Vec<i32> {
    let mut counts = vec![-1; domains.count];
    for (node, count) in per_node.iter().enumerate() {
        if nodes.is_none_or(|nodes| nodes.get(node).copied().unwrap_or(false))
            && let Some(sum) = counts.get_mut(domains.at(node) as usize)
        {
            *sum = (*sum).max(0) + count;
        }
    }
    counts
}

/// The constraints of a pod that must hold.
pub(super) fn hard(snapshot: &mut Snapshot, cache: &Objects, pod: &Pod) -> Vec<Hard> {
    let all = &pod.spec.topology_spread_constraints;
    let must: Vec<_> = all.iter().filter(|it| it.when_unsatisfiable == "DoNotSchedule").collect();
    let every: Vec<Rc<Domains>> = must.iter().map(|it| snapshot.domains(&it.topology_key)).collect();
    let mut hard = Vec::new();
    for (constraint, domains) in must.iter().zip(&every) {
        let mut nodes = counted_nodes(snapshot, pod, constraint);
        if every.len() > 1 {
            // A node counts only where it has the labels of all constraints.
            let mut counted = nodes.unwrap_or_else(|| vec![true; snapshot.slots.len()]);
            for (node, counts) in counted.iter_mut().enumerate() {
                *counts &= every.iter().all(|it| it.at(node) != NOWHERE);
            }
            nodes = Some(counted);
        }
        let matcher = matcher(constraint, pod);
        let per_node = snapshot.count(cache, vec![matcher.clone()], true);
        let counts = by_domain(&per_node, domains, nodes.as_deref());
        let present = counts.iter().filter(|count| **count >= 0);
        let n_present = i32::try_from(present.clone().count()).unwrap_or(i32::MAX);
        hard.push(Hard {
            domains: Rc::clone(domains),
            fewest: present.min().copied().unwrap_or(i32::MAX),
            too_few_domains: constraint.min_domains.is_some_and(|least| n_present < least),
            counts,
            max_skew: constraint.max_skew,
            counts_itself: i32::from(matcher.matches(&pod.metadata.namespace, &pod.metadata.labels)),
            matcher,
        });
    }
    hard
}

/// What a pod's Services and its controller select by; nothing where nothing selects it
/// (`helper.DefaultSelector`, v1.36).
fn default_selector(cache: &Objects, pod: &Pod) -> Option<LabelSelector> {
    let namespace: &Name = &pod.metadata.namespace;
    let mut selector = LabelSelector::default();
    for service in cache.in_namespace(Kind::Service, namespace).filter_map(|it| it.as_service()) {
        let by = &service.spec.selector;
        if !by.is_empty() && by.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value)) {
            selector.match_labels.extend(by.clone());
        }
    }
    if let Some(owner) = pod.metadata.controller() {
        let get = |kind| cache.get(&ObjectKey::new(kind, namespace.clone(), owner.name.clone()));
        let by = match owner.kind.as_str() {
            "ReplicaSet" => get(Kind::ReplicaSet).and_then(|it| it.as_replica_set()).map(|it| &it.spec.selector),
            "StatefulSet" => get(Kind::StatefulSet).and_then(|it| it.as_stateful_set()).map(|it| &it.spec.selector),
            _ => None,
        };
        if let Some(by) = by {
            if selector.match_labels.is_empty() {
                selector.match_labels = by.match_labels.clone();
            } else {
                selector.match_labels.extend(by.match_labels.clone());
            }
            selector.match_expressions.extend(by.match_expressions.iter().cloned());
        }
    }
    (!selector.is_empty()).then_some(selector)
}

/// The constraints of a pod that are better kept: its own, or the scheduler's where it has none at all.
fn soft_constraints(cache: &Objects, pod: &Pod) -> Vec<TopologySpreadConstraint> {
    let own = &pod.spec.topology_spread_constraints;
    if !own.is_empty() {
        return own.iter().filter(|it| it.when_unsatisfiable == "ScheduleAnyway").cloned().collect();
    }
    let Some(selector) = default_selector(cache, pod) else { return Vec::new() };
    let constraint = |(key, max_skew): (&str, i32)| TopologySpreadConstraint {
        label_selector: Some(selector.clone()),
        max_skew,
        topology_key: key.into(),
        when_unsatisfiable: "ScheduleAnyway".into(),
        ..TopologySpreadConstraint::default()
    };
    [(HOSTNAME, 3), (ZONE, 5)].map(constraint).into()
}

/// One constraint, ready to score nodes by.
struct Soft {
    domains: Rc<Domains>,
    /// Pods by node for host names, by domain otherwise.
    counts: Rc<Vec<i32>>,
    by_node: bool,
    max_skew: i32,
    weight: f64,
}

impl Soft {
    fn score(&self, node: usize) -> f64 {
        let domain = self.domains.at(node);
        if domain == NOWHERE {
            return 0.0;
        }
        let at = if self.by_node { node } else { domain as usize };
        let count = self.counts.get(at).copied().unwrap_or(0).max(0);
        f64::from(count) * self.weight + f64::from(self.max_skew - 1)
    }
}

/// How far a constraint counts: more domains, more weight.
fn weight(n_domains: usize) -> f64 {
    libm::log((n_domains + 2) as f64)
}

/// The raw score of a node that lacks a label that the pod's own constraints name.
const LACKING: i64 = i64::MIN;

/// What each of the nodes scores before all are compared: the fewer the better. Returns whether any constraint applies.
pub(super) fn raw_scores(
    snapshot: &mut Snapshot,
    cache: &Objects,
    pod: &Pod,
    feasible: &[usize],
    raw: &mut Vec<i64>,
) -> bool {
    raw.clear();
    let constraints = soft_constraints(cache, pod);
    if constraints.is_empty() {
        return false;
    }
    let needs_all = !pod.spec.topology_spread_constraints.is_empty();
    let every: Vec<Rc<Domains>> = constraints.iter().map(|it| snapshot.domains(&it.topology_key)).collect();
    let lacks = |node: usize| needs_all && every.iter().any(|it| it.at(node) == NOWHERE);
    let n_scored = feasible.iter().filter(|node| !lacks(**node)).count();
    let mut all = Vec::new();
    for (constraint, domains) in constraints.iter().zip(&every) {
        if domains.count == 0 && !needs_all {
            // No node has the label: nothing to tell them apart by.
            continue;
        }
        let mut nodes = counted_nodes(snapshot, pod, constraint);
        if needs_all {
            let counts = |node: usize| nodes.as_ref().is_none_or(|it| it.get(node).copied().unwrap_or(false));
            nodes = Some((0..snapshot.slots.len()).map(|node| counts(node) && !lacks(node)).collect());
        }
        let by_node = constraint.topology_key == HOSTNAME;
        let per_node = snapshot.count(cache, vec![matcher(constraint, pod)], true);
        let counts = if by_node { per_node } else { by_domain(&per_node, domains, nodes.as_deref()).into() };
        let n_domains = if by_node { n_scored } else { distinct(domains, feasible.iter().filter(|it| !lacks(**it))) };
        let (domains, max_skew) = (Rc::clone(domains), constraint.max_skew);
        all.push(Soft { domains, counts, by_node, max_skew, weight: weight(n_domains) });
    }
    let score = |node: usize| (all.iter().fold(0.0, |sum, soft| sum + soft.score(node)) + 0.5) as i64;
    match &all[..] {
        _ if needs_all => raw.extend(feasible.iter().map(|node| if lacks(*node) { LACKING } else { score(*node) })),
        // As it mostly is: a loop without a loop inside.
        [soft] => raw.extend(feasible.iter().map(|node| (soft.score(*node) + 0.5) as i64)),
        _ => raw.extend(feasible.iter().map(|node| score(*node))),
    }
    true
}

/// How many domains the nodes are in; those without the label are one.
fn distinct<'a>(domains: &Domains, nodes: impl Iterator<Item = &'a usize>) -> usize {
    let mut seen = vec![false; domains.count + 1];
    for node in nodes {
        if let Some(seen) = seen.get_mut((domains.at(*node) as usize).min(domains.count)) {
            *seen = true;
        }
    }
    seen.into_iter().filter(|seen| *seen).count()
}

/// Turns raw scores round, so that the fewest is 100.
pub(super) fn normalize(scores: &mut [i64]) {
    let known = scores.iter().filter(|score| **score != LACKING);
    let range = known.fold((i64::MAX, 0), |(least, most), score| (least.min(*score), most.max(*score)));
    let (least, most) = (range.0.min(range.1), range.1);
    let turn = |score: i64| if most == 0 { BEST } else { BEST * (most + least - score) / most };
    // Few scores differ from the one before, and dividing is what costs.
    let (mut last, mut turned) = (least, turn(least));
    for score in scores {
        if *score == LACKING {
            *score = 0;
            continue;
        }
        if *score != last {
            (last, turned) = (*score, turn(*score));
        }
        *score = turned;
    }
}

/// What the nodes score for a pod by how its like are spread: before and after they are compared.
pub fn topology_spread_scores(cache: &Objects, pod: &Pod) -> (Vec<i64>, Vec<i64>) {
    let mut snapshot = Snapshot::default();
    snapshot.refresh(cache);
    let nodes: Vec<usize> = (0..snapshot.slots.len()).collect();
    let mut scores = Vec::new();
    raw_scores(&mut snapshot, cache, pod, &nodes, &mut scores);
    let raw = scores.iter().copied().filter(|score| *score != LACKING).collect();
    normalize(&mut scores);
    (raw, scores)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cluster, labelled, pod};
    use super::*;

    fn zoned() -> (Objects, Pod) {
        let mut cache = cluster(3, |at, labels| {
            labels.insert(ZONE.into(), ["z1", "z1", "z2"][at].into());
        });
        for (name, node) in [("a", 0), ("b", 1), ("c", 2)] {
            super::super::testing::put(&mut cache, name, node, ("app", "hard"));
        }
        let mut wanted = labelled(pod("new", "100m"), "app", "hard");
        let selector = LabelSelector { match_labels: [("app".into(), "hard".into())].into(), ..Default::default() };
        Rc::make_mut(&mut wanted.spec).topology_spread_constraints = vec![TopologySpreadConstraint {
            label_selector: Some(selector),
            max_skew: 1,
            topology_key: ZONE.into(),
            when_unsatisfiable: "DoNotSchedule".into(),
            ..TopologySpreadConstraint::default()
        }];
        (cache, wanted)
    }

    #[test]
    fn a_skew_above_the_largest_one_is_refused() {
        let (cache, wanted) = zoned();
        let mut snapshot = Snapshot::default();
        snapshot.refresh(&cache);
        let hard = hard(&mut snapshot, &cache, &wanted);
        let checks: Vec<Skew> = (0..3).map(|node| hard[0].check(node, 0)).collect();
        assert_eq!(checks, [Skew::TooMuch, Skew::TooMuch, Skew::Fine]);
        assert_eq!(hard[0].check(0, 1), Skew::Fine, "one of the two leaves");
    }

    #[test]
    fn too_few_domains_count_as_an_empty_one() {
        let (cache, mut wanted) = zoned();
        Rc::make_mut(&mut wanted.spec).topology_spread_constraints[0].min_domains = Some(3);
        let mut snapshot = Snapshot::default();
        snapshot.refresh(&cache);
        let hard = hard(&mut snapshot, &cache, &wanted);
        assert_eq!(hard[0].check(2, 0), Skew::TooMuch);
    }
}
