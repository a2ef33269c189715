//! Server-side apply: what somebody applies is merged into the live object, and what they applied before and no longer
//! do goes unless somebody else owns it (`structured-merge-diff/merge/update.go`, `typed/merge.go`, v1.36).

use serde_json::{Map, Value};

use super::fields::{Items, is_atomic, items_of, join, step_of};
use crate::api::{FieldSet, Kind};

/// A live object with what somebody applies.
pub(super) fn merged(kind: Kind, live: &Value, applied: &Value) -> Value {
    merge(kind, "", live, applied)
}

fn merge(kind: Kind, field: &str, live: &Value, applied: &Value) -> Value {
    match (live, applied) {
        (Value::Object(old), Value::Object(new)) if !is_atomic(field) => {
            let mut map = old.clone();
            for (name, value) in new.iter().filter(|(_, value)| !value.is_null()) {
                let value = merge(kind, name, old.get(name).unwrap_or(&Value::Null), value);
                map.insert(name.clone(), value);
            }
            Value::Object(map)
        }
        (Value::Array(old), Value::Array(new)) => {
            let told = items_of(kind, field, if new.is_empty() { old } else { new });
            if told == Items::Atomic { applied.clone() } else { Value::Array(merge_lists(kind, told, old, new)) }
        }
        (Value::Null, Value::Object(new)) if !is_atomic(field) => {
            merge(kind, field, &Value::Object(Map::new()), &Value::Object(new.clone()))
        }
        _ => applied.clone(),
    }
}

/// Items stand where they stood; new ones come where they are applied, after what stood before them.
fn merge_lists(kind: Kind, told: Items, old: &[Value], new: &[Value]) -> Vec<Value> {
    let same = |list: &'_ [Value], item: &Value| {
        let step = step_of(told, item);
        list.iter().position(|it| step.is_some() && step_of(told, it) == step)
    };
    let mut all: Vec<Value> = Vec::new();
    let mut stood = 0;
    for item in new {
        let at = same(old, item);
        // What nobody applies keeps its place before the next item that is in both.
        while let Some(before) = at.and_then(|at| old.get(stood).filter(|_| stood < at)) {
            if same(new, before).is_none() {
                all.push(before.clone());
            }
            stood += 1;
        }
        let known = at.and_then(|at| old.get(at)).unwrap_or(&Value::Null);
        all.push(merge(kind, "", known, item));
        stood = stood.max(at.map_or(stood, |at| at + 1));
    }
    all.extend(old.iter().skip(stood).filter(|it| same(new, it).is_none()).cloned());
    all
}

/// Without what was applied before and is no longer, unless it is kept by those who own it.
pub(super) fn pruned(kind: Kind, value: &mut Value, before: &FieldSet, kept: &FieldSet) {
    if let Value::Object(map) = value {
        prune_map(kind, "", map, before, kept);
    }
}

fn is_given_up(path: &str, before: &FieldSet, kept: &FieldSet) -> bool {
    before.reaches(path) && !kept.reaches(path)
}

fn prune_map(kind: Kind, path: &str, map: &mut Map<String, Value>, before: &FieldSet, kept: &FieldSet) {
    let names: Vec<String> = map.keys().cloned().collect();
    for name in names {
        let path = join(path, &["f:", &name].concat());
        if is_given_up(&path, before, kept) {
            map.remove(&name);
        } else if before.reaches(&path) {
            match map.get_mut(&name) {
                Some(Value::Object(inner)) if !is_atomic(&name) => prune_map(kind, &path, inner, before, kept),
                Some(Value::Array(items)) => prune_list(kind, &name, &path, items, before, kept),
                _ => {}
            }
        }
    }
}

fn prune_list(kind: Kind, field: &str, path: &str, items: &mut Vec<Value>, before: &FieldSet, kept: &FieldSet) {
    let told = items_of(kind, field, items);
    let path_of = |item: &Value| step_of(told, item).map(|step| join(path, &step));
    // Of an item nobody keeps parts alone.
    items.retain(|item| path_of(item).is_none_or(|path| !before.has(&path) || kept.has(&path)));
    for item in items.iter_mut() {
        if let (Some(path), Value::Object(map)) = (path_of(item), item) {
            prune_map(kind, &path, map, before, kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::Fields;
    use super::*;
    use serde_json::json;

    fn set(value: &Value) -> FieldSet {
        Fields::applied(Kind::Deployment, value).set()
    }

    #[test]
    fn items_of_others_stay_where_they_are() {
        let live = json!({"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "x"}, {"name": "b"}]}});
        let applied = json!({"spec": {"containers": [{"name": "n"}, {"name": "a", "image": "2"}, {"name": "b"}]}});
        let wanted =
            json!({"spec": {"containers": [{"name": "n"}, {"name": "a", "image": "2"}, {"name": "x"}, {"name": "b"}]}});
        assert_eq!(merged(Kind::Pod, &live, &applied), wanted);
    }

    #[test]
    fn what_is_no_longer_applied_goes_with_all_that_nobody_keeps() {
        let before = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 3, "strategy": {"type": "Recreate"},
            "template": {"spec": {"containers": [{"name": "app", "image": "x"}, {"name": "old"}]}}}});
        let now = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "x"}]}}}});
        let other = json!({"metadata": {"labels": {"b": "2"}}, "spec": {"replicas": 3}});
        let mut value = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 3, "paused": true,
            "strategy": {"type": "Recreate"},
            "template": {"spec": {"containers": [{"name": "app", "image": "x", "tty": true}, {"name": "old", "tty": true}]}}}});
        pruned(Kind::Deployment, &mut value, &set(&before), &set(&now).and(&set(&other)));
        let wanted = json!({"metadata": {"labels": {"b": "2"}}, "spec": {"replicas": 3, "paused": true,
            "template": {"spec": {"containers": [{"name": "app", "image": "x", "tty": true}]}}}});
        assert_eq!(value, wanted);
    }
}
