//! What passes between the recording's steps: the loops' own clocks, heartbeats, and stillness.

use loopscope_engine::api::{Kind, MicroTime, Name, Object};
use loopscope_engine::apiserver::{Request, Verb};
use serde_json::json;

use super::works::{STILL, Tick, USER, Works};
use crate::conformance::recording::{Change, Recording, Write};

/// So long before the recording the loops begin.
pub const LEAD: i64 = 120_000;
/// How often a kubelet renews its lease.
const BEAT: i64 = 10_000;
/// By so much at the least a pass of a loop's own clock comes later than its period says (`wait.Until`, sliding).
const DRIFT: i64 = 3;
/// And at the most.
const MOST_DRIFT: i64 = 20;
/// A slice's controller that finds its cache behind its own writes waits so long (`DefaultSyncBackOff`,
/// pkg/controller/endpointslice v1.36).
const SLICE_BACKOFF: i64 = 1_000;
/// How late a pass of a loop's own clock may be.
const LATE: i64 = 300;

/// Times at which something went on in a recording, in order.
pub fn signs(recording: &Recording) -> Vec<i64> {
    let events = recording.events.iter().map(|it| it.t as i64);
    let writes = recording.writes.iter().flat_map(|it| [it.t as i64, it.done_ms as i64]);
    let trace = recording.trace.iter().map(|it| it.t as i64);
    let actions = recording.actions.iter().map(|it| it.t as i64);
    let mut signs: Vec<i64> = events.chain(writes).chain(trace).chain(actions).collect();
    signs.sort_unstable();
    signs.dedup();
    signs
}

/// From one pass of a loop's own clock to the next: its period and what a pass took, by those that are shown.
fn step_of(shown: &[i64], period: i64) -> i64 {
    let drift = |t: &i64| {
        let since = t - shown[0];
        let passes = since / period;
        (passes > 3).then(|| (since - passes * period) / passes)
    };
    period + shown.iter().find_map(drift).unwrap_or(DRIFT).clamp(DRIFT, MOST_DRIFT)
}

impl Works<'_> {
    /// Lets the time until a step pass.
    pub fn pass_time(&mut self, index: usize) -> Result<(), String> {
        let to = self.course.steps[index].t;
        self.pass_until(to)
    }

    /// From one sign of life of the recording to the next.
    fn pass_until(&mut self, to: i64) -> Result<(), String> {
        let from = self.signs.partition_point(|t| *t <= self.now);
        let until = self.signs.partition_point(|t| *t < to);
        let mut last = from.checked_sub(1).map_or(-LEAD, |at| self.signs[at]);
        let signs: Vec<i64> = self.signs.get(from..until).unwrap_or_default().iter().copied().chain([to]).collect();
        for sign in signs {
            self.pass_between(last, sign)?;
            last = sign;
        }
        Ok(())
    }

    fn pass_between(&mut self, last: i64, to: i64) -> Result<(), String> {
        let still = last + self.still();
        if to < still || !self.is_up {
            return self.pass_clocks(to, false);
        }
        if still > self.now {
            self.pass_clocks(still, false)?;
            self.now = self.now.max(still);
            self.settle()?;
        }
        self.pass_clocks(to - self.recording.slack_ms as i64, true)
    }

    /// Lets own clocks and heartbeats come round, and in stillness timers.
    fn pass_clocks(&mut self, to: i64, is_still: bool) -> Result<(), String> {
        loop {
            let ticks = self.ticks.iter().map(|tick| tick.next).filter(|_| self.is_up);
            let beats = self.heartbeats.iter().map(|(_, next)| *next);
            let grace = if is_still { 0 } else { self.recording.slack_ms as i64 };
            let timers =
                (0..self.lanes.len()).filter(|_| self.is_up).filter_map(|lane| Some(self.next_due(lane)? + grace));
            let Some(next) = ticks.chain(beats).chain(timers).min().filter(|next| *next < to) else { return Ok(()) };
            self.now = self.now.max(next);
            self.come_round()?;
            if is_still {
                self.settle()?;
            } else {
                self.let_timers_pass(grace);
            }
        }
    }

    /// When the next timer of a loop runs out, once it has heard what there is to hear.
    fn next_due(&self, lane: usize) -> Option<i64> {
        let lane = &self.lanes[lane];
        if lane.version == self.api.version() {
            return lane.next_due();
        }
        let mut ahead = lane.clone();
        while let Some(change) = self.api.change(ahead.version + 1) {
            ahead.hear(change, self.heard_at[change.version as usize]);
        }
        ahead.next_due()
    }

    /// Timers that ran out while other things went on, and brought about nothing: with what was heard by then.
    fn let_timers_pass(&mut self, grace: i64) {
        for lane in 0..self.lanes.len() {
            while let Some(due) = self.next_due(lane).filter(|due| *due <= self.now - grace) {
                let version = self.heard_at.partition_point(|t| *t <= due).saturating_sub(1);
                self.deliver(lane, version as u64);
                let Some(key) = self.lanes[lane].take_due(due) else { break };
                let _ = self.quiet_turn(lane, &key);
            }
        }
    }

    fn come_round(&mut self) -> Result<(), String> {
        let due: Vec<Name> =
            self.heartbeats.iter().filter(|(_, next)| *next <= self.now).map(|(name, _)| name.clone()).collect();
        for name in due {
            self.beat(&name)?;
        }
        for place in 0..self.ticks.len() {
            let tick = self.ticks[place].clone();
            if tick.next > self.now || !self.is_up {
                continue;
            }
            self.ticks[place].next = self.now + tick.step;
            let version = self.api.version();
            self.deliver(tick.lane, version);
            self.lanes[tick.lane].wake(tick.key.clone());
            // A pass that wants to write waits for the recording's.
            let _ = self.quiet_turn(tick.lane, &tick.key);
        }
        Ok(())
    }

    /// Brings a loop's own clock into step with a write that shows when it came round.
    pub fn tick_for(&mut self, by: &str) {
        for place in 0..self.ticks.len() {
            let tick = self.ticks[place].clone();
            if self.lanes[tick.lane].by != by {
                continue;
            }
            let early = tick.next - self.now;
            if early <= tick.step / 5 {
                self.ticks[place].next = self.now + tick.step;
                self.lanes[tick.lane].wake(tick.key);
            }
        }
    }

    /// All loops hear all there is to hear and take all turns they ask for; nothing may come of it.
    pub fn settle(&mut self) -> Result<(), String> {
        if !self.is_up {
            return Ok(());
        }
        self.make_up()?;
        for lane in 0..self.lanes.len() {
            let version = self.api.version();
            self.deliver(lane, version);
            for round in 0.. {
                let under_way = self.lanes[lane].turns.iter().map(|turn| turn.key.clone());
                let mut keys: Vec<_> = under_way.collect();
                keys.extend(self.lanes[lane].ready(self.now));
                keys.retain(|key| !self.may_wait(lane, &key.to_string()));
                if keys.is_empty() {
                    break;
                }
                if round > 20 {
                    return Err(format!("t={} {} takes turns without end", self.now, self.lanes[lane].by));
                }
                for key in keys {
                    if let Err(wanted) = self.quiet_turn(lane, &key) {
                        let by = self.lanes[lane].by.trim_start_matches("controller/");
                        return Err(format!(
                            "t={} {by} of ours wants to {wanted}; the recording does nothing",
                            self.now
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Loops whose timers begin with their turns take those from which nothing comes as soon as they can.
    pub fn take_quiet_turns(&mut self) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].only.is_some() || !self.is_up {
                continue;
            }
            let version = self.api.version();
            self.deliver(lane, version);
            for key in self.lanes[lane].ready(self.now) {
                let _ = self.quiet_turn(lane, &key);
            }
        }
    }

    /// A slice's controller may be waiting since its cache was behind, and the real clock behind a loop's own is late by
    /// as much as its passes took.
    fn may_wait(&self, lane: usize, subject: &str) -> bool {
        let by = self.lanes[lane].by;
        if self.ticks.iter().any(|tick| tick.lane == lane && tick.key.to_string() == subject) {
            let writes = self.recording.writes.iter().filter(|it| it.by == by && it.code < 300);
            let next = writes.map(|it| it.t as i64).find(|t| *t >= self.now);
            return next.is_some_and(|t| t - self.now <= LATE);
        }
        if by != "controller/endpointslice-controller" {
            return false;
        }
        let key = (by.to_string(), self.names.theirs(subject));
        let steps = self.course.turns.get(&key).into_iter().flatten();
        let mut times = steps.map(|step| self.course.steps[*step].t);
        let last = times.clone().filter(|t| *t <= self.now).max();
        let next = times.find(|t| *t > self.now);
        matches!((last, next), (Some(last), Some(next)) if next - last <= SLICE_BACKOFF + self.still())
    }

    /// A kubelet renews its node's lease.
    pub fn beat(&mut self, node: &Name) -> Result<(), String> {
        let renewed = MicroTime(self.recording.started_at + self.now).to_string();
        let value = json!({
            "metadata": {"name": node.as_str(), "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": node.as_str(), "leaseDurationSeconds": 40, "renewTime": renewed},
        });
        let object = Object::from_value(Kind::Lease, value).map_err(|error| error.message)?;
        let is_new = self.api.objects().get(&object.key()).is_none();
        let verb = if is_new { Verb::Create(object) } else { Verb::Update(object) };
        self.execute(&Request::new(USER, verb), None).map_err(|error| error.message)?;
        let next = self.now + BEAT;
        self.heartbeats.retain(|(name, _)| name != node);
        self.heartbeats.push((node.clone(), next));
        Ok(())
    }

    /// Sets the loops' own clocks by what the recording shows of them: their phase is not recorded.
    pub fn set_clocks(&mut self) {
        for lane in 0..self.lanes.len() {
            let Some((key, period)) = self.lanes[lane].reconciler.tick() else { continue };
            let shown = self.shown_passes(self.lanes[lane].by);
            let step = step_of(&shown, period.0 as i64);
            let first = shown.first().map_or(-LEAD + 1_000, |t| t - 2 - step * ((t + LEAD - 1_000) / step));
            self.ticks.push(Tick { lane, key, next: first, step });
        }
        self.set_heartbeats();
    }

    /// When writes show that a loop's own clock had come round.
    fn shown_passes(&self, by: &str) -> Vec<i64> {
        let is_shown = |it: &&Write| {
            let is_pass = it.verb == "update" && it.resource.ends_with("/status");
            it.by == by && it.code < 300 && (by != "controller/node-controller" || is_pass || self.is_tainted_by(it))
        };
        self.recording.writes.iter().filter(is_shown).map(|it| it.t as i64).collect()
    }

    /// Whether a write added a NoExecute taint to a node.
    fn is_tainted_by(&self, write: &Write) -> bool {
        let trace = &self.recording.trace;
        let count = |it: &Change| {
            let taints = it.fields.get("taints").and_then(|it| it.as_array());
            taints.into_iter().flatten().filter(|it| it["effect"] == "NoExecute").count()
        };
        let Some(at) = trace.iter().position(|it| it.kind == "Node" && Some(it.rv) == write.rv) else { return false };
        let before = trace[..at].iter().rev().find(|it| it.kind == "Node" && it.name == write.name);
        count(&trace[at]) > before.map_or(0, count)
    }

    /// Sets heartbeats so that a node that falls silent is found in the pass in which the recording found it.
    fn set_heartbeats(&mut self) {
        let monitor = self.ticks.iter().find(|tick| self.lanes[tick.lane].by == "controller/node-controller");
        let step = monitor.map_or(0, |tick| tick.step);
        let stopped: Vec<(i64, Name)> =
            self.stops().flat_map(|(t, nodes)| nodes.iter().map(move |it| (t, Name::from(it.as_str())))).collect();
        for (stop, node) in stopped {
            let is_found =
                |it: &&Write| it.resource == "nodes/status" && it.name == *node && it.t as i64 > stop && it.code < 300;
            let found = self.recording.writes.iter().find(is_found).map(|it| it.t as i64);
            // Ten passes later it is over the grace period, by what the passes took.
            let last = found.map_or(stop - STILL, |t| (stop - STILL).min(t - 10 * step - 20));
            let first = last - BEAT * ((last + LEAD) / BEAT);
            if let Some(beat) = self.heartbeats.iter_mut().find(|(name, _)| *name == node) {
                beat.1 = first;
            }
        }
    }

    /// The time before the recording: the loops come to know the cluster.
    pub fn warm_up(&mut self) -> Result<(), String> {
        self.settle()?;
        self.pass_clocks(0, true)?;
        self.told.clear();
        self.now = 0;
        Ok(())
    }

    /// After the last step: nothing is left to be done until the recording ends.
    pub fn come_to_rest(&mut self) -> Result<(), String> {
        let end = self.recording.end_ms as i64;
        self.pass_until(end)
    }
}
