//! The one owner of the simulation. Signals hold views of it; the only way to change it is a command.

mod branches;
mod closer;
mod commands;
mod console;
mod details;
mod edit;
mod faults;
mod git;
mod host;
mod infra;
mod keep;
mod lesson;
mod lights;
mod look;
mod moves;
mod play;
mod room;
mod seek;
mod share;
mod show;
mod state;
mod steps;
mod stops;
mod timeline;
mod twin;
mod why;

pub use closer::Closer;
pub use console::{BlockEntry, Hold, Typing};
pub use faults::Trouble;
pub use git::GitDesk;
pub use host::{Refusal, speed_named};
pub use infra::{InfraDesk, you};
pub use keep::kept_steps;
pub use lesson::{Came, Learning, Script, Stand, StepMark, Taught, lessons_done};
pub use share::Export;
pub use show::PAGE;
pub use state::{
    Base, Board, BranchRow, Editor, Focus, InspectTab, LoopEntry, LoopsView, NodeEntry, Other, Part, Past, PodEntry,
    StepRow, Toast, Tone, Transport,
};
pub use steps::StepBy;
pub use stops::Stop;
pub use timeline::Lanes;
pub use twin::Twins;
pub use why::{Chain, Origin};

use leptos::prelude::*;
use loopscope_engine::api::{ObjectKey, Uid};
use loopscope_engine::history::{BranchId, History};
use loopscope_engine::kubectl::Terminal;
use loopscope_engine::sim::Seq;
use loopscope_engine::view::{self, PodRow};
use loopscope_engine::world::{Goal, Instant, Scenario, Simulation};

use crate::platform::{self, Raf, set_view, twins_are_shown, view_is_simple, wall_ms};
use branches::Beside;
use lights::Lights;
use seek::Seeking;
use show::Registry;

use crate::ui::State;

/// How fast time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Real time, but never more than so many listed events in a second: loops act within milliseconds.
    Readable(f64),
    /// So many times real time, exactly.
    Times(f64),
    /// One event each so many wall ms, however long it was in coming.
    Events(f64),
    /// One act of a loop each so many wall ms.
    Acts(f64),
}

/// What can be chosen: with the real gaps, slowest first, and from [`EVEN`] on in even steps. Readable comes before 1×,
/// which is as fast while nothing acts and faster otherwise.
pub const SPEEDS: [(&str, Pace); 15] = [
    ("⅛×", Pace::Times(0.125)),
    ("¼×", Pace::Times(0.25)),
    ("½×", Pace::Times(0.5)),
    ("readable", Pace::Readable(20.0)),
    ("1×", Pace::Times(1.0)),
    ("2×", Pace::Times(2.0)),
    ("4×", Pace::Times(4.0)),
    ("8×", Pace::Times(8.0)),
    ("16×", Pace::Times(16.0)),
    ("60×", Pace::Times(60.0)),
    ("an event each 2 s", Pace::Events(2_000.0)),
    ("an event each 1 s", Pace::Events(1_000.0)),
    ("an event each 0.6 s", Pace::Events(600.0)),
    ("an act each 2 s", Pace::Acts(2_000.0)),
    ("an act each 1 s", Pace::Acts(1_000.0)),
];

/// The first speed in even steps.
pub const EVEN: usize = 10;
const READABLE: usize = 3;
const READABLE_STEPS: usize = 12;

/// Where less motion is wanted, time goes by in steps.
fn first_speed() -> usize {
    if platform::wants_less_motion() { READABLE_STEPS } else { READABLE }
}

/// What no view may see: the model, and what is remembered between two frames.
struct Core {
    history: History,
    seeking: Option<Seeking>,
    terminal: Terminal,
    /// The terminal's version that is shown.
    typed_shown: u64,
    /// The manifest, while an object that the console edits is in its editor.
    laid_aside: Option<String>,
    /// What play stops at, the event up to which it was looked for, and the one at which it was found.
    watch: Option<Goal>,
    watched: Seq,
    stopped: Option<Seq>,
    /// The world that one left by following a link into its past.
    later: Option<Simulation>,
    beside: Option<Beside>,
    twin: Option<twin::Beside>,
    lesson: Option<Box<lesson::Run>>,
    /// The branch whose commands are listed.
    steps_of: Option<BranchId>,
    registry: Registry,
    lights: Lights,
    /// Wall time at which the timeline was last derived, and the virtual time that it showed.
    timeline_at: f64,
    cursor_seen: Option<u64>,
    /// Fraction of a virtual millisecond not yet played.
    carry: f64,
    /// Listed events that may be shown now without being too many to read.
    credit: f64,
    last_wall: Option<f64>,
    /// Wall time since the last even step.
    waited: f64,
    /// Wall and virtual time from which the factor is measured.
    measured: Option<(f64, u64)>,
    /// The act that is followed, and since when, in wall ms.
    followed: (u64, f64),
    /// Wall time at which the object and the event list were last derived.
    details_at: f64,
    /// When the event list and the loops were last shown, in wall ms.
    events_at: f64,
    loops_at: f64,
    page_at: f64,
    map_due: f64,
    room_at: f64,
    details_seq: u64,
    /// Wall time at which the announcer last spoke, and its waiting sentence.
    announcer: Option<gloo_timers::callback::Timeout>,
    announced_seq: u64,
    next_toast: u32,
    /// The machine whose power was switched last, and when, in wall ms.
    switched: (String, f64),
}

impl Core {
    fn new(history: History) -> Self {
        Self {
            history,
            seeking: None,
            terminal: Terminal::default(),
            typed_shown: 0,
            laid_aside: None,
            watch: None,
            watched: Seq(0),
            stopped: None,
            later: None,
            beside: None,
            twin: None,
            lesson: None,
            steps_of: None,
            registry: Registry::default(),
            lights: Lights::default(),
            timeline_at: f64::MIN,
            cursor_seen: None,
            carry: 0.0,
            credit: 0.0,
            last_wall: None,
            waited: 0.0,
            measured: None,
            followed: (0, f64::MIN),
            details_at: f64::MIN,
            events_at: f64::MIN,
            loops_at: f64::MIN,
            page_at: f64::MIN,
            map_due: f64::MIN,
            room_at: f64::MIN,
            details_seq: u64::MAX,
            announcer: None,
            announced_seq: 0,
            next_toast: 0,
            switched: (String::new(), f64::MIN),
        }
    }

    fn sim(&self) -> &Simulation {
        self.history.simulation()
    }
}

/// A handle to everything the page shows and can do.
#[derive(Clone, Copy)]
pub struct Session {
    core: StoredValue<Core, LocalStorage>,
    raf: StoredValue<Option<Raf>, LocalStorage>,
    pub scenario: StoredValue<String>,
    /// The simple view is shown, not the workspace.
    pub is_simple: State<bool>,
    /// The page is in another's frame: there is no workspace to open.
    pub is_embedded: bool,
    pub transport: Transport,
    pub past: Past,
    pub stops: State<Vec<Stop>>,
    pub board: Board,
    pub focus: Focus,
    pub editor: Editor,
    pub typing: Typing,
    pub toasts: State<Vec<Toast>>,
    pub announcement: State<String>,
    pub lanes: Lanes,
    pub git: GitDesk,
    pub infra: InfraDesk,
    pub twins: Twins,
    pub trouble: Trouble,
}

impl Session {
    pub fn new(scenario: Scenario) -> Self {
        Self::of(History::new(scenario), None)
    }

    /// A world that has come somewhere already, and what of it to look at.
    pub fn of(history: History, selected: Option<ObjectKey>) -> Self {
        let sim = history.simulation();
        let name = sim.scenario().name.clone();
        keep::begin(&history);
        let text = sim.manifest().to_owned();
        let selected = selected.or_else(|| view::first_key(sim));
        let is_started = sim.instant() != Instant::default();
        let has_steps = history.branches().iter().any(|it| !it.steps().is_empty());
        let core = Core::new(history);
        let session = Self {
            core: StoredValue::new_local(core),
            raf: StoredValue::new_local(None),
            scenario: StoredValue::new(name),
            is_simple: State::new(view_is_simple()),
            is_embedded: platform::is_embedded(),
            transport: Transport::new(),
            past: Past::new(),
            stops: State::new(Vec::new()),
            board: Board::new(),
            focus: Focus::new(selected),
            editor: Editor::new(text),
            typing: Typing::new(),
            toasts: State::new(Vec::new()),
            announcement: State::new(String::new()),
            lanes: Lanes::new(),
            git: GitDesk::new(),
            infra: InfraDesk::new(),
            twins: Twins::new(twins_are_shown()),
            trouble: Trouble::new(),
        };
        session.raf.set_value(Some(Raf::new(move |wall| session.tick(wall))));
        session.transport.started.put(is_started);
        session.board.meddled.put(has_steps);
        session.refresh();
        session
    }

    /// Shows the simulation as it is now, all of it.
    fn refresh(self) {
        self.with_core(|core| {
            core.show(self, wall_ms());
            core.show_details(self, wall_ms(), true);
            core.show_timeline(self, wall_ms(), true);
            core.show_console(self);
        });
        if self.learning().is_some() {
            self.look_now();
        }
    }

    /// Changes to the simple view, or to the workspace. Whatever runs goes on.
    pub fn show_simple(self, simple: bool) {
        if self.twins.are_shown.get_untracked() && !simple {
            return self.show_twins(false);
        }
        set_view(if simple { "simple" } else { "workspace" });
        self.is_simple.put(simple);
        self.twins.are_shown.put(false);
        self.refresh();
    }

    /// To the workspace; from there to the simple view.
    pub fn switch_view(self) {
        let is_work = !self.is_simple.get_untracked() && !self.twins.are_shown.get_untracked();
        self.show_simple(is_work);
        if is_work && self.is_taught() {
            self.toast("The lesson waits in the workspace: V leads back to it", Tone::Notice);
        }
    }

    /// Shows the workspace whatever is remembered.
    pub fn show_workspace(self) {
        if self.is_simple.get_untracked() || self.twins.are_shown.get_untracked() {
            self.show_simple(false);
        }
    }

    /// Does what a first visit does not need, once the rest of the program is there.
    pub fn with_all(self, then: impl FnOnce() + 'static) {
        let failed = move |why: String| {
            let words = ["This part of the page could not be loaded: ", &why, ". Check the connection and try again."];
            self.toast(words.concat(), Tone::Error);
        };
        platform::with_rest(Box::new(then), Box::new(failed));
    }

    /// Shows the map as a table, or as shapes.
    pub fn show_table(self, table: bool) {
        self.board.table.put(table);
        self.refresh();
    }

    /// Shows another page of the table.
    pub fn turn_to(self, page: usize) {
        self.board.page.put(page);
        self.refresh();
    }

    /// One pod of a crowd, in words.
    pub fn pod(self, uid: Uid) -> Option<PodRow> {
        self.with_core(|core| view::pod_row(core.sim(), uid)).flatten()
    }

    /// The pod of this name, if it is a pod and still there.
    pub fn uid(self, key: &ObjectKey) -> Option<Uid> {
        self.with_core(|core| core.sim().api().objects().pod(key).map(|pod| pod.metadata.uid)).flatten()
    }

    /// Brings a part of the workspace to the front wherever it may be hidden.
    pub fn open(self, part: Part) {
        let elsewhere = self.is_simple.get_untracked() || self.twins.are_shown.get_untracked();
        if elsewhere && !self.is_embedded {
            self.show_simple(false);
        }
        self.focus.open(part);
        if matches!(part, Part::Git | Part::Infra | Part::Orders) {
            self.refresh();
        }
    }

    /// Runs `body` on the core, unless the page is being taken down.
    fn with_core<T>(self, body: impl FnOnce(&mut Core) -> T) -> Option<T> {
        self.core.try_update_value(body)
    }
}

/// The session of the page that the component is part of.
pub fn session() -> Session {
    expect_context()
}
