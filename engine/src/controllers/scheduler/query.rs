//! One pod's demands, worked out once a turn, and the filters that hold each node against them.
//!
//! Mirrors the filters of `pkg/scheduler/framework/plugins`, v1.36, in their order; a node is refused by the first that
//! refuses it.

use super::company::{Company, Leaving};
use super::nodes;
use super::ports::{HostPort, are_free, host_ports};
use super::reasons::{
    AFFINITY, ANTI_AFFINITY, CPU, FINAL, MAX_OTHER, MEMORY, OTHER, OTHERS_ANTI_AFFINITY, PODS, PORTS, Reasons,
    SELECTOR, SPREAD, SPREAD_LABEL, TAINT, UNSCHEDULABLE,
};
use super::snapshot::{Slot, Snapshot, other_requests};
use super::spread::{Hard, Skew, hard};
use crate::api::{Name, Pod};
use crate::apiserver::{Objects, Usage};

/// What a pod asks for.
pub(super) struct Query<'a> {
    pub pod: &'a Pod,
    pub asks: Usage,
    pub other: Vec<(String, i64)>,
    /// The only nodes that come into question, where the pod names them.
    pub pinned: Option<Vec<Name>>,
    /// Room that is kept for pods of no lower priority for which others were asked to leave, by node.
    reserved: Vec<(usize, Usage)>,
    tolerates_cordon: bool,
    selects: bool,
    ports: Vec<HostPort>,
    hard: Vec<Hard>,
    company: Company,
}

/// Pods that are thought away from one node.
#[derive(Default)]
pub(super) struct Without {
    usage: Usage,
    other: Vec<i64>,
    ports: Vec<HostPort>,
    spread: Vec<i32>,
    leaving: Leaving,
}

impl<'a> Query<'a> {
    pub fn new(snapshot: &mut Snapshot, cache: &Objects, pod: &'a Pod, reserved: Vec<(usize, Usage)>) -> Self {
        let cordon = |it: &crate::api::Toleration| it.tolerates("node.kubernetes.io/unschedulable", "", "NoSchedule");
        let mut other = other_requests(pod);
        other.truncate(MAX_OTHER);
        Self {
            pod,
            asks: Usage::of(pod),
            other,
            pinned: nodes::pinned(pod),
            reserved,
            tolerates_cordon: pod.spec.tolerations.iter().any(cordon),
            selects: nodes::selects(pod),
            ports: host_ports(pod),
            hard: hard(snapshot, cache, pod),
            company: Company::of(snapshot, cache, pod),
        }
    }

    /// Whether all that matters is the pod's spec and the node itself: not the pods around, nor room that is reserved.
    pub fn is_plain(&self) -> bool {
        let company = &self.company;
        let is_alone = company.near.is_empty() && company.far.is_empty() && company.unwilling.is_empty();
        is_alone && self.hard.is_empty() && self.reserved.is_empty()
    }

    /// Why a node will not do; 0 where it will.
    pub fn filter(&self, snapshot: &Snapshot, at: usize, without: Option<&Without>) -> Reasons {
        let Some(slot) = snapshot.slots.get(at) else { return UNSCHEDULABLE | FINAL };
        let node = &*slot.node;
        if slot.is_cordoned && !self.tolerates_cordon {
            return UNSCHEDULABLE | FINAL;
        }
        if slot.has_taints && node.untolerated(self.pod, &["NoSchedule", "NoExecute"]).is_some() {
            return TAINT | FINAL;
        }
        if self.selects && !nodes::is_wanted(self.pod, node) {
            return SELECTOR | FINAL;
        }
        if !self.ports.is_empty() && !are_free(&self.ports, &slot.ports, without.map_or(&[], |it| &it.ports)) {
            return PORTS;
        }
        let room = self.room(slot, at, without);
        if room != 0 {
            return room;
        }
        self.around(at, without)
    }

    /// What there is not enough of.
    fn room(&self, slot: &Slot, at: usize, without: Option<&Without>) -> Reasons {
        let (asks, room) = (self.asks, slot.room);
        let mut usage = slot.usage;
        for (_, reserved) in self.reserved.iter().filter(|(node, _)| *node == at) {
            usage.add(*reserved);
        }
        if let Some(without) = without {
            usage.combine(without.usage, -1);
        }
        let mut reasons = 0;
        let mut lacks = |asks: i64, used: i64, room: i64, reason: Reasons| {
            if asks > 0 && asks > room - used {
                reasons |= reason | if asks > room { FINAL } else { 0 };
            }
        };
        lacks(asks.cpu_milli, usage.cpu_milli, room.cpu_milli, CPU);
        lacks(asks.memory_bytes, usage.memory_bytes, room.memory_bytes, MEMORY);
        for (index, (name, asks)) in self.other.iter().enumerate() {
            let freed = without.and_then(|it| it.other.get(index)).copied().unwrap_or(0);
            let used = slot.other.get(name).copied().unwrap_or(0) - freed;
            lacks(*asks, used, slot.node.allocatable(name).units(), 1 << (OTHER + index as u32));
        }
        if usage.pods + 1 > room.pods {
            reasons |= PODS;
        }
        reasons
    }

    /// What is wrong with the pods around.
    fn around(&self, at: usize, without: Option<&Without>) -> Reasons {
        for (index, constraint) in self.hard.iter().enumerate() {
            let removed = without.and_then(|it| it.spread.get(index)).copied().unwrap_or(0);
            match constraint.check(at, removed) {
                Skew::Fine => {}
                Skew::Missing => return SPREAD_LABEL | FINAL,
                Skew::TooMuch => return SPREAD,
            }
        }
        let company = &self.company;
        if !company.near.is_empty() && !company.has_near(at, without.map_or(0, |it| it.leaving.near)) {
            return AFFINITY | FINAL;
        }
        if !company.far.is_empty() && company.has_far(at, without.map_or(&[], |it| &it.leaving.far)) {
            return ANTI_AFFINITY;
        }
        if !company.unwilling.is_empty() && company.has_unwilling(at, without.map_or(&[], |it| &it.leaving.unwilling)) {
            return OTHERS_ANTI_AFFINITY;
        }
        0
    }

    /// Thinks a pod away from its node with sign 1, and back with −1.
    pub fn take(&self, snapshot: &Snapshot, without: &mut Without, pod: &Pod, sign: i32) {
        without.usage.combine(Usage::of(pod), sign.into());
        without.other.resize(self.other.len(), 0);
        for ((name, _), sum) in self.other.iter().zip(&mut without.other) {
            *sum += pod.spec.request(name).units() * i64::from(sign);
        }
        for port in host_ports(pod) {
            if sign > 0 {
                without.ports.push(port);
            } else if let Some(at) = without.ports.iter().position(|it| *it == port) {
                without.ports.swap_remove(at);
            }
        }
        let meta = &pod.metadata;
        let spreads =
            self.hard.iter().map(|it| !pod.is_terminating() && it.matcher.matches(&meta.namespace, &meta.labels));
        tally(&mut without.spread, spreads, sign);
        let (company, groups, leaving) = (&self.company, &snapshot.groups, &mut without.leaving);
        leaving.near += if company.near.first().is_some_and(|it| it.counts(pod, groups)) { sign } else { 0 };
        tally(&mut leaving.far, company.far.iter().map(|it| it.counts(pod, groups)), sign);
        tally(&mut leaving.unwilling, company.unwilling.iter().map(|it| it.counts(pod, groups)), sign);
    }
}

fn tally(sums: &mut Vec<i32>, counts: impl ExactSizeIterator<Item = bool>, sign: i32) {
    sums.resize(counts.len(), 0);
    for (sum, counts) in sums.iter_mut().zip(counts) {
        *sum += if counts { sign } else { 0 };
    }
}
