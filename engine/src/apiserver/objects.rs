use std::collections::{BTreeMap, BTreeSet};

use crate::api::{Kind, Name, Object, ObjectKey, Pod, Uid};

/// What the pods on a node ask for together: thousandths of a core, bytes, and how many they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub cpu_milli: i64,
    pub memory_bytes: i64,
    /// With the scheduler's stand-ins for containers that request nothing: 100m and 200 MB each
    /// (`schedutil.DefaultMilliCPURequest`, v1.36).
    pub cpu_milli_nonzero: i64,
    pub memory_bytes_nonzero: i64,
    pub pods: i64,
}

impl Usage {
    pub fn of(pod: &Pod) -> Self {
        let mut usage = Usage { pods: 1, ..Usage::default() };
        let cpu = pod.spec.request("cpu").milli();
        let memory = pod.spec.request("memory").units();
        usage.cpu_milli = cpu;
        usage.memory_bytes = memory;
        for container in &pod.spec.containers {
            let requests = &container.resources.requests;
            usage.cpu_milli_nonzero += requests.get("cpu").map_or(100, |it| it.milli());
            usage.memory_bytes_nonzero += requests.get("memory").map_or(200 * 1024 * 1024, |it| it.units());
        }
        usage.cpu_milli_nonzero = usage.cpu_milli_nonzero.max(cpu);
        usage.memory_bytes_nonzero = usage.memory_bytes_nonzero.max(memory);
        usage
    }

    pub fn add(&mut self, other: Usage) {
        self.combine(other, 1);
    }

    fn combine(&mut self, other: Usage, sign: i64) {
        self.cpu_milli += sign * other.cpu_milli;
        self.memory_bytes += sign * other.memory_bytes;
        self.cpu_milli_nonzero += sign * other.cpu_milli_nonzero;
        self.memory_bytes_nonzero += sign * other.memory_bytes_nonzero;
        self.pods += sign * other.pods;
    }
}

/// Objects by key, with the indexes that keep a reconcile's cost at what it touches.
///
/// The API server's store and every client's cache are one of these.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    all: BTreeMap<ObjectKey, Object>,
    by_owner: BTreeMap<Uid, BTreeSet<ObjectKey>>,
    by_node: BTreeMap<Name, BTreeSet<ObjectKey>>,
    usage: BTreeMap<Name, Usage>,
}

impl Objects {
    pub fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.all.get(key)
    }

    pub fn pod(&self, key: &ObjectKey) -> Option<&std::rc::Rc<Pod>> {
        self.get(key)?.as_pod()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ObjectKey, &Object)> {
        self.all.iter()
    }

    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        let from = ObjectKey::new(kind, Name::default(), Name::default());
        self.all.range(from..).take_while(move |(key, _)| key.kind == kind).map(|(_, object)| object)
    }

    pub fn in_namespace<'a>(&'a self, kind: Kind, namespace: &'a Name) -> impl Iterator<Item = &'a Object> {
        let from = ObjectKey::new(kind, namespace.clone(), Name::default());
        self.all
            .range(from..)
            .take_while(move |(key, _)| key.kind == kind && key.namespace == *namespace)
            .map(|(_, object)| object)
    }

    /// What has this object as its controller.
    pub fn controlled_by(&self, owner: Uid) -> impl Iterator<Item = &Object> {
        self.by_owner.get(&owner).into_iter().flatten().filter_map(|key| self.all.get(key))
    }

    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &std::rc::Rc<Pod>> {
        let keys = self.by_node.get(&Name::from(node));
        keys.into_iter().flatten().filter_map(|key| self.pod(key))
    }

    /// What the unfinished pods on a node ask for.
    pub fn usage(&self, node: &Name) -> Usage {
        self.usage.get(node).copied().unwrap_or_default()
    }

    /// Puts an object in place of the one with its key, which is returned.
    pub fn insert(&mut self, object: Object) -> Option<Object> {
        let key = object.key();
        let old = self.all.get(&key).cloned();
        if let Some(old) = &old {
            self.unindex(&key, old);
        }
        self.index(&key, &object);
        self.all.insert(key, object);
        old
    }

    pub fn remove(&mut self, key: &ObjectKey) -> Option<Object> {
        let old = self.all.remove(key)?;
        self.unindex(key, &old);
        Some(old)
    }

    fn index(&mut self, key: &ObjectKey, object: &Object) {
        if let Some(owner) = object.meta().controller() {
            self.by_owner.entry(owner.uid).or_default().insert(key.clone());
        }
        if let Object::Pod(pod) = object
            && pod.is_assigned()
        {
            self.by_node.entry(pod.spec.node_name.clone()).or_default().insert(key.clone());
            if !pod.is_finished() {
                self.usage.entry(pod.spec.node_name.clone()).or_default().add(Usage::of(pod));
            }
        }
    }

    fn unindex(&mut self, key: &ObjectKey, object: &Object) {
        if let Some(owner) = object.meta().controller()
            && let Some(keys) = self.by_owner.get_mut(&owner.uid)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.by_owner.remove(&owner.uid);
            }
        }
        if let Object::Pod(pod) = object
            && pod.is_assigned()
        {
            if let Some(keys) = self.by_node.get_mut(&pod.spec.node_name) {
                keys.remove(key);
            }
            if !pod.is_finished()
                && let Some(usage) = self.usage.get_mut(&pod.spec.node_name)
            {
                usage.combine(Usage::of(pod), -1);
            }
        }
    }
}
