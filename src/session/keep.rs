//! What a person has done so far, kept beside the simulation: after a panic that one can't be read any more. It is kept
//! for the tab, too, and offered after a reload.
//!
//! As text: the scenario's name; how far it has run; the journal, whose lines say exactly where each command was given.

use std::cell::RefCell;
use std::rc::Rc;

use loopscope_engine::history::{Branch, History};
use loopscope_engine::share::{state_words, write_scenario_file};
use loopscope_engine::sim::{Digest, Time};
use loopscope_engine::world::{Instant, JournalEntry, Scenario, Simulation, read_journal};

use super::{Core, Session, Tone};
use crate::platform;

/// What the steps are stored as.
const STORED: &str = "steps";

/// The same for as long as the tab lives: a reload ends the simulation, and nothing went wrong.
const TAB: &str = "tab-steps";

struct Kept {
    scenario: String,
    journal: String,
    now: Instant,
}

const NOTHING: Kept =
    Kept { scenario: String::new(), journal: String::new(), now: Instant { at: Time(0), commands: 0, nth: 0 } };

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(NOTHING) };
}

fn with_kept(change: impl FnOnce(&mut Kept)) {
    KEPT.with(|kept| {
        if let Ok(mut kept) = kept.try_borrow_mut() {
            change(&mut kept);
        }
    });
}

/// A simulation begins, or goes on here.
pub(super) fn begin(history: &History) {
    with_kept(|kept| *kept = Kept { scenario: identity(history.simulation().scenario()), ..NOTHING });
    all(history);
}

/// A scenario in one line: the name of a built-in one; of any other its sum too, since steps are never to be played in
/// another world.
fn identity(scenario: &Scenario) -> String {
    if Scenario::built_in(&scenario.name).as_ref() == Some(scenario) {
        return scenario.name.clone();
    }
    let mut digest = Digest::default();
    digest.bytes(write_scenario_file(scenario).as_bytes());
    [scenario.name.as_str(), " ", &state_words(digest.value())].concat()
}

/// These commands, the newest of the journal, have been carried out.
pub(super) fn add(entries: &[Rc<JournalEntry>]) {
    for entry in entries {
        let line = entry.to_string();
        with_kept(|kept| {
            kept.journal.push_str(&line);
            kept.journal.push('\n');
        });
    }
}

/// The world is another one: these commands lead to it, and some may be still to come.
pub(super) fn all(history: &History) {
    let mut journal = String::new();
    for entry in history.branch(history.current()).map_or(&[][..], Branch::steps) {
        journal.push_str(&entry.to_string());
        journal.push('\n');
    }
    with_kept(|kept| (kept.journal, kept.now) = (journal, history.simulation().instant()));
}

/// So far all went well.
pub(super) fn reached(sim: &Simulation) {
    with_kept(|kept| kept.now = sim.instant());
}

/// The steps up to the last good one, and where they are kept now if the browser keeps them.
pub fn kept_steps() -> (String, bool) {
    let mut text = String::new();
    let mut journal = String::new();
    with_kept(|kept| (text, journal) = (as_text(kept), kept.journal.clone()));
    let is_kept = platform::save(STORED, &text);
    if is_kept {
        platform::forget_for_tab(TAB);
    }
    (journal, is_kept)
}

fn as_text(kept: &Kept) -> String {
    let Instant { at, commands, nth } = kept.now;
    let (at, commands, nth) = (at.0.to_string(), commands.to_string(), nth.to_string());
    [kept.scenario.as_str(), "\n", &at, " ", &commands, " ", &nth, "\n", &kept.journal].concat()
}

/// Keeps what was done in this tab, where anything was.
fn keep_for_tab() {
    with_kept(|kept| {
        if !kept.journal.is_empty() {
            platform::save_for_tab(TAB, &as_text(kept));
        }
    });
}

/// A stored text, taken apart: the scenario, how far it had run, and what was done.
fn read(text: &str) -> Option<(&str, Instant, Vec<JournalEntry>)> {
    let (scenario, rest) = text.split_once('\n')?;
    let (now, journal) = rest.split_once('\n')?;
    let mut numbers = now.split(' ');
    let at = Time(numbers.next()?.parse().ok()?);
    let mut number = || numbers.next()?.parse().ok();
    let now = Instant { at, commands: number()?, nth: number()? };
    Some((scenario, now, read_journal(journal).ok()?))
}

/// Plays stored steps again, where they belong to this scenario. Returns how many they were.
fn play_again(core: &mut Core, text: &str) -> Option<usize> {
    let (scenario, now, entries) = read(text)?;
    if scenario != identity(core.sim().scenario()) {
        return None;
    }
    let n = entries.len();
    core.history = History::of(core.sim().scenario().clone(), entries.into_iter().map(Rc::new).collect(), now);
    core.steps_of = None;
    while core.history.redo().is_some() {
        add(core.sim().journal().last().map(std::slice::from_ref).unwrap_or_default());
        reached(core.sim());
    }
    core.history.seek(now);
    all(&core.history);
    Some(n)
}

impl Session {
    /// Keeps the steps over a reload, and offers those from before the last one.
    pub fn keep_over_reloads(self) {
        let text = platform::load_for_tab(TAB);
        let name = self.with_core(|core| identity(core.sim().scenario())).unwrap_or_default();
        let n_given = self.n_given();
        let found =
            text.as_deref().and_then(read).filter(|(scenario, _, steps)| *scenario == name && steps.len() > n_given);
        if let Some((_, now, steps)) = found {
            let n = crate::atoms::plural(steps.len(), "step", "steps");
            let until = crate::atoms::clock(now.at.0);
            self.past.offer.put(Some([n.as_str(), ", up to ", until.as_str()].concat()));
        }
        platform::on_leave(move || {
            keep_for_tab();
            self.keep_place();
        });
    }

    /// Commands that a lesson begins with.
    fn n_given(self) -> usize {
        self.with_core(|core| core.lesson.as_ref().map_or(0, |it| it.n_given)).unwrap_or(0)
    }

    /// Somebody has done something in what is shown.
    pub fn was_acted_in(self) -> bool {
        self.past.steps.with(Vec::len) > self.n_given()
    }

    /// Plays again what was done before the page was reloaded.
    pub fn take_offer(self) {
        self.past.offer.put(None);
        if let Some(text) = platform::load_for_tab(TAB) {
            self.play_kept(&text);
            self.resume_lesson();
        }
    }

    /// What was done before the page was reloaded is not wanted any more.
    pub fn drop_offer(self) {
        self.past.offer.put(None);
        platform::forget_for_tab(TAB);
    }

    /// Plays again what had been done when the page was stopped by a mistake of its own.
    pub fn restore(self) {
        let Some(text) = platform::load(STORED) else { return };
        // Before it is played again: should that fail too, what is kept then is shorter by the step that failed.
        platform::forget(STORED);
        self.play_kept(&text);
    }

    fn play_kept(self, text: &str) {
        self.stop_line("another run was opened");
        let steps = self.with_core(|core| play_again(core, text));
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
