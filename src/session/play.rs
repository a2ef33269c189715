use leptos::prelude::*;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view;

use super::{Core, Pace, SPEEDS, Session, Tone};
use crate::platform::wall_ms;

/// Wall time in ms that the engine may take of one frame.
const BUDGET_MS: f64 = 4.0;
/// Events between two looks at the clock.
const CHUNK: usize = 32;
/// So much virtual time is searched for the next event or change.
const PATIENCE: Millis = Millis(900_000);
/// A phase of the simple view's loop that is worth a longer look stays for the time of so many events.
const LINGER: f64 = 19.0;
/// What is said when that much time passed for nothing.
const NOTHING: &str = "15 min went by and nothing changed";
/// A frame never counts for more than this, so that a page that was hidden does not leap.
const LONGEST_FRAME_MS: f64 = 100.0;

impl Core {
    /// Runs the engine up to the instant that the wall time stands for, as far as the budget goes.
    fn advance(&mut self, wall: f64, pace: Pace, linger: bool) -> bool {
        let passed = self.last_wall.map_or(0.0, |last| (wall - last).clamp(0.0, LONGEST_FRAME_MS));
        self.last_wall = Some(wall);
        let factor = match pace {
            Pace::Times(factor) => factor,
            Pace::Readable(_) => 1.0,
        };
        let due = passed * factor + self.carry;
        let whole = due.floor();
        self.carry = due - whole;
        let until = Time(self.sim.now().0 + whole as u64);
        if let Pace::Readable(per_second) = pace {
            self.credit = (self.credit + passed * per_second / 1000.0).min(1.0);
            self.advance_readably(until, linger);
            return true;
        }
        let began = wall_ms();
        while !self.sim.run_until(until, CHUNK) {
            if wall_ms() - began > BUDGET_MS {
                return false;
            }
        }
        true
    }

    /// Stops short of the instant while there is more to see than can be read. Where one is to `linger`, a
    /// phase of the shown loop that tells of a difference counts for many events.
    fn advance_readably(&mut self, until: Time, linger: bool) {
        while self.credit > 0.0 {
            let before = self.sim.trace().visible_count();
            let phase = linger.then(|| view::telling_seq(&self.sim));
            if self.sim.run_until(until, 1) {
                return;
            }
            self.credit -= (self.sim.trace().visible_count() - before) as f64;
            if phase.is_some_and(|phase| view::telling_seq(&self.sim) > phase) {
                self.credit -= LINGER;
            }
        }
    }
}

impl Session {
    pub(super) fn pace(self) -> Pace {
        SPEEDS[self.transport.speed.get_untracked().min(SPEEDS.len() - 1)].1
    }

    /// Time runs faster than real: nobody can read everything.
    pub(super) fn is_fast(self) -> bool {
        matches!(self.pace(), Pace::Times(factor) if factor > 1.0)
    }

    /// One animation frame; says whether another is wanted.
    pub(super) fn tick(self, wall: f64) -> bool {
        if self.transport.playing.try_get_untracked() != Some(true) {
            return false;
        }
        let pace = self.pace();
        let linger = self.is_simple.get_untracked();
        self.with_core(|core| {
            let kept_up = core.advance(wall, pace, linger);
            self.transport.behind.put(!kept_up);
            core.show(self, wall);
            core.show_details(self, wall, false);
            core.announce_later(self);
        })
        .is_some()
    }

    pub fn play(self) {
        if self.transport.playing.get_untracked() {
            return;
        }
        self.transport.started.put(true);
        self.transport.playing.set(true);
        self.with_core(|core| core.last_wall = None);
        self.raf.with_value(|raf| raf.iter().for_each(|raf| raf.start()));
    }

    pub fn pause(self) {
        if !self.transport.playing.get_untracked() {
            return;
        }
        self.transport.playing.set(false);
        self.transport.behind.put(false);
        self.raf.with_value(|raf| raf.iter().for_each(|raf| raf.stop()));
        self.settle();
    }

    pub fn toggle(self) {
        if self.transport.playing.get_untracked() { self.pause() } else { self.play() }
    }

    /// Shows everything as it is, and says it.
    fn settle(self) {
        self.refresh();
        self.with_core(|core| core.announce(self));
    }

    /// Pauses and moves on by `step`, which says whether anything happened.
    fn step_with(self, step: impl FnOnce(&mut Core) -> bool) {
        self.pause();
        self.transport.started.put(true);
        let happened = self.with_core(step);
        self.settle();
        if happened == Some(false) {
            self.toast(NOTHING, Tone::Notice);
        }
    }

    /// To the next event.
    pub fn step(self) {
        self.step_with(|core| core.sim.step(PATIENCE));
    }

    /// To the next request of a loop.
    pub fn step_to_act(self) {
        self.step_with(|core| core.sim.step_to_act(PATIENCE));
    }

    /// To the next change of any object, however long that takes. Playing goes on.
    pub fn skip(self) {
        let was_playing = self.transport.playing.get_untracked();
        self.transport.started.put(true);
        let skipped = self.with_core(|core| core.sim.skip_to_change(PATIENCE)).flatten();
        if was_playing {
            self.refresh()
        } else {
            self.settle()
        }
        match skipped {
            Some(skipped) if skipped.0 >= 1_000 => {
                self.toast(["Skipped ", seconds(skipped.0).as_str(), " without a change"].concat(), Tone::Notice);
            }
            Some(_) => {}
            None => self.toast(NOTHING, Tone::Notice),
        }
    }

    pub fn set_speed(self, index: usize) {
        self.transport.speed.put(index.min(SPEEDS.len() - 1));
    }
}

fn seconds(ms: u64) -> String {
    let tenths = (ms + 50) / 100;
    if tenths.is_multiple_of(10) || tenths >= 100 {
        format!("{} s", tenths / 10)
    } else {
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}
