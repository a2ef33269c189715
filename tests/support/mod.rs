//! The page in a fresh corner of the document, and what a person does to it.

use leptos::prelude::*;
use loopscope::App;
use loopscope_engine::world::Scenario;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, EventInit, HtmlElement, HtmlTextAreaElement, KeyboardEvent, KeyboardEventInit};

/// A mounted page; unmounted when dropped.
pub struct Page {
    root: HtmlElement,
    _mounted: Box<dyn std::any::Any>,
}

impl Page {
    pub async fn open() -> Self {
        Self::of(Scenario::self_healing()).await
    }

    pub async fn of(scenario: Scenario) -> Self {
        // As the page's first script does when the address asks for it.
        document().document_element().unwrap().set_attribute("data-view", "workspace").unwrap();
        let root: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().append_child(&root).unwrap();
        let mounted = mount_to(root.clone(), move || view! { <App scenario/> });
        let page = Self { root, _mounted: Box::new(mounted) };
        page.settle().await;
        page
    }

    pub async fn settle(&self) {
        leptos::task::tick().await;
        gloo_timers::future::TimeoutFuture::new(0).await;
        leptos::task::tick().await;
    }

    pub async fn wait(&self, ms: u32) {
        gloo_timers::future::TimeoutFuture::new(ms).await;
        self.settle().await;
    }

    pub fn all(&self, selector: &str) -> Vec<Element> {
        let found = self.root.query_selector_all(selector).unwrap();
        (0..found.length()).map(|index| found.item(index).unwrap().unchecked_into()).collect()
    }

    pub fn one(&self, selector: &str) -> Element {
        self.root.query_selector(selector).unwrap().unwrap_or_else(|| panic!("nothing is {selector}"))
    }

    pub fn text(&self, selector: &str) -> String {
        self.one(selector).text_content().unwrap()
    }

    /// The button of this accessible name.
    pub fn button(&self, name: &str) -> HtmlElement {
        let is_named = |it: &Element| {
            let label = it.get_attribute("aria-label").or_else(|| it.text_content()).unwrap_or_default();
            label.trim() == name
        };
        let found = self.all("button").into_iter().find(is_named);
        found.unwrap_or_else(|| panic!("no button {name:?}")).unchecked_into()
    }

    pub async fn press(&self, name: &str) {
        self.button(name).click();
        self.settle().await;
    }

    /// Presses a button until the page says so.
    pub async fn press_until(&self, button: &str, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..200 {
            if is_so(self) {
                return;
            }
            self.press(button).await;
        }
        panic!("{button} 200 times, and still not: {what}");
    }

    pub async fn step_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        self.press_until("Next event", what, is_so).await;
    }

    pub async fn converge(&self) {
        self.press_until("Skip to next change", "converged", |page| page.text(".ro-word").contains("Converged")).await;
    }

    /// Waits until the page says so, while it plays.
    pub async fn wait_until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..200 {
            if is_so(self) {
                return;
            }
            self.wait(50).await;
        }
        panic!("10 s went by without: {what}");
    }

    pub async fn key(&self, target: &Element, key: &str) {
        let init = KeyboardEventInit::new();
        init.set_key(key);
        init.set_bubbles(true);
        init.set_cancelable(true);
        target.dispatch_event(&KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap()).unwrap();
        self.settle().await;
    }

    pub async fn type_manifest(&self, text: &str) {
        let field: HtmlTextAreaElement = self.one("#editor").unchecked_into();
        field.set_value(text);
        self.fire(&field, "input").await;
    }

    pub async fn enter(&self, selector: &str, text: &str) {
        let field = self.one(selector);
        js_sys::Reflect::set(&field, &"value".into(), &text.into()).unwrap();
        self.fire(&field, "change").await;
    }

    async fn fire(&self, target: &Element, event: &str) {
        let init = EventInit::new();
        init.set_bubbles(true);
        target.dispatch_event(&Event::new_with_event_init_dict(event, &init).unwrap()).unwrap();
        self.settle().await;
    }

    /// Accessible names of the pods on the map.
    pub fn pods(&self) -> Vec<String> {
        self.all(".map .pod").iter().map(|pod| pod.get_attribute("aria-label").unwrap()).collect()
    }

    pub fn ready(&self) -> String {
        self.text(".ro > div:nth-child(2) dd")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.root.remove();
    }
}
