//! How a turn proceeds: step by step, with requests and answers between.

use std::rc::Rc;

use super::flights::Flight;
use super::process::{ActiveTurn, Cell, CellAnswer, Loop, ProcessKind};
use super::simulation::{Happening, Turn};
use super::{Readings, Server, Simulation};
use crate::api::{Kind, Name, ObjectKey};
use crate::apiserver::{ApiError, Reason, Request};
use crate::client::{
    Action, Arg, Author, Context, Facts, Infrastructure, LoopIndex, Metrics, Next, Note, Outcome, Step, Stepped,
    TurnPhase, What,
};
use crate::sim::{Millis, Seq, Time};

/// How long a client waits for an answer (`nodeLeaseDurationSeconds` ¼, kubelet v1.36).
const CLIENT_TIMEOUT: Millis = Millis(10_000);

/// By then everybody has looked at all that a list held.
const FIRST_LOOK: Time = Time(1_000);

impl Simulation {
    /// Begins as many turns as a loop has workers for.
    pub(super) fn work(&mut self, at: LoopIndex) {
        loop {
            let it: &mut Loop = &mut self.loops[at.0 as usize];
            if !it.queue.has_ready() || it.queue.n_running() >= it.workers || !self.processes[it.process].works() {
                return;
            }
            let Some((key, reason)) = it.queue.take() else { return };
            let number = it.reconciler.begin(&key);
            let outcomes = Vec::new();
            let turn = ActiveTurn { last: reason, phase: None, awaiting: 0, outcomes, is_background: false, number };
            let turn = it.active.add_at(key, turn);
            self.continue_later(at, turn);
        }
    }

    pub(super) fn go_on(&mut self, at: LoopIndex, turn: Turn, epoch: u32) {
        let it = &self.loops[at.0 as usize];
        let process = it.process;
        if self.processes[process].epoch != epoch || self.puts_off(process, at, turn) {
            return;
        }
        let it = &self.loops[at.0 as usize];
        let Some(key) = it.active.pair(turn).map(|(key, _)| key.clone()) else { return };
        let stepped = self.think(at, turn, &key);
        self.carry_out(at, turn, &key, stepped);
    }

    /// One step of the reconciler.
    fn think(&mut self, at: LoopIndex, turn: Turn, key: &ObjectKey) -> Stepped {
        let (now, wall, wall_millis) = (self.now(), self.wall(), self.wall_millis());
        let asks_metrics = key.kind == Kind::HorizontalPodAutoscaler;
        if asks_metrics {
            self.settle();
        }
        let is_agent = self.git.at == Some(at);
        if is_agent {
            self.draw_jitter();
        }
        let cut = if asks_metrics { self.cut_nodes() } else { Vec::new() };
        let epoch_ms = self.scenario.epoch_ms;
        let room = self.sense(self.loops[at.0 as usize].process);
        let (traffic, machines) = (&self.traffic, &self.machines);
        let readings = Readings { traffic, machines, now, epoch_ms, cut };
        let git = is_agent.then_some(&self.git.data);
        let infrastructure = (self.scheduled_run() == Some(at)).then_some(&self.iac as &dyn Infrastructure);
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        let process = &self.processes[it.process];
        let expects = process.expects;
        let runtime = process.machine.and_then(|slot| self.machines.at(slot)).map(|machine| &machine.runtime);
        let metrics = Some(&readings as &dyn Metrics);
        let (cache, version) = (&process.cache, process.version);
        let context =
            Context { cache, version, now, wall, wall_millis, expects, runtime, metrics, room, git, infrastructure };
        let Some(turn) = it.active.at_mut(turn) else { return Step::Done(Next::AwaitChange).into() };
        let outcomes: Vec<Outcome> = std::mem::take(&mut turn.outcomes).into_iter().flatten().collect();
        let mut stepped = it.reconciler.step(&context, key, turn.number, outcomes);
        if let Some(report) = stepped.report.take() {
            self.keep_report(*report);
        }
        stepped
    }

    fn carry_out(&mut self, at: LoopIndex, turn: Turn, key: &ObjectKey, stepped: Stepped) {
        let is_background = stepped.is_background || self.looks_round(at, turn, &stepped.step);
        match stepped.step {
            Step::Observe(facts) => {
                self.reach((at, turn), key, TurnPhase::Observe, facts, is_background);
                self.publish(at, turn, stepped.events);
                self.continue_later(at, turn);
            }
            Step::Diff(facts) => {
                self.reach((at, turn), key, TurnPhase::Diff, facts, is_background);
                self.publish(at, turn, stepped.events);
                self.continue_later(at, turn);
            }
            Step::Act(facts, actions) => {
                let seq = self.reach((at, turn), key, TurnPhase::Act, facts, is_background);
                self.publish(at, turn, stepped.events);
                self.act(at, turn, actions, seq);
            }
            Step::Done(next) => {
                self.publish(at, turn, stepped.events);
                self.finish(at, key, next);
            }
            Step::Fail(error) => {
                self.publish(at, turn, stepped.events);
                self.fail(at, key, error);
            }
        }
    }

    /// In a world that goes on from a cluster nobody has news at first: only what somebody then does is told.
    fn looks_round(&self, at: LoopIndex, turn: Turn, step: &Step) -> bool {
        let is_look = matches!(step, Step::Observe(_) | Step::Diff(_));
        if !is_look || self.now() >= FIRST_LOOK || self.scenario.cluster.is_empty() {
            return false;
        }
        let last = self.loops[at.0 as usize].active.at(turn).map(|turn| turn.last);
        last.is_some_and(|last| self.trace.root(last) == Some(Seq(1)))
    }

    pub(super) fn continue_later(&mut self, at: LoopIndex, turn: Turn) {
        let epoch = self.processes[self.loops[at.0 as usize].process].epoch;
        let happening = Happening::Continue { at, turn, epoch };
        self.queue.after(Millis(self.scenario.latency.phase), happening);
    }

    /// Records that a turn reached a phase.
    fn reach(
        &mut self,
        (at, turn): (LoopIndex, Turn),
        key: &ObjectKey,
        phase: TurnPhase,
        facts: Facts,
        is_background: bool,
    ) -> Seq {
        let now = self.now();
        let last = self.loops[at.0 as usize].active.at(turn).map(|turn| turn.last);
        let found = match phase {
            _ if is_background => None,
            TurnPhase::Observe if self.git.at == Some(at) => self.git.fresh.take(),
            // What an autoscaler finds comes of the load, of which its clock knows nothing.
            TurnPhase::Observe if key.kind == Kind::HorizontalPodAutoscaler => self.load_behind(),
            TurnPhase::Observe if key.kind == Kind::ConfigMap => self.draught_behind(at, last),
            _ => self.fault_behind(last, &facts),
        };
        let cause = found.or(last);
        let facts = Rc::new(facts);
        let what = What::Reached { by: at, key: key.clone(), phase, facts: Rc::clone(&facts) };
        let seq = self.record(cause, is_background, what);
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        if let Some(turn) = it.active.at_mut(turn) {
            (turn.last, turn.phase, turn.is_background) = (seq, Some(phase), is_background);
        }
        if !is_background {
            it.show(key, phase, Cell { seq, facts, answer: None }, now);
        }
        seq
    }

    /// What the clock made a loop find out was brought about by a power cut or its end: silence has a cause too, though
    /// no controller can see it. That of the machine that is found, where one is named; else the newest cut.
    fn fault_behind(&self, cause: Option<Seq>, facts: &Facts) -> Option<Seq> {
        if self.faults.is_empty() {
            return None;
        }
        let event = self.trace.get(cause?)?;
        let is_managers = |by: LoopIndex| self.processes[self.loops[by.0 as usize].process].is_manager();
        let fault_of = |arg: &Arg| if let Arg::Name(name) = arg { self.faults.get(name).copied() } else { None };
        let detail = facts.detail.iter().flat_map(|it| &it.args);
        let named = || facts.text.args.iter().chain(detail).find_map(fault_of);
        match event.what {
            What::Ticked(by) if is_managers(by) => named().or_else(|| self.newest_cut()),
            What::Reached { by, phase: TurnPhase::Observe, .. } if is_managers(by) => {
                let before = self.trace.get(event.cause?)?;
                matches!(before.what, What::Ticked(_) | What::Commanded(_)).then(named).flatten()
            }
            _ => None,
        }
    }

    /// By its own clock a thermostat finds what a window or the weather did.
    fn draught_behind(&self, at: LoopIndex, last: Option<Seq>) -> Option<Seq> {
        let draught = self.draught(self.loops[at.0 as usize].process)?;
        let is_clock = self.trace.get(last?).is_some_and(|event| matches!(event.what, What::Ticked(_)));
        is_clock.then_some(draught)
    }

    /// Of the machines that are off or cut off, what made the newest so.
    fn newest_cut(&self) -> Option<Seq> {
        let cut = |node: &Name| self.kubelets.get(node).is_some_and(|it| self.processes[*it].is_cut);
        let off = |node: &Name| cut(node) || self.machines.get(node).is_some_and(|machine| !machine.is_on);
        self.faults.iter().filter(|(node, _)| off(node)).map(|(_, seq)| *seq).max()
    }

    fn publish(&mut self, at: LoopIndex, turn: Turn, events: Vec<crate::apiserver::EventDraft>) {
        let now = self.now();
        for event in events {
            let Some(event) = self.api.events.correlate(event, now).map(Rc::new) else { continue };
            if self.scenario.client_limit.is_some() {
                self.loops[at.0 as usize].client.announce(now);
            }
            let cause = self.loops[at.0 as usize].active.at(turn).map(|turn| turn.last);
            let seq = self.record(cause, false, What::Announced { by: at, event: Rc::clone(&event) });
            self.api.events.record(event, now, seq);
        }
    }

    fn act(&mut self, at: LoopIndex, turn: Turn, actions: Vec<Action>, cause: Seq) {
        let process = self.loops[at.0 as usize].process;
        let epoch = self.processes[process].epoch;
        let n_requests = actions.iter().filter(|action| matches!(action, Action::Api(_))).count();
        if let Some(turn) = self.loops[at.0 as usize].active.at_mut(turn) {
            turn.awaiting = n_requests;
            turn.outcomes =
                actions.iter().map(|action| (!matches!(action, Action::Api(_))).then_some(Ok(None))).collect();
        }
        for (slot, action) in actions.into_iter().enumerate() {
            match action {
                Action::Api(request) => {
                    let request = Rc::new(request);
                    let sent = self.queue.now() + self.wait_for_turn(at);
                    let due = sent + Millis(self.scenario.latency.request + self.slowness());
                    let flight =
                        Flight { request, by: at, turn, slot, epoch, cause, outcome: None, sent, due, is_lost: false };
                    let happening = Happening::Arrive(self.flights.add(flight));
                    self.queue.at(due, happening);
                    let may_crash = self.processes[process].ails.crash_after.is_some();
                    if may_crash && self.processes[process].ails.is_last_request() {
                        let seq = self.fault(cause, Note::plain("its program **crashed** right after this request"));
                        match self.processes[process].kind {
                            ProcessKind::Script(_) => self.crash(process),
                            _ => self.crash_for_a_moment(process, seq),
                        }
                        return;
                    }
                }
                Action::Provision(applies) => self.run_by_schedule(applies, cause),
                Action::Runtime(pod, uid, call) => {
                    self.settle();
                    let now = self.queue.now();
                    let slot = self.processes[process].machine;
                    let Some(machine) = slot.and_then(|slot| self.machines.at_mut(slot)) else { continue };
                    let planned = machine.call(&pod, uid, &call, &self.behaviors, now);
                    self.plan_occurrences(process, planned, cause);
                }
            }
        }
        if n_requests == 0 {
            self.continue_later(at, turn);
        }
    }

    /// How long a controller's own client holds a request back (`client_limit`): each controller of the controller
    /// manager has a client of its own.
    fn wait_for_turn(&mut self, at: LoopIndex) -> Millis {
        let Some(limit) = self.scenario.client_limit else { return Millis(0) };
        let now = self.queue.now();
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        if self.processes[it.process].kind != ProcessKind::ControllerManager {
            return Millis(0);
        }
        it.client.take(now, Millis(1_000 / u64::from(limit.qps.max(1))), limit.burst)
    }

    /// A request reaches the API server, whether or not its sender still lives.
    pub(super) fn arrive(&mut self, number: u64) {
        let Some(flight) = self.flights.get(number) else { return };
        let (request, by, cause) = (Rc::clone(&flight.request), flight.by, flight.cause);
        if self.is_cut_off(by) {
            // It gets nowhere; its sender gives up after a while.
            self.lose(number, CLIENT_TIMEOUT);
            return;
        }
        if self.server == Server::Down {
            self.lose(number, Millis(0));
            return;
        }
        let is_background = request.is_background;
        let result = match self.server {
            Server::Refusing => Err(self.refuse(&request, by, cause)),
            _ => self.execute(&request, Author::Loop(by), cause, is_background),
        };
        let (sent, due) = (self.now(), self.now() + Millis(self.scenario.latency.answer));
        if let Some(flight) = self.flights.get_mut(number) {
            (flight.outcome, flight.sent, flight.due) = (Some(result.map(Some)), sent, due);
        }
        self.queue.at(due, Happening::Answer(number));
    }

    fn is_cut_off(&self, at: LoopIndex) -> bool {
        self.loops.get(at.0 as usize).and_then(|it| self.processes.get(it.process)).is_some_and(|it| it.is_cut)
    }

    /// A request or its answer is lost: to its sender it has timed out.
    fn lose(&mut self, number: u64, after: Millis) {
        let (sent, due) = (self.now(), self.now() + after);
        if let Some(flight) = self.flights.get_mut(number) {
            let (method, _) = flight.request.method();
            let key = flight.request.key();
            let error = if after == Millis(0) { unreachable(&key) } else { ApiError::timeout(method, &key) };
            flight.outcome = Some(Err(error));
            (flight.sent, flight.due, flight.is_lost) = (sent, due, true);
        }
        self.queue.at(due, Happening::Answer(number));
    }

    /// An answer reaches its sender; the last one of a batch lets the turn go on.
    pub(super) fn answer(&mut self, number: u64) {
        let is_good = |flight: &Flight| !matches!(flight.outcome, Some(Err(_)));
        if self.flights.get(number).is_some_and(|flight| is_good(flight) && self.is_cut_off(flight.by)) {
            self.lose(number, CLIENT_TIMEOUT);
            return;
        }
        let Some(flight) = self.flights.remove(number) else { return };
        let it: &mut Loop = &mut self.loops[flight.by.0 as usize];
        if self.processes[it.process].epoch != flight.epoch {
            return;
        }
        let shown = it.shown.as_ref() == it.active.pair(flight.turn).map(|(key, _)| key);
        let Some(turn) = it.active.at_mut(flight.turn) else { return };
        let answer = match &flight.outcome {
            Some(Ok(Some(answer))) => {
                let created = answer.outcome == crate::apiserver::Effect::Created;
                let code = if created { 201 } else { 200 };
                CellAnswer { code, version: answer.object.meta().resource_version, failed: false }
            }
            Some(Err(error)) => CellAnswer { code: error.code(), version: 0, failed: true },
            _ => CellAnswer { code: 200, version: 0, failed: false },
        };
        if let Some(slot) = turn.outcomes.get_mut(flight.slot) {
            *slot = flight.outcome;
        }
        turn.awaiting = turn.awaiting.saturating_sub(1);
        let is_last = turn.awaiting == 0;
        if shown && let Some(cell) = &mut it.cells[TurnPhase::Act as usize] {
            cell.answer = Some(answer);
        }
        let is_conflict = |it: &Option<Outcome>| matches!(it, Some(Err(error)) if error.reason == Reason::Conflict);
        if is_last && self.processes[it.process].ails.gives_up && turn_met(it, flight.turn, is_conflict) {
            if let Some(key) = it.active.pair(flight.turn).map(|(key, _)| key.clone()) {
                self.give_up(flight.by, &key);
            }
        } else if is_last {
            self.go_on(flight.by, flight.turn, flight.epoch);
        }
    }

    fn finish(&mut self, at: LoopIndex, key: &ObjectKey, next: Next) {
        let now = self.now();
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        let turn = it.end_turn(key);
        it.queue.forget(key);
        it.queue.done(key);
        if turn.as_ref().is_some_and(|turn| !turn.is_background && turn.phase.is_some()) {
            it.turns += 1;
        }
        let delay = match next {
            Next::AwaitChange => None,
            Next::After(delay) => Some(delay.max(Millis(1))),
            Next::RateLimited => Some(it.queue.rate_limited(key, it.reconciler.backoff(key), now)),
        };
        if let Some(delay) = delay {
            let reason = turn.map_or(Seq(0), |turn| turn.last);
            self.enqueue(at, key.clone(), delay, reason);
        }
        self.work(at);
    }

    fn fail(&mut self, at: LoopIndex, key: &ObjectKey, error: String) {
        let now = self.now();
        let it: &mut Loop = &mut self.loops[at.0 as usize];
        let turn = it.end_turn(key);
        it.queue.done(key);
        it.retries += 1;
        let retry = it.queue.backoff(key, it.reconciler.backoff(key), now);
        let cause = turn.map(|turn| turn.last);
        let what = What::Failed { by: at, key: key.clone(), error, retry };
        let seq = self.record(cause, false, what);
        self.enqueue(at, key.clone(), retry, seq);
        self.work(at);
    }
}

fn turn_met(it: &Loop, turn: Turn, is: impl Fn(&Option<Outcome>) -> bool) -> bool {
    it.active.at(turn).is_some_and(|turn| turn.outcomes.iter().any(is))
}

/// What a client makes of a server that does not listen.
fn unreachable(key: &ObjectKey) -> ApiError {
    let message = format!(
        "{} \"{}\": dial tcp 10.0.0.1:6443: connect: connection refused",
        key.kind.qualified_plural(),
        key.name
    );
    ApiError::new(Reason::Timeout, message)
}

impl Simulation {
    /// How much longer than usual requests take.
    fn slowness(&self) -> u64 {
        if let Server::Slow(ms) = self.server { ms } else { 0 }
    }

    /// An overloaded API server has no time for a request.
    fn refuse(&mut self, request: &Request, by: LoopIndex, cause: Seq) -> ApiError {
        let text = "the server has received too many requests and has asked us to try again later";
        let error = ApiError::new(Reason::TooManyRequests, text.into());
        let ((method, subresource), key) = (request.method(), request.key());
        let (code, message) = (error.code(), error.message.clone());
        let what = What::Refused { author: Author::Loop(by), key, method, subresource, code, message };
        self.record(Some(cause), request.is_background, what);
        error
    }

    /// What an API server that is down or overloaded answers.
    pub(super) fn unanswered(&self, author: Author) -> Option<ApiError> {
        match (self.server, author) {
            (Server::Down, Author::You) => {
                let text =
                    "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?";
                Some(ApiError::new(Reason::Timeout, text.into()))
            }
            _ => None,
        }
    }
}
