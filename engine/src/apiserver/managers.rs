//! Who set which field last: what `metadata.managedFields` says, in a compact form beside the objects
//! (`apimachinery/pkg/util/managedfields`, v1.36).
//!
//! Fidelity: kept for the objects that people and several programs write (workloads, Services, configuration), and for
//! what they ask, not for what is reported in `status`. Pods, Nodes, Leases and EndpointSlices, which are written all
//! the time and by one program each, are left out.

use serde_json::Value;

use super::merge::{identity, is_set, merge_keys};
use crate::api::{Kind, Name, Object, ObjectKey, Timestamp};
use crate::sim::{Map, Set};

/// One line of `managedFields`: who, in which way, and through which subresource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManagerId {
    pub manager: &'static str,
    /// `Update` or `Apply`.
    pub operation: &'static str,
    /// `scale`, or nothing.
    pub subresource: &'static str,
}

/// What one manager owns: paths such as `.spec.template.spec.containers[name="app"].image`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManagedFields {
    pub time: Timestamp,
    pub api_version: &'static str,
    pub fields: Set<Name>,
}

/// The field managers of all objects.
#[derive(Clone, Debug, Default)]
pub struct FieldManagers {
    /// In order of the managers.
    objects: Map<ObjectKey, Vec<(ManagerId, ManagedFields)>>,
}

fn is_tracked(kind: Kind) -> bool {
    !matches!(kind, Kind::Pod | Kind::Node | Kind::Lease | Kind::EndpointSlice | Kind::Endpoints | Kind::Namespace)
}

impl FieldManagers {
    /// The managers of an object with the fields they own.
    pub fn of(&self, key: &ObjectKey) -> impl Iterator<Item = (&ManagerId, &ManagedFields)> {
        self.objects.get(key).into_iter().flatten().map(|(id, managed)| (id, managed))
    }

    pub(super) fn forget(&mut self, key: &ObjectKey) {
        self.objects.remove(key);
    }

    /// Notes a write: what it changed is the writer's now, what it removed is nobody's.
    pub(super) fn wrote(&mut self, by: ManagerId, old: Option<&Object>, new: &Object, now: Timestamp) {
        if !is_tracked(new.kind()) {
            return;
        }
        let after = owned_fields(&new.to_value());
        let before = old.map(|old| owned_fields(&old.to_value())).unwrap_or_default();
        let managers = self.objects.or_default(new.key());
        let gone: Vec<&Name> = before.keys().filter(|path| !after.contains_key(*path)).collect();
        let changed: Vec<&Name> =
            after.iter().filter(|(path, value)| before.get(*path) != Some(value)).map(|(path, _)| path).collect();
        // A size set through the scale subresource is tracked only where somebody owned the field before.
        let is_owned = |path: &Name| managers.iter().any(|(_, it)| it.fields.contains(path));
        let taken: Vec<Name> = changed
            .iter()
            .filter(|path| by.subresource.is_empty() || is_owned(path))
            .map(|path| (*path).clone())
            .collect();
        for (_, managed) in managers.iter_mut() {
            for path in gone.iter().chain(&changed) {
                managed.fields.remove(*path);
            }
        }
        if !taken.is_empty() {
            let place = managers.binary_search_by(|(id, _)| id.cmp(&by)).unwrap_or_else(|place| {
                managers.insert(place, (by, ManagedFields::default()));
                place
            });
            let (_, managed) = &mut managers[place];
            (managed.time, managed.api_version) = (now, new.kind().api_version());
            for path in taken {
                managed.fields.add(path);
            }
        }
        managers.retain(|(_, managed)| !managed.fields.is_empty());
    }
}

/// The fields of an object that somebody can own, with their values: `.spec.replicas`,
/// `.spec.template.spec.containers[name="app"].image`. What is reported in `status` and what the API server itself sets
/// is left out.
pub fn owned_fields(object: &Value) -> Map<Name, Value> {
    const SYSTEM: [&str; 10] = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
    ];
    let mut found = Map::default();
    for (key, value) in object.as_object().into_iter().flatten() {
        match key.as_str() {
            "apiVersion" | "kind" | "status" => {}
            "metadata" => {
                for (key, value) in
                    value.as_object().into_iter().flatten().filter(|(key, _)| !SYSTEM.contains(&key.as_str()))
                {
                    collect(key, &format!(".metadata.{key}"), value, &mut found);
                }
            }
            _ => collect(key, &format!(".{key}"), value, &mut found),
        }
    }
    found
}

fn collect(field: &str, path: &str, value: &Value, found: &mut Map<Name, Value>) {
    match value {
        // A selector is one thing to its manager (`+structType=atomic`).
        Value::Object(map) if !map.is_empty() && !matches!(field, "selector" | "nodeSelector" | "resourceFieldRef") => {
            for (key, value) in map {
                collect(key, &format!("{path}.{key}"), value, found);
            }
        }
        Value::Array(items) if merge_keys(field).is_some() => {
            for item in items {
                collect_item(field, path, item, found);
            }
        }
        Value::Array(items) if is_set(field) => {
            for item in items {
                found.insert(format!("{path}[{item}]").into(), item.clone());
            }
        }
        _ => {
            found.insert(path.into(), value.clone());
        }
    }
}

fn collect_item(field: &str, path: &str, item: &Value, found: &mut Map<Name, Value>) {
    let keys = merge_keys(field).unwrap_or_default();
    let name = keys.iter().find(|key| item.get(**key).is_some());
    let (Some(name), Some((id, protocol))) = (name, identity(keys, item)) else { return };
    let path = match protocol {
        "" => format!("{path}[{name}={id}]"),
        protocol => format!("{path}[{name}={id},protocol=\"{protocol}\"]"),
    };
    for (key, value) in item.as_object().into_iter().flatten() {
        collect(key, &format!("{path}.{key}"), value, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ME: ManagerId = ManagerId { manager: "me", operation: "Update", subresource: "" };
    const OTHER: ManagerId = ManagerId { manager: "other", operation: "Update", subresource: "" };
    const SCALE: ManagerId = ManagerId { manager: "kubectl", operation: "Update", subresource: "scale" };

    fn web(replicas: Value, image: &str) -> Object {
        let spec =
            json!({"replicas": replicas, "template": {"spec": {"containers": [{"name": "app", "image": image}]}}});
        Object::from_value(Kind::Deployment, json!({"metadata": {"name": "web"}, "spec": spec})).unwrap()
    }

    fn owns(managers: &FieldManagers, by: ManagerId, path: &str) -> bool {
        let key = web(json!(1), "").key();
        managers.of(&key).any(|(id, managed)| *id == by && managed.fields.contains(path))
    }

    #[test]
    fn a_field_belongs_to_whom_changed_it_last() {
        const IMAGE: &str = ".spec.template.spec.containers[name=\"app\"].image";
        let mut managers = FieldManagers::default();
        let (one, two) = (web(json!(3), "app:v1"), web(json!(3), "app:v2"));
        managers.wrote(ME, None, &one, Timestamp(1));
        assert!(owns(&managers, ME, IMAGE) && owns(&managers, ME, ".spec.replicas"));
        managers.wrote(OTHER, Some(&one), &two, Timestamp(2));
        assert!(owns(&managers, OTHER, IMAGE) && !owns(&managers, ME, IMAGE));
        assert!(owns(&managers, ME, ".spec.replicas") && !owns(&managers, OTHER, ".spec.replicas"));
    }

    #[test]
    fn scale_takes_the_size_from_its_owner_and_is_not_tracked_where_there_is_none() {
        let mut managers = FieldManagers::default();
        managers.wrote(ME, None, &web(json!(3), "app:v1"), Timestamp(1));
        managers.wrote(SCALE, Some(&web(json!(3), "app:v1")), &web(json!(5), "app:v1"), Timestamp(2));
        assert!(owns(&managers, SCALE, ".spec.replicas") && !owns(&managers, ME, ".spec.replicas"));
        let mut managers = FieldManagers::default();
        managers.wrote(ME, None, &web(Value::Null, "app:v1"), Timestamp(1));
        managers.wrote(SCALE, Some(&web(Value::Null, "app:v1")), &web(json!(5), "app:v1"), Timestamp(2));
        assert!(!owns(&managers, SCALE, ".spec.replicas"));
    }
}
