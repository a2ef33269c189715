//! What the scheduler keeps in mind of the nodes and the pods on them, so that a turn costs what a node costs and not
//! what its pods cost.
//!
//! Mirrors `pkg/scheduler/backend/cache`, v1.36: kept up to date by the informers' handlers, with the pods that were
//! assigned and that the watch has not confirmed yet ("assumed").

use std::rc::Rc;

use super::place::Desk;
use super::ports::{HostPort, host_ports};
use super::reasons::Reasons;
use crate::api::{Affinity, LabelSelector, Labels, Name, Node, Object, ObjectKey, Pod, PodSpec};
use crate::apiserver::{Change, ChangeKind, Objects, Usage};
use crate::sim::Map;

/// The domain of a node that lacks the label.
pub(super) const NOWHERE: u32 = u32::MAX;
/// Counters kept at a time: one for each selector that pods were scheduled by of late.
const MAX_COUNTERS: usize = 64;

/// Namespaces that a term is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scope {
    All,
    In(Vec<Name>),
}

/// Pods by namespace and labels; a missing selector selects none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matcher {
    pub scope: Scope,
    pub selector: Option<LabelSelector>,
}

impl Matcher {
    pub fn matches(&self, namespace: &Name, labels: &Labels) -> bool {
        let in_scope = match &self.scope {
            Scope::All => true,
            Scope::In(names) => names.contains(namespace),
        };
        in_scope && self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }
}

/// How many pods on each node meet all of some matchers.
#[derive(Clone, Debug, PartialEq)]
struct Counter {
    matchers: Vec<Matcher>,
    skips_terminating: bool,
    per_node: Rc<Vec<i32>>,
    used: u64,
}

impl Counter {
    fn counted(&mut self) -> &mut [i32] {
        let per_node: &mut Vec<i32> = Rc::make_mut(&mut self.per_node);
        per_node
    }

    fn counts(&self, pod: &Pod) -> bool {
        let meta = &pod.metadata;
        !(self.skips_terminating && pod.is_terminating())
            && self.matchers.iter().all(|it| it.matches(&meta.namespace, &meta.labels))
    }
}

/// Pods of one namespace with the same wishes about other pods.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub namespace: Name,
    pub affinity: Rc<Affinity>,
    pub per_node: Vec<i32>,
}

impl Group {
    pub fn holds(&self, pod: &Pod) -> bool {
        let same = |affinity: &Rc<Affinity>| Rc::ptr_eq(affinity, &self.affinity) || *affinity == self.affinity;
        pod.metadata.namespace == self.namespace && pod.spec.affinity.as_ref().is_some_and(same)
    }
}

/// The values of one label over all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains {
    /// Each node's value by number.
    pub of: Vec<u32>,
    pub count: usize,
}

impl Domains {
    pub fn at(&self, node: usize) -> u32 {
        self.of.get(node).copied().unwrap_or(NOWHERE)
    }
}

/// One node.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub node: Rc<Node>,
    pub room: Usage,
    pub usage: Usage,
    /// What is asked of resources other than CPU, memory and pods.
    pub other: Map<String, i64>,
    pub ports: Vec<HostPort>,
    /// What every pod would have to look up in the node.
    pub has_taints: bool,
    pub is_cordoned: bool,
}

/// What came of holding a node against the last pod's spec; most pods have the same as the one before them, and few
/// nodes changed since.
#[derive(Clone, Copy, Debug, Default)]
struct Memo {
    reasons: Reasons,
    /// For free room and for even use, 0 to 100.
    points: [i32; 2],
    of: u32,
}

impl Slot {
    fn new(node: &Rc<Node>) -> Self {
        let mut slot = Self {
            node: Rc::clone(node),
            room: Usage::default(),
            usage: Usage::default(),
            other: Map::default(),
            ports: Vec::new(),
            has_taints: false,
            is_cordoned: false,
        };
        slot.take(node);
        slot
    }

    /// Takes over what a node says of itself.
    fn take(&mut self, node: &Rc<Node>) {
        self.node = Rc::clone(node);
        self.room = Usage::room(node);
        self.has_taints = !node.spec.taints.is_empty();
        self.is_cordoned = node.spec.unschedulable;
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Whether the nodes below are those of the cache; otherwise the next turn reads them anew.
    is_current: bool,
    pub slots: Vec<Slot>,
    /// Of the spec below and its number, one for each node.
    memos: Vec<Memo>,
    memo_of: Option<Rc<PodSpec>>,
    memo_number: u32,
    /// How many nodes have taints.
    n_tainted: usize,
    index: Map<Name, usize>,
    counters: Vec<Counter>,
    pub groups: Vec<Group>,
    domains: Vec<(String, Rc<Domains>)>,
    /// How many pods on nodes have each priority.
    priorities: Map<i32, i32>,
    assumed: Map<ObjectKey, (Name, Rc<Pod>)>,
    clock: u64,
    pub desk: Desk,
}

/// Requests for resources other than CPU and memory.
pub(super) fn other_requests(pod: &Pod) -> Vec<(String, i64)> {
    let mut names: Vec<&String> = Vec::new();
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        for name in container.resources.requests.keys() {
            if name != "cpu" && name != "memory" && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.into_iter().map(|name| (name.clone(), pod.spec.request(name).units())).collect()
}

fn counted(pod: &Pod) -> bool {
    pod.is_assigned() && !pod.is_finished()
}

impl Snapshot {
    pub fn is_assumed(&self, key: &ObjectKey) -> bool {
        self.assumed.contains_key(key)
    }

    pub fn find(&self, node: &Name) -> Option<usize> {
        self.index.get(node).copied()
    }

    /// The lowest priority of all pods on nodes.
    pub fn lowest_priority(&self) -> Option<i32> {
        self.priorities.keys().next().copied()
    }

    /// Looks from here on at pods with this spec.
    pub fn regard(&mut self, spec: &Rc<PodSpec>) {
        if self.memo_of.as_ref().is_none_or(|known| !Rc::ptr_eq(known, spec)) {
            self.memo_of = Some(Rc::clone(spec));
            self.memo_number += 1;
        }
    }

    /// What is known of nodes and the spec that is regarded, up to the first of which nothing is.
    pub fn known(&self, nodes: std::ops::Range<usize>) -> impl Iterator<Item = (Reasons, &[i32; 2])> {
        let memos = self.memos.get(nodes).unwrap_or_default().iter();
        memos.take_while(|memo| memo.of == self.memo_number).map(|memo| (memo.reasons, &memo.points))
    }

    pub fn remember(&mut self, at: usize, reasons: Reasons, points: [i32; 2]) {
        if let Some(place) = self.memos.get_mut(at) {
            *place = Memo { reasons, points, of: self.memo_number };
        }
    }

    pub fn has_taints(&self) -> bool {
        self.n_tainted > 0
    }

    fn changed(&mut self, at: usize) {
        if let Some(memo) = self.memos.get_mut(at) {
            *memo = Memo::default();
        }
    }

    /// Reads nodes and pods anew where nodes came, went or were labelled.
    pub fn refresh(&mut self, cache: &Objects) {
        if self.is_current {
            return;
        }
        let assumed = std::mem::take(&mut self.assumed);
        *self = Self { is_current: true, clock: self.clock, ..Self::default() };
        for (node, _) in cache.nodes() {
            self.index.insert(node.metadata.name.clone(), self.slots.len());
            self.slots.push(Slot::new(node));
        }
        self.memos = vec![Memo::default(); self.slots.len()];
        self.n_tainted = self.slots.iter().filter(|slot| slot.has_taints).count();
        for (node, _) in cache.nodes() {
            for pod in cache.pods_on(&node.metadata.name).filter(|pod| counted(pod)) {
                self.apply(pod, &node.metadata.name, 1);
            }
        }
        for (node, pod) in assumed.values() {
            self.apply(pod, node, 1);
        }
        self.assumed = assumed;
    }

    /// Counts a pod on a node before the watch tells of it.
    pub fn assume(&mut self, key: &ObjectKey, node: &Name, pod: &Rc<Pod>) {
        self.apply(pod, node, 1);
        self.assumed.insert(key.clone(), (node.clone(), Rc::clone(pod)));
    }

    pub fn forget(&mut self, key: &ObjectKey) {
        if let Some((node, pod)) = self.assumed.remove(key)
            && self.is_current
        {
            self.apply(&pod, &node, -1);
        }
    }

    /// Takes a change of a pod or node into account.
    pub fn hear(&mut self, change: &Change) {
        match &change.object {
            Object::Pod(pod) => self.hear_pod(change, pod),
            Object::Node(node) => {
                let labels = change.old.as_ref().map(|old| &old.meta().labels);
                let stays = change.kind == ChangeKind::Modified && labels == Some(&node.metadata.labels);
                match self.find(&node.metadata.name) {
                    Some(at) if stays => self.renew(at, node),
                    _ => self.is_current = false,
                }
            }
            _ => {}
        }
    }

    fn renew(&mut self, at: usize, node: &Rc<Node>) {
        let Some(slot) = self.slots.get_mut(at) else { return };
        self.n_tainted -= usize::from(slot.has_taints);
        slot.take(node);
        self.n_tainted += usize::from(slot.has_taints);
        self.changed(at);
    }

    fn hear_pod(&mut self, change: &Change, pod: &Rc<Pod>) {
        let is_gone = change.kind == ChangeKind::Deleted;
        if !is_gone && self.is_confirmed(change, pod) {
            self.assumed.remove(&change.key);
            return;
        }
        if is_gone || pod.is_assigned() {
            self.forget(&change.key);
        }
        if !self.is_current {
            return;
        }
        let before = change.old.as_ref().and_then(Object::as_pod).filter(|old| counted(old));
        let after = Some(pod).filter(|pod| !is_gone && counted(pod));
        if let (Some(before), Some(after)) = (before, after)
            && before.spec.node_name == after.spec.node_name
            && before.is_terminating() == after.is_terminating()
            && before.metadata.labels == after.metadata.labels
        {
            return;
        }
        if let Some(before) = before {
            self.apply(before, &before.spec.node_name, -1);
        }
        if let Some(after) = after {
            self.apply(after, &after.spec.node_name, 1);
        }
    }

    /// Whether a change only says of a pod what was assumed: it is counted already.
    fn is_confirmed(&self, change: &Change, pod: &Pod) -> bool {
        let old = change.old.as_ref().and_then(Object::as_pod);
        let was_free = old.is_some_and(|old| !old.is_assigned() && !old.is_terminating());
        let same = |known: &(Name, Rc<Pod>)| {
            known.0 == pod.spec.node_name && known.1.metadata.labels == pod.metadata.labels && !known.1.is_terminating()
        };
        self.is_current && was_free && pod.is_active() && self.assumed.get(&change.key).is_some_and(same)
    }

    /// Adds a pod to a node, or takes it off.
    fn apply(&mut self, pod: &Rc<Pod>, node: &Name, sign: i32) {
        let Some(&at) = self.index.get(node) else { return };
        let n_nodes = self.slots.len();
        let Some(slot) = self.slots.get_mut(at) else { return };
        slot.usage.combine(Usage::of(pod), sign.into());
        for (name, amount) in other_requests(pod) {
            *slot.other.or_default(name) += amount * i64::from(sign);
        }
        for port in host_ports(pod) {
            if sign > 0 {
                slot.ports.push(port);
            } else if let Some(known) = slot.ports.iter().position(|known| *known == port) {
                slot.ports.swap_remove(known);
            }
        }
        self.changed(at);
        for counter in &mut self.counters {
            if counter.counts(pod) {
                bump(counter.counted(), at, sign);
            }
        }
        let priority = pod.spec.priority.unwrap_or(0);
        let left = self.priorities.or_default(priority);
        *left += sign;
        if *left == 0 {
            self.priorities.remove(&priority);
        }
        let wishes = pod.spec.affinity.as_ref();
        if let Some(affinity) = wishes.filter(|it| it.pod_affinity.is_some() || it.pod_anti_affinity.is_some()) {
            let known = self.groups.iter().position(|group| group.holds(pod));
            let group = known.unwrap_or_else(|| {
                let (namespace, affinity) = (pod.metadata.namespace.clone(), Rc::clone(affinity));
                self.groups.push(Group { namespace, affinity, per_node: vec![0; n_nodes] });
                self.groups.len() - 1
            });
            if let Some(group) = self.groups.get_mut(group) {
                bump(&mut group.per_node, at, sign);
            }
        }
    }

    /// How many pods on each node meet all matchers.
    pub fn count(&mut self, cache: &Objects, matchers: Vec<Matcher>, skips_terminating: bool) -> Rc<Vec<i32>> {
        self.clock += 1;
        let clock = self.clock;
        let same = |it: &Counter| it.skips_terminating == skips_terminating && it.matchers == matchers;
        let at = match self.counters.iter().position(same) {
            Some(at) => at,
            None => {
                let mut counter = Counter { matchers, skips_terminating, per_node: Rc::default(), used: clock };
                let mut per_node: Vec<i32> = self.slots.iter().map(|slot| count_on(cache, slot, &counter)).collect();
                for (node, pod) in self.assumed.values() {
                    if let Some(at) = self.index.get(node).filter(|_| counter.counts(pod)) {
                        bump(&mut per_node, *at, 1);
                    }
                }
                counter.per_node = Rc::new(per_node);
                if self.counters.len() == MAX_COUNTERS
                    && let Some(oldest) = (0..MAX_COUNTERS).min_by_key(|at| self.counters.get(*at).map(|it| it.used))
                {
                    self.counters.swap_remove(oldest);
                }
                self.counters.push(counter);
                self.counters.len() - 1
            }
        };
        match self.counters.get_mut(at) {
            Some(counter) => {
                counter.used = clock;
                Rc::clone(&counter.per_node)
            }
            None => Rc::default(),
        }
    }

    /// The domains that a label divides the nodes into.
    pub fn domains(&mut self, key: &str) -> Rc<Domains> {
        if let Some((_, known)) = self.domains.iter().find(|(name, _)| name == key) {
            return Rc::clone(known);
        }
        let mut values: Map<&str, u32> = Map::default();
        let mut of = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            of.push(slot.node.metadata.labels.get(key).map_or(NOWHERE, |value| {
                let next = u32::try_from(values.len()).unwrap_or(NOWHERE);
                *values.or_insert_with(value, || next)
            }));
        }
        let domains = Rc::new(Domains { of, count: values.len() });
        self.domains.push((key.to_string(), Rc::clone(&domains)));
        domains
    }
}

fn count_on(cache: &Objects, slot: &Slot, counter: &Counter) -> i32 {
    let pods = cache.pods_on(&slot.node.metadata.name).filter(|pod| counted(pod) && counter.counts(pod));
    i32::try_from(pods.count()).unwrap_or(i32::MAX)
}

fn bump(counts: &mut [i32], at: usize, by: i32) {
    if let Some(count) = counts.get_mut(at) {
        *count += by;
    }
}
