//! `metadata.managedFields` as the API writes it, and read back.

use serde_json::{Map, Value};

use super::fields::POD_IP;
use super::manager_name;
use crate::api::{FieldSet, Kind, Managed, ManagedEntry, ManagerId, Name, Object, STEP, Timestamp};

/// Who owns which field, as the API writes it.
pub fn managed_fields(object: &Object) -> Vec<Value> {
    let ip = object.as_pod().map(|pod| ["k:{\"ip\":\"", pod.status.pod_ip.as_str(), "\"}"].concat());
    object.meta().managed.entries().iter().map(|it| entry(it, ip.as_deref())).collect()
}

fn entry(managed: &ManagedEntry, ip: Option<&str>) -> Value {
    let mut tree = Map::new();
    for (index, path) in managed.fields.iter().enumerate() {
        let Some(at) = descend(&mut tree, path, ip) else { continue };
        // What is owned itself and has owned things in it says so with a dot.
        let is_inner = managed
            .fields
            .get(index + 1)
            .is_some_and(|next| next.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with(STEP)));
        if is_inner {
            at.insert(".".into(), Value::Object(Map::new()));
        }
    }
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.into(), value);
    put("apiVersion", managed.api_version.into());
    put("fieldsType", "FieldsV1".into());
    put("fieldsV1", Value::Object(tree));
    put("manager", managed.by.manager.into());
    put("operation", managed.by.operation.into());
    if let Some(time) = managed.time {
        put("time", time.to_string().into());
    }
    if !managed.by.subresource.is_empty() {
        put("subresource", managed.by.subresource.into());
    }
    Value::Object(entry)
}

/// Where a path leads in a tree, which grows as far as that.
fn descend<'a>(tree: &'a mut Map<String, Value>, path: &str, ip: Option<&str>) -> Option<&'a mut Map<String, Value>> {
    let mut at = tree;
    for step in path.split(STEP) {
        let step = ip.filter(|_| step == POD_IP).unwrap_or(step);
        at = at.entry(step).or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
    }
    Some(at)
}

/// Reads `managedFields`; what is none is left out.
pub fn read_managed_fields(kind: Kind, value: &Value) -> Managed {
    Managed::new(value.as_array().into_iter().flatten().filter_map(|it| read_entry(kind, it)).collect())
}

fn read_entry(kind: Kind, value: &Value) -> Option<ManagedEntry> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let operation = if text("operation") == "Apply" { "Apply" } else { "Update" };
    let subresource = ["", "status", "scale", "finalize"].into_iter().find(|it| *it == text("subresource"))?;
    let by = ManagerId { manager: manager_name(text("manager")), operation, subresource };
    let version = text("apiVersion");
    let api_version = Kind::ALL.iter().map(|it| it.api_version()).find(|it| *it == version);
    let mut paths: Vec<Name> = Vec::new();
    read_tree("", value.get("fieldsV1")?.as_object()?, &mut paths);
    crate::sim::sort_by(&mut paths, |a, b| a.as_str().cmp(b.as_str()));
    let (time, fields) = (Timestamp::parse(text("time")), FieldSet::sorted(paths));
    Some(ManagedEntry { by, api_version: api_version.unwrap_or_else(|| kind.api_version()), time, fields })
}

fn read_tree(path: &str, tree: &Map<String, Value>, paths: &mut Vec<Name>) {
    for (step, below) in tree {
        if step == "." {
            paths.push(path.into());
            continue;
        }
        let step = if step.starts_with("k:{\"ip\":") && path.ends_with("f:podIPs") { POD_IP } else { step };
        let path = super::fields::join(path, step);
        match below.as_object() {
            Some(below) if !below.is_empty() => read_tree(&path, below, paths),
            _ => paths.push(path.as_str().into()),
        }
    }
}
