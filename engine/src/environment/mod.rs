//! What is not a loop: machines, images, and how the programs inside containers behave.

mod behavior;
mod machine;

pub use behavior::*;
pub use machine::*;
