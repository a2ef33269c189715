//! What the controller remembers of each autoscaler: what it recommended and how it scaled. A crash forgets it.

use crate::api::{ScalingBehavior, ScalingRules};

/// Replicas that were recommended before any window or limit was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recommendation {
    pub replicas: i32,
    /// In ms since 1970.
    pub at_ms: i64,
}

/// A change of the target's size in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleEvent {
    /// Pods that were added, or taken away.
    pub change: i32,
    pub at_ms: i64,
    /// No policy looks back so far: the place may be taken.
    pub is_outdated: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    pub recommendations: Vec<Recommendation>,
    pub ups: Vec<ScaleEvent>,
    pub downs: Vec<ScaleEvent>,
}

/// Why a size is not what the metric asks for: reason and message of a condition.
pub type Because = (&'static str, &'static str);

pub const UP_STABILIZED: Because = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
pub const DOWN_STABILIZED: Because = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);

impl Memory {
    /// Before the first recommendation the size that there was counts as one (`recordInitialRecommendation`).
    pub fn begin(&mut self, replicas: i32, now_ms: i64) {
        if self.recommendations.is_empty() {
            self.recommendations.push(Recommendation { replicas, at_ms: now_ms });
        }
    }

    /// Keeps a recommendation, in the place of one that no window looks at any more if there is one.
    fn keep(&mut self, replicas: i32, now_ms: i64, old: Option<usize>) {
        let new = Recommendation { replicas, at_ms: now_ms };
        match old.and_then(|at| self.recommendations.get_mut(at)) {
            Some(place) => *place = new,
            None => self.recommendations.push(new),
        }
    }

    /// The highest recommendation of the window, in ms (`stabilizeRecommendation`).
    pub fn stabilize(&mut self, wanted: i32, window_ms: i64, now_ms: i64) -> i32 {
        let (mut highest, mut old) = (wanted, None);
        for (index, it) in self.recommendations.iter().enumerate() {
            if it.at_ms < now_ms - window_ms {
                old = Some(index);
            } else {
                highest = highest.max(it.replicas);
            }
        }
        self.keep(wanted, now_ms, old);
        highest
    }

    /// The size within the lowest recommendation of one window and the highest of the other, in ms
    /// (`stabilizeRecommendationWithBehaviors`).
    pub fn stabilize_within(
        &mut self,
        wanted: i32,
        current: i32,
        (up_ms, down_ms): (i64, i64),
        now_ms: i64,
    ) -> (i32, Because) {
        let (mut lowest, mut highest, mut old) = (wanted, wanted, None);
        for (index, it) in self.recommendations.iter().enumerate() {
            if it.at_ms > now_ms - up_ms {
                lowest = lowest.min(it.replicas);
            }
            if it.at_ms > now_ms - down_ms {
                highest = highest.max(it.replicas);
            }
            if it.at_ms < now_ms - up_ms && it.at_ms < now_ms - down_ms {
                old = Some(index);
            }
        }
        self.keep(wanted, now_ms, old);
        let stabilized = current.max(lowest).min(highest);
        (stabilized, if wanted >= current { UP_STABILIZED } else { DOWN_STABILIZED })
    }

    /// Remembers that the target was scaled, where there are policies that ask for it (`storeScaleEvent`).
    pub fn scaled(&mut self, behavior: Option<&ScalingBehavior>, before: i32, after: i32, now_ms: i64) {
        let Some(behavior) = behavior else { return };
        let (events, rules) = match after > before {
            true => (&mut self.ups, behavior.scale_up.as_ref()),
            false => (&mut self.downs, behavior.scale_down.as_ref()),
        };
        let longest = rules.map_or(0, longest_period);
        for event in events.iter_mut().filter(|it| it.at_ms < now_ms - longest) {
            event.is_outdated = true;
        }
        let new = ScaleEvent { change: (after - before).abs(), at_ms: now_ms, is_outdated: false };
        match events.iter_mut().rev().find(|it| it.is_outdated) {
            Some(place) => *place = new,
            None => events.push(new),
        }
    }
}

fn longest_period(rules: &ScalingRules) -> i64 {
    rules.policies.iter().map(|it| i64::from(it.period_seconds)).max().unwrap_or(0) * 1_000
}

/// How many pods were added, or taken away, within a period (`getReplicasChangePerPeriod`).
pub fn changed_within(events: &[ScaleEvent], period_seconds: i32, now_ms: i64) -> i32 {
    let since = now_ms - i64::from(period_seconds) * 1_000;
    events.iter().filter(|it| it.at_ms > since).map(|it| it.change).fold(0, i32::saturating_add)
}
