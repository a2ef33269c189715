//! The trace as Chrome's trace-event JSON, which Perfetto and `chrome://tracing` open.
//!
//! Each program is a process, each worker of a loop a thread with its turns and their phases, each request a slice at the
//! API server. Arrows lead from each event to what it caused. Times are virtual, in µs; what happens in one millisecond
//! lies a microsecond apart, in its order, so that arrows point forwards.

use std::rc::Rc;

use super::json::{To, item, text};
use crate::api::ObjectKey;
use crate::client::{Author, LoopIndex, TurnPhase, What};
use crate::share::state_words;
use crate::sim::{Seq, Time, TraceEvent};
use crate::view;
use crate::world::{ProcessKind, Simulation};

/// Processes.
const YOU: u64 = 1;
const API_SERVER: u64 = 2;
const FIRST_PROGRAM: u64 = 3;

/// Threads of a program, before those of its loops' workers.
const WATCHES: u64 = 1;
const EVENTS: u64 = 2;
const MACHINE: u64 = 3;
const FIRST_WORKER: u64 = 8;
/// Threads that a loop's workers may have.
const WORKERS: u64 = 1 << 12;

/// Microseconds.
type Us = u64;

/// A place for slices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Track {
    pid: u64,
    tid: u64,
}

/// A turn under way: since when, and its phases so far with what is known of their ends.
struct Turn {
    by: LoopIndex,
    key: ObjectKey,
    from: Us,
    phases: Vec<Phase>,
}

struct Phase {
    seq: Seq,
    name: &'static str,
    from: Us,
    until: Us,
}

/// What may be side by side: the ends of the slices on each of its threads.
type Lanes = Vec<Us>;

struct Chrome<'a> {
    simulation: &'a Simulation,
    out: String,
    /// The last event's time, and how many came before it in its millisecond.
    last: (Time, u64),
    turns: Vec<Turn>,
    /// Of each loop.
    lanes: Vec<Lanes>,
    requests: Lanes,
    /// The events in order, and where each of them is, for the arrows.
    seqs: Vec<Seq>,
    places: Vec<Option<(Track, Us)>>,
    /// Those with something on them, in order.
    tracks: Vec<Track>,
}

/// The kept events as trace-event JSON.
pub fn chrome_trace(simulation: &Simulation) -> String {
    let seqs: Vec<Seq> = simulation.trace().all_events().map(|it| it.seq).collect();
    let mut chrome = Chrome {
        simulation,
        out: String::from("{\"displayTimeUnit\":\"ms\",\"traceEvents\":["),
        last: (Time(0), 0),
        turns: Vec::new(),
        lanes: simulation.loops().iter().map(|_| Lanes::new()).collect(),
        requests: Lanes::new(),
        places: vec![None; seqs.len()],
        seqs,
        tracks: Vec::new(),
    };
    for event in simulation.trace().all_events() {
        chrome.event(&event);
    }
    for turn in std::mem::take(&mut chrome.turns) {
        chrome.draw_turn(turn, Us::MAX);
    }
    chrome.arrows();
    chrome.names();
    let mut out = chrome.out + "\n],\"otherData\":{\"scenario\":";
    text(&mut out, &simulation.scenario().name);
    let (seed, state) = (simulation.scenario().seed.to_string(), state_words(simulation.trace().digest()));
    out + &[",\"seed\":\"", &seed, "\",\"state\":\"", &state, "\"}}\n"].concat()
}

fn phase_name(phase: TurnPhase) -> &'static str {
    match phase {
        TurnPhase::Observe => "Observe",
        TurnPhase::Diff => "Diff",
        TurnPhase::Act => "Act",
    }
}

/// The first thread that is free at a time, or one more.
fn free_lane(lanes: &mut Lanes, from: Us, until: Us) -> u64 {
    let at = lanes.iter().position(|end| *end <= from).unwrap_or(lanes.len());
    match lanes.get_mut(at) {
        Some(end) => *end = until,
        None => lanes.push(until),
    }
    at as u64
}

impl Chrome<'_> {
    fn program(&self, at: LoopIndex) -> u64 {
        let process = self.simulation.loops().get(at.0 as usize).map_or(0, |it| it.process);
        FIRST_PROGRAM + process as u64
    }

    fn time(&mut self, at: Time) -> Us {
        let n = if self.last.0 == at { (self.last.1 + 1).min(999) } else { 0 };
        self.last = (at, n);
        at.0 * 1_000 + n
    }

    fn event(&mut self, event: &TraceEvent<What>) {
        let ts = self.time(event.at);
        let point = |pid, tid| Track { pid, tid };
        let track = match &event.what {
            What::Reached { by, key, phase, .. } => return self.phase(event.seq, *by, key, *phase, ts),
            What::Wrote { author, method, subresource, key, .. }
            | What::Refused { author, method, subresource, key, .. } => {
                let name = [*method, " ", &key.to_string(), if subresource.is_empty() { "" } else { "/" }, subresource];
                return self.request(event, *author, &name.concat(), ts);
            }
            What::Began | What::Commanded(_) | What::Faulted(_) | What::Outside { .. } => point(YOU, WATCHES),
            What::Resynced => point(FIRST_PROGRAM, WATCHES),
            What::Ticked(at) | What::Told { to: at, .. } => point(self.program(*at), WATCHES),
            What::Failed { by, .. } | What::Announced { by, .. } => point(self.program(*by), EVENTS),
            What::Happened { node, .. } => {
                let is_its = |it: &ProcessKind| matches!(it, ProcessKind::Kubelet(name) if name == node);
                let at = self.simulation.processes().iter().position(|it| is_its(&it.kind)).unwrap_or(0);
                point(FIRST_PROGRAM + at as u64, MACHINE)
            }
        };
        let words = self.words(event.seq);
        self.place(event.seq, track, ts);
        self.slice(track, (ts, ts + 1), &words, "event", event.seq);
    }

    fn place(&mut self, seq: Seq, track: Track, ts: Us) {
        if let Ok(at) = self.seqs.binary_search(&seq) {
            self.places[at] = Some((track, ts));
        }
    }

    fn place_of(&self, seq: Seq) -> Option<(Track, Us)> {
        self.places.get(self.seqs.binary_search(&seq).ok()?).copied().flatten()
    }

    fn words(&self, seq: Seq) -> String {
        view::event(self.simulation, seq.0).map_or_else(String::new, |row| row.text.plain())
    }

    fn slice(&mut self, track: Track, (from, until): (Us, Us), name: &str, category: &str, seq: Seq) {
        if let Err(at) = self.tracks.binary_search(&track) {
            self.tracks.insert(at, track);
        }
        let mut args = String::new();
        super::json::object(&mut args, &[("event", To::Number(seq.0)), ("text", To::Text(&self.words(seq)))]);
        item(
            &mut self.out,
            &[
                ("ph", To::Text("X")),
                ("name", To::Text(if name.is_empty() { "…" } else { name })),
                ("cat", To::Text(category)),
                ("pid", To::Number(track.pid)),
                ("tid", To::Number(track.tid)),
                ("ts", To::Number(from)),
                ("dur", To::Number(until - from)),
                ("args", To::Json(&args)),
            ],
        );
    }

    /// A turn reaches a phase, which ends the one before.
    fn phase(&mut self, seq: Seq, by: LoopIndex, key: &ObjectKey, phase: TurnPhase, ts: Us) {
        let until = ts + 1_000 * self.simulation.scenario().latency.phase.max(1);
        let found = self.turns.iter().position(|it| it.by == by && it.key == *key);
        let next = Phase { seq, name: phase_name(phase), from: ts, until };
        match found {
            Some(at) if phase != TurnPhase::Observe => return self.turns[at].phases.push(next),
            Some(at) => {
                let last = self.turns.swap_remove(at);
                self.draw_turn(last, ts);
            }
            None => {}
        }
        self.turns.push(Turn { by, key: key.clone(), from: ts, phases: vec![next] });
    }

    /// A request was carried out or refused: a slice at the API server, from when it was sent to when its answer is there.
    fn request(&mut self, event: &TraceEvent<What>, author: Author, name: &str, ts: Us) {
        let latency = self.simulation.scenario().latency;
        let sent = (event.at.0.saturating_sub(latency.request) * 1_000).min(ts);
        let answered = match author {
            Author::You => ts + 1,
            Author::Loop(_) => (event.at.0 + latency.answer) * 1_000 + 999,
        };
        let from = if author == Author::You { ts } else { sent };
        let lane = free_lane(&mut self.requests, from, answered);
        let track = Track { pid: API_SERVER, tid: 1 + lane };
        self.place(event.seq, track, ts);
        self.slice(track, (from, answered), name, "request", event.seq);
        let Author::Loop(by) = author else { return };
        let is_its = |phase: &&mut Phase| Some(phase.seq) == event.cause;
        let mut phases = self.turns.iter_mut().filter(|it| it.by == by).flat_map(|turn| &mut turn.phases);
        if let Some(act) = phases.find(is_its) {
            act.until = act.until.max(answered);
        }
    }

    /// Draws a turn, which ended at some time before another.
    fn draw_turn(&mut self, turn: Turn, before: Us) {
        let mut ends: Vec<Us> = turn.phases.iter().skip(1).map(|it| it.from).collect();
        ends.extend(turn.phases.last().map(|it| it.until.min(before)));
        let (Some(first), Some(until)) = (turn.phases.first(), ends.last().copied()) else { return };
        let lane = self.lanes.get_mut(turn.by.0 as usize).map_or(0, |lanes| free_lane(lanes, turn.from, until));
        let tid = FIRST_WORKER + u64::from(turn.by.0) * WORKERS + lane;
        let track = Track { pid: self.program(turn.by), tid };
        self.slice(track, (turn.from, until), &turn.key.to_string(), "turn", first.seq);
        for (phase, until) in turn.phases.iter().zip(ends) {
            self.place(phase.seq, track, phase.from);
            self.slice(track, (phase.from, until), phase.name, "phase", phase.seq);
        }
    }

    /// An arrow from each event's cause to it.
    fn arrows(&mut self) {
        for event in self.simulation.trace().all_events() {
            let Some(cause) = event.cause else { continue };
            let ends = (self.place_of(cause), self.place_of(event.seq));
            let (Some((from, began)), Some((to, arrived))) = ends else { continue };
            for (phase, track, ts) in [("s", from, began), ("f", to, arrived)] {
                item(
                    &mut self.out,
                    &[
                        ("ph", To::Text(phase)),
                        ("bp", To::Text(if phase == "f" { "e" } else { "" })),
                        ("name", To::Text("cause")),
                        ("cat", To::Text("cause")),
                        ("id", To::Number(event.seq.0)),
                        ("pid", To::Number(track.pid)),
                        ("tid", To::Number(track.tid)),
                        ("ts", To::Number(ts)),
                    ],
                );
            }
        }
    }

    /// What processes and threads are called.
    fn names(&mut self) {
        let tracks = std::mem::take(&mut self.tracks);
        let mut named = 0;
        for Track { pid, tid } in tracks {
            if named != pid {
                named = pid;
                self.name("process_name", pid, 0, &self.process_name(pid));
            }
            self.name("thread_name", pid, tid, &self.thread_name(pid, tid));
        }
    }

    fn process_name(&self, pid: u64) -> String {
        let program = pid.checked_sub(FIRST_PROGRAM).and_then(|at| self.simulation.processes().get(at as usize));
        match program.map(|it| &it.kind) {
            Some(ProcessKind::Runner { .. }) => "terraform".into(),
            Some(ProcessKind::Script(by)) => ["script of ", by].concat(),
            Some(ProcessKind::Kubelet(node)) => ["kubelet ", node].concat(),
            Some(other) => other.program().unwrap_or_default().into(),
            None if pid == YOU => "You".into(),
            None => "API server".into(),
        }
    }

    fn thread_name(&self, pid: u64, tid: u64) -> String {
        let number = |lane: u64| if lane == 0 { String::new() } else { [" ", &(lane + 1).to_string()].concat() };
        match tid {
            _ if pid == YOU => "Commands".into(),
            _ if pid == API_SERVER => ["Requests", &number(tid - 1)].concat(),
            WATCHES => "Watches and clocks".into(),
            EVENTS => "Events and retries".into(),
            MACHINE => "Machine".into(),
            _ => {
                let worker = tid - FIRST_WORKER;
                let at = self.simulation.loops().get((worker / WORKERS) as usize);
                let name = at.map_or_else(|| Rc::from(""), |it| Rc::from(&*it.name));
                [&*name, number(worker % WORKERS).as_str()].concat()
            }
        }
    }

    fn name(&mut self, what: &str, pid: u64, tid: u64, name: &str) {
        let mut args = String::new();
        super::json::object(&mut args, &[("name", To::Text(name))]);
        let (pid, tid) = (To::Number(pid), To::Number(tid));
        let fields =
            [("ph", To::Text("M")), ("name", To::Text(what)), ("pid", pid), ("tid", tid), ("args", To::Json(&args))];
        item(&mut self.out, &fields);
    }
}
