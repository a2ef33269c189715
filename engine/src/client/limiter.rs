use crate::sim::{Millis, Time};

/// A token bucket in virtual time (`golang.org/x/time/rate`, as `client-go` v1.36 uses it): so many at once, then one
/// each interval. Those that must wait keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenBucket {
    /// When the bucket would be full again had it no limit.
    full_at: Time,
    /// Events that wait to be sent, and from when on the next of them may ask for a token: a recorder sends one by one,
    /// and nobody waits for it.
    events: u32,
    recorder_is_free: Time,
}

impl TokenBucket {
    /// Takes a token and says how long to wait for it.
    pub fn take(&mut self, now: Time, interval: Millis, burst: u32) -> Millis {
        while self.events > 0 && self.recorder_is_free <= now {
            let at = self.recorder_is_free;
            self.recorder_is_free = at + self.reserve(at, interval, burst);
            self.events -= 1;
        }
        self.reserve(now, interval, burst)
    }

    fn reserve(&mut self, now: Time, interval: Millis, burst: u32) -> Millis {
        let from = self.full_at.max(now);
        self.full_at = from + interval;
        let slack = Millis(interval.0 * u64::from(burst.saturating_sub(1)));
        Millis(from.since(now).0.saturating_sub(slack.0))
    }

    /// An Event is to be sent: it goes through the same client.
    pub fn announce(&mut self, now: Time) {
        if self.events == 0 {
            self.recorder_is_free = self.recorder_is_free.max(now);
        }
        self.events += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_burst_tokens_come_one_by_one_and_fill_up_again() {
        let mut bucket = TokenBucket::default();
        let waits: Vec<u64> = (0..33).map(|_| bucket.take(Time(1_000), Millis(50), 30).0).collect();
        assert_eq!(waits[..30], [0; 30]);
        assert_eq!(waits[30..], [50, 100, 150]);
        assert_eq!(bucket.take(Time(1_150), Millis(50), 30), Millis(50));
        assert_eq!(bucket.take(Time(60_000), Millis(50), 30), Millis(0));
    }

    /// A request that comes while Events wait for tokens waits behind one of them, not behind all.
    #[test]
    fn events_take_tokens_one_by_one() {
        let mut bucket = TokenBucket::default();
        (0..25).for_each(|_| bucket.announce(Time(0)));
        assert_eq!(bucket.take(Time(0), Millis(50), 30), Millis(0), "25 of 30 are gone");
        (0..10).for_each(|_| bucket.announce(Time(0)));
        assert_eq!(bucket.take(Time(1), Millis(50), 30), Millis(99), "four are left, the fifth Event waits");
        assert_eq!(bucket.take(Time(60), Millis(50), 30), Millis(140), "and then the sixth");
    }
}
