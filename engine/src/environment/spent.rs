//! The CPU that containers have used, and what the metrics pipeline makes of it.
//!
//! A kubelet measures its containers every 10 s (`--housekeeping-interval` of cAdvisor). The metrics server asks all
//! kubelets every 15 s (`--metric-resolution` as its manifests set it) and makes a rate of two measurements; of a
//! container that has just started, of one and its start, once it has run for 10 s. So what is asked at an instant was
//! true on average some 10 to 35 s before.

use std::collections::VecDeque;

use super::traffic::{Backend, World};
use crate::api::{Name, Uid};
use crate::client::ContainerRecord;
use crate::sim::{Map, Millis, Time};

/// The metrics pipeline's clocks, in ms. Without a resolution what is asked is what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pipeline {
    pub sample: u64,
    pub resolution: u64,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { sample: 10_000, resolution: 15_000 }
    }
}

impl Pipeline {
    /// What is asked is what is, with a window of 5 s.
    pub const NONE: Self = Self { sample: 0, resolution: 0 };
    pub const WINDOW: Millis = Millis(5_000);
}

/// A container that has run for so long has a rate although it was measured once (`freshContainerMinMetricsResolution`).
const FRESH: u64 = 10_000;
/// Measurements that are kept of a container: those of three rounds of the metrics server.
const KEPT: usize = 5;
/// Nobody asks for what a container used longer ago.
const REACH: Millis = Millis(60_000);
/// What a program uses that has nothing to do: a thousandth of a CPU, in billionths of a CPU second for each ms.
const IDLE: u64 = 1_000;

/// What one container has used since it began to have something to do, in billionths of a CPU second.
#[derive(Clone, Debug)]
struct Spent {
    container: Name,
    /// When this run of it began.
    since: Time,
    total: u64,
    /// What it was at each measurement.
    marks: VecDeque<(Time, u64)>,
    last: Time,
}

#[derive(Clone, Debug, Default)]
pub struct Spending {
    pipeline: Pipeline,
    pods: Map<Uid, Spent>,
}

impl Spending {
    pub fn new(pipeline: Pipeline) -> Self {
        Self { pipeline, pods: Map::default() }
    }

    pub fn pipeline(&self) -> Pipeline {
        self.pipeline
    }

    /// The measurements between two instants that somebody may still ask for.
    pub fn marks(&self, from: Time, until: Time) -> Vec<Time> {
        let step = self.pipeline.sample;
        if step == 0 {
            return Vec::new();
        }
        let first = from.0.max(until.0.saturating_sub(REACH.0)) / step + 1;
        (first..=until.0 / step).map(|it| Time(it * step)).collect()
    }

    pub(super) fn spend(&mut self, world: &World<'_>, backend: &Backend, nano: u64, until: Time) {
        let Some(since) = world.container(backend).and_then(ContainerRecord::since) else { return };
        let container = backend.container.clone();
        let new = || Spent { container, since, total: 0, marks: VecDeque::new(), last: until };
        let it = self.pods.or_insert_with(backend.uid, new.clone());
        if it.since != since {
            *it = new();
        }
        it.total = it.total.saturating_add(nano);
        // Another load may have been summed up further already.
        for (_, total) in it.marks.iter_mut().rev().take_while(|(at, _)| *at >= until) {
            *total = total.saturating_add(nano);
        }
        let is_mark = self.pipeline.sample > 0 && until.0.is_multiple_of(self.pipeline.sample);
        if is_mark && it.marks.back().is_none_or(|(at, _)| *at < until) && until >= it.last {
            it.marks.push_back((until, it.total));
            if it.marks.len() > KEPT {
                it.marks.pop_front();
            }
        }
        it.last = it.last.max(until);
    }

    /// Drops what nobody asks for any more.
    pub(super) fn forget(&mut self, now: Time) {
        self.pods.retain(|_, it| it.last + REACH >= now);
    }

    /// What a run of a container had used at a measurement.
    fn by(&self, pod: Uid, container: &Name, since: Time, at: Time) -> u64 {
        let idle = at.since(since).0 * IDLE;
        let is_it = |it: &&Spent| it.since == since && it.container == *container;
        let Some(it) = self.pods.get(&pod).filter(is_it) else { return idle };
        if at >= it.last {
            return idle + it.total;
        }
        idle + it.marks.iter().rev().find(|(mark, _)| *mark <= at).map_or(0, |(_, total)| *total)
    }

    /// What a container that runs since an instant uses as the metrics API knows it: billionths of a CPU, the end of the
    /// window and its length in ms. Nothing as long as it has not been measured.
    pub fn usage(&self, pod: Uid, container: &Name, since: Time, now: Time) -> Option<(u64, Time, u64)> {
        let Pipeline { sample, resolution } = self.pipeline;
        let asked = now.0 / resolution.max(1) * resolution;
        let measured = |at: u64| Time(at / sample.max(1) * sample);
        let (new, old) = (measured(asked), measured(asked.saturating_sub(resolution)));
        if new <= since {
            return None;
        }
        let used = self.by(pod, container, since, new);
        if old >= since && old < new {
            let window = new.since(old).0;
            return Some((used.saturating_sub(self.by(pod, container, since, old)) * 1_000 / window, new, window));
        }
        let window = new.since(since).0;
        (window >= FRESH).then(|| (used * 1_000 / window, new, window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(marks: &[(u64, u64)], total: u64, last: u64) -> Spending {
        let marks = marks.iter().map(|(at, total)| (Time(*at), *total)).collect();
        let mut spending = Spending::new(Pipeline::default());
        let spent = Spent { container: "app".into(), since: Time(1_000), total, marks, last: Time(last) };
        spending.pods.insert(Uid(1), spent);
        spending
    }

    /// Half a CPU from 20 s on: the metrics server learns of it at 30 s, and then as an average over 20 s.
    #[test]
    fn the_metrics_api_is_behind() {
        let half = 500_000_000;
        let spending = spent(&[(30_000, 10 * half), (40_000, 20 * half)], 22 * half + half / 2, 42_500);
        let usage = |now: u64| spending.usage(Uid(1), &"app".into(), Time(1_000), Time(now));
        let idle = 1_000_000;
        assert_eq!(usage(14_999), None, "not measured yet");
        assert_eq!(usage(29_999), None, "measured once, at 10 s, when it was 9 s old");
        assert_eq!(usage(31_000), Some((half / 2 + idle, Time(30_000), 20_000)), "half of the window was idle");
        assert_eq!(usage(46_000), Some((half + idle, Time(40_000), 10_000)));
        assert_eq!(spending.usage(Uid(2), &"app".into(), Time(0), Time(46_000)), Some((idle, Time(40_000), 10_000)));
    }
}
