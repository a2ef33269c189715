//! How processes hear of what happened: watches, lists, starts and crashes.

use std::rc::Rc;

use super::process::{Loop, Process};
use super::simulation::Happening;
use super::{ProcessKind, Simulation};
use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::{Change, ChangeKind};
use crate::client::{Author, LoopIndex, What};
use crate::controllers::horizontal_pod_autoscaler::NAME as AUTOSCALER;
use crate::sim::{Millis, OnWrite, Seq, sort_by};

/// The controller manager and the scheduler come first among the processes.
const CENTRAL: usize = 2;

impl Simulation {
    /// Sends a change on its way to every process that watches its object.
    pub(super) fn announce(&mut self, version: u64, author: Author) {
        let Some(change) = self.api.change(version) else { return };
        let lag = Millis(self.scenario.latency.watch);
        let is_for = |process: usize| {
            let process = self.processes.get(process)?;
            let concerned = process.kind.watches(&change.object)
                || change.old.as_ref().is_some_and(|old| process.kind.watches(old));
            (process.is_up && !process.is_cut && concerned).then_some(())
        };
        let node = match &change.object {
            Object::Pod(pod) => &pod.spec.node_name,
            object => &object.meta().name,
        };
        // Most of what concerns a node its own kubelet writes.
        let own = match author {
            Author::Loop(at) => self.loops.get(at.0 as usize).map(|it| it.process),
            Author::You => None,
        };
        let own = own.filter(|process| self.processes.get(*process).is_some_and(|it| it.node() == Some(node)));
        let kubelet = own.or_else(|| self.kubelets.get(node).copied());
        let thermostat = self.room.as_ref().map(|(_, process)| *process).filter(|_| change.key.kind == Kind::ConfigMap);
        let receivers = (0..CENTRAL)
            .chain(kubelet)
            .chain(thermostat)
            .chain(self.git.process)
            .filter(|process| is_for(*process).is_some());
        for process in receivers {
            self.queue.after(lag, Happening::Deliver { process, version });
        }
    }

    /// A watch tells a process of a change.
    pub(super) fn deliver(&mut self, process: usize, version: u64) {
        if !self.processes.get(process).is_some_and(|it| it.is_up && !it.is_cut && it.version < version) {
            return;
        }
        let Some(change) = self.api.change(version).map(Rc::clone) else {
            // The log no longer reaches back: the answer is 410 Gone, and the client lists again. What it finds is told as
            // following from the newest write.
            let newest = self.api.change(self.api.version()).map_or(Seq(1), |it| it.cause);
            self.list(process, newest);
            return;
        };
        if self.is_heard(process, &change) {
            self.take_in(process, &change);
        }
    }

    /// Lets each loop of a process say which of its keys a change concerns: what it is to the cache, and to a loop that
    /// counts events what came.
    pub(super) fn tell(&mut self, process: usize, change: Option<&Change>, came: Option<&Change>) {
        let Some(any) = change.or(came) else { return };
        if any.key.kind == Kind::HorizontalPodAutoscaler {
            self.summon(process);
        }
        let now = self.now();
        // What the very first lists hold is no news.
        let is_quiet = any.cause == Seq(1) && now == crate::sim::Time(0);
        for index in 0..self.processes[process].loops.len() {
            let at = self.processes[process].loops[index];
            let change = if self.processes[process].ails.edge == Some(at) { came } else { change };
            let Some(change) = change else { continue };
            let cache = &self.processes[process].cache;
            let wakeups = self.loops[at.0 as usize].reconciler.concerns(change, cache, now);
            if wakeups.is_empty() {
                continue;
            }
            let what = What::Told { to: at, key: change.key.clone(), change: change.kind, version: change.version };
            let seq = self.record(Some(change.cause), is_quiet, what);
            for (key, delay) in wakeups {
                self.enqueue(at, key, delay, seq);
            }
        }
    }

    /// Starts those loops of a process that are only there where they have something to look after.
    fn summon(&mut self, process: usize) {
        let it = &self.processes[process];
        let is_there = |at: &LoopIndex| self.loops[at.0 as usize].name.as_str() == AUTOSCALER;
        if !it.is_manager() || it.loops.last().is_some_and(is_there) {
            return;
        }
        let known = it.loops.len();
        for (name, workers, reconciler) in it.kind.loops().into_iter().skip(known) {
            self.add_loop(process, (name, workers, reconciler));
        }
    }

    /// Asks for a turn of a key, now or later.
    pub(super) fn enqueue(&mut self, at: LoopIndex, key: ObjectKey, delay: Millis, reason: Seq) {
        let now = self.now();
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        if delay == Millis(0) {
            let rank = it.reconciler.rank(&key, &self.processes[it.process].cache, now);
            it.queue.add_ranked(key, reason, rank);
            self.work(at);
        } else if it.queue.add_at(key.clone(), now + delay, reason) {
            let epoch = self.processes[it.process].epoch;
            self.queue.after(delay, Happening::Release { at, key, epoch });
        }
    }

    pub(super) fn release(&mut self, at: LoopIndex, key: &ObjectKey, epoch: u32) {
        let now = self.now();
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        let rank = it.reconciler.rank(key, &self.processes[it.process].cache, now);
        if self.processes[it.process].epoch == epoch && it.queue.release(key, now, rank) {
            self.work(at);
        }
    }

    /// Fills a process's cache from a list, and tells its loops what differs from what it knew.
    pub(super) fn list(&mut self, process: usize, cause: Seq) {
        let it = &self.processes[process];
        let (now, version) = (self.now(), self.api.version());
        let mut changes = Vec::new();
        for (key, object) in it.watched(self.api.objects()) {
            let old = it.cache.get(key).cloned();
            let kind = if old.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
            if old.as_ref() != Some(object) {
                let (key, object) = (key.clone(), object.clone());
                changes.push(Change { version, kind, key, object, old, at: now, cause });
            }
        }
        for (key, object) in it.cache.iter() {
            if self.api.objects().get(key).is_none_or(|live| live.meta().uid != object.meta().uid) {
                let (kind, old) = (ChangeKind::Deleted, Some(object.clone()));
                let (key, object) = (key.clone(), object.clone());
                changes.push(Change { version, kind, key, object, old, at: now, cause });
            }
        }
        sort_by(&mut changes, |a, b| (a.kind != ChangeKind::Deleted).cmp(&(b.kind != ChangeKind::Deleted)));
        for change in &changes {
            self.processes[process].hear(change);
        }
        self.processes[process].version = version;
        for change in &changes {
            self.tell(process, Some(change), None);
        }
        self.count_anew(process, cause);
    }

    /// Tells the loops of a process of every object in its cache, as if each had been written just as it is
    /// (`sharedIndexInformer` resync). Nothing was lost, so nothing comes of it.
    pub(super) fn resync(&mut self, process: usize, epoch: u32) {
        let it = &self.processes[process];
        if it.epoch != epoch || !it.is_up {
            return;
        }
        let (now, version) = (self.now(), it.version);
        let cause = self.record(None, true, What::Resynced);
        let known = |(key, object): (&ObjectKey, &Object)| {
            let (key, object, old) = (key.clone(), object.clone(), Some(object.clone()));
            Change { version, kind: ChangeKind::Modified, key, object, old, at: now, cause }
        };
        let changes: Vec<Change> = self.processes[process].cache.iter().map(known).collect();
        for change in &changes {
            self.tell(process, Some(change), None);
        }
        self.plan_resync(process);
    }

    fn plan_resync(&mut self, process: usize) {
        let it = &self.processes[process];
        if let (Some(period), ProcessKind::ControllerManager) = (self.scenario.resync_ms, &it.kind) {
            let happening = Happening::Resync { process, epoch: it.epoch };
            self.queue.after(Millis(period.max(1_000)), happening);
        }
    }

    /// Sets a process's own clocks going.
    pub(super) fn start_clocks(&mut self, process: usize, first: Millis, cause: Seq) {
        self.plan_resync(process);
        let epoch = self.processes[process].epoch;
        for at in self.processes[process].loops.clone() {
            if self.loops[at.0 as usize].reconciler.tick().is_some() {
                self.queue.after(first, Happening::Tick { at, epoch, cause: Some(cause) });
            }
        }
    }

    pub(super) fn tick(&mut self, at: LoopIndex, epoch: u32, cause: Option<Seq>) {
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        let process = &self.processes[it.process];
        if process.epoch != epoch || !process.is_up {
            return;
        }
        let Some((key, period)) = it.reconciler.tick() else { return };
        let seq = self.record(cause, true, What::Ticked(at));
        self.queue.after(period, Happening::Tick { at, epoch, cause: None });
        self.enqueue(at, key, Millis(0), seq);
    }

    /// Ends a process at once: its cache, its queues and its turns are lost, requests under way arrive all the same.
    pub(super) fn crash(&mut self, process: usize) {
        let it: &mut Process = &mut self.processes[process];
        it.is_up = false;
        it.ails.end();
        it.epoch += 1;
        if it.kind == ProcessKind::ControllerManager {
            self.api.events.forget();
        }
        it.cache = it.kind.cache();
        it.version = 0;
        for ((name, workers, reconciler), at) in it.kind.loops().into_iter().zip(it.loops.clone()) {
            let old = &mut self.loops[at.0 as usize];
            let mut fresh = Loop::new(name, process, workers, reconciler);
            if it.ails.edge == Some(at) {
                // Its counts are written down.
                old.active.keys().cloned().collect::<Vec<_>>().iter().for_each(|key| drop(old.end_turn(key)));
                std::mem::swap(&mut fresh.reconciler, &mut old.reconciler);
            }
            (fresh.turns, fresh.retries, fresh.last_active) = (old.turns, old.retries, old.last_active);
            *old = OnWrite::new(fresh);
        }
        self.hold();
    }

    /// Starts a process that had crashed: it lists, and reconciles whatever it finds.
    pub(super) fn start(&mut self, process: usize, cause: Seq) {
        let it: &mut Process = &mut self.processes[process];
        it.is_up = true;
        it.epoch += 1;
        let is_cut = it.is_cut;
        let first = match it.kind {
            ProcessKind::Kubelet(_) => Millis(200),
            _ => Millis(0),
        };
        if !is_cut {
            self.list(process, cause);
        }
        self.start_clocks(process, first, cause);
        if self.git.process == Some(process) {
            self.wake_agent(Millis(0), cause);
        }
    }
}
