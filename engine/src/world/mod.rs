//! The world: everything together in virtual time.
//!
//! A scenario and a journal of commands are all there is; [`Simulation`] replays them. It owns the API server, the
//! processes with their caches and loops, and the machines, and it alone decides what happens when.

mod ask;
mod command;
mod command_reader;
mod command_text;
mod deliver;
mod faults;
mod flights;
mod instant;
mod process;
mod replace;
mod rollback;
mod scenario;
mod setup;
mod simulation;
mod turns;
mod under_way;

pub use ask::Ask;
pub use command::*;
pub use command_reader::read_journal;
pub use command_text::write_journal;
pub use instant::{Goal, Instant};
pub use process::{Cell, Loop, Process, ProcessKind};
pub use scenario::*;
pub use simulation::*;
pub use under_way::{Journey, Leg};
