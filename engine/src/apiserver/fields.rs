//! The fields of an object as those that can be owned, and how two versions differ in them
//! (`structured-merge-diff/typed`: `tofieldset.go`, `compare.go`; `managedfields/internal/stripmeta.go`, v1.36).
//!
//! Which lists and maps are one thing to their owner, and by which keys the items of others are told apart, are the
//! `+listType`, `+mapType` and `+structType` marks of `k8s.io/api`.

use serde_json::{Map, Value};

use crate::api::{FieldSet, Kind, Name, STEP};
use crate::sim::sort_by;

/// How the items of a list are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    /// Not at all: the list is one thing.
    Atomic,
    /// By their values.
    Set,
    /// By some of their fields; a port's protocol, where it is left out, is `TCP`.
    By(&'static [&'static str]),
}

const BY_NAME: [&str; 11] = [
    "claims",
    "containers",
    "env",
    "ephemeralContainers",
    "imagePullSecrets",
    "initContainers",
    "resourceClaimStatuses",
    "resourceClaims",
    "schedulingGates",
    "secrets",
    "volumes",
];

/// Maps and structs that are one thing to their owner.
const ATOMIC: [&str; 16] = [
    "configMapKeyRef",
    "dataSource",
    "fieldRef",
    "fileKeyRef",
    "involvedObject",
    "labelSelector",
    "namespaceSelector",
    "nodeSelector",
    "podSelector",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "resourceFieldRef",
    "scopeSelector",
    "secretKeyRef",
    "secretRef",
    "selector",
    "targetRef",
];

/// Maps that are there in Go even when nothing was ever said of them, so that nobody can add them.
const ALWAYS_THERE: [&str; 9] = [
    "f:jobTemplate",
    "f:loadBalancer",
    "f:metadata",
    "f:scaleTargetRef",
    "f:spec",
    "f:status",
    "f:strategy",
    "f:template",
    "f:updateStrategy",
];

/// What the API server itself says of every object.
const SYSTEM: [&str; 11] = [
    "clusterName",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Numbers of a status that Go writes even when they are 0: from nothing to 0 nothing changes.
const ZEROS: [&str; 10] = [
    "f:availableReplicas",
    "f:currentHealthy",
    "f:currentNumberScheduled",
    "f:desiredHealthy",
    "f:desiredNumberScheduled",
    "f:disruptionsAllowed",
    "f:expectedPods",
    "f:numberMisscheduled",
    "f:numberReady",
    "f:replicas",
];

/// How the items of a list are told apart, by the list's name, its kind of object and what is in it.
pub(super) fn items_of(kind: Kind, field: &str, items: &[Value]) -> Items {
    let is_of_containers = || items.iter().all(|it| it.get("containerPort").is_some());
    match field {
        _ if BY_NAME.contains(&field) => Items::By(&["name"]),
        "conditions" if kind != Kind::Job => Items::By(&["type"]),
        "addresses" if kind == Kind::Node => Items::By(&["type"]),
        "hostAliases" | "podIPs" => Items::By(&["ip"]),
        "ownerReferences" => Items::By(&["uid"]),
        "ports" if kind == Kind::Service => Items::By(&["port", "protocol"]),
        "ports" if is_of_containers() => Items::By(&["containerPort", "protocol"]),
        "topologySpreadConstraints" => Items::By(&["topologyKey", "whenUnsatisfiable"]),
        "volumeDevices" => Items::By(&["devicePath"]),
        "volumeMounts" => Items::By(&["mountPath"]),
        "finalizers" if kind != Kind::Namespace => Items::Set,
        "podCIDRs" => Items::Set,
        _ => Items::Atomic,
    }
}

pub(super) fn is_atomic(field: &str) -> bool {
    ATOMIC.contains(&field)
}

/// The step of an item; nothing where it lacks what tells it apart.
pub(super) fn step_of(items: Items, item: &Value) -> Option<String> {
    match items {
        Items::Atomic => None,
        Items::Set => Some(["v:", &item.to_string()].concat()),
        Items::By(keys) => {
            let mut step = String::from("k:{");
            for (index, key) in keys.iter().enumerate() {
                let value = match item.get(*key) {
                    Some(value) => value.to_string(),
                    None if *key == "protocol" => "\"TCP\"".into(),
                    None => return None,
                };
                step += &[if index > 0 { ",\"" } else { "\"" }, key, "\":", &value].concat();
            }
            Some(step + "}")
        }
    }
}

pub(super) fn join(path: &str, step: &str) -> String {
    if path.is_empty() {
        return step.into();
    }
    let mut joined = String::with_capacity(path.len() + step.len() + 1);
    joined += path;
    joined.push(STEP);
    joined += step;
    joined
}

/// What stands at a path.
#[derive(Clone, Copy, PartialEq)]
enum What<'a> {
    Leaf(&'a Value),
    Item,
    /// A map, or a list whose items are told apart.
    Inner,
}

/// The fields of an object by path.
pub(super) struct Fields<'a> {
    kind: Kind,
    /// Whether it is a whole object, which has what Go always writes, rather than what somebody applies.
    is_whole: bool,
    all: Vec<(String, What<'a>)>,
}

static NULL: Value = Value::Null;

impl<'a> Fields<'a> {
    /// Of a whole object.
    pub fn of(kind: Kind, value: &'a Value) -> Self {
        Self::walked(kind, value, true)
    }

    /// Of what somebody applies.
    pub fn applied(kind: Kind, value: &'a Value) -> Self {
        Self::walked(kind, value, false)
    }

    fn walked(kind: Kind, value: &'a Value, is_whole: bool) -> Self {
        let mut fields = Self { kind, is_whole, all: Vec::new() };
        for (name, value) in value.as_object().into_iter().flatten() {
            match name.as_str() {
                "apiVersion" | "kind" => {}
                "metadata" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        if !SYSTEM.contains(&name.as_str()) {
                            fields.walk(name, join("f:metadata", &["f:", name].concat()), value);
                        }
                    }
                }
                _ => fields.walk(name, ["f:", name].concat(), value),
            }
        }
        sort_by(&mut fields.all, |a, b| a.0.cmp(&b.0));
        fields
    }

    fn walk(&mut self, field: &str, path: String, value: &'a Value) {
        match value {
            Value::Object(map) if !map.is_empty() && !is_atomic(field) => {
                let last = path.rsplit(STEP).next().unwrap_or_default();
                if !ALWAYS_THERE.contains(&last) {
                    self.all.push((path.clone(), What::Inner));
                }
                self.walk_map(&path, map);
            }
            Value::Array(items) if !items.is_empty() => match items_of(self.kind, field, items) {
                Items::Atomic => self.all.push((path, What::Leaf(value))),
                told => self.walk_list(field, path, items, told),
            },
            Value::Null if !self.is_whole => {}
            _ => self.all.push((path, What::Leaf(value))),
        }
    }

    fn walk_map(&mut self, path: &str, map: &'a Map<String, Value>) {
        for (name, value) in map {
            self.walk(name, join(path, &["f:", name].concat()), value);
        }
    }

    fn walk_list(&mut self, field: &str, path: String, items: &'a [Value], told: Items) {
        let is_always_there = field == "containers" && path.ends_with("f:spec\u{1}f:containers");
        // Only items of this list can be the same.
        let from = self.all.len();
        for item in items {
            let Some(step) = step_of(told, item) else { continue };
            // The addresses of pods differ, whose fields are otherwise the same.
            let step = if field == "podIPs" { POD_IP.into() } else { step };
            let path = join(&path, &step);
            if self.all.iter().skip(from).any(|(known, _)| *known == path) {
                continue;
            }
            let Value::Object(map) = item else {
                self.all.push((path, What::Leaf(item)));
                continue;
            };
            if field == "ownerReferences" {
                self.all.push((path, What::Leaf(item)));
                continue;
            }
            self.walk_map(&path, map);
            if self.is_whole {
                self.always(field, &path, map);
            }
            self.all.push((path, What::Item));
        }
        if !is_always_there {
            self.all.push((path, What::Inner));
        }
    }

    /// What Go writes of an item even where nothing was said of it.
    fn always(&mut self, field: &str, path: &str, item: &Map<String, Value>) {
        let name = match field {
            "containers" | "initContainers" => "resources",
            "conditions" if self.kind == Kind::Pod => "lastProbeTime",
            _ => return,
        };
        if !item.contains_key(name) {
            self.all.push((join(path, &["f:", name].concat()), What::Leaf(&NULL)));
        }
    }

    /// What somebody owns who applies this: its values, and the items of its lists.
    pub fn set(&self) -> FieldSet {
        let owned = self.all.iter().filter(|(_, what)| *what != What::Inner);
        FieldSet::sorted(owned.map(|(path, _)| Name::from(path.as_str())).collect())
    }

    /// The values, by path.
    pub fn values(&self) -> impl Iterator<Item = (&str, &'a Value)> {
        self.all.iter().filter_map(|(path, what)| match what {
            What::Leaf(value) => Some((path.as_str(), *value)),
            _ => None,
        })
    }

    /// The value at a path.
    pub fn value(&self, path: &str) -> Option<&'a Value> {
        let at = self.all.binary_search_by(|(it, _)| it.as_str().cmp(path)).ok()?;
        match self.all.get(at)?.1 {
            What::Leaf(value) => Some(value),
            _ => None,
        }
    }
}

/// Stands for the address of a pod in paths, which pods of one template share.
pub(super) const POD_IP: &str = "k:{\"ip\":\"*\"}";

/// How two versions differ, each in order.
#[derive(Default, Debug)]
pub(super) struct Difference {
    /// Added or modified: who writes it owns it.
    pub taken: Vec<Name>,
    pub removed: Vec<Name>,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.removed.is_empty()
    }
}

pub(super) fn difference(old: &Fields<'_>, new: &Fields<'_>) -> Difference {
    let mut found = Difference::default();
    let (mut a, mut b) = (old.all.iter().peekable(), new.all.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.0.cmp(&y.0),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return found,
        };
        let before = if order.is_le() { a.next() } else { None };
        let after = if order.is_ge() { b.next() } else { None };
        match (before, after) {
            (Some((path, What::Leaf(x))), Some((_, What::Leaf(y)))) if x != y => found.taken.push(path.as_str().into()),
            (None, Some((path, what))) if !is_zero(path, *what) => found.taken.push(path.as_str().into()),
            (Some((path, what)), None) if !is_zero(path, *what) => found.removed.push(path.as_str().into()),
            _ => {}
        }
    }
}

fn is_zero(path: &str, what: What<'_>) -> bool {
    matches!(what, What::Leaf(value) if value.as_i64() == Some(0))
        && path.strip_prefix("f:status\u{1}").is_some_and(|field| ZEROS.contains(&field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::path_text;
    use serde_json::json;

    fn texts(paths: &[Name]) -> Vec<String> {
        paths.iter().map(|it| path_text(it)).collect()
    }

    #[test]
    fn who_applies_owns_values_and_items_and_not_the_maps_around_them() {
        let value = json!({"apiVersion": "apps/v1", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
            "selector": {"matchLabels": {"app": "web"}}, "replicas": null,
            "template": {"spec": {"containers": [{"name": "app", "ports": [{"containerPort": 80}], "args": ["a"]}]}}}});
        let found = Fields::applied(Kind::Deployment, &value).set();
        let wanted = [
            ".metadata.labels.app",
            ".spec.selector",
            ".spec.template.spec.containers[name=\"app\"]",
            ".spec.template.spec.containers[name=\"app\"].args",
            ".spec.template.spec.containers[name=\"app\"].name",
            ".spec.template.spec.containers[name=\"app\"].ports[containerPort=80,protocol=\"TCP\"]",
            ".spec.template.spec.containers[name=\"app\"].ports[containerPort=80,protocol=\"TCP\"].containerPort",
        ];
        assert_eq!(texts(&found), wanted);
    }

    #[test]
    fn who_writes_owns_what_changed_and_the_maps_that_came() {
        let old = json!({"metadata": {}, "spec": {"replicas": 1, "paused": true}, "status": {"replicas": 0}});
        let new = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": 2}});
        let found = difference(&Fields::of(Kind::Deployment, &old), &Fields::of(Kind::Deployment, &new));
        assert_eq!(texts(&found.taken), [".metadata.annotations", ".metadata.annotations.a", ".spec.replicas"]);
        assert_eq!(texts(&found.removed), [".spec.paused"]);
    }
}
