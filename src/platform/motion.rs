use js_sys::{Array, Function, Object, Reflect};
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// So long a thing takes to its new place, in wall ms.
const MOVE_MS: f64 = 250.0;

fn list(query: &str) -> Option<web_sys::MediaQueryList> {
    web_sys::window()?.match_media(query).ok().flatten()
}

/// A media query holds now.
pub fn matches(query: &str) -> bool {
    list(query).is_some_and(|list| list.matches())
}

/// There is room for more than one part of the page beside or above another.
pub fn is_wide() -> bool {
    matches("(min-width: 47.5em)")
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

pub fn wants_less_motion() -> bool {
    matches("(prefers-reduced-motion: reduce)")
}

/// Where an element begins in the window, in CSS pixels.
pub type Spot = (f64, f64);

pub fn spot(selector: &str) -> Option<Spot> {
    let place = document().query_selector(selector).ok()??.get_bounding_client_rect();
    Some((place.left(), place.top()))
}

/// Lets an element come from where it was to where it is.
pub fn slide(selector: &str, from: Spot) {
    let Some(to) = spot(selector) else { return };
    let pixels = |n: f64| (n as i32).to_string();
    let way = ["translate(", pixels(from.0 - to.0).as_str(), "px,", pixels(from.1 - to.1).as_str(), "px)"].concat();
    let frames = Object::new();
    let _ = Reflect::set(&frames, &"transform".into(), &Array::of2(&way.into(), &"none".into()));
    let _ = Reflect::set(&frames, &"easing".into(), &"cubic-bezier(.2,0,0,1)".into());
    let Ok(Some(element)) = document().query_selector(selector) else { return };
    // The bindings of the browser's API count this function as unstable.
    if let Some(animate) = Reflect::get(&element, &"animate".into()).ok().and_then(|it| it.dyn_into::<Function>().ok())
    {
        let _ = animate.call2(&element, &frames, &MOVE_MS.into());
    }
}
