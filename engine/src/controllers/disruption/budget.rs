//! What a disruption budget allows: a pure function of what its pods are (`disruption.go`, v1.36).

use crate::api::{
    Condition, IntOrPercent, Name, ObjectKey, PodDisruptionBudget, PodDisruptionBudgetStatus, Timestamp, set_condition,
};
use crate::sim::Map;

/// How long an eviction that was granted may take to be seen, in seconds (`DeletionTimeout`).
pub const DELETION_TIMEOUT: i64 = 120;

/// One pod of a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Ready, and not on its way out.
    pub is_healthy: bool,
    pub is_terminating: bool,
    pub controller: Option<ObjectKey>,
}

/// The pods that a budget selects, counted as they come and go.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pods: Map<Name, Member>,
    healthy: i32,
    /// The controllers of its pods, with the number of pods of each.
    controllers: Map<ObjectKey, i32>,
}

impl Tally {
    /// Takes a pod as it is now; nothing where it is gone or selected no more. Returns whether anything differs.
    pub fn take(&mut self, name: &Name, member: Option<Member>) -> bool {
        let old = match &member {
            Some(new) => self.pods.insert(name.clone(), new.clone()),
            None => self.pods.remove(name),
        };
        if old == member {
            return false;
        }
        for (it, sign) in [(&old, -1), (&member, 1)] {
            let Some(it) = it else { continue };
            self.healthy += sign * i32::from(it.is_healthy);
            if let Some(controller) = &it.controller {
                *self.controllers.or_default(controller.clone()) += sign;
            }
        }
        self.controllers.retain(|_, count| *count > 0);
        true
    }

    pub fn size(&self) -> i32 {
        i32::try_from(self.pods.len()).unwrap_or(i32::MAX)
    }

    pub fn controllers(&self) -> impl Iterator<Item = &ObjectKey> {
        self.controllers.keys()
    }
}

/// How many pods are expected, and how many of them must be healthy. `scale` is what their controllers ask for.
pub fn expected(budget: &PodDisruptionBudget, pods: i32, scale: i32) -> (i32, i32) {
    let spec = &budget.spec;
    match (&spec.max_unavailable, &spec.min_available) {
        (Some(most), _) => (scale, (scale - most.scaled(scale, true)).max(0)),
        (None, Some(IntOrPercent::Int(least))) => (pods, *least),
        (None, Some(least)) => (scale, least.scaled(scale, true)),
        (None, None) => (0, 0),
    }
}

/// The status of a budget, and in how many seconds an eviction that nobody saw is given up.
pub fn status_of(
    budget: &PodDisruptionBudget,
    tally: &Tally,
    scale: i32,
    now: Timestamp,
) -> (PodDisruptionBudgetStatus, Option<i64>) {
    let mut status = budget.status.clone();
    let mut healthy = tally.healthy;
    let mut recheck: Option<i64> = None;
    status.disrupted_pods.retain(|name, at| {
        let left = at.0 + DELETION_TIMEOUT - now.0;
        let member = tally.pods.get(name.as_str());
        healthy -= i32::from(left > 0 && member.is_some_and(|it| it.is_healthy));
        let stays = left > 0 && member.is_some_and(|it| !it.is_terminating);
        if stays {
            recheck = Some(recheck.map_or(left, |known| known.min(left)));
        }
        stays
    });
    let (expected, desired) = expected(budget, tally.size(), scale);
    status.expected_pods = expected;
    status.desired_healthy = desired;
    status.current_healthy = healthy;
    status.disruptions_allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
    status.observed_generation = budget.metadata.generation;
    let allowed = status.disruptions_allowed > 0;
    let reason = if allowed { "SufficientPods" } else { "InsufficientPods" };
    let mut condition = Condition::new("DisruptionAllowed", allowed).because(reason, "");
    condition.observed_generation = budget.metadata.generation;
    set_condition(&mut status.conditions, condition, now);
    (status, recheck)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::read_value;
    use serde_json::{Value, json};

    fn budget(spec: Value) -> PodDisruptionBudget {
        read_value(json!({"metadata": {"name": "web", "generation": 1}, "spec": spec})).unwrap()
    }

    fn tally(healthy: usize, unready: usize, terminating: usize) -> Tally {
        let mut tally = Tally::default();
        for index in 0..healthy + unready + terminating {
            let is_terminating = index >= healthy + unready;
            let member = Member { is_healthy: index < healthy, is_terminating, controller: None };
            tally.take(&format!("p{index}").into(), Some(member));
        }
        tally
    }

    #[test]
    fn the_figures_of_the_recorded_drain() {
        // k_cordon_drain_pdb: minAvailable 5, six pods, one evicted at a time.
        let mut budget = budget(json!({"minAvailable": 5}));
        let figures = |status: &PodDisruptionBudgetStatus| {
            (status.disruptions_allowed, status.current_healthy, status.desired_healthy, status.expected_pods)
        };
        for (healthy, unready, terminating, expected) in
            [(0, 0, 0, (0, 0, 5, 0)), (3, 3, 0, (0, 3, 5, 6)), (6, 0, 0, (1, 6, 5, 6)), (5, 1, 1, (0, 5, 5, 7))]
        {
            let (status, _) = status_of(&budget, &tally(healthy, unready, terminating), 6, Timestamp(100));
            assert_eq!(figures(&status), expected);
            let reason = if expected.0 > 0 { "SufficientPods" } else { "InsufficientPods" };
            assert_eq!(status.conditions[0].reason, reason);
        }
        // Granted and not yet seen: the pod counts no more, and after two minutes it counts again.
        budget.status.disrupted_pods.insert("p0".into(), Timestamp(100));
        let (status, recheck) = status_of(&budget, &tally(6, 0, 0), 6, Timestamp(110));
        assert_eq!((figures(&status), recheck), ((0, 5, 5, 6), Some(110)));
        let (status, recheck) = status_of(&budget, &tally(6, 0, 0), 6, Timestamp(220));
        assert_eq!((figures(&status), recheck, status.disrupted_pods.len()), ((1, 6, 5, 6), None, 0));
    }

    #[test]
    fn percentages_are_of_what_the_controllers_ask_for_and_round_up() {
        assert_eq!(expected(&budget(json!({"minAvailable": "50%"})), 3, 7), (7, 4));
        assert_eq!(expected(&budget(json!({"maxUnavailable": "30%"})), 3, 7), (7, 4));
        assert_eq!(expected(&budget(json!({"maxUnavailable": 1})), 3, 5), (5, 4));
        assert_eq!(expected(&budget(json!({"maxUnavailable": 9})), 3, 5), (5, 0));
        assert_eq!(expected(&budget(json!({})), 3, 5), (0, 0));
    }
}
