//! What Git says against what is there, object by object and field by field.

use serde_json::Value;

use super::health::health;
use crate::api::{Kind, Name, Object, ObjectKey, fields, path_text};
use crate::apiserver::{LAST_APPLIED, Objects, apply_defaults, configuration, owned_fields, three_way};
use crate::gitops::{Commit, Difference, Health, Preset, Resource, Settings, SyncState};
use crate::manifest;
use crate::sim::Map;

/// What Argo CD puts on everything that it syncs (`util/argo/resource_tracking.go`, v3).
const TRACKING: &str = "argocd.argoproj.io/tracking-id";
/// And Flux (`fluxcd/pkg/ssa`, owner labels).
const OWNER: [(&str, &str); 2] =
    [("kustomize.toolkit.fluxcd.io/name", APP), ("kustomize.toolkit.fluxcd.io/namespace", "flux-system")];
/// The name of the one application.
pub const APP: &str = "app";

/// An object as Git has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    pub key: ObjectKey,
    /// With the agent's own mark.
    pub value: Value,
}

/// The mark that Argo CD expects on an object; copies of it on what the object owns do not count.
fn tracking_id(key: &ObjectKey) -> String {
    [APP, ":", key.kind.group(), "/", key.kind.name(), ":", &key.namespace, "/", &key.name].concat()
}

/// Whether an object carries the agent's mark.
pub fn is_tracked(preset: Preset, key: &ObjectKey, object: &Object) -> bool {
    let meta = object.meta();
    match preset {
        Preset::ArgoCd => meta.annotations.get(TRACKING).is_some_and(|it| **it == tracking_id(key)),
        Preset::Flux => OWNER.iter().all(|(name, value)| meta.labels.get(name).is_some_and(|it| **it == **value)),
    }
}

fn mark(preset: Preset, key: &ObjectKey, value: &mut Value) {
    let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let (field, marks) = match preset {
        Preset::ArgoCd => ("annotations", vec![(TRACKING, tracking_id(key))]),
        Preset::Flux => ("labels", OWNER.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()),
    };
    let place = meta.entry(field).or_insert_with(|| fields([]));
    for (name, value) in marks {
        if let Some(map) = place.as_object_mut() {
            map.insert(name.into(), value.into());
        }
    }
}

/// The objects of a commit, in the order in which they are applied.
///
/// # Errors
/// The file that cannot be read, and why.
pub fn targets(commit: &Commit, preset: Preset) -> Result<Vec<Target>, String> {
    let is_manifest = |path: &str| [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end));
    let mut all = Vec::new();
    for file in commit.files.iter().filter(|it| is_manifest(&it.path)) {
        let read = manifest::read(&file.text);
        if let Some(it) = read.diagnostics.iter().find(|it| it.severity == manifest::Severity::Error) {
            let line = it.line.to_string();
            let why = it.upstream.as_deref().unwrap_or(&it.message);
            return Err([&file.path, ":", &line, ": ", why].concat());
        }
        for document in read.documents {
            let (kind, meta) = (document.object.kind(), document.object.meta());
            let namespace: Name = match (kind.is_namespaced(), meta.namespace.is_empty()) {
                (false, _) => Name::default(),
                (true, true) => "default".into(),
                (true, false) => meta.namespace.clone(),
            };
            let key = ObjectKey::new(kind, namespace, meta.name.clone());
            let mut value = document.value;
            mark(preset, &key, &mut value);
            all.push(Target { key, value });
        }
    }
    crate::sim::sort_by(&mut all, |a, b| rank(a.key.kind).cmp(&rank(b.key.kind)));
    Ok(all)
}

/// What others need comes first (gitops-engine `pkg/sync/sync_tasks.go`).
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Namespace => 0,
        Kind::ResourceQuota | Kind::LimitRange | Kind::PriorityClass | Kind::ServiceAccount => 1,
        Kind::Secret | Kind::ConfigMap | Kind::StorageClass | Kind::PersistentVolume => 2,
        Kind::PersistentVolumeClaim | Kind::Role | Kind::RoleBinding => 3,
        Kind::Service => 4,
        Kind::DaemonSet | Kind::Pod | Kind::ReplicaSet | Kind::Deployment => 5,
        Kind::HorizontalPodAutoscaler | Kind::StatefulSet | Kind::Job | Kind::CronJob => 6,
        _ => 7,
    }
}

/// The object that applying would leave.
fn predicted(settings: &Settings, target: &Target, live: &Object) -> Option<Value> {
    let (kind, namespace) = (target.key.kind, &target.key.namespace);
    let wanted = configuration(&target.value, namespace);
    if settings.preset == Preset::Flux {
        return Some(Object::from_value(kind, wanted).ok()?.to_value());
    }
    let last = live.meta().annotations.get(LAST_APPLIED);
    let last = last.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let mut object = Object::from_value(kind, three_way(last.as_ref(), &live.to_value(), &wanted)).ok()?;
    apply_defaults(&mut object);
    Some(object.to_value())
}

fn text(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The fields in which an object differs from what Git says; those of `settings` left out.
fn differences(settings: &Settings, target: &Target, live: &Object) -> Vec<Difference> {
    let Some(wanted) = predicted(settings, target, live) else {
        return vec![Difference { path: String::new(), git: "invalid".into(), live: String::new() }];
    };
    let (git, there) = (owned_fields(&wanted), owned_fields(&live.to_value()));
    let mut paths: Vec<Name> = git.keys().filter(|path| git.get(*path) != there.get(*path)).cloned().collect();
    if settings.preset == Preset::ArgoCd {
        paths.extend(there.keys().filter(|path| !git.contains_key(*path)).cloned());
    } else {
        paths.extend(by_hand(live).into_iter().filter(|path| there.contains_key(path) && !git.contains_key(path)));
    }
    paths.sort();
    let is_leaf = |path: &str| {
        let inner = |it: &Name| it.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        !paths.iter().any(inner) && !path.ends_with(LAST_APPLIED)
    };
    let kind = target.key.kind.name();
    let shown = paths.iter().filter(|path| is_leaf(path) && !settings.ignores(kind, path));
    let of = |path: &Name, from: &Map<Name, Value>| text(from.get(path));
    shown
        .map(|path| Difference {
            path: path.trim_start_matches('.').into(),
            git: of(path, &git),
            live: of(path, &there),
        })
        .collect()
}

/// The fields that people hold through kubectl, which Flux takes from them (`fluxcd/pkg/ssa`, disallowed managers).
fn by_hand(live: &Object) -> Vec<Name> {
    let entries = live.meta().managed.entries().iter().filter(|it| is_by_hand(it.by));
    entries.flat_map(|it| it.fields.iter().map(|path| Name::from(path_text(path)))).collect()
}

pub fn is_by_hand(by: crate::api::ManagerId) -> bool {
    by.manager.starts_with("kubectl") && by.subresource.is_empty()
}

/// All that is in Git or carries the agent's mark.
pub fn compare(settings: &Settings, targets: &[Target], cache: &Objects) -> Vec<Resource> {
    let mut all: Vec<Resource> = Vec::new();
    for target in targets {
        let live = cache.get(&target.key);
        let differences = live.map(|live| differences(settings, target, live)).unwrap_or_default();
        let is_same = live.is_some() && differences.is_empty();
        all.push(Resource {
            key: target.key.clone(),
            sync: if is_same { SyncState::Synced } else { SyncState::OutOfSync },
            health: live.map_or(Health::Missing, health),
            is_extra: false,
            differences,
        });
    }
    for (key, live) in cache.iter().filter(|(key, live)| is_tracked(settings.preset, key, live)) {
        if !targets.iter().any(|it| it.key == *key) && live.meta().deletion_timestamp.is_none() {
            let (key, health) = (key.clone(), health(live));
            all.push(Resource { key, sync: SyncState::OutOfSync, health, is_extra: true, differences: Vec::new() });
        }
    }
    all
}
