//! Where a turn of ours begins, so that it makes the writes of the recording.
//!
//! What seems best at a write may turn out wrong later on. Then the choices are taken back one by one, the last first.

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::apiserver::{ApiError, Change, Request, Verb};

use super::answer::{Ahead, UNLIMITED, better, is_vain};
use super::compare::Part;
use super::course::{Deed, subject};
use super::lane::{Lane, Turn};
use super::requests::is_alike;
use super::works::Works;
use crate::conformance::recording::Recording;

/// How well a turn answers the writes that follow.
struct Forecast {
    answered: usize,
    /// All that the turn wants to write is in the recording.
    is_whole: bool,
    /// No request of it is refused.
    is_smooth: bool,
    reason: Option<String>,
}

/// For a beginning of a turn that answers a step.
struct Search<'a> {
    index: usize,
    subject: Option<&'a str>,
    /// One for each worth.
    found: Vec<Beginning>,
    reason: Option<String>,
}

/// A choice among beginnings: how all was before, and what else was possible, the best last.
#[derive(Clone)]
pub struct Choice<'a> {
    before: Box<Works<'a>>,
    index: usize,
    lane: usize,
    others: Vec<Beginning>,
}

/// How often choices are taken back.
const TRIES: usize = 100;
/// And how many of the last.
const REMEMBERED: usize = 20;

/// Goes through a recording. The error is that of the first try.
pub fn run(recording: &Recording) -> Result<(), String> {
    let mut choices = Vec::new();
    let first = Works::new(recording)?.go_on(0, &mut choices);
    for _ in 0..TRIES {
        if first.is_ok() {
            break;
        }
        choices.drain(..choices.len().saturating_sub(REMEMBERED));
        let Some((mut works, next)) = take_back(&mut choices) else { break };
        if works.go_on(next, &mut choices).is_ok() {
            return Ok(());
        }
    }
    first
}

/// The state after another choice, and the step that comes next.
fn take_back<'a>(choices: &mut Vec<Choice<'a>>) -> Option<(Works<'a>, usize)> {
    loop {
        let choice = choices.last_mut()?;
        let Some(other) = choice.others.pop() else {
            choices.pop();
            continue;
        };
        let mut works = (*choice.before).clone();
        if works.begin_at(choice.lane, choice.index, other).is_ok() && works.follow().is_ok() {
            return Some((works, choice.index + 1));
        }
    }
}

/// The kind that a controller writes the status of, or else writes most.
fn own_kind(by: &str) -> Option<Kind> {
    Some(match by {
        "controller/deployment-controller" => Kind::Deployment,
        "controller/replicaset-controller" => Kind::ReplicaSet,
        "controller/statefulset-controller" => Kind::StatefulSet,
        "controller/daemon-set-controller" => Kind::DaemonSet,
        "controller/job-controller" => Kind::Job,
        "controller/endpointslice-controller" => Kind::EndpointSlice,
        "controller/disruption-controller" => Kind::PodDisruptionBudget,
        _ => return None,
    })
}

/// A beginning of a turn.
#[derive(Clone)]
struct Beginning {
    lane: Lane,
    key: ObjectKey,
    t: i64,
    /// Whether all that the turn writes is in the recording, how much that is, and whether nothing is refused.
    worth: (bool, usize, bool),
}

impl Works<'_> {
    /// Begins a turn at the watch event from which on it answers most.
    pub fn begin_with(&mut self, lane: usize, index: usize, subject: Option<&str>) -> Result<(), Option<String>> {
        let mut search = Search { index, subject, found: Vec::new(), reason: None };
        if !self.search_in_order(self.lanes[lane].clone(), &mut search) {
            self.search_out_of_order(&self.lanes[lane], &mut search);
        }
        let Search { found: mut others, reason, .. } = search;
        others.sort_by_key(|it| it.worth);
        let Some(best) = others.pop() else { return Err(reason) };
        if !others.is_empty() {
            self.choice = Some(Choice { before: Box::new(self.clone()), index, lane, others });
        }
        self.begin_at(lane, index, best)
    }

    fn begin_at(&mut self, lane: usize, index: usize, found: Beginning) -> Result<(), Option<String>> {
        self.lanes[lane] = found.lane;
        let (now, slack) = (self.instant(found.t), self.recording.slack_ms as i64);
        let events = self.lanes[lane].begin(&found.key, now, slack);
        self.tell(events);
        match self.go_on_with(lane, index, Some(&found.key.to_string())) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Some("the turn ended".into())),
            Err(error) => Err(Some(error)),
        }
    }

    /// All informers have heard as much. Says whether a turn answers all that it wants to write.
    fn search_in_order(&self, mut probe: Lane, search: &mut Search<'_>) -> bool {
        loop {
            // The last moment at which this was the newest that it had heard.
            let until = self.heard_at.get(probe.version as usize + 1).copied().unwrap_or(self.now);
            let t = until.min(self.now).max(self.heard_at[probe.version as usize]);
            self.consider(&probe, t, search);
            let Some(change) = self.api.change(probe.version + 1) else {
                return search.found.iter().any(|it| it.worth.0);
            };
            let t = self.heard_at[change.version as usize];
            probe.hear(change, t);
        }
    }

    /// One kind's informer has heard more than the others, or less.
    fn search_out_of_order(&self, from: &Lane, search: &mut Search<'_>) {
        let Some(kind) = own_kind(from.by) else { return };
        let mut from = from.clone();
        while let Some(change) = self.api.change(from.version + 1)
            && self.heard_at[change.version as usize] < self.now - self.lag()
        {
            from.hear(change, self.heard_at[change.version as usize]);
        }
        let changes = (from.version + 1..).map_while(|version| self.api.change(version));
        let (own, other): (Vec<_>, Vec<_>) =
            changes.filter(|it| !from.has_heard(it)).partition(|change| change.key.kind == kind);
        let at = |change: &Change| self.heard_at[change.version as usize];
        let (begins, mut row) = (self.heard_at[from.version as usize], from);
        for next in std::iter::once(None).chain(other.iter().map(Some)) {
            if let Some(change) = next {
                row.hear_ahead(change, at(change));
            }
            let heard = next.map_or(begins, |change| at(change));
            let mut probe = row.clone();
            for next in std::iter::once(None).chain(own.iter().map(Some)) {
                if let Some(change) = next {
                    probe.hear_ahead(change, at(change));
                }
                let t = next.map_or(heard, |change| at(change).max(heard)).min(self.now);
                self.consider(&probe, t, search);
            }
        }
    }

    /// How long before its first write a turn may have begun: informers and API server take their time, and clients with
    /// a limit wait for their turn.
    fn lag(&self) -> i64 {
        let is_limited = self.recording.client_limit.qps < UNLIMITED;
        self.recording.slack_ms as i64 + if is_limited { 1_000 } else { 100 }
    }

    /// Looks what turns would answer that began now.
    fn consider(&self, probe: &Lane, t: i64, search: &mut Search<'_>) {
        if t < self.now - self.lag() {
            return;
        }
        for key in probe.ready(t + self.recording.slack_ms as i64) {
            if search.subject.is_some_and(|it| *it != key.to_string()) {
                continue;
            }
            let forecast = self.foresee(probe.clone(), &key, search, t);
            if let Some(reason) = forecast.reason {
                better(&mut search.reason, reason);
            }
            let worth = (forecast.is_whole, forecast.answered, forecast.is_smooth);
            if forecast.answered > 0 && search.found.iter().all(|it| it.worth != worth) {
                search.found.push(Beginning { lane: probe.clone(), key, t, worth });
            }
        }
    }

    /// How many of the writes from a step on a turn would answer that began now.
    fn foresee(&self, mut lane: Lane, key: &ObjectKey, search: &Search<'_>, t: i64) -> Forecast {
        let index = search.index;
        let step = &self.course.steps[index];
        let about = (self.write(step).by.clone(), subject(self.recording, step).unwrap_or_default());
        let all = self.course.turns.get(&about).map_or(&[][..], Vec::as_slice);
        let mut rest = &all[all.partition_point(|it| *it < index)..];
        let mut ahead = self.ahead();
        let mut forecast = Forecast { answered: 0, is_whole: false, is_smooth: true, reason: None };
        lane.begin(key, self.instant(t), self.recording.slack_ms as i64);
        while let Some(place) = lane.turns.iter().position(|turn| turn.key == *key) {
            while let Some((next, later)) = rest.split_first()
                && self.foresee_one(&mut lane.turns[place], *next, *next == index, &mut ahead, &mut forecast.reason)
            {
                forecast.answered += 1;
                rest = later;
            }
            let is_done = lane.turns[place].parked.is_empty();
            if search.subject.is_none() || is_done && lane.looks_twice() {
                // Which of the following writes are this turn's is not told, or depends on what it hears until then.
                forecast.is_whole = forecast.answered > 0;
                return forecast;
            }
            forecast.is_smooth &= is_done;
            if !is_vain(&mut lane, place, &mut ahead, self.instant(self.now)) {
                return forecast;
            }
            lane.go_on(key, self.instant(self.now));
        }
        forecast.is_whole = true;
        if forecast.answered == 0 {
            forecast.reason.get_or_insert_with(|| "ours finds nothing to write".into());
        }
        forecast
    }

    /// Whether a turn would answer a step: then it has its answer.
    fn foresee_one(
        &self,
        turn: &mut Turn,
        next: usize,
        is_first: bool,
        ahead: &mut Ahead,
        reason: &mut Option<String>,
    ) -> bool {
        if let Deed::Conflict(write) = self.course.steps[next].deed {
            let write = &self.recording.writes[write];
            let alike = |(_, request): &(usize, Request)| is_alike(request, write, &ahead.names);
            let Some(at) = turn.parked.iter().position(alike) else { return false };
            let (slot, request) = turn.parked.remove(at);
            turn.outcomes[slot] = Some(Err(ApiError::conflict(&request.key())));
            return true;
        }
        for at in 0..turn.parked.len() {
            let (slot, request) = &turn.parked[at];
            let part = match request.verb {
                _ if is_first => Part::All,
                // By the time of the write others may have changed the rest.
                Verb::UpdateStatus(_) => Part::Status,
                _ => Part::Spec,
            };
            let slot = *slot;
            match self.fits(request, next, ahead, part) {
                Ok((outcome, after)) => {
                    turn.parked.remove(at);
                    turn.outcomes[slot] = Some(outcome);
                    *ahead = after;
                    return true;
                }
                Err(error) => better(reason, error),
            }
        }
        false
    }
}
