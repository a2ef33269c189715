//! Objects put in place as they are, and manifests as `kubectl apply` remembers them.

use serde_json::Value;

use super::{ApiServer, Change, ChangeKind, LAST_APPLIED, read_managed_fields};
use crate::api::{Name, Object};
use crate::sim::{Seq, Time};

impl ApiServer {
    /// Puts an object in place as it is, as from a backup of the store, or takes it away where `is_gone`. Watchers hear of
    /// it.
    pub fn restore(&mut self, mut object: Object, is_gone: bool, now: Time) {
        let meta = object.meta();
        if let Some(managed) = meta.extra.get("managedFields").map(|it| read_managed_fields(object.kind(), it)) {
            let meta = object.meta_mut();
            meta.extra.remove("managedFields");
            meta.managed = managed;
        }
        let key = object.key();
        self.version += 1;
        let old = if is_gone { self.objects.remove(&key) } else { self.objects.put(key.clone(), object.clone()) };
        let kind = match (is_gone, &old) {
            (true, _) => ChangeKind::Deleted,
            (false, None) => ChangeKind::Added,
            (false, Some(_)) => ChangeKind::Modified,
        };
        self.prepared = None;
        let version = self.version;
        self.log_write(Change { version, kind, key, object, old, at: now, cause: Seq(0) });
    }
}

/// What somebody applies, with its namespace.
pub(super) fn placed(value: &Value, namespace: &Name) -> Value {
    let mut value = value.clone();
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && !namespace.is_empty()
    {
        meta.insert("namespace".into(), namespace.as_str().into());
    }
    value
}

/// A manifest as `kubectl apply` remembers it: with its namespace, and without what an earlier apply remembered, which
/// an object that was read from a cluster brings along (`GetModifiedConfiguration`).
pub fn configuration(value: &Value, namespace: &Name) -> Value {
    let mut new = placed(value, namespace);
    if let Some(meta) = new.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = meta.entry("annotations").or_insert(Value::Null);
        match annotations {
            Value::Object(annotations) => drop(annotations.remove(LAST_APPLIED)),
            Value::Null => *annotations = Value::Object(serde_json::Map::new()),
            _ => {}
        }
    }
    new
}
