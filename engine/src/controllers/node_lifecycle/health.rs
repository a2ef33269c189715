//! What is known of a node's heartbeats.

use crate::api::{MicroTime, Node, Timestamp, condition};
use crate::sim::{Millis, Time};

/// How long a node may stay silent (`nodeMonitorGracePeriod`, v1.36).
pub const GRACE: Millis = Millis(50_000);
/// How long a node may take until its kubelet says anything at all (`nodeStartupGracePeriod`).
const STARTUP_GRACE: Millis = Millis(60_000);

/// The newest heartbeat of a node, and when this controller saw it by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    renewed: Option<MicroTime>,
    heartbeat: Option<Timestamp>,
    seen_at: Time,
}

impl Health {
    /// Of a node that was never looked at before. One that never spoke is silent since it was created.
    pub fn new(node: &Node, now: Time, wall_millis: i64) -> Self {
        let age = match (condition(&node.status.conditions, "Ready"), node.metadata.creation_timestamp) {
            (None, Some(created)) => u64::try_from(wall_millis - created.0 * 1000).unwrap_or(0),
            _ => 0,
        };
        Self { renewed: None, heartbeat: None, seen_at: now - Millis(age) }
    }

    /// Takes in the lease and the node's status as the cache has them.
    pub fn hear(&mut self, renewed: Option<MicroTime>, node: &Node, now: Time) {
        let ready = condition(&node.status.conditions, "Ready");
        let heartbeat = ready.and_then(|ready| ready.last_heartbeat_time);
        if renewed != self.renewed || heartbeat != self.heartbeat {
            *self = Self { renewed, heartbeat, seen_at: now };
        }
    }

    /// Begins to wait anew, as after a time in which the controller itself heard nothing.
    pub fn refresh(&mut self, now: Time) {
        self.seen_at = now;
    }

    pub fn silence(&self, now: Time) -> Millis {
        now.since(self.seen_at)
    }

    pub fn is_late(&self, has_spoken: bool, now: Time) -> bool {
        self.silence(now) > if has_spoken { GRACE } else { STARTUP_GRACE }
    }
}
