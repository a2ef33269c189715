use leptos::ev;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use super::{is_page_fixed, is_text_field};

/// A key pressed somewhere on the page.
pub struct Key {
    pub event: KeyboardEvent,
    /// As the browser names it; with `Ctrl+` or `Ctrl+Shift+` (also for the Mac's Command key), and `Shift+` or `Alt+`
    /// before an arrow.
    pub name: String,
    pub ctrl: bool,
    /// Not Space, an arrow, Home or End, or focus is on nothing that uses those itself.
    pub is_free: bool,
}

/// Calls `handler` for every key outside of text fields, and for Ctrl+K everywhere, until the current owner is cleaned up.
pub fn on_window_key(handler: impl Fn(Key) + 'static) {
    let handle = window_event_listener(ev::keydown, move |event| {
        let ctrl = event.ctrl_key() || event.meta_key();
        let key = event.key();
        // Text fields undo and redo by themselves.
        let is_theirs = is_text_field(&event) && !(ctrl && key.eq_ignore_ascii_case("k"));
        let is_arrow = key.starts_with("Arrow");
        if (event.alt_key() && (ctrl || !is_arrow)) || event.default_prevented() || is_theirs {
            return;
        }
        let with = match (ctrl, event.shift_key()) {
            _ if event.alt_key() => "Alt+",
            (true, true) => "Ctrl+Shift+",
            (true, false) => "Ctrl+",
            (_, true) if is_arrow => "Shift+",
            _ => "",
        };
        let is_free = event.alt_key() || !(is_arrow || matches!(key.as_str(), " " | "Home" | "End")) || is_free(&event);
        handler(Key { name: [with, key.as_str()].concat(), ctrl, is_free, event });
    });
    on_cleanup(move || handle.remove());
}

/// Space scrolls and presses, arrows scroll and move: they are ours only where they would do nothing, or in the transport.
fn is_free(event: &KeyboardEvent) -> bool {
    use wasm_bindgen::JsCast;
    let Some(target) = event.target().and_then(|it| it.dyn_into::<web_sys::Element>().ok()) else { return true };
    if target.closest(".timeline").ok().flatten().is_some() {
        return event.key() != " " || target.tag_name() != "BUTTON";
    }
    // The skip link leads to the map itself, which has no use for keys.
    (target.tag_name() == "BODY" || target.id() == "map") && is_page_fixed()
}
