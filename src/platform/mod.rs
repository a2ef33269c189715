//! Everything that touches the browser directly, in guards that clean up after themselves.

mod choice;
mod dom;
mod failure;
mod fetch;
mod files;
mod host;
mod keys;
mod light;
mod motion;
mod raf;
mod rest;
mod storage;
mod watch;

pub use choice::{SCENARIO, STEP, asked, choose, chosen, name_lesson, name_scenario, parameter};
pub use dom::{
    active_element, all, begin, bring_into, bring_up, click, colors, copy, everything, file_text, focus, focus_by_id,
    focus_first, is_near_end, is_page_fixed, is_shown, is_text_field, next_frame, pen, press, px, rem, select_all,
    select_range, set_theme, set_view, show, show_nearest, sprite, theme_is_dark, twins_are_shown, type_text,
    view_is_simple,
};
pub use failure::{install_panic_card, stop};
pub use fetch::{Missing, read_beside};
pub use files::{address_of_page, bitmap, deflate, download, forget_hash, hash, inflate, png, text_file};
pub use host::{
    Heard, Host, bare_address, height, is_embedded, mark, on_sight, show_theme, tell_of_stop, unmark, web_address,
};
pub use keys::on_window_key;
pub use light::{LitPart, light, unlight};
pub use motion::{Spot, is_wide, on_change, slide, spot, wants_less_motion};
pub use raf::Raf;
pub use rest::{begin_rest, want_rest, with_rest};
pub use storage::{forget, forget_for_tab, keeps, load, load_for_tab, on_leave, save, save_for_tab};
pub use watch::Watch;

/// Wall time in milliseconds since the page was opened.
pub fn wall_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}
