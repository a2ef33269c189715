//! Kubernetes objects as plain data.
//!
//! Field names, types and defaults follow Kubernetes v1.36 (`staging/src/k8s.io/api`).
//! Only the fields that the simulation reads are typed; every other field of a manifest is kept in an `extra`
//! map and written back unchanged, so that nothing a person wrote is lost.

mod affinity;
mod autoscaling;
mod batch;
mod codec;
mod condition;
mod generic;
mod int_or_percent;
mod kind;
mod managed;
mod meta;
mod node;
mod object;
mod pod;
mod quantity;
mod selector;
mod service;
mod text;
mod time;
mod workload;

pub use affinity::*;
pub use autoscaling::*;
pub use batch::*;
pub(crate) use codec::record;
pub use codec::{DecodeError, Field, Record, Visitor, fields, read_value, write_value};
pub use condition::*;
pub use generic::*;
pub use int_or_percent::*;
pub use kind::*;
pub use managed::*;
pub use meta::*;
pub use node::*;
pub use object::*;
pub use pod::*;
pub use quantity::*;
pub use selector::*;
pub use service::*;
pub use text::*;
pub use time::*;
pub use workload::*;

/// The version whose behavior is simulated.
pub const VERSION: &str = "v1.36.2";

/// Fields of an object that the simulation does not read, kept as they were written.
pub type Extra = crate::sim::Dict<serde_json::Value>;
