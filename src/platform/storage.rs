//! Settings that outlive the page. Storage may be blocked: then nothing is kept. An embed keeps nothing anywhere.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

fn storage() -> Option<web_sys::Storage> {
    if super::is_embedded() {
        return None;
    }
    web_sys::window()?.local_storage().ok().flatten()
}

pub fn load(name: &str) -> Option<String> {
    storage()?.get_item(&key(name)).ok().flatten()
}

/// Says whether it is kept.
pub fn save(name: &str, value: &str) -> bool {
    storage().is_some_and(|storage| storage.set_item(&key(name), value).is_ok())
}

pub fn forget(name: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(&key(name));
    }
}

fn of_tab() -> Option<web_sys::Storage> {
    if super::is_embedded() {
        return None;
    }
    web_sys::window()?.session_storage().ok().flatten()
}

/// What was kept for as long as the tab lives, over reloads too.
pub fn load_for_tab(name: &str) -> Option<String> {
    of_tab()?.get_item(&key(name)).ok().flatten()
}

pub fn save_for_tab(name: &str, value: &str) {
    if let Some(storage) = of_tab() {
        let _ = storage.set_item(&key(name), value);
    }
}

pub fn forget_for_tab(name: &str) {
    if let Some(storage) = of_tab() {
        let _ = storage.remove_item(&key(name));
    }
}

/// Calls `then` whenever the page is left or hidden, which is the last that it is told.
pub fn on_leave(then: impl Fn() + 'static) {
    let then = Closure::<dyn Fn()>::new(then).into_js_value();
    if let Some(window) = web_sys::window() {
        let _ = window.add_event_listener_with_callback("pagehide", then.unchecked_ref());
        let _ = document().add_event_listener_with_callback("visibilitychange", then.unchecked_ref());
    }
}

/// The browser lets the page keep something.
pub fn keeps() -> bool {
    let kept = save("probe", "");
    forget("probe");
    kept
}

fn key(name: &str) -> String {
    ["loopscope.", name].concat()
}
