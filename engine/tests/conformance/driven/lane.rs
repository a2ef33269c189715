//! A control loop with its cache and queue, taking its turns when it is told to.
//!
//! A loop works on several objects at once, and what it has heard when it begins with one says nothing of when it began
//! with another. So there is a copy of the loop for each object that it looks after, where what it remembers is by
//! object; loops that remember more (nodes, evictions, owners) are one.

use std::rc::Rc;

use loopscope_engine::api::{Kind, Object, ObjectKey, Pod, Timestamp};
use loopscope_engine::apiserver::{Change, ChangeKind, EventDraft, Objects, Request};
use loopscope_engine::client::{
    Action, AnyReconciler, ContainerUsage, Context, Metrics, Next, Outcome, PodUsage, Step,
};
use loopscope_engine::sim::{Millis, Time};

use crate::conformance::recording::Recording;

/// What the clock of the engine shows at the recording's start: nothing has happened before its zero.
const BEFORE: i64 = 600_000;
/// Base and cap of a work queue's back-off (`DefaultTypedControllerRateLimiter`, v1.36).
const BACKOFF: (i64, i64) = (5, 1_000_000);

pub fn time(t: i64) -> Time {
    Time(u64::try_from(t + BEFORE).unwrap_or(0))
}

/// An instant: ms since the recording's start, and the start itself in ms since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    pub t: i64,
    pub started_at: i64,
}

impl Instant {
    pub fn wall(self) -> Timestamp {
        Timestamp::from_millis(self.started_at + self.t)
    }
}

/// When the autoscaler's controller had its passes, and what the recorder's metrics server answered: the CPU of all ready
/// pods together (ms, thousandths), in equal shares.
#[derive(Debug, Default)]
pub struct Metered {
    passes: Vec<i64>,
    loads: Vec<(i64, u64)>,
}

impl Metered {
    pub fn of(recording: &Recording) -> Self {
        Self { passes: recording.passes.clone(), loads: recording.loads().collect() }
    }

    /// When a pass comes that is asked for at a time: passes in a recording come later by what those before took.
    fn due(&self, asked: i64) -> i64 {
        const HALF: i64 = 7_500;
        match self.passes.is_empty() {
            true => asked,
            false => self.passes.iter().copied().find(|t| *t > asked - HALF).unwrap_or(i64::MAX / 4),
        }
    }
}

/// The metrics server at an instant.
struct Server<'a> {
    cache: &'a Objects,
    cpu_milli: u64,
    at_ms: i64,
}

fn counts(pod: &Pod) -> bool {
    pod.is_ready() && !pod.is_terminating()
}

impl Metrics for Server<'_> {
    fn of(&self, pod: &Pod) -> Option<PodUsage> {
        let here = self.cache.of_kind(Kind::Pod).filter_map(Object::as_pod);
        let ready = here.filter(|it| it.metadata.namespace == pod.metadata.namespace && counts(it)).count() as u64;
        let container = ContainerUsage {
            name: "app".into(),
            cpu_nano: self.cpu_milli * 1_000_000 / ready.max(1),
            memory: 10 * 1024 * 1024,
        };
        let window = Millis(5_000);
        counts(pod).then(|| PodUsage { at_ms: self.at_ms, window, containers: vec![container] })
    }
}

/// A turn under way: what it has read, and its requests that have not been answered.
#[derive(Clone)]
pub struct Turn {
    /// The reconciler's number for it.
    number: u32,
    pub key: ObjectKey,
    cache: Rc<Objects>,
    version: u64,
    pub parked: Vec<(usize, Request)>,
    pub outcomes: Vec<Option<Outcome>>,
    /// When, in the recording, the latest answer came to the requests that it sent last, and to those before.
    pub latest: i64,
    pub answered_at: i64,
    /// It has its answers, and goes on when it is told to, with what is known by then.
    pub waits: bool,
}

#[derive(Clone)]
pub struct Lane {
    /// As `writes` names its client: `controller/replicaset-controller`.
    pub by: &'static str,
    /// The one object that this copy of the loop looks after.
    pub only: Option<ObjectKey>,
    pub reconciler: AnyReconciler,
    pub cache: Objects,
    /// The version up to which it has heard of everything.
    pub version: u64,
    /// Of some kinds it may have heard more: each has an informer of its own.
    ahead: Vec<(Kind, u64)>,
    /// Keys that ask for a turn, in order.
    pub dirty: Vec<ObjectKey>,
    /// Keys that ask for one later.
    pub delayed: Vec<(ObjectKey, i64)>,
    failures: Vec<(ObjectKey, u32)>,
    pub turns: Vec<Turn>,
    /// Of the autoscaler's controller.
    pub metrics: Rc<Metered>,
}

impl Lane {
    pub fn new(by: &'static str, reconciler: AnyReconciler) -> Self {
        Self {
            by,
            only: None,
            reconciler,
            cache: Objects::default(),
            version: 0,
            ahead: Vec::new(),
            dirty: Vec::new(),
            delayed: Vec::new(),
            failures: Vec::new(),
            turns: Vec::new(),
            metrics: Rc::default(),
        }
    }

    /// A copy that looks after one object, and has turns of it to take.
    pub fn copy_for(&self, key: &ObjectKey, dirty: Vec<ObjectKey>) -> Self {
        Self { only: Some(key.clone()), dirty, delayed: Vec::new(), turns: Vec::new(), ..self.clone() }
    }

    /// Whether its informer of the kind has told of a change.
    pub fn has_heard(&self, change: &Change) -> bool {
        let known = self.ahead.iter().find(|(kind, _)| *kind == change.key.kind).map_or(0, |(_, version)| *version);
        change.version <= self.version.max(known)
    }

    /// A watch tells of a change that comes next of all.
    pub fn hear(&mut self, change: &Change, t: i64) {
        if !self.has_heard(change) {
            self.take_in(change, t);
        }
        self.version = change.version;
    }

    /// A watch tells of a change that comes next of its kind.
    pub fn hear_ahead(&mut self, change: &Change, t: i64) {
        if self.has_heard(change) {
            return;
        }
        self.ahead.retain(|(kind, _)| *kind != change.key.kind);
        self.ahead.push((change.key.kind, change.version));
        self.take_in(change, t);
    }

    /// A list tells of an object.
    pub fn list(&mut self, change: &Change, t: i64) {
        self.take_in(change, t);
    }

    fn take_in(&mut self, change: &Change, t: i64) {
        match change.kind {
            ChangeKind::Deleted => drop(self.cache.remove(&change.key)),
            _ => drop(self.cache.put(change.key.clone(), change.object.clone())),
        }
        for (key, delay) in self.reconciler.concerns(change, &self.cache, time(t)) {
            if self.only.as_ref().is_some_and(|only| *only != key) {
                continue;
            }
            if delay == Millis(0) { self.wake(key) } else { self.delay(key, t + delay.0 as i64) }
        }
    }

    /// Takes all keys that ask for a turn.
    pub fn take_keys(&mut self) -> Vec<ObjectKey> {
        let mut keys = std::mem::take(&mut self.dirty);
        keys.extend(std::mem::take(&mut self.delayed).into_iter().map(|(key, _)| key));
        keys
    }

    pub fn wake(&mut self, key: ObjectKey) {
        if !self.dirty.contains(&key) {
            self.dirty.push(key);
        }
    }

    /// An earlier turn that was asked for stays.
    fn delay(&mut self, key: ObjectKey, due: i64) {
        let due = self.metrics.due(due);
        match self.delayed.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = due.min(*known),
            None => self.delayed.push((key, due)),
        }
    }

    fn is_busy(&self, key: &ObjectKey) -> bool {
        self.turns.iter().any(|turn| turn.key == *key)
    }

    /// Keys that can have a turn at an instant.
    pub fn ready(&self, t: i64) -> Vec<ObjectKey> {
        let due = self.delayed.iter().filter(|(_, due)| *due <= t).map(|(key, _)| key);
        let mut keys: Vec<ObjectKey> = Vec::new();
        for key in self.dirty.iter().chain(due) {
            if !keys.contains(key) && !self.is_busy(key) {
                keys.push(key.clone());
            }
        }
        keys
    }

    /// Lets a key whose time has come ask for its turn.
    pub fn take_due(&mut self, t: i64) -> Option<ObjectKey> {
        let place = self.delayed.iter().position(|(_, due)| *due <= t)?;
        let (key, _) = self.delayed.remove(place);
        self.wake(key.clone());
        Some(key)
    }

    /// When the next key that waits is due.
    pub fn next_due(&self) -> Option<i64> {
        self.delayed.iter().map(|(_, due)| *due).min()
    }

    /// Begins a turn and goes on until it asks for something, or ends.
    pub fn begin(&mut self, key: &ObjectKey, now: Instant, slack: i64) -> Vec<EventDraft> {
        let is_woken = self.dirty.contains(key);
        self.dirty.retain(|it| it != key);
        let due_by = if is_woken { now.t } else { now.t + slack };
        self.delayed.retain(|(it, due)| it != key || *due > due_by);
        let number = self.reconciler.begin(key);
        let cache = Rc::new(self.cache.clone());
        let (parked, outcomes) = (Vec::new(), Vec::new());
        let turn = Turn {
            number,
            key: key.clone(),
            cache,
            version: self.version,
            parked,
            outcomes,
            latest: i64::MIN,
            answered_at: i64::MIN,
            waits: false,
        };
        self.turns.push(turn);
        self.go_on(key, now)
    }

    /// Whether its turns look at the cache again before they end.
    pub fn looks_twice(&self) -> bool {
        self.by == "controller/daemon-set-controller"
    }

    /// Lets a turn that waits go on with what its loop has heard by now.
    pub fn look_again(&mut self, key: &ObjectKey, now: Instant) -> Vec<EventDraft> {
        let cache = Rc::new(self.cache.clone());
        if let Some(turn) = self.turns.iter_mut().find(|turn| turn.key == *key) {
            (turn.waits, turn.cache, turn.version) = (false, cache, self.version);
        }
        self.go_on(key, now)
    }

    /// Goes on with a turn all of whose requests were answered.
    pub fn go_on(&mut self, key: &ObjectKey, now: Instant) -> Vec<EventDraft> {
        let Some(place) = self.turns.iter().position(|turn| turn.key == *key) else { return Vec::new() };
        let mut events = Vec::new();
        loop {
            let turn = &mut self.turns[place];
            if !turn.parked.is_empty() {
                return events;
            }
            let outcomes: Vec<Outcome> = std::mem::take(&mut turn.outcomes).into_iter().flatten().collect();
            let loads = self.metrics.loads.iter().rev();
            let cpu_milli = loads.clone().find(|(t, _)| *t <= now.t).map_or(0, |(_, milli)| *milli);
            let server = Server { cache: &turn.cache, cpu_milli, at_ms: now.started_at + now.t };
            let context = Context {
                cache: &turn.cache,
                version: turn.version,
                now: time(now.t),
                wall: now.wall(),
                wall_millis: now.started_at + now.t,
                expects: true,
                runtime: None,
                metrics: Some(&server),
                room: None,
                git: None,
                infrastructure: None,
            };
            let stepped = self.reconciler.step(&context, key, turn.number, outcomes);
            events.extend(stepped.events);
            match stepped.step {
                Step::Observe(_) | Step::Diff(_) => {}
                Step::Act(_, actions) => {
                    turn.outcomes = vec![None; actions.len()];
                    turn.answered_at = turn.latest;
                    turn.parked =
                        actions.into_iter().enumerate().filter_map(|(slot, it)| Some((slot, api(it)?))).collect();
                }
                Step::Done(next) => {
                    self.end(place);
                    self.failures.retain(|(it, _)| it != key);
                    if let Next::After(delay) = next {
                        self.delay(key.clone(), now.t + delay.0.max(1) as i64);
                    }
                    return events;
                }
                Step::Fail(_) => {
                    self.end(place);
                    let due = now.t + self.backoff(key);
                    self.delay(key.clone(), due);
                    return events;
                }
            }
        }
    }

    fn end(&mut self, place: usize) {
        let turn = self.turns.remove(place);
        self.reconciler.end(turn.number);
    }

    fn backoff(&mut self, key: &ObjectKey) -> i64 {
        let known = self.failures.iter_mut().find(|(it, _)| it == key);
        let count = match known {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                self.failures.push((key.clone(), 1));
                0
            }
        };
        BACKOFF.0.checked_shl(count.min(40)).unwrap_or(i64::MAX).min(BACKOFF.1)
    }
}

fn api(action: Action) -> Option<Request> {
    match action {
        Action::Api(request) => Some(request),
        Action::Runtime(..) | Action::Provision(_) => None,
    }
}
