//! Mechanics of a discrete-event simulation: time, the event queue, seeded randomness, the trace.
//!
//! Nothing here knows what is simulated.

mod digest;
mod map;
mod queue;
mod random;
mod sort;
mod time;
mod trace;

pub use digest::*;
pub use map::*;
pub use queue::*;
pub use random::*;
pub use sort::*;
pub use time::*;
pub use trace::*;
