//! `metadata.managedFields` as the API writes it.

use serde_json::{Map, Value};

use super::{FieldManagers, ManagedFields, ManagerId};
use crate::api::ObjectKey;

/// Who owns which field, as the API writes it.
pub fn managed_fields(managers: &FieldManagers, key: &ObjectKey) -> Vec<Value> {
    managers.of(key).map(|(id, managed)| entry(id, managed)).collect()
}

fn entry(id: &ManagerId, managed: &ManagedFields) -> Value {
    let mut tree = Map::new();
    for path in managed.fields.keys() {
        let mut at = &mut tree;
        for part in steps(path) {
            match at.entry(part).or_insert_with(|| Value::Object(Map::new())) {
                Value::Object(inner) => at = inner,
                _ => break,
            }
        }
    }
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.into(), value);
    put("apiVersion", managed.api_version.into());
    put("fieldsType", "FieldsV1".into());
    put("fieldsV1", Value::Object(tree));
    put("manager", id.manager.into());
    put("operation", id.operation.into());
    put("time", managed.time.to_string().into());
    if !id.subresource.is_empty() {
        put("subresource", id.subresource.into());
    }
    Value::Object(entry)
}

/// Maps whose keys are a person's own and may have dots.
const FREE_KEYS: [&str; 9] =
    ["annotations", "binaryData", "data", "hard", "labels", "limits", "matchLabels", "requests", "stringData"];

/// The steps of a path: `.spec.containers[name="app"].image` is `f:spec`, `f:containers`, `k:{"name":"app"}`, `f:image`.
fn steps(path: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(item) = rest.strip_prefix('[') {
            let end = item_end(item);
            let (inside, after) = item.split_at(end);
            rest = after.strip_prefix(']').unwrap_or(after);
            steps.push(item_step(inside));
            continue;
        }
        let name = rest.strip_prefix('.').unwrap_or(rest);
        let is_free = steps.last().is_some_and(|it: &String| FREE_KEYS.contains(&it.trim_start_matches("f:")));
        let end = if is_free { name.len() } else { name.find(['.', '[']).unwrap_or(name.len()) };
        steps.push(["f:", name.get(..end).unwrap_or_default()].concat());
        rest = name.get(end..).unwrap_or_default();
    }
    steps
}

/// Where the brackets of an item close, quotes aside.
fn item_end(item: &str) -> usize {
    let mut quoted = false;
    for (at, c) in item.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ']' if !quoted => return at,
            _ => {}
        }
    }
    item.len()
}

/// `name="app"` becomes `k:{"name":"app"}`, a value of a set `v:"x"`.
fn item_step(inside: &str) -> String {
    if inside.starts_with('"') {
        return ["v:", inside].concat();
    }
    let mut step = String::from("k:{");
    for (index, pair) in inside.split(',').enumerate() {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let comma = if index > 0 { "," } else { "" };
        step += &[comma, "\"", name, "\":", value].concat();
    }
    step + "}"
}
