//! View models: what the page draws, and how it is derived from the simulation.

mod model;

pub use model::*;
