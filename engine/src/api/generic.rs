use super::{Extra, ObjectMeta, record};

/// An object of a kind that nothing simulates: kept whole, shown, and said to be so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Generic {
    pub metadata: ObjectMeta,
    pub fields: Extra,
}

record!(Generic { metadata "metadata" always } extra fields);
