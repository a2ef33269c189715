//! What a Job's pods have come to, and what follows, as functions of plain values.
//!
//! Mirrors `pkg/controller/job/{job_controller,backoff_utils}.go`, v1.36.

use crate::api::{Condition, Timestamp};
use crate::sim::sort_by;

/// The wait after a pod failed, doubling with each failure in a row up to the cap (`DefaultJobPodFailureBackOff`,
/// `MaxJobPodFailureBackOff`).
const BACKOFF_SECONDS: i64 = 10;
const BACKOFF_CAP: i64 = 600;

/// Failures since the last success, and when the last of them was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    pub failures: u32,
    pub last: Timestamp,
}

impl Backoff {
    /// Takes in pods that have ended, in the order in which they did: when, and whether well.
    #[must_use]
    pub fn after(mut self, mut ended: Vec<(Timestamp, bool)>) -> Self {
        sort_by(&mut ended, Ord::cmp);
        for (at, is_well) in ended {
            self = if is_well { Self::default() } else { Self { failures: self.failures + 1, last: at } };
        }
        self
    }

    /// How many ms to wait from now before a new pod may be made.
    pub fn left(self, now_millis: i64) -> u64 {
        if self.failures == 0 {
            return 0;
        }
        let wait = (BACKOFF_SECONDS << (self.failures - 1).min(10)).min(BACKOFF_CAP);
        u64::try_from(self.last.millis() + wait * 1000 - now_millis).unwrap_or(0)
    }
}

/// What is asked of a Job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    pub parallelism: i32,
    /// Nothing where one success lets the rest come to their end.
    pub completions: Option<i32>,
    pub backoff_limit: i32,
    pub is_suspended: bool,
    /// Its time is over.
    pub is_late: bool,
}

/// How its pods stand. Ended pods count once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    pub active: i32,
    pub ready: i32,
    pub terminating: i32,
    pub succeeded: i32,
    pub failed: i32,
    /// Restarts of containers in pods that restart on failure.
    pub restarts: i32,
    pub restarts_on_failure: bool,
}

/// Why a Job is over, or about to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    TooManyFailures,
    Late,
    Complete,
    FailurePolicy,
    SuccessPolicy,
    TooManyFailedIndexes,
    FailedIndexes,
}

impl Cause {
    const ALL: [Self; 7] = [
        Self::TooManyFailures,
        Self::Late,
        Self::Complete,
        Self::FailurePolicy,
        Self::SuccessPolicy,
        Self::TooManyFailedIndexes,
        Self::FailedIndexes,
    ];

    pub fn is_success(self) -> bool {
        matches!(self, Self::Complete | Self::SuccessPolicy)
    }

    pub fn reason(self) -> &'static str {
        match self {
            Self::TooManyFailures => "BackoffLimitExceeded",
            Self::Late => "DeadlineExceeded",
            Self::Complete => "CompletionsReached",
            Self::FailurePolicy => "PodFailurePolicy",
            Self::SuccessPolicy => "SuccessPolicy",
            Self::TooManyFailedIndexes => "MaxFailedIndexesExceeded",
            Self::FailedIndexes => "FailedIndexes",
        }
    }

    /// What is said of it; a policy says more.
    fn message(self) -> &'static str {
        match self {
            Self::TooManyFailures => "Job has reached the specified backoff limit",
            Self::Late => "Job was active longer than specified deadline",
            Self::Complete => "Reached expected number of succeeded pods",
            Self::FailurePolicy | Self::SuccessPolicy => "",
            Self::TooManyFailedIndexes => "Job has exceeded the specified maximal number of failed indexes",
            Self::FailedIndexes => "Job has failed indexes",
        }
    }
}

/// A Job's end, and what is said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub cause: Cause,
    pub message: String,
}

impl From<Cause> for End {
    fn from(cause: Cause) -> Self {
        Self { cause, message: cause.message().into() }
    }
}

impl End {
    /// The end that a condition tells of.
    pub fn of_condition(condition: &Condition) -> Option<Self> {
        let cause = Cause::ALL.into_iter().find(|cause| condition.reason == cause.reason())?;
        Some(Self { cause, message: condition.message.to_string() })
    }
}

/// Whether the Job is over.
pub fn end(wish: Wish, count: Count) -> Option<Cause> {
    let restarted = count.restarts_on_failure
        && if wish.backoff_limit == 0 { count.restarts > 0 } else { count.restarts >= wish.backoff_limit };
    if count.failed > wish.backoff_limit || restarted {
        return Some(Cause::TooManyFailures);
    }
    if wish.is_late {
        return Some(Cause::Late);
    }
    let is_complete = match wish.completions {
        Some(completions) => count.succeeded >= completions,
        None => count.succeeded > 0 && count.active == 0,
    };
    is_complete.then_some(Cause::Complete)
}

/// How many pods should be active now.
pub fn wanted(wish: Wish, count: Count) -> i32 {
    if wish.is_suspended {
        return 0;
    }
    match wish.completions {
        Some(completions) => (completions - count.succeeded).clamp(0, wish.parallelism.max(0)),
        None if count.succeeded > 0 => count.active.min(wish.parallelism),
        None => wish.parallelism,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: Wish =
        Wish { parallelism: 2, completions: Some(4), backoff_limit: 3, is_suspended: false, is_late: false };

    /// Recording `v7_real_kubelet_job_backoff`: new pods 10, 20 and 40 s after the whole second of the failure.
    #[test]
    fn failures_in_a_row_double_the_wait_and_a_success_ends_it() {
        let failed = |seconds| vec![(Timestamp(seconds), false)];
        let once = Backoff::default().after(failed(100));
        assert_eq!(once.left(100_585), 9_415);
        assert_eq!(once.left(110_000), 0);
        let twice = once.after(failed(112));
        assert_eq!(twice.left(112_000), 20_000);
        assert_eq!(twice.after(failed(133)).left(133_000), 40_000);
        assert_eq!(twice.after(vec![(Timestamp(130), true)]).left(130_000), 0);
        let many = (0..30).fold(Backoff::default(), |it, n| it.after(failed(n)));
        assert_eq!(many.left(29_000), 600_000);
    }

    #[test]
    fn no_more_pods_are_wanted_than_completions_are_missing() {
        let count = |succeeded, active| Count { succeeded, active, ..Count::default() };
        assert_eq!(wanted(WISH, count(0, 0)), 2);
        assert_eq!(wanted(WISH, count(3, 0)), 1);
        assert_eq!(wanted(Wish { is_suspended: true, ..WISH }, count(0, 2)), 0);
        let queue = Wish { completions: None, ..WISH };
        assert_eq!(wanted(queue, count(0, 0)), 2);
        assert_eq!(wanted(queue, count(1, 1)), 1, "after one success no more are started");
    }

    #[test]
    fn a_job_ends_by_failures_by_its_deadline_or_well() {
        let count = |succeeded, failed| Count { succeeded, failed, ..Count::default() };
        assert_eq!(end(WISH, count(3, 3)), None);
        assert_eq!(end(WISH, count(4, 3)), Some(Cause::Complete));
        assert_eq!(end(WISH, count(0, 4)), Some(Cause::TooManyFailures));
        assert_eq!(end(Wish { is_late: true, ..WISH }, count(0, 0)), Some(Cause::Late));
        let restarting = Count { restarts: 3, restarts_on_failure: true, ..Count::default() };
        assert_eq!(end(WISH, restarting), Some(Cause::TooManyFailures));
    }
}
