//! Which ReplicaSet belongs to the present template, and the revisions that order them.
//!
//! Mirrors `pkg/controller/deployment/{sync,util/deployment_util}.go`, v1.36.

use std::hash::Hasher;
use std::rc::Rc;

use crate::api::{
    Deployment, Kind, LabelSelector, Labels, ObjectMeta, PodTemplate, ReplicaSet, ReplicaSetSpec, write_value,
};
use crate::apiserver::safe_encode;
use crate::sim::Digest;

pub const HASH_LABEL: &str = "pod-template-hash";
pub const REVISION: &str = "deployment.kubernetes.io/revision";
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub const MAX: &str = "deployment.kubernetes.io/max-replicas";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A name for a template. Kubernetes hashes a dump of Go structures; this hashes the template's JSON, so the letters
/// differ from a real cluster's while everything that depends on them holds.
pub fn template_hash(template: &PodTemplate, collisions: i32) -> String {
    let mut digest = Digest::default();
    digest.write(write_value(template).to_string().as_bytes());
    digest.write_i32(collisions);
    let value = digest.finish();
    safe_encode(&((value >> 32) as u32 ^ value as u32).to_string())
}

fn same_template(set: &PodTemplate, wanted: &PodTemplate) -> bool {
    fn without_hash(labels: &Labels) -> impl Iterator<Item = (&String, &String)> {
        labels.iter().filter(|(key, _)| *key != HASH_LABEL)
    }
    let same_spec = Rc::ptr_eq(&set.spec, &wanted.spec) || set.spec == wanted.spec;
    same_spec
        && set.extra == wanted.extra
        && set.metadata.annotations == wanted.metadata.annotations
        && without_hash(&set.metadata.labels).eq(without_hash(&wanted.metadata.labels))
}

/// The ReplicaSet made from the Deployment's present template; the oldest, should there be several.
pub fn find_new_set<'a>(deployment: &Deployment, sets: &'a [Rc<ReplicaSet>]) -> Option<&'a Rc<ReplicaSet>> {
    sets.iter()
        .filter(|set| same_template(&set.spec.template, &deployment.spec.template))
        .min_by(|a, b| by_creation(a, b))
}

/// Oldest first; ties by name.
pub fn by_creation(a: &ReplicaSet, b: &ReplicaSet) -> std::cmp::Ordering {
    let (a, b) = (&a.metadata, &b.metadata);
    a.creation_timestamp.cmp(&b.creation_timestamp).then_with(|| a.name.cmp(&b.name))
}

pub fn revision(meta: &ObjectMeta) -> i64 {
    meta.annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Writes the annotations of a size. Returns whether they changed.
pub fn set_size_annotations(set: &mut ReplicaSet, desired: i32, max: i32) -> bool {
    let mut changed = false;
    for (key, value) in [(DESIRED, desired), (MAX, max)] {
        let value = value.to_string();
        if set.metadata.annotations.get(key) != Some(&value) {
            set.metadata.annotations.insert(key.into(), value);
            changed = true;
        }
    }
    changed
}

pub fn desired_annotation(set: &ReplicaSet) -> Option<i32> {
    set.metadata.annotations.get(DESIRED)?.parse().ok()
}

pub fn max_annotation(set: &ReplicaSet) -> Option<i32> {
    set.metadata.annotations.get(MAX)?.parse().ok()
}

/// Brings a new ReplicaSet's annotations up to date (`SetNewReplicaSetAnnotations`). Returns whether they changed.
pub fn set_new_annotations(deployment: &Deployment, set: &mut ReplicaSet, new_revision: i64, exists: bool) -> bool {
    let mut changed = false;
    let handled_by_revisions = [REVISION, REVISION_HISTORY, DESIRED, MAX, LAST_APPLIED];
    for (key, value) in &deployment.metadata.annotations {
        if !handled_by_revisions.contains(&key.as_str()) && set.metadata.annotations.get(key) != Some(value) {
            set.metadata.annotations.insert(key.clone(), value.clone());
            changed = true;
        }
    }
    let old = set.metadata.annotations.get(REVISION).cloned();
    if revision(&set.metadata) < new_revision {
        set.metadata.annotations.insert(REVISION.into(), new_revision.to_string());
        changed = true;
        if let Some(old) = old.filter(|_| exists) {
            let history = match set.metadata.annotations.get(REVISION_HISTORY) {
                Some(history) => format!("{history},{old}"),
                None => old,
            };
            set.metadata.annotations.insert(REVISION_HISTORY.into(), history);
        }
    }
    if !exists {
        let max = deployment.spec.wanted() + super::rolling::max_surge(&deployment.spec);
        changed |= set_size_annotations(set, deployment.spec.wanted(), max);
    }
    changed
}

/// A ReplicaSet for the Deployment's present template, not yet sized.
pub fn make_new_set(deployment: &Deployment, new_revision: i64) -> ReplicaSet {
    let hash = template_hash(&deployment.spec.template, deployment.status.collision_count.unwrap_or(0));
    let mut template = deployment.spec.template.clone();
    template.metadata.labels.insert(HASH_LABEL.into(), hash.clone());
    let mut selector: LabelSelector = deployment.spec.selector.clone();
    selector.match_labels.insert(HASH_LABEL.into(), hash.clone());
    let mut set = ReplicaSet {
        metadata: ObjectMeta {
            name: format!("{}-{hash}", deployment.metadata.name).into(),
            namespace: deployment.metadata.namespace.clone(),
            labels: template.metadata.labels.clone(),
            owner_references: vec![deployment.metadata.controller_reference(Kind::Deployment)],
            ..ObjectMeta::default()
        },
        spec: ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: deployment.spec.min_ready_seconds,
            selector,
            template,
            ..ReplicaSetSpec::default()
        },
        ..ReplicaSet::default()
    };
    set_new_annotations(deployment, &mut set, new_revision, false);
    set
}
