//! The API server: the one place where objects change.
//!
//! Mirrors what a client of kube-apiserver v1.36 can see: resourceVersion, generation, conflicts, defaulting,
//! validation, graceful deletion, the watch log. Requests are carried out one at a time, in order of arrival.

mod batch_defaults;
mod defaults;
mod error;
mod events;
mod merge;
mod objects;
mod request;
mod server;
mod validation;
mod watch;

use batch_defaults::*;
pub use defaults::*;
pub use error::*;
pub use events::*;
pub use merge::*;
pub use objects::*;
pub use request::*;
pub use server::*;
pub use validation::*;
pub use watch::*;
