//! The page in another page's frame: what its address asks for, and the messages that pass between the two.
//! docs/embed.md is the contract.

mod goal;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use loopscope_engine::embed::{Ask, Message, VERSION, is_english, read, theme};
use loopscope_engine::share::{Handed, MOST_BYTES, Moment, pack, read_file, write_moment};
use loopscope_engine::world::{Instant, Scenario};
use serde_json::{Map, Value, json};
// Leptos' own needs a page that has been mounted.
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

use crate::app;
use crate::opening::{self, Opened, Stage};
use crate::parts::{Sheets, embed_keys, embed_page, no_such_scenario, reference};
use crate::platform::{self, Heard, Host, wall_ms};
use crate::session::{Refusal, Session, Taught, Tone, speed_named};
use crate::ui::{self, effect};
use goal::Goal;

/// So many messages in a second are read; more are ignored.
const MOST_A_SECOND: u32 = 50;
/// The state is told at most this often, and the size, in wall ms.
const STATE_EVERY_MS: f64 = 250.0;
const SIZE_EVERY_MS: f64 = 100.0;
/// A height that differs by no more than this is the same, in CSS pixels; and what it is kept within.
const SLACK: f64 = 2.0;
const HEIGHTS: (f64, f64) = (240.0, 2_000.0);
/// What is highlighted stays so for this long, in wall ms.
const MARKED_MS: u32 = 8_000;

/// A part that the host may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Loop,
    Code,
    Map,
    Diff,
    Timeline,
    Console,
}

impl Piece {
    const NAMES: [(&str, Piece); 7] = [
        ("loop", Piece::Loop),
        ("code", Piece::Code),
        ("map", Piece::Map),
        ("diff", Piece::Diff),
        ("timeline", Piece::Timeline),
        ("console", Piece::Console),
        // As in "all of the loops", of which the embed shows the one that matters.
        ("loops", Piece::Loop),
    ];
}

/// What the frame has to be driven with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controls {
    Full,
    Transport,
    Nothing,
}

/// What the address asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub scenario: String,
    pub pieces: Vec<Piece>,
    pub controls: Controls,
    pub title: Option<String>,
    /// The host's article.
    pub back: Option<String>,
    /// What was not understood, one sentence each.
    pub notes: Vec<String>,
}

impl Asked {
    fn read() -> Self {
        let mut notes = Vec::new();
        let pieces = pieces(&platform::parameter("view").unwrap_or_default(), &mut notes);
        let mut known = |name: &str, values: &[&str]| {
            let given = platform::parameter(name).unwrap_or_default();
            let found = values.iter().position(|it| *it == given);
            if found.is_none() && !given.is_empty() {
                notes.push(["There is no ", name, " “", &given, "”: there are ", &values.join(", "), "."].concat());
            }
            found.unwrap_or_default()
        };
        let controls =
            [Controls::Full, Controls::Transport, Controls::Nothing][known("controls", &["full", "transport", "none"])];
        known("theme", &["auto", "light", "dark"]);
        if let Some(speed) = platform::parameter("speed").filter(|it| speed_named(it).is_none()) {
            notes.push(["There is no speed “", &speed, "”: there are readable, 1/8 to 1, 2, 4, 8, 16, 60."].concat());
        }
        let goal = platform::parameter("goal").filter(|it| !it.is_empty());
        if let Some(goal) = goal.filter(|it| Goal::read(it).is_none()) {
            notes.push(
                ["There is no goal “", &goal, "”: there is converged, or the number of a lesson's step."].concat(),
            );
        }
        if let Some(lang) = platform::parameter("lang").filter(|it| !is_english(it)) {
            notes.push(["There is no language “", &lang, "”: there is en."].concat());
        }
        let back = platform::parameter("back");
        if let Some(bad) = back.as_ref().filter(|it| platform::web_address(it).is_none()) {
            notes.push(["“", bad, "” is no address of a page on the web."].concat());
        }
        Self {
            scenario: platform::parameter("s").unwrap_or_else(|| "self-healing".into()),
            pieces,
            controls,
            title: platform::parameter("title"),
            back: back.as_deref().and_then(platform::web_address),
            notes,
        }
    }
}

/// The parts of a list of names; loop and map where it names none.
fn pieces(list: &str, notes: &mut Vec<String>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for name in list.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        match Piece::NAMES.into_iter().find(|(it, _)| *it == name) {
            Some((_, piece)) if pieces.contains(&piece) => {}
            Some((_, piece)) => pieces.push(piece),
            None => notes
                .push(["There is no view “", name, "”: there are loop, code, map, diff, timeline, console."].concat()),
        }
    }
    if pieces.is_empty() { vec![Piece::Loop, Piece::Map] } else { pieces }
}

/// The world of this name, and the moment at which it begins. Here alone a name becomes a world.
async fn scenario_named(id: &str) -> Result<World, Refusal> {
    if let Some(scenario) = Scenario::called(id) {
        return Ok(at_its_start(scenario));
    }
    let lessons = opening::list_of_lessons().await.unwrap_or_default();
    if lessons.iter().any(|it| it.id == id) {
        let lesson = opening::lesson_called(id).await;
        return lesson.map(World::of).map_err(|why| Refusal::new("unknown-scenario", &[id, ": ", &why]));
    }
    let own = Scenario::CATALOG.iter().map(|it| it.id);
    let others = lessons.iter().map(|it| it.id.as_str()).filter(|it| Scenario::called(it).is_none());
    let names: Vec<&str> = own.chain(others).collect();
    Err(Refusal::new("unknown-scenario", &["There is no scenario “", id, "”: there are ", &names.join(", "), "."]))
}

/// A world to be shown, and the lesson that it is of.
struct World {
    moment: Moment,
    taught: Option<Rc<Taught>>,
}

impl World {
    fn of(taught: Taught) -> Self {
        Self { moment: opening::beginning_moment(&taught.lesson), taught: Some(Rc::new(taught)) }
    }
}

fn at_its_start(scenario: Scenario) -> World {
    let moment = Moment { scenario, steps: Vec::new(), at: Instant::default(), selected: None, digest: 0 };
    World { moment, taught: None }
}

/// The world in a file of the page's own origin.
async fn scenario_at(place: &str) -> Result<World, Refusal> {
    let Ok(text) = platform::read_beside(place, MOST_BYTES).await else {
        let words = ["There is no file ", place, " on this page's own origin, where `src` must lie."];
        return Err(Refusal::new("unknown-scenario", &words));
    };
    if opening::is_scenario_file(&text) {
        let lesson = opening::lesson_of(String::new(), &text);
        return lesson.map(World::of).map_err(|why| Refusal::new("unknown-scenario", &[place, ": ", &why]));
    }
    match read_file(&text) {
        Ok(Handed::Scenario(scenario)) => Ok(at_its_start(scenario)),
        Ok(_) => Err(Refusal::new("unknown-scenario", &[place, " is a moment or a journal, not a scenario."])),
        Err(bad) => Err(Refusal::new("unknown-scenario", &[place, ": ", &bad.words])),
    }
}

async fn first_scenario(asked: &Asked) -> Result<World, Refusal> {
    let mut found = match platform::parameter("src") {
        Some(place) => scenario_at(&place).await?,
        None => scenario_named(&asked.scenario).await?,
    };
    if let Some(seed) = platform::parameter("seed").and_then(|it| it.parse().ok()) {
        found.moment.scenario.seed = seed;
    }
    Ok(found)
}

/// What is remembered between two messages.
#[derive(Default)]
struct Line {
    host: Option<Host>,
    asked: Option<Asked>,
    session: Option<(Session, Sheets)>,
    /// The number of the newest message sent.
    sent: u64,
    /// Messages that were not read or not understood.
    ignored: u64,
    /// When the second began whose messages are counted, in wall ms, and how many there were.
    second: (f64, u32),
    height: f64,
    /// When the size and the state were told last, in wall ms, and what waits to be told.
    size_at: f64,
    state_at: f64,
    size_due: Option<Timeout>,
    state_due: Option<Timeout>,
    is_met: bool,
    /// The lesson of the world that is shown.
    taught: Option<Rc<Taught>>,
    unmark: Option<Timeout>,
    /// What is yet to be played before the scenario begins, and whether that is being done.
    opening: Option<Moment>,
    is_opening: bool,
}

thread_local! {
    static LINE: RefCell<Line> = RefCell::default();
    /// The size is looked at with the next frame.
    static IS_MEASURING: Cell<bool> = const { Cell::new(false) };
}

fn with_line<T>(use_it: impl FnOnce(&mut Line) -> T) -> T {
    LINE.with(|line| use_it(&mut line.borrow_mut()))
}

/// Tells the host something; `for_anybody` even one that is not known by name.
fn tell(kind: &str, fields: Value, for_anybody: bool) {
    if let Some(host) = with_line(|line| line.host.clone()) {
        host.post(&message(kind, fields), for_anybody);
    }
}

/// A message as JSON.
fn message(kind: &str, fields: Value) -> String {
    let id = with_line(|line| {
        line.sent += 1;
        line.sent
    });
    let mut message = Map::new();
    message.insert("app".into(), "loopscope".into());
    message.insert("v".into(), VERSION.into());
    message.insert("id".into(), id.into());
    message.insert("type".into(), kind.into());
    if let Value::Object(fields) = fields {
        message.extend(fields);
    }
    Value::Object(message).to_string()
}

fn tell_refusal(it: &Refusal, of: &Value) {
    tell("error", json!({"code": it.code, "message": it.words, "re": of}), false);
}

/// Takes the place of the static shell.
pub fn begin() {
    let asked = Asked::read();
    platform::show_theme(theme(platform::parameter("theme").as_deref()));
    let host = Host::find();
    if let Some(host) = &host {
        host.listen(hear);
    }
    with_line(|line| (line.host, line.asked) = (host, Some(asked.clone())));
    spawn_local(async move {
        let found = first_scenario(&asked).await;
        app::leave_shell();
        match found {
            Ok(world) => begin_at(world),
            Err(refusal) => show_refusal(&refusal),
        }
        app::say_ready();
    });
}

/// Begins a world; one of which something is played first is shown again once it is there.
fn begin_at(world: World) {
    let World { moment, taught } = world;
    let scenario = moment.scenario.clone();
    with_line(|line| {
        line.opening = (moment.at != Instant::default()).then_some(moment);
        line.taught = taught;
    });
    show(Some(scenario), None);
}

fn show(scenario: Option<Scenario>, opened: Option<Opened>) {
    let Some(asked) = with_line(|line| line.asked.clone()) else { return };
    app::keep(move |body| mount_to(body, move || view! { <Embed asked scenario opened/> }));
}

fn show_refusal(refusal: &Refusal) {
    let words = refusal.words.clone();
    with_line(|line| line.session = None);
    app::keep(move |body| {
        let fill = move |app: Element| ui::mount(&app, no_such_scenario(&words));
        mount_to(body, move || view! { <div class="app" use:fill></div> })
    });
    tell_refusal(refusal, &Value::Null);
}

/// Puts another world into the frame.
pub fn put(opened: Opened) {
    show(None, Some(opened));
}

#[component]
fn Embed(asked: Asked, scenario: Option<Scenario>, opened: Option<Opened>) -> impl IntoView {
    let sheets = Sheets::new();
    let is_fresh = opened.is_none();
    let session = match opened {
        Some(opened) => {
            let session = Session::of(opened.history, opened.selected);
            if let Some(card) = opened.card {
                sheets.stage.put(Stage::Told(card));
            }
            session
        }
        None => Session::new(scenario.unwrap_or_else(Scenario::self_healing)),
    };
    provide_context(session);
    session.lanes.are_open.put(asked.pieces.contains(&Piece::Timeline));
    session.focus.open(crate::session::Part::Console);
    with_line(|line| (line.session, line.is_met) = (Some((session, sheets)), false));
    embed_keys(session, sheets);
    effect(move || report(session));
    effect(move || {
        if let Stage::Told(card) = sheets.stage.get() {
            tell_refusal(&Refusal::new("bad-moment", &[card.title, ": ", &card.words]), &Value::Null);
        }
    });
    let opening = with_line(|line| line.opening.take()).filter(|_| is_fresh);
    let (is_opening, was_opening) = (opening.is_some(), with_line(|line| std::mem::take(&mut line.is_opening)));
    if is_fresh && opening::has_link() {
        if let Some(scenario) = session.scenario_now() {
            opening::open_hash(sheets.stage, scenario);
        }
    } else if let Some(moment) = opening {
        with_line(|line| line.is_opening = true);
        opening::open_moment(sheets.stage, moment);
    } else if (is_fresh || was_opening) && platform::parameter("autoplay").is_some() && !platform::wants_less_motion() {
        session.play();
    }
    if !is_opening {
        goal::follow(session);
    }
    for note in asked.notes.iter().filter(|_| !is_opening) {
        tell_refusal(&Refusal::new("unknown-value", &[note]), &Value::Null);
    }
    let fill = move |app: Element| {
        ui::mount(&app, embed_page(asked.clone(), session, sheets));
        platform::on_sight(&app, move |is_seen| {
            if !is_seen && session.transport.playing.try_get_untracked() == Some(true) {
                session.pause();
            }
        });
        if !is_opening {
            platform::next_frame(move || tell_ready(session));
        }
    };
    view! { <div class="app" use:fill></div> }
}

fn tell_ready(session: Session) {
    measure();
    let height = with_line(|line| line.height);
    let name = session.scenario.try_get_value().unwrap_or_default();
    tell("ready", json!({"scenario": name, "height": height}), true);
}

/// What the embed is made of has another size. It is measured with the next frame, and told when that is due.
pub fn resized() {
    if !IS_MEASURING.replace(true) {
        platform::next_frame(|| {
            IS_MEASURING.set(false);
            measure();
        });
    }
}

fn measure() {
    let height: f64 = platform::everything(".em-head, .em-body, .em-foot").iter().map(platform::height).sum();
    let height = (height + SLACK).ceil().clamp(HEIGHTS.0, HEIGHTS.1);
    with_line(|line| {
        if (height - line.height).abs() <= SLACK {
            return;
        }
        line.height = height;
        if line.size_due.is_none() {
            let wait = (line.size_at + SIZE_EVERY_MS - wall_ms()).clamp(0.0, SIZE_EVERY_MS);
            line.size_due = Some(Timeout::new(wait as u32, tell_size));
        }
    });
}

fn tell_size() {
    let height = with_line(|line| {
        (line.size_due, line.size_at) = (None, wall_ms());
        line.height
    });
    tell("resize", json!({"height": height}), true);
}

/// Tells where time is, whenever that changes, but not more often than is worth it.
fn report(session: Session) {
    session.transport.now_ms.track();
    session.transport.playing.track();
    session.is_converged();
    with_line(|line| {
        if line.state_due.is_none() {
            let wait = (line.state_at + STATE_EVERY_MS - wall_ms()).clamp(0.0, STATE_EVERY_MS);
            line.state_due = Some(Timeout::new(wait as u32, tell_state));
        }
    });
}

fn tell_state() {
    let state = with_line(|line| {
        (line.state_due, line.state_at) = (None, wall_ms());
        let (session, _) = line.session.as_ref()?;
        let is_playing = session.transport.playing.try_get_untracked()?;
        let (want, ready) = session.board.summary.with_untracked(|it| (it.want, it.ready));
        let t = session.transport.now_ms.get_untracked();
        let converged = untrack(|| session.is_converged());
        Some(json!({
            "t": t, "playing": is_playing, "converged": converged, "want": want, "ready": ready, "ignored": line.ignored,
        }))
    });
    if let Some(state) = state {
        tell("state", state, false);
    }
}

/// Makes the link to the moment that is shown, in the full page, and passes it on.
pub async fn link_to_now(session: Session) -> Option<String> {
    let text = write_moment(&session.moment(false)?);
    let bytes = platform::deflate(&text).await?;
    let url = [&platform::bare_address(), "#", &pack(&text, &bytes)].concat();
    tell("share", json!({"url": url}), false);
    Some(url)
}

/// The map as it is now, for a still; nothing where there is none to draw.
async fn tell_picture(session: Session, of: Value) {
    let svg = session.picture_now();
    let bitmap = match svg {
        Some(svg) => platform::bitmap(&svg).await,
        None => None,
    };
    let Some(host) = with_line(|line| line.host.clone()) else { return };
    let message = message("picture", json!({"re": of}));
    host.post_with(&message, "bitmap", &bitmap.unwrap_or(JsValue::NULL));
}

fn ignore() {
    with_line(|line| line.ignored += 1);
}

/// One message from outside. What is not of this protocol is ignored and counted.
fn hear(heard: Heard) {
    let text = match heard {
        Heard::Text(text) if is_within_rate() => text,
        _ => return ignore(),
    };
    let (refusal, id) = match read(&text) {
        Message::Foreign => return ignore(),
        Message::Wrong(refusal, id) => (refusal, id),
        Message::Asks(ask, id) => match obey(ask, &id) {
            Ok(()) => return,
            Err(refusal) => (refusal, id),
        },
    };
    ignore();
    tell_refusal(&refusal, &id);
}

fn is_within_rate() -> bool {
    let now = wall_ms();
    with_line(|line| {
        if now - line.second.0 >= 1_000.0 {
            line.second = (now, 0);
        }
        line.second.1 += 1;
        line.second.1 <= MOST_A_SECOND
    })
}

fn obey(ask: Ask, id: &Value) -> Result<(), Refusal> {
    match ask {
        Ask::Ping => {
            let ignored = with_line(|line| line.ignored);
            tell("pong", json!({"re": id, "versions": [VERSION], "ignored": ignored}), false);
        }
        Ask::Theme(theme) => platform::show_theme(theme),
        Ask::Language => {}
        Ask::Highlight(name) => return highlight(name.as_deref()),
        Ask::Load(name) => load(name, id.clone()),
        Ask::Open(hash) => {
            let (session, sheets) = open_session()?;
            if let Some(now) = session.scenario_now() {
                opening::open_link(sheets.stage, now, hash);
            }
        }
        Ask::Share => {
            let (session, _) = open_session()?;
            spawn_local(async move { drop(link_to_now(session).await) });
        }
        Ask::Picture => {
            let ((session, _), id) = (open_session()?, id.clone());
            spawn_local(async move { tell_picture(session, id).await });
        }
        other => return open_session()?.0.obey(&other).unwrap_or(Ok(())),
    }
    Ok(())
}

fn open_session() -> Result<(Session, Sheets), Refusal> {
    with_line(|line| line.session).ok_or_else(|| Refusal::new("unknown-scenario", &["No scenario is open"]))
}

/// Lights up what the prose around speaks of, for a while.
fn highlight(named: Option<&str>) -> Result<(), Refusal> {
    platform::unmark();
    with_line(|line| line.unmark = None);
    let Some(name) = named else { return Ok(()) };
    let found = reference(name);
    if found.is_empty() {
        return Err(Refusal::new("unknown-ref", &["Nothing here is called “", name, "”"]));
    }
    platform::mark(&found);
    with_line(|line| line.unmark = Some(Timeout::new(MARKED_MS, platform::unmark)));
    Ok(())
}

/// Another world, by its name.
fn load(name: String, id: Value) {
    spawn_local(async move {
        match scenario_named(&name).await {
            Ok(world) => begin_at(world),
            Err(refusal) => {
                // What is open stays.
                tell_refusal(&refusal, &id);
                if let Some((session, _)) = with_line(|line| line.session) {
                    session.toast(refusal.words, Tone::Error);
                }
            }
        }
    });
}

/// Follows the size of the parts that the embed is made of.
pub fn follow_size(elements: &[Element]) -> Vec<platform::Watch> {
    let told = |is_scroll: bool| {
        if !is_scroll {
            resized();
        }
    };
    elements.iter().map(|it| platform::Watch::new(it, Rc::new(told))).collect()
}
