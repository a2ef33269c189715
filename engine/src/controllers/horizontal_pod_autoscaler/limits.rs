//! How far a pass may go: minimum and maximum, and what may change within a period.

use super::memory::{Because, Memory, ScaleEvent, changed_within};
use super::ratio::{grown, shrunk};
use crate::api::ScalingRules;

/// Without `behavior` a pass may make twice as many of the pods, or four (`calculateScaleUpLimit`).
const UP_FACTOR: i32 = 2;
const UP_AT_LEAST: i32 = 4;

pub const WITHIN: Because = ("DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_FEW: Because = ("TooFewReplicas", "the desired replica count is less than the minimum replica count");
const TOO_MANY: Because = ("TooManyReplicas", "the desired replica count is more than the maximum replica count");
const UP_LIMIT: Because =
    ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate");
const DOWN_LIMIT: Because =
    ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate");

/// The sizes between which a target is to stay, and the one that it has.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub min: i32,
    pub max: i32,
    pub current: i32,
}

impl Bounds {
    /// Where no `behavior` is given (`convertDesiredReplicasWithRules`).
    pub fn limit(self, wanted: i32) -> (i32, Because) {
        let most = self.current.saturating_mul(UP_FACTOR).max(UP_AT_LEAST);
        let (most, because) = if self.max > most { (most, UP_LIMIT) } else { (self.max, TOO_MANY) };
        if wanted < self.min {
            (self.min, TOO_FEW)
        } else if wanted > most {
            (most, because)
        } else {
            (wanted, WITHIN)
        }
    }

    /// By the policies of a direction (`convertDesiredReplicasWithBehaviorRate`).
    pub fn limit_by(
        self,
        wanted: i32,
        (up, down): (&ScalingRules, &ScalingRules),
        memory: &Memory,
        now_ms: i64,
    ) -> (i32, Because) {
        let history = (memory.ups.as_slice(), memory.downs.as_slice());
        if wanted > self.current {
            let most = self.most(up, history, now_ms).max(self.current);
            let (most, because) = if self.max > most { (most, UP_LIMIT) } else { (self.max, TOO_MANY) };
            if wanted > most {
                return (most, because);
            }
        } else if wanted < self.current {
            let least = self.least(down, history, now_ms).min(self.current);
            let (least, because) = if self.min < least { (least, DOWN_LIMIT) } else { (self.min, TOO_FEW) };
            if wanted < least {
                return (least, because);
            }
        }
        (wanted, WITHIN)
    }

    /// The size at the beginning of a period.
    fn before(self, (ups, downs): (&[ScaleEvent], &[ScaleEvent]), period: i32, now_ms: i64) -> i32 {
        self.current - changed_within(ups, period, now_ms) + changed_within(downs, period, now_ms)
    }

    fn most(self, rules: &ScalingRules, history: (&[ScaleEvent], &[ScaleEvent]), now_ms: i64) -> i32 {
        let proposals = rules.policies.iter().map(|policy| {
            let start = self.before(history, policy.period_seconds, now_ms);
            if policy.kind == "Pods" { start.saturating_add(policy.value) } else { grown(start, policy.value) }
        });
        match rules.select_policy.as_str() {
            "Disabled" => self.current,
            "Min" => proposals.min().unwrap_or(i32::MAX),
            _ => proposals.max().unwrap_or(i32::MIN),
        }
    }

    fn least(self, rules: &ScalingRules, history: (&[ScaleEvent], &[ScaleEvent]), now_ms: i64) -> i32 {
        let proposals = rules.policies.iter().map(|policy| {
            let start = self.before(history, policy.period_seconds, now_ms);
            if policy.kind == "Pods" { start.saturating_sub(policy.value) } else { shrunk(start, policy.value) }
        });
        match rules.select_policy.as_str() {
            "Disabled" => self.current,
            "Min" => proposals.max().unwrap_or(i32::MIN),
            _ => proposals.min().unwrap_or(i32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ScalingPolicy;

    /// Case H1: one pod at 400 % of its request, with a target of 50 %.
    #[test]
    fn one_pod_becomes_four_without_behavior_and_five_with() {
        let bounds = Bounds { min: 1, max: 10, current: 1 };
        assert_eq!(bounds.limit(8), (4, UP_LIMIT));
        let policy = |kind: &str, value: i32| ScalingPolicy { kind: kind.into(), value, period_seconds: 15 };
        let usual = ScalingRules { policies: vec![policy("Pods", 4), policy("Percent", 100)], ..Default::default() };
        assert_eq!(bounds.limit_by(8, (&usual, &usual), &Memory::default(), 0), (5, UP_LIMIT));
        let least = ScalingRules { select_policy: "Min".into(), ..usual.clone() };
        assert_eq!(bounds.limit_by(8, (&least, &usual), &Memory::default(), 0), (2, UP_LIMIT));
        let off = ScalingRules { select_policy: "Disabled".into(), ..usual.clone() };
        assert_eq!(bounds.limit_by(8, (&off, &usual), &Memory::default(), 0), (1, UP_LIMIT));
    }
}
