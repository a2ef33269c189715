//! The few small things that every part uses.

mod dial;
mod icon;
mod phrase;
mod words;

pub use dial::dial;
pub use icon::{icon, icon_of, icon_when, mark_icon, pod_icon, pod_tile};
pub use phrase::phrase;
pub use words::{clock, plural, signed, yes};
