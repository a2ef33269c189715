//! What the parts are made of. Leptos keeps the signals; elements are plain values of one type here, because a type
//! of its own for each element, as Leptos' own views have, makes the page's download twice as large.

pub(crate) mod macros;
mod mounted;
mod state;
#[cfg(all(test, target_arch = "wasm32"))]
mod tests;
pub(crate) mod value;
mod view;

pub(crate) use macros::view;
pub use mounted::mount;
pub use state::{Derived, SharedState, State, effect, memo};
pub use view::{At, Builder, Content, View, each, when};
