//! How `kubectl apply` and patches change an object: the three-way strategic merge
//! (`apimachinery/pkg/util/strategicpatch`, v1.36) and the JSON merge patch of RFC 7386.

use serde_json::{Map, Value};

/// Lists that are merged item by item, by the field that holds them, and the fields that tell which items are the same
/// (`patchMergeKey` in `k8s.io/api`). All other lists are replaced whole.
const MERGE_KEYS: [(&str, &[&str]); 17] = [
    ("conditions", &["type"]),
    ("containers", &["name"]),
    ("env", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("hostAliases", &["ip"]),
    ("imagePullSecrets", &["name"]),
    ("initContainers", &["name"]),
    ("ownerReferences", &["uid"]),
    // Services have `port`, containers `containerPort`; the protocol keeps 53/TCP and 53/UDP apart.
    ("ports", &["containerPort", "port"]),
    ("resourceClaims", &["name"]),
    ("schedulingGates", &["name"]),
    ("secrets", &["name"]),
    ("taints", &["key"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("volumeDevices", &["devicePath"]),
    ("volumeMounts", &["mountPath"]),
    ("volumes", &["name"]),
];

/// Lists of plain values that are merged as sets.
const SETS: [&str; 1] = ["finalizers"];

/// Fields of which a change keeps only what the manifest names (`patchStrategy: retainKeys`).
const RETAIN_KEYS: [&str; 2] = ["strategy", "volumes"];

/// The merge keys of a list, where it is merged item by item.
pub fn merge_keys(field: &str) -> Option<&'static [&'static str]> {
    MERGE_KEYS.iter().find(|(name, _)| *name == field).map(|(_, keys)| *keys)
}

/// Whether a list of plain values is merged as a set.
pub(super) fn is_set(field: &str) -> bool {
    SETS.contains(&field)
}

/// What `kubectl apply` makes of a live object: what the manifest says, without what an earlier manifest said and this
/// one does not, and with everything else as it is. `null` in the manifest removes a field.
pub fn three_way(last_applied: Option<&Value>, live: &Value, new: &Value) -> Value {
    merge("", last_applied, live, new)
}

fn merge(field: &str, last: Option<&Value>, live: &Value, new: &Value) -> Value {
    match (live, new) {
        (Value::Object(live), Value::Object(new)) => {
            Value::Object(merge_maps(field, last.and_then(Value::as_object), live, new))
        }
        (Value::Array(live), Value::Array(new)) => {
            let last = last.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            match merge_keys(field) {
                Some(keys) => merge_lists(field, keys, last, live, new),
                None if is_set(field) => merge_sets(last, live, new),
                None => Value::Array(new.clone()),
            }
        }
        _ => without_nulls(new),
    }
}

fn merge_maps(
    field: &str,
    last: Option<&Map<String, Value>>,
    live: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Map<String, Value> {
    let mut result = live.clone();
    for key in last.into_iter().flat_map(Map::keys).filter(|key| !new.contains_key(*key)) {
        result.remove(key);
    }
    for (key, value) in new {
        if value.is_null() {
            result.remove(key);
            continue;
        }
        let merged = match live.get(key) {
            Some(old) => merge(key, last.and_then(|last| last.get(key)), old, value),
            None => without_nulls(value),
        };
        result.insert(key.clone(), merged);
    }
    if RETAIN_KEYS.contains(&field) && result != *live {
        // A patch that touches the field lists the keys to keep: defaulted ones go.
        result.retain(|key, _| new.contains_key(key));
    }
    result
}

/// What makes an item of a list that item: its merge key, and the protocol of a port.
pub(super) fn identity<'a>(keys: &[&str], item: &'a Value) -> Option<(&'a Value, &'a str)> {
    let key = keys.iter().find_map(|key| item.get(*key))?;
    let is_port = keys.contains(&"containerPort");
    let protocol = if is_port { item.get("protocol").and_then(Value::as_str).unwrap_or("TCP") } else { "" };
    Some((key, protocol))
}

fn merge_lists(field: &str, keys: &[&str], last: &[Value], live: &[Value], new: &[Value]) -> Value {
    let find = |list: &'_ [Value], id| list.iter().position(|item| identity(keys, item) == id);
    let mut result: Vec<Value> = Vec::new();
    for item in new {
        let id = identity(keys, item);
        if id.is_none() {
            return Value::Array(new.iter().map(without_nulls).collect());
        }
        let old = find(live, id).and_then(|index| live.get(index));
        let before = find(last, id).and_then(|index| last.get(index));
        result.push(match old {
            Some(old) => merge(field, before, old, item),
            None => without_nulls(item),
        });
    }
    // Items that somebody else added stay, after those of the manifest, in their order.
    for item in live {
        let id = identity(keys, item);
        if find(new, id).is_none() && find(last, id).is_none() {
            result.push(item.clone());
        }
    }
    Value::Array(result)
}

fn merge_sets(last: &[Value], live: &[Value], new: &[Value]) -> Value {
    let stays = |item: &&Value| !new.contains(item) && !last.contains(item);
    Value::Array(new.iter().chain(live.iter().filter(stays)).cloned().collect())
}

pub(super) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            let mut clean = Map::new();
            for (key, value) in kept {
                clean.insert(key.clone(), without_nulls(value));
            }
            Value::Object(clean)
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        _ => value.clone(),
    }
}

/// RFC 7386: maps are merged, `null` removes, everything else replaces.
pub fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    if let Value::Object(map) = target {
        for (key, change) in changes {
            if change.is_null() {
                map.remove(key);
            } else {
                merge_patch(map.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_the_manifest_no_longer_has_is_removed_and_a_foreign_one_stays() {
        let last = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 3}});
        let live =
            json!({"metadata": {"labels": {"a": "1", "b": "2", "c": "3"}}, "spec": {"replicas": 5, "paused": true}});
        let new = json!({"metadata": {"labels": {"a": "9"}}, "spec": {}});
        let expected = json!({"metadata": {"labels": {"a": "9", "c": "3"}}, "spec": {"paused": true}});
        assert_eq!(three_way(Some(&last), &live, &new), expected);
    }

    #[test]
    fn an_object_that_was_never_applied_keeps_what_the_manifest_does_not_name() {
        let live = json!({"spec": {"replicas": 5, "paused": true}});
        assert_eq!(
            three_way(None, &live, &json!({"spec": {"replicas": 2}})),
            json!({"spec": {"replicas": 2, "paused": true}})
        );
        assert_eq!(three_way(None, &live, &json!({"spec": {"replicas": null}})), json!({"spec": {"paused": true}}));
    }

    #[test]
    fn containers_are_merged_by_name_and_env_inside_them_too() {
        let last = json!({"containers": [{"name": "app", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}, {"name": "old"}]});
        let live = json!({"containers": [
            {"name": "app", "image": "app:v1", "imagePullPolicy": "IfNotPresent",
             "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "X", "value": "sidecar"}]},
            {"name": "old"}, {"name": "injected"}]});
        let new = json!({"containers": [{"name": "app", "image": "app:v2", "env": [{"name": "A", "value": "7"}]}, {"name": "more"}]});
        let expected = json!({"containers": [
            {"name": "app", "image": "app:v2", "imagePullPolicy": "IfNotPresent",
             "env": [{"name": "A", "value": "7"}, {"name": "X", "value": "sidecar"}]},
            {"name": "more"}, {"name": "injected"}]});
        assert_eq!(three_way(Some(&last), &live, &new), expected);
    }

    #[test]
    fn ports_are_the_same_when_number_and_protocol_are() {
        let live = json!({"ports": [{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP", "name": "u"}]});
        let new = json!({"ports": [{"containerPort": 53, "protocol": "UDP", "name": "dns"}, {"containerPort": 53, "name": "dns-tcp"}]});
        let expected = json!({"ports": [
            {"containerPort": 53, "protocol": "UDP", "name": "dns"}, {"containerPort": 53, "protocol": "TCP", "name": "dns-tcp"}]});
        assert_eq!(three_way(None, &live, &new), expected);
    }

    #[test]
    fn other_lists_are_replaced_whole() {
        let live = json!({"tolerations": [{"key": "a"}], "command": ["x", "y"]});
        let new = json!({"tolerations": [{"key": "b"}], "command": ["z"]});
        assert_eq!(three_way(Some(&live), &live, &new), new);
    }

    #[test]
    fn a_change_of_strategy_drops_what_was_defaulted() {
        let last = json!({});
        let live = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}});
        let new = json!({"strategy": {"type": "Recreate"}});
        assert_eq!(three_way(Some(&last), &live, &new), new);
        let same = json!({"strategy": {"type": "RollingUpdate"}});
        assert_eq!(three_way(Some(&last), &live, &same), live);
    }

    #[test]
    fn a_merge_patch_removes_what_is_null_and_replaces_lists() {
        let mut target = json!({"a": {"b": 1, "c": [1, 2]}, "d": "x"});
        merge_patch(&mut target, &json!({"a": {"b": null, "c": [3], "e": {"f": null, "g": 1}}, "d": {"h": 1}}));
        assert_eq!(target, json!({"a": {"c": [3], "e": {"g": 1}}, "d": {"h": 1}}));
    }
}
