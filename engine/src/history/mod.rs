//! Everything that was done, in branches, and the way to any instant of them.
//!
//! A branch is a list of commands with their instants; with the scenario it decides a whole run. Acting in the past
//! begins a new branch and leaves the old one as it is. Instants are reached by replay from the nearest checkpoint.

mod branch;
mod checkpoints;
mod replay;
mod twin;
mod typed;

use std::rc::Rc;

use crate::sim::{Millis, Seq, Time};
use crate::world::{Command, Goal, Instant, JournalEntry, Outcome, Ran, Scenario, Simulation};
pub use branch::{Branch, BranchId};
pub use checkpoints::{MOST, OLD_SPACING, RECENT, SPACING};
pub use replay::Replay;
pub use twin::Twin;

/// Happenings between two looks at whether a checkpoint is due.
const CHUNK: usize = 256;

/// A simulation with its past, its other futures, and a cursor.
pub struct History {
    branches: Vec<Branch>,
    current: BranchId,
    next: u32,
    live: Simulation,
}

impl History {
    pub fn new(scenario: Scenario) -> Self {
        let mut live = Simulation::new(scenario);
        let mut first = Branch::new(BranchId(0), "A".into(), None);
        first.checkpoints.add(&mut live);
        first.note(&mut live);
        Self { branches: vec![first], current: BranchId(0), next: 1, live }
    }

    /// A run that is known already: all its commands, and how far it went. The cursor is at its beginning.
    pub fn of(scenario: Scenario, steps: Vec<Rc<JournalEntry>>, end: Instant) -> Self {
        let mut history = Self::new(scenario);
        for branch in &mut history.branches {
            branch.steps = steps.clone();
            branch.end = branch.end.max(end);
        }
        history
    }

    /// The world at the cursor.
    pub fn simulation(&self) -> &Simulation {
        &self.live
    }

    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    pub fn branch(&self, id: BranchId) -> Option<&Branch> {
        self.branches.iter().find(|it| it.id == id)
    }

    fn branch_mut(&mut self, id: BranchId) -> Option<&mut Branch> {
        self.branches.iter_mut().find(|it| it.id == id)
    }

    pub fn current(&self) -> BranchId {
        self.current
    }

    fn steps(&self) -> &[Rc<JournalEntry>] {
        self.branch(self.current).map_or(&[], |it| &it.steps)
    }

    /// How far the current branch has been played.
    pub fn end(&self) -> Instant {
        self.branch(self.current).map_or_else(Instant::default, |it| it.end)
    }

    /// Commands that the current branch holds and that are yet to come.
    pub fn pending(&self) -> &[Rc<JournalEntry>] {
        self.steps().get(self.live.journal().len()..).unwrap_or_default()
    }

    /// Whether the current branch goes on beyond the cursor: acting now begins another one.
    pub fn is_past(&self) -> bool {
        !self.pending().is_empty() || self.live.instant() < self.end()
    }

    /// Runs to a time, through the branch's own commands, or until so much has happened. Returns whether the time was
    /// reached.
    pub fn run_until(&mut self, until: Time, max_events: usize) -> bool {
        self.run_to(Instant::end_of(until), max_events, &mut Vec::new())
    }

    /// Runs to an instant, as [`History::run_until`] does. Adds the commands that were refused on the way, each with its
    /// index.
    pub fn run_to(&mut self, to: Instant, max_events: usize, refused: &mut Vec<(usize, Outcome)>) -> bool {
        let mut left = max_events;
        while left > 0 {
            let chunk = left.min(CHUNK);
            left -= chunk;
            let mut is_there = self.live.run_to(self.stop_before(to), chunk);
            if is_there && let Some(outcome) = self.take_pending(to) {
                is_there = false;
                if !outcome.is_ok() {
                    refused.push((self.live.journal().len() - 1, outcome));
                }
            }
            self.note();
            if is_there {
                return true;
            }
        }
        false
    }

    /// As [`History::run_until`], but stops where a goal is met. What was recorded after an event counts as well.
    pub fn run_watching(&mut self, until: Time, max_events: usize, goal: &Goal, after: Seq) -> Ran {
        let bound = Instant::end_of(until);
        let (mut left, mut seen) = (max_events, after);
        while left > 0 {
            let chunk = left.min(CHUNK);
            left -= chunk;
            let mut ran = self.live.run_watching(self.stop_before(bound), chunk, goal, seen);
            seen = self.live.trace().last_seq();
            if ran == Ran::There && self.take_pending(bound).is_some() {
                ran = if self.live.first_met(goal, seen).is_some() { Ran::Met } else { Ran::OnTheWay };
            }
            self.note();
            if ran != Ran::OnTheWay {
                return ran;
            }
        }
        Ran::OnTheWay
    }

    /// Runs until a goal is met or the branch's next command is carried out, for at most `within` of virtual time.
    /// Returns whether there was anything.
    pub fn step(&mut self, goal: &Goal, within: Millis) -> bool {
        let bound = Instant::end_of(self.live.now() + within);
        let stop = self.stop_before(bound);
        let is_met = self.live.step_to(goal, stop)
            // Nothing more happens before the command: the clock goes on to it.
            || (stop != bound && self.live.run_to(stop, usize::MAX) && self.take_pending(bound).is_some());
        self.note();
        is_met
    }

    /// Where the next pending command is to be given, unless that is beyond an instant.
    fn stop_before(&self, bound: Instant) -> Instant {
        let index = self.live.journal().len();
        let next = self.pending().first().filter(|it| bound.includes(index, it));
        next.map_or(bound, |it| Instant::before(index, it))
    }

    fn take_pending(&mut self, bound: Instant) -> Option<Outcome> {
        let index = self.live.journal().len();
        let command = self.pending().first().filter(|it| bound.includes(index, it))?.command.clone();
        Some(self.live.dispatch(command))
    }

    /// The cursor has moved forward.
    fn note(&mut self) {
        let Self { branches, current, live, .. } = self;
        let Some(branch) = branches.iter_mut().find(|it| it.id == *current) else { return };
        branch.note(live);
    }

    /// Does what a person asked for. In the past that begins a branch.
    pub fn dispatch(&mut self, command: Command) -> Outcome {
        self.act(|live| live.dispatch(command))
    }

    /// Lets something happen to the world, whose commands the branch gets; in the past, a new one.
    fn act<T>(&mut self, deed: impl FnOnce(&mut Simulation) -> T) -> T {
        if self.is_past() {
            self.fork();
        }
        let n_before = self.live.journal().len();
        let done = deed(&mut self.live);
        let Self { branches, current, live, .. } = self;
        if let Some(branch) = branches.iter_mut().find(|it| it.id == *current) {
            branch.steps.extend(live.journal().get(n_before..).unwrap_or_default().iter().cloned());
        }
        self.note();
        done
    }

    /// Begins a branch at the cursor and makes it the current one.
    pub fn fork(&mut self) -> BranchId {
        let n_steps = self.live.journal().len();
        let steps = self.steps()[..n_steps].to_vec();
        self.add_branch(steps, self.live.instant())
    }

    fn add_branch(&mut self, steps: Vec<Rc<JournalEntry>>, at: Instant) -> BranchId {
        let id = BranchId(self.next);
        self.next += 1;
        let mut branch = Branch::new(id, branch::letters(id.0), Some((self.current, at)));
        branch.steps = steps;
        branch.end = at;
        (branch.record, branch.recorded) = (self.live.recorded().clone(), at);
        if let Some(parent) = self.branch_mut(self.current) {
            branch.checkpoints = parent.checkpoints.up_to(at);
            parent.checkpoints.rest();
        }
        self.branches.push(branch);
        self.current = id;
        id
    }

    /// What if a command had not been given: a branch without it, with the cursor at where it was. The commands after
    /// it are to come, at their times.
    ///
    /// Nothing for a command that the current branch does not hold.
    pub fn without(&mut self, index: usize) -> Option<BranchId> {
        let skipped = Instant::before(index, self.steps().get(index)?);
        let end = self.end();
        self.seek(skipped);
        let mut steps = self.steps().to_vec();
        steps.remove(index);
        for step in &mut steps[index..] {
            // Other things happen at that time now.
            *step = Rc::new(JournalEntry { nth: None, ..JournalEntry::clone(step) });
        }
        let end = Instant { commands: steps.len() as u32, nth: 0, ..end };
        let id = self.add_branch(steps, self.live.instant());
        if let Some(branch) = self.branch_mut(id) {
            branch.end = branch.end.max(end);
        }
        Some(id)
    }

    /// The way to an instant of a branch; an instant beyond the branch's end is reached by running on.
    ///
    /// Nothing for a branch that is not there.
    pub fn way_to(&self, id: BranchId, to: Instant) -> Option<Replay> {
        let branch = self.branch(id)?;
        let checkpoint = branch.checkpoints.before(to);
        let here = self.live.instant();
        let is_ahead = id == self.current && here <= to && checkpoint.is_none_or(|it| it.instant() <= here);
        let from = if is_ahead { &self.live } else { checkpoint? };
        Some(Replay::new(from.clone(), &branch.steps, to))
    }

    /// The way to just after a trace event of the current branch. Where the branch has no such event, the way to its
    /// end.
    pub fn way_to_event(&self, seq: Seq) -> Option<Replay> {
        let branch = self.branch(self.current)?;
        let checkpoint = branch.checkpoints.before_event(seq);
        let here = self.live.trace().last_seq();
        let is_ahead = here < seq && checkpoint.is_none_or(|it| it.trace().last_seq() <= here);
        let from = if is_ahead { &self.live } else { checkpoint? };
        Some(Replay::new(from.clone(), &branch.steps, Instant::end_of(branch.end.at)).until(seq))
    }

    /// Puts the cursor where a replay has led. It may have been stopped on its way.
    pub fn arrive(&mut self, id: BranchId, replay: Replay) {
        if self.branch(id).is_some() {
            self.current = id;
            self.live = replay.into_simulation();
            self.note();
        }
    }

    /// Puts the cursor to an instant of the current branch, in one go.
    pub fn seek(&mut self, to: Instant) {
        self.open(self.current, to);
    }

    /// Puts the cursor to an instant of a branch, in one go.
    pub fn open(&mut self, id: BranchId, to: Instant) {
        if let Some(mut replay) = self.way_to(id, to) {
            while !replay.run(usize::MAX) {}
            self.arrive(id, replay);
        }
    }

    /// The last instant before the cursor at which a goal was met, or the beginning.
    pub fn last_met(&self, goal: &Goal) -> Instant {
        let here = self.live.instant();
        let Some(branch) = self.branch(self.current) else { return Instant::default() };
        let mut before = here;
        // What was met lies before a checkpoint where nothing was met after it.
        while let Some(from) = branch.checkpoints.strictly_before(before) {
            let mut replay = Replay::new(from.clone(), &branch.steps, here);
            let start = from.instant();
            if let Some(found) = replay.last_met(goal, here) {
                return found;
            }
            before = start;
        }
        Instant::default()
    }

    /// The world at the cursor, or where that no longer keeps a past event, an earlier one of its branch that does.
    pub fn keeping(&self, seq: Seq) -> &Simulation {
        let is_kept = self.live.trace().get(seq).is_some();
        let earlier = || self.branch(self.current)?.checkpoints.keeping(seq);
        if is_kept { &self.live } else { earlier().unwrap_or(&self.live) }
    }

    /// The newest event of an earlier instant that meets a goal; where [`History::last_met`] would replay, this only looks
    /// at what is kept, here and in checkpoints. Nothing where there is none.
    pub fn last_event(&self, goal: &Goal) -> Option<Seq> {
        let newest = |world: &Simulation, until: Seq| {
            world.trace().events().rev().find(|it| it.seq <= until && goal.is_met(it)).map(|it| it.seq)
        };
        let mut until = self.live.earlier();
        if let Some(found) = newest(&self.live, until) {
            return Some(found);
        }
        let mut oldest = self.live.trace().oldest_seq();
        for world in self.branch(self.current)?.checkpoints.newest_first() {
            if oldest.0 <= 1 {
                return None;
            }
            // One that keeps something older, without a gap between.
            until = until.min(Seq(oldest.0 - 1));
            if world.trace().last_seq() >= until && world.trace().oldest_seq() < oldest {
                if let Some(found) = newest(world, until) {
                    return Some(found);
                }
                oldest = world.trace().oldest_seq();
            }
        }
        None
    }

    /// Back to just before the last command; the branch keeps it. Returns the command.
    pub fn undo(&mut self) -> Option<Rc<JournalEntry>> {
        let last = self.live.journal().last().cloned()?;
        self.seek(Instant::before(self.live.journal().len() - 1, &last));
        Some(last)
    }

    /// Forward to just after the next command of the branch. Returns the command.
    pub fn redo(&mut self) -> Option<Rc<JournalEntry>> {
        let next = self.pending().first().cloned()?;
        let index = self.live.journal().len();
        self.live.run_to(Instant::before(index, &next), usize::MAX);
        self.live.dispatch(next.command.clone());
        self.note();
        Some(next)
    }

    /// Gives a branch another name; an empty one changes nothing.
    pub fn rename(&mut self, id: BranchId, name: &str) {
        let name = name.trim();
        if let Some(branch) = self.branch_mut(id).filter(|_| !name.is_empty()) {
            branch.name = name.chars().take(branch::NAME_LIMIT).collect();
        }
    }

    /// Forgets a branch, unless it is the current one. Branches that began in it go on.
    pub fn delete(&mut self, id: BranchId) -> bool {
        let Some(at) = self.branches.iter().position(|it| it.id == id && id != self.current) else { return false };
        let gone = self.branches.remove(at);
        for child in self.branches.iter_mut().filter(|it| it.parent.is_some_and(|(parent, _)| parent == id)) {
            child.parent = match (gone.parent, child.parent) {
                (Some((parent, forked)), Some((_, at))) => Some((parent, forked.min(at))),
                _ => None,
            };
        }
        true
    }

    /// How many checkpoints are held, those shared by branches counted once.
    pub fn n_checkpoints(&self) -> usize {
        let mut seen: Vec<*const Simulation> = self.branches.iter().flat_map(|it| it.checkpoints.addresses()).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    }
}
