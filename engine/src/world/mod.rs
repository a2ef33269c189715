//! The world: everything together in virtual time.
//!
//! A scenario and a journal of commands are all there is; [`Simulation`] replays them. It owns the API server, the
//! processes with their caches and loops, and the machines, and it alone decides what happens when.

mod ails;
mod ask;
#[cfg(feature = "interleavings")]
mod choices;
mod command;
mod command_reader;
mod command_text;
mod command_words;
mod deliver;
mod faults;
mod flights;
mod gitops_deed;
mod gitops_text;
mod goal;
mod happen;
mod iac_deed;
mod iac_schedule;
mod iac_text;
mod inherit;
mod instant;
mod invariants;
mod load;
mod load_text;
mod orders;
mod process;
mod record;
mod replace;
mod rollback;
mod room;
mod scenario;
mod setup;
mod simulation;
mod switches;
mod turns;
mod under_way;
mod usage;
mod wanted;
mod watching;

pub use crate::controllers::CONTROLLER_MANAGER;
pub use ails::Ailing;
pub use ask::Ask;
#[cfg(feature = "interleavings")]
pub use choices::{Channel, Ready, Where};
pub use command::*;
pub use command_reader::{read_behavior_flags, read_instant, read_journal, read_journal_until};
pub use command_text::{write_behavior_flags, write_instant, write_journal};
pub use gitops_deed::GitDeed;
pub use goal::{Goal, Of};
pub use iac_deed::{Iac, IacDeed};
pub use iac_schedule::Schedule;
pub use instant::Instant;
pub use invariants::{Bounds, Breach, Invariants, Standing};
pub use load::Readings;
pub use process::{Cell, Loop, Process, ProcessKind};
pub use record::*;
pub use room::RoomSetting;
pub use scenario::*;
pub use simulation::*;
pub use switches::{Mishap, Server, Switch, Type};
pub use under_way::{Journey, Leg};
pub use wanted::{WANTING, wanted, wanting};
pub use watching::Ran;
