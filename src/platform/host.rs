//! The page in a frame of another site: what it was asked for in its address, and the way to the page around it.

use js_sys::{Array, Function, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, Window};

use super::choice::parameter;
use super::dom::{address, mark_only};

/// A message longer than this is not read, in UTF-16 units of its JSON.
const MOST_UNITS: u32 = 256 << 10;
/// The mark of what is highlighted.
const MARK: &str = "data-marked";

/// The page is an embed: its first script has read that from the address.
pub fn is_embedded() -> bool {
    let view = document().document_element().and_then(|root| root.get_attribute("data-view"));
    view.as_deref() == Some("embed")
}

/// The page's own address with nothing after its path.
pub fn bare_address() -> String {
    let href = address().map_or_else(String::new, |url| url.href());
    href.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// The origin of an address, where that is one of the web.
fn origin_of(address: &str) -> Option<String> {
    let url = web_sys::Url::new(address).ok()?;
    matches!(url.protocol().as_str(), "http:" | "https:").then(|| url.origin())
}

/// An address that a link may lead to.
pub fn web_address(text: &str) -> Option<String> {
    origin_of(text).map(|_| text.to_owned())
}

/// A message, as far as it may be read.
pub enum Heard {
    Text(String),
    /// From somebody else than the page around.
    Foreign,
    /// Not JSON, or too much of it.
    Unreadable,
}

/// The page around this one.
#[derive(Clone)]
pub struct Host {
    window: Window,
    /// Nothing where neither the address nor the browser names it.
    origin: Option<String>,
}

impl Host {
    /// Nothing where the page is in no frame.
    pub fn find() -> Option<Self> {
        let parent = window().parent().ok().flatten()?;
        if js_sys::Object::is(&parent, &window()) {
            return None;
        }
        let origin = parameter("host").as_deref().and_then(origin_of).or_else(|| origin_of(&document().referrer()));
        Some(Self { window: parent, origin })
    }

    /// Posts an object, given as JSON. Where the host is not known by name only what anybody may read is sent.
    pub fn post(&self, json: &str, for_anybody: bool) {
        let Ok(message) = js_sys::JSON::parse(json) else { return };
        match &self.origin {
            Some(origin) => drop(self.window.post_message(&message, origin)),
            None if for_anybody => drop(self.window.post_message(&message, "*")),
            None => {}
        }
    }

    /// Posts an object, given as JSON, with something in it that JSON cannot hold; to a host that is known by name.
    pub fn post_with(&self, json: &str, field: &str, it: &JsValue) {
        let (Ok(message), Some(origin)) = (js_sys::JSON::parse(json), &self.origin) else { return };
        if Reflect::set(&message, &field.into(), it).is_ok() {
            let _ = self.window.post_message(&message, origin);
        }
    }

    /// Calls `then` for every message, for as long as the page lives.
    pub fn listen(&self, then: impl Fn(Heard) + 'static) {
        let host = self.clone();
        let listener = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| then(host.read(&event)));
        let _ = window().add_event_listener_with_callback("message", listener.into_js_value().unchecked_ref());
    }

    fn read(&self, event: &JsValue) -> Heard {
        let part = |name: &str| Reflect::get(event, &name.into()).unwrap_or_default();
        let is_theirs = js_sys::Object::is(&part("source"), &self.window);
        if !is_theirs || self.origin.is_none() || part("origin").as_string() != self.origin {
            return Heard::Foreign;
        }
        match js_sys::JSON::stringify(&part("data")) {
            Ok(text) if text.is_string() && text.length() <= MOST_UNITS => Heard::Text(text.into()),
            _ => Heard::Unreadable,
        }
    }
}

/// The program stopped: whoever is around is told, whatever the state of all else.
pub fn tell_of_stop() {
    if let Some(host) = is_embedded().then(Host::find).flatten() {
        host.post(
            r#"{"app":"loopscope","v":1,"type":"error","code":"stopped","message":"The simulation stopped."}"#,
            true,
        );
    }
}

/// Shows the page in a theme, or as the system has it. Nothing is remembered.
pub fn show_theme(dark: Option<bool>) {
    let Some(root) = document().document_element() else { return };
    let _ = match dark {
        Some(dark) => root.set_attribute("data-theme", if dark { "dark" } else { "light" }),
        None => root.remove_attribute("data-theme"),
    };
}

/// Calls `then` whenever an element comes into sight or leaves it, wherever it is that is scrolled, and when the tab
/// is hidden or shown; for as long as the page lives.
pub fn on_sight(element: &Element, then: impl Fn(bool) + 'static) {
    let then = std::rc::Rc::new(then);
    let told = then.clone();
    let entered = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
        let last = entries.get(entries.length().saturating_sub(1));
        told(Reflect::get(&last, &"isIntersecting".into()).is_ok_and(|it| it.is_truthy()));
    })
    .into_js_value();
    let class =
        Reflect::get(&window(), &"IntersectionObserver".into()).ok().and_then(|it| it.dyn_into::<Function>().ok());
    let observer = class.and_then(|class| Reflect::construct(&class, &Array::of1(&entered)).ok());
    let observe = |observer: &JsValue| Reflect::get(observer, &"observe".into()).ok()?.dyn_into::<Function>().ok();
    if let Some((observer, observe)) = observer.and_then(|it| Some((it.clone(), observe(&it)?))) {
        let _ = observe.call1(&observer, element);
        // One that nobody holds may be collected.
        std::mem::forget(observer);
    }
    let hidden = Closure::<dyn Fn()>::new(move || {
        if document().hidden() {
            then(false);
        }
    });
    let _ = document().add_event_listener_with_callback("visibilitychange", hidden.into_js_value().unchecked_ref());
}

/// Puts the mark on these elements alone, and brings the first into sight inside of its own scrolling part: the page
/// around is not moved.
pub fn mark(elements: &[Element]) {
    mark_only(MARK, elements);
    let Some((first, part)) = elements.first().and_then(|it| Some((it, it.closest(".em-mid").ok()??))) else { return };
    let (spot, view) = (first.get_bounding_client_rect(), part.get_bounding_client_rect());
    let by = if spot.top() < view.top() { spot.top() - view.top() } else { (spot.bottom() - view.bottom()).max(0.0) };
    part.set_scroll_top(part.scroll_top() + by as i32);
}

pub fn unmark() {
    mark_only(MARK, &[]);
}

/// How high an element is, in CSS pixels.
pub fn height(element: &Element) -> f64 {
    element.get_bounding_client_rect().height()
}
