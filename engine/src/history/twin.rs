//! The same history in another world: same scenario, same seed, same commands, and one command more at its beginning.

use std::rc::Rc;

use super::checkpoints::Checkpoints;
use super::{CHUNK, History};
use crate::api::{Kind, Object};
use crate::sim::Time;
use crate::world::{CONTROLLER_MANAGER, Command, Instant, JournalEntry, Scenario, Simulation, Switch, Target};

/// A simulation that follows a history's cursor. It has no history of its own: what it is follows from the other one's
/// commands, so that undo, branches and links are about both.
pub struct Twin {
    checkpoints: Checkpoints,
    /// The commands of the history that it has been given.
    taken: Vec<Rc<JournalEntry>>,
    live: Simulation,
}

impl Twin {
    /// The world whose ReplicaSet controller counts events instead of looking at what is there.
    pub fn edge_triggered(scenario: Scenario) -> Self {
        let process = CONTROLLER_MANAGER.into();
        Self::new(scenario, Command::SetSwitch { process, switch: Switch::EdgeTriggered, on: true })
    }

    pub fn new(scenario: Scenario, first: Command) -> Self {
        let mut live = Simulation::new(scenario);
        live.dispatch(first);
        let mut checkpoints = Checkpoints::default();
        checkpoints.add(&mut live);
        Self { checkpoints, taken: Vec::new(), live }
    }

    pub fn simulation(&self) -> &Simulation {
        &self.live
    }

    /// Goes on towards where the history's cursor is, until it is there or so much has happened. Returns whether it is
    /// there: after all that happens at that time.
    pub fn follow(&mut self, history: &History, max_events: usize) -> bool {
        let there = history.simulation();
        let (steps, to) = (there.journal(), Instant::end_of(there.now()));
        self.go_back(steps, there.now());
        let mut left = max_events;
        while left > 0 {
            let chunk = left.min(CHUNK);
            left -= chunk;
            let next = steps.get(self.taken.len());
            // Other things happen at that time here, so a command comes after all of them.
            if !self.live.run_to(next.map_or(to, |it| Instant::end_of(it.at)), chunk) {
                self.checkpoints.add_if_due(&mut self.live);
                continue;
            }
            self.checkpoints.add_if_due(&mut self.live);
            let Some(next) = next else { return true };
            let command = self.meant_here(&next.command);
            self.live.dispatch(command);
            self.taken.push(Rc::clone(next));
        }
        false
    }

    /// To the last checkpoint before the cursor, where that lies in the past or in another future.
    fn go_back(&mut self, steps: &[Rc<JournalEntry>], now: Time) {
        let is_same = |(a, b): &(&Rc<JournalEntry>, &Rc<JournalEntry>)| {
            Rc::ptr_eq(a, b) || (a.at == b.at && a.command == b.command)
        };
        let n_same = self.taken.iter().zip(steps).take_while(is_same).count();
        let fits = |it: &Simulation| {
            let n_taken = it.journal().len() - 1;
            let next = steps.get(n_taken);
            n_taken <= n_same && it.now() <= now && next.is_none_or(|next| it.now() <= next.at)
        };
        if fits(&self.live) {
            return;
        }
        let found = self.checkpoints.newest_first().find(|it| fits(it)).cloned();
        if let Some(found) = found {
            self.live = found;
            self.taken.truncate(self.live.journal().len() - 1);
            self.checkpoints = self.checkpoints.up_to(self.live.instant());
        }
    }

    /// A command about a pod that only the other world has is meant for the one in its place: the first of the same
    /// ReplicaSet.
    fn meant_here(&self, command: &Command) -> Command {
        let Command::Delete { target, propagation, grace } = command else { return command.clone() };
        let objects = self.live.api().objects();
        if target.kind != Kind::Pod || objects.pod(&target.key()).is_some() {
            return command.clone();
        }
        let stem = |name: &str| name.rsplit_once('-').map(|(stem, _)| stem.to_owned());
        let pods = objects.of_kind(Kind::Pod).filter_map(Object::as_pod).map(|pod| &pod.metadata);
        let siblings = pods.filter(|it| {
            let is_near = *it.namespace == *target.namespace && it.deletion_timestamp.is_none();
            is_near && stem(&it.name).is_some() && stem(&it.name) == stem(&target.name)
        });
        let Some(name) = siblings.map(|it| it.name.to_string()).min() else { return command.clone() };
        let target = Target { name, ..target.clone() };
        Command::Delete { target, propagation: *propagation, grace: *grace }
    }
}
