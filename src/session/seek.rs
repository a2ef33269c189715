//! Going to another instant: through the same replay whether it is near or far, in slices where it is far.

use loopscope_engine::history::{BranchId, Replay};
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::view::Phrase;
use loopscope_engine::world::Instant;

use super::lesson::Arrival;
use super::play::duration;
use super::{Core, Session, Tone, keep};
use crate::platform::wall_ms;

/// Wall time in ms that a way may take of one frame, and things that happen between two looks at the clock.
const BUDGET_MS: f64 = 12.0;
const CHUNK: usize = 64;

/// On the way to another instant.
pub(super) struct Seeking {
    branch: BranchId,
    replay: Replay,
    /// What to say on arrival.
    words: String,
    /// The step of a lesson that begins there.
    then: Option<Arrival>,
}

impl Session {
    pub(super) fn is_seeking(self) -> bool {
        self.past.seeking.try_get_untracked().flatten().is_some()
    }

    /// The virtual time that is shown, or that is on its way to be shown, in ms.
    pub(super) fn bound_for(self) -> u64 {
        let on_its_way = self.with_core(|core| core.seeking.as_ref().map(|it| it.replay.to().at.0)).flatten();
        on_its_way.unwrap_or_else(|| self.transport.now_ms.get_untracked())
    }

    /// Stays where it is.
    pub fn stop_seeking(self) {
        self.stop_skipping();
        if self.is_seeking() {
            self.with_core(|core| core.seeking = None);
            self.past.seeking.put(None);
        }
    }

    pub(super) fn go(self, words: String, way: impl FnOnce(&Core) -> Option<(BranchId, Replay)>) {
        self.go_then(words, None, way);
    }

    pub(super) fn go_then(
        self,
        words: String,
        then: Option<Arrival>,
        way: impl FnOnce(&Core) -> Option<(BranchId, Replay)>,
    ) {
        self.stop_skipping();
        let is_on = self.with_core(|core| {
            core.seeking = way(core).map(|(branch, replay)| Seeking { branch, replay, words, then });
            let here = (core.history.current(), core.sim().instant());
            core.seeking.as_ref().map(|it| (it.branch, it.replay.to()) != here)
        });
        if is_on.flatten() == Some(true) {
            self.stop_line("time was moved");
        }
        if is_on.flatten().is_some() {
            self.past.seeking.put(Some(0));
            if self.go_on() {
                self.start_frames();
            }
        }
    }

    /// One frame's share of the way; says whether another frame is wanted.
    pub(super) fn go_on(self) -> bool {
        let arrived = self.with_core(|core| {
            let mut seeking = core.seeking.take()?;
            let began = wall_ms();
            while !seeking.replay.run(CHUNK) {
                if wall_ms() - began > BUDGET_MS {
                    self.past.seeking.put(Some(seeking.replay.percent()));
                    core.seeking = Some(seeking);
                    return None;
                }
            }
            if core.history.current() != seeking.branch {
                // Its events are others.
                self.focus.chain.put(None);
            }
            core.history.arrive(seeking.branch, seeking.replay);
            keep::all(&core.history);
            (core.last_wall, core.measured, core.credit) = (None, None, 0.0);
            Some((seeking.words, seeking.then))
        });
        let Some((words, then)) = arrived.flatten() else { return self.is_seeking() };
        self.past.seeking.put(None);
        if let Some(then) = then {
            self.arrive(then);
        }
        self.transport.leap.put(String::new());
        self.transport.started.put(true);
        if !words.is_empty() {
            self.toast(words, Tone::Notice);
        }
        self.settle();
        self.transport.playing.get_untracked()
    }

    /// Goes to an instant of the current branch.
    pub fn seek(self, to: Instant) {
        self.go(String::new(), |core| here(core, to));
    }

    /// After all that happened at a virtual time in ms, at most to the branch's end.
    pub fn seek_ms(self, ms: u64) {
        self.go(String::new(), |core| {
            let end = core.history.end();
            here(core, if ms < end.at.0 { Instant::end_of(Time(ms)) } else { end })
        });
    }

    /// To a time in ms, paused. Beyond what has been played the clock simply goes on.
    pub(super) fn seek_to(self, ms: u64) {
        self.pause();
        match ms > self.past.end_ms.get_untracked() {
            true => self.go(String::new(), |core| here(core, Instant::end_of(Time(ms)))),
            false => self.seek_ms(ms),
        }
    }

    /// To just after an event of the trace.
    pub fn seek_event(self, seq: u64) {
        self.go(String::new(), |core| Some((core.history.current(), core.history.way_to_event(Seq(seq))?)));
    }

    /// To where the current branch begins, paused.
    pub fn seek_start(self) {
        self.pause();
        self.seek(Instant::default());
    }

    /// To how far the current branch has been played.
    pub fn seek_end(self) {
        self.go(String::new(), |core| here(core, core.history.end()));
    }

    /// Rewinds to just before the last thing that was done.
    pub fn undo(self) {
        self.pause();
        let last = self.with_core(|core| {
            // What a lesson begins with is not undone.
            let n_given = core.lesson.as_ref().map_or(0, |it| it.n_given);
            let index = core.sim().journal().len().checked_sub(1).filter(|it| *it >= n_given)?;
            let step = core.sim().journal().get(index)?;
            let by = core.sim().now().since(step.at);
            Some((Instant::before(index, step), by, Phrase(step.command.words()).plain()))
        });
        let Some((to, by, what)) = last.flatten() else {
            return self.toast("Nothing to undo: you have not done anything yet", Tone::Notice);
        };
        let by = duration(by.0);
        let words = [
            "Time rewound ",
            by.as_str(),
            ", to before you did: ",
            &what,
            ". Redo brings it back; a real cluster has no undo",
        ];
        self.go(words.concat(), |core| here(core, to));
    }

    /// Forward to just after the next thing that was done.
    pub fn redo(self) {
        self.pause();
        let next =
            self.with_core(|core| Some(Instant::after(core.sim().journal().len(), core.history.pending().first()?)));
        match next.flatten() {
            Some(to) => self.go(String::new(), |core| here(core, to)),
            None => self.toast("Nothing to redo: all that was done is done", Tone::Notice),
        }
    }
}

pub(super) fn here(core: &Core, to: Instant) -> Option<(BranchId, Replay)> {
    let id = core.history.current();
    Some((id, core.history.way_to(id, to)?))
}
