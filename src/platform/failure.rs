/// After a panic nothing on the page answers any more: say so instead of looking alive.
pub fn install_panic_card() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        let document = web_sys::window().and_then(|window| window.document());
        if let Some(card) = document.and_then(|document| document.get_element_by_id("stopped")) {
            let _ = card.remove_attribute("hidden");
        }
    }));
}
