use super::deeds::{Sheets, deed_of};
use super::lesson::go_to;
use crate::platform::{self, on_window_key};
use crate::session::Session;

const SETTING: &str = "single-keys";

pub fn single_keys_on() -> bool {
    platform::load(SETTING).as_deref() != Some("off")
}

pub fn set_single_keys(on: bool) {
    platform::save(SETTING, if on { "on" } else { "off" });
}

/// Keys that work wherever the focus is; in text fields only those with Ctrl.
pub fn shortcuts(session: Session, sheets: Sheets) {
    on_window_key(move |key| {
        let is_single = key.name.len() == 1 && key.name != " ";
        if (sheets.is_open() && !key.ctrl) || (is_single && !single_keys_on()) || !key.is_free {
            return;
        }
        let step = key.name.parse::<usize>().ok().filter(|digit| *digit > 0 && session.learning().is_some());
        if let Some(step) = step {
            key.event.prevent_default();
            return go_to(session, step - 1);
        }
        let Some(deed) = deed_of(&key.name) else { return };
        if let Some(run) = deed.run {
            key.event.prevent_default();
            match deed.is_first {
                true => run(session, sheets),
                false => session.with_all(move || run(session, sheets)),
            }
        }
    });
}
