//! What a run and a recording must have in common.

pub mod conditions;
pub mod end;
pub mod events;
pub mod steps;

use serde_json::{Map, Value};

type Fields = Map<String, Value>;
