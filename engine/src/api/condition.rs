use super::{Record, Text, Timestamp, Visitor};

/// A condition of any kind of object: `status` is `True`, `False` or `Unknown`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condition {
    pub kind: Text,
    pub status: Text,
    pub reason: Text,
    pub message: Text,
    pub last_heartbeat_time: Option<Timestamp>,
    pub last_update_time: Option<Timestamp>,
    pub last_transition_time: Option<Timestamp>,
    /// The generation of the object that it is about, where its author says so; 0 where not.
    pub observed_generation: i64,
}

impl Record for Condition {
    fn fields(&mut self, visitor: &mut dyn Visitor) {
        // A budget's is a `metav1.Condition`, which has a message even where there is nothing to say.
        let is_meta = self.kind == "DisruptionAllowed";
        visitor.field("type", true, &mut self.kind);
        visitor.field("status", true, &mut self.status);
        visitor.field("reason", false, &mut self.reason);
        visitor.field("message", is_meta, &mut self.message);
        visitor.field("lastHeartbeatTime", false, &mut self.last_heartbeat_time);
        visitor.field("lastUpdateTime", false, &mut self.last_update_time);
        visitor.field("lastTransitionTime", false, &mut self.last_transition_time);
        visitor.field("observedGeneration", false, &mut self.observed_generation);
    }
}

impl Condition {
    pub fn new(kind: impl Into<Text>, status: bool) -> Self {
        let status = if status { "True" } else { "False" };
        Self { kind: kind.into(), status: status.into(), ..Self::default() }
    }

    #[must_use]
    pub fn because(mut self, reason: impl Into<Text>, message: impl Into<Text>) -> Self {
        self.reason = reason.into();
        self.message = message.into();
        self
    }

    pub fn is_true(&self) -> bool {
        self.status == "True"
    }
}

/// The condition of a type, if it is there.
pub fn condition<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// Sets a condition the way the API machinery does: the transition time moves only when the status changes.
pub fn set_condition(conditions: &mut Vec<Condition>, mut new: Condition, now: Timestamp) {
    new.last_transition_time.get_or_insert(now);
    match conditions.iter_mut().find(|condition| condition.kind == new.kind) {
        Some(old) => {
            if old.status == new.status {
                new.last_transition_time = old.last_transition_time;
            }
            *old = new;
        }
        None => conditions.push(new),
    }
}
