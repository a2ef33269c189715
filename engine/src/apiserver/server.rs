use std::rc::Rc;

use serde_json::Value;

use super::deletion::is_released;
use super::json_patch::json_patch;
use super::strategic::strategic_patch;
use super::templates::{Bound, Prepared};
use super::{
    Answer, ApiError, Change, ChangeKind, Effect, EventLog, FieldManagers, Indexes, ManagerId, Objects, PatchType,
    Reason, Request, Verb, WatchLog, admit_pod, apply_defaults, configuration, merge_patch, select_pods_of_job,
    three_way, validate_create, validate_meta, validate_update,
};
use crate::api::{Condition, Kind, Name, Object, ObjectKey, Pod, Timestamp, Uid, set_condition};
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
    managers: FieldManagers,
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

    /// Who set which field of an object last.
    pub fn managers(&self) -> &FieldManagers {
        &self.managers
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
            Verb::UpdateStatus(object) => self.update_status(object.clone(), moment),
            Verb::Scale(key, replicas) => self.scale(key, *replicas, ManagerId { subresource: "scale", ..by }, moment),
            Verb::Bind(key, node) => self.bind(key, node, moment),
            Verb::Patch(key, kind, patch) => self.patch(key, *kind, patch, by, moment),
            Verb::Apply(kind, namespace, value) => self.apply(*kind, namespace, value, by, moment),
            Verb::Delete(key, options) => self.delete(key, *options, moment),
            Verb::Evict(key, options) => self.evict(key, *options, moment),
            Verb::Finalize(key) => self.finalize(key, moment),
        }
    }

    pub(super) fn live(&self, key: &ObjectKey) -> Result<&Object, ApiError> {
        self.objects.get(key).ok_or_else(|| ApiError::not_found(key))
    }

    fn create(&mut self, mut object: Object, by: ManagerId, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
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
            self.admit_quota(&key, pod, moment)?;
        }
        let drawn = || Uid(moment.random.bits128("uids") & !(0xf << 76 | 0xc << 60) | 0x4 << 76 | 0x8 << 60);
        let uid = moment.uid.unwrap_or_else(drawn);
        let meta = object.meta_mut();
        meta.uid = uid;
        meta.creation_timestamp = Some(moment.wall);
        meta.deletion_timestamp = None;
        meta.generation = i64::from(has_generation(key.kind));
        if let Object::Job(job) = &mut object {
            select_pods_of_job(Rc::make_mut(job));
        }
        number_template(&mut object, None);
        first_status(&mut object);
        let object = self.write_at(key, ChangeKind::Added, object, moment);
        self.managers.wrote(by, None, &object, moment.wall);
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

    fn update(&mut self, object: Object, by: ManagerId, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        let key = object.key();
        let old = self.live(&key)?.clone();
        let object = self.updated(&key, object, &old)?;
        if object == old {
            return Ok(Answer { object: old, outcome: Effect::Unchanged });
        }
        self.managers.wrote(by, Some(&old), &object, moment.wall);
        self.finish_write(object, moment)
    }

    /// The object as an update would store it.
    pub(super) fn updated(&self, key: &ObjectKey, mut object: Object, old: &Object) -> Result<Object, ApiError> {
        self.check_version(key, &object, old)?;
        check_uid(key, &object, old)?;
        apply_defaults(&mut object);
        keep_status(&mut object, old);
        keep_system_fields(&mut object, old);
        number_template(&mut object, Some(old));
        ApiError::invalid(key.kind, &key.name, validate_update(old, &object))?;
        self.admit_size(&object)?;
        if spec_differs(&object, old) {
            object.meta_mut().generation += 1;
        }
        Ok(object)
    }

    /// Writes an object; one whose last finalizer went while it was being deleted goes with it.
    pub(super) fn finish_write(&mut self, object: Object, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
        if is_released(&object) {
            return Ok(self.remove(object, moment));
        }
        let object = self.write(ChangeKind::Modified, object, moment);
        Ok(Answer { object, outcome: Effect::Configured })
    }

    fn update_status(&mut self, object: Object, moment: &mut Moment<'_>) -> Result<Answer, ApiError> {
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
        let Some(new) = new else { return Ok(Answer { object: old, outcome: Effect::Unchanged }) };
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
                json_patch(&mut merged, patch)?;
                merged.pointer("/metadata/resourceVersion") != Some(&Value::String(version.to_string()))
            }
        };
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
        self.update(object, by, moment)
    }

    fn apply(
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
        let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let key = ObjectKey::new(kind, namespace.clone(), name);
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
        let mut object = decode(kind, merged)?;
        keep_uid(&object, live)?;
        let meta = object.meta_mut();
        meta.namespace = namespace.clone();
        if value.pointer("/metadata/resourceVersion").is_none() {
            meta.resource_version = 0;
        }
        meta.annotations.insert(LAST_APPLIED.into(), applied);
        Ok((object, true))
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
        self.managers.forget(&key);
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

    /// Lets go of the writes that no watcher will ask for any more.
    pub fn forget_heard(&mut self, now: Time) {
        let heard = self.heard(now);
        self.log.forget(heard);
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

macro_rules! same_kind {
    ($object:expr, $from:expr, $it:ident, $old:ident => $body:expr, [$($kind:ident)*]) => {
        match ($object, $from) {
            $((Object::$kind($it), Object::$kind($old)) => $body,)*
            _ => Default::default(),
        }
    };
}

fn keep_status(object: &mut Object, from: &Object) {
    same_kind!(object, from, it, old => if it.status != old.status {
        Rc::make_mut(it).status = old.status.clone();
    }, [
        Deployment ReplicaSet Pod Node StatefulSet DaemonSet Job PodDisruptionBudget ResourceQuota Namespace
    ]);
}

/// What a manifest says of a status is not for its author to say; nodes report theirs as they join.
pub(super) fn drop_status(object: &mut Object) {
    macro_rules! drop {
        ($($kind:ident)*) => {
            match object {
                $(Object::$kind(it) if it.status != Default::default() => Rc::make_mut(it).status = Default::default(),)*
                _ => {}
            }
        };
    }
    drop!(Deployment ReplicaSet Pod StatefulSet DaemonSet Job PodDisruptionBudget ResourceQuota Namespace);
}

/// What the API server itself says of an object that it has just stored.
fn first_status(object: &mut Object) {
    match object {
        Object::Pod(pod) => Rc::make_mut(pod).status.phase = "Pending".into(),
        Object::Namespace(namespace) => Rc::make_mut(namespace).status.phase = "Active".into(),
        _ => {}
    }
}

/// Counts the templates that a DaemonSet had (`pkg/registry/apps/daemonset/strategy.go`); nobody else can.
fn number_template(object: &mut Object, old: Option<&Object>) {
    let Object::DaemonSet(set) = object else { return };
    let number = match old.and_then(Object::as_daemon_set) {
        None => 1,
        Some(old) => {
            let known = old.metadata.annotations.get(TEMPLATE_GENERATION).and_then(|it| it.parse().ok()).unwrap_or(0);
            known + i64::from(old.spec.template != set.spec.template)
        }
    };
    Rc::make_mut(set).metadata.annotations.insert(TEMPLATE_GENERATION.into(), number.to_string());
}

/// Kinds of which the API server counts the changes of the spec.
fn has_generation(kind: Kind) -> bool {
    use Kind::{
        ClusterRole, ClusterRoleBinding, ConfigMap, ControllerRevision, Endpoints, HorizontalPodAutoscaler, Lease,
        LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, PodTemplate, ResourceQuota, Role,
        RoleBinding, RuntimeClass, Secret, Service, ServiceAccount, StorageClass,
    };
    #[rustfmt::skip]
    let has_none = matches!(
        kind,
        ClusterRole | ClusterRoleBinding | ConfigMap | ControllerRevision | Endpoints | HorizontalPodAutoscaler | Lease
            | LimitRange | Namespace | Node | PersistentVolume | PersistentVolumeClaim | PodTemplate | ResourceQuota
            | Role | RoleBinding | RuntimeClass | Secret | Service | ServiceAccount | StorageClass
    );
    !has_none
}

/// A patch may name the UID of the object that it is for, and no other.
fn keep_uid(given: &Object, live: &Object) -> Result<(), ApiError> {
    let (uid, kind) = (given.meta().uid, given.kind());
    if uid == Uid::default() || uid == live.meta().uid {
        return Ok(());
    }
    let message = format!("Invalid value: \"{uid}\": field is immutable");
    ApiError::invalid(kind, &given.meta().name, vec![super::FieldError { path: "metadata.uid".into(), message }])
}

/// An update that names a UID means that very object.
fn check_uid(key: &ObjectKey, given: &Object, live: &Object) -> Result<(), ApiError> {
    let (given, live) = (given.meta().uid, live.meta().uid);
    if given == Uid::default() || given == live {
        return Ok(());
    }
    let message = format!(
        "Operation cannot be fulfilled on {} \"{}\": Precondition failed: UID in precondition: {given}, UID in object meta: {live}",
        key.kind.qualified_plural(),
        key.name
    );
    Err(ApiError::new(Reason::Conflict, message))
}

/// Fields of the metadata that callers cannot change.
fn keep_system_fields(object: &mut Object, old: &Object) {
    if let (Object::Namespace(it), Object::Namespace(old)) = (&mut *object, old) {
        Rc::make_mut(it).spec.finalizers.clone_from(&old.spec.finalizers);
    }
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
    if let (Object::Generic(_, it), Object::Generic(_, old)) = (object, old) {
        return it.fields.get("spec") != old.fields.get("spec");
    }
    if let (Object::EndpointSlice(it), Object::EndpointSlice(old)) = (object, old) {
        return it.endpoints != old.endpoints || it.ports != old.ports;
    }
    has_generation(object.kind())
        && same_kind!(object, old, it, old => it.spec != old.spec, [
            Deployment ReplicaSet Pod StatefulSet DaemonSet Job PodDisruptionBudget
        ])
}
