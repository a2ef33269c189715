use std::cmp::Ordering;
use std::rc::Rc;

use crate::api::{Kind, Labels, Name, Node, Object, ObjectKey, Pod, Quantity, Uid};
use crate::sim::{Index, Key, Map, Set};

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

/// By what objects can be found besides their keys; each index costs something with every write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Indexes {
    /// By node.
    Nodes,
    /// And by owner.
    Owners,
    /// And by labels.
    #[default]
    All,
}

/// Objects by key, with the indexes that keep a reconcile's cost at what it touches.
///
/// The API server's store and every client's cache are one of these.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    indexes: Indexes,
    all: Map<ObjectKey, Object>,
    by_owner: Map<Uid, Owned>,
    /// What names an object as an owner that is not its controller.
    held_by: Map<Uid, Set<ObjectKey>>,
    by_node: Map<Name, OnNode>,
    /// Pods and ReplicaSets that have no controller.
    orphans: Index,
    /// Pods by namespace and labels: a selector is asked once for all pods with the same labels.
    by_labels: Map<Name, Map<Labels, Index>>,
    /// How many there are of each kind, by its number: most kinds are asked for often and there are none of them.
    counts: Vec<u32>,
    /// Pods on their way out, and pods that have ended: mostly there are none, and nobody need look for them.
    n_terminating: usize,
    n_finished: usize,
}

/// Puts the slot of a key in `all` into an index. An object that only changes stays in its slot, and no index needs to
/// know.
fn add(index: &mut Index, all: &Map<ObjectKey, Object>, key: &ObjectKey, slot: u32) {
    let order = |other: u32| all.pair(other).map_or(Ordering::Less, |(other, _)| other.cmp(key));
    if let Err(at) = index.find(key.rank(), &order) {
        index.insert(at, key.rank(), slot);
    }
}

#[derive(Clone, Debug, Default)]
struct Owned {
    slots: Index,
    tally: Tally,
}

/// How the pods of one controller stand, kept up to date so that nobody has to count them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Neither finished nor on their way out.
    pub active: i32,
    /// Active and ready.
    pub ready: i32,
    /// As [`Pod::counts_as_terminating`] says.
    pub terminating: i32,
    /// The active pods by their labels.
    pub labels: Vec<(Labels, i32)>,
}

impl Tally {
    fn count(&mut self, pod: &Pod, sign: i32) {
        self.terminating += sign * i32::from(pod.counts_as_terminating());
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
    pods: Index,
}

/// What the tally of a pod's controller depends on.
fn standing(pod: &Pod) -> (bool, bool, bool) {
    (pod.counts_as_terminating(), pod.is_active(), pod.is_ready())
}

fn is_terminating(object: &Object) -> bool {
    object.as_pod().is_some_and(|pod| pod.is_terminating())
}

fn is_finished(object: &Object) -> bool {
    object.as_pod().is_some_and(|pod| pod.is_finished())
}

impl Objects {
    pub fn indexed(indexes: Indexes) -> Self {
        Self { indexes, ..Self::default() }
    }

    pub fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.all.get(key)
    }

    /// The key as it is kept here, and the object.
    pub fn entry(&self, key: &ObjectKey) -> Option<(&ObjectKey, &Object)> {
        self.all.get_pair(key)
    }

    /// Where an object is kept: there until it is removed.
    pub fn slot(&self, key: &ObjectKey) -> Option<u32> {
        self.all.slot(key)
    }

    pub fn in_slot(&self, slot: u32) -> Option<&Object> {
        self.all.at(slot)
    }

    /// Whether any pod is on its way out.
    pub fn has_terminating(&self) -> bool {
        self.n_terminating > 0
    }

    /// How many pods have ended.
    pub fn n_finished(&self) -> usize {
        self.n_finished
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
        let has_any = self.counts.get(kind as usize).is_some_and(|count| *count > 0);
        let all = has_any.then(|| self.all.iter_from(ObjectKey::first_of(kind)));
        all.into_iter().flatten().take_while(move |(key, _)| key.kind == kind).map(|(_, object)| object)
    }

    pub fn n_pods(&self) -> usize {
        self.counts.get(Kind::Pod as usize).map_or(0, |count| *count as usize)
    }

    pub fn in_namespace<'a>(&'a self, kind: Kind, namespace: &'a Name) -> impl Iterator<Item = &'a Object> {
        self.of_kind(kind).filter(move |object| object.meta().namespace == *namespace)
    }

    fn in_slots<'a>(&'a self, slots: impl Iterator<Item = u32> + 'a) -> impl Iterator<Item = &'a Object> {
        slots.filter_map(|slot| self.all.at(slot))
    }

    /// The objects of a kind that an index holds, with their keys.
    fn indexed_of<'a>(&'a self, index: &'a Index, kind: Kind) -> impl Iterator<Item = (&'a ObjectKey, &'a Object)> {
        let first = ObjectKey::first_of(kind).rank();
        // No key of the kind ranks lower, and all others of its rank come after.
        let at = index.find(first, &|_| Ordering::Greater).unwrap_or_else(|at| at);
        index.slots_from(at).filter_map(|slot| self.all.pair(slot)).take_while(move |(key, _)| key.kind == kind)
    }

    /// What has this object as its controller.
    pub fn controlled_by(&self, owner: Uid) -> impl Iterator<Item = &Object> {
        self.by_owner.get(&owner).into_iter().flat_map(|owned| self.in_slots(owned.slots.slots()))
    }

    /// What names this object among its owners, as its controller or not.
    pub fn dependents(&self, owner: Uid) -> impl Iterator<Item = &Object> {
        let held = self.held_by.get(&owner).into_iter().flat_map(Set::keys).filter_map(|key| self.all.get(key));
        self.controlled_by(owner).chain(held)
    }

    /// What of a kind has this object as its controller.
    pub fn owned(&self, owner: Uid, kind: Kind) -> impl Iterator<Item = &Object> {
        let owned = self.by_owner.get(&owner).map(|owned| self.indexed_of(&owned.slots, kind));
        owned.into_iter().flatten().map(|(_, object)| object)
    }

    /// The pods or ReplicaSets of a namespace that have no controller.
    pub fn orphans<'a>(&'a self, kind: Kind, namespace: &'a Name) -> impl Iterator<Item = &'a Object> {
        self.all_orphans(kind).filter(move |object| object.meta().namespace == *namespace)
    }

    /// The pods or ReplicaSets of all namespaces that have no controller.
    pub fn all_orphans(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        let all = (!self.orphans.is_empty()).then(|| self.indexed_of(&self.orphans, kind));
        all.into_iter().flatten().map(|(_, object)| object)
    }

    /// The pods of a namespace whose labels a selector takes.
    pub fn pods_labeled<'a, 'b>(
        &'a self,
        namespace: &'b Name,
        takes: impl Fn(&Labels) -> bool + 'b,
    ) -> impl Iterator<Item = &'a Rc<Pod>> {
        let groups = self.by_labels.get(namespace).into_iter().flat_map(Map::iter);
        let slots = groups.filter(move |(labels, _)| takes(labels)).flat_map(|(_, slots)| slots.slots());
        slots.filter_map(|slot| self.all.at(slot)).filter_map(Object::as_pod)
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
        self.by_node.get(node).into_iter().flat_map(|on| self.in_slots(on.pods.slots())).filter_map(Object::as_pod)
    }

    /// What the unfinished pods on a node ask for.
    pub fn usage(&self, node: &Name) -> Usage {
        self.by_node.get(node).map(|on| on.usage).unwrap_or_default()
    }

    /// Puts an object in place of the one with its key, which is returned.
    pub fn insert(&mut self, object: Object) -> Option<Object> {
        self.put(object.key(), object)
    }

    /// As [`Objects::insert`], for whoever knows the key already.
    pub fn put(&mut self, key: ObjectKey, object: Object) -> Option<Object> {
        let Some(slot) = self.all.slot(&key) else {
            let slot = self.all.add_at(key.clone(), object.clone());
            if self.counts.len() <= key.kind as usize {
                self.counts.resize(key.kind as usize + 1, 0);
            }
            self.counts[key.kind as usize] += 1;
            self.n_terminating += usize::from(is_terminating(&object));
            self.n_finished += usize::from(is_finished(&object));
            self.index_owners(&key, &object, slot);
            self.index_place(&key, &object, slot);
            self.index_labels(&key, &object, slot);
            return None;
        };
        let old = std::mem::replace(self.all.at_mut(slot)?, object.clone());
        self.reindex(&key, &old, &object, slot);
        Some(old)
    }

    pub fn remove(&mut self, key: &ObjectKey) -> Option<Object> {
        let slot = self.all.slot(key)?;
        let old = self.all.remove(key)?;
        self.counts[key.kind as usize] -= 1;
        self.n_terminating -= usize::from(is_terminating(&old));
        self.n_finished -= usize::from(is_finished(&old));
        self.unindex_owners(key, &old, slot);
        self.unindex_place(key, &old, slot);
        self.unindex_labels(key, &old, slot);
        Some(old)
    }

    /// Brings up to date what an object that changed is found by: mostly nothing.
    fn reindex(&mut self, key: &ObjectKey, old: &Object, new: &Object, slot: u32) {
        self.n_terminating += usize::from(is_terminating(new));
        self.n_terminating -= usize::from(is_terminating(old));
        self.n_finished += usize::from(is_finished(new));
        self.n_finished -= usize::from(is_finished(old));
        let same_labels = key.kind != Kind::Pod || old.meta().labels == new.meta().labels;
        if !same_labels {
            self.unindex_labels(key, old, slot);
            self.index_labels(key, new, slot);
        }
        if old.meta().owner_references != new.meta().owner_references {
            self.unindex_owners(key, old, slot);
            self.index_owners(key, new, slot);
        } else if let (Object::Pod(old), Object::Pod(new)) = (old, new)
            && (!same_labels || standing(old) != standing(new))
            && let Some(owner) = new.metadata.controller()
            && let Some(owned) = self.by_owner.get_mut(&owner.uid)
        {
            owned.tally.count(old, -1);
            owned.tally.count(new, 1);
        }
        match (old, new) {
            (Object::Pod(old), Object::Pod(new))
                if old.is_finished() == new.is_finished()
                    && old.spec.node_name == new.spec.node_name
                    && (Rc::ptr_eq(&old.spec, &new.spec) || old.spec == new.spec) => {}
            (Object::Pod(_) | Object::Node(_), _) => {
                self.unindex_place(key, old, slot);
                self.index_place(key, new, slot);
            }
            _ => {}
        }
    }

    fn index_labels(&mut self, key: &ObjectKey, object: &Object, slot: u32) {
        if key.kind == Kind::Pod && self.indexes == Indexes::All {
            let groups = self.by_labels.or_default(key.namespace.clone());
            let group = groups.or_default(object.meta().labels.clone());
            add(group, &self.all, key, slot);
        }
    }

    fn unindex_labels(&mut self, key: &ObjectKey, object: &Object, slot: u32) {
        let labels = &object.meta().labels;
        if key.kind == Kind::Pod
            && let Some(groups) = self.by_labels.get_mut(&key.namespace)
            && let Some(slots) = groups.get_mut(labels)
        {
            slots.remove_slot(key.rank(), slot);
            if slots.is_empty() {
                groups.remove(labels);
            }
        }
    }

    fn index_owners(&mut self, key: &ObjectKey, object: &Object, slot: u32) {
        if self.indexes < Indexes::Owners {
            return;
        }
        for owner in object.meta().owner_references.iter().filter(|owner| !owner.controller) {
            self.held_by.or_default(owner.uid).add(key.clone());
        }
        if let Some(owner) = object.meta().controller() {
            let owned = self.by_owner.or_default(owner.uid);
            add(&mut owned.slots, &self.all, key, slot);
            if let Object::Pod(pod) = object {
                owned.tally.count(pod, 1);
            }
        } else if matches!(object, Object::Pod(_) | Object::ReplicaSet(_)) {
            add(&mut self.orphans, &self.all, key, slot);
        }
    }

    fn unindex_owners(&mut self, key: &ObjectKey, object: &Object, slot: u32) {
        if self.indexes < Indexes::Owners {
            return;
        }
        for owner in object.meta().owner_references.iter().filter(|owner| !owner.controller) {
            if let Some(held) = self.held_by.get_mut(&owner.uid) {
                held.remove(key);
                if held.is_empty() {
                    self.held_by.remove(&owner.uid);
                }
            }
        }
        let Some(owner) = object.meta().controller() else {
            self.orphans.remove_slot(key.rank(), slot);
            return;
        };
        if let Some(owned) = self.by_owner.get_mut(&owner.uid) {
            owned.slots.remove_slot(key.rank(), slot);
            if let Object::Pod(pod) = object {
                owned.tally.count(pod, -1);
            }
            if owned.slots.is_empty() {
                self.by_owner.remove(&owner.uid);
            }
        }
    }

    fn index_place(&mut self, key: &ObjectKey, object: &Object, slot: u32) {
        match object {
            Object::Pod(pod) if pod.is_assigned() => {
                let on = self.by_node.or_default(pod.spec.node_name.clone());
                add(&mut on.pods, &self.all, key, slot);
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

    fn unindex_place(&mut self, key: &ObjectKey, object: &Object, slot: u32) {
        match object {
            Object::Pod(pod) if pod.is_assigned() => {
                if let Some(on) = self.by_node.get_mut(&pod.spec.node_name) {
                    on.pods.remove_slot(key.rank(), slot);
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
