use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::{Kind, Name, Object, ObjectKey, Uid};

/// What becomes of the objects that a deleted one owns (`metav1.DeletionPropagation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Propagation {
    /// The object goes at once, what it owns afterwards.
    Background,
    /// What it owns goes first; the object waits for those that block it.
    Foreground,
    /// What it owns stays, without an owner.
    Orphan,
}

/// How an object is to be deleted (`metav1.DeleteOptions`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeleteOptions {
    /// Seconds of grace; the object's own where not given.
    pub grace_seconds: Option<i64>,
    /// Refuse unless the object is still this one.
    pub uid: Option<Uid>,
    /// Refuse unless the object is still in this version.
    pub resource_version: Option<u64>,
    /// In the background, or as the object's finalizers say, where not given.
    pub propagation: Option<Propagation>,
}

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PatchType {
    /// RFC 7386: `application/merge-patch+json`.
    Merge,
    /// Lists are merged by their keys: `application/strategic-merge-patch+json`.
    Strategic,
    /// RFC 6902, a list of operations: `application/json-patch+json`.
    Json,
}

/// What is asked of the API server.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    Create(Object),
    /// The whole object; with a resourceVersion only if it is still the newest.
    Update(Object),
    /// As `Update`, for the `status` subresource: the rest is left alone.
    UpdateStatus(Object),
    /// The `scale` subresource.
    Scale(ObjectKey, i32),
    /// The `binding` subresource: assigns a pod to a node.
    Bind(ObjectKey, Name),
    Patch(ObjectKey, PatchType, Value),
    /// What `kubectl apply` does: creates the object or merges what changed since the last apply.
    Apply(Kind, Name, Value),
    /// Server-side apply (`application/apply-patch+yaml`); `true` forces conflicts.
    ServerSideApply(Kind, Name, Value, bool),
    Delete(ObjectKey, DeleteOptions),
    /// The `eviction` subresource: deletes a pod unless a disruption budget forbids it.
    Evict(ObjectKey, DeleteOptions),
    /// The `finalize` subresource: takes Kubernetes' own finalizer off a namespace.
    Finalize(ObjectKey),
}

/// A request and who makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub verb: Verb,
    /// The field manager: `kube-controller-manager`, `kubectl-client-side-apply`.
    pub manager: &'static str,
    /// Renewing leases and the like: part of the steady hum.
    pub is_background: bool,
}

impl Request {
    pub fn new(manager: &'static str, verb: Verb) -> Self {
        Self { verb, manager, is_background: false }
    }

    /// The object that the request is about; a name yet to be generated is empty.
    pub fn key(&self) -> ObjectKey {
        match &self.verb {
            Verb::Create(object) | Verb::Update(object) | Verb::UpdateStatus(object) => object.key(),
            Verb::Scale(key, _)
            | Verb::Bind(key, _)
            | Verb::Patch(key, ..)
            | Verb::Delete(key, _)
            | Verb::Evict(key, _)
            | Verb::Finalize(key) => key.clone(),
            Verb::Apply(kind, namespace, value) | Verb::ServerSideApply(kind, namespace, value, _) => {
                applied_key(*kind, namespace, value)
            }
        }
    }

    /// The HTTP method and the subresource, as an access log shows them.
    pub fn method(&self) -> (&'static str, &'static str) {
        match &self.verb {
            Verb::Create(_) => ("POST", ""),
            Verb::Update(_) => ("PUT", ""),
            Verb::UpdateStatus(_) => ("PUT", "status"),
            // kubectl patches the subresource, the autoscaler's controller updates it.
            Verb::Scale(..) if self.manager == "kube-controller-manager" => ("PUT", "scale"),
            Verb::Scale(..) => ("PATCH", "scale"),
            Verb::Bind(..) => ("POST", "binding"),
            Verb::Patch(..) | Verb::Apply(..) | Verb::ServerSideApply(..) => ("PATCH", ""),
            Verb::Delete(..) => ("DELETE", ""),
            Verb::Evict(..) => ("POST", "eviction"),
            Verb::Finalize(..) => ("PUT", "finalize"),
        }
    }
}

/// What became of a request that was not refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The object as it is now; as it last was, where it is gone.
    pub object: Object,
    pub outcome: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    Created,
    Configured,
    /// The object already was as asked: nothing was written, no watcher hears of it.
    Unchanged,
    /// Deletion has begun; the object stays until its grace period or finalizers end.
    Deleting,
    Deleted,
}

impl Effect {
    pub const ALL: [Effect; 5] =
        [Effect::Created, Effect::Configured, Effect::Unchanged, Effect::Deleting, Effect::Deleted];
}

/// The object that somebody applies.
pub(super) fn applied_key(kind: Kind, namespace: &Name, value: &Value) -> ObjectKey {
    let name = value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    ObjectKey::new(kind, namespace.clone(), name)
}
