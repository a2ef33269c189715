//! What is not a loop: machines, images, and how the programs inside containers behave.

mod behavior;
mod load;
mod machine;
mod room;
mod spent;
mod traffic;

pub use behavior::*;
pub use load::*;
pub use machine::*;
pub use room::{Room, RoomSample};
pub use spent::*;
pub use traffic::*;
