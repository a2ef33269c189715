//! Who has to leave so that a pod of higher priority fits.
//!
//! Mirrors `pkg/scheduler/framework/preemption` and `plugins/defaultpreemption`, v1.36.

use std::cmp::{Ordering, Reverse};
use std::rc::Rc;

use super::place::{Placement, draw};
use super::query::{Query, Without};
use super::reasons::{FINAL, NO_VICTIMS, Reasons, UNHELPFUL, none_available, tell};
use super::snapshot::Snapshot;
use crate::api::{Condition, Kind, Name, Object, Pod, PodDisruptionBudget, Timestamp, condition};
use crate::apiserver::Objects;
use crate::sim::sort_by;

/// A node and the pods that have to leave it, the most important first.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub node: Name,
    pub victims: Vec<Rc<Pod>>,
    n_violating: usize,
}

/// What preemption came to.
#[derive(Clone, Debug)]
pub(super) enum Preemption {
    Found(Candidate),
    /// Nothing helps: why, and whether an earlier nomination still stands.
    Nothing {
        why: String,
        keeps_nomination: bool,
    },
}

fn priority(pod: &Pod) -> i32 {
    pod.spec.priority.unwrap_or(0)
}

fn leaves_for_another(pod: &Pod) -> bool {
    let marked = condition(&pod.status.conditions, "DisruptionTarget");
    pod.is_terminating() && marked.is_some_and(|it| Condition::is_true(it) && it.reason == "PreemptionByScheduler")
}

/// Why the pod may not make others leave (`PodEligibleToPreemptOthers`).
fn not_eligible(cache: &Objects, snapshot: &Snapshot, placement: &Placement, pod: &Pod) -> Option<&'static str> {
    if pod.spec.text("preemptionPolicy") == "Never" {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated = &pod.status.nominated_node_name;
    let at = snapshot.find(nominated)?;
    let is_final = placement.refused.iter().any(|(node, reasons)| *node == at && reasons & FINAL != 0);
    let leaving = |it: &Rc<Pod>| priority(it) < priority(pod) && leaves_for_another(it);
    (!is_final && cache.pods_on(nominated).any(leaving))
        .then_some("not eligible due to a terminating pod on the nominated node.")
}

/// Finds out whether pods of lower priority can make room.
pub(super) fn preempt(snapshot: &Snapshot, cache: &Objects, query: &Query<'_>, placement: &Placement) -> Preemption {
    let pod = query.pod;
    if let Some(why) = not_eligible(cache, snapshot, placement, pod) {
        return Preemption::Nothing { why: why.into(), keeps_nomination: true };
    }
    let mut outcomes: Vec<Reasons> = vec![UNHELPFUL; placement.absent];
    let mut candidates: Vec<Candidate> = Vec::new();
    let (hopeful, hopeless): (Vec<_>, Vec<_>) = placement.refused.iter().partition(|(_, why)| why & FINAL == 0);
    outcomes.extend(hopeless.iter().map(|_| UNHELPFUL));
    if snapshot.lowest_priority().is_none_or(|lowest| lowest >= priority(pod)) {
        outcomes.extend(hopeful.iter().map(|_| NO_VICTIMS));
    } else if !hopeful.is_empty() {
        let enough = (hopeful.len() / 10).max(100);
        let offset = (draw(pod, 0) % hopeful.len() as u64) as usize;
        let budgets = budgets(cache);
        for (at, _) in hopeful.iter().cycle().skip(offset).take(hopeful.len()) {
            match victims(snapshot, cache, query, *at, &budgets) {
                Ok(candidate) => candidates.push(candidate),
                Err(reasons) => outcomes.push(reasons & !FINAL),
            }
            if candidates.len() >= enough && candidates.iter().any(|it| it.n_violating == 0) {
                break;
            }
        }
    }
    match candidates.into_iter().reduce(|best, other| if rank(&other) < rank(&best) { other } else { best }) {
        Some(candidate) => Preemption::Found(candidate),
        None => {
            let why = none_available(placement.total, &tell(&outcomes, &placement.other));
            Preemption::Nothing { why, keeps_nomination: false }
        }
    }
}

type Rank = (usize, Option<i32>, i64, usize, Reverse<Option<Timestamp>>);

/// The smallest is taken: fewest budgets broken, lowest highest priority, smallest sum of priorities, fewest victims,
/// then the latest start (`pickOneNodeForPreemption`).
fn rank(candidate: &Candidate) -> Rank {
    let victims = &candidate.victims;
    let highest = victims.first().map(|pod| priority(pod));
    let sum = victims.iter().map(|pod| i64::from(priority(pod)) + i64::from(i32::MAX) + 1).sum();
    let important = victims.iter().filter(|pod| Some(priority(pod)) == highest);
    let started = important.filter_map(|pod| pod.status.start_time).min();
    (candidate.n_violating, highest, sum, victims.len(), Reverse(started))
}

/// The fewest pods that have to leave a node, or why even all of lower priority would not be enough.
fn victims(
    snapshot: &Snapshot,
    cache: &Objects,
    query: &Query<'_>,
    at: usize,
    budgets: &[&PodDisruptionBudget],
) -> Result<Candidate, Reasons> {
    let Some(slot) = snapshot.slots.get(at) else { return Err(NO_VICTIMS) };
    let node = slot.node.metadata.name.clone();
    let is_lower = |pod: &&Rc<Pod>| !pod.is_finished() && priority(pod) < priority(query.pod);
    let mut lower: Vec<&Rc<Pod>> = cache.pods_on(&node).filter(is_lower).collect();
    if lower.is_empty() {
        return Err(NO_VICTIMS);
    }
    let mut without = Without::default();
    lower.iter().for_each(|pod| query.take(snapshot, &mut without, pod, 1));
    match query.filter(snapshot, at, Some(&without)) {
        0 => {}
        reasons => return Err(reasons),
    }
    sort_by(&mut lower, |a, b| by_importance(a, b));
    let (violating, harmless) = split_by_budgets(&lower, budgets);
    let mut victims = Vec::new();
    let mut n_violating = 0;
    for (pod, violates) in violating.iter().map(|pod| (pod, 1)).chain(harmless.iter().map(|pod| (pod, 0))) {
        query.take(snapshot, &mut without, pod, -1);
        if query.filter(snapshot, at, Some(&without)) != 0 {
            query.take(snapshot, &mut without, pod, 1);
            victims.push(Rc::clone(pod));
            n_violating += violates;
        }
    }
    sort_by(&mut victims, |a, b| by_importance(a, b));
    Ok(Candidate { node, victims, n_violating })
}

/// Who matters more comes first; of equals the one that started first.
fn by_importance(a: &Pod, b: &Pod) -> Ordering {
    let key = |pod: &Pod| (Reverse(priority(pod)), pod.status.start_time.is_none(), pod.status.start_time);
    key(a).cmp(&key(b))
}

fn budgets(cache: &Objects) -> Vec<&PodDisruptionBudget> {
    cache.of_kind(Kind::PodDisruptionBudget).filter_map(Object::as_pod_disruption_budget).map(|it| &**it).collect()
}

type Split<'a> = (Vec<&'a Rc<Pod>>, Vec<&'a Rc<Pod>>);

/// Pods whose leaving would break a budget, and the others (`filterPodsWithPDBViolation`).
fn split_by_budgets<'a>(pods: &[&'a Rc<Pod>], budgets: &[&PodDisruptionBudget]) -> Split<'a> {
    let mut allowed: Vec<i32> = budgets.iter().map(|it| it.status.disruptions_allowed).collect();
    let mut breaks = |pod: &Pod| {
        let mut violates = false;
        for (budget, allowed) in budgets.iter().zip(&mut allowed) {
            let selects = budget.spec.selector.as_ref().is_some_and(|it| {
                budget.metadata.namespace == pod.metadata.namespace
                    && !it.is_empty()
                    && it.matches(&pod.metadata.labels)
            });
            if selects && !budget.status.disrupted_pods.contains_key(&pod.metadata.name) {
                *allowed -= 1;
                violates |= *allowed < 0;
            }
        }
        violates
    };
    pods.iter().copied().partition(|pod| breaks(pod))
}

#[cfg(test)]
mod tests {
    use super::super::place::place;
    use super::super::testing::{cluster, labelled, pod, put_pod};
    use super::*;

    fn ranked(name: &str, cpu: &str, priority: i32) -> Pod {
        let mut pod = labelled(pod(name, cpu), "app", name);
        Rc::make_mut(&mut pod.spec).priority = Some(priority);
        pod
    }

    fn preempted(cache: &Objects, pod: &Pod) -> Preemption {
        let mut snapshot = Snapshot::default();
        snapshot.refresh(cache);
        let query = Query::new(&mut snapshot, cache, pod, Vec::new());
        let placement = place(&mut snapshot, cache, &query, &mut 0);
        preempt(&snapshot, cache, &query, &placement)
    }

    fn found(cache: &Objects, pod: &Pod) -> (String, Vec<String>) {
        match preempted(cache, pod) {
            Preemption::Found(it) => {
                (it.node.to_string(), it.victims.iter().map(|pod| pod.metadata.name.to_string()).collect())
            }
            Preemption::Nothing { why, .. } => (why, Vec::new()),
        }
    }

    #[test]
    fn no_more_leave_than_must_and_the_least_important_first() {
        let mut cache = cluster(1, |_, _| {});
        for (name, cpu, priority) in [("a", "1", 5), ("b", "1", 1), ("c", "1", 3), ("d", "1", 100)] {
            put_pod(&mut cache, ranked(name, cpu, priority), 0);
        }
        assert_eq!(found(&cache, &ranked("vip", "1", 10)), ("n0".into(), vec!["b".into()]));
        assert_eq!(found(&cache, &ranked("vip", "2", 10)), ("n0".into(), vec!["c".into(), "b".into()]));
        assert_eq!(
            found(&cache, &ranked("vip", "4", 10)).0,
            "0/1 nodes are available: 1 Insufficient cpu.",
            "the fourth does not go, and without it there is no room"
        );
        assert_eq!(
            found(&cache, &ranked("vip", "1", 1)).0,
            "0/1 nodes are available: 1 No preemption victims found for incoming pod."
        );
    }

    #[test]
    fn the_node_whose_victims_matter_least_is_taken() {
        let mut cache = cluster(3, |_, _| {});
        put_pod(&mut cache, ranked("a", "4", 5), 0);
        put_pod(&mut cache, ranked("b", "4", 2), 1);
        put_pod(&mut cache, ranked("c1", "2", 2), 2);
        put_pod(&mut cache, ranked("c2", "2", 2), 2);
        assert_eq!(found(&cache, &ranked("vip", "4", 10)), ("n1".into(), vec!["b".into()]));
    }

    #[test]
    fn a_pod_that_may_not_preempt_does_not() {
        let mut cache = cluster(1, |_, _| {});
        put_pod(&mut cache, ranked("a", "4", 0), 0);
        let mut vip = ranked("vip", "4", 10);
        Rc::make_mut(&mut vip.spec).extra.insert("preemptionPolicy".into(), "Never".into());
        assert_eq!(found(&cache, &vip).0, "not eligible due to preemptionPolicy=Never.");
    }

    #[test]
    fn a_pod_that_keeps_others_away_leaves_for_one_that_matters_more() {
        let mut cache = cluster(1, |_, _| {});
        let selector =
            crate::api::LabelSelector { match_labels: [("app".into(), "vip".into())].into(), ..Default::default() };
        let term = crate::api::PodAffinityTerm {
            label_selector: Some(selector),
            topology_key: "kubernetes.io/hostname".into(),
            ..Default::default()
        };
        let against = crate::api::PodAffinity { required: vec![term], ..Default::default() };
        let mut shy = ranked("shy", "1m", 0);
        let affinity = crate::api::Affinity { pod_anti_affinity: Some(against), ..Default::default() };
        Rc::make_mut(&mut shy.spec).affinity = Some(affinity.into());
        put_pod(&mut cache, shy, 0);
        put_pod(&mut cache, ranked("other", "1m", 0), 0);
        assert_eq!(found(&cache, &ranked("vip", "1", 10)), ("n0".into(), vec!["shy".into()]));
    }
}
