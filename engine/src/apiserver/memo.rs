//! Writes that come again and again, as pods of one template make them, lead to the same managers again and again: what
//! came of them last is kept, so that a write costs a glance and such objects share their managers.

use std::rc::Rc;

use super::fields::Difference;
use super::managers::Write;
use crate::api::{Condition, Labels, Managed, ManagerId, Name, Object, ObjectMeta, Pod, PodSpec, Timestamp, Uid};

/// Writes remembered.
const MOST: usize = 48;

#[derive(Clone, Debug)]
struct Known {
    from: Managed,
    by: ManagerId,
    now: Timestamp,
    print: Print,
    to: Managed,
}

/// A new pod as far as its managers depend on it.
#[derive(Clone, Debug)]
struct Made {
    by: ManagerId,
    now: Timestamp,
    spec: Rc<PodSpec>,
    metadata: ObjectMeta,
    to: Managed,
}

/// What came of the newest writes. A copy begins with nothing: it only loses time.
#[derive(Debug, Default)]
pub(super) struct Memo {
    known: Vec<Known>,
    next: usize,
    changes: Vec<(Print, Rc<Difference>)>,
    next_change: usize,
    made: Option<Made>,
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Memo {
    /// What came of such a write.
    pub fn find(&self, from: &Managed, print: Print, write: &Write) -> Option<Managed> {
        let is_it =
            |it: &&Known| it.print == print && it.now == write.now && it.by == write.by && it.from.is_same(from);
        self.known.iter().find(is_it).map(|it| it.to.clone())
    }

    /// Remembers what came of a write. What is as something remembered is shared with it.
    pub fn keep(&mut self, from: &Managed, print: Option<Print>, write: &Write, to: Managed) -> Managed {
        let to = if to.is_as(from) { from.clone() } else { to };
        let to = self.known.iter().map(|it| &it.to).find(|it| it.is_as(&to)).cloned().unwrap_or(to);
        let print = print.unwrap_or(Print(0));
        let known = Known { from: from.clone(), by: write.by, now: write.now, print, to: to.clone() };
        put(&mut self.known, &mut self.next, known);
        to
    }

    /// The fields that such a write changes.
    pub fn change(&self, print: Print) -> Option<Rc<Difference>> {
        self.changes.iter().find(|(known, _)| *known == print).map(|(_, change)| Rc::clone(change))
    }

    pub fn keep_change(&mut self, print: Print, change: &Rc<Difference>) {
        put(&mut self.changes, &mut self.next_change, (print, Rc::clone(change)));
    }

    /// The managers of a new pod like the last one.
    pub fn made(&self, pod: &Pod, write: &Write) -> Option<Managed> {
        let made = self.made.as_ref()?;
        let (a, b) = (&made.metadata, &pod.metadata);
        let is_like = Rc::ptr_eq(&made.spec, &pod.spec)
            && made.by == write.by
            && same_keys(&a.labels, &b.labels)
            && same_keys(&a.annotations, &b.annotations)
            && a.owner_references == b.owner_references
            && a.finalizers == b.finalizers
            && a.extra == b.extra
            && a.generate_name.is_empty() == b.generate_name.is_empty();
        (is_like && made.now == write.now).then(|| made.to.clone())
    }

    pub fn keep_made(&mut self, pod: &Pod, write: &Write, to: &Managed) {
        let metadata = ObjectMeta { name: Name::default(), uid: Uid::default(), ..pod.metadata.clone() };
        let (by, now) = (write.by, write.now);
        self.made = Some(Made { by, now, spec: Rc::clone(&pod.spec), metadata, to: to.clone() });
    }
}

/// Puts an item in the place of the oldest of too many.
fn put<T>(list: &mut Vec<T>, next: &mut usize, item: T) {
    if list.len() < MOST {
        list.push(item);
    } else {
        list[*next] = item;
        *next = (*next + 1) % MOST;
    }
}

fn same_keys(a: &Labels, b: &Labels) -> bool {
    a.len() == b.len() && a.keys().all(|key| b.contains_key(key))
}

/// Which fields a write adds, changes and removes, as a number; nothing for writes that do not come again and again.
pub(super) fn fingerprint(old: &Object, new: &Object, subresource: &str) -> Option<Print> {
    let mut print = Print(0xcbf2_9ce4_8422_2325);
    print.byte(new.kind() as u8);
    match (old, new, subresource) {
        (Object::Pod(old), Object::Pod(new), "status") => print.pod(old, new)?,
        (Object::ReplicaSet(old), Object::ReplicaSet(new), "status") => {
            let (a, b) = (&old.status, &new.status);
            print.leaf(&a.available_replicas, &b.available_replicas);
            print.leaf(&a.fully_labeled_replicas, &b.fully_labeled_replicas);
            print.leaf(&a.observed_generation, &b.observed_generation);
            print.leaf(&a.ready_replicas, &b.ready_replicas);
            print.leaf(&a.replicas, &b.replicas);
            print.leaf(&a.terminating_replicas, &b.terminating_replicas);
            print.conditions(&a.conditions, &b.conditions);
        }
        (Object::Deployment(old), Object::Deployment(new), "status") => {
            let (a, b) = (&old.status, &new.status);
            if old.metadata.annotations != new.metadata.annotations {
                return None;
            }
            print.leaf(&a.available_replicas, &b.available_replicas);
            print.leaf(&a.collision_count, &b.collision_count);
            print.leaf(&a.observed_generation, &b.observed_generation);
            print.leaf(&a.ready_replicas, &b.ready_replicas);
            print.leaf(&a.replicas, &b.replicas);
            print.leaf(&a.terminating_replicas, &b.terminating_replicas);
            print.leaf(&a.unavailable_replicas, &b.unavailable_replicas);
            print.leaf(&a.updated_replicas, &b.updated_replicas);
            print.conditions(&a.conditions, &b.conditions);
        }
        (Object::Node(old), Object::Node(new), "status") => {
            let (a, b) = (&old.status, &new.status);
            if a.allocatable != b.allocatable || a.capacity != b.capacity || a.extra != b.extra {
                return None;
            }
            print.conditions(&a.conditions, &b.conditions);
        }
        (Object::Lease(old), Object::Lease(new), "") => {
            let (mut a, b) = (old.spec.clone(), &new.spec);
            print.leaf(&a.renew_time, &b.renew_time);
            a.renew_time = b.renew_time;
            let (x, y) = (&old.metadata, &new.metadata);
            let is_renewal = a == *b
                && x.labels == y.labels
                && x.annotations == y.annotations
                && x.owner_references == y.owner_references
                && x.finalizers == y.finalizers;
            if !is_renewal {
                return None;
            }
        }
        _ => return None,
    }
    Some(print)
}

/// FNV-1a over what is there before, what after, and whether it is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Print(u64);

impl Print {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn leaf<T: PartialEq + Default>(&mut self, old: &T, new: &T) {
        let none = T::default();
        let (before, after) = (*old != none, *new != none);
        self.byte(u8::from(before) | u8::from(after) << 1 | u8::from(old != new) << 2);
    }

    fn conditions(&mut self, old: &[Condition], new: &[Condition]) {
        let none = Condition::default();
        let of = |list: &'_ [Condition], it: &Condition| list.iter().position(|known| known.kind == it.kind);
        self.byte(u8::from(old.is_empty()) | u8::from(new.is_empty()) << 1 | 8);
        for it in new {
            self.condition(it, of(old, it).map_or(&none, |at| &old[at]), it);
        }
        for it in old.iter().filter(|it| of(new, it).is_none()) {
            self.condition(it, it, &none);
        }
    }

    fn condition(&mut self, named: &Condition, old: &Condition, new: &Condition) {
        for byte in named.kind.bytes() {
            self.byte(byte);
        }
        self.leaf(&old.kind, &new.kind);
        self.leaf(&old.status, &new.status);
        self.leaf(&old.reason, &new.reason);
        self.leaf(&old.message, &new.message);
        self.leaf(&old.last_heartbeat_time, &new.last_heartbeat_time);
        self.leaf(&old.last_update_time, &new.last_update_time);
        self.leaf(&old.last_transition_time, &new.last_transition_time);
        self.leaf(&old.observed_generation, &new.observed_generation);
    }

    fn pod(&mut self, old: &Pod, new: &Pod) -> Option<()> {
        let (a, b) = (&old.status, &new.status);
        if !Rc::ptr_eq(&old.spec, &new.spec) || a.extra != b.extra {
            return None;
        }
        self.leaf(&a.container_statuses, &b.container_statuses);
        self.leaf(&a.init_container_statuses, &b.init_container_statuses);
        self.leaf(&a.host_ip, &b.host_ip);
        self.leaf(&a.message, &b.message);
        self.leaf(&a.nominated_node_name, &b.nominated_node_name);
        self.leaf(&a.observed_generation, &b.observed_generation);
        self.leaf(&a.phase, &b.phase);
        self.leaf(&a.pod_ip, &b.pod_ip);
        self.leaf(&a.qos_class, &b.qos_class);
        self.leaf(&a.reason, &b.reason);
        self.leaf(&a.start_time, &b.start_time);
        self.conditions(&a.conditions, &b.conditions);
        Some(())
    }
}
