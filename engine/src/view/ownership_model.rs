use serde::Serialize;

use crate::api::ObjectKey;
use crate::world::Command;

/// Who owns the fields of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ownership {
    /// In order of their paths; what is reported in `status` is left out.
    pub fields: Vec<FieldRow>,
    /// All who own or have written one, a lane each.
    pub lanes: Vec<String>,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldRow {
    /// `.spec.template.spec.containers[name="app"].image`
    pub path: String,
    pub value: String,
    /// None for what admission added, or fell back to its default.
    pub owners: Vec<FieldOwner>,
    /// Its newest changes since the object was created, oldest first, as far as they are kept.
    pub writes: Vec<WriteMark>,
}

/// One owner of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldOwner {
    /// `kubectl (scale)` where it wrote through a subresource.
    pub manager: String,
    /// Applied by the server, rather than by a write.
    pub is_apply: bool,
    /// When it last took a field of this object, as the API writes it; empty for `scale`, which leaves no time.
    pub since: String,
    /// Virtual time at which it last wrote the field, else that of `since`, as far as one of them is known.
    pub since_ms: Option<u64>,
}

/// One change of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WriteMark {
    pub time_ms: u64,
    /// The trace event of the write.
    pub seq: u64,
    pub manager: String,
    /// Empty where the field was not there.
    pub from: String,
    /// Empty where it went.
    pub to: String,
}

/// A field that managers keep taking from each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fight {
    pub key: ObjectKey,
    pub path: String,
    /// How often one undid what another had just written.
    pub turns: usize,
    pub writes: usize,
    pub first_ms: u64,
    pub last_ms: u64,
    /// Its writes, oldest first: a sawtooth.
    pub values: Vec<WriteMark>,
    pub writers: Vec<Fighter>,
    /// As a consequence of the writes, by the chain of causes.
    pub pods_created: usize,
    /// Told to stop, or gone.
    pub pods_killed: usize,
    /// Whether the trace reaches back to the first write, so that no pod is left out.
    pub is_whole: bool,
}

/// One side of a fight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fighter {
    pub manager: String,
    pub writes: usize,
    /// What it last wrote.
    pub value: String,
}

/// A way to end a fight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cure {
    /// `Ask the autoscaler for 5`
    pub name: String,
    /// What it does, and what it costs.
    pub price: String,
    pub command: Command,
    /// The field, where it is to go from the manifest, too: else the next apply would bring it back.
    pub drops: Option<&'static str>,
}
