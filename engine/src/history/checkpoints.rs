use std::rc::Rc;

use crate::sim::{Millis, Seq};
use crate::world::{Instant, Simulation};

/// Trace events between two checkpoints of late: what replaying them costs is what showing an instant costs. As
/// WebAssembly an event costs more than twice as much to replay, and a checkpoint takes three quarters of the memory.
pub const SPACING: u64 = if IS_WASM { 1_200 } else { 1_800 };
/// The same further back.
pub const OLD_SPACING: u64 = if IS_WASM { 13_000 } else { 16_000 };
const IS_WASM: bool = cfg!(target_family = "wasm");
/// How far back checkpoints lie close, in virtual time.
pub const RECENT: Millis = Millis(60_000);
/// Checkpoints of a branch. Where there would be more, the closest go, and instants take longer to show.
pub const MOST: usize = 96;
/// Of a branch that is not the current one.
const MOST_AT_REST: usize = 8;

/// Simulations as they were, in order.
#[derive(Clone, Default)]
pub struct Checkpoints {
    all: Vec<Rc<Simulation>>,
}

fn cost(simulation: &Simulation) -> u64 {
    simulation.trace().last_seq().0
}

impl Checkpoints {
    pub fn add(&mut self, live: &mut Simulation) {
        self.all.push(Rc::new(live.checkpoint()));
    }

    /// Takes one if the last one is far behind; none where one was taken before.
    pub fn add_if_due(&mut self, live: &mut Simulation) {
        if self.all.last().is_some_and(|last| cost(live) >= cost(last) + SPACING) {
            self.add(live);
            self.thin(live.now().0.saturating_sub(RECENT.0));
        }
    }

    /// Leaves out what lies closer than it has to, before a time in ms.
    fn thin(&mut self, old: u64) {
        let mut index = 1;
        while index + 1 < self.all.len() && self.all[index + 1].now().0 < old {
            match self.gap(index) <= OLD_SPACING {
                true => drop(self.all.remove(index)),
                false => index += 1,
            }
        }
        self.reduce(MOST, old);
    }

    /// The costliest replay if one were not there.
    fn gap(&self, index: usize) -> u64 {
        cost(&self.all[index + 1]) - cost(&self.all[index - 1])
    }

    /// The first and the last stay. Of late more of them may lie on the same way.
    fn reduce(&mut self, most: usize, old: u64) {
        let gap = |all: &Self, index: usize| {
            let is_old = all.all[index + 1].now().0 < old;
            all.gap(index) * if is_old { SPACING } else { OLD_SPACING }
        };
        while self.all.len() > most {
            let Some(closest) = (1..self.all.len() - 1).min_by_key(|index| gap(self, *index)) else { return };
            self.all.remove(closest);
        }
    }

    /// The branch is not the current one any more.
    pub fn rest(&mut self) {
        self.reduce(MOST_AT_REST, u64::MAX);
    }

    /// Those of a branch that begins at an instant.
    pub fn up_to(&self, at: Instant) -> Self {
        Self { all: self.all.iter().filter(|it| it.instant() <= at).cloned().collect() }
    }

    pub fn before(&self, at: Instant) -> Option<&Simulation> {
        self.all.iter().rev().find(|it| it.instant() <= at).map(|it| &**it)
    }

    /// The last one in which an event is yet to come; the first one for what happened before all of them.
    pub fn before_event(&self, seq: Seq) -> Option<&Simulation> {
        let found = self.all.iter().rev().find(|it| it.trace().last_seq() < seq);
        found.or(self.all.first()).map(|it| &**it)
    }

    pub fn strictly_before(&self, at: Instant) -> Option<&Simulation> {
        self.all.iter().rev().find(|it| it.instant() < at).map(|it| &**it)
    }

    /// The first in which an event is kept.
    pub fn keeping(&self, seq: Seq) -> Option<&Simulation> {
        let from = self.all.partition_point(|it| it.trace().last_seq() < seq);
        self.all.get(from).map(|it| &**it).filter(|it| it.trace().get(seq).is_some())
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &Simulation> {
        self.all.iter().rev().map(|it| &**it)
    }

    pub fn addresses(&self) -> impl Iterator<Item = *const Simulation> {
        self.all.iter().map(Rc::as_ptr)
    }
}
