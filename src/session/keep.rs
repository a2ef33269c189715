//! What a person has done so far, kept beside the simulation: after a panic that one can't be read any more.
//!
//! As text: the scenario's name; the trace's number before each command, then virtual time in ms and the trace's number
//! now, in one line; the journal. The numbers let playing it again stop between two events of one millisecond.

use std::cell::RefCell;

use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::{Simulation, read_journal};

use super::{Session, Tone};
use crate::platform;

/// What the steps are stored as.
const STORED: &str = "steps";

struct Kept {
    scenario: String,
    before: Vec<u64>,
    journal: String,
    now: (u64, u64),
}

thread_local! {
    static KEPT: RefCell<Kept> = const {
        RefCell::new(Kept { scenario: String::new(), before: Vec::new(), journal: String::new(), now: (0, 0) })
    };
}

fn with_kept(change: impl FnOnce(&mut Kept)) {
    KEPT.with(|kept| {
        if let Ok(mut kept) = kept.try_borrow_mut() {
            change(&mut kept);
        }
    });
}

/// A simulation begins.
pub(super) fn begin(scenario: &str) {
    with_kept(|kept| {
        *kept = Kept { scenario: scenario.to_owned(), before: Vec::new(), journal: String::new(), now: (0, 0) };
    });
}

/// The newest command of the journal has been carried out.
pub(super) fn add(sim: &Simulation, before: Seq) {
    let Some(entry) = sim.journal().last() else { return };
    let line = entry.to_string();
    with_kept(|kept| {
        kept.before.push(before.0);
        kept.journal.push_str(&line);
        kept.journal.push('\n');
    });
}

/// So far all went well.
pub(super) fn reached(sim: &Simulation) {
    with_kept(|kept| kept.now = (sim.now().0, sim.trace().last_seq().0));
}

/// The steps up to the last good one, and where they are kept now if the browser keeps them.
pub fn kept_steps() -> (String, bool) {
    let mut text = String::new();
    let mut journal = String::new();
    with_kept(|kept| {
        text.push_str(&kept.scenario);
        text.push('\n');
        for number in kept.before.iter().chain([&kept.now.0, &kept.now.1]) {
            text.push_str(&number.to_string());
            text.push(' ');
        }
        text.push('\n');
        text.push_str(&kept.journal);
        journal = kept.journal.clone();
    });
    let is_kept = platform::save(STORED, &text);
    (journal, is_kept)
}

/// A stored text, taken apart.
fn read(text: &str) -> Option<(&str, Vec<u64>, &str)> {
    let (scenario, rest) = text.split_once('\n')?;
    let (numbers, journal) = rest.split_once('\n')?;
    let numbers = numbers.split_whitespace().map(|it| it.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some((scenario, numbers, journal))
}

/// Up to an instant, or to a place in the midst of the events of that instant.
fn run(sim: &mut Simulation, until: u64, seq: u64) {
    let until = Time(until);
    loop {
        let is_there = sim.trace().last_seq().0 >= seq && sim.next_at() == Some(until);
        if is_there || sim.run_until(until, 1) {
            return;
        }
    }
}

impl Session {
    /// Plays again what had been done when the page was stopped by a mistake of its own.
    pub fn restore(self) {
        let Some(text) = platform::load(STORED) else { return };
        // Before it is played again: should that fail too, what is kept then is shorter by the step that failed.
        platform::forget(STORED);
        let steps = self.with_core(|core| {
            let (scenario, numbers, journal) = read(&text)?;
            if scenario != core.sim.scenario().name {
                return None;
            }
            let entries = read_journal(journal).ok()?;
            let (before, now) = numbers.split_at_checked(entries.len())?;
            for (entry, seq) in entries.iter().zip(before) {
                run(&mut core.sim, entry.at.0, *seq);
                let before = core.sim.trace().last_seq();
                core.sim.dispatch(entry.command.clone());
                add(&core.sim, before);
                reached(&core.sim);
            }
            let [until, seq] = now else { return None };
            run(&mut core.sim, *until, *seq);
            Some(entries.len())
        });
        self.refresh();
        let words = match steps.flatten() {
            Some(n) => {
                self.transport.started.put(true);
                let steps = crate::atoms::plural(n, "step", "steps");
                ["Restored: ", steps.as_str(), ", up to ", self.clock().as_str()].concat()
            }
            None => "The kept steps belong to another version and could not be played again".to_owned(),
        };
        self.toast(words, Tone::Answer);
    }

    fn clock(self) -> String {
        crate::atoms::clock(self.transport.now_ms.get_untracked())
    }
}
