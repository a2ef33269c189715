use leptos::prelude::document;
use web_sys::Element;

/// What a person did, as text, and whether the browser keeps it.
pub type Keep = fn() -> (String, bool);

/// After a panic nothing on the page answers any more: say so instead of looking alive, and keep what was done.
pub fn install_panic_card(keep: Keep) {
    std::panic::set_hook(Box::new(move |info| {
        console_error_panic_hook::hook(info);
        stop(keep, &info.to_string());
    }));
}

/// Shows the card of the page that stopped.
pub fn stop(keep: Keep, reason: &str) {
    let Some(card) = document().get_element_by_id("stopped") else { return };
    if !card.has_attribute("hidden") {
        return;
    }
    super::tell_of_stop();
    let (steps, is_kept) = keep();
    let fill = |selector: &str, text: &str| {
        if let Some(element) = find(&card, selector) {
            element.set_text_content(Some(text));
        }
    };
    fill("output", reason);
    fill("pre", &steps);
    let _ = card.set_attribute("data-kept", if is_kept { "yes" } else { "no" });
    let _ = card.remove_attribute("hidden");
    if let Ok(Some(app)) = document().query_selector(".app") {
        let _ = app.set_attribute("inert", "");
    }
    if let Some(link) = find(&card, "a") {
        super::focus(&link);
    }
}

fn find(card: &Element, selector: &str) -> Option<Element> {
    card.query_selector(selector).ok().flatten()
}
