//! The branches of time: what is in them, and two of them side by side.

use std::rc::Rc;

use loopscope_engine::history::{Branch, BranchId, Replay};
use loopscope_engine::view::{self, Phrase};
use loopscope_engine::world::{Instant, JournalEntry, Sample, Simulation};

use super::{BranchRow, Core, Other, Part, Session, StepRow, Tone};
use crate::platform::wall_ms;

/// While playing, the other branch is shown this often, and may take so much of a frame, in wall ms.
const BESIDE_EVERY_MS: f64 = 250.0;
const BUDGET_MS: f64 = 4.0;
const CHUNK: usize = 64;
/// So much is shown before two branches part, in ms of virtual time.
const LEAD_MS: u64 = 5_000;

/// A branch that runs along.
pub(super) struct Beside {
    id: BranchId,
    replay: Replay,
    /// When it was last shown, in wall ms.
    at: f64,
}

impl Core {
    /// What lies before, behind and beside the cursor.
    pub(super) fn show_past(&mut self, session: Session) {
        let (past, history) = (&session.past, &self.history);
        past.end_ms.put(history.end().at.0);
        past.is_past.put(history.is_past());
        let name = |id: BranchId| history.branch(id).map_or_else(String::new, |it| it.name.clone());
        let row = |branch: &Branch| BranchRow {
            id: branch.id,
            name: branch.name.clone(),
            parted: branch.parent.map(|(id, at)| (name(id), at.at.0)),
            end_ms: branch.end.at.0,
            n_steps: branch.steps().len(),
            is_current: branch.id == history.current(),
        };
        past.branches.put(history.branches().iter().map(row).collect());
        let n_done = self.sim().journal().len();
        let steps = history.branch(history.current()).map_or(&[][..], Branch::steps);
        let is_known = past.steps.with_untracked(|rows| are_of(rows, steps.len(), n_done));
        let is_same = self.steps_of == Some(history.current());
        if is_known && is_same {
            return;
        }
        // A branch's steps only become more; their words may take reading a manifest.
        let old = if is_same { past.steps.get_untracked() } else { Vec::new() };
        let row = |(index, step): (usize, &Rc<JournalEntry>)| {
            let is_to_come = index >= n_done;
            // Whether a command is refused is known once it was given.
            let known = old.get(index).filter(|it| it.is_to_come == is_to_come).map(|it| it.words.clone());
            let words = || self.sim().words_of(index).unwrap_or_else(|| step.command.words());
            StepRow { index, at_ms: step.at.0, words: known.unwrap_or_else(|| words().into()), is_to_come }
        };
        past.steps.put(steps.iter().enumerate().map(row).collect());
        self.steps_of = Some(history.current());
    }

    /// Where the current branch and another one went different ways.
    pub(super) fn parted_ms(&self, other: BranchId) -> u64 {
        let line = |mut id: BranchId| {
            let mut line = vec![(id, u64::MAX)];
            while let Some((parent, at)) = self.history.branch(id).and_then(|it| it.parent) {
                line.push((parent, at.at.0));
                id = parent;
            }
            line
        };
        let (here, there) = (line(self.history.current()), line(other));
        let met = here.iter().find_map(|(id, at)| {
            let found = there.iter().position(|(other, _)| other == id)?;
            Some((*at).min(there[found].1))
        });
        met.filter(|at| *at < u64::MAX).unwrap_or(0)
    }

    /// Lets the branch that lies beside the current one go to the same time.
    pub(super) fn show_beside(&mut self, session: Session, wall: f64, playing: bool) {
        let past = &session.past;
        let Some(id) = past.beside.get_untracked() else {
            self.beside = None;
            return past.other.put(None);
        };
        let to = Instant::end_of(self.sim().now());
        let mut beside = match self.beside.take().filter(|it| it.id == id && it.replay.can_go_on_to(to)) {
            Some(beside) => beside,
            None => match self.history.way_to(id, to) {
                Some(replay) => Beside { id, replay, at: f64::MIN },
                None => return past.beside.put(None),
            },
        };
        beside.replay.go_on_to(to);
        let began = wall_ms();
        while !beside.replay.run(CHUNK) {
            if playing && wall_ms() - began > BUDGET_MS {
                break;
            }
        }
        if !playing || wall - beside.at >= BESIDE_EVERY_MS {
            beside.at = wall;
            let sim = beside.replay.simulation();
            let title = past
                .branches
                .with_untracked(|all| all.iter().find(|it| it.id == id).map_or_else(String::new, BranchRow::title));
            let to_ms = to.at.0;
            let from_ms = self.parted_ms(id).saturating_sub(LEAD_MS).min(to_ms.saturating_sub(LEAD_MS));
            let curve = |sim: &Simulation| steps_from(sim.recorded().samples(), from_ms);
            past.other.put(Some(Other {
                title,
                summary: view::summary(sim),
                map: view::map(sim, session.look()),
                from_ms,
                to_ms,
                curves: [curve(self.sim()), curve(sim)],
            }));
        }
        self.beside = Some(beside);
    }
}

/// From the step on that holds at a time.
fn steps_from(all: &[Sample], from_ms: u64) -> Vec<Sample> {
    let first = all.iter().rposition(|it| it.at.0 <= from_ms).unwrap_or(0);
    all[first..].to_vec()
}

fn are_of(rows: &[StepRow], n: usize, n_done: usize) -> bool {
    rows.len() == n && rows.iter().filter(|it| !it.is_to_come).count() == n_done
}

impl Session {
    /// Goes to a branch: to the time that is shown, as far as it was played.
    pub fn go_to_branch(self, id: BranchId) {
        if self.past.beside.get_untracked() == Some(id) {
            // The two change places.
            self.past.beside.put(self.with_core(|core| core.history.current()).filter(|here| *here != id));
        }
        self.go(String::new(), |core| {
            let (now, end) = (core.sim().instant(), core.history.branch(id)?.end);
            let to = if now.at < end.at { Instant::end_of(now.at) } else { end };
            Some((id, core.history.way_to(id, to)?))
        });
    }

    /// To just after something that was done in the current branch, or is to come.
    pub fn go_to_step(self, index: usize) {
        let to = self.with_core(|core| {
            let step = core.history.branch(core.history.current())?.steps().get(index)?;
            Some(Instant::after(index, step))
        });
        if let Some(to) = to.flatten() {
            self.seek(to);
        }
    }

    /// What if it had not been done: a branch without it, at where it was, and then as far as one had come.
    pub fn leave_out(self, index: usize) {
        self.pause();
        let done = self.with_core(|core| {
            let (from, now) = (core.history.current(), core.sim().now());
            let words = Phrase(core.history.branch(from)?.steps().get(index)?.command.words()).plain();
            let old = core.history.branch(from)?.name.clone();
            let id = core.history.without(index)?;
            let name = core.history.branch(id)?.name.clone();
            Some((id, from, now, ["Branch ", &name, ": as branch ", &old, ", had you not ", &words].concat()))
        });
        let Some((id, from, now, words)) = done.flatten() else { return };
        self.past.beside.put(Some(from));
        self.go(words, |core| Some((id, core.history.way_to(id, Instant::end_of(now))?)));
    }

    /// Begins a branch here, to come back to.
    pub fn fork(self) {
        self.stop_seeking();
        self.stop_line("a branch began");
        let name = self.with_core(|core| {
            let id = core.history.fork();
            core.history.branch(id).map(|it| it.name.clone())
        });
        self.refresh();
        if let Some(name) = name.flatten() {
            self.toast(["Branch ", name.as_str(), " begins here"].concat(), Tone::Notice);
        }
    }

    /// As if the last thing had not been done.
    pub fn leave_out_last(self) {
        match self.past.steps.with_untracked(|steps| steps.iter().rposition(|it| !it.is_to_come)) {
            Some(index) => self.leave_out(index),
            None => self.toast("You have not done anything yet", Tone::Notice),
        }
    }

    /// Lays the branch that the current one comes from beside it, or nothing if it lies there.
    pub fn lay_parent_beside(self) {
        let parent = self.with_core(|core| core.history.branch(core.history.current())?.parent).flatten();
        match parent {
            Some((id, _)) => self.lay_beside((self.past.beside.get_untracked() != Some(id)).then_some(id)),
            None => self.toast("There is one branch only: act in the past, and another begins", Tone::Notice),
        }
    }

    pub fn rename_branch(self, id: BranchId, name: &str) {
        self.with_core(|core| core.history.rename(id, name));
        self.refresh();
    }

    /// Forgets a branch that is not the current one.
    pub fn delete_branch(self, id: BranchId) {
        if self.past.beside.get_untracked() == Some(id) {
            self.past.beside.put(None);
        }
        self.with_core(|core| core.history.delete(id));
        self.refresh();
    }

    /// Lays a branch beside the current one, or none.
    pub fn lay_beside(self, id: Option<BranchId>) {
        self.past.beside.put(id);
        if id.is_some() {
            // Where the page shows one part at a time, it lies under the map.
            self.focus.part.put(Part::Map);
        }
        self.refresh();
    }

    /// Says that an act in the past has begun another future, if it has.
    pub(super) fn tell_of_fork(self) {
        let Some(name) = self.past.forked.get_untracked() else { return };
        self.past.forked.put(None);
        let old = self.with_core(|core| {
            let history = &core.history;
            let (parent, _) = history.branch(history.current())?.parent?;
            history.branch(parent).map(|it| it.name.clone())
        });
        let words = [
            "Another future begins here, branch ",
            &name,
            ". What came after stays as branch ",
            &old.flatten().unwrap_or_default(),
        ];
        self.toast(words.concat(), Tone::Notice);
    }
}
