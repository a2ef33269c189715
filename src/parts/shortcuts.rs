use crate::platform::{self, Key, on_window_key};
use crate::session::{Part, Session};

use crate::ui::State;

/// One shortcut as the help dialog lists it.
pub const KEYS: [(&str, &str); 16] = [
    ("Space, K", "Play or pause"),
    ("→, .", "Next event"),
    ("Shift+→", "Next act of a loop"),
    (";", "Skip to the next change"),
    ("[, ]", "Slower, faster"),
    ("Arrows, Home, End", "Move between pods on the map"),
    ("Page Up, Page Down", "Move between nodes on the map"),
    ("Enter", "Inspect the focused pod"),
    ("Delete", "Delete the focused pod"),
    ("E", "Edit the manifest"),
    ("I", "Go to the inspector"),
    ("T", "Map as a table"),
    ("V", "Simple view or workspace"),
    ("D", "Dark or light theme"),
    ("Esc", "Pause"),
    ("?", "This help"),
];

const SETTING: &str = "single-keys";

pub fn single_keys_on() -> bool {
    platform::load(SETTING).as_deref() != Some("off")
}

pub fn set_single_keys(on: bool) {
    platform::save(SETTING, if on { "on" } else { "off" });
}

/// Keys that work wherever the focus is, apart from text fields.
pub fn shortcuts(session: Session, help_open: State<bool>) {
    on_window_key(move |key| {
        if help_open.get_untracked() || (key.name.len() == 1 && key.name != " " && !single_keys_on()) {
            return;
        }
        if handle(session, &key, help_open) {
            key.event.prevent_default();
        }
    });
}

fn handle(session: Session, key: &Key, help_open: State<bool>) -> bool {
    let speed = session.transport.speed.get_untracked();
    match key.name.as_str() {
        " " if key.is_free => session.toggle(),
        "k" | "K" => session.toggle(),
        "ArrowRight" if key.is_free && key.shift => session.step_to_act(),
        "ArrowRight" if key.is_free => session.step(),
        "." => session.step(),
        ";" => session.skip(),
        "[" => session.set_speed(speed.saturating_sub(1)),
        "]" => session.set_speed(speed + 1),
        "e" | "E" => {
            session.open(Part::Manifest);
            platform::next_frame(|| platform::focus_by_id("editor"));
        }
        "i" | "I" => {
            session.open(Part::Inspect);
            platform::next_frame(|| platform::focus_by_id("h-insp"));
        }
        "t" | "T" if !session.is_simple.get_untracked() => {
            session.board.table.put(!session.board.table.get_untracked())
        }
        "v" | "V" => session.show_simple(!session.is_simple.get_untracked()),
        "d" | "D" => platform::click("theme"),
        "?" => help_open.set(true),
        "Escape" => session.pause(),
        _ => return false,
    }
    true
}
