use leptos::ev;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use super::{is_page_fixed, is_text_field};

/// A key pressed somewhere on the page, outside of text fields.
pub struct Key {
    pub event: KeyboardEvent,
    pub name: String,
    pub shift: bool,
    /// Focus is on nothing that uses Space or the arrows itself.
    pub is_free: bool,
}

/// Calls `handler` for every key without Ctrl, Alt or Meta until the current owner is cleaned up.
pub fn on_window_key(handler: impl Fn(Key) + 'static) {
    let handle = window_event_listener(ev::keydown, move |event| {
        if event.ctrl_key() || event.alt_key() || event.meta_key() || event.default_prevented() || is_text_field(&event)
        {
            return;
        }
        let is_free = is_free(&event);
        handler(Key { name: event.key(), shift: event.shift_key(), is_free, event });
    });
    on_cleanup(move || handle.remove());
}

/// Space scrolls and presses, arrows scroll and move: they are ours only where they would do nothing, or in the transport.
fn is_free(event: &KeyboardEvent) -> bool {
    use wasm_bindgen::JsCast;
    let Some(target) = event.target().and_then(|it| it.dyn_into::<web_sys::Element>().ok()) else { return true };
    if target.closest(".transport").ok().flatten().is_some() {
        return event.key() != " " || target.tag_name() != "BUTTON";
    }
    // The skip link leads to the map itself, which has no use for keys.
    (target.tag_name() == "BODY" || target.id() == "map") && is_page_fixed()
}
