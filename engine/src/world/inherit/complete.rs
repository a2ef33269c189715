//! What a dump leaves out because controllers make it, made as they make it.

use std::rc::Rc;

use super::super::Simulation;
use crate::api::{DaemonSet, Generic, Kind, Name, Namespace, Object, ObjectKey, ObjectMeta, PodTemplate, StatefulSet};
use crate::apiserver::{Objects, TEMPLATE_GENERATION, safe_encode};
use crate::controllers::daemonset::GENERATION_LABEL;
use crate::controllers::endpointslice::at_rest;
use crate::controllers::history::{HASH_LABEL, is_kept, revision_of};
use crate::dump::uid_of;
use crate::sim::{Map, Seq};

impl Simulation {
    /// The namespaces that objects name and the dump does not have.
    pub(super) fn make_surroundings(&mut self, objects: &[Object], began: Seq) {
        let mut wanted: Map<Name, ()> = Map::default();
        for object in objects {
            wanted.insert(object.meta().namespace.clone(), ());
        }
        for it in objects.iter().filter_map(Object::as_namespace) {
            wanted.remove(&it.metadata.name);
        }
        for (name, ()) in wanted.iter().filter(|(name, ())| !name.is_empty()) {
            let metadata = ObjectMeta { name: name.clone(), ..ObjectMeta::default() };
            // Some are there already.
            self.seed(began, Object::Namespace(Rc::new(Namespace { metadata, ..Namespace::default() })));
        }
    }

    /// Owners that the dump does not have, such as the Jobs of pods: something that nobody acts on stands in for each, so
    /// that what they own is not taken for left behind.
    pub(super) fn stand_in_for_owners(&mut self, began: Seq) {
        let mut missing: Map<ObjectKey, ObjectMeta> = Map::default();
        for (_, object) in self.api.objects().iter() {
            let meta = object.meta();
            for owner in &meta.owner_references {
                let Some(kind) = Kind::find(&owner.api_version, &owner.kind) else { continue };
                let namespace = if kind.is_namespaced() { meta.namespace.clone() } else { Name::default() };
                let key = ObjectKey::new(kind, namespace.clone(), owner.name.clone());
                if self.api.objects().get(&key).is_none() {
                    let (name, uid) = (owner.name.clone(), owner.uid);
                    missing.insert(key, ObjectMeta { name, namespace, uid, ..ObjectMeta::default() });
                }
            }
        }
        for (key, metadata) in missing.iter() {
            let stand_in = Generic { metadata: metadata.clone(), ..Generic::default() };
            self.put(Object::Generic(key.kind, Rc::new(stand_in)), began);
        }
    }

    /// Revisions, slices, and counts that some versions do not tell.
    pub(super) fn complete(&mut self, began: Seq) {
        let objects = self.api.objects();
        let made: Vec<Object> = revisions(objects);
        let counted: Vec<Object> = objects.iter().filter_map(|(_, object)| counted(objects, object)).collect();
        for object in made.into_iter().chain(counted) {
            self.put(object, began);
        }
        let services: Vec<_> =
            self.api.objects().of_kind(Kind::Service).filter_map(Object::as_service).cloned().collect();
        // Only controllers' caches find pods by their labels.
        let mut cache = Objects::default();
        for (key, object) in self.api.objects().iter() {
            cache.put(key.clone(), object.clone());
        }
        for service in services {
            let (slices, gone) = at_rest(&cache, &service);
            for key in gone {
                if let Some(object) = self.api.objects().get(&key).cloned() {
                    let now = self.now();
                    self.api.restore(object, true, now);
                }
            }
            for (number, mut slice) in slices.into_iter().enumerate() {
                let meta = &mut slice.metadata;
                if meta.name.is_empty() {
                    let of = ["EndpointSlice/", &meta.namespace, "/", &service.metadata.name, &number.to_string()];
                    meta.uid = uid_of(&of.concat());
                    let letters = safe_encode(&(meta.uid.0 % 100_000 + 100_000).to_string()[1..]);
                    meta.name = [meta.generate_name.as_str(), &letters].concat().into();
                    meta.creation_timestamp = service.metadata.creation_timestamp;
                    meta.generation = 1;
                }
                self.put(Object::EndpointSlice(Rc::new(slice)), began);
            }
        }
    }
}

/// The revision of each present template that none keeps.
fn revisions(objects: &Objects) -> Vec<Object> {
    let mut all = Vec::new();
    let mut keep = |meta: &ObjectMeta, kind: Kind, template: &PodTemplate, (name, hash): (Name, &str)| {
        let (is_kept, number) = is_kept(objects, meta, template);
        let key = ObjectKey::new(Kind::ControllerRevision, meta.namespace.clone(), name.clone());
        if is_kept || objects.get(&key).is_some() {
            return;
        }
        let mut revision = revision_of(meta, kind, template, (name, hash, number));
        revision.metadata.uid = uid_of(&["ControllerRevision/", &meta.namespace, "/", &key.name].concat());
        revision.metadata.creation_timestamp = meta.creation_timestamp;
        all.push(Object::Generic(Kind::ControllerRevision, Rc::new(revision)));
    };
    for set in objects.of_kind(Kind::StatefulSet).filter_map(Object::as_stateful_set) {
        if let Some((name, hash)) = present_of_stateful_set(set) {
            keep(&set.metadata, Kind::StatefulSet, &set.spec.template, (name.into(), hash));
        }
    }
    for set in objects.of_kind(Kind::DaemonSet).filter_map(Object::as_daemon_set) {
        if let Some(hash) = present_of_daemon_set(objects, set) {
            let name = [set.metadata.name.as_str(), "-", &hash].concat();
            keep(&set.metadata, Kind::DaemonSet, &set.spec.template, (name.into(), &hash));
        }
    }
    all
}

/// The name of the revision that a StatefulSet's controller gave its present template, and the hash in it.
fn present_of_stateful_set(set: &StatefulSet) -> Option<(&str, &str)> {
    let name = set.status.update_revision.as_str();
    let hash = name.strip_prefix(set.metadata.name.as_str())?.strip_prefix('-')?;
    (set.status.observed_generation == set.metadata.generation && !hash.is_empty()).then_some((name, hash))
}

/// The hash of a DaemonSet's present template, as its pods have it.
fn present_of_daemon_set(objects: &Objects, set: &DaemonSet) -> Option<String> {
    let generation = set.metadata.annotations.get(TEMPLATE_GENERATION);
    let pods = || objects.owned(set.metadata.uid, Kind::Pod).filter_map(Object::as_pod);
    let hash_of = |it: &crate::api::Pod| it.metadata.labels.get(HASH_LABEL).cloned();
    let is_new = |it: &crate::api::Pod| generation.is_some() && it.metadata.labels.get(GENERATION_LABEL) == generation;
    let same = pods().find(|it| is_new(it)).and_then(|it| hash_of(it));
    same.or_else(|| pods().max_by_key(|it| it.metadata.creation_timestamp).and_then(|it| hash_of(it)))
}

/// An object with the counts of pods on their way out, which older versions do not tell.
fn counted(objects: &Objects, object: &Object) -> Option<Object> {
    let terminating = |uid| objects.tally(uid).map_or(0, |it| it.terminating);
    let uid = object.meta().uid;
    let mut object = object.clone();
    match &mut object {
        Object::ReplicaSet(it) if it.status.terminating_replicas.is_none() => {
            Rc::make_mut(it).status.terminating_replicas = Some(terminating(uid));
        }
        Object::Deployment(it) if it.status.terminating_replicas.is_none() => {
            let sets = objects.owned(uid, Kind::ReplicaSet).map(|it| terminating(it.meta().uid));
            Rc::make_mut(it).status.terminating_replicas = Some(sets.sum());
        }
        Object::StatefulSet(it) if it.status.collision_count.is_none() => {
            Rc::make_mut(it).status.collision_count = Some(0);
        }
        Object::Job(it) if it.status.terminating.is_none() => {
            Rc::make_mut(it).status.terminating = Some(terminating(uid));
        }
        _ => return None,
    }
    Some(object)
}
