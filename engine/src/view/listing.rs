//! The map as a list: its order, and which rows a text finds.

use std::cmp::Ordering;

use super::map::node_order;
use super::{MapView, PodRow};
use crate::api::Uid;
use crate::sim::{Set, sort_by};

/// What the list can be ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Name,
    State,
    Status,
    Ready,
    Restarts,
    Age,
    Node,
}

/// Which pods a list has, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// By which column, and whether backwards; by card if by none.
    pub order: Option<(Column, bool)>,
    /// What [`matches`] is asked.
    pub filter: String,
}

impl Listing {
    /// All pods, by card.
    pub fn is_plain(&self) -> bool {
        self.order.is_none() && self.filter.trim().is_empty()
    }

    /// Leaves `n` of the listed pods after the first `from` on the map, and the cards that they are on. Returns how many
    /// are listed in all.
    pub fn cut(&self, map: &mut MapView, from: usize, n: usize) -> usize {
        let rows = map.nodes.iter().flat_map(|card| &card.pods).chain(&map.unscheduled);
        let mut found: Vec<&PodRow> = rows.filter(|row| matches(row, &self.filter)).collect();
        if let Some((column, back)) = self.order {
            sort_by(&mut found, |a, b| if back { compare(b, a, column) } else { compare(a, b, column) });
        }
        let all = found.len();
        let mut kept: Set<Uid> = Set::default();
        for row in found.into_iter().skip(from).take(n) {
            kept.add(row.uid);
        }
        for card in &mut map.nodes {
            card.pods.retain(|row| kept.contains(&row.uid));
        }
        map.nodes.retain(|card| !card.pods.is_empty());
        map.unscheduled.retain(|row| kept.contains(&row.uid));
        all
    }
}

/// The order of two rows by one column, smallest first; the names decide where that is the same. An order by state puts
/// what needs attention last, one by age the youngest first.
pub fn compare(a: &PodRow, b: &PodRow, column: Column) -> Ordering {
    let by_column = match column {
        Column::Name => Ordering::Equal,
        Column::State => (a.class, &a.word).cmp(&(b.class, &b.word)),
        Column::Status => a.status.cmp(&b.status),
        Column::Ready => share(&a.ready).cmp(&share(&b.ready)),
        Column::Restarts => a.restarts.cmp(&b.restarts),
        Column::Age => b.created_ms.cmp(&a.created_ms),
        Column::Node => node_order(&a.node).cmp(&node_order(&b.node)),
    };
    let name = |row: &PodRow| (row.key.name.clone(), row.key.namespace.clone());
    by_column.then_with(|| name(a).cmp(&name(b)))
}

/// `1/2` as numbers, as they are compared: all containers ready after some.
fn share(ready: &str) -> (bool, u32) {
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let (n, of) = ready.split_once('/').unwrap_or_default();
    (number(n) >= number(of), number(n))
}

/// Each word of the filter is found in the pod's name, state, STATUS, node or owner, whatever its case.
pub fn matches(row: &PodRow, filter: &str) -> bool {
    let node = if row.node.is_empty() { "no node, unscheduled" } else { row.node.as_str() };
    let reported = row.reported.as_deref().unwrap_or_default();
    let parts = [&*row.key.name, &*row.key.namespace, &*row.word, &*row.status, node, &*row.owner, reported];
    let text = parts.join(" ").to_ascii_lowercase();
    filter.to_ascii_lowercase().split_whitespace().all(|word| text.contains(word))
}
