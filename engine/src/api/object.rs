use std::fmt;
use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use super::{
    DecodeError, Deployment, Field, Generic, Kind, Lease, Name, Node, ObjectMeta, Pod, ReplicaSet, read_value,
};

/// Which object: kind, namespace (empty for cluster-scoped kinds) and name.
///
/// Keys are ordered by kind and then by a hash: names of siblings begin alike, and comparing them letter by letter was
/// the engine's largest single cost. Whatever a person sees is sorted by name where it is shown.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct ObjectKey {
    pub kind: Kind,
    #[serde(skip)]
    hash: u64,
    pub namespace: Name,
    pub name: Name,
}

impl std::hash::Hash for ObjectKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        state.write_u64(self.hash);
    }
}

/// FNV-1a over the namespace and the name.
fn hash_of(namespace: &str, name: &str) -> u64 {
    let bytes = namespace.bytes().chain([b'/']).chain(name.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl ObjectKey {
    pub fn new(kind: Kind, namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        let (namespace, name) = (namespace.into(), name.into());
        Self { kind, hash: hash_of(&namespace, &name), namespace, name }
    }

    /// What no key of a kind comes before.
    pub fn first_of(kind: Kind) -> Self {
        Self { kind, hash: 0, namespace: Name::default(), name: Name::default() }
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

    /// The object as the API writes it, with `apiVersion` and `kind`.
    pub fn to_value(&self) -> Value {
        let mut value = each!(self, it => it.write_always());
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
            _ => Object::Generic(kind, decode(value)?),
        })
    }

    pub fn as_pod(&self) -> Option<&Rc<Pod>> {
        if let Object::Pod(pod) = self { Some(pod) } else { None }
    }

    pub fn as_node(&self) -> Option<&Rc<Node>> {
        if let Object::Node(node) = self { Some(node) } else { None }
    }

    pub fn as_deployment(&self) -> Option<&Rc<Deployment>> {
        if let Object::Deployment(it) = self { Some(it) } else { None }
    }

    pub fn as_replica_set(&self) -> Option<&Rc<ReplicaSet>> {
        if let Object::ReplicaSet(it) = self { Some(it) } else { None }
    }

    pub fn as_lease(&self) -> Option<&Rc<Lease>> {
        if let Object::Lease(it) = self { Some(it) } else { None }
    }
}

fn decode<T: Field + Default>(value: Value) -> Result<Rc<T>, DecodeError> {
    read_value(value).map(Rc::new)
}
