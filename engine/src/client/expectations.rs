use super::Context;
use crate::api::{ObjectKey, Uid};
use crate::sim::{Map, Millis, Set, Time};

/// What a controller has asked for and not yet seen in its cache (`controller.UIDTrackingControllerExpectations`,
/// v1.36). Until it has, its cache is known to be behind and it must not act on it.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    by_key: Map<ObjectKey, Expected>,
}

#[derive(Clone, Debug, Default)]
struct Expected {
    creations: i64,
    deletions: Set<Uid>,
    since: Time,
}

impl Expectations {
    /// After this long an expectation is given up: something was lost.
    pub const TIMEOUT: Millis = Millis(5 * 60_000);

    pub fn expect_creations(&mut self, key: &ObjectKey, count: i64, now: Time) {
        self.expect(key, count, [], now);
    }

    pub fn expect_deletions(&mut self, key: &ObjectKey, uids: impl IntoIterator<Item = Uid>, now: Time) {
        self.expect(key, 0, uids, now);
    }

    pub fn expect(&mut self, key: &ObjectKey, creations: i64, uids: impl IntoIterator<Item = Uid>, now: Time) {
        let expected = self.by_key.or_default(key.clone());
        expected.creations = creations;
        expected.deletions = uids.into_iter().map(|uid| (uid, ())).collect();
        expected.since = now;
    }

    /// A creation was seen, or will never be because it was refused.
    pub fn creation_observed(&mut self, key: &ObjectKey) {
        if let Some(expected) = self.by_key.get_mut(key) {
            expected.creations -= 1;
        }
    }

    pub fn deletion_observed(&mut self, key: &ObjectKey, uid: Uid) {
        if let Some(expected) = self.by_key.get_mut(key) {
            expected.deletions.remove(&uid);
        }
    }

    /// Whether the cache shows everything that was asked for, or nobody cares.
    pub fn are_met(&self, key: &ObjectKey, context: &Context<'_>) -> bool {
        let is_late = |since: Time| context.now.since(since) > Self::TIMEOUT;
        self.by_key
            .get(key)
            .filter(|_| context.expects)
            .is_none_or(|expected| expected.creations <= 0 && expected.deletions.is_empty() || is_late(expected.since))
    }

    pub fn forget(&mut self, key: &ObjectKey) {
        self.by_key.remove(key);
    }
}
