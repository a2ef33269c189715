use std::rc::Rc;

use serde_json::Value;

use super::deletion::is_released;
use super::json_patch::json_patch;
use super::managers::{Write, updated};
use super::memo::Memo;
use super::strategic::strategic_patch;
use super::strategy::{
    check_uid, drop_status, first_status, has_generation, keep_status, keep_system_fields, keep_uid, number_template,
    show_managers, spec_differs,
};
use super::templates::{Bound, Prepared};
use super::{
    Answer, ApiError, Change, ChangeKind, Effect, EventLog, FieldLog, Indexes, Objects, PatchType, Reason, Request,
    Verb, WatchLog, admit_pod, apply_defaults, merge_patch, read_managed_fields, select_pods_of_job, validate_create,
    validate_meta, validate_update,
};
use crate::api::{Condition, Kind, Managed, ManagerId, Name, Object, ObjectKey, Pod, Timestamp, Uid, set_condition};
use crate::sim::{Millis, Random, Seq, Time};

/// Labels of a node that its pods take over.
const TOPOLOGY_LABELS: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];
/// How many templates a DaemonSet has had.
pub const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// The annotation in which `kubectl apply` remembers what it applied.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The letters of generated names (`apimachinery/pkg/util/rand`, v1.36): no vowels, nothing easily confused.
const NAME_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Spells bytes in the letters of generated names (`rand.SafeEncodeString`, v1.36).
pub fn safe_encode(text: &str) -> String {
    text.bytes().map(|byte| char::from(NAME_LETTERS[usize::from(byte) % NAME_LETTERS.len()])).collect()
}

/// The circumstances of a request.
pub struct Moment<'a> {
    pub now: Time,
    /// The same instant as the API writes it.
    pub wall: Timestamp,
    /// The trace event of the write that is about to happen.
    pub cause: Seq,
    pub random: &'a mut Random,
    /// The identity of an object that is created; drawn where none is given.
    pub uid: Option<Uid>,
}

/// The store and the rules by which it changes. Nothing else changes an object.
#[derive(Clone, Debug, Default)]
pub struct ApiServer {
    pub(super) objects: Objects,
    pub(super) version: u64,
    log: WatchLog,
    pub(super) writes: FieldLog,
    pub(super) memo: Memo,
    pub events: EventLog,
    pub(super) prepared: Option<Prepared>,
    bound: Bound,
    /// So long after a write every watcher has heard of it; unknown where none is given.
    pub watch_lag: Option<Millis>,
    /// More pods than this are refused, to keep a page responsive; no limit where none is set.
    pub max_pods: Option<usize>,
}

impl ApiServer {
    /// Nobody asks the store for pods by their labels: controllers ask their caches.
    pub fn new() -> Self {
        Self { objects: Objects::indexed(Indexes::Owners), ..Self::default() }
    }

    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The resourceVersion of the newest write.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The write of a version; nothing where the log no longer reaches back (410 Gone).
    pub fn change(&self, version: u64) -> Option<&Rc<Change>> {
        self.log.get(version)
    }

    /// Which fields changed hands of late.
    pub fn writes(&self) -> &FieldLog {
        &self.writes
    }

    /// Carries out a request, or refuses it whole.
    ///
    /// # Errors
    /// Kubernetes' own reason and message.
    pub fn execute(&mut self, request: &Request, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let by = ManagerId { manager: request.manager, operation: "Update", subresource: "" };
        match &request.verb {
            Verb::Create(object) => self.create(object.clone(), by, moment),
            Verb::Update(object) => self.update(object.clone(), by, moment),
            Verb::UpdateStatus(object) => {
                self.update_status(object.clone(), ManagerId { subresource: "status", ..by }, moment)
            }
            Verb::Scale(key, replicas) => self.scale(key, *replicas, ManagerId { subresource: "scale", ..by }, moment),
            Verb::Bind(key, node) => self.bind(key, node, moment),
            Verb::Patch(key, kind, patch) => self.patch(key, *kind, patch, by, moment),
            Verb::Apply(kind, namespace, value) => self.apply(*kind, namespace, value, by, moment),
            Verb::ServerSideApply(kind, namespace, value, force) => {
                self.server_side_apply(*kind, namespace, value, *force, request.manager, moment)
            }
            Verb::Delete(key, options) => self.delete(key, *options, moment),
            Verb::Evict(key, options) => self.evict(key, *options, moment),
            Verb::Finalize(key) => self.finalize(key, moment),
        }
    }

    pub(super) fn live(&self, key: &ObjectKey) -> Result<&Object, ApiError> {
        self.objects.get(key).ok_or_else(|| ApiError::not_found(key))
    }

    pub(super) fn create(
        &mut self,
        mut object: Object,
        by: ManagerId,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        if object.meta().name.is_empty() && !object.meta().generate_name.is_empty() {
            let suffix: String = (0..5)
                .map(|_| char::from(NAME_LETTERS[moment.random.below("names", NAME_LETTERS.len() as u64) as usize]))
                .collect();
            let name = format!("{}{suffix}", object.meta().generate_name);
            object.meta_mut().name = name.into();
        }
        let key = object.key();
        self.admit_namespace(&key)?;
        drop_status(&mut object);
        let write = Write { by, api_version: key.kind.api_version(), now: moment.wall };
        let of_pod = object.as_pod().map(Rc::clone);
        self.prepare(&key, &mut object)?;
        self.admit_size(&object)?;
        if let Some(known) = self.objects.get(&key) {
            let mut error = ApiError::already_exists(&key);
            if known.meta().deletion_timestamp.is_some() {
                error.message = format!("object is being deleted: {}", error.message);
            }
            return Err(error);
        }
        if let Object::Pod(pod) = &object {
            self.admit_one_more(&key)?;
            self.admit_quota(&key, pod, moment)?;
        }
        let drawn = || Uid(moment.random.bits128("uids") & !(0xf << 76 | 0xc << 60) | 0x4 << 76 | 0x8 << 60);
        let uid = moment.uid.unwrap_or_else(drawn);
        let meta = object.meta_mut();
        meta.uid = uid;
        meta.creation_timestamp = Some(moment.wall);
        meta.deletion_timestamp = None;
        meta.generation = i64::from(has_generation(key.kind));
        number_template(&mut object, None);
        if !by.is_apply() {
            let managed = self.managers_of_new(&object, of_pod.as_deref(), write);
            object.meta_mut().managed = managed;
        }
        if let Object::Job(job) = &mut object {
            select_pods_of_job(Rc::make_mut(job));
        }
        self.give_addresses(&mut object, None);
        first_status(&mut object);
        let object = self.write_at(key, ChangeKind::Added, object, moment);
        Ok(Answer { object, outcome: Effect::Created })
    }

    /// Fills in and checks a new object. Of the pods of one template only the first has its spec looked at.
    fn prepare(&mut self, key: &ObjectKey, object: &mut Object) -> Result<(), ApiError> {
        let given = object.as_pod().map(|pod| Rc::clone(&pod.spec));
        if let (Object::Pod(pod), Some(known), Some(given)) = (&mut *object, &self.prepared, &given)
            && Rc::ptr_eq(&known.given, given)
        {
            let pod = Rc::make_mut(pod);
            pod.spec = Rc::clone(&known.spec);
            pod.status.qos_class = known.qos_class.clone();
            return ApiError::invalid(key.kind, &key.name, validate_meta(object));
        }
        self.fill_in(key, object)?;
        if let (Object::Pod(pod), Some(given)) = (&*object, given) {
            let (spec, qos_class) = (Rc::clone(&pod.spec), pod.status.qos_class.clone());
            self.prepared = Some(Prepared { given, spec, qos_class });
        }
        Ok(())
    }

    pub(super) fn fill_in(&self, key: &ObjectKey, object: &mut Object) -> Result<(), ApiError> {
        apply_defaults(object);
        if let Object::Pod(pod) = object {
            self.admit_priority(key, pod)?;
            admit_pod(Rc::make_mut(pod));
        }
        ApiError::invalid(key.kind, &key.name, validate_create(object))
    }

    /// What admission makes of a spec depends on the priority classes.
    fn forget_prepared(&mut self, written: Kind) {
        if written == Kind::PriorityClass {
            self.prepared = None;
        }
    }

    /// Sizes are looked at as they are asked for; but a controller that does not wait for its cache may make more and more.
    fn admit_one_more(&self, key: &ObjectKey) -> Result<(), ApiError> {
        match self.max_pods.map(|most| most.saturating_mul(2)) {
            Some(most) if self.objects.n_pods() >= most => {
                Err(ApiError::forbidden(key, format_args!("this simulation takes at most {most} pods in all")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn admit_size(&self, object: &Object) -> Result<(), ApiError> {
        let Some(limit) = self.max_pods else { return Ok(()) };
        let wanted = match object {
            Object::Deployment(it) => it.spec.wanted(),
            Object::ReplicaSet(it) => it.spec.wanted(),
            Object::StatefulSet(it) => it.spec.replicas.unwrap_or(1),
            _ => 0,
        };
        if usize::try_from(wanted).unwrap_or(0) <= limit {
            return Ok(());
        }
        let field = super::FieldError {
            path: "spec.replicas".into(),
            message: format!("Forbidden: {wanted} replicas are more than the {limit} pods that this simulation takes"),
        };
        ApiError::invalid(object.kind(), &object.meta().name, vec![field])
    }

    pub(super) fn update(
        &mut self,
        object: Object,
        by: ManagerId,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        self.update_from(object, None, by, moment)
    }

    /// As [`ApiServer::update`], where a patch may have changed the managers themselves.
    fn update_from(
        &mut self,
        object: Object,
        managed: Option<Managed>,
        by: ManagerId,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let key = object.key();
        let (key, old) = self.objects.entry(&key).ok_or_else(|| ApiError::not_found(&key))?;
        let (key, mut old) = (key.clone(), old.clone());
        let mut object = self.updated(&key, object, &old)?;
        let known = managed.unwrap_or_else(|| old.meta().managed.clone());
        let is_same = object == old;
        if is_same && known.is_as(&old.meta().managed) {
            return Ok(Answer { object: old, outcome: Effect::Unchanged });
        }
        object.meta_mut().managed = if is_same {
            known
        } else {
            if !known.is_same(&old.meta().managed) {
                old.meta_mut().managed = known;
            }
            let write = Write { by, api_version: key.kind.api_version(), now: moment.wall };
            let seen = self.note_fields(&old, &object, by, moment);
            updated(Some(&old), &object, seen, write, &mut self.memo)
        };
        self.finish_write(key, object, moment)
    }

    /// The object as an update would store it.
    pub(super) fn updated(&self, key: &ObjectKey, mut object: Object, old: &Object) -> Result<Object, ApiError> {
        self.check_version(key, &object, old)?;
        check_uid(key, &object, old)?;
        apply_defaults(&mut object);
        keep_status(&mut object, old);
        keep_system_fields(&mut object, old);
        self.give_addresses(&mut object, Some(old));
        number_template(&mut object, Some(old));
        ApiError::invalid(key.kind, &key.name, validate_update(old, &object))?;
        self.admit_size(&object)?;
        if spec_differs(&object, old) {
            let meta = object.meta_mut();
            meta.generation = meta.generation.saturating_add(1);
        }
        Ok(object)
    }

    /// Writes an object; one whose last finalizer went while it was being deleted goes with it.
    pub(super) fn finish_write(
        &mut self,
        key: ObjectKey,
        object: Object,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        if is_released(&object) {
            return Ok(self.remove(object, moment));
        }
        let object = self.write_at(key, ChangeKind::Modified, object, moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn update_status(&mut self, object: Object, by: ManagerId, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let key = object.key();
        let (key, old) = self.objects.entry(&key).ok_or_else(|| ApiError::not_found(&key))?;
        let (key, old) = (key.clone(), old.clone());
        self.check_version(&key, &object, &old)?;
        let new = match (&old, &object) {
            (Object::Pod(old), Object::Pod(given)) if old.metadata.uid != given.metadata.uid => {
                return Err(ApiError::conflict(&key));
            }
            // Pods are written most of all: what is replaced is not copied first.
            (Object::Pod(old), Object::Pod(given)) if old.status != given.status => {
                let (metadata, spec) = (old.metadata.clone(), Rc::clone(&old.spec));
                let (status, extra) = (given.status.clone(), old.extra.clone());
                Some(Object::Pod(Rc::new(Pod { metadata, spec, status, extra })))
            }
            (Object::Pod(_), _) => None,
            _ => {
                let mut new = old.clone();
                keep_status(&mut new, &object);
                if key.kind == Kind::Deployment {
                    // The revision annotation travels with the status update, as in the real controller.
                    let annotations = object.meta().annotations.clone();
                    new.meta_mut().annotations = annotations;
                }
                (new != old).then_some(new)
            }
        };
        let Some(mut new) = new else { return Ok(Answer { object: old, outcome: Effect::Unchanged }) };
        let write = Write { by, api_version: key.kind.api_version(), now: moment.wall };
        let managed = updated(Some(&old), &new, None, write, &mut self.memo);
        new.meta_mut().managed = managed;
        let object = self.write_at(key, ChangeKind::Modified, new, moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn check_version(&self, key: &ObjectKey, given: &Object, live: &Object) -> Result<(), ApiError> {
        let version = given.meta().resource_version;
        if version == 0 || version == live.meta().resource_version { Ok(()) } else { Err(ApiError::conflict(key)) }
    }

    fn scale(
        &mut self,
        key: &ObjectKey,
        replicas: i32,
        by: ManagerId,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let mut object = self.live(key)?.clone();
        object.meta_mut().resource_version = 0;
        match &mut object {
            Object::Deployment(it) => Rc::make_mut(it).spec.replicas = Some(replicas),
            Object::ReplicaSet(it) => Rc::make_mut(it).spec.replicas = Some(replicas),
            Object::StatefulSet(it) => Rc::make_mut(it).spec.replicas = Some(replicas),
            _ => return Err(ApiError::not_found(key)),
        }
        self.update(object, by, moment)
    }

    fn bind(&mut self, key: &ObjectKey, node: &Name, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let Object::Pod(pod) = self.live(key)? else { return Err(ApiError::not_found(key)) };
        let mut pod = pod.clone();
        if pod.is_terminating() {
            let message = format!(
                "Operation cannot be fulfilled on pods/binding \"{}\": pod {} is being deleted, cannot be assigned to a host",
                key.name, key.name
            );
            return Err(ApiError::new(Reason::Conflict, message));
        }
        if pod.is_assigned() {
            let message = format!(
                "Operation cannot be fulfilled on pods/binding \"{}\": pod {} is already assigned to node \"{}\"",
                key.name, key.name, pod.spec.node_name
            );
            return Err(ApiError::new(Reason::Conflict, message));
        }
        let bound = Rc::make_mut(&mut pod);
        // Admission plugin PodTopologyLabels: a pod is told where it came to be.
        let place = self.objects.get(&ObjectKey::node(node.clone())).map(Object::meta);
        for label in TOPOLOGY_LABELS {
            if let Some(value) = place.and_then(|place| place.labels.get(label)) {
                bound.metadata.labels.insert(label.into(), value.clone());
            }
        }
        bound.spec = self.bound.spec(&bound.spec, node);
        bound.status.nominated_node_name = Name::default();
        set_condition(&mut bound.status.conditions, Condition::new("PodScheduled", true), moment.wall);
        let object = self.write_at(key.clone(), ChangeKind::Modified, Object::Pod(pod), moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn patch(
        &mut self,
        key: &ObjectKey,
        kind: PatchType,
        patch: &Value,
        by: ManagerId,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let live = self.live(key)?;
        let mut merged = live.to_value();
        let names_version = match kind {
            PatchType::Merge => {
                merge_patch(&mut merged, patch);
                patch.pointer("/metadata/resourceVersion").is_some()
            }
            PatchType::Strategic => {
                strategic_patch(&mut merged, patch)?;
                patch.pointer("/metadata/resourceVersion").is_some()
            }
            PatchType::Json => {
                let version = live.meta().resource_version;
                show_managers(live, &mut merged);
                json_patch(&mut merged, patch)?;
                merged.pointer("/metadata/resourceVersion") != Some(&Value::String(version.to_string()))
            }
        };
        let managed =
            merged.pointer_mut("/metadata").and_then(Value::as_object_mut).and_then(|it| it.remove("managedFields"));
        let managed = managed.map(|it| read_managed_fields(key.kind, &it));
        let mut object = decode(key.kind, merged)?;
        if object.key() != *key {
            let message = format!(
                "the name of the object ({}) does not match the name on the URL ({})",
                object.meta().name,
                key.name
            );
            return Err(ApiError::new(Reason::BadRequest, message));
        }
        keep_uid(&object, self.live(key)?)?;
        if !names_version {
            object.meta_mut().resource_version = 0;
        }
        self.update_from(object, managed, by, moment)
    }

    pub(super) fn write(&mut self, kind: ChangeKind, object: Object, moment: &Moment<'_>) -> Object {
        self.write_at(object.key(), kind, object, moment)
    }

    /// As [`ApiServer::write`], for whoever knows the key already.
    fn write_at(&mut self, key: ObjectKey, kind: ChangeKind, mut object: Object, moment: &Moment<'_>) -> Object {
        self.version += 1;
        object.meta_mut().resource_version = self.version;
        self.forget_prepared(key.kind);
        let old = self.objects.put(key.clone(), object.clone());
        let (at, cause) = (moment.now, moment.cause);
        self.log_write(Change { version: self.version, kind, key, object: object.clone(), old, at, cause });
        object
    }

    pub(super) fn remove(&mut self, mut object: Object, moment: &Moment<'_>) -> Answer {
        self.version += 1;
        let key = object.key();
        self.forget_prepared(key.kind);
        let old = self.objects.remove(&key);
        object.meta_mut().resource_version = self.version;
        let change = Change {
            version: self.version,
            kind: ChangeKind::Deleted,
            key,
            object: object.clone(),
            old,
            at: moment.now,
            cause: moment.cause,
        };
        self.log_write(change);
        Answer { object, outcome: Effect::Deleted }
    }

    /// What was written before this every watcher has heard of.
    fn heard(&self, now: Time) -> Time {
        self.watch_lag.map_or(Time(0), |lag| now - lag)
    }

    pub(super) fn log_write(&mut self, change: Change) {
        let heard = self.heard(change.at);
        self.log.push(change, heard);
    }

    /// The first write that watchers may not have heard of yet.
    pub fn unheard(&self, now: Time) -> u64 {
        self.log.first_unheard(self.heard(now)).unwrap_or(self.version + 1)
    }

    /// Keeps the writes from a version on for watchers that do not listen now, until told otherwise.
    pub fn hold(&mut self, from: Option<u64>) {
        self.log.hold(from);
    }

    /// Lets go of the writes that no watcher will ask for any more.
    pub fn forget_heard(&mut self, now: Time) {
        let heard = self.heard(now);
        self.log.forget(heard);
    }
}

pub(super) fn decode(kind: Kind, value: Value) -> Result<Object, ApiError> {
    Object::from_value(kind, value).map_err(|error| {
        let message = format!(
            "{} in version \"{}\" cannot be handled as a {}: {}: {}",
            kind.name(),
            kind.version(),
            kind.name(),
            error.path,
            error.message
        );
        let fields = vec![super::FieldError { path: error.path, message: error.message }];
        ApiError { reason: Reason::BadRequest, message, fields }
    })
}
