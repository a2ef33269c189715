//! Turns from which nothing may come.

use loopscope_engine::api::ObjectKey;
use loopscope_engine::apiserver::{EventDraft, Request, Verb};

use super::answer::{Ahead, is_vain};
use super::lane::{Instant, Lane};
use super::requests::{describe, first_change};
use super::works::Works;

/// Lets a turn go on to its end, if nothing comes of it. Returns the Events it published.
fn run_out(lane: &mut Lane, key: &ObjectKey, ahead: &mut Ahead, now: Instant) -> Option<Vec<EventDraft>> {
    let mut events = Vec::new();
    while let Some(place) = lane.turns.iter().position(|turn| turn.key == *key) {
        if !is_vain(lane, place, ahead, now) {
            return None;
        }
        events.extend(lane.go_on(key, now));
    }
    Some(events)
}

impl Works<'_> {
    /// A turn from which nothing may come. The error tells what would.
    pub fn quiet_turn(&mut self, lane: usize, key: &ObjectKey) -> Result<(), String> {
        if self.lanes[lane].by == "controller/node-controller" && !self.watches_nodes {
            self.free_turn(lane, key);
            return Ok(());
        }
        let now = self.instant(self.now);
        let mut trial = self.lanes[lane].clone();
        let mut events = Vec::new();
        if !trial.turns.iter().any(|turn| turn.key == *key) {
            events.extend(trial.begin(key, now, 0));
        }
        let parked = trial.turns.iter().filter(|turn| turn.key == *key).flat_map(|turn| &turn.parked);
        let wanted: Vec<String> = parked.map(|(_, request)| self.in_full(request)).collect();
        let mut ahead = self.ahead();
        match run_out(&mut trial, key, &mut ahead, now) {
            Some(more) => {
                self.random = ahead.random;
                events.extend(more);
                self.lanes[lane] = trial;
                self.tell(events);
                Ok(())
            }
            None => Err(wanted.join(", ")),
        }
    }

    /// A turn that nobody looks at: the recording does not tell what became of it.
    fn free_turn(&mut self, lane: usize, key: &ObjectKey) {
        let now = self.instant(self.now);
        if !self.lanes[lane].turns.iter().any(|turn| turn.key == *key) {
            let events = self.lanes[lane].begin(key, now, 0);
            self.tell(events);
        }
        while let Some(turn) = self.lanes[lane].turns.iter_mut().find(|turn| turn.key == *key) {
            let Some((slot, request)) = turn.parked.pop() else { return };
            let result = self.execute(&request, None);
            self.conclude(lane, key, slot, result.map(Some));
        }
    }

    /// A request with what it would change.
    fn in_full(&self, request: &Request) -> String {
        let words = describe(request);
        let (Verb::UpdateStatus(object) | Verb::Update(object)) = &request.verb else { return words };
        let Some(live) = self.api.objects().get(&object.key()) else { return words };
        let (before, after) = (live.to_value(), object.to_value());
        match first_change("", &before, &after) {
            Some(change) => format!("{words} ({change})"),
            None => words,
        }
    }
}
