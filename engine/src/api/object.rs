use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{
    Condition, DaemonSet, DecodeError, Deployment, EndpointSlice, Field, Generic, HorizontalPodAutoscaler, Job, Kind,
    Lease, Name, Namespace, Node, ObjectMeta, Pod, PodDisruptionBudget, PriorityClass, ReplicaSet, ResourceQuota,
    Service, StatefulSet, read_value, write_value,
};
use crate::sim::Key;

/// Which object: kind, namespace (empty for cluster-scoped kinds) and name.
///
/// Keys are ordered by kind and then by a hash: names of siblings begin alike, and comparing them letter by letter was
/// the engine's largest single cost. Whatever a person sees is sorted by name where it is shown.
///
/// Copies share it: keys are copied with every event, and are kept in every index and in the trace.
#[derive(Clone, Debug)]
pub struct ObjectKey(Arc<KeyParts>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct KeyParts {
    /// The kind's number and 56 bits of the hash: comparing keys is mostly comparing these.
    #[serde(skip)]
    order: u64,
    pub kind: Kind,
    pub namespace: Name,
    pub name: Name,
}

impl std::ops::Deref for ObjectKey {
    type Target = KeyParts;
    fn deref(&self) -> &KeyParts {
        &self.0
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for ObjectKey {}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for ObjectKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl std::hash::Hash for ObjectKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.order);
    }
}

impl Key for ObjectKey {
    fn rank(&self) -> u64 {
        self.order
    }
}

/// FNV-1a over the namespace and the name.
fn hash_of(namespace: &str, name: &str) -> u64 {
    let bytes = namespace.bytes().chain([b'/']).chain(name.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl ObjectKey {
    pub fn new(kind: Kind, namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self::of(kind, namespace.into(), name.into())
    }

    #[inline(never)]
    fn of(kind: Kind, namespace: Name, name: Name) -> Self {
        let order = ((kind as u64) << 56) | (hash_of(&namespace, &name) >> 8);
        Self(Arc::new(KeyParts { order, kind, namespace, name }))
    }

    /// What no key of a kind comes before.
    pub fn first_of(kind: Kind) -> Self {
        let (order, namespace, name) = ((kind as u64) << 56, Name::default(), Name::default());
        Self(Arc::new(KeyParts { order, kind, namespace, name }))
    }

    pub fn node(name: impl Into<Name>) -> Self {
        Self::new(Kind::Node, "", name)
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.name(), self.name)
    }
}

/// Any stored object. Copies share it; changing one makes a copy first.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    Deployment(Rc<Deployment>),
    ReplicaSet(Rc<ReplicaSet>),
    Pod(Rc<Pod>),
    Node(Rc<Node>),
    Lease(Rc<Lease>),
    Namespace(Rc<Namespace>),
    Service(Rc<Service>),
    EndpointSlice(Rc<EndpointSlice>),
    StatefulSet(Rc<StatefulSet>),
    DaemonSet(Rc<DaemonSet>),
    Job(Rc<Job>),
    PodDisruptionBudget(Rc<PodDisruptionBudget>),
    ResourceQuota(Rc<ResourceQuota>),
    PriorityClass(Rc<PriorityClass>),
    HorizontalPodAutoscaler(Rc<HorizontalPodAutoscaler>),
    Generic(Kind, Rc<Generic>),
}

macro_rules! each {
    ($object:expr, $it:ident => $body:expr) => {
        match $object {
            Object::Deployment($it) => $body,
            Object::ReplicaSet($it) => $body,
            Object::Pod($it) => $body,
            Object::Node($it) => $body,
            Object::Lease($it) => $body,
            Object::Namespace($it) => $body,
            Object::Service($it) => $body,
            Object::EndpointSlice($it) => $body,
            Object::StatefulSet($it) => $body,
            Object::DaemonSet($it) => $body,
            Object::Job($it) => $body,
            Object::PodDisruptionBudget($it) => $body,
            Object::ResourceQuota($it) => $body,
            Object::PriorityClass($it) => $body,
            Object::HorizontalPodAutoscaler($it) => $body,
            Object::Generic(_, $it) => $body,
        }
    };
}

impl Object {
    pub fn kind(&self) -> Kind {
        match self {
            Object::Deployment(_) => Kind::Deployment,
            Object::ReplicaSet(_) => Kind::ReplicaSet,
            Object::Pod(_) => Kind::Pod,
            Object::Node(_) => Kind::Node,
            Object::Lease(_) => Kind::Lease,
            Object::Namespace(_) => Kind::Namespace,
            Object::Service(_) => Kind::Service,
            Object::EndpointSlice(_) => Kind::EndpointSlice,
            Object::StatefulSet(_) => Kind::StatefulSet,
            Object::DaemonSet(_) => Kind::DaemonSet,
            Object::Job(_) => Kind::Job,
            Object::PodDisruptionBudget(_) => Kind::PodDisruptionBudget,
            Object::ResourceQuota(_) => Kind::ResourceQuota,
            Object::PriorityClass(_) => Kind::PriorityClass,
            Object::HorizontalPodAutoscaler(_) => Kind::HorizontalPodAutoscaler,
            Object::Generic(kind, _) => *kind,
        }
    }

    pub fn meta(&self) -> &ObjectMeta {
        each!(self, it => &it.metadata)
    }

    pub fn meta_mut(&mut self) -> &mut ObjectMeta {
        each!(self, it => &mut Rc::make_mut(it).metadata)
    }

    pub fn key(&self) -> ObjectKey {
        let meta = self.meta();
        ObjectKey::new(self.kind(), meta.namespace.clone(), meta.name.clone())
    }

    /// Its conditions; none for kinds that have none.
    pub fn conditions(&self) -> &[Condition] {
        match self {
            Object::Deployment(it) => &it.status.conditions,
            Object::ReplicaSet(it) => &it.status.conditions,
            Object::StatefulSet(it) => &it.status.conditions,
            Object::Job(it) => &it.status.conditions,
            Object::Pod(it) => &it.status.conditions,
            Object::Node(it) => &it.status.conditions,
            Object::Namespace(it) => &it.status.conditions,
            Object::PodDisruptionBudget(it) => &it.status.conditions,
            Object::HorizontalPodAutoscaler(it) => &it.status.conditions,
            _ => &[],
        }
    }

    /// The object as the API writes it, with `apiVersion` and `kind`.
    pub fn to_value(&self) -> Value {
        let mut value = each!(self, it => write_value(&**it));
        if let Value::Object(map) = &mut value {
            map.insert("apiVersion".into(), self.kind().api_version().into());
            map.insert("kind".into(), self.kind().name().into());
        }
        value
    }

    /// Reads an object of a kind.
    ///
    /// # Errors
    /// The path of the first field that has the wrong type, and what was expected there.
    pub fn from_value(kind: Kind, mut value: Value) -> Result<Self, DecodeError> {
        if let Value::Object(map) = &mut value {
            map.remove("apiVersion");
            map.remove("kind");
        }
        Ok(match kind {
            Kind::Deployment => Object::Deployment(decode(value)?),
            Kind::ReplicaSet => Object::ReplicaSet(decode(value)?),
            Kind::Pod => Object::Pod(decode(value)?),
            Kind::Node => Object::Node(decode(value)?),
            Kind::Lease => Object::Lease(decode(value)?),
            Kind::Namespace => Object::Namespace(decode(value)?),
            Kind::Service => Object::Service(decode(value)?),
            Kind::EndpointSlice => Object::EndpointSlice(decode(value)?),
            Kind::StatefulSet => Object::StatefulSet(decode(value)?),
            Kind::DaemonSet => Object::DaemonSet(decode(value)?),
            Kind::Job => Object::Job(decode(value)?),
            Kind::PodDisruptionBudget => Object::PodDisruptionBudget(decode(value)?),
            Kind::ResourceQuota => Object::ResourceQuota(decode(value)?),
            Kind::PriorityClass => Object::PriorityClass(decode(value)?),
            Kind::HorizontalPodAutoscaler => Object::HorizontalPodAutoscaler(decode(value)?),
            _ => Object::Generic(kind, decode(value)?),
        })
    }
}

macro_rules! accessors {
    ($($name:ident $variant:ident;)*) => {
        impl Object {
            $(pub fn $name(&self) -> Option<&Rc<$variant>> {
                if let Object::$variant(it) = self { Some(it) } else { None }
            })*
        }
    };
}

accessors! {
    as_pod Pod;
    as_node Node;
    as_deployment Deployment;
    as_replica_set ReplicaSet;
    as_lease Lease;
    as_namespace Namespace;
    as_service Service;
    as_endpoint_slice EndpointSlice;
    as_stateful_set StatefulSet;
    as_daemon_set DaemonSet;
    as_job Job;
    as_pod_disruption_budget PodDisruptionBudget;
    as_resource_quota ResourceQuota;
    as_priority_class PriorityClass;
    as_autoscaler HorizontalPodAutoscaler;
}

fn decode<T: Field + Default>(value: Value) -> Result<Rc<T>, DecodeError> {
    read_value(value).map(Rc::new)
}
