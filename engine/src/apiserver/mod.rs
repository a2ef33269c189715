//! The API server: the one place where objects change.

mod error;

pub use error::*;
