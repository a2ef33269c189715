//! Strategic merge patch as the API server carries it out (`apimachinery/pkg/util/strategicpatch`, v1.36): maps are
//! merged, lists by their merge keys, and `$patch`, `$retainKeys` and `$deleteFromPrimitiveList` direct it.
//!
//! Fidelity: `$setElementOrder` is not followed; new items come last.

use serde_json::{Map, Value};

use super::merge::{identity, is_set, merge_keys, without_nulls};
use super::{ApiError, Reason};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ORDER: &str = "$setElementOrder/";
const DELETE_VALUES: &str = "$deleteFromPrimitiveList/";

/// Changes an object as a strategic merge patch says.
pub(super) fn strategic_patch(target: &mut Value, patch: &Value) -> Result<(), ApiError> {
    let Value::Object(patch) = patch else {
        return Err(ApiError::new(Reason::BadRequest, "Invalid JSON document".into()));
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    match target {
        Value::Object(map) => merge_map(map, patch),
        _ => Ok(()),
    }
}

fn directive(patch: &Map<String, Value>) -> Result<Option<&str>, ApiError> {
    match patch.get(DIRECTIVE).map(|value| value.as_str().unwrap_or_default()) {
        Some(known @ ("replace" | "delete" | "merge")) => Ok(Some(known)),
        Some(other) => {
            let message = format!("Unknown patch type found: {other}");
            Err(ApiError::new(Reason::InternalError, message))
        }
        None => Ok(None),
    }
}

fn merge_map(target: &mut Map<String, Value>, patch: &Map<String, Value>) -> Result<(), ApiError> {
    match directive(patch)? {
        Some("replace") => {
            *target = without_directives(patch);
            return Ok(());
        }
        Some("delete") => {
            target.clear();
            return Ok(());
        }
        _ => {}
    }
    if let Some(kept) = patch.get(RETAIN_KEYS).and_then(Value::as_array) {
        target.retain(|key, _| kept.iter().any(|it| it.as_str() == Some(key)));
    }
    for (key, value) in patch {
        if let Some(field) = key.strip_prefix(DELETE_VALUES) {
            if let (Some(Value::Array(list)), Value::Array(gone)) = (target.get_mut(field), value) {
                list.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if key == DIRECTIVE || key == RETAIN_KEYS || key.starts_with(SET_ORDER) {
            continue;
        }
        merge_field(target, key, value)?;
    }
    Ok(())
}

fn merge_field(target: &mut Map<String, Value>, key: &str, value: &Value) -> Result<(), ApiError> {
    match (target.get_mut(key), value) {
        (_, Value::Null) => {
            target.remove(key);
        }
        (Some(Value::Object(old)), Value::Object(new)) => {
            merge_map(old, new)?;
            if new.get(DIRECTIVE).and_then(Value::as_str) == Some("delete") {
                target.remove(key);
            }
        }
        (Some(Value::Array(old)), Value::Array(new)) if merge_keys(key).is_some() => {
            merge_list(old, new, merge_keys(key).unwrap_or_default())?;
        }
        (Some(Value::Array(old)), Value::Array(new)) if is_set(key) => {
            let added: Vec<Value> = new.iter().filter(|item| !old.contains(item)).cloned().collect();
            old.extend(added);
        }
        (None, Value::Object(new)) => {
            let mut map = Map::new();
            merge_map(&mut map, new)?;
            target.insert(key.into(), Value::Object(map));
        }
        (_, Value::Array(new)) if merge_keys(key).is_some() => {
            let mut list = Vec::new();
            merge_list(&mut list, new, merge_keys(key).unwrap_or_default())?;
            target.insert(key.into(), Value::Array(list));
        }
        _ => {
            target.insert(key.into(), without_nulls(value));
        }
    }
    Ok(())
}

fn merge_list(target: &mut Vec<Value>, patch: &[Value], keys: &[&str]) -> Result<(), ApiError> {
    let is_replace = |item: &Value| item.get(DIRECTIVE).and_then(Value::as_str) == Some("replace");
    if patch.iter().any(is_replace) {
        let kept = patch.iter().filter(|item| !(is_replace(item) && identity(keys, item).is_none()));
        *target = kept.filter_map(Value::as_object).map(|item| Value::Object(without_directives(item))).collect();
        return Ok(());
    }
    for item in patch {
        let (Some(id), Value::Object(change)) = (identity(keys, item), item) else {
            let key = keys.first().copied().unwrap_or_default();
            let message = format!("map: {item} does not contain declared merge key: {key}");
            return Err(ApiError::new(Reason::InternalError, message));
        };
        let position = target.iter().position(|old| identity(keys, old) == Some(id));
        if directive(change)? == Some("delete") {
            target.retain(|old| identity(keys, old) != Some(id));
            continue;
        }
        match position.and_then(|index| target.get_mut(index)) {
            Some(Value::Object(old)) => merge_map(old, change)?,
            _ => {
                let mut map = Map::new();
                merge_map(&mut map, change)?;
                target.push(Value::Object(map));
            }
        }
    }
    Ok(())
}

fn without_directives(map: &Map<String, Value>) -> Map<String, Value> {
    let kept = map.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null());
    let mut map = Map::new();
    for (key, value) in kept {
        map.insert(key.clone(), without_nulls(value));
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(patch: Value) -> Value {
        let mut target = json!({"metadata": {"finalizers": ["a", "b"]}, "spec": {
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "containers": [{"name": "app", "image": "app:v1", "args": ["x"]}, {"name": "side", "image": "side:v1"}]}});
        strategic_patch(&mut target, &patch).unwrap();
        target
    }

    #[test]
    fn items_of_a_list_are_found_by_their_merge_key() {
        let result = patched(json!({"spec": {"containers": [{"name": "app", "image": "app:v2"}, {"name": "new"}]}}));
        let expected = json!([
            {"name": "app", "image": "app:v2", "args": ["x"]}, {"name": "side", "image": "side:v1"}, {"name": "new"}]);
        assert_eq!(result["spec"]["containers"], expected);
    }

    #[test]
    fn directives_delete_and_replace() {
        let result = patched(json!({"spec": {"containers": [{"name": "side", "$patch": "delete"}]}}));
        assert_eq!(result["spec"]["containers"], json!([{"name": "app", "image": "app:v1", "args": ["x"]}]));
        let result = patched(json!({"spec": {"containers": [{"name": "only"}, {"$patch": "replace"}]}}));
        assert_eq!(result["spec"]["containers"], json!([{"name": "only"}]));
        let result = patched(json!({"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}}));
        assert_eq!(result["spec"]["strategy"], json!({"type": "Recreate"}));
        let result = patched(json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}));
        assert_eq!(result["spec"]["strategy"], json!({"type": "Recreate"}));
        let result = patched(json!({"spec": {"strategy": {"$patch": "delete"}}}));
        assert_eq!(result["spec"].get("strategy"), None);
    }

    #[test]
    fn plain_values_are_added_to_and_taken_from_sets() {
        let result = patched(json!({"metadata": {"finalizers": ["b", "c"]}}));
        assert_eq!(result["metadata"]["finalizers"], json!(["a", "b", "c"]));
        let result = patched(json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}));
        assert_eq!(result["metadata"]["finalizers"], json!(["b"]));
    }

    #[test]
    fn an_item_without_its_key_is_refused() {
        let error = strategic_patch(&mut json!({}), &json!({"containers": [{"image": "x"}]})).unwrap_err();
        assert!(error.message.ends_with("does not contain declared merge key: name"), "{error}");
        assert_eq!(error.code(), 500);
    }
}
