//! Zones, how much of each is down, and how fast its nodes may be tainted NoExecute.

use crate::api::{Name, Node};
use crate::sim::{Map, Millis, Set, Time};

/// From this share of nodes that are not ready on a zone counts as disrupted (`unhealthyZoneThreshold`), in percent.
const DISRUPTED_PERCENT: usize = 55;
/// A disrupted zone of at most this many nodes evicts nothing (`largeClusterSizeThreshold`).
const SMALL_ZONE: usize = 50;
/// One node in this time (`nodeEvictionRate` 0.1 a second).
const USUAL: Millis = Millis(10_000);
/// The same for a large zone that is disrupted (`secondaryNodeEvictionRate` 0.01 a second).
const REDUCED: Millis = Millis(100_000);
/// A pass that begins a little early still finds its token: the real tainter asks every 100 ms.
const SLACK: Millis = Millis(100);
/// Such nodes do not count when a zone's state is worked out.
const EXCLUDED: &str = "node.kubernetes.io/exclude-disruption";

/// Region and zone of a node; empty where it has neither (`GetZoneKey`).
pub fn zone_of(node: &Node) -> String {
    let label = |key: &str, old: &str| {
        let labels = &node.metadata.labels;
        labels.get(key).or_else(|| labels.get(old)).map(String::as_str).unwrap_or_default()
    };
    let region = label("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region");
    let zone = label("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone");
    if region.is_empty() && zone.is_empty() { String::new() } else { format!("{region}:{zone}") }
}

pub fn counts(node: &Node) -> bool {
    !node.metadata.labels.contains_key(EXCLUDED)
}

/// How much of a zone is down (`ZoneState`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneState {
    #[default]
    Initial,
    Normal,
    PartialDisruption,
    FullDisruption,
}

impl ZoneState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Initial => "Initial",
            Self::Normal => "Normal",
            Self::PartialDisruption => "PartialDisruption",
            Self::FullDisruption => "FullDisruption",
        }
    }
}

/// The nodes of a zone: how many are not ready, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub unready: usize,
    pub total: usize,
}

impl Tally {
    pub fn count(&mut self, is_ready: bool) {
        self.total += 1;
        self.unready += usize::from(!is_ready);
    }

    /// `ComputeZoneState`
    pub fn state(self) -> ZoneState {
        if self.unready > 0 && self.unready == self.total {
            ZoneState::FullDisruption
        } else if self.unready > 2 && self.unready * 100 >= self.total * DISRUPTED_PERCENT {
            ZoneState::PartialDisruption
        } else {
            ZoneState::Normal
        }
    }

    /// Time from one taint to the next in a zone of this state; never where there is none.
    fn interval(self, state: ZoneState) -> Option<Millis> {
        match state {
            ZoneState::PartialDisruption if self.total > SMALL_ZONE => Some(REDUCED),
            ZoneState::PartialDisruption => None,
            _ => Some(USUAL),
        }
    }
}

/// A token bucket that holds one token; none at all without an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limiter {
    interval: Option<Millis>,
    next: Time,
}

impl Default for Limiter {
    fn default() -> Self {
        Self { interval: Some(USUAL), next: Time(0) }
    }
}

impl Limiter {
    fn take(&mut self, now: Time) -> bool {
        let Some(interval) = self.interval.filter(|_| now + SLACK >= self.next) else { return false };
        self.next = now.max(self.next) + interval;
        true
    }

    /// A new bucket is full, unless the old one was empty (`SwapLimiter`).
    fn swap(&mut self, interval: Option<Millis>, now: Time) {
        if self.interval != interval {
            let drained = !self.take(now);
            self.interval = interval;
            self.next = now;
            if drained {
                self.take(now);
            }
        }
    }
}

/// A node that waits for its taint, and whether its turn has come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pending {
    node: Name,
    is_due: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Zone {
    state: ZoneState,
    limiter: Limiter,
    pending: Vec<Pending>,
}

/// What became of the cluster as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Every node of every zone went down: it is rather the controller that is cut off. Nothing is evicted.
    AllDown,
    /// That is over: the first node is back.
    SomeBack,
    AsBefore,
}

/// All zones.
#[derive(Clone, Debug, Default)]
pub struct Zones(Map<String, Zone>);

impl Zones {
    pub fn state(&self, zone: &str) -> ZoneState {
        self.0.get(zone).map_or(ZoneState::Initial, |zone| zone.state)
    }

    /// Whether a zone's nodes are tainted NoExecute at all at present.
    pub fn evicts(&self, zone: &str) -> bool {
        self.0.get(zone).is_none_or(|zone| zone.limiter.interval.is_some())
    }

    /// Takes in how many nodes of each zone are down, and sets the pace accordingly (`handleDisruption`).
    pub fn assess(&mut self, tallies: &Map<String, Tally>, now: Time) -> Turn {
        self.0.retain(|zone, _| tallies.contains_key(zone));
        for zone in tallies.keys() {
            self.0.or_default(zone.clone());
        }
        let are_down = |state: ZoneState| state == ZoneState::FullDisruption;
        let all_are = tallies.values().all(|tally| are_down(tally.state()));
        let all_were = self.0.values().all(|zone| are_down(zone.state));
        if all_are && all_were {
            return Turn::AsBefore;
        }
        for (name, tally) in tallies.iter() {
            let Some(zone) = self.0.get_mut(name) else { continue };
            let state = tally.state();
            if all_are {
                zone.limiter.swap(None, now);
                zone.pending.clear();
            } else if all_were || zone.state != state {
                zone.limiter.swap(tally.interval(state), now);
            }
            zone.state = state;
        }
        match (all_are, all_were) {
            (true, _) => Turn::AllDown,
            (_, true) => Turn::SomeBack,
            _ => Turn::AsBefore,
        }
    }

    /// Nodes of zones are to be tainted; those that wait already keep their places.
    pub fn add<'a>(&mut self, nodes: impl Iterator<Item = (&'a str, &'a Name)>) {
        let waiting = self.0.values().flat_map(|zone| &zone.pending);
        let waiting: Set<Name> = waiting.map(|pending| (pending.node.clone(), ())).collect();
        for (zone, node) in nodes.filter(|(_, node)| !waiting.contains(*node)) {
            if let Some(zone) = self.0.get_mut(zone) {
                zone.pending.push(Pending { node: node.clone(), is_due: false });
            }
        }
    }

    /// Forgets nodes that need no taint any more.
    pub fn keep(&mut self, needs_taint: impl Fn(&Name) -> bool) {
        for zone in self.0.values_mut() {
            zone.pending.retain(|pending| needs_taint(&pending.node));
        }
    }

    /// The nodes whose turn has come. One stays among them until it is known to be tainted.
    pub fn due(&mut self, now: Time) -> Vec<Name> {
        let mut due = Vec::new();
        for zone in self.0.values_mut() {
            for pending in &mut zone.pending {
                pending.is_due = pending.is_due || zone.limiter.take(now);
                if !pending.is_due {
                    break;
                }
                due.push(pending.node.clone());
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(unready: usize, total: usize) -> Tally {
        Tally { unready, total }
    }

    #[test]
    fn the_state_of_a_zone_and_its_pace() {
        use ZoneState::{FullDisruption, Normal, PartialDisruption};
        let table = [
            (0, 3, Normal, Some(USUAL)),
            (1, 3, Normal, Some(USUAL)),
            // Two of three are more than 55 %, but no more than two.
            (2, 3, Normal, Some(USUAL)),
            (1, 1, FullDisruption, Some(USUAL)),
            (3, 3, FullDisruption, Some(USUAL)),
            (3, 5, PartialDisruption, None),
            (3, 6, Normal, Some(USUAL)),
            (11, 20, PartialDisruption, None),
            (27, 50, Normal, Some(USUAL)),
            (28, 50, PartialDisruption, None),
            (28, 51, Normal, Some(USUAL)),
            (29, 51, PartialDisruption, Some(REDUCED)),
            (99, 100, PartialDisruption, Some(REDUCED)),
            (100, 100, FullDisruption, Some(USUAL)),
        ];
        for (unready, total, state, interval) in table {
            let tally = tally(unready, total);
            assert_eq!((tally.state(), tally.interval(tally.state())), (state, interval), "{unready} of {total}");
        }
    }

    #[test]
    fn a_zone_is_region_and_zone_by_the_new_labels_or_the_old() {
        let node = |labels: &[(&str, &str)]| {
            let mut node = Node::default();
            node.metadata.labels = labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            zone_of(&node)
        };
        assert_eq!(node(&[("kubernetes.io/os", "linux")]), "");
        assert_eq!(node(&[("topology.kubernetes.io/zone", "a")]), ":a");
        let both = [("topology.kubernetes.io/region", "eu"), ("topology.kubernetes.io/zone", "a")];
        assert_eq!(node(&both), "eu:a");
        assert_eq!(node(&[("failure-domain.beta.kubernetes.io/zone", "b")]), ":b");
    }

    /// Zones `a` and `b` through states given as (unready, total), one pass every 5 s; what each pass taints.
    fn play(passes: &[[(usize, usize); 2]]) -> Vec<(u64, Turn, Vec<String>)> {
        let mut zones = Zones::default();
        let mut tainted: Vec<Name> = Vec::new();
        let mut seen = Vec::new();
        for (n, sizes) in passes.iter().enumerate() {
            let now = Time(1_000_000 + 5_000 * n as u64);
            let names = ["a", "b"].into_iter().zip(sizes).filter(|(_, (_, total))| *total > 0);
            let tallies = names.clone().map(|(zone, (unready, total))| (zone.to_string(), tally(*unready, *total)));
            let turn = zones.assess(&tallies.collect(), now);
            if turn == Turn::AllDown {
                tainted.clear();
            }
            let down = |node: &Name| {
                let (zone, number) = node.split_at(1);
                let limit = sizes[usize::from(zone == "b")].0;
                number.parse::<usize>().is_ok_and(|number| number < limit)
            };
            tainted.retain(|node| down(node));
            zones.keep(|node| down(node) && !tainted.contains(node));
            for (zone, (unready, _)) in names {
                for number in 0..*unready {
                    let node = Name::from(format!("{zone}{number}"));
                    if turn != Turn::AllDown && !tainted.contains(&node) {
                        zones.add([(zone, &node)].into_iter());
                    }
                }
            }
            let due = zones.due(now);
            tainted.extend(due.iter().cloned());
            if !due.is_empty() || turn != Turn::AsBefore {
                seen.push((5 * n as u64, turn, due.iter().map(Name::to_string).collect()));
            }
        }
        seen
    }

    fn as_before(at: u64, nodes: &[&str]) -> (u64, Turn, Vec<String>) {
        (at, Turn::AsBefore, nodes.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn each_zone_has_a_pace_of_its_own() {
        // Zone a loses two of six, zone b all of three: only one whole zone is down, so both go on at the usual pace.
        let seen = play(&[[(2, 6), (3, 3)]; 6]);
        assert_eq!(seen, [as_before(0, &["a0", "b0"]), as_before(10, &["a1", "b1"]), as_before(20, &["b2"])]);
    }

    #[test]
    fn a_small_zone_of_which_most_is_down_waits_and_the_other_does_not() {
        let passes: Vec<_> = (0..8).map(|n| if n < 4 { [(3, 5), (1, 4)] } else { [(2, 5), (1, 4)] }).collect();
        // Back to normal at 20 s, the bucket begins empty: recording `h08_three_of_five_nodes_dead`.
        assert_eq!(play(&passes), [as_before(0, &["b0"]), as_before(30, &["a0"])]);
    }

    #[test]
    fn a_large_zone_of_which_most_is_down_goes_on_ten_times_slower() {
        let seen = play(&[[(40, 60), (0, 3)]; 42]);
        assert_eq!(seen, [as_before(0, &["a0"]), as_before(100, &["a1"]), as_before(200, &["a2"])]);
    }

    #[test]
    fn a_change_of_pace_does_not_give_a_token_away() {
        // One node is tainted at 0 s; at 5 s the large zone is disrupted: the next comes 100 s after that.
        let passes: Vec<_> = (0..30).map(|n| if n < 1 { [(1, 60), (0, 3)] } else { [(40, 60), (0, 3)] }).collect();
        assert_eq!(play(&passes), [as_before(0, &["a0"]), as_before(105, &["a1"])]);
    }

    #[test]
    fn when_all_zones_are_down_nothing_is_evicted_until_a_node_is_back() {
        // Recording `j5_all_nodes_dead`: the first taint comes 10 s after the pass that finds a node back.
        let stage = |n: usize| match n {
            0 => [(0, 2), (1, 2)],
            1..6 => [(2, 2), (2, 2)],
            _ => [(1, 2), (2, 2)],
        };
        let passes: Vec<_> = (0..12).map(stage).collect();
        let none = Vec::new;
        assert_eq!(
            play(&passes),
            [
                as_before(0, &["b0"]),
                (5, Turn::AllDown, none()),
                (30, Turn::SomeBack, none()),
                as_before(40, &["a0", "b0"]),
                as_before(50, &["b1"]),
            ]
        );
    }

    #[test]
    fn a_zone_without_nodes_is_forgotten_and_begins_anew() {
        let passes: Vec<_> = [[(1, 3), (1, 3)], [(0, 3), (0, 0)], [(0, 3), (1, 3)]].into();
        assert_eq!(play(&passes), [as_before(0, &["a0", "b0"]), as_before(10, &["b0"])]);
    }
}
