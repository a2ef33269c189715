//! Requests that were refused.

use loopscope_engine::api::ObjectKey;
use loopscope_engine::apiserver::Request;

use super::course::subject;
use super::requests::is_alike;
use super::works::{Works, perform};
use crate::conformance::recording::Write;

impl Works<'_> {
    /// Sends a request that was refused in the recording since a cache was behind, if it is refused here as well.
    pub fn meet_conflict(&mut self, index: usize) {
        let step = self.course.steps[index].clone();
        let write = self.write(&step).clone();
        let about = subject(self.recording, &step).map(|it| self.names.ours(&it));
        for lane in self.lanes_of(&write.by) {
            for key in self.lanes[lane].turns.iter().map(|turn| turn.key.clone()).collect::<Vec<_>>() {
                if about.as_ref().is_none_or(|it| *it == key.to_string()) && self.is_refused(lane, &key, &write, 0) {
                    return;
                }
            }
        }
    }

    /// Answers a write that was refused: ours is refused too.
    pub fn answer_refused(&mut self, index: usize) -> Result<(), String> {
        let step = self.course.steps[index].clone();
        let write = self.write(&step).clone();
        if let Some(place) = self.refused_early.iter().position(|by| *by == write.by) {
            self.refused_early.remove(place);
            return Ok(());
        }
        let words = format!("{} {} {} refused", write.by.trim_start_matches("controller/"), write.verb, write.resource);
        let slack = self.recording.slack_ms as i64;
        for lane in self.lanes_of(&write.by) {
            let version = self.api.version();
            self.deliver(lane, version);
            let under_way: Vec<ObjectKey> = self.lanes[lane].turns.iter().map(|turn| turn.key.clone()).collect();
            let ready = self.lanes[lane].ready(self.now + slack);
            for key in under_way.into_iter().chain(ready) {
                if self.is_refused(lane, &key, &write, slack) {
                    return Ok(());
                }
            }
        }
        Err(format!("{words}: no controller of ours asks for it"))
    }

    fn is_refused(&mut self, lane: usize, key: &ObjectKey, write: &Write, slack: i64) -> bool {
        let mut trial = self.lanes[lane].clone();
        let now = self.instant(self.now);
        let mut events = Vec::new();
        if !trial.turns.iter().any(|turn| turn.key == *key) {
            events.extend(trial.begin(key, now, slack));
        }
        let Some(place) = trial.turns.iter().position(|turn| turn.key == *key) else { return false };
        let alike = |(_, request): &&(usize, Request)| is_alike(request, write, &self.names);
        let Some((slot, request)) = trial.turns[place].parked.iter().find(alike).cloned() else { return false };
        let uids = &self.course.uids;
        let mut ahead = self.ahead();
        let result = perform(&mut ahead.api, &mut ahead.random, &request, None, uids, now);
        let Err(error) = result else { return false };
        if error.code() != write.code {
            return false;
        }
        self.random = ahead.random;
        let turn = &mut trial.turns[place];
        turn.parked.retain(|(it, _)| *it != slot);
        turn.outcomes[slot] = Some(Err(error));
        events.extend(trial.go_on(key, now));
        self.lanes[lane] = trial;
        self.tell(events);
        true
    }
}
