//! The map as a list: its order, and which rows a text finds.

use std::cmp::Ordering;

use super::PodRow;
use super::map::node_order;

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
    let text = parts.join(" ").to_lowercase();
    filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
}
