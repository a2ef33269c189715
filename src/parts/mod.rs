//! The panels of the page, one file or folder each.

mod announcer;
mod curve;
mod deeds;
mod dock;
mod events;
mod help;
mod inspector;
mod jump;
mod loops;
mod manifest;
mod map;
mod palette;
mod rove;
mod sheet;
mod shortcuts;
mod titlebar;
mod toasts;
mod transport;

pub use announcer::announcer;
pub use curve::curve_view;
pub use deeds::Sheets;
pub use dock::dock;
pub use events::events_pane;
pub use help::help_dialog;
pub use inspector::inspector;
pub use jump::jump;
pub use loops::loops;
pub use manifest::manifest_pane;
pub use map::map;
pub use palette::palette;
pub use shortcuts::shortcuts;
pub use titlebar::title_bar;
pub use toasts::toasts;
pub use transport::transport_bar;
