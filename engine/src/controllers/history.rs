//! The templates that a StatefulSet or DaemonSet has had, kept as ControllerRevisions.
//!
//! Mirrors `pkg/controller/history/controller_history.go`, v1.36.

use std::rc::Rc;

use serde_json::Value;

use super::deployment::revision::template_hash;
use super::pods::request;
use super::script::{Purpose, Script};
use crate::api::{
    Extra, Generic, Kind, Labels, Name, Object, ObjectKey, ObjectMeta, PodTemplate, Uid, fields, read_value,
    write_value,
};
use crate::apiserver::{DeleteOptions, Objects, Verb};
use crate::client::Facts;
use crate::note;
use crate::sim::{Map, sort_by};

/// The label by which a pod knows the template that it was made from.
pub const HASH_LABEL: &str = "controller-revision-hash";

/// The hashes of templates, worked out once for each generation of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Hashes(Map<Uid, (i64, Rc<str>)>);

impl Hashes {
    pub fn of(&mut self, meta: &ObjectMeta, template: &PodTemplate) -> Rc<str> {
        match self.0.get(&meta.uid) {
            Some((generation, hash)) if *generation == meta.generation => Rc::clone(hash),
            _ => {
                let hash: Rc<str> = template_hash(template, 0).into();
                self.0.insert(meta.uid, (meta.generation, Rc::clone(&hash)));
                hash
            }
        }
    }

    pub fn forget(&mut self, uid: Uid) {
        self.0.remove(&uid);
    }
}

/// An object's revisions, oldest first, and which of them is its present template's.
#[derive(Clone, Debug)]
pub(super) struct History {
    all: Vec<Rc<Generic>>,
    /// The name of the present template's revision, whether or not it exists.
    pub present: Name,
    pub hash: Rc<str>,
}

fn number(revision: &Generic) -> i64 {
    revision.fields.get("revision").and_then(Value::as_i64).unwrap_or(0)
}

/// The template that a revision keeps.
fn template_in(revision: &Generic) -> Option<PodTemplate> {
    let mut template = revision.fields.get("data")?.pointer("/spec/template")?.clone();
    template.as_object_mut()?.remove("$patch");
    read_value(template).ok()
}

/// A revision that keeps a template: with its name, its hash and its number.
pub fn revision_of(
    meta: &ObjectMeta,
    kind: Kind,
    template: &PodTemplate,
    (name, hash, number): (Name, &str, i64),
) -> Generic {
    let mut labels: Labels = template.metadata.labels.clone();
    labels.insert(HASH_LABEL.into(), hash.to_owned());
    let mut value = write_value(template);
    if let Some(map) = value.as_object_mut() {
        map.insert("$patch".into(), "replace".into());
    }
    let metadata = ObjectMeta {
        name,
        namespace: meta.namespace.clone(),
        labels,
        owner_references: vec![meta.controller_reference(kind)],
        ..ObjectMeta::default()
    };
    let data = fields([("spec", fields([("template", value)]))]);
    let mut fields = Extra::new();
    for (name, value) in [("data".to_owned(), data), ("revision".to_owned(), number.into())] {
        fields.insert(name, value);
    }
    Generic { metadata, fields }
}

/// Whether one of the revisions of an object keeps its present template, and the number that the next one would have.
pub fn is_kept(cache: &Objects, meta: &ObjectMeta, template: &PodTemplate) -> (bool, i64) {
    let history = History::find(cache, meta, template_hash(template, 0).into(), template);
    (history.has(&history.present), history.all.last().map_or(1, |last| number(last).wrapping_add(1)))
}

impl History {
    /// The present template's revision is the one with its hash in its name, or else one that holds the very same:
    /// revisions of a cluster that was brought along have other hashes.
    pub fn find(cache: &Objects, meta: &ObjectMeta, hash: Rc<str>, template: &PodTemplate) -> Self {
        let revisions = cache.owned(meta.uid, Kind::ControllerRevision).filter_map(|object| match object {
            Object::Generic(_, it) => Some(Rc::clone(it)),
            _ => None,
        });
        let mut all: Vec<Rc<Generic>> = revisions.collect();
        let age = |it: &Generic| (number(it), it.metadata.creation_timestamp);
        sort_by(&mut all, |a, b| age(a).cmp(&age(b)));
        let mut history = Self { all, present: format!("{}-{hash}", meta.name).into(), hash };
        if !history.has(&history.present) {
            let same = history.all.iter().rev().find(|it| template_in(it).as_ref() == Some(template));
            if let Some(same) = same.map(Rc::clone) {
                let name = same.metadata.name.clone();
                let end = name.strip_prefix(meta.name.as_str()).and_then(|it| it.strip_prefix('-'));
                let label = same.metadata.labels.get(HASH_LABEL).map(String::as_str);
                history.hash = label.or(end).unwrap_or(&name).into();
                history.present = name;
            }
        }
        history
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    fn by_name(&self, name: &str) -> Option<&Rc<Generic>> {
        self.all.iter().find(|it| &*it.metadata.name == name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.by_name(name).is_some()
    }

    /// The number of the present template's revision, as it will be once it is kept.
    pub fn present_number(&self) -> i64 {
        match self.all.last() {
            Some(last) if last.metadata.name == self.present => number(last),
            Some(last) => number(last).wrapping_add(1),
            None => 1,
        }
    }

    /// The template that a revision keeps.
    pub fn template(&self, name: &str) -> Option<PodTemplate> {
        template_in(self.by_name(name)?)
    }

    /// Sees to it that the present template is the newest revision: kept anew, or numbered anew after a rollback.
    pub fn keep_present(&self, script: &mut Script, meta: &ObjectMeta, kind: Kind, template: &PodTemplate) {
        if self.all.last().is_some_and(|last| last.metadata.name == self.present) {
            return;
        }
        let number = self.present_number();
        let facts: Facts = note!("keep the template as revision **{}**", number).into();
        if let Some(known) = self.by_name(&self.present) {
            let mut revision = Rc::clone(known);
            Rc::make_mut(&mut revision).fields.insert("revision".into(), number.into());
            let action = request(Verb::Update(Object::Generic(Kind::ControllerRevision, revision)));
            script.send(facts.with(note!("PUT controllerrevisions/{}", &self.present)), vec![(action, Purpose::Plain)]);
            return;
        }
        let revision = revision_of(meta, kind, template, (self.present.clone(), &self.hash, number));
        let action = request(Verb::Create(Object::Generic(Kind::ControllerRevision, Rc::new(revision))));
        script.send(facts.with(note!("POST controllerrevisions/{}", &self.present)), vec![(action, Purpose::Plain)]);
    }

    /// Deletes the oldest revisions that nothing uses, beyond the limit (`truncateHistory`).
    pub fn truncate(&self, script: &mut Script, limit: i32, is_live: impl Fn(&str) -> bool) {
        let limit = usize::try_from(limit).unwrap_or(0);
        if self.all.len() <= limit {
            return;
        }
        let idle: Vec<&Rc<Generic>> = self.all.iter().filter(|it| !is_live(&it.metadata.name)).collect();
        for revision in idle.iter().take(idle.len().saturating_sub(limit)) {
            let meta = &revision.metadata;
            let key = ObjectKey::new(Kind::ControllerRevision, meta.namespace.clone(), meta.name.clone());
            let options = DeleteOptions { uid: Some(meta.uid), ..DeleteOptions::default() };
            let facts: Facts = note!("delete an old revision").into();
            let facts = facts.with(note!("DELETE controllerrevisions/{}", &meta.name));
            script.send(facts, vec![(request(Verb::Delete(key, options)), Purpose::Plain)]);
        }
    }
}
