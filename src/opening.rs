//! Opening what others have made: links, files, and the lessons that come with the page.
//!
//! It is played beside the page, in slices. What is shown stays until the other world is ready, and stays for good where
//! that cannot be, or is not wanted any more.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use leptos::task::spawn_local;
use loopscope_engine::api::ObjectKey;
use loopscope_engine::dump::{self, Unreadable};
use loopscope_engine::history::History;
use loopscope_engine::lesson::{self, Lesson, Listed, Mistake};
use loopscope_engine::share::{
    Bad, Fault, Handed, MOST_BYTES, Moment, is_link, packed, read_file, read_moment, state_words, unpack,
};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Instant, JournalEntry, Outcome, Scenario};

use crate::app;
use crate::platform::{self, Missing, wall_ms};
use crate::session::Taught;
use crate::ui::State;

/// Wall time in ms that is played without a look at anything else, and things that happen between two looks at the clock.
const SLICE_MS: f64 = 12.0;
const CHUNK: usize = 64;
/// So much virtual time a journal is played beyond its last command.
const AFTER: Millis = Millis(1);
/// Commands that are named.
const MOST_NAMED: usize = 10;

/// How far opening something has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Stage {
    #[default]
    Closed,
    Reading,
    /// Hundredths of the way.
    Playing(u64),
    Told(Card),
}

/// What there is to say, and what can be done about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    pub title: &'static str,
    pub words: String,
    pub list: Vec<String>,
    /// The name of a scenario that can be opened without the rest; where it is empty, lessons can be.
    pub scenario: String,
    /// How many commands can be played.
    pub n_steps: usize,
    /// It is open already.
    pub is_open: bool,
    /// There is nothing to choose: it only tells.
    pub is_told: bool,
}

/// What can still be used of something that could not be opened, or not as it was.
struct Left {
    scenario: Scenario,
    steps: Vec<Rc<JournalEntry>>,
}

thread_local! {
    static LEFT: RefCell<Option<Left>> = const { RefCell::new(None) };
    /// The number of the newest opening: an older one gives up.
    static RUN: Cell<u32> = const { Cell::new(0) };
    /// What was open before a scenario was begun.
    static BEFORE: RefCell<Option<Moment>> = const { RefCell::new(None) };
}

/// Where a run leads.
struct Way {
    scenario: Scenario,
    steps: Vec<Rc<JournalEntry>>,
    at: Instant,
    selected: Option<ObjectKey>,
    /// The state that is expected there.
    digest: Option<u64>,
    words: &'static str,
    /// The name of what is left behind, where that can be had back.
    back: Option<String>,
    lesson: Option<Taught>,
    /// What was read of a cluster, and what was not.
    report: Vec<String>,
}

/// Another world to put into the page.
pub struct Opened {
    pub history: History,
    pub selected: Option<ObjectKey>,
    pub card: Option<Card>,
    pub words: String,
    /// It was asked for by a link to a moment.
    pub is_link: bool,
    /// What was open before can be had back: its name.
    pub before: Option<String>,
    pub lesson: Option<Taught>,
}

const LINK: &str = "The link";
/// How the file of a scenario begins, with a lesson in it or without.
const SCENARIO_FILE: &str = "# Loopscope scenario ";

fn next_run() -> u32 {
    RUN.with(|run| {
        run.set(run.get() + 1);
        run.get()
    })
}

fn is_current(run: u32) -> bool {
    RUN.with(|it| it.get() == run)
}

/// The address ends with a link of ours.
pub fn has_link() -> bool {
    is_link(&platform::hash())
}

/// Opens the link that follows the address's `#`.
pub fn open_hash(stage: State<Stage>, scenario: Scenario) {
    open_link(stage, scenario, platform::hash());
}

/// Opens a link, given by what follows its `#`.
pub fn open_link(stage: State<Stage>, scenario: Scenario, hash: String) {
    let run = begin(stage);
    spawn_local(async move {
        let read = read_link(&hash).await;
        go(stage, run, scenario, read.map(Handed::Moment), LINK);
    });
}

async fn read_link(hash: &str) -> Result<Moment, Bad> {
    let (bytes, sum) = packed(hash)?;
    read_moment(&unpack(platform::inflate(&bytes, MOST_BYTES).await, sum)?)
}

/// The lesson that the address names: `?s=node-dies`. Where the page holds a scenario of the same name itself, the step
/// says that the lesson is meant.
pub fn lesson_asked() -> Option<String> {
    let id = platform::parameter(platform::SCENARIO)?;
    (Scenario::called(&id).is_none() || platform::asked(platform::STEP).is_some()).then_some(id)
}

/// Opens what the address names: a lesson, a moment, or a moment of a lesson.
pub fn open_address(stage: State<Stage>, current: Scenario, is_first: bool) {
    match lesson_asked() {
        Some(id) => open_lesson(stage, current, id, is_first, has_link()),
        None if has_link() => open_hash(stage, current),
        None => {}
    }
}

/// Opens a lesson from the page's own origin; at the moment of the link in the address where that is wanted.
pub fn open_lesson(stage: State<Stage>, current: Scenario, id: String, is_first: bool, is_linked: bool) {
    let run = begin(stage);
    spawn_local(async move {
        let text = lesson_text(&id).await;
        let moment = if is_linked { Some(read_link(&platform::hash()).await) } else { None };
        if !is_current(run) {
            return;
        }
        match (text, moment) {
            (text, Some(Ok(moment))) => {
                let step = platform::asked(platform::STEP).and_then(|it| it.parse::<usize>().ok()).unwrap_or(1);
                let lesson = text.ok().and_then(|text| lesson::read(&text).ok());
                // Somebody may have put two addresses together.
                let lesson = lesson.filter(|it| it.scenario == moment.scenario).map(Rc::new);
                let lesson = lesson.map(|lesson| Taught { id, lesson, step: step.saturating_sub(1), is_first });
                play(stage, Way { lesson, ..way(Handed::Moment(moment), current, LINK) });
            }
            (_, Some(Err(bad))) => tell(stage, bad, current),
            (Ok(text), None) => match lesson::read(&text) {
                Ok(lesson) => play(stage, beginning_of(Taught { id, lesson: Rc::new(lesson), step: 0, is_first })),
                Err(mistakes) => stage.put(Stage::Told(unreadable(&mistakes))),
            },
            (Err(missing), None) => stage.put(Stage::Told(not_there(&id, missing))),
        }
    });
}

async fn lesson_text(id: &str) -> Result<String, Missing> {
    let place = lesson::address(id).ok_or(Missing::NotThere)?;
    platform::read_beside(&place, MOST_BYTES).await
}

/// The list of lessons.
///
/// # Errors
/// Why it did not come, in words.
pub async fn list_of_lessons() -> Result<Vec<Listed>, String> {
    let text = platform::read_beside("scenarios/index.json", MOST_BYTES).await;
    let all = text.map_err(|missing| why_missing("The list of lessons", missing))?;
    match lesson::read_index(&all) {
        all if all.is_empty() => Err("The list of lessons is empty, or cannot be read.".into()),
        all => Ok(all),
    }
}

fn why_missing(what: &str, missing: Missing) -> String {
    let status = if let Missing::Status(status) = missing { status.to_string() } else { String::new() };
    let why = match missing {
        Missing::NotThere => " is not there: the server does not have it.",
        Missing::Status(_) => " did not come: the server answered with status ",
        Missing::NoNetwork => " did not come. Check the connection and try again.",
        Missing::TooLarge => " is larger than anything that this page reads.",
    };
    [what, why, &status].concat()
}

fn not_there(id: &str, missing: Missing) -> Card {
    let name: String = id.chars().take(64).collect();
    let (title, words) = match missing {
        Missing::NotThere => (
            "There is no such lesson",
            ["The address asks for \"", name.as_str(), "\", and no lesson of this name comes with the page."].concat(),
        ),
        other => ("The lesson did not come", why_missing(&["The lesson \"", &name, "\""].concat(), other)),
    };
    Card { title, words, ..Card::default() }
}

fn unreadable(mistakes: &[Mistake]) -> Card {
    let mut list: Vec<String> = mistakes.iter().take(MOST_NAMED).map(Mistake::to_string).collect();
    if mistakes.len() > MOST_NAMED {
        list.push(["and ", &(mistakes.len() - MOST_NAMED).to_string(), " more"].concat());
    }
    let is_newer = mistakes.first().is_some_and(|it| it.message.starts_with("the file is in version"));
    let title = if is_newer { "Made by a newer Loopscope" } else { "Something in it cannot be read" };
    let words = if is_newer { "This page is older than the file." } else { "Nothing of this scenario is opened." };
    Card { title, words: words.into(), list, ..Card::default() }
}

/// Opens the text of a scenario file.
fn open_text(stage: State<Stage>, run: u32, id: String, text: &str) {
    if !is_current(run) {
        return;
    }
    match lesson::read(text) {
        Ok(lesson) => play(stage, beginning_of(Taught { id, lesson: Rc::new(lesson), step: 0, is_first: false })),
        Err(mistakes) => stage.put(Stage::Told(unreadable(&mistakes))),
    }
}

/// Where a lesson begins.
pub fn beginning_moment(lesson: &Lesson) -> Moment {
    let is_plain = lesson.opening.is_empty() && lesson.begins.0 == 0;
    let moment = lesson.moment();
    Moment { at: if is_plain { Instant::default() } else { moment.at }, ..moment }
}

/// Whether a text begins as a scenario file does.
pub fn is_scenario_file(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').starts_with(SCENARIO_FILE)
}

/// What a scenario file holds.
///
/// # Errors
/// What cannot be read, in words.
pub fn lesson_of(id: String, text: &str) -> Result<Taught, String> {
    let lesson =
        lesson::read(text).map_err(|mistakes| mistakes.first().map_or_else(String::new, Mistake::to_string))?;
    Ok(Taught { id, lesson: Rc::new(lesson), step: 0, is_first: false })
}

/// The lesson of this name that comes with the page.
///
/// # Errors
/// Why it did not come or cannot be read, in words.
pub async fn lesson_called(id: &str) -> Result<Taught, String> {
    let text = lesson_text(id).await.map_err(|missing| why_missing("The file", missing))?;
    lesson_of(id.to_owned(), &text)
}

/// Plays up to a moment and puts it in the place of what is open.
pub fn open_moment(stage: State<Stage>, moment: Moment) {
    begin(stage);
    let scenario = moment.scenario.clone();
    play(stage, Way { digest: None, ..way(Handed::Moment(moment), scenario, "The scenario") });
}

fn beginning_of(taught: Taught) -> Way {
    let lesson: &Lesson = &taught.lesson;
    let words = if lesson.has_course() { "The lesson" } else { "The scenario" };
    let Moment { scenario, steps, at, selected, .. } = beginning_moment(lesson);
    Way { scenario, steps, at, selected, digest: None, words, back: None, lesson: Some(taught), report: Vec::new() }
}

/// Opens a file; a journal in the given scenario.
pub fn open_file(stage: State<Stage>, scenario: Scenario, file: web_sys::File) {
    let run = begin(stage);
    spawn_local(async move {
        let size = file.size() as usize;
        if size > dump::MOST_BYTES {
            return stage.put(Stage::Told(no_dump(&Unreadable::too_large(size))));
        }
        let text = platform::file_text(file).await.unwrap_or_default();
        if is_scenario_file(&text) {
            return open_text(stage, run, String::new(), &text);
        }
        if !dump::looks_like_one(&text) {
            return go(stage, run, scenario, read_file(&text), "The file");
        }
        // A large one takes a while: first the page is to say so.
        TimeoutFuture::new(0).await;
        if is_current(run) {
            open_dump(stage, &text);
        }
    });
}

/// Goes on from a cluster that somebody has brought along.
fn open_dump(stage: State<Stage>, text: &str) {
    match dump::read(text) {
        Ok(dump) => {
            let report = dump.report.lines();
            play(stage, Way { words: "Your cluster", report, ..beginning(Scenario::of_dump(&dump)) });
        }
        // A trace of ours is JSON, too, and says what it is.
        Err(why) if why.is_nothing && read_file(text).is_err_and(|bad| bad.words.starts_with("This is a trace")) => {
            go(stage, next_run(), Scenario::self_healing(), read_file(text), "The file");
        }
        Err(why) => stage.put(Stage::Told(no_dump(&why))),
    }
}

fn no_dump(why: &Unreadable) -> Card {
    let title = match why {
        Unreadable { is_too_large: true, .. } => "Too large",
        Unreadable { is_nothing: true, .. } => "Not something that Loopscope can open",
        _ => "Something in it cannot be read",
    };
    Card { title, words: why.to_string(), is_told: true, ..Card::default() }
}

/// What became of a cluster that was brought along.
fn told_of(way: &Way) -> Option<Card> {
    let list = way.report.clone();
    let title = "Your cluster goes on here";
    let words = "From where it stood when the file was made. Break something and see what becomes of it.".into();
    (!list.is_empty()).then(|| Card { title, words, list, is_open: true, is_told: true, ..Card::default() })
}

fn begin(stage: State<Stage>) -> u32 {
    stage.put(Stage::Reading);
    next_run()
}

fn go(stage: State<Stage>, run: u32, scenario: Scenario, read: Result<Handed, Bad>, words: &'static str) {
    if !is_current(run) {
        return;
    }
    match read {
        Ok(handed) => play(stage, way(handed, scenario, words)),
        Err(bad) => tell(stage, bad, scenario),
    }
}

fn way(handed: Handed, current: Scenario, words: &'static str) -> Way {
    match handed {
        Handed::Moment(Moment { scenario, steps, at, selected, digest }) => Way {
            scenario,
            steps,
            at,
            selected,
            digest: Some(digest),
            words,
            back: None,
            lesson: None,
            report: Vec::new(),
        },
        Handed::Scenario(scenario) => beginning(scenario),
        Handed::Journal(steps) => journal(current, steps),
    }
}

fn beginning(scenario: Scenario) -> Way {
    let (steps, at) = (Vec::new(), Instant::default());
    Way {
        scenario,
        steps,
        at,
        selected: None,
        digest: None,
        words: "The scenario",
        back: None,
        lesson: None,
        report: Vec::new(),
    }
}

fn journal(scenario: Scenario, steps: Vec<Rc<JournalEntry>>) -> Way {
    let at = steps.last().map_or_else(Instant::default, |last| Instant::end_of(last.at + AFTER));
    Way {
        scenario,
        steps,
        at,
        selected: None,
        digest: None,
        words: "The journal",
        back: None,
        lesson: None,
        report: Vec::new(),
    }
}

/// Begins a scenario. What was open is kept until another one is opened.
pub fn begin_anew(stage: State<Stage>, scenario: Scenario, before: Option<Moment>) {
    let back = before.as_ref().map(|it| it.scenario.name.clone());
    BEFORE.with(|it| it.replace(before));
    play(stage, Way { back, ..beginning(scenario) });
}

/// Back to what was open before a scenario was begun.
pub fn take_back(stage: State<Stage>) {
    if let Some(moment) = BEFORE.with(RefCell::take) {
        let scenario = moment.scenario.clone();
        play(stage, Way { words: "What was open", ..way(Handed::Moment(moment), scenario, "") });
    }
}

fn tell(stage: State<Stage>, bad: Bad, current: Scenario) {
    let title = match bad.fault {
        Fault::NotOurs => "Not something that Loopscope can open",
        Fault::Truncated => "A part is missing",
        Fault::Changed => "Not as it was made",
        Fault::TooLarge => "Too large",
        Fault::Newer => "Made by a newer Loopscope",
        Fault::Unreadable => "Something in it cannot be read",
    };
    let scenario = match (bad.scenario, bad.steps.is_empty()) {
        (Some(scenario), _) => *scenario,
        // A journal goes with the scenario that is open.
        (None, false) => current,
        (None, true) => Scenario::self_healing(),
    };
    let card = Card {
        title,
        words: bad.words,
        list: Vec::new(),
        scenario: scenario.name.clone(),
        n_steps: bad.steps.len(),
        ..Card::default()
    };
    let steps = bad.steps.into_iter().map(Rc::new).collect();
    LEFT.with(|left| left.replace(Some(Left { scenario, steps })));
    stage.put(Stage::Told(card));
}

/// Plays to where something leads, beside the page, and then puts it into the page.
fn play(stage: State<Stage>, way: Way) {
    let run = next_run();
    stage.put(Stage::Playing(0));
    spawn_local(async move {
        // First the page is to say what it does.
        TimeoutFuture::new(0).await;
        let mut history = History::of(way.scenario.clone(), way.steps.clone(), Instant::default());
        let mut refused = Vec::new();
        loop {
            let (began, mut is_there) = (wall_ms(), false);
            while !is_there && wall_ms() - began < SLICE_MS {
                is_there = history.run_to(way.at, CHUNK, &mut refused);
            }
            if !is_current(run) {
                return;
            }
            if is_there {
                break;
            }
            stage.put(Stage::Playing(history.simulation().now().0 * 100 / way.at.at.0.max(1)));
            TimeoutFuture::new(0).await;
        }
        if way.words != LINK {
            // A reload is not to open an older link.
            platform::forget_hash();
        }
        match &way.lesson {
            // What the host wrote into a frame's address stays.
            _ if platform::is_embedded() => {}
            Some(taught) => platform::name_lesson(&taught.id, taught.step + 1),
            None => {
                platform::name_lesson("", 0);
                platform::name_scenario(&way.scenario);
            }
        }
        let card = doubts(&way, &history, &refused).or_else(|| told_of(&way));
        let words = arrival(&way, &history);
        if card.is_some() {
            LEFT.with(|left| left.replace(Some(Left { scenario: way.scenario, steps: Vec::new() })));
        }
        let is_link = way.words == LINK;
        app::put(Opened {
            history,
            selected: way.selected,
            card,
            words,
            is_link,
            before: way.back,
            lesson: way.lesson,
        });
    });
}

/// `The link is open: Self-healing, 00:12.345, state 3f2a…`
fn arrival(way: &Way, history: &History) -> String {
    let (sim, name) = (history.simulation(), way.scenario.name.as_str());
    let (clock, state) = (crate::atoms::clock(sim.now().0), state_words(sim.trace().digest()));
    [way.words, " is open: ", name, ", ", &clock, ", state ", &state].concat()
}

/// What is not as it was when the moment was made, or was refused of a journal.
fn doubts(way: &Way, history: &History, refused: &[(usize, Outcome)]) -> Option<Card> {
    let digest = history.simulation().trace().digest();
    let is_known = way.digest.is_some();
    // What was refused then is refused now, and all is as it was.
    if way.digest.map_or(refused.is_empty(), |it| it == digest) {
        return None;
    }
    let named = |(index, outcome): &(usize, Outcome)| {
        let step = way.steps.get(*index).map_or_else(String::new, |step| step.to_string());
        let line = step.lines().next().unwrap_or_default();
        let why = outcome.problems.first().map_or("", |it| it.message.as_str());
        [line, ": ", why].concat()
    };
    let mut list: Vec<String> = refused.iter().take(MOST_NAMED).map(named).collect();
    if refused.len() > MOST_NAMED {
        list.push(["and ", &(refused.len() - MOST_NAMED).to_string(), " more"].concat());
    }
    let (n, all) = (refused.len().to_string(), way.steps.len().to_string());
    let no_more = [n.as_str(), " of ", &all, " commands no longer apply. All others were carried out."].concat();
    let differs = || {
        let (was, is) = (state_words(way.digest.unwrap_or_default()), state_words(digest));
        ["Its state was ", was.as_str(), ", here it is ", &is, ": it was made by another version of Loopscope. "]
            .concat()
    };
    let words = match (is_known, refused.is_empty()) {
        (true, true) => differs(),
        (true, false) => differs() + &no_more,
        (false, _) => no_more,
    };
    let title = if is_known { "Open, but not as it was" } else { "Open, but for some commands" };
    Some(Card { title, words, list, scenario: way.scenario.name.clone(), is_open: true, ..Card::default() })
}

/// Leaves what is shown as it is.
pub fn stay(stage: State<Stage>) {
    next_run();
    if stage.with_untracked(|it| !matches!(it, Stage::Told(card) if card.is_open)) {
        // A reload is not to open it again.
        platform::forget_hash();
        if lesson_asked().is_some() {
            platform::name_lesson("", 0);
        }
    }
    LEFT.with(|left| left.replace(None));
    stage.put(Stage::Closed);
}

/// Opens the scenario alone.
pub fn take_scenario(stage: State<Stage>) {
    if let Some(left) = LEFT.with(RefCell::take) {
        play(stage, beginning(left.scenario));
    }
}

/// Plays the commands before the one that cannot be read.
pub fn take_steps(stage: State<Stage>) {
    if let Some(left) = LEFT.with(RefCell::take) {
        play(stage, journal(left.scenario, left.steps));
    }
}
