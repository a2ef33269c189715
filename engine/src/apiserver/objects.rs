use std::rc::Rc;

use crate::api::{Kind, Labels, Name, Node, Object, ObjectKey, Pod, Quantity, Uid};
use crate::sim::{Map, Set};

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
        let stand_ins = [Quantity::from_milli(100), Quantity::from_bytes(200 << 20)];
        usage.cpu_milli_nonzero = pod.spec.request_or("cpu", stand_ins[0]).milli();
        usage.memory_bytes_nonzero = pod.spec.request_or("memory", stand_ins[1]).units();
        usage
    }

    /// What a node has to give.
    pub fn room(node: &Node) -> Self {
        let cpu_milli = node.allocatable("cpu").milli();
        let memory_bytes = node.allocatable("memory").units();
        let pods = node.allocatable("pods").units();
        Self { cpu_milli, memory_bytes, cpu_milli_nonzero: cpu_milli, memory_bytes_nonzero: memory_bytes, pods }
    }

    pub fn add(&mut self, other: Usage) {
        self.combine(other, 1);
    }

    /// Adds with sign 1, takes away with −1.
    pub fn combine(&mut self, other: Usage, sign: i64) {
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
    all: Map<ObjectKey, Object>,
    by_owner: Map<Uid, Owned>,
    /// What names an object as an owner that is not its controller.
    held_by: Map<Uid, Set<ObjectKey>>,
    by_node: Map<Name, OnNode>,
    /// Pods and ReplicaSets that have no controller.
    orphans: Map<ObjectKey, Object>,
    /// Names of pods by namespace and labels: a selector is asked once for all pods with the same labels.
    by_labels: Map<Name, Map<Labels, Set<Name>>>,
}

#[derive(Clone, Debug, Default)]
struct Owned {
    objects: Map<ObjectKey, Object>,
    tally: Tally,
}

/// How the pods of one controller stand, kept up to date so that nobody has to count them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Neither finished nor on their way out.
    pub active: i32,
    /// Active and ready.
    pub ready: i32,
    pub terminating: i32,
    /// The active pods by their labels.
    pub labels: Vec<(Labels, i32)>,
}

impl Tally {
    fn count(&mut self, pod: &Pod, sign: i32) {
        self.terminating += sign * i32::from(pod.is_terminating());
        if !pod.is_active() {
            return;
        }
        self.active += sign;
        self.ready += sign * i32::from(pod.is_ready());
        let labels = &pod.metadata.labels;
        match self.labels.iter_mut().find(|(known, _)| known == labels) {
            Some((_, count)) => *count += sign,
            None => self.labels.push((labels.clone(), sign)),
        }
        if sign < 0 {
            self.labels.retain(|(_, count)| *count != 0);
        }
    }
}

/// A node with the pods that are assigned to it.
#[derive(Clone, Debug, Default)]
pub struct OnNode {
    /// The node object; nothing where pods name a node that is not there.
    pub node: Option<Rc<Node>>,
    /// What the node has to give.
    pub room: Usage,
    /// What its unfinished pods ask for.
    pub usage: Usage,
    pods: Map<ObjectKey, Rc<Pod>>,
}

impl Objects {
    pub fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.all.get(key)
    }

    pub fn pod(&self, key: &ObjectKey) -> Option<&Rc<Pod>> {
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
        let from = ObjectKey::first_of(kind);
        self.all.iter_from(from).take_while(move |(key, _)| key.kind == kind).map(|(_, object)| object)
    }

    pub fn in_namespace<'a>(&'a self, kind: Kind, namespace: &'a Name) -> impl Iterator<Item = &'a Object> {
        self.of_kind(kind).filter(move |object| object.meta().namespace == *namespace)
    }

    /// What has this object as its controller.
    pub fn controlled_by(&self, owner: Uid) -> impl Iterator<Item = &Object> {
        self.by_owner.get(&owner).into_iter().flat_map(|owned| owned.objects.values())
    }

    /// What names this object among its owners, as its controller or not.
    pub fn dependents(&self, owner: Uid) -> impl Iterator<Item = &Object> {
        let held = self.held_by.get(&owner).into_iter().flat_map(Set::keys).filter_map(|key| self.all.get(key));
        self.controlled_by(owner).chain(held)
    }

    /// What of a kind has this object as its controller.
    pub fn owned(&self, owner: Uid, kind: Kind) -> impl Iterator<Item = &Object> {
        let from = ObjectKey::first_of(kind);
        let owned = self.by_owner.get(&owner).map(|owned| owned.objects.iter_from(from));
        owned.into_iter().flatten().take_while(move |(key, _)| key.kind == kind).map(|(_, object)| object)
    }

    /// The pods or ReplicaSets of a namespace that have no controller.
    pub fn orphans<'a>(&'a self, kind: Kind, namespace: &'a Name) -> impl Iterator<Item = &'a Object> {
        let all = self.orphans.iter_from(ObjectKey::first_of(kind)).take_while(move |(key, _)| key.kind == kind);
        all.filter(move |(key, _)| key.namespace == *namespace).map(|(_, object)| object)
    }

    /// The pods of a namespace whose labels a selector takes.
    pub fn pods_labeled<'a>(
        &'a self,
        namespace: &'a Name,
        takes: impl Fn(&Labels) -> bool + 'a,
    ) -> impl Iterator<Item = &'a Rc<Pod>> {
        let groups = self.by_labels.get(namespace).into_iter().flat_map(Map::iter);
        let names = groups.filter(move |(labels, _)| takes(labels)).flat_map(|(_, names)| names.keys());
        names.filter_map(|name| self.pod(&ObjectKey::new(Kind::Pod, namespace.clone(), name.clone())))
    }

    /// Nodes that pods name and that are not there.
    pub fn missing_nodes(&self) -> impl Iterator<Item = &Name> {
        self.by_node.iter().filter(|(_, on)| on.node.is_none() && !on.pods.is_empty()).map(|(name, _)| name)
    }

    /// How the pods that have this object as their controller stand.
    pub fn tally(&self, owner: Uid) -> Option<&Tally> {
        self.by_owner.get(&owner).map(|owned| &owned.tally)
    }

    /// Every node with its pods, in order of name.
    pub fn nodes(&self) -> impl Iterator<Item = (&Rc<Node>, &OnNode)> {
        self.by_node.values().filter_map(|on| Some((on.node.as_ref()?, on)))
    }

    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Rc<Pod>> {
        self.by_node.get(node).into_iter().flat_map(|on| on.pods.values())
    }

    /// What the unfinished pods on a node ask for.
    pub fn usage(&self, node: &Name) -> Usage {
        self.by_node.get(node).map(|on| on.usage).unwrap_or_default()
    }

    /// Puts an object in place of the one with its key, which is returned.
    pub fn insert(&mut self, object: Object) -> Option<Object> {
        let key = object.key();
        let old = self.all.get(&key).cloned();
        if let Some(old) = &old {
            self.unindex(&key, old);
        }
        self.index(&key, &object);
        self.relabel(&key, old.as_ref(), Some(&object));
        self.all.insert(key, object);
        old
    }

    /// Moves a pod to its labels' group; one that keeps its labels stays where it is.
    fn relabel(&mut self, key: &ObjectKey, old: Option<&Object>, new: Option<&Object>) {
        if key.kind != Kind::Pod {
            return;
        }
        let labels = |object: Option<&'_ Object>| object.map(|object| object.meta().labels.clone());
        if let (Some(old), Some(new)) = (old, new)
            && old.meta().labels == new.meta().labels
        {
            return;
        }
        let groups = self.by_labels.or_default(key.namespace.clone());
        if let Some(labels) = labels(old)
            && let Some(names) = groups.get_mut(&labels)
        {
            names.remove(&key.name);
            if names.is_empty() {
                groups.remove(&labels);
            }
        }
        if let Some(labels) = labels(new) {
            groups.or_default(labels).add(key.name.clone());
        }
    }

    pub fn remove(&mut self, key: &ObjectKey) -> Option<Object> {
        let old = self.all.remove(key)?;
        self.unindex(key, &old);
        self.relabel(key, Some(&old), None);
        Some(old)
    }

    fn index(&mut self, key: &ObjectKey, object: &Object) {
        for owner in object.meta().owner_references.iter().filter(|owner| !owner.controller) {
            self.held_by.or_default(owner.uid).add(key.clone());
        }
        if let Some(owner) = object.meta().controller() {
            let owned = self.by_owner.or_default(owner.uid);
            owned.objects.insert(key.clone(), object.clone());
            if let Object::Pod(pod) = object {
                owned.tally.count(pod, 1);
            }
        } else if matches!(object, Object::Pod(_) | Object::ReplicaSet(_)) {
            self.orphans.insert(key.clone(), object.clone());
        }
        match object {
            Object::Pod(pod) if pod.is_assigned() => {
                let on = self.by_node.or_default(pod.spec.node_name.clone());
                on.pods.insert(key.clone(), Rc::clone(pod));
                if !pod.is_finished() {
                    on.usage.add(Usage::of(pod));
                }
            }
            Object::Node(node) => {
                let on = self.by_node.or_default(key.name.clone());
                on.room = Usage::room(node);
                on.node = Some(Rc::clone(node));
            }
            _ => {}
        }
    }

    fn unindex(&mut self, key: &ObjectKey, object: &Object) {
        for owner in object.meta().owner_references.iter().filter(|owner| !owner.controller) {
            if let Some(held) = self.held_by.get_mut(&owner.uid) {
                held.remove(key);
                if held.is_empty() {
                    self.held_by.remove(&owner.uid);
                }
            }
        }
        if object.meta().controller().is_none() {
            self.orphans.remove(key);
        }
        if let Some(owner) = object.meta().controller()
            && let Some(owned) = self.by_owner.get_mut(&owner.uid)
        {
            owned.objects.remove(key);
            if let Object::Pod(pod) = object {
                owned.tally.count(pod, -1);
            }
            if owned.objects.is_empty() {
                self.by_owner.remove(&owner.uid);
            }
        }
        match object {
            Object::Pod(pod) if pod.is_assigned() => {
                if let Some(on) = self.by_node.get_mut(&pod.spec.node_name) {
                    on.pods.remove(key);
                    if !pod.is_finished() {
                        on.usage.combine(Usage::of(pod), -1);
                    }
                }
            }
            Object::Node(_) => {
                if let Some(on) = self.by_node.get_mut(&key.name) {
                    (on.node, on.room) = (None, Usage::default());
                }
            }
            _ => {}
        }
    }
}
