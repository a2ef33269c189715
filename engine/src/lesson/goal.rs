//! What has to be so: predicates over the state, and the numbers that they compare.

use serde_json::Value;

use super::matching::{Match, most_at_once};
use super::progress::Memory;
use super::shape::thousandths;
use crate::api::{Kind, Labels, Object, ObjectKey, Pod, condition};
use crate::controllers::deployment::status::is_complete;
use crate::iac;
use crate::sim::Millis;
use crate::view::{self, Convergence, PodClass};
use crate::world::{ProcessKind, Simulation};

/// What a measure finds. Numbers are thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Number(i64),
    Text(String),
    Flag(bool),
}

impl Found {
    pub fn of(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Nothing,
            Some(Value::String(text)) => Self::Text(text.clone()),
            Some(Value::Bool(flag)) => Self::Flag(*flag),
            Some(number @ Value::Number(_)) => thousandths(number).map_or(Self::Nothing, Self::Number),
            Some(other) => Self::Text(other.to_string()),
        }
    }

    fn count(n: usize) -> Self {
        Self::Number(n as i64 * 1_000)
    }

    /// What is not there counts as none: Kubernetes leaves out fields that are 0, empty or false.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(it) => Some(*it),
            Self::Nothing => Some(0),
            // A ConfigMap has texts only.
            Self::Text(text) => super::shape::decimal(text),
            Self::Flag(_) => None,
        }
    }

    fn is(&self, wanted: &Found) -> bool {
        match (self, wanted) {
            (Self::Nothing, Self::Text(text)) => text.is_empty(),
            (_, Self::Number(number)) => self.number() == Some(*number),
            (_, Self::Flag(flag)) => *self == Self::Flag(*flag) || *self == Self::Nothing && !flag,
            _ => self == wanted,
        }
    }
}

/// What a measure is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub is: Option<Found>,
    pub least: Option<i64>,
    pub most: Option<i64>,
}

impl Bounds {
    pub fn is_empty(&self) -> bool {
        self.is.is_none() && self.least.is_none() && self.most.is_none()
    }

    fn hold(&self, found: &Found) -> bool {
        let number = found.number();
        self.is.as_ref().is_none_or(|it| found.is(it))
            && self.least.is_none_or(|least| number.is_some_and(|it| it >= least))
            && self.most.is_none_or(|most| number.is_some_and(|it| it <= most))
    }
}

/// Which pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pods {
    pub labels: Labels,
    pub node: String,
    pub image: String,
    /// One of [`POD_STATES`](super::table::POD_STATES); empty for active ones.
    pub state: String,
}

impl Pods {
    fn includes(&self, pod: &Pod) -> bool {
        let is_state = match self.state.as_str() {
            "any" => true,
            "ready" => pod.is_active() && pod.is_ready(),
            "not-ready" => pod.is_active() && !pod.is_ready(),
            "pending" => pod.is_active() && !pod.is_assigned(),
            "terminating" => pod.is_terminating(),
            "crashing" => view::classify(pod, None) == PodClass::CrashLoop,
            _ => pod.is_active(),
        };
        is_state
            && (self.node.is_empty() || *pod.spec.node_name == *self.node)
            && (self.image.is_empty() || pod.spec.containers.iter().any(|it| *it.image == *self.image))
            && self.labels.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value))
    }
}

/// Something that can be counted or read.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Pods of a workload that are active and ready; of all workloads where none is named.
    Ready(Option<ObjectKey>),
    Pods(Pods),
    Objects(Kind),
    Field {
        key: ObjectKey,
        path: String,
    },
    /// Events since the step began, or since the newest event that is named after them; the number is its place in the
    /// memory.
    Trace(Match, Option<Match>, usize),
    /// Seconds from the first such event since the step began to the first such event after it.
    Between(Match, Match),
    /// The most pods at once since the step began whose names begin so; only active ones where that is said.
    Peak(String, bool),
    /// The fewest ready pods of all workloads since the step began.
    LowestReady,
    Room(String),
    /// Changes that infrastructure as code would plan now.
    Plan,
    Cloud {
        id: String,
        attribute: String,
    },
    Traffic {
        key: ObjectKey,
        of: String,
    },
    /// How often managers took a field from each other: the most of any field that is meant.
    Fights {
        key: Option<ObjectKey>,
        path: String,
    },
    /// Seconds since the step began.
    Elapsed,
}

/// A predicate over the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    Compare(Measure, Bounds),
    Exists(ObjectKey),
    Condition {
        key: ObjectKey,
        kind: String,
        status: String,
        reason: String,
    },
    /// A Kubernetes Event was published, or repeated, since the step began.
    Event {
        reason: String,
        key: Option<ObjectKey>,
        text: String,
    },
    Owner {
        key: ObjectKey,
        path: String,
        manager: String,
    },
    Git {
        sync: String,
        health: String,
    },
    Up {
        process: String,
        is: bool,
    },
    /// The status is of the newest generation.
    Observed(ObjectKey),
    /// All pods of a Deployment are of its newest template, as many as wanted, and available.
    RolledOut(ObjectKey),
    /// All workloads have what they want.
    Converged(bool),
    /// It has been so without a break; the number is its place in the memory.
    Stays {
        ms: u64,
        that: Box<Goal>,
        slot: usize,
    },
    All(Vec<Goal>),
    Any(Vec<Goal>),
    Not(Box<Goal>),
}

impl Goal {
    /// Whether it is so now; `memory` is of a step that began at some time, and remembers what must last.
    pub fn is_met(&self, simulation: &Simulation, memory: &mut Memory) -> bool {
        let object = |key: &ObjectKey| simulation.api().objects().get(key);
        match self {
            Goal::Compare(measure, bounds) => bounds.hold(&measure.find(simulation, memory)),
            Goal::Exists(key) => object(key).is_some(),
            Goal::Condition { key, kind, status, reason } => {
                let found = object(key).and_then(|it| condition(it.conditions(), kind));
                found.is_some_and(|it| {
                    it.status == status.as_str() && (reason.is_empty() || it.reason == reason.as_str())
                })
            }
            Goal::Event { reason, key, text } => simulation.api().events.iter().rev().any(|it| {
                it.last >= memory.began
                    && it.draft.reason == reason
                    && key.as_ref().is_none_or(|key| it.draft.about == *key)
                    && it.draft.message.contains(text.as_str())
            }),
            Goal::Owner { key, path, manager } => view::ownership(simulation, key).is_some_and(|it| {
                let mut fields = it.fields.iter().filter(|field| field.path.trim_start_matches('.') == path);
                fields.any(|field| field.owners.iter().any(|owner| owner.manager.split(' ').next() == Some(manager)))
            }),
            Goal::Git { sync, health } => {
                let status = &simulation.gitops().status;
                (sync.is_empty() || status.sync.word() == sync) && (health.is_empty() || status.health.word() == health)
            }
            Goal::Up { process, is } => is_up(simulation, process) == Some(*is),
            Goal::Observed(key) => object(key).is_some_and(|it| {
                let value = it.to_value();
                let seen = value.pointer("/status/observedGeneration").and_then(Value::as_i64);
                seen.unwrap_or(0) >= it.meta().generation
            }),
            Goal::RolledOut(key) => object(key).and_then(Object::as_deployment).is_some_and(|it| {
                it.status.observed_generation >= it.metadata.generation && is_complete(it, &it.status)
            }),
            Goal::Converged(is) => (view::summary(simulation).convergence == Convergence::Converged) == *is,
            Goal::Stays { ms, that, slot } => {
                let is_so = that.is_met(simulation, memory);
                memory
                    .lasts(*slot, is_so.then(|| simulation.now()))
                    .is_some_and(|since| simulation.now().since(since) >= Millis(*ms))
            }
            // All are looked at, so that each remembers for how long it has been so.
            Goal::All(all) => all.iter().fold(true, |are, it| it.is_met(simulation, memory) & are),
            Goal::Any(any) => any.iter().fold(false, |is, it| it.is_met(simulation, memory) | is),
            Goal::Not(it) => !it.is_met(simulation, memory),
        }
    }
}

impl Measure {
    /// What is there now, or since the step began.
    pub fn find(&self, simulation: &Simulation, memory: &mut Memory) -> Found {
        let objects = simulation.api().objects();
        match self {
            Measure::Ready(None) => Found::Number(i64::from(view::summary(simulation).ready) * 1_000),
            Measure::Ready(Some(key)) => ready(simulation, key),
            Measure::Pods(pods) => {
                let all = objects.of_kind(Kind::Pod).filter_map(Object::as_pod);
                Found::count(all.filter(|it| pods.includes(it)).count())
            }
            Measure::Objects(kind) => Found::count(objects.of_kind(*kind).count()),
            Measure::Field { key, path } => {
                let value = objects.get(key).map(Object::to_value);
                Found::of(value.as_ref().and_then(|it| at_path(it, path)))
            }
            Measure::Trace(it, since, slot) => Found::count(memory.counts(*slot, simulation, it, since.as_ref())),
            Measure::Between(from, to) => {
                let from = from.first(simulation, memory.seq);
                let to = from.and_then(|(seq, _)| to.first(simulation, seq));
                match (from, to) {
                    (Some((_, from)), Some((_, to))) => Found::Number(to.since(from).0 as i64),
                    _ => Found::Nothing,
                }
            }
            Measure::Peak(prefix, is_active) => {
                Found::Number(most_at_once(simulation, prefix, *is_active, memory.seq) * 1_000)
            }
            Measure::LowestReady => lowest(simulation, memory),
            Measure::Room(part) => room(simulation, part),
            Measure::Plan => plan(simulation),
            Measure::Cloud { id, attribute } => {
                Found::of(simulation.iac().cloud.get(id).and_then(|it| it.attributes.get(attribute)))
            }
            Measure::Traffic { key, of } => traffic(simulation, key, of),
            Measure::Fights { key, path } => {
                let is_meant = |it: &&view::Fight| {
                    key.as_ref().is_none_or(|key| it.key == *key)
                        && (path.is_empty() || it.path.trim_start_matches('.') == path)
                        && it.last_ms >= memory.began.0
                };
                let all = view::fights(simulation);
                Found::count(all.iter().filter(is_meant).map(|it| it.turns).max().unwrap_or(0))
            }
            Measure::Elapsed => Found::Number(simulation.now().since(memory.began).0 as i64),
        }
    }
}

fn ready(simulation: &Simulation, key: &ObjectKey) -> Found {
    let objects = simulation.api().objects();
    let Some(object) = objects.get(key) else { return Found::Nothing };
    let of = |uid| objects.tally(uid).map_or(0, |it| it.ready);
    let n = match object {
        Object::Deployment(it) => {
            let sets = objects.controlled_by(it.metadata.uid).filter_map(Object::as_replica_set);
            sets.map(|set| of(set.metadata.uid)).sum()
        }
        other => of(other.meta().uid),
    };
    Found::Number(i64::from(n) * 1_000)
}

/// The curve's lowest point since the step began, beginning with where it was then.
fn lowest(simulation: &Simulation, memory: &Memory) -> Found {
    let samples = simulation.recorded().samples();
    let from = samples.iter().rposition(|it| it.at <= memory.began).unwrap_or(0);
    let fewest = samples.iter().skip(from).map(|it| it.ready).min();
    fewest.map_or(Found::Nothing, |it| Found::Number(i64::from(it) * 1_000))
}

fn room(simulation: &Simulation, part: &str) -> Found {
    let Some(room) = view::room(simulation) else { return Found::Nothing };
    Found::Number(match part {
        "temperature" => room.actual.into(),
        "desired" => room.desired.into(),
        "heater" => i64::from(room.heater) * 1_000,
        "off-by" => (room.actual - room.desired).abs().into(),
        "hysteresis" => room.hysteresis.into(),
        _ => match room.overshoot {
            Some(it) => it.into(),
            None => return Found::Nothing,
        },
    })
}

fn plan(simulation: &Simulation) -> Found {
    let iac = simulation.iac();
    match iac::read_config(&iac.config) {
        Ok(wanted) => Found::count(iac::plan(&wanted, &iac.state, &iac.cloud, false).changes.len()),
        Err(_) => Found::Nothing,
    }
}

fn traffic(simulation: &Simulation, key: &ObjectKey, of: &str) -> Found {
    let Some(load) = view::load_on(simulation, key) else { return Found::Nothing };
    let percent = |permille: Option<u32>| permille.map_or(Found::Nothing, |it| Found::Number(i64::from(it) * 100));
    match of {
        "success" => percent(load.success),
        "success-in-all" => percent(load.success_in_all),
        "sent" => Found::Number(load.sent_in_all as i64),
        "load" => Found::Number(load.amount as i64),
        _ => Found::Number(load.losses.iter().map(|it| it.total as i64).sum()),
    }
}

/// Whether a process runs: one of the control plane, or `kubelet/node-1`.
fn is_up(simulation: &Simulation, name: &str) -> Option<bool> {
    let is_meant = |kind: &ProcessKind| match kind {
        ProcessKind::Kubelet(node) => name.strip_prefix("kubelet/") == Some(node),
        ProcessKind::GitOps(_) => false,
        other => other.program() == Some(name),
    };
    simulation.processes().iter().find(|it| is_meant(&it.kind)).map(|it| it.is_up)
}

/// What stands at a path such as `spec.containers[0].image`.
pub fn at_path<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut here = value;
    for part in path.trim_start_matches('.').split('.') {
        let (name, rest) = part.split_once('[').unwrap_or((part, ""));
        if !name.is_empty() {
            here = here.get(name)?;
        }
        for index in rest.split('[').filter(|it| !it.is_empty()) {
            here = here.get(index.trim_end_matches(']').parse::<usize>().ok()?)?;
        }
    }
    Some(here)
}

/// The kind that a word of kubectl's means.
pub fn read_kind(word: &str) -> Option<Kind> {
    let is_meant =
        |it: &&Kind| it.name().eq_ignore_ascii_case(word) || it.plural() == word || it.short_names().contains(&word);
    Kind::ALL.iter().find(is_meant).copied()
}

/// Reads `deployment/web`, or `shop/deployment/web` in another namespace.
pub fn read_key(text: &str) -> Option<ObjectKey> {
    let mut parts = text.rsplitn(3, '/');
    let (name, kind, namespace) = (parts.next()?, parts.next()?, parts.next());
    let kind = read_kind(kind)?;
    let usual = if kind.is_namespaced() { "default" } else { "" };
    (!name.is_empty()).then(|| ObjectKey::new(kind, namespace.unwrap_or(usual), name))
}
