//! When a kubelet asks a container's program how it is, and what it makes of the answers.
//!
//! Mirrors `pkg/kubelet/prober/worker.go`, v1.36: a probe comes round with its period from the moment on at which the
//! kubelet first saw the pod; a readiness probe is asked once more as soon as the container has started.

use crate::api::{Probe, Uid};
use crate::client::Answers;
use crate::sim::{Millis, Time};

/// Failures in a row that Events are published for (`spamBurst` of `client-go/tools/record`, v1.36).
const TOLD: u32 = 25;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeKind {
    Startup,
    Liveness,
    Readiness,
}

impl ProbeKind {
    pub fn word(self) -> &'static str {
        match self {
            ProbeKind::Startup => "startup",
            ProbeKind::Liveness => "liveness",
            ProbeKind::Readiness => "readiness",
        }
    }

    fn asks(self, answers: &Answers, at: Time) -> bool {
        match self {
            ProbeKind::Readiness => answers.is_ready(at),
            ProbeKind::Startup | ProbeKind::Liveness => answers.lives(at),
        }
    }
}

/// One probe of one run of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prober {
    kind: ProbeKind,
    /// The instant from which its period is counted.
    origin: Time,
    period: Millis,
    failures: u32,
    successes: u32,
    /// When it asks next.
    next: Time,
    asked: Time,
    /// The last answer, and how often in a row it came.
    last: Option<(bool, u32)>,
    /// What the answers so far amount to.
    verdict: Option<bool>,
    told: u32,
}

impl Prober {
    /// A probe of a container that has started: `seen` is when its pod came to the node, `since` when it came up,
    /// `from` when this probe may begin.
    pub fn new(kind: ProbeKind, probe: &Probe, seen: Time, since: Time, from: Time) -> Self {
        let period = Millis(probe.period_ms());
        let count = |n: i32| u32::try_from(n).unwrap_or(1).max(1);
        let delay = Millis(probe.initial_delay_ms());
        let mut it = Self {
            kind,
            origin: seen,
            period,
            failures: count(probe.failures()),
            successes: count(probe.successes()),
            next: from,
            asked: from,
            last: None,
            verdict: None,
            told: 0,
        };
        if kind != ProbeKind::Readiness || delay > Millis(0) {
            it.next = it.round_from((since + delay).max(from));
        }
        it
    }

    /// A probe that has got the same answer for long.
    pub fn settled(kind: ProbeKind, probe: &Probe, uid: Uid, answer: bool) -> Self {
        let mut it = Self::new(kind, probe, Time(0), Time(0), Time(0));
        // Probes come round at different times on different pods.
        it.origin = Time(1 + uid.0 as u64 % it.period.0.max(1));
        it.next = it.origin;
        it.last = Some((answer, it.failures.max(it.successes)));
        it.verdict = Some(answer);
        it.told = if answer { 0 } else { TOLD };
        it
    }

    pub fn verdict(&self) -> Option<bool> {
        self.verdict
    }

    /// The first of its rounds at or after an instant.
    fn round_from(&self, at: Time) -> Time {
        let rounds = at.since(self.origin).0.div_ceil(self.period.0.max(1));
        self.origin + Millis(rounds * self.period.0)
    }

    /// A startup or liveness probe ends with its verdict.
    fn is_over(&self) -> bool {
        match self.kind {
            ProbeKind::Startup => self.verdict.is_some(),
            ProbeKind::Liveness => self.verdict == Some(false),
            ProbeKind::Readiness => false,
        }
    }

    /// The same answer again would change nothing, nor be told.
    fn is_steady(&self) -> bool {
        let Some((answer, _)) = self.last else { return false };
        self.verdict == Some(answer) && (answer || self.told >= TOLD)
    }

    /// Asks at every round up to now. Returns when the program failed to answer well; rounds whose answer is known
    /// beforehand to change nothing are passed over.
    pub fn ask(&mut self, answers: &Answers, now: Time) -> Vec<Time> {
        let mut failed = Vec::new();
        while !self.is_over() && self.next <= now {
            let at = self.next;
            let answer = self.kind.asks(answers, at);
            self.take(answer);
            self.asked = at;
            if !answer && self.told < TOLD {
                self.told += 1;
                failed.push(at);
            }
            self.next = self.round_from(at + Millis(1));
            if self.is_steady() {
                let until = answers.next_change(at).map_or(now + Millis(1), |change| change.min(now + Millis(1)));
                self.next = self.next.max(self.round_from(until));
            }
        }
        failed
    }

    fn take(&mut self, answer: bool) {
        let run = match self.last {
            Some((last, run)) if last == answer => run.saturating_add(1),
            _ => 1,
        };
        self.last = Some((answer, run));
        if run >= if answer { self.successes } else { self.failures } {
            self.verdict = Some(answer);
            if answer {
                self.told = 0;
            }
        }
    }

    /// When it must ask again because the answer may count.
    pub fn wakes_at(&self, answers: &Answers) -> Option<Time> {
        if self.is_over() {
            return None;
        }
        if !self.is_steady() {
            return Some(self.next);
        }
        let change = answers.next_change(self.asked)?;
        Some(self.next.max(self.round_from(change)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(period: i32, failures: i32) -> Probe {
        Probe { period_seconds: Some(period), failure_threshold: Some(failures), ..Probe::default() }
    }

    fn serving(from: u64) -> Answers {
        Answers { serves_from: Time(from), ..Answers::default() }
    }

    /// Lets a probe ask whenever it wants to, and notes each verdict with its time.
    fn course(mut prober: Prober, answers: &Answers, until: u64) -> (Vec<(u64, bool)>, usize) {
        let (mut verdicts, mut wakes) = (Vec::new(), 0);
        while let Some(at) = prober.wakes_at(answers).filter(|at| at.0 <= until) {
            let before = prober.verdict();
            prober.ask(answers, at);
            wakes += 1;
            if let Some(verdict) = prober.verdict().filter(|_| prober.verdict() != before) {
                verdicts.push((at.0, verdict));
            }
        }
        (verdicts, wakes)
    }

    /// Recording `v4_real_kubelet_liveness`: answers until 15 s, period 3 s, three failures at 18, 21 and 24 s.
    #[test]
    fn a_third_failure_ends_a_container_that_hangs() {
        let answers = Answers { hangs_from: Some(Time(15_039)), ..Answers::default() };
        let prober = Prober::new(ProbeKind::Liveness, &probe(3, 3), Time(18), Time(39), Time(39));
        let (verdicts, wakes) = course(prober, &answers, 100_000);
        assert_eq!(verdicts, [(3_018, true), (24_018, false)]);
        assert_eq!(wakes, 4, "rounds that change nothing are passed over");
    }

    #[test]
    fn readiness_is_asked_at_once_and_then_with_its_period() {
        let prober = Prober::new(ProbeKind::Readiness, &probe(10, 3), Time(0), Time(1_200), Time(1_200));
        assert_eq!(course(prober, &serving(1_000), 60_000).0, [(1_200, true)]);
        assert_eq!(course(prober, &serving(1_500), 60_000).0, [(10_000, true)]);
        let delayed = Probe { initial_delay_seconds: 5, ..probe(10, 3) };
        let prober = Prober::new(ProbeKind::Readiness, &delayed, Time(0), Time(6_000), Time(6_000));
        assert_eq!(course(prober, &serving(0), 60_000).0, [(20_000, true)]);
    }

    #[test]
    fn readiness_flips_either_way_at_its_thresholds() {
        let probe = Probe { success_threshold: Some(2), ..probe(2, 3) };
        let answers = Answers { lapse: Some((Time(9_500), Time(20_500))), ..Answers::default() };
        let prober = Prober::new(ProbeKind::Readiness, &probe, Time(0), Time(0), Time(0));
        assert_eq!(course(prober, &answers, 90_000).0, [(2_000, true), (14_000, false), (24_000, true)]);
    }

    #[test]
    fn a_program_that_never_answers_is_told_of_only_so_often() {
        let prober = Prober::new(ProbeKind::Readiness, &probe(1, 3), Time(0), Time(0), Time(0));
        let answers = serving(u64::MAX);
        assert_eq!(course(prober, &answers, 10_000_000).1, TOLD as usize);
        let mut asked = prober;
        assert_eq!(asked.ask(&answers, Time(10_000_000)).len(), TOLD as usize);
    }
}
