use std::rc::Rc;

use leptos::prelude::document;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, EventTarget, MutationObserver, MutationObserverInit, ResizeObserver};

/// What can make an element look different without anything of the page having changed.
const QUERIES: [&str; 3] = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "(prefers-contrast: more)"];

/// Tells of changes to size and theme, and of scrolling, until it is dropped.
pub struct Watch {
    told: Closure<dyn FnMut(JsValue)>,
    targets: Vec<(EventTarget, &'static str)>,
    size: Option<ResizeObserver>,
    theme: Option<MutationObserver>,
}

impl Watch {
    /// `told(is_scroll)`, whether the element may only have been moved.
    pub fn new(element: &Element, told: Rc<dyn Fn(bool)>) -> Self {
        let told = Closure::<dyn FnMut(JsValue)>::new(move |event: JsValue| {
            let event = event.dyn_ref::<web_sys::Event>();
            told(event.is_some_and(|it| it.type_() == "scroll"));
        });
        let call = told.as_ref().unchecked_ref();
        let mut targets: Vec<(EventTarget, &'static str)> = Vec::new();
        if let Some(window) = web_sys::window() {
            for query in QUERIES {
                if let Ok(Some(list)) = window.match_media(query) {
                    targets.push((list.into(), "change"));
                }
            }
            // Zooming changes the number of device pixels, and the window's size.
            targets.push((window.clone().into(), "resize"));
            targets.push((window.into(), "scroll"));
        }
        for (target, name) in &targets {
            // Scrolling does not bubble, but it can be caught.
            let _ = target.add_event_listener_with_callback_and_bool(name, call, true);
        }
        let size = ResizeObserver::new(call).ok();
        size.iter().for_each(|it| it.observe(element));
        let theme = MutationObserver::new(call).ok();
        if let (Some(theme), Some(root)) = (&theme, document().document_element()) {
            let what = MutationObserverInit::new();
            what.set_attributes(true);
            let _ = theme.observe_with_options(&root, &what);
        }
        Self { told, targets, size, theme }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for (target, name) in &self.targets {
            let _ = target.remove_event_listener_with_callback_and_bool(name, self.told.as_ref().unchecked_ref(), true);
        }
        self.size.iter().for_each(ResizeObserver::disconnect);
        self.theme.iter().for_each(MutationObserver::disconnect);
    }
}
