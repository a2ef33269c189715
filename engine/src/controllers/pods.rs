//! What the controllers of pods have in common.
//!
//! Mirrors `pkg/controller/{controller_utils,controller_ref_manager}.go`, v1.36.

use std::rc::Rc;

use serde_json::Value;

use super::CONTROLLER_MANAGER;
use super::script::{Purpose, Script};
use crate::api::{
    Kind, LabelSelector, Object, ObjectKey, ObjectMeta, OwnerReference, Pod, PodTemplate, fields, write_value,
};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Objects, PatchType, Request, Verb};
use crate::client::{Action, Facts};
use crate::note;

pub(super) fn request(verb: Verb) -> Action {
    Action::Api(Request::new(CONTROLLER_MANAGER, verb))
}

/// A pod made from a template, with a name yet to be generated.
pub(super) fn pod_from(template: &PodTemplate, owner: &ObjectMeta, kind: Kind) -> Pod {
    Pod {
        metadata: ObjectMeta {
            generate_name: format!("{}-", owner.name).into(),
            namespace: owner.namespace.clone(),
            labels: template.metadata.labels.clone(),
            annotations: template.metadata.annotations.clone(),
            finalizers: template.metadata.finalizers.clone(),
            owner_references: vec![owner.controller_reference(kind)],
            ..ObjectMeta::default()
        },
        spec: Rc::clone(&template.spec),
        ..Pod::default()
    }
}

/// What a patch says of the finalizers when one of them goes.
pub(super) fn finalizers_without(meta: &ObjectMeta, gone: &str) -> Value {
    let left: Vec<Value> = meta.finalizers.iter().filter(|it| *it != gone).map(|it| it.as_str().into()).collect();
    if left.is_empty() { Value::Null } else { Value::Array(left) }
}

pub(super) fn create(pod: Pod) -> (Action, Purpose) {
    (request(Verb::Create(Object::Pod(Rc::new(pod)))), Purpose::Create)
}

pub(super) fn pod_key(pod: &Pod) -> ObjectKey {
    ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone())
}

pub(super) fn delete(pod: &Pod) -> (Action, Purpose) {
    let meta = &pod.metadata;
    let options = DeleteOptions { uid: Some(meta.uid), ..DeleteOptions::default() };
    (request(Verb::Delete(pod_key(pod), options)), Purpose::Delete(meta.name.clone(), meta.uid))
}

pub(super) fn pod_noun(count: usize) -> &'static str {
    if count == 1 { "pod" } else { "pods" }
}

/// Sends creations in batches of 1, 2, 4 …: if the first is refused, few more are tried (`slowStartBatch`).
pub(super) fn create_slowly(script: &mut Script, pods: impl IntoIterator<Item = Pod>) {
    let mut rest: Vec<(Action, Purpose)> = pods.into_iter().map(create).collect();
    let mut size = 1;
    while !rest.is_empty() {
        let later = rest.split_off(size.min(rest.len()));
        let facts: Facts = note!("create **{}** {}", rest.len(), pod_noun(rest.len())).into();
        let facts = match later.len() {
            0 => facts.with(note!("POST pods")),
            more => facts.with(note!("POST pods, {} more after these", more)),
        };
        script.send(facts, rest);
        (rest, size) = (later, size * 2);
    }
}

pub(super) fn delete_all<'a>(script: &mut Script, pods: impl IntoIterator<Item = &'a Rc<Pod>>) {
    let requests: Vec<(Action, Purpose)> = pods.into_iter().map(|pod| delete(pod)).collect();
    let facts: Facts = note!("delete **{}** {}", requests.len(), pod_noun(requests.len())).into();
    script.send(facts.with(note!("DELETE pods")), requests);
}

/// Which objects with a selector would take a pod or ReplicaSet.
fn selector_of(object: &Object) -> Option<&LabelSelector> {
    match object {
        Object::Deployment(it) => Some(&it.spec.selector),
        Object::ReplicaSet(it) => Some(&it.spec.selector),
        Object::StatefulSet(it) => Some(&it.spec.selector),
        Object::DaemonSet(it) => Some(&it.spec.selector),
        _ => None,
    }
}

/// Whom a change of an object without a controller concerns: all of a kind that would take it. And where it just
/// lost its controller, that one.
pub(super) fn suitors(kind: Kind, change: &Change, cache: &Objects) -> Vec<ObjectKey> {
    let meta = change.object.meta();
    let old = change.old.as_ref().map(Object::meta);
    let mut keys = Vec::new();
    if meta.controller().is_some() && old.is_some_and(|old| old.owner_references == meta.owner_references) {
        return keys;
    }
    if let Some(left) = old.and_then(ObjectMeta::controller)
        && left.kind == kind.name()
        && !meta.is_controlled_by(left.uid)
    {
        keys.push(ObjectKey::new(kind, meta.namespace.clone(), left.name.clone()));
    }
    let is_news = old.is_none_or(|old| old.labels != meta.labels || old.controller().is_some());
    if meta.controller().is_none() && change.kind != ChangeKind::Deleted && is_news {
        let all = cache.in_namespace(kind, &meta.namespace);
        let takers = all.filter(|it| selector_of(it).is_some_and(|it| !it.is_empty() && it.matches(&meta.labels)));
        keys.extend(takers.map(Object::key));
    }
    keys
}

/// Pods that a controller takes as its own or gives away, since their labels say so (`PodControllerRefManager`).
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    pub adopted: Vec<Rc<Pod>>,
    pub released: Vec<Rc<Pod>>,
}

impl Claims {
    pub fn find(cache: &Objects, owner: &ObjectMeta, selector: &LabelSelector, belongs: impl Fn(&Pod) -> bool) -> Self {
        let mut claims = Self::default();
        let strays = |labels: &_| !selector.matches(labels);
        if cache.tally(owner.uid).is_some_and(|tally| tally.labels.iter().any(|(labels, _)| strays(labels))) {
            let owned = cache.owned(owner.uid, Kind::Pod).filter_map(Object::as_pod);
            claims.released = owned.filter(|pod| pod.is_active() && strays(&pod.metadata.labels)).cloned().collect();
        }
        if owner.deletion_timestamp.is_none() && !selector.is_empty() {
            let orphans = cache.orphans(Kind::Pod, &owner.namespace).filter_map(Object::as_pod);
            let mine = orphans.filter(|pod| pod.is_active() && selector.matches(&pod.metadata.labels) && belongs(pod));
            claims.adopted = mine.cloned().collect();
        }
        claims
    }

    pub fn is_empty(&self) -> bool {
        self.adopted.is_empty() && self.released.is_empty()
    }

    pub fn requests(&self, owner: &ObjectMeta, kind: Kind) -> Vec<(Action, Purpose)> {
        let reference = owner.controller_reference(kind);
        let adopted = self.adopted.iter().map(|pod| (adopt(&pod_key(pod), &pod.metadata, &reference), Purpose::Plain));
        let released = self.released.iter().map(|pod| (release(&pod_key(pod), &pod.metadata, owner), Purpose::Plain));
        adopted.chain(released).collect()
    }

    pub fn facts(&self) -> Facts {
        match (self.adopted.len(), self.released.len()) {
            (0, n) => {
                let facts: Facts = note!("release **{}** {}", n, pod_noun(n)).into();
                facts.with(note!("PATCH pods: other labels now"))
            }
            (n, 0) => {
                let facts: Facts = note!("adopt **{}** {}", n, pod_noun(n)).into();
                facts.with(note!("PATCH pods: labels match, no owner"))
            }
            (n, m) => {
                let facts: Facts = note!("adopt **{}**, release **{}**", n, m).into();
                facts.with(note!("PATCH pods: by their labels"))
            }
        }
    }
}

/// Strategic, so that owners are merged by their uid: of two that take the same object at once the second is refused.
fn patch_owners(key: &ObjectKey, meta: &ObjectMeta, owner: Value) -> Action {
    let owners = Value::Array(vec![owner]);
    let patch = fields([("metadata", fields([("uid", meta.uid.to_string().into()), ("ownerReferences", owners)]))]);
    request(Verb::Patch(key.clone(), PatchType::Strategic, patch))
}

pub(super) fn adopt(key: &ObjectKey, meta: &ObjectMeta, owner: &OwnerReference) -> Action {
    patch_owners(key, meta, write_value(owner))
}

pub(super) fn release(key: &ObjectKey, meta: &ObjectMeta, owner: &ObjectMeta) -> Action {
    patch_owners(key, meta, fields([("$patch", "delete".into()), ("uid", owner.uid.to_string().into())]))
}
