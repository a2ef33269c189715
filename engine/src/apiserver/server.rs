use std::rc::Rc;

use serde_json::Value;

use super::{
    Answer, ApiError, Change, ChangeKind, DeleteOptions, Effect, EventLog, Objects, Reason, Request, Verb, WatchLog,
    admit_pod, apply_defaults, merge_patch, select_pods_of_job, three_way, validate_create, validate_update,
};
use crate::api::{Condition, Kind, Name, Object, ObjectKey, PodSpec, Timestamp, Uid, set_condition};
use crate::sim::{Random, Seq, Time};

/// The annotation in which `kubectl apply` remembers what it applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
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
}

/// The store and the rules by which it changes. Nothing else changes an object.
#[derive(Clone, Debug, Default)]
pub struct ApiServer {
    objects: Objects,
    version: u64,
    log: WatchLog,
    pub events: EventLog,
    /// More pods than this are refused, to keep a page responsive; no limit where none is set.
    pub max_pods: Option<usize>,
}

impl ApiServer {
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The resourceVersion of the newest write.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The write of a version; nothing where the log no longer reaches back (410 Gone).
    pub fn change(&self, version: u64) -> Option<&Change> {
        self.log.get(version)
    }

    /// Carries out a request, or refuses it whole.
    ///
    /// # Errors
    /// Kubernetes' own reason and message.
    pub fn execute(&mut self, request: &Request, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        match &request.verb {
            Verb::Create(object) => self.create(object.clone(), moment),
            Verb::Update(object) => self.update(object.clone(), moment),
            Verb::UpdateStatus(object) => self.update_status(object.clone(), moment),
            Verb::Scale(key, replicas) => self.scale(key, *replicas, moment),
            Verb::Bind(key, node) => self.bind(key, node, moment),
            Verb::Patch(key, patch) => self.patch(key, patch, moment),
            Verb::Apply(kind, namespace, value) => self.apply(*kind, namespace, value, moment),
            Verb::Delete(key, options) => self.delete(key, *options, moment),
        }
    }

    fn live(&self, key: &ObjectKey) -> Result<&Object, ApiError> {
        self.objects.get(key).ok_or_else(|| ApiError::not_found(key))
    }

    fn create(&mut self, mut object: Object, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let kind = object.kind();
        if object.meta().name.is_empty() && !object.meta().generate_name.is_empty() {
            let suffix: String = (0..5)
                .map(|_| char::from(NAME_LETTERS[moment.random.below("names", NAME_LETTERS.len() as u64) as usize]))
                .collect();
            let name = format!("{}{suffix}", object.meta().generate_name);
            object.meta_mut().name = name.into();
        }
        self.admit_namespace(kind, &object.meta().namespace)?;
        drop_status(&mut object);
        apply_defaults(&mut object);
        if let Object::Pod(pod) = &mut object {
            admit_pod(Rc::make_mut(pod));
        }
        ApiError::invalid(kind, &object.meta().name, validate_create(&object))?;
        self.admit_size(&object)?;
        let key = object.key();
        if self.objects.get(&key).is_some() {
            return Err(ApiError::already_exists(&key));
        }
        let uid = moment.random.bits128("uids") & !(0xf << 76 | 0xc << 60) | 0x4 << 76 | 0x8 << 60;
        let meta = object.meta_mut();
        meta.uid = Uid(uid);
        meta.creation_timestamp = Some(moment.wall);
        meta.deletion_timestamp = None;
        meta.generation = i64::from(kind != Kind::Node && kind != Kind::Lease);
        if let Object::Job(job) = &mut object {
            select_pods_of_job(Rc::make_mut(job));
        }
        if let Object::Pod(pod) = &mut object {
            let status = &mut Rc::make_mut(pod).status;
            status.phase = "Pending".into();
        }
        let object = self.write(ChangeKind::Added, object, moment);
        Ok(Answer { object, outcome: Effect::Created })
    }

    /// A namespace must exist, and its absence from a namespaced object means a mistake of the caller.
    fn admit_namespace(&self, kind: Kind, namespace: &Name) -> Result<(), ApiError> {
        if !kind.is_namespaced() {
            return Ok(());
        }
        let key = ObjectKey::new(Kind::Namespace, Name::default(), namespace.clone());
        if self.objects.get(&key).is_some() { Ok(()) } else { Err(ApiError::not_found(&key)) }
    }

    fn admit_size(&self, object: &Object) -> Result<(), ApiError> {
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

    fn update(&mut self, mut object: Object, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let key = object.key();
        let old = self.live(&key)?.clone();
        self.check_version(&key, &object, &old)?;
        apply_defaults(&mut object);
        keep_status(&mut object, &old);
        keep_system_fields(&mut object, &old);
        ApiError::invalid(key.kind, &key.name, validate_update(&old, &object))?;
        self.admit_size(&object)?;
        if object == old {
            return Ok(Answer { object: old, outcome: Effect::Unchanged });
        }
        if spec_differs(&object, &old) {
            object.meta_mut().generation += 1;
        }
        self.finish_write(object, moment)
    }

    /// Writes an object; one whose last finalizer went while it was being deleted goes with it.
    fn finish_write(&mut self, object: Object, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let meta = object.meta();
        if meta.deletion_timestamp.is_some()
            && meta.finalizers.is_empty()
            && meta.deletion_grace_period_seconds.unwrap_or(0) == 0
        {
            return Ok(self.remove(object, moment));
        }
        let object = self.write(ChangeKind::Modified, object, moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn update_status(&mut self, object: Object, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let key = object.key();
        let old = self.live(&key)?.clone();
        self.check_version(&key, &object, &old)?;
        let mut new = old.clone();
        keep_status(&mut new, &object);
        if let (Object::Pod(new), Object::Pod(given)) = (&mut new, &object)
            && new.metadata.uid != given.metadata.uid
        {
            return Err(ApiError::conflict(&key));
        }
        if key.kind == Kind::Deployment {
            // The revision annotation travels with the status update, as in the real controller.
            let annotations = object.meta().annotations.clone();
            new.meta_mut().annotations = annotations;
        }
        if new == old {
            return Ok(Answer { object: old, outcome: Effect::Unchanged });
        }
        let object = self.write(ChangeKind::Modified, new, moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn check_version(&self, key: &ObjectKey, given: &Object, live: &Object) -> Result<(), ApiError> {
        let version = given.meta().resource_version;
        if version == 0 || version == live.meta().resource_version { Ok(()) } else { Err(ApiError::conflict(key)) }
    }

    fn scale(&mut self, key: &ObjectKey, replicas: i32, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let mut object = self.live(key)?.clone();
        object.meta_mut().resource_version = 0;
        match &mut object {
            Object::Deployment(it) => Rc::make_mut(it).spec.replicas = Some(replicas),
            Object::ReplicaSet(it) => Rc::make_mut(it).spec.replicas = Some(replicas),
            Object::StatefulSet(it) => Rc::make_mut(it).spec.replicas = Some(replicas),
            _ => return Err(ApiError::not_found(key)),
        }
        self.update(object, moment)
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
        let spec: &mut PodSpec = Rc::make_mut(&mut bound.spec);
        spec.node_name = node.clone();
        set_condition(&mut bound.status.conditions, Condition::new("PodScheduled", true), moment.wall);
        let object = self.write(ChangeKind::Modified, Object::Pod(pod), moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn patch(&mut self, key: &ObjectKey, patch: &Value, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let live = self.live(key)?;
        let mut merged = live.to_value();
        merge_patch(&mut merged, patch);
        let mut object = decode(key.kind, merged)?;
        if patch.pointer("/metadata/resourceVersion").is_none() {
            object.meta_mut().resource_version = 0;
        }
        self.update(object, moment)
    }

    fn apply(
        &mut self,
        kind: Kind,
        namespace: &Name,
        value: &Value,
        moment: &mut Moment<'_>,
    ) -> Result<Answer, ApiError> {
        let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let key = ObjectKey::new(kind, namespace.clone(), name);
        let applied = value.to_string();
        let Some(live) = self.objects.get(&key) else {
            let mut object = decode(kind, value.clone())?;
            object.meta_mut().namespace = namespace.clone();
            object.meta_mut().annotations.insert(LAST_APPLIED.into(), applied);
            return self.create(object, moment);
        };
        let last = live.meta().annotations.get(LAST_APPLIED).and_then(|text| serde_json::from_str::<Value>(text).ok());
        let merged = three_way(last.as_ref(), &live.to_value(), value);
        let mut object = decode(kind, merged)?;
        let meta = object.meta_mut();
        meta.namespace = namespace.clone();
        meta.resource_version = 0;
        meta.annotations.insert(LAST_APPLIED.into(), applied);
        self.update(object, moment)
    }

    fn delete(&mut self, key: &ObjectKey, options: DeleteOptions, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let mut object = self.live(key)?.clone();
        if let Some(uid) = options.uid
            && uid != object.meta().uid
        {
            let message = format!(
                "Operation cannot be fulfilled on {} \"{}\": the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                key.kind.qualified_plural(),
                key.name,
                object.meta().uid
            );
            return Err(ApiError::new(Reason::Conflict, message));
        }
        let grace = grace_seconds(&object, options);
        let terminating = object.meta().deletion_timestamp.is_some();
        let meta = object.meta_mut();
        if grace == 0 && meta.finalizers.is_empty() {
            if terminating && meta.deletion_grace_period_seconds != Some(0) {
                // The last step of a graceful deletion shows as a change of its own before the object goes.
                meta.deletion_timestamp = Some(moment.wall);
                meta.deletion_grace_period_seconds = Some(0);
                object = self.write(ChangeKind::Modified, object, moment);
            }
            return Ok(self.remove(object, moment));
        }
        if terminating && meta.deletion_grace_period_seconds.unwrap_or(0) <= grace {
            return Ok(Answer { object, outcome: Effect::Unchanged });
        }
        meta.deletion_timestamp = Some(Timestamp(moment.wall.0 + grace));
        meta.deletion_grace_period_seconds = Some(grace);
        if !terminating && meta.generation > 0 {
            meta.generation += 1;
        }
        let object = self.write(ChangeKind::Modified, object, moment);
        Ok(Answer { object, outcome: Effect::Deleting })
    }

    fn write(&mut self, kind: ChangeKind, mut object: Object, moment: &Moment<'_>) -> Object {
        self.version += 1;
        object.meta_mut().resource_version = self.version;
        let old = self.objects.insert(object.clone());
        let change =
            Change { version: self.version, kind, object: object.clone(), old, at: moment.now, cause: moment.cause };
        self.log.push(change);
        object
    }

    fn remove(&mut self, mut object: Object, moment: &Moment<'_>) -> Answer {
        self.version += 1;
        let old = self.objects.remove(&object.key());
        object.meta_mut().resource_version = self.version;
        let change = Change {
            version: self.version,
            kind: ChangeKind::Deleted,
            object: object.clone(),
            old,
            at: moment.now,
            cause: moment.cause,
        };
        self.log.push(change);
        Answer { object, outcome: Effect::Deleted }
    }
}

fn decode(kind: Kind, value: Value) -> Result<Object, ApiError> {
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

/// The grace of a deletion (`pod strategy CheckGracefulDelete`, registry/core/pod v1.36): only pods have one,
/// and only while something of theirs may still run.
fn grace_seconds(object: &Object, options: DeleteOptions) -> i64 {
    let Object::Pod(pod) = object else { return 0 };
    if !pod.is_assigned() || pod.is_finished() {
        return 0;
    }
    options.grace_seconds.unwrap_or_else(|| pod.spec.grace_seconds()).max(0)
}

fn keep_status(object: &mut Object, from: &Object) {
    match (object, from) {
        (Object::Deployment(it), Object::Deployment(from)) => Rc::make_mut(it).status = from.status.clone(),
        (Object::ReplicaSet(it), Object::ReplicaSet(from)) => Rc::make_mut(it).status = from.status.clone(),
        (Object::Pod(it), Object::Pod(from)) => Rc::make_mut(it).status = from.status.clone(),
        (Object::Node(it), Object::Node(from)) => Rc::make_mut(it).status = from.status.clone(),
        (Object::StatefulSet(it), Object::StatefulSet(from)) => Rc::make_mut(it).status = from.status.clone(),
        (Object::DaemonSet(it), Object::DaemonSet(from)) => Rc::make_mut(it).status = from.status.clone(),
        (Object::Job(it), Object::Job(from)) => Rc::make_mut(it).status = from.status.clone(),
        _ => {}
    }
}

/// What a manifest says of a status is not for its author to say; nodes report theirs as they join.
fn drop_status(object: &mut Object) {
    match object {
        Object::Deployment(it) if it.status != Default::default() => Rc::make_mut(it).status = Default::default(),
        Object::ReplicaSet(it) if it.status != Default::default() => Rc::make_mut(it).status = Default::default(),
        Object::Pod(it) if it.status != Default::default() => Rc::make_mut(it).status = Default::default(),
        Object::StatefulSet(it) => Rc::make_mut(it).status = Default::default(),
        Object::DaemonSet(it) => Rc::make_mut(it).status = Default::default(),
        Object::Job(it) => Rc::make_mut(it).status = Default::default(),
        _ => {}
    }
}

/// Fields of the metadata that callers cannot change.
fn keep_system_fields(object: &mut Object, old: &Object) {
    let old = old.meta();
    let meta = object.meta_mut();
    meta.uid = old.uid;
    meta.creation_timestamp = old.creation_timestamp;
    meta.deletion_timestamp = old.deletion_timestamp;
    meta.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
    meta.generation = old.generation;
    meta.resource_version = old.resource_version;
}

fn spec_differs(object: &Object, old: &Object) -> bool {
    match (object, old) {
        (Object::Deployment(it), Object::Deployment(old)) => it.spec != old.spec,
        (Object::ReplicaSet(it), Object::ReplicaSet(old)) => it.spec != old.spec,
        (Object::Pod(it), Object::Pod(old)) => it.spec != old.spec,
        (Object::StatefulSet(it), Object::StatefulSet(old)) => it.spec != old.spec,
        (Object::DaemonSet(it), Object::DaemonSet(old)) => it.spec != old.spec,
        (Object::Job(it), Object::Job(old)) => it.spec != old.spec,
        (Object::EndpointSlice(it), Object::EndpointSlice(old)) => {
            it.endpoints != old.endpoints || it.ports != old.ports
        }
        (Object::Generic(_, it), Object::Generic(_, old)) => it.fields.get("spec") != old.fields.get("spec"),
        _ => false,
    }
}
