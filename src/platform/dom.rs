use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    CanvasRenderingContext2d, Element, Event, HtmlCanvasElement, HtmlElement, HtmlTextAreaElement,
    ScrollIntoViewOptions, ScrollLogicalPosition, Url,
};

fn root() -> Option<Element> {
    document().document_element()
}

/// The event's target takes text, so letters typed there are not shortcuts.
pub fn is_text_field(event: &Event) -> bool {
    let Some(target) = event.target().and_then(|it| it.dyn_into::<HtmlElement>().ok()) else { return false };
    let is_field = match target.dyn_ref::<web_sys::HtmlInputElement>() {
        Some(input) => input.type_() != "range",
        None => matches!(target.tag_name().as_str(), "TEXTAREA" | "SELECT"),
    };
    is_field || target.is_content_editable()
}

/// The page fits its window, so that Space and the arrows have nothing to scroll.
pub fn is_page_fixed() -> bool {
    root().is_some_and(|root| root.scroll_height() <= root.client_height())
}

/// The element takes part in the layout.
pub fn is_shown(selector: &str) -> bool {
    let element = document().query_selector(selector).ok().flatten();
    element.is_some_and(|element| element.get_client_rects().length() > 0)
}

pub fn active_element() -> Option<Element> {
    document().active_element()
}

/// Focuses an element that may not take the focus.
pub fn focus(element: &Element) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        let _ = element.focus();
    }
}

pub fn focus_by_id(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        focus(&element);
    }
}

/// What is in an element, in the order of the document.
pub fn all(within: &Element, selector: &str) -> Vec<Element> {
    let Ok(found) = within.query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}

/// The same of the whole page.
pub fn everything(selector: &str) -> Vec<Element> {
    document().body().map_or_else(Vec::new, |body| all(&body, selector))
}

/// Gives these elements an attribute, and takes it from all others.
pub(super) fn mark_only(attribute: &str, elements: &[Element]) {
    for element in everything(&["[", attribute, "]"].concat()) {
        let _ = element.remove_attribute(attribute);
    }
    for element in elements {
        let _ = element.set_attribute(attribute, "");
    }
}

/// Focuses the first element of the document that fits, if there is one.
pub fn focus_first(selector: &str) -> bool {
    let found = document().query_selector(selector).ok().flatten();
    found.inspect(focus).is_some()
}

/// Scrolls a list just far enough that one of its rows is seen.
pub fn show(id: &str) {
    let Some(row) = document().get_element_by_id(id) else { return };
    let Some(list) = row.parent_element() else { return };
    let (row, view) = (row.get_bounding_client_rect(), list.get_bounding_client_rect());
    let by = if row.top() < view.top() { row.top() - view.top() } else { (row.bottom() - view.bottom()).max(0.0) };
    list.set_scroll_top(list.scroll_top() + by as i32);
}

/// Scrolls whatever has to be scrolled just far enough that an element is seen.
pub fn show_nearest(element: &Element) {
    let how = ScrollIntoViewOptions::new();
    how.set_block(ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&how);
}

/// The same for an element that is given by its id.
pub fn bring_into(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        show_nearest(&element);
    }
}

/// Runs `then` once, when what has changed is drawn.
pub fn next_frame(then: impl FnOnce() + 'static) {
    if let Some(window) = web_sys::window() {
        let _ = window.request_animation_frame(Closure::once_into_js(then).unchecked_ref());
    }
}

/// The element is scrolled to its end, or nearly: a person who scrolled up is left alone.
pub fn is_near_end(element: &Element, slack: i32) -> bool {
    element.scroll_height() - element.scroll_top() - element.client_height() <= slack
}

/// CSS pixels of a rem.
pub fn rem() -> f64 {
    let style = root().and_then(|root| window().get_computed_style(&root).ok().flatten());
    let size = style.and_then(|style| style.get_property_value("font-size").ok());
    // The browser's own reading: ours would bring a table of decimal powers into the download.
    size.map(|size| js_sys::parse_float(&size)).filter(|it| it.is_finite()).unwrap_or(16.0)
}

/// How a canvas is drawn on.
pub fn pen(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    let context: JsValue = canvas.get_context("2d").ok()??.into();
    Some(context.unchecked_into())
}

/// `-3.25px`, in whole numbers: the code that writes any float is large.
pub fn px(length: f64) -> String {
    let hundredths = (length * 100.0).round() as i64;
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    let zero = if rest < 10 { "0" } else { "" };
    [sign, whole.to_string().as_str(), ".", zero, rest.to_string().as_str(), "px"].concat()
}

/// What the sheet of styles says of these colours, and of letters, for what no sheet can reach. They are read off an
/// element that is not shown.
pub fn colors<const N: usize>(probe: &HtmlElement, tokens: [&str; N]) -> Option<([String; N], String)> {
    let computed = window().get_computed_style(probe).ok()??;
    let color = |token: &str| {
        let _ = probe.style().set_property("color", &["var(", token, ")"].concat());
        computed.get_property_value("color").unwrap_or_default()
    };
    Some((tokens.map(color), computed.get_property_value("font-family").unwrap_or_default()))
}

/// What the page shows now: the switch, else the system's preference.
pub fn theme_is_dark() -> bool {
    match root().and_then(|root| root.get_attribute("data-theme")) {
        Some(theme) => theme == "dark",
        None => super::motion::matches("(prefers-color-scheme: dark)"),
    }
}

pub fn set_theme(dark: bool) {
    let theme = if dark { "dark" } else { "light" };
    if let Some(root) = root() {
        let _ = root.set_attribute("data-theme", theme);
    }
    super::save("theme", theme);
}

/// The simple view is shown, or an embed, which is made of it: the page's first script has read that from the address,
/// or from what is remembered.
pub fn view_is_simple() -> bool {
    let view = root().and_then(|root| root.get_attribute("data-view"));
    !matches!(view.as_deref(), Some("workspace" | "twin"))
}

/// Two worlds are shown beside each other.
pub fn twins_are_shown() -> bool {
    root().and_then(|root| root.get_attribute("data-view")).as_deref() == Some("twin")
}

/// Remembers which view is shown, `simple` or another one, and puts it into the address.
pub fn set_view(view: &str) {
    if let Some(root) = root() {
        let _ = root.set_attribute("data-view", view);
    }
    super::save("view", view);
    let _ = put_into_address("v", view);
}

pub(super) fn address() -> Option<Url> {
    Url::new(&document().location()?.href().ok()?).ok()
}

/// Puts a value into the address; takes it out where it is empty.
pub(super) fn put_into_address(name: &str, value: &str) -> Result<(), JsValue> {
    let url = address().ok_or(JsValue::NULL)?;
    match value.is_empty() {
        true => url.search_params().delete(name),
        false => url.search_params().set(name, value),
    }
    window().history()?.replace_state_with_url(&JsValue::NULL, "", Some(&url.href()))
}

/// Presses a button of the page.
pub fn click(id: &str) {
    if let Some(button) = document().get_element_by_id(id) {
        press(&button);
    }
}

pub fn press(button: &Element) {
    if let Some(button) = button.dyn_ref::<HtmlElement>() {
        button.click();
    }
}

/// Selects a part of a text field, in UTF-16 units, scrolls to it and gives it the focus.
pub fn select_range(field: &HtmlTextAreaElement, start: u32, end: u32, scroll_top: i32) {
    let _ = field.focus();
    let _ = field.set_selection_range(start, end);
    field.set_scroll_top(scroll_top.max(0));
}

/// Types a text over the selection of the field that has the focus, so that the browser can undo it. Says whether the
/// browser did: Firefox and old browsers may not.
pub fn type_text(text: &str) -> bool {
    let document = document();
    let Some(exec) = method(&document, "execCommand") else { return false };
    let arguments = [JsValue::from_str("insertText"), JsValue::FALSE, JsValue::from_str(text)];
    let done = exec.apply(&document, &arguments.into_iter().collect());
    done.is_ok_and(|done| done.is_truthy())
}

/// Puts a text into the clipboard. Says whether there is one to ask: pages without TLS have none.
pub fn copy(text: &str) -> bool {
    let Ok(navigator) = js_sys::Reflect::get(&window(), &"navigator".into()) else { return false };
    let clipboard = js_sys::Reflect::get(&navigator, &"clipboard".into()).ok();
    let Some(clipboard) = clipboard.filter(JsValue::is_object) else { return false };
    let write = method(&clipboard, "writeText");
    write.is_some_and(|write| write.call1(&clipboard, &text.into()).is_ok())
}

/// A method that not every browser has.
fn method(of: &JsValue, name: &str) -> Option<js_sys::Function> {
    js_sys::Reflect::get(of, &name.into()).ok()?.dyn_into().ok()
}

/// Puts the caret at the beginning of a text field.
pub fn begin(id: &str) {
    let field = document().get_element_by_id(id).and_then(|it| it.dyn_into::<HtmlTextAreaElement>().ok());
    if let Some(field) = field {
        select_range(&field, 0, 0, 0);
    }
}

/// Where the page scrolls, brings an element to its top.
pub fn bring_up(selector: &str) {
    if let Some(element) = document().query_selector(selector).ok().flatten().filter(|_| is_shown(".jump")) {
        element.scroll_into_view();
    }
}

/// Selects all of a field's text.
pub fn select_all(id: &str) {
    let field = document().get_element_by_id(id).and_then(|it| it.dyn_into::<web_sys::HtmlInputElement>().ok());
    if let Some(field) = field {
        let _ = field.focus();
        field.select();
    }
}

/// The page's symbols, as text.
pub fn sprite() -> String {
    document().query_selector(".sprite").ok().flatten().map_or_else(String::new, |it| it.inner_html())
}

/// What is in a file, as text.
pub async fn file_text(file: web_sys::File) -> Option<String> {
    wasm_bindgen_futures::JsFuture::from(file.text()).await.ok()?.as_string()
}
