//! Mechanics of a discrete-event simulation: time, the event queue, seeded randomness, the trace.
//!
//! Nothing here knows what is simulated.

mod dict;
mod digest;
mod digested;
mod index;
mod log;
mod map;
mod on_write;
mod queue;
mod random;
mod ring;
mod slots;
mod sort;
mod time;
mod trace;

pub use dict::*;
pub use digest::*;
pub use digested::Digested;
pub use index::Index;
pub use log::*;
pub use map::{Key, Map, Set};
pub use on_write::OnWrite;
pub use queue::*;
pub use random::*;
pub use slots::*;
pub use sort::*;
pub use time::*;
pub use trace::*;
