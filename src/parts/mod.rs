//! The panels of the page, one file or folder each.

mod announcer;
mod curve;
mod dock;
mod events;
mod help;
mod inspector;
mod jump;
mod loops;
mod manifest;
mod map;
mod shortcuts;
mod titlebar;
mod toasts;
mod transport;

pub use announcer::Announcer;
pub use curve::CurveView;
pub use dock::Dock;
pub use events::EventsPane;
pub use help::HelpDialog;
pub use inspector::Inspector;
pub use jump::Jump;
pub use loops::Loops;
pub use manifest::ManifestPane;
pub use map::Map;
pub use shortcuts::shortcuts;
pub use titlebar::TitleBar;
pub use toasts::Toasts;
pub use transport::TransportBar;
