//! What a write may not change, and what the server itself says: upstream's strategies of each kind
//! (`pkg/registry/*/*/strategy.go`, `staging/src/k8s.io/apiserver/pkg/registry/rest`, v1.36).

use std::rc::Rc;

use serde_json::Value;

use super::server::TEMPLATE_GENERATION;
use super::{ApiError, FieldError, Reason, managed_fields};
use crate::api::{Kind, Object, ObjectKey, Uid};

macro_rules! same_kind {
    ($object:expr, $from:expr, $it:ident, $old:ident => $body:expr, [$($kind:ident)*]) => {
        match ($object, $from) {
            $((Object::$kind($it), Object::$kind($old)) => $body,)*
            _ => Default::default(),
        }
    };
}

pub(super) fn keep_status(object: &mut Object, from: &Object) {
    same_kind!(object, from, it, old => if it.status != old.status {
        Rc::make_mut(it).status = old.status.clone();
    }, [
        Deployment ReplicaSet Pod Node StatefulSet DaemonSet Job PodDisruptionBudget ResourceQuota Namespace
        HorizontalPodAutoscaler
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
    drop!(Deployment ReplicaSet Pod StatefulSet DaemonSet Job PodDisruptionBudget ResourceQuota Namespace
        HorizontalPodAutoscaler);
}

/// What the API server itself says of an object that it has just stored.
pub(super) fn first_status(object: &mut Object) {
    match object {
        Object::Pod(pod) => Rc::make_mut(pod).status.phase = "Pending".into(),
        Object::Namespace(namespace) => Rc::make_mut(namespace).status.phase = "Active".into(),
        _ => {}
    }
}

/// Counts the templates that a DaemonSet had (`pkg/registry/apps/daemonset/strategy.go`); nobody else can.
pub(super) fn number_template(object: &mut Object, old: Option<&Object>) {
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
pub(super) fn has_generation(kind: Kind) -> bool {
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
pub(super) fn keep_uid(given: &Object, live: &Object) -> Result<(), ApiError> {
    let (uid, kind) = (given.meta().uid, given.kind());
    if uid == Uid::default() || uid == live.meta().uid {
        return Ok(());
    }
    let message = format!("Invalid value: \"{uid}\": field is immutable");
    ApiError::invalid(kind, &given.meta().name, vec![FieldError { path: "metadata.uid".into(), message }])
}

/// An update that names a UID means that very object.
pub(super) fn check_uid(key: &ObjectKey, given: &Object, live: &Object) -> Result<(), ApiError> {
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
pub(super) fn keep_system_fields(object: &mut Object, old: &Object) {
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
    meta.managed = old.managed.clone();
}

/// A JSON patch sees the managers of an object as a field of it.
pub(super) fn show_managers(live: &Object, value: &mut Value) {
    if let Some(meta) = value.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        meta.insert("managedFields".into(), Value::Array(managed_fields(live)));
    }
}

pub(super) fn spec_differs(object: &Object, old: &Object) -> bool {
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
