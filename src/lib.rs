//! The page: shows what the engine simulates, and turns what a person does into commands.

#![recursion_limit = "512"]

mod app;
mod atoms;
mod parts;
mod platform;
mod session;
mod ui;

pub use app::{App, start};
