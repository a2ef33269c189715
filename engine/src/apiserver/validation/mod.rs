//! What the API server refuses, in its own words.

use super::FieldError;
use crate::api::Object;

pub fn validate_create(_object: &Object) -> Vec<FieldError> {
    Vec::new()
}

pub fn validate_update(_old: &Object, _new: &Object) -> Vec<FieldError> {
    Vec::new()
}
