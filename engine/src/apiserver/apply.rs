//! `kubectl apply`, client-side and server-side, as the API server carries it out; and the managers of what it creates.

use std::rc::Rc;

use serde_json::Value;

use super::fields::{Difference, Fields, difference};
use super::managers::{Write, applying, settled, spec_changes, updated};
use super::request::applied_key;
use super::restore::placed;
use super::server::decode;
use super::server_side::{merged, pruned};
use super::strategy::keep_uid;
use super::{
    Answer, ApiError, ApiServer, Effect, FieldLog, FieldWrite, LAST_APPLIED, Moment, apply_defaults, configuration,
    three_way,
};
use crate::api::{FieldSet, Kind, Managed, ManagedEntry, ManagerId, Name, Object, Pod};

/// The manager under which kubectl applies by the server.
const KUBECTL: &str = "kubectl";
const ANNOTATIONS: &str = "f:metadata\u{1}f:annotations";

/// The object that is applied: what is sent has a namespace, means the live object where it names a UID, and the newest
/// version where it names none.
fn addressed(sent: Value, live: &Object, value: &Value, namespace: &Name) -> Result<Object, ApiError> {
    let mut object = decode(live.kind(), sent)?;
    keep_uid(&object, live)?;
    let meta = object.meta_mut();
    meta.namespace = namespace.clone();
    if value.pointer("/metadata/resourceVersion").is_none() {
        meta.resource_version = 0;
    }
    Ok(object)
}

impl ApiServer {
    pub(super) fn apply(
        &mut self,
        kind: Kind,
        namespace: &Name,
        value: &Value,
        by: ManagerId,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        match self.applied(kind, namespace, value)? {
            (object, true) => self.update(object, by, moment),
            (object, false) => self.create(object, by, moment),
        }
    }

    /// The object that `kubectl apply` sends, and whether it is there already.
    pub(super) fn applied(&self, kind: Kind, namespace: &Name, value: &Value) -> Result<(Object, bool), ApiError> {
        let key = applied_key(kind, namespace, value);
        let new = configuration(value, namespace);
        let applied = format!("{new}\n");
        let Some(live) = self.objects.get(&key) else {
            let mut object = decode(kind, new)?;
            object.meta_mut().namespace = namespace.clone();
            object.meta_mut().annotations.insert(LAST_APPLIED.into(), applied);
            return Ok((object, false));
        };
        let last = live.meta().annotations.get(LAST_APPLIED);
        let last = last.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let merged = three_way(last.as_ref(), &live.to_value(), &new);
        let mut object = addressed(merged, live, value, namespace)?;
        object.meta_mut().annotations.insert(LAST_APPLIED.into(), applied);
        Ok((object, true))
    }

    /// Server-side apply: creates the object, or merges what is applied into it.
    pub(super) fn server_side_apply(
        &mut self,
        kind: Kind,
        namespace: &Name,
        value: &Value,
        force: bool,
        manager: &'static str,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let by = ManagerId { manager, operation: "Apply", subresource: "" };
        let write = Write { by, api_version: kind.api_version(), now: moment.wall };
        let key = applied_key(kind, namespace, value);
        let applied = placed(value, namespace);
        let set = Fields::applied(kind, &applied).set();
        let Some(live) = self.objects.get(&key).cloned() else {
            let mut object = decode(kind, applied)?;
            let meta = object.meta_mut();
            meta.namespace = namespace.clone();
            let time = Some(write.now);
            meta.managed = Managed::new(vec![ManagedEntry { by, api_version: write.api_version, time, fields: set }]);
            return self.create(object, by, moment);
        };
        let before = live.to_value();
        let theirs = applying(&live, set, write);
        let mut after = merged(kind, &before, &applied);
        pruned(kind, &mut after, &theirs.before, &theirs.kept);
        let change = difference(&Fields::of(kind, &before), &Fields::of(kind, &after));
        let own = if manager == KUBECTL { unchanged_since(&live, &before) } else { FieldSet::default() };
        let managed = settled(&theirs.managed, &change, write, force, &|path| own.has(path))?;
        let mut object = addressed(after, &live, value, namespace)?;
        let meta = object.meta_mut();
        if manager == KUBECTL && meta.annotations.contains_key(LAST_APPLIED) {
            meta.annotations.insert(LAST_APPLIED.into(), remembered(&applied));
        }
        let mut object = self.updated(&key, object, &live)?;
        if object == live && managed.is_as_but_for_times(&live.meta().managed) {
            return Ok(Answer { object: live, outcome: Effect::Unchanged });
        }
        self.note_fields(&live, &object, by, moment);
        object.meta_mut().managed = managed;
        self.finish_write(key, object, moment)
    }

    /// The managers of a new object. A pod's is looked at as it came, before admission added to it; `pod` is that.
    pub(super) fn managers_of_new(&mut self, object: &Object, pod: Option<&Pod>, write: Write) -> Managed {
        let Some(pod) = pod else { return updated(None, object, None, write, &mut self.memo) };
        if let Some(known) = self.memo.made(pod, &write) {
            return known;
        }
        let mut given = Object::Pod(Rc::new(pod.clone()));
        given.meta_mut().managed = Managed::default();
        apply_defaults(&mut given);
        enable_service_links(&mut given);
        let managed = updated(None, &given, None, write, &mut self.memo);
        self.memo.keep_made(pod, &write, &managed);
        managed
    }

    /// Notes which fields a write changes, where people may ask who changes them, and tells how the two differ.
    pub(super) fn note_fields(
        &mut self,
        old: &Object,
        new: &Object,
        by: ManagerId,
        moment: &Moment<'_>,
    ) -> Option<Difference> {
        if !FieldLog::covers(new.kind()) {
            return None;
        }
        let key = new.key();
        let (difference, told) = spec_changes(old, new);
        // What programs keep for themselves in annotations nobody fights over.
        let told = told.into_iter().filter(|(path, ..)| !path.starts_with(ANNOTATIONS));
        for (path, from, to) in told {
            let (key, at, seq) = (key.clone(), moment.now, moment.cause);
            self.writes.note(FieldWrite { key, path, by, at, seq, from, to });
        }
        Some(difference)
    }
}

/// A default of pods alone, which belongs to whom the pod came from.
fn enable_service_links(object: &mut Object) {
    if let Object::Pod(pod) = object {
        let spec = Rc::make_mut(&mut Rc::make_mut(pod).spec);
        spec.extra.or_insert_with("enableServiceLinks", || Value::Bool(true));
    }
}

/// What a client-side apply said last and is so still: kubectl may take it without force (`lastappliedmanager.go`).
fn unchanged_since(live: &Object, value: &Value) -> FieldSet {
    let text = live.meta().annotations.get(LAST_APPLIED).map_or("", String::as_str);
    let Ok(last) = serde_json::from_str::<Value>(text) else { return FieldSet::default() };
    if last.get("apiVersion").and_then(Value::as_str) != Some(live.kind().api_version()) {
        return FieldSet::default();
    }
    let (last, now) = (Fields::applied(live.kind(), &last), Fields::of(live.kind(), value));
    let change = difference(&last, &now);
    last.set().without(&change.taken).without(&change.removed)
}

/// What the annotation of client-side applies says after a server-side one (`lastappliedupdater.go`).
fn remembered(applied: &Value) -> String {
    let mut applied = applied.clone();
    let annotations = applied.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.remove(LAST_APPLIED);
    }
    [&applied.to_string(), "\n"].concat()
}
