//! The part of the program that a first visit does not need: `cargo xtask build` puts it into a file of its own, and
//! `src/start.mjs` gets it. A page that was not divided has all of it from the beginning.

use std::cell::Cell;

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::{JsFuture, spawn_local};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = loopscopeRest)]
    fn begin(exports: &JsValue);
    #[wasm_bindgen(js_namespace = loopscopeRest, js_name = isHere)]
    fn is_here() -> bool;
    /// Settles once it is there, or with what went wrong.
    #[wasm_bindgen(js_namespace = loopscopeRest)]
    fn come() -> Promise;
    /// Gets it before it returns. What stands in the place of a function of the rest calls this, too: the build
    /// finds it by its name.
    #[wasm_bindgen(js_namespace = loopscopeRest)]
    fn need();
}

thread_local! {
    /// The page's own start has begun; tests of components have it all.
    static BEGUN: Cell<bool> = const { Cell::new(false) };
}

fn is_missing() -> bool {
    BEGUN.get() && !is_here()
}

/// Tells the script what the rest is to be joined to. First of all.
pub fn begin_rest() {
    BEGUN.set(true);
    begin(&wasm_bindgen::exports());
}

/// Begins to get it, since it will be wanted soon.
pub fn want_rest() {
    if is_missing() {
        drop(come());
    }
}

/// Calls `then` with the rest there: at once, if it is. Otherwise `failed` is told what went wrong. In boxes: the way there
/// must be in the part that has come, whoever asks.
pub fn with_rest(then: Box<dyn FnOnce()>, failed: Box<dyn FnOnce(String)>) {
    if !is_missing() {
        return then();
    }
    spawn_local(async move {
        match JsFuture::from(come()).await {
            Ok(_) => {
                // Does nothing by now, but what stands in for functions would miss the import.
                need();
                then();
            }
            Err(error) => failed(error.as_string().unwrap_or_default()),
        }
    });
}
