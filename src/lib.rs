//! The page: shows what the engine simulates, and turns what a person does into commands.

mod app;
mod atoms;
mod parts;
mod platform;
mod session;

pub use app::{App, start};
