//! Requests on their way to pods, and what they cost: rates that are summed up between changes, never one by one.
//!
//! A [`Flow`] is settled up to an instant just before anything changes that its outcome depends on. What changes by
//! itself meanwhile (a program that begins to serve, one that has been told to stop) is known beforehand, so that a
//! stretch of time falls into pieces in which all stays the same, and each piece is one sum.

use super::load::{Curve, Load};
use super::{Machine, spent::Spending};
use crate::api::{Name, ObjectKey, Uid};
use crate::client::{ContainerPhase, ContainerRecord};
use crate::sim::{Map, Millis, OnWrite, Seq, Time};

/// Why a request is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// The Service has no endpoint.
    NoEndpoint,
    /// The pod's program runs and does not answer yet.
    NotServing,
    /// The pod has been told to stop, and proxies still send to it.
    Terminating,
    /// The program does not run or does not answer any more, or its node is off or cut off.
    Unreachable,
    /// More than the pod can take.
    Overloaded,
}

impl Loss {
    pub const ALL: [Self; 5] =
        [Self::NoEndpoint, Self::NotServing, Self::Terminating, Self::Unreachable, Self::Overloaded];

    /// In words for a person.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoEndpoint => "no endpoint",
            Self::NotServing => "not serving yet",
            Self::Terminating => "terminating",
            Self::Unreachable => "does not answer",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Requests, in millionths of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub served: u64,
    /// In the order of [`Loss::ALL`].
    pub lost: [u64; 5],
}

impl Tally {
    pub fn lost_in_all(&self) -> u64 {
        self.lost.iter().sum()
    }

    pub fn sent(&self) -> u64 {
        self.served + self.lost_in_all()
    }

    /// Of a thousand requests so many are served; nothing where none was sent.
    pub fn success_permille(&self) -> Option<u32> {
        let share = (u128::from(self.served) * 1_000).checked_div(u128::from(self.sent()))?;
        u32::try_from(share).ok()
    }

    pub fn lose(&mut self, loss: Loss, amount: u64) {
        if let Some(lost) = self.lost.get_mut(loss as usize) {
            *lost += amount;
        }
    }

    fn add(&mut self, other: &Tally) {
        self.served += other.served;
        for (lost, more) in self.lost.iter_mut().zip(other.lost) {
            *lost += more;
        }
    }
}

/// A pod that gets a share of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    pub pod: ObjectKey,
    pub uid: Uid,
    pub node: Name,
    /// The container that answers.
    pub container: Name,
    /// Requests a second that it can take, in thousandths; no limit where none is given.
    pub capacity: Option<u64>,
}

/// A load and where it goes.
#[derive(Clone, Debug)]
pub struct Flow {
    pub load: Load,
    pub curve: Curve,
    /// The command that set it.
    pub cause: Seq,
    pub since: Time,
    pub settled: Time,
    /// Who gets a share: of a Service, as the proxies know them.
    pub backends: Vec<Backend>,
    /// When the proxies last took in endpoints.
    pub synced: Time,
    /// They are about to do so again.
    pub is_behind: bool,
    /// It is CPU that the pods use, not requests that they are sent.
    pub is_work: bool,
    pub total: Tally,
    /// For each pod that ever got a share, as long as they are few.
    pub each: Map<Uid, (ObjectKey, Tally)>,
}

/// Pods whose own figures a flow keeps.
const MOST_EACH: usize = 512;

impl Flow {
    pub fn new(load: Load, cause: Seq, now: Time, is_work: bool) -> Self {
        Self {
            curve: Curve::from(&load.shape),
            load,
            cause,
            since: now,
            settled: now,
            backends: Vec::new(),
            synced: now,
            is_behind: false,
            is_work,
            total: Tally::default(),
            each: Map::default(),
        }
    }

    /// How much there is now, in thousandths.
    pub fn amount(&self, now: Time) -> u64 {
        self.curve.amount(now.since(self.since).0)
    }

    /// What becomes of the requests of one second as they are at an instant, for all and for each backend.
    pub fn rates(&self, world: &World<'_>, now: Time) -> (Tally, Vec<Tally>) {
        let rate = self.amount(now);
        let mut all = Tally::default();
        if self.backends.is_empty() {
            all.lose(Loss::NoEndpoint, rate);
            return (all, Vec::new());
        }
        let count = self.backends.len() as u64;
        let each: Vec<Tally> = self
            .backends
            .iter()
            .enumerate()
            .map(|(index, backend)| {
                let mut tally = Tally::default();
                let share = share(rate, count, index);
                match world.stands(backend, now) {
                    Err(loss) => tally.lose(loss, share),
                    Ok(()) => {
                        tally.served = share.min(backend.capacity.unwrap_or(u64::MAX));
                        tally.lose(Loss::Overloaded, share - tally.served);
                    }
                }
                tally
            })
            .collect();
        each.iter().for_each(|it| all.add(it));
        (all, each)
    }

    /// Sums up what happened until an instant, in which nothing but time has passed.
    pub fn settle(&mut self, world: &World<'_>, spending: &mut Spending, now: Time) {
        let mut edges: Vec<Time> = vec![now];
        let within = |at: &Time| *at > self.settled && *at < now;
        edges.extend(spending.marks(self.settled, now));
        for backend in &self.backends {
            edges.extend(world.edges(backend).into_iter().flatten().filter(within));
        }
        edges.sort_unstable();
        edges.dedup();
        for until in edges {
            let from = self.settled;
            if self.is_work {
                self.work(world, spending, from, until);
            } else {
                self.send(world, spending, from, until);
            }
            self.settled = until;
        }
    }

    /// The CPU that a workload's pods use in a piece of time.
    fn work(&mut self, world: &World<'_>, spending: &mut Spending, from: Time, until: Time) {
        let count = self.backends.len() as u64;
        let all = self.curve.sum(from.since(self.since).0, until.since(self.since).0, u64::MAX);
        for (index, backend) in self.backends.iter().enumerate() {
            if world.container(backend).is_some_and(ContainerRecord::is_up) {
                // Thousandths of a CPU times ms are millionths of a CPU second.
                spending.spend(world, backend, share(all, count, index) * 1_000, until);
            }
        }
    }

    /// What becomes of the requests of a piece of time.
    fn send(&mut self, world: &World<'_>, spending: &mut Spending, from: Time, until: Time) {
        let (a, b) = (from.since(self.since).0, until.since(self.since).0);
        let all = self.curve.sum(a, b, u64::MAX);
        if self.backends.is_empty() {
            self.total.lose(Loss::NoEndpoint, all);
            return;
        }
        let count = self.backends.len() as u64;
        for (index, backend) in self.backends.iter().enumerate() {
            let mut tally = Tally::default();
            let share = share(all, count, index);
            match world.stands(backend, from) {
                Err(loss) => tally.lose(loss, share),
                Ok(()) => {
                    let fits = backend.capacity.map_or(share, |it| {
                        let taken = self.curve.sum(a, b, it.saturating_mul(count));
                        if taken >= all { share } else { taken / count }
                    });
                    tally.served = fits.min(share);
                    tally.lose(Loss::Overloaded, share - tally.served);
                    // Millionths of a request times millionths of a CPU second, in billionths of one.
                    let spent = u128::from(tally.served) * u128::from(self.load.cost_micro) / 1_000;
                    spending.spend(world, backend, u64::try_from(spent).unwrap_or(u64::MAX), until);
                }
            }
            self.total.add(&tally);
            if self.each.len() < MOST_EACH || self.each.contains_key(&backend.uid) {
                let key = || (backend.pod.clone(), Tally::default());
                self.each.or_insert_with(backend.uid, key).1.add(&tally);
            }
        }
    }
}

/// One of equal shares; what does not come out even goes to the first ones.
fn share(all: u64, count: u64, index: usize) -> u64 {
    all / count + u64::from((index as u64) < all % count)
}

/// All loads.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub flows: Map<ObjectKey, Flow>,
    pub spending: Spending,
}

impl Traffic {
    pub fn settle(&mut self, world: &World<'_>, now: Time) {
        for flow in self.flows.values_mut().filter(|flow| flow.settled < now) {
            flow.settle(world, &mut self.spending, now);
        }
        self.spending.forget(now);
    }
}

/// What there is to send requests to.
pub struct World<'a> {
    pub machines: &'a Map<Name, OnWrite<Machine>>,
    /// Whether a node is cut off.
    pub is_cut: &'a dyn Fn(&Name) -> bool,
}

impl World<'_> {
    pub fn container(&self, backend: &Backend) -> Option<&ContainerRecord> {
        let machine = self.machines.get(&backend.node)?;
        let record = machine.runtime.pods.get(&backend.uid)?;
        record.containers.iter().find(|it| it.name == backend.container)
    }

    /// Whether requests to a pod are answered at an instant, and why not.
    fn stands(&self, backend: &Backend, at: Time) -> Result<(), Loss> {
        let is_on = self.machines.get(&backend.node).is_some_and(|it| it.is_on);
        if !is_on || (self.is_cut)(&backend.node) {
            return Err(Loss::Unreachable);
        }
        // What is not on its node any more was stopped there.
        let Some(it) = self.container(backend) else { return Err(Loss::Terminating) };
        let is_told = it.deaf_from.is_some_and(|from| at >= from);
        match it.phase {
            ContainerPhase::Running { .. } | ContainerPhase::Stopping { .. } if is_told => Err(Loss::Terminating),
            ContainerPhase::Running { .. } | ContainerPhase::Stopping { .. } if it.answers.lives(at) => Ok(()),
            ContainerPhase::Running { .. } if at < it.answers.serves_from => Err(Loss::NotServing),
            ContainerPhase::Exited(_) if it.deaf_from.is_some() => Err(Loss::Terminating),
            _ => Err(Loss::Unreachable),
        }
    }

    /// When a program begins to answer, falls silent, and stops to take requests, as far as that is known.
    fn edges(&self, backend: &Backend) -> [Option<Time>; 3] {
        let Some(it) = self.container(backend) else { return [None; 3] };
        [Some(it.answers.serves_from), it.answers.hangs_from, it.deaf_from]
    }
}

/// How long a proxy waits from one change of its rules to the next (`minSyncPeriod`,
/// `pkg/proxy/apis/config/v1alpha1/defaults.go`, v1.36).
pub const PROXY_SYNC: Millis = Millis(1_000);
