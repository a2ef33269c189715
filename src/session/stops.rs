//! What play and steps stop at. No part of the journal, since it changes nothing in the world.

use loopscope_engine::client::LoopIndex;
use loopscope_engine::sim::Time;
use loopscope_engine::view;
use loopscope_engine::world::{Goal, Instant, Of, Ran};

use super::{Core, Session, Tone};

/// Stops kept at the most.
const MOST: usize = 20;

/// Something to stop at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    pub id: u32,
    pub goal: Goal,
    /// `Deployment web changes`
    pub words: String,
    pub is_on: bool,
}

impl Core {
    /// Runs to a time, or until so much has happened, or to what is watched for.
    pub(super) fn run(&mut self, until: Time, most: usize) -> Ran {
        let Self { history, terminal, watch, watched, stopped, .. } = self;
        // A command that waits is to see everything as it happens.
        let most = if terminal.is_busy() { 1 } else { most };
        let ran = history.run_typing(terminal, until, |history, until| {
            let Some(goal) = &watch else {
                return if history.run_until(until, most) { Ran::There } else { Ran::OnTheWay };
            };
            // One may have gone back since.
            let after = (*watched).min(history.simulation().trace().last_seq());
            let ran = history.run_watching(until, most, goal, after);
            *stopped = history.simulation().first_met(goal, after).filter(|_| ran == Ran::Met);
            ran
        });
        if watch.is_some() {
            *watched = history.simulation().trace().last_seq();
        }
        ran
    }

    /// Whether nothing of the kind happens by itself within the time that a step may leave out.
    pub(super) fn is_far(&self, goal: &Goal) -> bool {
        let to = Instant::end_of(self.sim().now() + super::play::PATIENCE);
        self.history.pending().is_empty() && !self.terminal.is_busy() && !self.sim().clone().step_to(goal, to)
    }

    /// One step to a goal, or to what is watched for if that comes first.
    pub(super) fn step_to(&mut self, goal: &Goal) -> bool {
        let after = self.sim().trace().last_seq();
        let either = self.watch.as_ref().map(|watch| Goal::Any(vec![goal.clone(), watch.clone()]));
        let goal = either.as_ref().unwrap_or(goal);
        let happened = self.history.step_typing(&mut self.terminal, goal, super::play::PATIENCE);
        self.stopped = self.watch.as_ref().and_then(|goal| self.sim().first_met(goal, after));
        self.watched = self.sim().trace().last_seq();
        happened
    }
}

impl Session {
    /// Stops from now on where a goal is met; not twice at the same.
    pub fn stop_at(self, goal: Goal, words: String) {
        let all = self.stops.get_untracked();
        if let Some(same) = all.iter().find(|it| it.goal == goal) {
            return self.set_stop(same.id, true);
        }
        if all.len() >= MOST {
            return self.toast("There are 20 stops already: remove one first", Tone::Error);
        }
        let id = all.iter().map(|it| it.id).max().unwrap_or(0) + 1;
        self.say(["Stops when ", words.as_str()].concat());
        self.stops.update(|all| all.push(Stop { id, goal, words, is_on: true }));
        self.watch();
    }

    /// Switches a stop off, or on again.
    pub fn set_stop(self, id: u32, on: bool) {
        self.stops.update(|all| all.iter_mut().filter(|it| it.id == id).for_each(|it| it.is_on = on));
        self.watch();
    }

    pub fn remove_stop(self, id: u32) {
        self.stops.update(|all| all.retain(|it| it.id != id));
        self.watch();
    }

    /// Stops when the selected object changes, or no longer does.
    pub fn switch_stop_at_selected(self) {
        let Some(key) = self.focus.selected.get_untracked() else { return };
        let words = [key.kind.name(), " ", &*key.name, " changes"].concat();
        let goal = Goal::Change(key);
        match self.stops.with_untracked(|all| all.iter().find(|it| it.goal == goal).map(|it| (it.id, it.is_on))) {
            Some((id, true)) => self.remove_stop(id),
            _ => self.stop_at(goal, words),
        }
    }

    /// Stops when a loop acts, given with its place among the loops.
    pub fn stop_at_loop(self, index: u32, name: &str) {
        self.stop_at(Goal::ActOf(LoopIndex(index)), [name, " acts"].concat());
    }

    /// Stops when a condition gets a status.
    pub fn stop_at_condition(self, of: Of, kind: &str, status: &str) {
        let whose = match &of {
            Of::Object(key) => [key.kind.name(), " ", &*key.name].concat(),
            Of::Kind(kind) => ["any ", kind.name()].concat(),
        };
        let words = [kind, " of ", &whose, " becomes ", status].concat();
        self.stop_at(Goal::Condition { of, kind: kind.to_owned(), status: status.to_owned() }, words);
    }

    fn watch(self) {
        let on = |it: &Stop| it.is_on.then(|| it.goal.clone());
        let goals: Vec<Goal> = self.stops.with_untracked(|all| all.iter().filter_map(on).collect());
        self.with_core(|core| {
            core.watched = core.sim().trace().last_seq();
            core.watch = (!goals.is_empty()).then_some(Goal::Any(goals));
        });
    }

    /// Pauses at what was watched for, says so, and shows it.
    pub(super) fn stop_if_met(self) {
        let found = self.with_core(|core| {
            let seq = core.stopped.take()?;
            let event = core.sim().trace().get(seq)?;
            let key = view::subject(core.sim(), seq.0);
            let is_there = key.as_ref().is_some_and(|key| core.sim().api().objects().get(key).is_some());
            let is_met = |it: &&Stop| it.is_on && it.goal.is_met(&event);
            let words = self.stops.with_untracked(|all| all.iter().find(is_met).map(|it| it.words.clone()))?;
            let number = core.sim().trace().number(seq).unwrap_or(seq.0);
            Some((seq.0, number, key.filter(|_| is_there), words))
        });
        let Some((seq, number, key, words)) = found.flatten() else { return };
        self.pause();
        if let Some(key) = key {
            self.focus.selected.put(Some(key));
        }
        self.select_event(seq);
        self.refresh();
        let said = ["Stopped at event ", number.to_string().as_str(), ": ", &words].concat();
        self.say(said.clone());
        self.toast(said, Tone::Notice);
    }
}
