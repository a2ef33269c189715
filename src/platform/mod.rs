//! Everything that touches the browser directly, in guards that clean up after themselves.

mod dom;
mod failure;
mod keys;
mod motion;
mod raf;
mod storage;

pub use dom::{
    active_element, click, file_text, focus, focus_by_id, is_near_end, is_page_fixed, is_shown, is_text_field,
    next_frame, select_range, set_theme, set_view, theme_is_dark, view_is_simple,
};
pub use failure::install_panic_card;
pub use keys::{Key, on_window_key};
pub use raf::Raf;
pub use storage::{load, save};

/// Wall time in milliseconds since the page was opened.
pub fn wall_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}
