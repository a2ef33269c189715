//! How long a failed pod of a DaemonSet is left alone before it is replaced (`failedPodsBackoff`, and
//! `client-go/util/flowcontrol/backoff.go`, v1.36).

use crate::api::{Name, Uid};
use crate::client::BackOff;
use crate::sim::{Map, Millis, Time};

const BASE: Millis = Millis(1_000);
const CAP: Millis = Millis(15 * 60_000);

/// The back-off of each DaemonSet in each of its generations on each node.
#[derive(Clone, Debug, Default)]
pub struct FailedPods(Map<(Uid, Name), (i64, BackOff)>);

impl FailedPods {
    /// How long until the failed pod on a node may go; nothing where it may go now, which the next one waits for twice
    /// as long.
    pub fn wait(&mut self, set: Uid, generation: i64, node: &Name, now: Time) -> Option<Millis> {
        let key = (set, node.clone());
        let known = self.0.get(&key).filter(|(of, _)| *of == generation).map(|(_, back_off)| *back_off);
        let known = known.filter(|it| now.since(it.set_at) <= Millis(2 * CAP.0));
        let delay = match known {
            Some(it) if now.since(it.set_at) < it.delay => return Some(it.delay),
            Some(it) => Millis((it.delay.0 * 2).min(CAP.0)),
            None => BASE,
        };
        self.0.insert(key, (generation, BackOff { delay, set_at: now }));
        None
    }

    pub fn forget(&mut self, set: Uid) {
        self.0.retain(|(of, _), _| *of != set);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_on_a_node_doubles_the_wait_from_one_second_to_a_quarter_of_an_hour() {
        let (mut failed, node) = (FailedPods::default(), Name::from("a"));
        let mut now = Time(5_000);
        let mut delays = Vec::new();
        assert_eq!(failed.wait(Uid(1), 1, &node, now), None, "the first goes at once");
        for _ in 0..12 {
            let delay = failed.wait(Uid(1), 1, &node, now + Millis(10)).expect("it waits");
            delays.push(delay.0 / 1000);
            now = now + delay;
            assert_eq!(failed.wait(Uid(1), 1, &node, now), None);
        }
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
        assert_eq!(failed.wait(Uid(1), 1, &Name::from("b"), now), None, "another node");
        assert_eq!(failed.wait(Uid(1), 2, &node, now), None, "another template");
        assert_eq!(failed.wait(Uid(1), 2, &node, now), Some(BASE));
        let later = now + Millis(2 * CAP.0 + 1);
        assert_eq!(failed.wait(Uid(1), 2, &node, later), None, "that was long ago");
        failed.forget(Uid(1));
        assert_eq!(failed.wait(Uid(1), 2, &node, later), None);
    }
}
