//! What a pass found of one node, kept for the next one: most nodes are then as they were.

use std::rc::Rc;

use super::health::Health;
use super::taints;
use super::zones::{counts, zone_of};
use crate::api::{Kind, Lease, Name, Node, Object, ObjectKey, condition};
use crate::apiserver::Objects;
use crate::client::Context;
use crate::sim::Time;

#[derive(Clone, Debug)]
pub(super) struct Known {
    pub node: Rc<Node>,
    lease: Option<Rc<Lease>>,
    /// Where the cache keeps the lease.
    slot: Option<u32>,
    pub health: Health,
    /// The status of its Ready condition as the cache has it.
    status: Option<&'static str>,
    /// It has been silent for too long, and the API does not say so yet.
    pub is_news: bool,
    /// The status of its Ready condition, as it is after this pass; empty where nobody ever gave one.
    pub readiness: &'static str,
    pub zone: String,
    /// It counts when the state of its zone is worked out.
    pub counts: bool,
    /// It has a NoExecute taint that this controller gives.
    pub is_tainted: bool,
}

impl Known {
    /// A node that no pass has looked at yet.
    pub fn new(node: &Rc<Node>, context: &Context<'_>) -> Self {
        let health = Health::new(node, context.now, context.wall_millis);
        let mut known = Self {
            node: Rc::clone(node),
            lease: None,
            slot: None,
            health,
            status: None,
            is_news: false,
            readiness: "",
            zone: String::new(),
            counts: false,
            is_tainted: false,
        };
        known.take(node);
        known
    }

    pub fn name(&self) -> &Name {
        &self.node.metadata.name
    }

    pub fn is_of(&self, node: &Rc<Node>) -> bool {
        Rc::ptr_eq(&self.node, node) || *self.name() == node.metadata.name
    }

    /// Takes over what a node says of itself.
    fn take(&mut self, node: &Rc<Node>) {
        self.node = Rc::clone(node);
        self.status = condition(&node.status.conditions, "Ready").map(|ready| match ready.status.as_str() {
            "True" => "True",
            "False" => "False",
            _ => "Unknown",
        });
        self.zone = zone_of(node);
        self.counts = counts(node);
        self.is_tainted = taints::evicts(node);
    }

    /// Looks at the node and its lease as the cache has them now.
    pub fn look(&mut self, node: &Rc<Node>, cache: &Objects, now: Time) {
        let is_same = Rc::ptr_eq(&self.node, node);
        if !is_same {
            self.take(node);
        }
        if self.look_at_lease(cache) || !is_same {
            let renewed = self.lease.as_ref().and_then(|lease| lease.spec.renew_time);
            self.health.hear(renewed, node, now);
        }
        let is_late = self.health.is_late(self.status.is_some(), now);
        self.readiness = if is_late { "Unknown" } else { self.status.unwrap_or_default() };
        self.is_news = is_late && self.status != Some("Unknown");
    }

    /// Takes the lease over. Whether it may be another one than before.
    fn look_at_lease(&mut self, cache: &Objects) -> bool {
        let kept = self.slot.and_then(|slot| cache.in_slot(slot)).and_then(Object::as_lease);
        if kept.is_some_and(|kept| self.lease.as_ref().is_some_and(|known| Rc::ptr_eq(known, kept))) {
            return false;
        }
        let uid = self.lease.as_ref().map(|it| it.metadata.uid);
        let is_own = |lease: &&Rc<Lease>| uid == Some(lease.metadata.uid);
        let lease = match kept.filter(is_own) {
            Some(lease) => Some(Rc::clone(lease)),
            None => {
                let key = ObjectKey::new(Kind::Lease, "kube-node-lease", self.name().clone());
                self.slot = cache.slot(&key);
                self.slot.and_then(|slot| cache.in_slot(slot)).and_then(Object::as_lease).map(Rc::clone)
            }
        };
        self.lease = lease;
        true
    }
}
