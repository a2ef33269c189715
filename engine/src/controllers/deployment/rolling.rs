//! How many pods of which ReplicaSet: the decisions of a rolling update, as functions of plain numbers.
//!
//! Mirrors `pkg/controller/deployment/{rolling,sync}.go` and `util/deployment_util.go`, v1.36.

use crate::api::{DeploymentSpec, IntOrPercent};

/// A ReplicaSet as the decisions see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetSize {
    /// `spec.replicas`
    pub replicas: i32,
    /// `status.availableReplicas`
    pub available: i32,
    /// The most pods that the Deployment allowed when this ReplicaSet was last sized (its `max-replicas` annotation).
    pub max_replicas: Option<i32>,
}

/// `maxSurge` and `maxUnavailable` in pods. Both rounding to 0 would stop every rollout, so one pod may then be missing.
pub fn resolve_fenceposts(surge: &IntOrPercent, unavailable: &IntOrPercent, desired: i32) -> (i32, i32) {
    let surge = surge.scaled(desired, true);
    let unavailable = unavailable.scaled(desired, false);
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
}

fn fenceposts(spec: &DeploymentSpec) -> (i32, i32) {
    let rolling = spec.strategy.rolling_update.clone().unwrap_or_default();
    let quarter = || IntOrPercent::percent(25);
    let surge = rolling.max_surge.unwrap_or_else(quarter);
    let unavailable = rolling.max_unavailable.unwrap_or_else(quarter);
    resolve_fenceposts(&surge, &unavailable, spec.wanted())
}

pub fn is_rolling_update(spec: &DeploymentSpec) -> bool {
    spec.strategy.kind != "Recreate"
}

/// How many pods more than wanted there may be.
pub fn max_surge(spec: &DeploymentSpec) -> i32 {
    if is_rolling_update(spec) { fenceposts(spec).0 } else { 0 }
}

/// How many of the wanted pods may be unavailable.
pub fn max_unavailable(spec: &DeploymentSpec) -> i32 {
    if !is_rolling_update(spec) || spec.wanted() == 0 {
        return 0;
    }
    fenceposts(spec).1.min(spec.wanted())
}

/// The size of the new ReplicaSet in this step (`NewRSNewReplicas`); `all` counts the pods asked for over all of them.
pub fn new_set_size(spec: &DeploymentSpec, all: i32, new: i32) -> i32 {
    if !is_rolling_update(spec) {
        return spec.wanted();
    }
    let max_total = spec.wanted() + max_surge(spec);
    if all >= max_total {
        return new;
    }
    new + (max_total - all).min(spec.wanted() - new)
}

/// How many old pods may go in this step, be they available or not.
fn max_scaled_down(spec: &DeploymentSpec, new: &SetSize, old: &[SetSize]) -> i32 {
    let old_total: i32 = old.iter().map(|set| set.replicas).sum();
    let min_available = spec.wanted() - max_unavailable(spec);
    let new_unavailable = new.replicas - new.available;
    if old_total == 0 { 0 } else { old_total + new.replicas - min_available - new_unavailable }
}

/// The sizes of the old ReplicaSets, oldest first, once as many of their unavailable pods as may go have gone
/// (`cleanupUnhealthyReplicas`).
pub fn without_unhealthy(spec: &DeploymentSpec, new: &SetSize, old: &[SetSize]) -> Vec<i32> {
    clean(spec, new, old).0
}

/// As [`without_unhealthy`]; and whether that came to its end. A ReplicaSet with more available pods than it is to have
/// was sized and does not show it yet: nothing more goes in this turn.
fn clean(spec: &DeploymentSpec, new: &SetSize, old: &[SetSize]) -> (Vec<i32>, bool) {
    let mut sizes: Vec<i32> = old.iter().map(|set| set.replicas).collect();
    let max_scaled_down = max_scaled_down(spec, new, old);
    let mut cleaned = 0;
    for (size, set) in sizes.iter_mut().zip(old) {
        if cleaned >= max_scaled_down {
            break;
        }
        if *size == 0 || set.available == *size {
            continue;
        }
        let count = (max_scaled_down - cleaned).min(*size - set.available);
        if count < 0 {
            return (sizes, false);
        }
        *size -= count;
        cleaned += count;
    }
    (sizes, true)
}

/// The sizes of the old ReplicaSets after this step, oldest first: unhealthy pods go first, then healthy ones as far
/// as availability allows. Without a change the sizes come back as they are.
pub fn old_set_sizes(spec: &DeploymentSpec, new: &SetSize, old: &[SetSize]) -> Vec<i32> {
    let (mut sizes, is_clean) = clean(spec, new, old);
    if max_scaled_down(spec, new, old) <= 0 || !is_clean {
        return sizes;
    }
    let min_available = spec.wanted() - max_unavailable(spec);
    // Pods of sets that are already to have none do not count, though they may still be there.
    let active = old.iter().filter(|set| set.replicas > 0);
    let available: i32 = new.available + active.map(|set| set.available).sum::<i32>();
    let mut surplus = available - min_available;
    for size in &mut sizes {
        if surplus <= 0 {
            break;
        }
        let count = surplus.min(*size);
        *size -= count;
        surplus -= count;
    }
    sizes
}

/// Rounds a quotient to the nearest whole number, halves away from zero.
fn rounded(numerator: i64, denominator: i64) -> i64 {
    let (n, d) = (2 * numerator.abs() + denominator.abs(), 2 * denominator.abs());
    let magnitude = n / d;
    if (numerator < 0) == (denominator < 0) { magnitude } else { -magnitude }
}

/// A ReplicaSet's share when the Deployment is scaled in the middle of a rollout (`GetReplicaSetProportion`).
pub fn proportion(spec: &DeploymentSpec, set: &SetSize, status_replicas: i32, to_add: i32, added: i32) -> i32 {
    if set.replicas == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let fraction = if spec.wanted() == 0 {
        -set.replicas
    } else {
        let max = i64::from(spec.wanted() + max_surge(spec));
        let before = match set.max_replicas {
            Some(before) if before != 0 => before,
            _ => status_replicas,
        };
        if before == 0 {
            0
        } else {
            (rounded(i64::from(set.replicas) * max, before.into()) - i64::from(set.replicas)) as i32
        }
    };
    let allowed = to_add - added;
    if to_add > 0 { fraction.min(allowed) } else { fraction.max(allowed) }
}

/// The sizes of the active ReplicaSets, given in order of who is served first, when the Deployment is scaled in the
/// middle of a rollout. What rounding leaves over goes to the first.
pub fn proportional_sizes(spec: &DeploymentSpec, sets: &[SetSize], status_replicas: i32) -> Vec<i32> {
    let total: i32 = sets.iter().map(|set| set.replicas).sum();
    let allowed = if spec.wanted() > 0 { spec.wanted() + max_surge(spec) } else { 0 };
    let to_add = allowed - total;
    let mut added = 0;
    let mut sizes: Vec<i32> = sets
        .iter()
        .map(|set| {
            let share = proportion(spec, set, status_replicas, to_add, added);
            added += share;
            set.replicas + share
        })
        .collect();
    if to_add != 0
        && let Some(first) = sizes.first_mut()
    {
        *first = (*first + to_add - added).max(0);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(replicas: i32) -> DeploymentSpec {
        DeploymentSpec { replicas: Some(replicas), ..DeploymentSpec::default() }
    }

    fn set(replicas: i32, available: i32) -> SetSize {
        SetSize { replicas, available, max_replicas: None }
    }

    #[test]
    fn a_quarter_of_ten_is_three_more_and_two_fewer() {
        assert_eq!((max_surge(&spec(10)), max_unavailable(&spec(10))), (3, 2));
        assert_eq!((max_surge(&spec(3)), max_unavailable(&spec(3))), (1, 0));
        assert_eq!(resolve_fenceposts(&IntOrPercent::Int(0), &IntOrPercent::percent(10), 5), (0, 1));
    }

    /// The recorded course of a rolling update of ten pods whose new image never gets ready.
    #[test]
    fn a_rollout_that_never_gets_ready_stops_at_eight_and_five() {
        let spec = spec(10);
        assert_eq!(new_set_size(&spec, 10, 0), 3);
        assert_eq!(old_set_sizes(&spec, &set(3, 0), &[set(10, 10)]), [8]);
        assert_eq!(new_set_size(&spec, 11, 3), 5);
        assert_eq!(old_set_sizes(&spec, &set(5, 0), &[set(8, 8)]), [8]);
        assert_eq!(new_set_size(&spec, 13, 5), 5);
    }

    #[test]
    fn unhealthy_old_pods_go_first() {
        assert_eq!(old_set_sizes(&spec(10), &set(3, 0), &[set(2, 0), set(8, 8)]), [0, 8]);
    }

    /// Recording `d1_rolling_10_default`: a sync between the write of a size and the status that shows it.
    #[test]
    fn an_old_set_with_more_available_than_it_is_to_have_waits_for_its_status() {
        assert_eq!(old_set_sizes(&spec(10), &set(6, 2), &[set(7, 8)]), [7]);
        assert_eq!(old_set_sizes(&spec(10), &set(6, 2), &[set(7, 7)]), [6]);
    }

    /// Recording `f_rollover_mid_rollout_noThrottle`: two pods of a set sized to nothing are still there.
    #[test]
    fn pods_of_a_set_sized_to_nothing_do_not_count_as_available() {
        assert_eq!(old_set_sizes(&spec(10), &set(8, 5), &[set(0, 2), set(5, 5)]), [0, 3]);
    }

    #[test]
    fn scaling_in_the_middle_of_a_rollout_keeps_the_proportion() {
        let sized = |replicas, max| SetSize { replicas, available: replicas, max_replicas: Some(max) };
        let mut wanted = spec(15);
        wanted.strategy.rolling_update = Some(crate::api::RollingUpdate {
            max_surge: Some(IntOrPercent::Int(3)),
            max_unavailable: Some(IntOrPercent::Int(2)),
            ..Default::default()
        });
        assert_eq!(proportional_sizes(&wanted, &[sized(8, 13), sized(5, 13)], 13), [11, 7]);
    }
}
