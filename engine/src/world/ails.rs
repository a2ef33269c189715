//! Faults of single programs: watches that lose events, programs that stand still or crash between two requests.

use std::rc::Rc;

use super::faults::{done, invalid};
use super::simulation::{Happening, Turn};
use super::switches::{Mishap, Switch, Type};
use super::{Lane, Outcome, Simulation};
use crate::api::{Kind, Object};
use crate::apiserver::{Change, ChangeKind};
use crate::client::{AnyReconciler, Arg, LoopIndex, Note, What};
use crate::controllers::replicaset::EdgeTriggered;
use crate::note;
use crate::sim::{Millis, Seq};

/// How late an event is that comes out of its order.
const LATE: Millis = Millis(500);
/// From the end of a watch (410 Gone) until its client has listed anew (`reflector.go`: 800 ms and more, v1.36).
const RELIST_TAKES: Millis = Millis(800);

/// Events on their way that something happens to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disturbed {
    mishap: Mishap,
    next: u32,
    of: Option<Type>,
}

/// What is wrong with a program, and how its ReplicaSet controller works.
#[derive(Clone, Debug, Default)]
pub struct Ailing {
    /// Its ReplicaSet controller counts events.
    pub edge: Option<LoopIndex>,
    /// That controller lists when it starts.
    pub relists: bool,
    /// It has listed once.
    pub(super) has_counted: bool,
    pub gives_up: bool,
    pub is_paused: bool,
    /// Turns that go on once it does.
    put_off: Vec<(LoopIndex, Turn)>,
    pub is_stalled: bool,
    /// While it hears nothing, the first write that it may not have heard of.
    deaf_from: Option<u64>,
    pub(super) disturbed: Vec<Disturbed>,
    /// Its cache may lack events.
    pub(super) is_unsure: bool,
    /// Requests after which it crashes.
    pub(super) crash_after: Option<u32>,
}

impl Ailing {
    /// What does not outlive the program.
    pub(super) fn end(&mut self) {
        self.is_paused = false;
        self.is_stalled = false;
        self.deaf_from = None;
        self.is_unsure = false;
        self.crash_after = None;
        self.put_off.clear();
    }

    /// After so many more requests it crashes.
    pub fn crashes_after(&self) -> Option<u32> {
        self.crash_after
    }

    fn is_deaf(&self) -> bool {
        self.is_paused || self.is_stalled
    }

    /// Counts a request; whether it was the last before a crash.
    pub(super) fn is_last_request(&mut self) -> bool {
        let Some(left) = &mut self.crash_after else { return false };
        *left = left.saturating_sub(1);
        *left == 0
    }
}

impl Simulation {
    /// Writes down what a fault did.
    pub(super) fn fault(&mut self, cause: Seq, note: Note) -> Seq {
        self.record_on(Lane::Faults, Some(cause), false, What::Faulted(note))
    }

    pub(super) fn set_switch(&mut self, program: &str, switch: Switch, on: bool, seq: Seq) -> Outcome {
        let process = match self.central(program) {
            Ok(process) => process,
            Err(outcome) => return outcome,
        };
        let word = switch.word(on);
        let counts = matches!(switch, Switch::EdgeTriggered | Switch::Relists);
        if counts && !self.processes[process].is_manager() {
            return invalid(format!("{program} has no ReplicaSet controller"));
        }
        let ails = &mut self.processes[process].ails;
        let is_same = match switch {
            Switch::EdgeTriggered => ails.edge.is_some() == on,
            Switch::Relists => std::mem::replace(&mut ails.relists, on) == on,
            Switch::RetriesConflicts => std::mem::replace(&mut ails.gives_up, !on) != on,
            Switch::Paused => std::mem::replace(&mut ails.is_paused, on) == on,
            Switch::WatchStalled => std::mem::replace(&mut ails.is_stalled, on) == on,
        };
        if is_same {
            return done(format!("{program} is already so: {word}"));
        }
        match switch {
            Switch::EdgeTriggered => self.set_edge(process, on, seq),
            Switch::Paused if !on => {
                self.catch_up(process, seq);
                self.take_up(process);
            }
            Switch::WatchStalled if !on => self.catch_up(process, seq),
            Switch::Paused | Switch::WatchStalled => self.hold_on(process),
            _ => {}
        }
        done(format!("{program}: {word}"))
    }

    /// The controller manager starts anew with the other ReplicaSet controller.
    fn set_edge(&mut self, process: usize, on: bool, seq: Seq) {
        let is_up = self.processes[process].is_up;
        self.processes[process].ails.edge = None;
        self.crash(process);
        if on {
            let mut loops = self.processes[process].loops.iter().copied();
            let edge = loops.find(|at| &*self.loops[at.0 as usize].name == "ReplicaSet");
            if let Some(at) = edge {
                self.loops[at.0 as usize].reconciler = AnyReconciler::new(EdgeTriggered::default());
            }
            let ails = &mut self.processes[process].ails;
            (ails.edge, ails.has_counted) = (edge, false);
        }
        if is_up {
            self.start(process, seq);
        }
    }

    /// After a list: a controller that counts events either counts all that is there anew, or has missed what happened.
    pub(super) fn count_anew(&mut self, process: usize, cause: Seq) {
        let it = &mut self.processes[process];
        let Some(at) = it.ails.edge else { return };
        if it.ails.has_counted && !it.ails.relists {
            let text = "the **ReplicaSet** controller goes on with what it counted before: it was not told what happened meanwhile, and does not look";
            self.fault(cause, Note::plain(text));
            return;
        }
        it.ails.has_counted = true;
        self.loops[at.0 as usize].reconciler.relisted();
        let (now, version) = (self.now(), self.processes[process].version);
        let kinds = [Kind::ReplicaSet, Kind::Pod];
        let all = self.processes[process].cache.iter().filter(|(key, _)| kinds.contains(&key.kind));
        let changes: Vec<Change> = all
            .map(|(key, object)| {
                let (key, object) = (key.clone(), object.clone());
                Change { version, kind: ChangeKind::Added, key, object, old: None, at: now, cause }
            })
            .collect();
        for change in &changes {
            self.tell(process, None, Some(change));
        }
    }

    pub(super) fn disturb_watch(&mut self, program: &str, mishap: Mishap, next: u32, of: Option<Type>) -> Outcome {
        let process = match self.central(program) {
            Ok(process) => process,
            Err(outcome) => return outcome,
        };
        self.processes[process].ails.disturbed.push(Disturbed { mishap, next, of });
        done(format!("the watch of {program} is disturbed"))
    }

    /// The watch ends with 410 Gone; its client lists after a moment.
    pub(super) fn break_watch(&mut self, program: &str, seq: Seq) -> Outcome {
        let process = match self.central(program) {
            Ok(process) => process,
            Err(outcome) => return outcome,
        };
        let it = &mut self.processes[process];
        if !it.is_up {
            return done(format!("{program} is stopped"));
        }
        it.ails.is_stalled = true;
        let epoch = it.epoch;
        self.hold_on(process);
        self.queue.after(RELIST_TAKES, Happening::Relist { process, epoch, cause: seq });
        done(format!("the watch of {program} is broken"))
    }

    pub(super) fn relist(&mut self, process: usize, epoch: u32, cause: Seq) {
        let it = &mut self.processes[process];
        if it.epoch != epoch || !it.is_up {
            return;
        }
        it.ails.is_stalled = false;
        if !it.ails.is_deaf() {
            it.ails.deaf_from = None;
        }
        self.hold();
        let cause =
            self.fault(cause, Note::plain("the watch answered **410 Gone**, its client lists all objects anew"));
        self.list(process, cause);
    }

    /// Whether a program hears an event now, and that it does hear it, or what becomes of it.
    pub(super) fn is_heard(&mut self, process: usize, change: &Rc<Change>) -> bool {
        let ails = &mut self.processes[process].ails;
        if ails.is_deaf() {
            return false;
        }
        if change.key.kind != Kind::Pod || ails.disturbed.is_empty() {
            return true;
        }
        let meant = |it: &Disturbed| it.of.is_none_or(|of| of.is(change.kind));
        let Some(at) = ails.disturbed.iter().position(meant) else { return true };
        let mishap = ails.disturbed[at].mishap;
        ails.disturbed[at].next = ails.disturbed[at].next.saturating_sub(1);
        if ails.disturbed[at].next == 0 {
            ails.disturbed.remove(at);
        }
        ails.is_unsure = true;
        let epoch = self.processes[process].epoch;
        let text = match mishap {
            Mishap::Drop => "the watch event that {} {} got **lost**",
            Mishap::Duplicate => "the watch event that {} {} came **twice**",
            Mishap::Reorder => "the watch event that {} {} comes **late**",
        };
        let happened = match change.kind {
            ChangeKind::Added => "is new",
            ChangeKind::Modified => "has changed",
            ChangeKind::Deleted => "is gone",
        };
        let pod = Arg::Short(change.key.name.clone());
        let seq = self.fault(change.cause, Note { text, args: vec![pod, happened.into()] });
        let again = Change { cause: seq, ..(**change).clone() };
        match mishap {
            Mishap::Drop => {}
            Mishap::Duplicate => {
                self.take_in(process, &again);
                self.take_in(process, &again);
            }
            Mishap::Reorder => self.queue.after(LATE, Happening::Late { process, epoch, change: Rc::new(again) }),
        }
        false
    }

    pub(super) fn hear_late(&mut self, process: usize, epoch: u32, change: &Change) {
        let it = &self.processes[process];
        if it.epoch == epoch && it.is_up {
            self.take_in(process, change);
        }
    }

    /// Takes an event into a cache, and tells the loops. An informer says what an event means to its cache: what it has
    /// not known is new, and what it has known has changed. Who counts events hears them as they come.
    pub(super) fn take_in(&mut self, process: usize, change: &Change) {
        let it = &mut self.processes[process];
        let is_known = it.hear(change);
        if !it.ails.is_unsure {
            self.tell(process, Some(change), Some(change));
            return;
        }
        let kind = match change.kind {
            ChangeKind::Deleted if !is_known => None,
            ChangeKind::Added if is_known => Some(ChangeKind::Modified),
            // A kubelet's pod is new to it when it is bound; a controller manager and a scheduler know all pods.
            ChangeKind::Modified if !is_known => Some(ChangeKind::Added),
            kind => Some(kind),
        };
        let cooked = kind.map(|kind| Change { kind, ..change.clone() });
        self.tell(process, cooked.as_ref(), Some(change));
    }

    /// What a program does not hear now is kept until it does, whoever else has heard of it.
    fn hold_on(&mut self, process: usize) {
        let unheard = self.api.unheard(self.now());
        let ails = &mut self.processes[process].ails;
        ails.deaf_from = ails.deaf_from.or(Some(unheard));
        self.hold();
    }

    pub(super) fn hold(&mut self) {
        self.api.hold(self.processes.iter().filter_map(|it| it.ails.deaf_from).min());
    }

    /// What was held up on its way to a program reaches it, in its order.
    fn catch_up(&mut self, process: usize, seq: Seq) {
        let it = &mut self.processes[process];
        if it.ails.is_deaf() {
            return;
        }
        let unheard = it.version + 1;
        let from = it.ails.deaf_from.take().map_or(unheard, |from| from.max(unheard));
        if it.is_up {
            self.hear_from(process, from, seq);
        }
        self.hold();
    }

    fn hear_from(&mut self, process: usize, from: u64, seq: Seq) {
        for version in from..=self.api.version() {
            let Some(change) = self.api.change(version).map(Rc::clone) else {
                self.list(process, seq);
                return;
            };
            let watches = |object: &Object| self.processes[process].kind.watches(object);
            if (watches(&change.object) || change.old.as_ref().is_some_and(watches)) && self.is_heard(process, &change)
            {
                self.take_in(process, &change);
            }
        }
    }

    /// A turn of a program that stands still waits.
    pub(super) fn puts_off(&mut self, process: usize, at: LoopIndex, turn: Turn) -> bool {
        let is_paused = self.processes[process].ails.is_paused;
        if is_paused {
            self.processes[process].ails.put_off.push((at, turn));
        }
        is_paused
    }

    /// What was put off goes on.
    fn take_up(&mut self, process: usize) {
        for (at, turn) in std::mem::take(&mut self.processes[process].ails.put_off) {
            self.continue_later(at, turn);
        }
        for at in self.processes[process].loops.clone() {
            self.work(at);
        }
    }

    pub(super) fn crash_after(&mut self, program: &str, requests: u32) -> Outcome {
        match self.central(program) {
            Ok(process) => self.processes[process].ails.crash_after = Some(requests).filter(|n| *n > 0),
            Err(outcome) => return outcome,
        }
        if requests == 0 {
            return done(format!("{program} does not crash"));
        }
        done(format!("{program} crashes after {requests} more requests"))
    }

    /// A turn whose write met a newer version is not tried again.
    pub(super) fn give_up(&mut self, at: LoopIndex, key: &crate::api::ObjectKey) {
        let it = &mut self.loops[at.0 as usize];
        let turn = it.end_turn(key);
        it.queue.forget(key);
        it.queue.done(key);
        let name = it.name.clone();
        let cause = turn.map_or(Seq(0), |turn| turn.last);
        self.fault(cause, note!("**{}** gave up on {} after a conflict", &name, &key.name));
        self.work(at);
    }
}
