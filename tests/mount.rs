//! The page mounts and shows its heading. The part of the tests that needs a browser begins here.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn the_page_shows_its_heading() {
    leptos::mount::mount_to_body(loopscope::App);
    let document = web_sys::window().unwrap().document().unwrap();
    let heading = document.query_selector("h1").unwrap().expect("an h1");
    assert!(heading.text_content().unwrap_or_default().contains("Loopscope"));
}
