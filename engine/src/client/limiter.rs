use crate::sim::{Millis, Time};

/// A token bucket in virtual time (`golang.org/x/time/rate`, as `client-go` v1.36 uses it): so many at once, then one
/// each interval. Those that must wait keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenBucket {
    /// When the bucket would be full again had it no limit.
    full_at: Time,
}

impl TokenBucket {
    /// Takes a token and says how long to wait for it.
    pub fn take(&mut self, now: Time, interval: Millis, burst: u32) -> Millis {
        let from = self.full_at.max(now);
        self.full_at = from + interval;
        let slack = Millis(interval.0 * u64::from(burst.saturating_sub(1)));
        Millis(from.since(now).0.saturating_sub(slack.0))
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
}
