//! The columns of `kubectl get`, a table for each kind (`pkg/printers/internalversion/printers.go`, v1.36).

mod cluster;
mod workloads;

pub use cluster::{event_times, roles};

use serde_json::Value;

use super::time;
use super::value::{list, text};
use crate::api::{Kind, Object};

/// A column: its header, and whether only `-o wide` shows it.
pub type Column = (&'static str, bool);

/// An object with all that its row is made from.
pub struct Row<'a> {
    pub object: &'a Object,
    pub value: &'a Value,
    /// In milliseconds since 1970.
    pub now: i64,
}

impl Row<'_> {
    pub fn age(&self) -> String {
        time::since(text(self.value, "metadata.creationTimestamp"), self.now)
    }

    pub fn name(&self) -> String {
        self.object.meta().name.to_string()
    }
}

const NAME_AGE: &[Column] = &[("NAME", false), ("AGE", false)];

/// The columns of a kind.
pub fn columns(kind: Kind) -> &'static [Column] {
    workloads::columns(kind).or_else(|| cluster::columns(kind)).unwrap_or(NAME_AGE)
}

/// The cells of an object, one for each column.
pub fn cells(row: &Row<'_>) -> Vec<String> {
    workloads::cells(row).or_else(|| cluster::cells(row)).unwrap_or_else(|| vec![row.name(), row.age()])
}

/// CONTAINERS and IMAGES of a pod template.
fn containers(spec: &Value) -> [String; 2] {
    let all = list(spec, "containers");
    let of = |field: &str| all.iter().map(|it| text(it, field)).collect::<Vec<_>>().join(",");
    [of("name"), of("image")]
}
