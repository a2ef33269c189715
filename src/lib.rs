//! The page: shows what the engine simulates, and turns what a person does into commands.

#![recursion_limit = "512"]

mod app;
mod atoms;
mod embed;
mod opening;
mod parts;
mod platform;
mod session;
mod ui;

pub use app::{App, start};

/// For the page's script, when the program ended without a panic: memory or stack ran out.
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn stopped(reason: &str) {
    platform::stop(session::kept_steps, reason);
}
