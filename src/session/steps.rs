//! Steps to an event of a kind, forward and back.

use loopscope_engine::view;
use loopscope_engine::world::{Goal, Instant};

use super::play::{NO_ACT, NO_CHANGE, NO_STEP, duration};
use super::seek::here;
use super::{Session, Tone};

/// What one steps by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepBy {
    Event,
    Act,
    Turn,
    Write,
    /// Changes of the selected object.
    Selected,
}

impl StepBy {
    pub const ALL: [StepBy; 5] = [StepBy::Event, StepBy::Act, StepBy::Turn, StepBy::Write, StepBy::Selected];

    /// As in `Next act of a loop`.
    pub fn name(self) -> &'static str {
        match self {
            StepBy::Event => "event",
            StepBy::Act => "act of a loop",
            StepBy::Turn => "turn of a loop",
            StepBy::Write => "write",
            StepBy::Selected => "change of the selected object",
        }
    }

    /// What did not happen in the time that a step leaves out.
    fn nothing(self, is_code: bool) -> &'static str {
        match self {
            StepBy::Act if is_code => NO_STEP,
            StepBy::Act => NO_ACT,
            StepBy::Turn => "no loop had a turn",
            StepBy::Selected => "it did not change",
            StepBy::Event | StepBy::Write => NO_CHANGE,
        }
    }
}

impl Session {
    fn goal(self, by: StepBy) -> Option<Goal> {
        Some(match by {
            StepBy::Event => Goal::Event,
            // Where one loop's code is shown, the steps that this takes.
            StepBy::Act if self.is_simple.get_untracked() => self.with_core(|core| view::code_step(core.sim()))?,
            StepBy::Act => Goal::Act,
            StepBy::Turn => Goal::Turn,
            StepBy::Write => Goal::Write,
            StepBy::Selected => match self.focus.selected.get_untracked() {
                Some(key) => Goal::Change(key),
                None => {
                    self.needs_selection();
                    return None;
                }
            },
        })
    }

    pub fn needs_selection(self) {
        self.toast("Select an object first", Tone::Notice);
    }

    /// To the next one, paused.
    pub fn step_on(self, by: StepBy) {
        if let Some(goal) = self.goal(by) {
            self.step_with(by.nothing(self.is_simple.get_untracked()), |core| core.step_to(&goal));
        }
    }

    /// Back to just after the one before, paused. The future stays.
    pub fn step_back(self, by: StepBy) {
        let Some(goal) = self.goal(by) else { return };
        self.pause();
        let found = self.with_core(|core| (core.sim().now(), core.history.last_event(&goal)));
        let Some((from, seq)) = found else { return };
        match seq {
            Some(seq) => self.go(String::new(), |core| Some((core.history.current(), core.history.way_to_event(seq)?))),
            None if from.0 == 0 => return self.toast("This is the beginning", Tone::Notice),
            None => self.go(String::new(), |core| here(core, Instant::default())),
        }
        if !self.is_seeking() {
            let left_out = self.with_core(|core| from.since(core.sim().now())).unwrap_or_default();
            if left_out.0 >= 1_000 {
                self.transport.leap.put(["back ", duration(left_out.0).as_str()].concat());
            }
        }
    }
}
