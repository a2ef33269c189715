use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

fn list(query: &str) -> Option<web_sys::MediaQueryList> {
    web_sys::window()?.match_media(query).ok().flatten()
}

/// A media query holds now.
pub fn matches(query: &str) -> bool {
    list(query).is_some_and(|list| list.matches())
}

/// Calls `then` whenever it begins or ceases to hold, for as long as the page lives.
pub fn on_change(query: &str, then: impl FnMut() + 'static) {
    if let Some(list) = list(query) {
        let then = Closure::<dyn FnMut()>::new(then).into_js_value();
        let _ = list.add_event_listener_with_callback("change", then.unchecked_ref());
        // A list that nobody holds may be collected, and its listener with it.
        std::mem::forget(list);
    }
}
