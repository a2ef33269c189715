//! The one list of what can be done from anywhere: keys, palette and help are made from it.

use crate::opening::Stage;
use crate::platform;
use crate::session::{LoopsView, Part, Session, StepBy, Tone};
use crate::ui::State;

/// The dialogs over the page.
#[derive(Clone, Copy)]
pub struct Sheets {
    pub help: State<bool>,
    pub palette: State<bool>,
    pub share: State<bool>,
    /// The list of lessons.
    pub lessons: State<bool>,
    /// How far something that is being opened has come.
    pub stage: State<Stage>,
}

impl Sheets {
    pub fn new() -> Self {
        let closed = || State::new(false);
        Self { help: closed(), palette: closed(), share: closed(), lessons: closed(), stage: State::new(Stage::Closed) }
    }

    pub fn is_open(self) -> bool {
        let is_opening = self.stage.with_untracked(|it| *it != Stage::Closed);
        is_opening || [self.help, self.palette, self.share, self.lessons].iter().any(|it| it.get_untracked())
    }
}

pub struct Deed {
    pub name: &'static str,
    /// As the browser names them, with `Ctrl+` or `Shift+` before.
    pub keys: &'static [&'static str],
    /// Where the keys act.
    pub place: &'static str,
    /// A first visit can do it without the rest of the program.
    pub is_first: bool,
    /// Nothing for what the map does itself with the keys of its pods.
    pub run: Option<fn(Session, Sheets)>,
}

const fn anywhere(name: &'static str, keys: &'static [&'static str], run: fn(Session, Sheets)) -> Deed {
    Deed { name, keys, place: if keys.is_empty() { "" } else { "page" }, is_first: false, run: Some(run) }
}

const fn at_first(name: &'static str, keys: &'static [&'static str], run: fn(Session, Sheets)) -> Deed {
    Deed { is_first: true, ..anywhere(name, keys, run) }
}

const fn on_the_map(name: &'static str, keys: &'static [&'static str]) -> Deed {
    Deed { name, keys, place: "map", is_first: true, run: None }
}

pub static DEEDS: [Deed; 84] = [
    at_first("Play or pause", &[" ", "k"], |session, _| session.toggle()),
    at_first("Pause", &["Escape"], |session, _| session.pause()),
    at_first("Next event", &["ArrowRight", "."], |session, _| session.step_on(StepBy::Event)),
    at_first("Previous event", &["ArrowLeft", ","], |session, _| session.step_back(StepBy::Event)),
    at_first("Next act of a loop", &["Shift+ArrowRight"], |session, _| session.step_on(StepBy::Act)),
    at_first("Previous act of a loop", &["Shift+ArrowLeft"], |session, _| session.step_back(StepBy::Act)),
    anywhere("Next turn of a loop", &[], |session, _| session.step_on(StepBy::Turn)),
    anywhere("Previous turn of a loop", &[], |session, _| session.step_back(StepBy::Turn)),
    anywhere("Next write", &[], |session, _| session.step_on(StepBy::Write)),
    anywhere("Previous write", &[], |session, _| session.step_back(StepBy::Write)),
    anywhere("Next change of the selected object", &[">"], |session, _| session.step_on(StepBy::Selected)),
    anywhere("Previous change of the selected object", &["<"], |session, _| session.step_back(StepBy::Selected)),
    at_first("Skip to the next change", &[";"], |session, _| session.skip()),
    anywhere("Stop when something happens", &["b"], |session, _| {
        session.transport.stops_open.put(true);
        platform::next_frame(|| platform::focus_by_id("stop-what"));
    }),
    anywhere("Stop when the selected object changes, or no longer", &[], |session, _| {
        session.switch_stop_at_selected()
    }),
    anywhere("Back to before the links that were followed", &["Backspace"], |session, _| session.go_back()),
    at_first("Slower", &["["], |session, _| session.shift_speed(false)),
    at_first("Faster", &["]"], |session, _| session.shift_speed(true)),
    anywhere("Real gaps or even steps", &["s"], |session, _| session.switch_even()),
    at_first("Follow what happens", &["f"], |session, _| session.switch_follow()),
    at_first("Undo: rewind to before the last thing done", &["u", "Ctrl+z"], |session, _| session.undo()),
    at_first("Redo: forward to the next thing done", &["Ctrl+Shift+z", "Ctrl+y"], |session, _| session.redo()),
    at_first("To the start", &["Home"], |session, _| session.seek_start()),
    at_first("To the newest moment", &["End"], |session, _| session.seek_end()),
    at_first("One second back", &["Alt+ArrowLeft"], |session, _| session.seek_by(-1_000)),
    at_first("One second forward", &["Alt+ArrowRight"], |session, _| session.seek_by(1_000)),
    anywhere("Timeline: a shorter stretch", &["+"], |session, _| session.zoom(true)),
    anywhere("Timeline: a longer stretch", &["-"], |session, _| session.zoom(false)),
    anywhere("Timeline: the whole run", &["0"], |session, _| session.show_all()),
    anywhere("Timeline: fold or unfold the lanes", &[], |session, _| {
        session.unfold_lanes(!session.lanes.are_open.get_untracked());
    }),
    anywhere("Begin a branch here", &[], |session, _| session.fork()),
    anywhere("Compare with the branch this one comes from", &[], |session, _| session.lay_parent_beside()),
    anywhere("Leave out the last thing done, in another branch", &[], |session, _| session.leave_out_last()),
    anywhere("Go to the history", &[], |session, _| go(session, Part::History, "h-hist")),
    anywhere("Share: link to this moment, files, pictures", &[], |_, sheets| sheets.share.put(true)),
    anywhere("Open a moment, a scenario, a journal or your cluster", &[], |_, sheets| {
        sheets.share.put(true);
        platform::next_frame(|| platform::focus_by_id("open-moment"));
    }),
    anywhere("Edit the manifest", &["e"], |session, _| go(session, Part::Manifest, "editor")),
    anywhere("Apply the manifest", &[], |session, _| {
        session.open(Part::Manifest);
        session.apply();
    }),
    anywhere("Go to the console, to type kubectl", &[":", "`"], |session, _| go(session, Part::Console, "prompt")),
    anywhere("Stop the command in the console", &[], |session, _| session.stop_line("you stopped it")),
    anywhere("Clear the console", &[], |session, _| session.clear_console()),
    anywhere("Go to Git and its agent", &[], |session, _| go(session, Part::Git, "h-git")),
    anywhere("Go to infrastructure as code", &[], |session, _| go(session, Part::Infra, "h-infra")),
    anywhere("Go to the inspector", &["i"], |session, _| go(session, Part::Inspect, "h-insp")),
    anywhere("Go to the events", &[], |session, _| go(session, Part::Events, "log")),
    anywhere("Go to the faults: what can be broken", &[], |session, _| go(session, Part::Faults, "h-faults")),
    anywhere("Mend all that was broken", &[], |session, _| session.mend_all()),
    anywhere("Go to the properties that must hold", &[], |session, _| go(session, Part::Properties, "h-props")),
    anywhere("Inspect the first Service, to put a load on it", &[], |session, _| {
        session.select_service();
        go(session, Part::Inspect, "h-insp");
    }),
    anywhere("Go to the map", &[], |session, _| go(session, Part::Map, "map")),
    anywhere("Inspect the first workload", &[], |session, _| {
        session.select_first();
        go(session, Part::Inspect, "h-insp");
    }),
    anywhere("Map as a table", &["t"], |session, _| {
        session.open(Part::Map);
        switch_table(session);
    }),
    anywhere("Group the map by owner, or by node", &[], |session, _| {
        session.open(Part::Map);
        session.group_by_owner(!session.board.by_owner.get_untracked());
    }),
    anywhere("Show the map as it really is, or as reported", &[], |session, _| {
        session.open(Part::Map);
        session.show_truth(!session.board.truth.get_untracked());
    }),
    anywhere("Show all loops, or only active ones", &[], |session, _| {
        let all = session.board.all_loops;
        session.open(Part::Loops);
        all.put(!all.get_untracked());
    }),
    anywhere("Loops as rows", &[], |session, _| show_loops(session, LoopsView::Rows)),
    anywhere("Loops as cards", &[], |session, _| show_loops(session, LoopsView::Cards)),
    anywhere("Loops as one picture", &[], |session, _| show_loops(session, LoopsView::Picture)),
    anywhere("Loops laid over each other: the same shape", &[], |session, _| show_loops(session, LoopsView::Shape)),
    anywhere("Panels in their first sizes", &[], |_, _| super::splitter::reset_all()),
    anywhere("Add a node", &[], |session, _| session.add_node()),
    anywhere("Simple view or workspace", &["v"], |session, _| session.switch_view()),
    anywhere("Level against edge: two worlds side by side", &[], |session, _| {
        session.show_twins(!session.twins.are_shown.get_untracked());
    }),
    anywhere("Orders beside a wish", &[], |session, _| session.open(Part::Orders)),
    anywhere("Open the next scenario", &[], super::opened::open_next),
    anywhere("Lessons: the list of them", &["l"], |_, sheets| sheets.lessons.put(true)),
    anywhere("Lesson: read it", &[], |session, _| in_lesson(session, |session| go(session, Part::Learn, "h-step"))),
    anywhere("Lesson: next step", &["n"], |session, _| in_lesson(session, |session| session.next_step(true))),
    anywhere("Lesson: previous step", &["p"], |session, _| in_lesson(session, |session| session.next_step(false))),
    anywhere("Lesson: back to where this step began", &[], |session, _| in_lesson(session, Session::replay_step)),
    anywhere("Lesson: skip to where the goal is met", &[], |session, _| in_lesson(session, Session::skip_to_goal)),
    anywhere("Lesson: show or hide the solution", &[], |session, _| in_lesson(session, Session::tell_solution)),
    anywhere("Lesson: carry out the solution", &[], |session, _| in_lesson(session, Session::do_solution)),
    anywhere("Lesson: leave it", &[], |session, _| in_lesson(session, Session::leave_lesson)),
    Deed { place: "lesson", ..on_the_map("To a step of the lesson by its number", &["1…9"]) },
    at_first("Dark or light theme", &["d"], |_, _| platform::click("theme")),
    Deed {
        place: "page, text fields too",
        ..anywhere("Commands", &["Ctrl+k"], |_, sheets| sheets.palette.put(!sheets.palette.get_untracked()))
    },
    anywhere("Help", &["?"], |_, sheets| sheets.help.set(true)),
    on_the_map("Next or previous pod", &["ArrowRight", "ArrowLeft"]),
    on_the_map("Through pods and the nodes' buttons", &["ArrowDown", "ArrowUp"]),
    on_the_map("First or last pod", &["Home", "End"]),
    on_the_map("Next or previous node", &["PageDown", "PageUp"]),
    on_the_map("Inspect the focused pod", &["Enter"]),
    on_the_map("Delete the focused pod", &["Delete"]),
];

/// The deed of a pressed key.
pub fn deed_of(key: &str) -> Option<&'static Deed> {
    DEEDS.iter().find(|deed| deed.run.is_some() && deed.keys.iter().any(|it| it.eq_ignore_ascii_case(key)))
}

/// `Ctrl+k` as it is written on keyboards: `Ctrl+K`.
pub fn key_words(key: &str) -> String {
    let (with, key) = match key.rsplit_once('+') {
        Some((with, key)) if !key.is_empty() => ([with, "+"].concat(), key),
        _ => (String::new(), key),
    };
    let word = match key {
        " " => "Space",
        "ArrowRight" => "→",
        "ArrowLeft" => "←",
        "ArrowDown" => "↓",
        "ArrowUp" => "↑",
        "PageDown" => "Page Down",
        "PageUp" => "Page Up",
        "Escape" => "Esc",
        key if key.len() == 1 => return with + &key.to_ascii_uppercase(),
        key => key,
    };
    with + word
}

fn in_lesson(session: Session, then: impl FnOnce(Session)) {
    match session.learning() {
        Some(_) => then(session),
        None => session.toast("No lesson is open: press L for the list", Tone::Notice),
    }
}

fn show_loops(session: Session, how: LoopsView) {
    session.open(Part::Loops);
    session.show_loops_as(how);
}

/// Brings a part to the front and the focus into it.
fn go(session: Session, part: Part, id: &'static str) {
    // Both views have a map.
    if part == Part::Map {
        session.focus.open(part);
    } else {
        session.open(part);
    }
    platform::next_frame(move || platform::focus_by_id(id));
}

/// Shows the map's other form. The focus stays on the pod that has it.
pub fn switch_table(session: Session) {
    let table = session.board.table;
    let has_focus =
        platform::active_element().and_then(|it| it.closest(".nodes, .twin, .crowd").ok().flatten()).is_some();
    session.show_table(!table.get_untracked());
    if has_focus {
        platform::next_frame(|| {
            // Without a pod, to the first node.
            let _ =
                platform::focus_first("#map [data-uid][tabindex='0']") || platform::focus_first("#map [tabindex='0']");
        });
    }
}
