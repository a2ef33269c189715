//! The node lifecycle controller: nodes that fall silent are marked, tainted, and their pods taken out of service.
//!
//! Mirrors `pkg/controller/nodelifecycle/node_lifecycle_controller.go`, v1.36: NoSchedule taints follow a node's
//! conditions at once; a pass every 5 s finds nodes silent after 50 s, works out how much of each zone is down, and
//! taints nodes NoExecute at the pace that this allows.

pub mod health;
mod known;
mod taints;
mod zones;

use std::rc::Rc;

use known::Known;
use zones::{Tally, Zones};

use super::script::{Purpose, Script, Scripted};
use super::{CONTROLLER_MANAGER, Recorder};
use crate::api::{
    Condition, Kind, Name, Node, Object, ObjectKey, Pod, Taint, Timestamp, condition, fields, set_condition,
    write_value,
};
use crate::apiserver::{Change, EventDraft, Objects, PatchType, Request, Verb};
use crate::client::{Action, Arg, Context, Facts, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Set, Time};

const RECORDER: Recorder = Recorder("node-controller");
const PERIOD: Millis = Millis(5_000);
/// A node that was just marked gets its NoExecute taint when that is known: the real tainter comes round so often.
const TAINTER_PERIOD: Millis = Millis(100);

/// Watches over heartbeats.
#[derive(Clone, Debug, Default)]
pub struct NodeLifecycle {
    /// In the order of the cache.
    nodes: Vec<Known>,
    zones: Zones,
    has_begun: bool,
}

/// What a pass asks for.
#[derive(Default)]
struct Work {
    marks: Vec<Action>,
    rest: Vec<Action>,
    events: Vec<EventDraft>,
    looks_again: bool,
    /// The node that the pass tells of, and what of it.
    told: Option<(u8, Facts)>,
}

impl Work {
    /// Of all there is to tell the most important is told.
    fn tell(&mut self, rank: u8, facts: impl FnOnce() -> Facts) {
        if self.told.as_ref().is_none_or(|(known, _)| rank < *known) {
            self.told = Some((rank, facts()));
        }
    }
}

/// The key of the pass over all nodes.
fn pass() -> ObjectKey {
    ObjectKey::node("all nodes")
}

impl Scripted for NodeLifecycle {
    fn recorder(&self) -> Recorder {
        RECORDER
    }

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let Object::Node(node) = &change.object else { return Vec::new() };
        let differs = taints::for_scheduling(node, Timestamp(0)).is_some();
        if differs { vec![(change.key.clone(), Millis(0))] } else { Vec::new() }
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((pass(), PERIOD))
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        if *key != pass() {
            return plan_scheduling(context, key);
        }
        let mut work = Work::default();
        self.greet(context, &mut work);
        let mut nodes = std::mem::take(&mut self.nodes);
        for (known, node) in nodes.iter_mut().zip(all_nodes(context.cache)) {
            known.look(node, context.cache, context.now);
        }
        for known in &nodes {
            mark(known, context, &mut work);
        }
        let turn = self.zones.assess(&tallies(&nodes), context.now);
        if turn == zones::Turn::SomeBack {
            nodes.iter_mut().for_each(|known| known.health.refresh(context.now));
        }
        self.taint(&nodes, turn == zones::Turn::AllDown, context, &mut work);
        let script = self.script(&nodes, context.now, work);
        self.nodes = nodes;
        Some(script)
    }
}

fn all_nodes(cache: &Objects) -> impl Iterator<Item = &Rc<Node>> {
    cache.of_kind(Kind::Node).filter_map(Object::as_node)
}

impl NodeLifecycle {
    /// Notes and tells of nodes that joined and left since the pass before: mostly none.
    fn greet(&mut self, context: &Context<'_>, work: &mut Work) {
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let mut known = self.nodes.iter();
        let are_same = all_nodes(context.cache).all(|node| known.next().is_some_and(|known| known.is_of(node)));
        if are_same && known.next().is_none() {
            return;
        }
        let before = std::mem::take(&mut self.nodes).into_iter();
        let mut before: Map<Name, Known> = before.map(|known| (known.name().clone(), known)).collect();
        for node in all_nodes(context.cache) {
            let name = &node.metadata.name;
            if has_begun && !before.contains_key(name) {
                let message = format!("Node {name} event: Registered Node {name} in Controller");
                work.events.push(RECORDER.normal(&ObjectKey::node(name.clone()), "RegisteredNode", message));
            }
            let fresh = || Known::new(node, context);
            self.nodes.push(before.remove(name).unwrap_or_else(fresh));
        }
        for name in before.keys() {
            let message = format!("Node {name} event: Removing Node {name} from Controller");
            work.events.push(RECORDER.normal(&ObjectKey::node(name.clone()), "RemovingNode", message));
        }
    }

    /// Puts nodes in line for their NoExecute taints, taints those whose turn has come, and takes back what is over.
    fn taint(&mut self, nodes: &[Known], are_all_down: bool, context: &Context<'_>, work: &mut Work) {
        let wanted = |it: &Known| taints::key_of(it.readiness).filter(|_| !are_all_down);
        let lacks = |it: &Known| wanted(it).is_some_and(|key| !it.node.has_taint(key, "NoExecute"));
        let troubled: Vec<&Known> = nodes.iter().filter(|it| it.readiness != "True" || it.is_tainted).collect();
        let lacking = || troubled.iter().filter(|it| lacks(it));
        let waiting: Set<&Name> = lacking().map(|it| (it.name(), ())).collect();
        self.zones.keep(|name| waiting.contains(name));
        self.zones.add(lacking().map(|it| (it.zone.as_str(), it.name())));
        let due: Set<Name> = self.zones.due(context.now).into_iter().map(|name| (name, ())).collect();
        for look in troubled {
            // A taint is exchanged or taken back at once, whatever the pace.
            if !due.contains(look.name()) && !(look.is_tainted && (wanted(look).is_none() || lacks(look))) {
                continue;
            }
            if look.is_news {
                work.looks_again = true;
            } else if let Some(taints) = taints::for_eviction(&look.node, wanted(look), context.wall) {
                work.rest.push(taint_update(&look.node, taints));
                let name = look.name();
                work.tell(2, || match wanted(look) {
                    Some(_) => {
                        let facts: Facts = note!("**{}** is still down", name).into();
                        facts.with(note!("taint NoExecute: pods may go"))
                    }
                    None if are_all_down => {
                        let facts: Facts = note!("all nodes are down").into();
                        facts.with(note!("rather the control plane is cut off: no evictions"))
                    }
                    None => note!("**{}** is back: its pods may stay", name).into(),
                });
            }
        }
    }

    fn script(&mut self, looks: &[Known], now: Time, work: Work) -> Script {
        let n_silent = looks.iter().filter(|look| look.readiness == "Unknown").count();
        let observed: Facts = match n_silent {
            0 => note!("**{}** nodes, all heard", looks.len()).into(),
            n => note!("**{}** nodes, **{}** silent", looks.len(), n).into(),
        };
        let silences = looks.iter().map(|look| (look.name(), look.health.silence(now)));
        let longest = silences.fold(None, |longest: Option<(&Name, Millis)>, it| match longest {
            Some(known) if known.1 >= it.1 => Some(known),
            _ => Some(it),
        });
        let observed = match longest {
            Some((name, silence)) => observed.with(note!("{} last heard {} ago", name, Arg::Millis(silence.0))),
            None => observed,
        };
        let news = looks.iter().find(|look| look.is_news);
        let differs: Facts = match (news, work.told) {
            (Some(look), _) => {
                let facts: Facts = note!("**{}** silent for over 50 s", look.name()).into();
                if self.zones.evicts(&look.zone) {
                    facts.with(note!("Ready becomes Unknown"))
                } else {
                    let state = self.zones.state(&look.zone).word();
                    facts.with(note!("Ready becomes Unknown; {}: nobody is evicted", state))
                }
            }
            (None, Some((_, facts))) => facts,
            (None, None) => note!("all as reported").into(),
        };
        let mut script = Script::new(observed, differs);
        let plain = |actions: Vec<Action>| actions.into_iter().map(|action| (action, Purpose::Plain)).collect();
        let facts: Facts =
            note!("mark **{}** {} as Unknown", work.marks.len(), if work.marks.len() == 1 { "node" } else { "nodes" })
                .into();
        script.send(facts.with(note!("PUT nodes/status")), plain(work.marks));
        let writes = if work.rest.len() == 1 { "write" } else { "writes" };
        let facts: Facts = note!("taint nodes, take pods back: **{}** {}", work.rest.len(), writes).into();
        script.send(facts.with(note!("PATCH nodes, PUT pods/status")), plain(work.rest));
        script.tell(work.events);
        if work.looks_again {
            script.look_again(TAINTER_PERIOD);
        }
        script
    }
}

/// How many nodes of each zone are down.
fn tallies(nodes: &[Known]) -> Map<String, Tally> {
    let mut tallies: Map<&str, Tally> = Map::default();
    for known in nodes.iter().filter(|known| known.counts) {
        tallies.or_default(known.zone.as_str()).count(known.readiness == "True");
    }
    tallies.iter().map(|(zone, tally)| (zone.to_string(), *tally)).collect()
}

/// Marks a node that fell silent, and its pods as not ready.
fn mark(look: &Known, context: &Context<'_>, work: &mut Work) {
    let name = look.name();
    if look.is_news {
        work.marks.push(status_update(&look.node, context.wall));
        let message = format!("Node {name} status is now: NodeNotReady");
        work.events.push(RECORDER.normal(&ObjectKey::node(name.clone()), "NodeNotReady", message));
    }
    if look.readiness == "Unknown" {
        for pod in context.cache.pods_on(name).filter(|pod| pod.is_ready()) {
            work.rest.push(unready_update(pod, context.wall));
            let message = "Node is not ready".to_string();
            work.events.push(RECORDER.warning(&Object::Pod(Rc::clone(pod)).key(), "NodeNotReady", message));
            work.tell(1, || note!("pods of **{}** count as ready", name).into());
        }
    }
}

/// The turn of one node: its NoSchedule taints.
fn plan_scheduling(context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
    let node = context.cache.get(key)?.as_node()?;
    let taints = taints::for_scheduling(node, context.wall)?;
    let name = &node.metadata.name;
    let observed: Facts = note!("**{}**: Ready is {}", name, node.readiness().to_string()).into();
    let differs: Facts = note!("taints of **{}** differ", name).into();
    let mut script = Script::new(observed, differs.with(note!("NoSchedule follows the conditions")));
    let facts: Facts = note!("taint the node").into();
    let update = (taint_update(node, taints), Purpose::Plain);
    script.send(facts.with(note!("PATCH nodes")), vec![update]);
    Some(script)
}

fn status_update(node: &Rc<Node>, now: Timestamp) -> Action {
    let mut node = Rc::clone(node);
    let it = Rc::make_mut(&mut node);
    it.metadata.resource_version = 0;
    for kind in ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"] {
        let known = condition(&it.status.conditions, kind);
        let (heartbeat, reason, message) = match known {
            Some(known) => (known.last_heartbeat_time, "NodeStatusUnknown", "Kubelet stopped posting node status."),
            None => (it.metadata.creation_timestamp, "NodeStatusNeverUpdated", "Kubelet never posted node status."),
        };
        let mut unknown =
            Condition { kind: kind.into(), status: "Unknown".into(), ..Condition::default() }.because(reason, message);
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

/// Writes all taints of a node, unless somebody else has written it meanwhile.
fn taint_update(node: &Rc<Node>, taints: Vec<Taint>) -> Action {
    let key = ObjectKey::node(node.metadata.name.clone());
    let version = node.metadata.resource_version.to_string();
    let patch = fields([
        ("metadata", fields([("resourceVersion", version.into())])),
        ("spec", fields([("taints", write_value(&taints))])),
    ]);
    Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Patch(key, PatchType::Merge, patch)))
}
