//! One of two worlds that differ in how their ReplicaSet controllers listen: what it wants, what is, and why.

use serde::Serialize;

use super::loops::loop_rows;
use super::pods::{classify, node_of, row};
use super::{CauseLink, LoopRow, PodClass, PodRow, Summary, summary, why};
use crate::api::{Kind, Name, Object, ObjectKey, Pod};
use crate::apiserver::{ChangeKind, Effect};
use crate::client::{Author, LoopIndex, TurnPhase, What};
use crate::controllers::replicaset;
use crate::sim::{Map, Millis, Seq, Time, TraceEvent};
use crate::world::{Process, Simulation};

/// An event that is younger may still be on its way.
const ON_ITS_WAY: Millis = Millis(1_000);
/// Events that are listed, the newest.
const MOST_MISSED: usize = 12;
const LOOP: &str = "ReplicaSet";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Nothing asks for pods.
    #[default]
    Empty,
    Converged,
    Converging,
    /// Nobody looks.
    Away,
    /// There are more or fewer than are wanted, and nothing is under way or planned that would change it.
    Stuck,
}

/// Something that happened to a pod, as a watch tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missed {
    pub seq: u64,
    pub at_ms: u64,
    pub pod: String,
    /// Deleted, else added.
    pub is_deletion: bool,
    /// It came twice; else never.
    pub is_twice: bool,
}

/// How the controller's program is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TwinSwitches {
    pub is_up: bool,
    pub relists: bool,
    pub expects: bool,
    pub retries: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TwinSide {
    pub switches: TwinSwitches,
    /// Its controller counts events.
    pub is_edge: bool,
    pub want: i32,
    /// Ready pods.
    pub is: i32,
    pub verdict: Verdict,
    /// `Stuck: counts 3, there is 1`
    pub words: String,
    /// So many pods its controller says that there are.
    pub counted: i32,
    /// What the controller keeps from turn to turn.
    pub remembers: String,
    pub pods: Vec<PodRow>,
    pub row: Option<LoopRow>,
    /// The newest events that did not come as they happened, oldest first, and how many there were.
    pub missed: Vec<Missed>,
    pub n_missed: usize,
}

/// Why a side has as many pods as it has: in a sentence, and as a chain of causes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TwinWhy {
    pub sentence: String,
    pub links: Vec<CauseLink>,
}

/// The ReplicaSet controller and its program.
fn controller(simulation: &Simulation) -> Option<(LoopIndex, &Process)> {
    let at = simulation.loops().iter().position(|it| &*it.name == LOOP)?;
    let process = simulation.processes().get(simulation.loops()[at].process)?;
    Some((LoopIndex(u32::try_from(at).ok()?), process))
}

fn sets_pods(simulation: &Simulation) -> impl Iterator<Item = &Pod> {
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).map(|pod| &**pod);
    pods.filter(|pod| pod.metadata.controller().is_some_and(|it| it.kind == LOOP))
}

pub fn twin_side(simulation: &Simulation) -> TwinSide {
    let Some((at, process)) = controller(simulation) else { return TwinSide::default() };
    let objects = simulation.api().objects();
    let sets = || objects.of_kind(Kind::ReplicaSet).filter_map(Object::as_replica_set);
    let summary = summary(simulation);
    let is_edge = process.ails.edge.is_some();
    let counted: i32 = sets().map(|set| set.status.replicas).sum();
    let mut pods: Vec<PodRow> = sets_pods(simulation)
        .map(|pod| row(simulation, pod, node_of(simulation, &pod.spec.node_name), false))
        .collect();
    crate::sim::sort_by(&mut pods, |a, b| (a.created_ms, &a.key.name).cmp(&(b.created_ms, &b.key.name)));
    let row = loop_rows(simulation).into_iter().find(|it| it.id.0 == at.0);
    let missed = missed(simulation, at, process);
    let verdict = verdict(simulation, at, process, &summary);
    let there = pods.len();
    let words = match verdict {
        Verdict::Empty => "Nothing asks for pods".to_owned(),
        Verdict::Converged => "Converged".to_owned(),
        Verdict::Converging => "Converging".to_owned(),
        Verdict::Away => "Its controller is not listening".to_owned(),
        Verdict::Stuck if is_edge => format!("Stuck: counts {counted}, there {} {there}", be(there)),
        Verdict::Stuck => format!("Waits for an event: its cache is behind, there {} {there}", be(there)),
    };
    let remembers = match is_edge {
        true => format!("a count: {counted} {}", if counted == 1 { "pod" } else { "pods" }),
        false => "nothing that it could not look up".to_owned(),
    };
    let switches = TwinSwitches {
        is_up: process.is_up,
        relists: process.ails.relists,
        expects: process.expects,
        retries: !process.ails.gives_up,
    };
    let n_missed = missed.len();
    let missed = missed.into_iter().skip(n_missed.saturating_sub(MOST_MISSED)).collect();
    let (want, is) = (summary.want, summary.ready);
    TwinSide { switches, is_edge, want, is, verdict, words, counted, remembers, pods, row, missed, n_missed }
}

fn be(n: usize) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

fn verdict(simulation: &Simulation, at: LoopIndex, process: &Process, summary: &Summary) -> Verdict {
    let it = &simulation.loops()[at.0 as usize];
    let is_settled = |pod: &Pod| classify(pod, node_of(simulation, &pod.spec.node_name)) == PodClass::Ready;
    let there = sets_pods(simulation).count();
    let is_complete = summary.ready == summary.want && there == usize::try_from(summary.want).unwrap_or(0);
    let is_idle = it.active.is_empty() && it.queue.waiting().next().is_none() && it.queue.delayed().next().is_none();
    // What has just happened has not been told.
    let newest = simulation.trace().last().map_or(Time(0), |event| event.at);
    let is_quiet = simulation.now().since(newest) >= ON_ITS_WAY && sets_pods(simulation).all(is_settled);
    match () {
        () if summary.want == 0 && there == 0 => Verdict::Empty,
        () if is_complete => Verdict::Converged,
        () if !process.works() || process.ails.is_paused || process.ails.is_stalled => Verdict::Away,
        () if is_idle && is_quiet => Verdict::Stuck,
        () => Verdict::Converging,
    }
}

/// Pods of ReplicaSets that came or went and of which the controller was never told, or twice.
fn missed(simulation: &Simulation, at: LoopIndex, process: &Process) -> Vec<Missed> {
    let sets: Vec<&Name> = simulation.api().objects().of_kind(Kind::ReplicaSet).map(|it| &it.meta().name).collect();
    let is_a_sets = |key: &ObjectKey| {
        let stem = key.name.rsplit_once('-').map(|(stem, _)| stem);
        key.kind == Kind::Pod && sets.iter().any(|set| stem == Some(&***set))
    };
    let mut told: Map<(ObjectKey, bool), (u64, usize)> = Map::default();
    let mut written: Vec<(TraceEvent<What>, ObjectKey, bool, u64)> = Vec::new();
    for event in simulation.trace().events() {
        match &event.what {
            What::Told { to, key, change, version }
                if *to == at && *change != ChangeKind::Modified && is_a_sets(key) =>
            {
                let heard = told.or_default((key.clone(), *change == ChangeKind::Deleted));
                // A list tells of it in a version of its own.
                *heard = if heard.0 == *version { (*version, heard.1 + 1) } else { (*version, 1) };
            }
            What::Wrote { key, effect: effect @ (Effect::Created | Effect::Deleted), version, .. }
                if is_a_sets(key) =>
            {
                let (key, version) = (key.clone(), *version);
                let is_deletion = *effect == Effect::Deleted;
                written.push((event, key, is_deletion, version));
            }
            _ => {}
        }
    }
    let late = simulation.now().0.saturating_sub(ON_ITS_WAY.0);
    let listens = process.works() && !process.ails.is_paused && !process.ails.is_stalled;
    let missed = written.into_iter().filter_map(|(event, key, is_deletion, version)| {
        let heard = told.get(&(key.clone(), is_deletion)).copied();
        let is_twice = heard.is_some_and(|(told_of, n)| told_of == version && n > 1);
        let is_never = heard.is_none() && (!listens || event.at.0 <= late);
        let pod = key.name.to_string();
        (is_twice || is_never).then_some(Missed { seq: event.seq.0, at_ms: event.at.0, pod, is_deletion, is_twice })
    });
    missed.collect()
}

/// Why there are as many pods as there are; nothing before anything has happened.
pub fn twin_why(simulation: &Simulation) -> Option<TwinWhy> {
    let (at, process) = controller(simulation)?;
    let fault = |it: &TraceEvent<What>| matches!(it.what, What::Faulted(_));
    let side = twin_side(simulation);
    let newest = |is: &dyn Fn(&TraceEvent<What>) -> bool| simulation.trace().events().rev().find(|it| is(it));
    if process.ails.edge.is_some()
        && side.verdict != Verdict::Converged
        && let Some(event) = newest(&fault)
    {
        return Some(TwinWhy { sentence: believed(&side), links: why(simulation, event.seq.0) });
    }
    let is_step = |it: &TraceEvent<What>| match &it.what {
        What::Reached { by, phase: TurnPhase::Act, facts, .. } => *by == at && !replicaset::is_report(facts),
        _ => false,
    };
    let is_made = |it: &TraceEvent<What>| matches!(&it.what, What::Wrote { author: Author::Loop(by), key, .. } if *by == at && key.kind == Kind::Pod);
    let step = newest(&is_step)?;
    let end = newest(&is_made).map_or(step.seq, |made| made.seq);
    Some(TwinWhy { sentence: looked(simulation, &step, &side), links: why(simulation, end.0) })
}

/// `At 10:20.104 it looked: 1 there, it wants 3, 3 − 1 = +2.`
fn looked(simulation: &Simulation, step: &TraceEvent<What>, side: &TwinSide) -> String {
    let (mut cause, mut difference) = (step.cause, String::new());
    while let Some(event) = cause.and_then(|seq: Seq| simulation.trace().get(seq)) {
        match &event.what {
            What::Reached { phase: TurnPhase::Diff, facts, .. } => {
                difference = super::Phrase(facts.text.to_string()).plain();
            }
            What::Reached { phase: TurnPhase::Observe, facts, .. } => {
                let Some((want, there)) = replicaset::observed(facts) else { break };
                let how = if side.is_edge { "counted" } else { "looked and found" };
                return format!("At {} it {how} {there} and wanted {want}: {difference}.", event.at);
            }
            _ => {}
        }
        cause = event.cause;
    }
    format!("It acted at {}.", step.at)
}

/// `It wants 3 and counts 3. It does not look at what is there. 2 deletions it never heard of.`
fn believed(side: &TwinSide) -> String {
    let count = format!("It wants {} and counts {}. ", side.want, side.counted);
    let n = |is: &dyn Fn(&&Missed) -> bool| side.missed.iter().filter(is).count();
    let part = |n: usize, one: &str, many: &str, how: &str| match n {
        0 => String::new(),
        1 => format!(" 1 {one} {how}."),
        n => format!(" {n} {many} {how}."),
    };
    let never = "it never heard of";
    [
        &count,
        "It does not look at what is there.",
        &*part(n(&|it| it.is_deletion && !it.is_twice), "deletion", "deletions", never),
        &*part(n(&|it| !it.is_deletion && !it.is_twice), "creation", "creations", never),
        &*part(n(&|it| it.is_twice), "event", "events", "it heard twice"),
    ]
    .concat()
}
