//! The API server: the one place where objects change.
//!
//! Mirrors what a client of kube-apiserver v1.36 can see: resourceVersion, generation, conflicts, defaulting,
//! validation, graceful deletion, the watch log. Requests are carried out one at a time, in order of arrival.

mod addresses;
mod admission;
mod apply;
mod autoscaler_defaults;
mod batch_defaults;
mod defaults;
mod deletion;
mod error;
mod events;
mod field_log;
mod fields;
mod json_patch;
mod managed_text;
mod manager_names;
mod managers;
mod memo;
mod merge;
mod objects;
mod preview;
mod request;
mod restore;
mod server;
mod server_side;
mod strategic;
mod strategy;
mod templates;
mod validation;
mod watch;

pub use admission::*;
use autoscaler_defaults::*;
use batch_defaults::*;
pub use defaults::*;
pub use deletion::*;
pub use error::*;
pub use events::*;
pub use field_log::*;
pub use managed_text::{managed_fields, read_managed_fields};
pub use manager_names::manager_name;
pub use managers::{field_values, owned_fields};
pub use merge::*;
pub use objects::*;
pub use request::*;
pub use restore::configuration;
pub use server::*;
pub use validation::*;
pub use watch::*;
