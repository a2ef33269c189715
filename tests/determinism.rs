//! The engine leaves the same trace in WebAssembly as natively: the digests of `engine/tests/determinism.rs`.
#![cfg(target_arch = "wasm32")]

use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[path = "../engine/tests/common/script.rs"]
mod script;

#[wasm_bindgen_test]
fn the_browser_leaves_the_trace_that_was_recorded_natively() {
    assert_eq!(script::run(), include_str!("../engine/tests/data/trace.digest"));
}

#[wasm_bindgen_test]
fn going_back_and_through_a_file_leads_to_the_same_states_in_the_browser() {
    assert!(include_str!("../engine/tests/data/trace.digest").ends_with(&script::travel()));
}
