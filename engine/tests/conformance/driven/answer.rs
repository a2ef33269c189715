//! A write of the recording's controllers, and the same one of ours.

use std::collections::BTreeMap;

use loopscope_engine::api::ObjectKey;
use loopscope_engine::apiserver::{ApiError, ApiServer, Effect, Request};
use loopscope_engine::client::Outcome;
use loopscope_engine::sim::Random;

use super::compare::{Part, difference};
use super::course::{Deed, Step, subject};
use super::lane::{Instant, Lane};
use super::names::Names;
use super::requests::{compare_options, describe, is_alike, pinned_to, prepared};
use super::works::{Works, perform};
use crate::conformance::recording::Write;

/// Clients that may ask more often than this wait for nothing.
pub const UNLIMITED: u32 = 100;
const OTHER: &str = "ours wants to";

/// Our API server as it would go on.
#[derive(Clone)]
pub struct Ahead {
    pub api: ApiServer,
    pub random: Random,
    pub names: Names,
}

/// What ours would write instead of the same is told before what it would write besides.
pub fn better(reason: &mut Option<String>, error: String) {
    if reason.as_ref().is_none_or(|known| known.starts_with(OTHER) || !error.starts_with(OTHER)) {
        *reason = Some(error);
    }
}

impl Works<'_> {
    pub fn write(&self, step: &Step) -> &Write {
        match step.deed {
            Deed::Written(index) | Deed::Refused(index) | Deed::Conflict(index) => &self.recording.writes[index],
            _ => unreachable!("only writes are answered"),
        }
    }

    pub fn lanes_of(&self, by: &str) -> Vec<usize> {
        (0..self.lanes.len()).filter(|lane| self.lanes[*lane].by == by).collect()
    }

    pub fn ahead(&self) -> Ahead {
        Ahead { api: self.api.clone(), random: self.random.clone(), names: self.names.clone() }
    }

    /// Answers an accepted write.
    pub fn answer(&mut self, index: usize) -> Result<(), String> {
        let step = self.course.steps[index].clone();
        let write = self.write(&step).clone();
        let words =
            format!("{} {} {} {}", write.by.trim_start_matches("controller/"), write.verb, write.resource, write.name);
        let subject = subject(self.recording, &step).map(|it| self.names.ours(&it));
        if self.is_starting {
            self.start();
        }
        self.tick_for(&write.by);
        let mut reason = None;
        let mut lanes = self.lanes_of(&write.by);
        lanes.retain(|lane| match (&self.lanes[*lane].only, &subject) {
            (Some(only), Some(subject)) => *subject == only.to_string(),
            _ => true,
        });
        for lane in lanes.iter().copied() {
            match self.go_on_with(lane, index, subject.as_deref()) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => reason = Some(error),
            }
        }
        for lane in lanes {
            match self.begin_with(lane, index, subject.as_deref()) {
                Ok(()) => return Ok(()),
                Err(error) => reason = error.or(reason),
            }
        }
        let reason = reason.unwrap_or_else(|| "nothing woke our controller".into());
        Err(format!("{words}: {reason}"))
    }

    /// Takes a request of a turn under way. Says whether there was one.
    pub fn go_on_with(&mut self, lane: usize, index: usize, subject: Option<&str>) -> Result<bool, String> {
        let keys: Vec<ObjectKey> = self.lanes[lane].turns.iter().map(|turn| turn.key.clone()).collect();
        for key in keys.into_iter().filter(|key| subject.is_none_or(|it| *it == key.to_string())) {
            while let Some(turn) = self.lanes[lane].turns.iter().find(|turn| turn.key == key) {
                if turn.waits && !self.look_again(lane, &key, index) {
                    return Err("ours sees something else when it looks again".into());
                }
                let Some(turn) = self.lanes[lane].turns.iter().find(|turn| turn.key == key) else { break };
                let reason = match self.find(&turn.parked, index, &self.ahead(), Part::All) {
                    Ok(slot) => return self.send(lane, &key, slot, index).map(|()| true),
                    Err(reason) => reason,
                };
                if self.give_up(lane, &key) {
                    continue;
                }
                if subject.is_some() {
                    return Err(reason.unwrap_or_else(|| "a turn is under way".into()));
                }
                break;
            }
        }
        Ok(false)
    }

    /// Lets a turn that looks at the cache a second time do so where it then makes the write of a step.
    fn look_again(&mut self, lane: usize, key: &ObjectKey, index: usize) -> bool {
        let now = self.instant(self.now);
        let mut probe = self.lanes[lane].clone();
        loop {
            let mut trial = probe.clone();
            let events = trial.look_again(key, now);
            let turn = trial.turns.iter().find(|turn| turn.key == *key);
            if turn.is_none_or(|turn| self.find(&turn.parked, index, &self.ahead(), Part::All).is_ok()) {
                self.lanes[lane] = trial;
                self.tell(events);
                return true;
            }
            let Some(change) = self.api.change(probe.version + 1) else { return false };
            probe.hear(change, self.heard_at[change.version as usize]);
        }
    }

    /// The parked request that is the write of a step.
    fn find(
        &self,
        parked: &[(usize, Request)],
        index: usize,
        ahead: &Ahead,
        part: Part,
    ) -> Result<usize, Option<String>> {
        let mut reason = None;
        for (slot, request) in parked {
            match self.fits(request, index, ahead, part) {
                Ok(_) => return Ok(*slot),
                Err(error) => better(&mut reason, error),
            }
        }
        Err(reason)
    }

    /// Carries a request out in a world to come, and looks whether it is the write of a step. Returns the answer, and the
    /// world after that.
    pub fn fits(&self, request: &Request, index: usize, ahead: &Ahead, part: Part) -> Result<(Outcome, Ahead), String> {
        let step = &self.course.steps[index];
        let write = self.write(step);
        if !is_alike(request, write, &ahead.names) {
            return Err(format!("{OTHER} {}", describe(request)));
        }
        if let Some(node) = pinned_to(request) {
            let bound = self.recording.trace.iter().filter(|it| it.kind == "Pod" && it.name == write.name);
            let bound = bound.filter_map(|it| it.fields.get("nodeName")?.as_str()).next();
            if bound.is_some_and(|bound| bound != node) {
                return Err(format!("ours makes a pod for {node}, the recording for {}", bound.unwrap_or_default()));
            }
        }
        compare_options(request, write)?;
        let record = self.record(step);
        let mut ahead = ahead.clone();
        let request = prepared(request, write, &mut ahead.names, &self.course.places);
        let uids = &self.course.uids;
        let now = self.instant(self.now);
        let answer = perform(&mut ahead.api, &mut ahead.random, &request, record, uids, now);
        let answer = answer.map_err(|error| format!("ours is refused: {}", error.message))?;
        if answer.outcome == Effect::Unchanged {
            return Err("ours changes nothing".into());
        }
        if let Some(record) = record.filter(|_| answer.outcome != Effect::Deleted)
            && let Some(difference) = difference(&answer.object, record, part, &ahead.names, self.clock())
        {
            return Err(difference);
        }
        Ok((Ok(Some(answer)), ahead))
    }

    /// Sends a parked request as the answer to a step.
    fn send(&mut self, lane: usize, key: &ObjectKey, slot: usize, index: usize) -> Result<(), String> {
        let step = self.course.steps[index].clone();
        let write = self.write(&step).clone();
        let place = self.lanes[lane].turns.iter().position(|turn| turn.key == *key);
        let turn = &mut self.lanes[lane].turns[place.ok_or("no such turn")?];
        let at = turn.parked.iter().position(|(it, _)| *it == slot).ok_or("no such request")?;
        let (_, request) = turn.parked.remove(at);
        turn.latest = turn.latest.max(write.done_ms as i64);
        if turn.answered_at > write.t as i64 + 1 {
            return Err("ours waits for an answer for which the recording did not wait".into());
        }
        let request = prepared(&request, &write, &mut self.names, &self.course.places);
        let record = self.record(&step);
        let result = self.execute(&request, record);
        let outcome = result.map(Some);
        if let Ok(Some(answer)) = &outcome
            && answer.outcome != Effect::Deleted
        {
            self.check(&answer.object, &step)?;
        }
        self.conclude(lane, key, slot, outcome);
        Ok(())
    }

    pub fn conclude(&mut self, lane: usize, key: &ObjectKey, slot: usize, outcome: Outcome) {
        let now = self.instant(self.now);
        let looks_twice = self.lanes[lane].looks_twice();
        if let Some(turn) = self.lanes[lane].turns.iter_mut().find(|turn| turn.key == *key) {
            turn.outcomes[slot] = Some(outcome);
            turn.waits = looks_twice && turn.parked.is_empty();
            if turn.waits {
                return;
            }
        }
        let events = self.lanes[lane].go_on(key, now);
        self.tell(events);
    }

    /// Gives a turn its answers, if all of its requests come to nothing; false where one of them would be carried out.
    fn give_up(&mut self, lane: usize, key: &ObjectKey) -> bool {
        let now = self.instant(self.now);
        let mut trial = self.lanes[lane].clone();
        let Some(place) = trial.turns.iter().position(|turn| turn.key == *key) else { return false };
        let mut ahead = self.ahead();
        if !is_vain(&mut trial, place, &mut ahead, now) {
            return false;
        }
        self.random = ahead.random;
        let forbidden = trial.turns[place].outcomes.iter().flatten().filter(|it| code_of(it) == Some(403)).count();
        let events = trial.go_on(key, now);
        self.lanes[lane] = trial;
        self.tell(events);
        for _ in 0..forbidden {
            self.note_refusal(lane);
        }
        true
    }

    /// Ours was refused what the recording was refused a little before or after.
    fn note_refusal(&mut self, lane: usize) {
        let by = self.lanes[lane].by;
        let is_it = |(index, _): &(usize, String)| match self.course.steps[*index].deed {
            Deed::Refused(write) => self.recording.writes[write].by == by,
            _ => false,
        };
        match self.owed.iter().position(is_it) {
            Some(place) => drop(self.owed.remove(place)),
            None => self.refused_early.push(by.to_string()),
        }
    }
}

fn code_of(outcome: &Outcome) -> Option<u16> {
    outcome.as_ref().err().map(ApiError::code)
}

/// Answers all parked requests of a turn, if each of them is refused or changes nothing.
pub fn is_vain(lane: &mut Lane, place: usize, ahead: &mut Ahead, now: Instant) -> bool {
    // What is refused, or changes nothing, gives no identity.
    let uids = &BTreeMap::new();
    let turn = &mut lane.turns[place];
    for (slot, request) in std::mem::take(&mut turn.parked) {
        let mut trial = ahead.clone();
        match perform(&mut trial.api, &mut trial.random, &request, None, uids, now) {
            Ok(answer) if answer.outcome != Effect::Unchanged => return false,
            result => turn.outcomes[slot] = Some(result.map(Some)),
        }
        ahead.random = trial.random;
    }
    true
}
