//! Loads: how much there is, where it goes, and what is lost why.

use serde::Serialize;

use crate::api::{Kind, Name, ObjectKey};
use crate::environment::{Flow, Loss, Tally};
use crate::sim::{Millis, Time, sort_by};
use crate::world::Simulation;

/// What is lost for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossLine {
    /// `no endpoint`, `overloaded` …
    pub cause: &'static str,
    /// Thousandths of a request a second.
    pub now: u64,
    /// Requests since the load began, in thousandths.
    pub total: u64,
}

/// A pod that gets a share, or got one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Endpoint {
    pub pod: ObjectKey,
    pub node: Name,
    /// It gets a share now: proxies send to it.
    pub is_routed: bool,
    /// Thousandths of a request a second that it answers, and that are lost on it, and why.
    pub served: u64,
    pub lost: u64,
    pub cause: Option<&'static str>,
    /// Requests since the load began, in thousandths.
    pub served_in_all: u64,
    pub lost_in_all: u64,
}

/// One load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadView {
    /// The Service, or the workload whose pods work.
    pub target: ObjectKey,
    /// It is CPU that pods use: nothing can be lost of it.
    pub is_work: bool,
    pub since: Time,
    /// Thousandths of a request a second, or of a CPU, now.
    pub amount: u64,
    /// The same over the last minutes and the next ones: time and amount.
    pub course: Vec<(Time, u64)>,
    /// Thousandths of a request a second that are answered now.
    pub served: u64,
    /// Of a thousand requests so many are answered: now, and since the load began.
    pub success: Option<u32>,
    pub success_in_all: Option<u32>,
    /// Requests since the load began, in thousandths.
    pub sent_in_all: u64,
    /// What is lost now or was, most first.
    pub losses: Vec<LossLine>,
    /// Those that get a share, then those that no longer do.
    pub endpoints: Vec<Endpoint>,
}

/// How far the course of a load is shown either way.
const REACH: Millis = Millis(180_000);
const STEP: u64 = 5_000;

/// All loads, Services first.
pub fn traffic(simulation: &Simulation) -> Vec<LoadView> {
    let traffic = simulation.traffic_now();
    let mut all: Vec<LoadView> = traffic.flows.iter().map(|(key, flow)| load(simulation, key, flow)).collect();
    let place = |it: &LoadView| (it.target.kind != Kind::Service, it.target.namespace.clone(), it.target.name.clone());
    sort_by(&mut all, |a, b| place(a).cmp(&place(b)));
    all
}

/// The load on an object.
pub fn load_on(simulation: &Simulation, key: &ObjectKey) -> Option<LoadView> {
    simulation.traffic().flows.get(key)?;
    simulation.traffic_now().flows.get(key).map(|flow| load(simulation, key, flow))
}

fn load(simulation: &Simulation, key: &ObjectKey, flow: &Flow) -> LoadView {
    let now = simulation.now();
    let (rate, each) = match flow.is_work {
        true => (Tally::default(), Vec::new()),
        false => simulation.with_world(|world| flow.rates(world, now)),
    };
    LoadView {
        target: key.clone(),
        is_work: flow.is_work,
        since: flow.since,
        amount: flow.amount(now),
        course: course(flow, now),
        served: rate.served,
        success: rate.success_permille(),
        success_in_all: flow.total.success_permille(),
        sent_in_all: flow.total.sent() / 1_000,
        losses: losses(&rate, &flow.total),
        endpoints: endpoints(flow, &each),
    }
}

fn course(flow: &Flow, now: Time) -> Vec<(Time, u64)> {
    let from = (now - REACH).max(flow.since);
    let times = (0..).map(|step| Time(from.0 + step * STEP)).take_while(|at| *at <= now + REACH);
    times.map(|at| (at, flow.amount(at))).collect()
}

fn losses(rate: &Tally, total: &Tally) -> Vec<LossLine> {
    let one = |(loss, (now, total)): (&Loss, (&u64, &u64))| LossLine {
        cause: loss.words(),
        now: *now,
        total: *total / 1_000,
    };
    let all = Loss::ALL.iter().zip(rate.lost.iter().zip(&total.lost));
    let mut lines: Vec<LossLine> = all.map(one).filter(|it| it.now > 0 || it.total > 0).collect();
    sort_by(&mut lines, |a, b| (b.now, b.total).cmp(&(a.now, a.total)));
    lines
}

fn cause(tally: &Tally) -> Option<&'static str> {
    let most = Loss::ALL.into_iter().zip(tally.lost).max_by_key(|(_, lost)| *lost);
    most.filter(|(_, lost)| *lost > 0).map(|(loss, _)| loss.words())
}

fn endpoints(flow: &Flow, each: &[Tally]) -> Vec<Endpoint> {
    let none = Tally::default();
    let mut all: Vec<Endpoint> = flow
        .backends
        .iter()
        .enumerate()
        .map(|(index, it)| {
            let rate = each.get(index).unwrap_or(&none);
            let total = flow.each.get(&it.uid).map_or(none, |(_, tally)| *tally);
            Endpoint {
                pod: it.pod.clone(),
                node: it.node.clone(),
                is_routed: true,
                served: rate.served,
                lost: rate.lost_in_all(),
                cause: cause(rate),
                served_in_all: total.served / 1_000,
                lost_in_all: total.lost_in_all() / 1_000,
            }
        })
        .collect();
    let gone = flow.each.iter().filter(|(uid, _)| flow.backends.iter().all(|it| it.uid != **uid));
    all.extend(gone.map(|(_, (pod, total))| Endpoint {
        pod: pod.clone(),
        node: Name::default(),
        is_routed: false,
        served: 0,
        lost: 0,
        cause: cause(total),
        served_in_all: total.served / 1_000,
        lost_in_all: total.lost_in_all() / 1_000,
    }));
    sort_by(&mut all, |a, b| (!a.is_routed, &a.pod.name).cmp(&(!b.is_routed, &b.pod.name)));
    all
}
