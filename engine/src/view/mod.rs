//! View models: what the page draws, and how it is derived from the simulation.
//!
//! Nothing here changes anything. Everything is derived anew from the simulation at one instant, so that scrubbing and
//! playing show the same.

mod causes;
mod code;
mod compare;
mod crowd;
mod frame;
mod inspect;
mod loops;
mod map;
mod model;
mod pods;
mod programs;
mod words;
mod workloads;
mod yaml;

pub use causes::{event, events, why};
pub use code::{simple, telling_seq};
pub use crowd::{Crowd, Dot, Flock, crowd, pod_row};
pub use frame::{announce, frame, summary};
pub use inspect::inspect;
pub use loops::{loop_rows, now_line, store};
pub use map::{map, page};
pub use model::*;
pub use pods::{classify, status_word};
pub use programs::{BEHAVIORS, behavior};
pub use words::age;
pub use workloads::{first_key, objects};
pub use yaml::to_yaml;
