//! What an event led to.

use super::words::{as_cause, describe};
use super::{Effect, Effects};
use crate::api::Kind;
use crate::apiserver::Effect as Came;
use crate::client::{Arg, Changed, Field, NODE_NAME, What};
use crate::sim::{Map, Seq, Time, TraceEvent, sort_by};
use crate::world::Simulation;

/// Effects listed at the most: the nearest ones.
const MOST: usize = 40;

/// How often something happened, and when last.
#[derive(Clone, Copy, Default)]
struct Count {
    n: usize,
    last: Time,
}

/// What is counted, in the order in which it is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Going,
    Created(Kind),
    Bound,
    Ready,
    Unready,
    Gone(Kind),
    Refused,
    Retried,
}

/// A shown effect: its event, the index of the one it follows from, and how deep it lies.
struct Node {
    event: TraceEvent<What>,
    parent: Option<usize>,
    depth: usize,
}

/// Everything that followed from an event so far: how much of what, and the nearest of it one by one. Empty for an event
/// that is no longer kept.
pub fn led_to(simulation: &Simulation, seq: u64) -> Effects {
    let trace = simulation.trace();
    let Some(start) = trace.get(Seq(seq)) else { return Effects::default() };
    // Each event that follows, with the shown effect that it is, or follows from.
    let mut followers: Vec<(Seq, Option<usize>)> = vec![(start.seq, None)];
    let mut nodes: Vec<Node> = Vec::new();
    let mut counts: Vec<(Told, Count)> = Vec::new();
    for head in trace.heads_after(start.seq).filter(|head| head.root == start.root) {
        let before = head.cause.and_then(|cause| followers.binary_search_by_key(&cause, |(seq, _)| *seq).ok());
        let Some((_, parent)) = before.and_then(|index| followers.get(index)).copied() else { continue };
        let Some(event) = trace.get(head.seq) else { continue };
        count(&event, &mut counts);
        let mut shown = parent;
        if is_effect(&event) {
            let depth = parent.and_then(|index| nodes.get(index)).map_or(0, |it: &Node| it.depth + 1);
            shown = Some(nodes.len());
            nodes.push(Node { event, parent, depth });
        }
        followers.push((head.seq, shown));
    }
    let more = nodes.len().saturating_sub(MOST);
    sort_by(&mut counts, |a, b| a.0.cmp(&b.0));
    let summary = counts.into_iter().map(|(told, count)| words(told, count, start.at)).collect();
    Effects { summary, links: links(simulation, &nodes, start.at), more }
}

/// What the API server and the machines did; what loops saw and meant is in between.
fn is_effect(event: &TraceEvent<What>) -> bool {
    let is_told = matches!(
        event.what,
        What::Wrote { .. } | What::Refused { .. } | What::Failed { .. } | What::Happened { .. } | What::Outside { .. }
    );
    is_told && !event.is_background
}

fn count(event: &TraceEvent<What>, counts: &mut Vec<(Told, Count)>) {
    let mut add = |told: Told| {
        let index = counts.iter().position(|(it, _)| *it == told).unwrap_or_else(|| {
            counts.push((told, Count::default()));
            counts.len() - 1
        });
        if let Some((_, count)) = counts.get_mut(index) {
            (count.n, count.last) = (count.n + 1, event.at);
        }
    };
    match &event.what {
        What::Wrote { key, effect, changed, .. } => {
            match effect {
                Came::Created => add(Told::Created(key.kind)),
                Came::Deleting if key.kind == Kind::Pod => add(Told::Going),
                Came::Deleted => add(Told::Gone(key.kind)),
                _ => {}
            }
            if key.kind == Kind::Pod {
                changed.iter().filter_map(of_pod).for_each(add);
            }
        }
        What::Refused { .. } => add(Told::Refused),
        What::Failed { .. } => add(Told::Retried),
        _ => {}
    }
}

fn of_pod(it: &Changed) -> Option<Told> {
    match &it.field {
        Field::Of(NODE_NAME) => Some(Told::Bound),
        Field::Condition(kind) if kind == "Ready" => match (&it.from, &it.to) {
            (_, Arg::Word("True")) => Some(Told::Ready),
            (Arg::Word("True"), _) => Some(Told::Unready),
            _ => None,
        },
        _ => None,
    }
}

/// `3 pods became ready, the last 4.2 s later`
fn words(told: Told, count: Count, start: Time) -> String {
    let pods = if count.n == 1 { "pod" } else { "pods" };
    let (what, did) = match told {
        Told::Created(kind) => (kinds(kind, count.n), " created"),
        Told::Gone(kind) => (kinds(kind, count.n), " gone"),
        Told::Bound => (pods.into(), if count.n == 1 { " bound to a node" } else { " bound to nodes" }),
        Told::Ready => (pods.into(), " became ready"),
        Told::Unready => (pods.into(), " no longer ready"),
        Told::Going => (pods.into(), " told to stop"),
        Told::Refused => ((if count.n == 1 { "request" } else { "requests" }).into(), " refused"),
        Told::Retried => ((if count.n == 1 { "turn" } else { "turns" }).into(), " failed and tried again"),
    };
    let after = Arg::Millis(count.last.since(start).0).to_string();
    let when: &[&str] = match (count.last == start, count.n) {
        (true, _) => &[" at once"],
        (false, 1) => &[" ", &after, " later"],
        (false, _) => &[", the last ", &after, " later"],
    };
    [&count.n.to_string(), " ", &what, did, &when.concat()].concat()
}

/// `pods`, `Deployment`, `EndpointSlices`
fn kinds(kind: Kind, n: usize) -> String {
    let name = if kind == Kind::Pod { "pod" } else { kind.name() };
    let ending = match n {
        1 => "",
        _ if name.ends_with('s') => "es",
        _ => "s",
    };
    [name, ending].concat()
}

/// The nearest effects, each followed by what follows from it.
fn links(simulation: &Simulation, nodes: &[Node], start: Time) -> Vec<Effect> {
    let mut nearest: Vec<usize> = (0..nodes.len()).collect();
    sort_by(&mut nearest, |a, b| (nodes[*a].depth, *a).cmp(&(nodes[*b].depth, *b)));
    nearest.truncate(MOST);
    // Children by parent, the first last.
    let mut below: Map<u64, Vec<usize>> = Map::default();
    let number = |parent: Option<usize>| parent.map_or(0, |it| it as u64 + 1);
    for index in nearest.into_iter().rev() {
        below.or_default(number(nodes[index].parent)).push(index);
    }
    let mut left = below.remove(&0).unwrap_or_default();
    let mut links = Vec::new();
    while let Some(index) = left.pop() {
        let Node { event, depth, .. } = &nodes[index];
        links.push(Effect {
            seq: event.seq.0,
            at_ms: event.at.0,
            text: as_cause(simulation, &event.what),
            after_ms: event.at.since(start).0,
            depth: *depth,
            mark: describe(simulation, &event.what).2,
        });
        left.extend(below.remove(&number(Some(index))).unwrap_or_default());
    }
    links
}
