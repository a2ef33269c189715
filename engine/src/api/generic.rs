use serde::{Deserialize, Serialize};

use super::{Extra, ObjectMeta};

/// An object of a kind that nothing simulates: kept whole, shown, and said to be so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Generic {
    pub metadata: ObjectMeta,
    #[serde(flatten)]
    pub fields: Extra,
}
