use leptos::prelude::*;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view;
use loopscope_engine::world::{Goal, Ran};

use super::{Core, EVEN, LoopsView, Pace, READABLE, READABLE_STEPS, SPEEDS, Session, Tone};
use crate::platform::{choose, wall_ms};

/// Wall time in ms that the engine may take of one frame.
const BUDGET_MS: f64 = 4.0;
/// Events between two looks at the clock.
const CHUNK: usize = 32;
/// So much virtual time is searched for the next event or change.
pub(super) const PATIENCE: Millis = Millis(900_000);
/// A phase of the simple view's loop that is worth a longer look stays for the time of so many events.
const LINGER: f64 = 19.0;
/// What is said when that much time passed for nothing.
const NOTHING: &str = "15 min went by: ";
/// A step that leaves out less than this is not worth a word.
const LEAP: Millis = Millis(1_000);
pub(super) const NO_CHANGE: &str = "nothing changed but heartbeats";
pub(super) const NO_ACT: &str = "no loop acted";
pub(super) const NO_STEP: &str = "this loop took no step";
/// So much longer an even step stays that left out more, in wall ms.
const LEAP_STAYS_MS: f64 = 2_000.0;
/// The factor is measured over this much wall time.
const MEASURE_MS: f64 = 500.0;
/// While playing, what is followed changes at most this often, in wall ms.
const FOLLOW_EVERY_MS: f64 = 600.0;
/// A frame never counts for more than this, so that a page that was hidden does not leap.
const LONGEST_FRAME_MS: f64 = 100.0;

/// How a frame's share of time went.
enum Went {
    Well,
    /// The engine cannot keep up.
    Behind,
    /// An even step, and the time that it left out, in words.
    Leapt(String),
    /// However long one waits, nothing happens.
    Nowhere,
}

impl Core {
    /// Runs the engine up to the instant that the wall time stands for, as far as the budget goes.
    fn advance(&mut self, wall: f64, pace: Pace, linger: bool) -> Went {
        let passed = self.last_wall.map_or(0.0, |last| (wall - last).clamp(0.0, LONGEST_FRAME_MS));
        self.last_wall = Some(wall);
        let factor = match pace {
            Pace::Times(factor) => factor,
            Pace::Readable(_) => 1.0,
            Pace::Events(every) | Pace::Acts(every) => {
                self.waited += passed;
                return if self.waited < every { Went::Well } else { self.even_step(matches!(pace, Pace::Acts(_))) };
            }
        };
        let due = passed * factor + self.carry;
        let whole = due.floor();
        self.carry = due - whole;
        let until = self.due_by(Time(self.sim().now().0 + whole as u64));
        if let Pace::Readable(per_second) = pace {
            self.credit = (self.credit + passed * per_second / 1000.0).min(1.0);
            self.advance_readably(until, linger);
            return Went::Well;
        }
        let began = wall_ms();
        while self.run(until, CHUNK) == Ran::OnTheWay {
            if wall_ms() - began > BUDGET_MS {
                return Went::Behind;
            }
        }
        Went::Well
    }

    fn even_step(&mut self, to_act: bool) -> Went {
        self.waited = 0.0;
        let from = self.sim().now();
        let happened = self.step_to(if to_act { &Goal::Act } else { &Goal::Event });
        if !happened {
            return Went::Nowhere;
        }
        let leap = leap(from, self.sim().now(), if to_act { NO_ACT } else { NO_CHANGE });
        if !leap.is_empty() {
            // Time that was left out is said, and there has to be time to read it.
            self.waited = -LEAP_STAYS_MS;
        }
        Went::Leapt(leap)
    }

    /// Virtual time per real time, once enough of it went by to tell.
    fn measure(&mut self, wall: f64) -> Option<f64> {
        let now = self.sim().now().0;
        let (since, from) = *self.measured.get_or_insert((wall, now));
        if wall - since < MEASURE_MS {
            return None;
        }
        self.measured = Some((wall, now));
        Some((now - from) as f64 / (wall - since))
    }

    /// Selects what the newest act is about, while that is wanted.
    pub(super) fn follow(&mut self, session: Session, wall: f64, playing: bool) {
        let (last, since) = self.followed;
        if !session.transport.follow.get_untracked() || (playing && wall - since < FOLLOW_EVERY_MS) {
            return;
        }
        let Some((seq, of, key)) = view::newest_act(self.sim()).filter(|(seq, ..)| *seq != last) else { return };
        self.followed = (seq, wall);
        session.board.open_loop.put(Some(of));
        if self.sim().api().objects().get(&key).is_some() {
            session.focus.selected.put(Some(key));
            session.focus.chain.put(None);
        }
    }

    /// Stops short of the instant while there is more to see than can be read. Where one is to `linger`, a
    /// phase of the shown loop that tells of a difference counts for many events.
    fn advance_readably(&mut self, until: Time, linger: bool) {
        while self.credit > 0.0 {
            let before = self.sim().trace().visible_count();
            let phase = linger.then(|| view::telling_seq(self.sim()));
            if self.run(until, 1) != Ran::OnTheWay {
                return;
            }
            self.credit -= (self.sim().trace().visible_count() - before) as f64;
            if phase.is_some_and(|phase| view::telling_seq(self.sim()) > phase) {
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
        if self.is_seeking() {
            return self.go_on();
        }
        if self.is_skipping() {
            return self.skip_on(wall);
        }
        if self.transport.playing.try_get_untracked() != Some(true) {
            return false;
        }
        let pace = self.pace();
        let linger = self.is_simple.get_untracked();
        let went = self.with_core(|core| {
            let mark = core.mark();
            let went = core.advance(wall, pace, linger);
            let refused = if core.lesson.is_some() { core.do_due(self) } else { None };
            core.keep_typed(mark, self);
            if let Some(factor) = core.measure(wall) {
                self.transport.factor.put(factor_words(pace, factor, matches!(went, Went::Behind)));
            }
            if let Went::Leapt(leap) = &went {
                self.transport.leap.put(leap.clone());
            }
            core.show(self, wall);
            core.show_details(self, wall, false);
            core.show_timeline(self, wall, false);
            core.show_console(self);
            core.announce_later(self);
            (went, refused)
        });
        let (went, refused) = went.map_or((None, None), |(went, refused)| (Some(went), refused));
        if refused.is_some() {
            self.after_due(refused);
        }
        if self.learning().is_some() {
            self.look_now_and_then(wall);
        }
        if let Some(Went::Nowhere) = went {
            self.pause();
            self.toast([NOTHING, NO_CHANGE].concat(), Tone::Notice);
        }
        self.stop_if_met();
        self.after_typing();
        went.is_some()
    }

    pub fn play(self) {
        if self.transport.playing.get_untracked() {
            return;
        }
        self.transport.started.put(true);
        self.transport.playing.set(true);
        self.transport.leap.put(String::new());
        self.with_core(|core| {
            (core.last_wall, core.measured, core.waited) = (None, None, f64::MAX);
            core.watched = core.sim().trace().last_seq();
        });
        self.start_frames();
    }

    pub(super) fn start_frames(self) {
        self.raf.with_value(|raf| raf.iter().for_each(|raf| raf.start()));
    }

    pub fn pause(self) {
        self.stop_seeking();
        if !self.transport.playing.get_untracked() {
            return;
        }
        self.transport.playing.set(false);
        self.transport.factor.put(factor_words(self.pace(), 0.0, false));
        self.raf.with_value(|raf| raf.iter().for_each(|raf| raf.stop()));
        self.settle();
    }

    pub fn toggle(self) {
        if self.transport.playing.get_untracked() { self.pause() } else { self.play() }
    }

    /// Shows everything as it is, and says it.
    pub(super) fn settle(self) {
        self.refresh();
        self.with_core(|core| core.announce(self));
    }

    /// Pauses and moves on by `step`, which says whether anything happened.
    pub(super) fn step_with(self, idle: &'static str, step: impl FnOnce(&mut Core) -> bool) {
        self.pause();
        self.move_with(idle, step);
        self.settle();
        self.stop_if_met();
    }

    fn move_with(self, idle: &'static str, step: impl FnOnce(&mut Core) -> bool) {
        self.stop_seeking();
        self.transport.started.put(true);
        let happened = self.with_core(|core| {
            let (from, mark) = (core.sim().now(), core.mark());
            let happened = step(core);
            core.keep_typed(mark, self);
            self.transport.leap.put(leap(from, core.sim().now(), idle));
            happened
        });
        if happened == Some(false) {
            self.toast([NOTHING, idle].concat(), Tone::Notice);
        }
        if self.with_core(|core| core.terminal.is_busy()) == Some(true) {
            self.type_on();
        }
        self.after_typing();
    }

    /// To the next change of any object, however long that takes. Playing goes on.
    pub fn skip(self) {
        let was_playing = self.transport.playing.get_untracked();
        self.move_with(NO_CHANGE, |core| core.step_to(&Goal::Write));
        if was_playing {
            self.refresh()
        } else {
            self.settle()
        }
        self.stop_if_met();
    }

    pub fn set_speed(self, index: usize) {
        self.transport.speed.put(index.min(SPEEDS.len() - 1));
        self.transport.factor.put(factor_words(self.pace(), 0.0, false));
        self.with_core(|core| core.measured = None);
    }

    /// To the next faster or slower speed of the same mode.
    pub fn shift_speed(self, faster: bool) {
        let now = self.transport.speed.get_untracked();
        let (first, last) = if now < EVEN { (0, EVEN - 1) } else { (EVEN, SPEEDS.len() - 1) };
        self.set_speed(if faster { now + 1 } else { now.saturating_sub(1) }.clamp(first, last));
    }

    /// Between the real gaps and even steps, each at the speed that it had.
    pub fn switch_even(self) {
        let now = self.transport.speed.get_untracked();
        let first = if now >= EVEN { READABLE } else { READABLE_STEPS };
        let other = self.transport.other_speed.get_untracked().filter(|other| (*other >= EVEN) != (now >= EVEN));
        self.transport.other_speed.put(Some(now));
        self.set_speed(other.unwrap_or(first));
    }

    /// Lets the selection follow the newest act, or leaves it alone.
    pub fn switch_follow(self) {
        let follow = !self.transport.follow.get_untracked();
        self.transport.follow.put(follow);
        self.with_core(|core| core.followed = (0, f64::MIN));
        self.refresh();
        self.say(if follow { "Following the newest act" } else { "Following no more" });
    }

    /// Shows the loops as rows, cards or one picture, and remembers it.
    pub fn show_loops_as(self, how: LoopsView) {
        self.board.loops_view.put(how);
        choose("loops", how.word());
        self.refresh();
    }
}

/// `skipped 4 min 12 s: nothing changed but heartbeats`; nothing where hardly any time was left out.
fn leap(from: Time, to: Time, idle: &str) -> String {
    let left_out = to.since(from);
    if left_out < LEAP {
        return String::new();
    }
    ["skipped ", duration(left_out.0).as_str(), ": ", idle].concat()
}

/// `3.2 s`, `45 s`, `4 min 12 s`
pub(super) fn duration(ms: u64) -> String {
    let (minutes, seconds) = (ms / 60_000, ms / 1_000 % 60);
    let mut text = String::new();
    if minutes > 0 {
        text.push_str(&minutes.to_string());
        text.push_str(" min ");
    }
    text.push_str(&seconds.to_string());
    if ms < 10_000 {
        text.push('.');
        text.push_str(&(ms / 100 % 10).to_string());
    }
    text.push_str(" s");
    text
}

/// Exact where it is fixed; else what it was of late, where anything was measured.
fn factor_words(pace: Pace, measured: f64, is_behind: bool) -> String {
    match pace {
        Pace::Times(_) if is_behind => [times(measured).as_str(), ", all this machine can"].concat(),
        Pace::Times(factor) => ["exactly ", times(factor).as_str()].concat(),
        _ if measured > 0.0 => ["now ", times(measured).as_str()].concat(),
        Pace::Readable(_) => "at most 1×".into(),
        _ => String::new(),
    }
}

/// `0.125×`, `16×`: thousandths, as far as there are any.
fn times(factor: f64) -> String {
    let thousandths = (factor * 1000.0).round() as u64;
    let mut text = (thousandths / 1000).to_string();
    let rest = thousandths % 1000;
    if rest > 0 && thousandths < 10_000 {
        let digits = (1000 + rest).to_string();
        text.push('.');
        text.push_str(digits[1..].trim_end_matches('0'));
    }
    text.push('×');
    text
}
