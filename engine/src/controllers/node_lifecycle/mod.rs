//! The node lifecycle controller: nodes that fall silent are marked, tainted, and their pods taken out of service.
//!
//! Mirrors `pkg/controller/nodelifecycle/node_lifecycle_controller.go`, v1.36: a pass every 5 s, 50 s of grace,
//! one node in 10 s tainted NoExecute, none while most of a small cluster is silent.

mod health;

use std::rc::Rc;

pub use health::{Health, NodeWork, may_evict};

use super::{CONTROLLER_MANAGER, Recorder};
use crate::api::{
    Condition, Field, Kind, Name, Node, Object, ObjectKey, Pod, Taint, Timestamp, condition, set_condition,
};
use crate::apiserver::{Change, EventDraft, Objects, PatchType, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time};

const RECORDER: Recorder = Recorder("node-controller");
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const PERIOD: Millis = Millis(5_000);
/// One node in this time is tainted NoExecute (`nodeEvictionRate` 0.1).
const EVICTION_INTERVAL: Millis = Millis(10_000);
/// Once a disruption of every node ends, each gets a fresh look first (recording `j5_all_nodes_dead`).
const AFTER_FULL_DISRUPTION: Millis = Millis(15_000);

/// Watches over heartbeats.
#[derive(Clone, Debug, Default)]
pub struct NodeLifecycle {
    health: Map<Name, Health>,
    /// The next NoExecute taint does not come before.
    next_eviction: Time,
    /// Evictions are stopped, and so long they wait once they are not.
    stopped: Option<Millis>,
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    work: Vec<NodeWork>,
    events: Vec<EventDraft>,
    second: Vec<Action>,
    /// When a taint that is held back is due.
    again: Option<Millis>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Observe,
    Diff,
    MarkNodes,
    MarkPods,
    Finish,
}

/// The key of the pass over all nodes.
fn pass() -> ObjectKey {
    ObjectKey::node("all nodes")
}

impl Reconciler for NodeLifecycle {
    type State = Turn;

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let Object::Node(node) = &change.object else { return Vec::new() };
        let old = change.old.as_ref().and_then(Object::as_node);
        // A node's own word about its readiness, or a cordon, is answered at once; silence only by the pass.
        let changed = old
            .is_none_or(|old| old.readiness() != node.readiness() || old.spec.unschedulable != node.spec.unschedulable);
        if changed { vec![(pass(), Millis(0))] } else { Vec::new() }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((pass(), PERIOD))
    }

    fn step(&mut self, context: &Context<'_>, _key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        match turn.stage {
            Stage::Observe => self.observe(context, turn),
            Stage::Diff => diff(turn),
            Stage::MarkNodes => self.mark_nodes(context, turn),
            Stage::MarkPods => mark_pods(turn, &outcomes),
            Stage::Finish => finish(turn, &outcomes),
        }
    }
}

impl NodeLifecycle {
    fn observe(&mut self, context: &Context<'_>, turn: &mut Turn) -> Stepped {
        let nodes: Vec<&Rc<Node>> = context.cache.of_kind(Kind::Node).filter_map(Object::as_node).collect();
        self.health.retain(|name, _| context.cache.get(&ObjectKey::node(name.clone())).is_some());
        let mut silent = 0;
        let mut longest: Option<(&Name, Millis)> = None;
        for node in &nodes {
            let lease = ObjectKey::new(Kind::Lease, "kube-node-lease", node.metadata.name.clone());
            let renewed = context.cache.get(&lease).and_then(Object::as_lease).and_then(|lease| lease.spec.renew_time);
            let health = self.health.or_insert_with(node.metadata.name.clone(), || Health::new(context.now));
            health.hear(renewed, node, context.now);
            if health.is_late(context.now) {
                silent += 1;
            }
            let silence = health.silence(context.now);
            if longest.is_none_or(|(_, known)| silence > known) {
                longest = Some((&node.metadata.name, silence));
            }
        }
        let unready = nodes.iter().filter(|node| self.is_down(node, context.now)).count();
        let may_evict = may_evict(unready, nodes.len());
        let delay = if unready == nodes.len() { AFTER_FULL_DISRUPTION } else { EVICTION_INTERVAL };
        if may_evict && let Some(delay) = self.stopped.take() {
            self.next_eviction = context.now + delay;
        }
        self.stopped = (!may_evict).then_some(delay);
        for node in &nodes {
            let health = self.health.get(&node.metadata.name).copied().unwrap_or_else(|| Health::new(context.now));
            let work = NodeWork::of(node, health.is_late(context.now), self.pods_to_mark(context, node));
            turn.work.extend(work);
        }
        turn.again = self.limit_evictions(context.now, may_evict, &mut turn.work);
        turn.stage = Stage::Diff;
        let facts: Facts = match silent {
            0 => note!("**{}** nodes, all heard", nodes.len()).into(),
            n => note!("**{}** nodes, **{}** silent", nodes.len(), n).into(),
        };
        let facts = match longest {
            Some((name, silence)) => {
                facts.with(note!("{} last heard {} ago", name, crate::client::Arg::Millis(silence.0)))
            }
            None => facts,
        };
        let is_background = turn.work.is_empty();
        Stepped { is_background, ..Step::Observe(facts).into() }
    }

    fn is_down(&self, node: &Node, now: Time) -> bool {
        node.readiness() != "True" || self.health.get(&node.metadata.name).is_some_and(|health| health.is_late(now))
    }

    /// The pods whose Ready condition is to be taken back with the node's.
    fn pods_to_mark(&self, context: &Context<'_>, node: &Node) -> Vec<Rc<Pod>> {
        context.cache.pods_on(&node.metadata.name).filter(|pod| pod.is_ready()).cloned().collect()
    }

    /// At most one new NoExecute taint in the interval, and none while the cluster is disrupted. Returns when the next
    /// one is due, where one waits.
    fn limit_evictions(&mut self, now: Time, may_evict: bool, work: &mut Vec<NodeWork>) -> Option<Millis> {
        let mut waits = false;
        for item in work.iter_mut().filter(|item| item.evict) {
            item.evict = may_evict && now >= self.next_eviction;
            waits |= may_evict && !item.evict;
            if item.evict {
                self.next_eviction = now + EVICTION_INTERVAL;
            }
        }
        work.retain(|item| !item.is_empty());
        waits.then(|| self.next_eviction.since(now))
    }

    fn mark_nodes(&mut self, context: &Context<'_>, turn: &mut Turn) -> Stepped {
        let mut actions = Vec::new();
        for work in &turn.work {
            if work.silent {
                actions.push(status_update(&work.node, context.wall));
                let name = &work.node.metadata.name;
                let message = format!("Node {name} status is now: NodeNotReady");
                turn.events.push(RECORDER.normal(&ObjectKey::node(name.clone()), "NodeNotReady", message));
            }
            for pod in &work.pods {
                turn.second.push(unready_update(pod, context.wall));
                let message = "Node is not ready".to_string();
                turn.events.push(RECORDER.warning(&Object::Pod(Rc::clone(pod)).key(), "NodeNotReady", message));
            }
            if let Some(taints) = work.taints(context.wall) {
                turn.second.push(taint_update(&work.node, taints));
            }
        }
        turn.stage = Stage::MarkPods;
        if actions.is_empty() {
            return mark_pods(turn, &[]);
        }
        let facts: Facts = note!("mark **{}** node as Unknown", actions.len()).into();
        Step::Act(facts.with(note!("PUT nodes/status")), actions).into()
    }
}

fn diff(turn: &mut Turn) -> Stepped {
    turn.stage = Stage::MarkNodes;
    let silent = turn.work.iter().find(|work| work.silent);
    let facts: Facts = match (silent, turn.work.first()) {
        (_, None) => {
            let step = Step::Diff(note!("all as reported").into());
            turn.stage = Stage::Finish;
            return Stepped { is_background: true, ..step.into() };
        }
        (Some(work), _) => {
            let facts: Facts = note!("**{}** silent for over 50 s", &work.node.metadata.name).into();
            facts.with(note!("Ready becomes Unknown"))
        }
        (None, Some(work)) if work.evict => {
            let facts: Facts = note!("**{}** is still down", &work.node.metadata.name).into();
            facts.with(note!("taint NoExecute: pods may go"))
        }
        (None, Some(work)) => {
            let facts: Facts = note!("taints of **{}** differ", &work.node.metadata.name).into();
            facts.with(note!("its Ready is {}", work.node.readiness().to_string()))
        }
    };
    Step::Diff(facts).into()
}

fn mark_pods(turn: &mut Turn, outcomes: &[Outcome]) -> Stepped {
    turn.stage = Stage::Finish;
    let refused = outcomes.iter().find_map(|outcome| outcome.as_ref().err());
    if let Some(error) = refused {
        return Step::Fail(error.message.clone()).into();
    }
    let actions = std::mem::take(&mut turn.second);
    let events = std::mem::take(&mut turn.events);
    if actions.is_empty() {
        return Stepped { events, ..Step::Done(next(turn)).into() };
    }
    let facts: Facts = note!("taint the node, take **{}** back", actions.len()).into();
    Stepped { events, ..Step::Act(facts.with(note!("PATCH nodes, PUT pods/status")), actions).into() }
}

fn finish(turn: &Turn, outcomes: &[Outcome]) -> Stepped {
    let refused = outcomes.iter().find_map(|outcome| outcome.as_ref().err()).filter(|error| error.code() != 404);
    match refused {
        Some(error) => Step::Fail(error.message.clone()).into(),
        None => Stepped { is_background: turn.work.is_empty(), ..Step::Done(next(turn)).into() },
    }
}

fn next(turn: &Turn) -> Next {
    turn.again.map_or(Next::AwaitChange, Next::After)
}

fn status_update(node: &Rc<Node>, now: Timestamp) -> Action {
    let mut node = Rc::clone(node);
    let it = Rc::make_mut(&mut node);
    it.metadata.resource_version = 0;
    for kind in ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"] {
        let heartbeat = condition(&it.status.conditions, kind).and_then(|known| known.last_heartbeat_time);
        let mut unknown = Condition { kind: kind.into(), status: "Unknown".into(), ..Condition::default() }
            .because("NodeStatusUnknown", "Kubelet stopped posting node status.");
        unknown.last_heartbeat_time = heartbeat;
        set_condition(&mut it.status.conditions, unknown, now);
    }
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::Node(node))))
}

fn unready_update(pod: &Rc<Pod>, now: Timestamp) -> Action {
    let mut pod = Rc::clone(pod);
    let it = Rc::make_mut(&mut pod);
    it.metadata.resource_version = 0;
    set_condition(&mut it.status.conditions, Condition::new("Ready", false), now);
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::Pod(pod))))
}

fn taint_update(node: &Rc<Node>, taints: Vec<Taint>) -> Action {
    let key = ObjectKey::node(node.metadata.name.clone());
    let patch = serde_json::json!({ "spec": { "taints": taints.write_always() } });
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Patch(key, PatchType::Merge, patch)))
}
