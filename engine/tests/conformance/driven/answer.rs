//! A write of the recording's controllers, and the same one of ours.

use std::collections::BTreeMap;

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::apiserver::{ApiError, ApiServer, Change, Effect, Request, Verb};
use loopscope_engine::client::Outcome;
use loopscope_engine::sim::{Key, Random};
use serde_json::Value;

use super::compare::{Part, difference};
use super::course::{Deed, Places, Step, kind_of, subject};
use super::lane::{Instant, Lane};
use super::names::Names;
use super::works::{Works, perform};
use crate::conformance::recording::Write;

const OTHER: &str = "ours wants to";

/// Our API server as it would go on.
#[derive(Clone)]
struct Ahead {
    api: ApiServer,
    random: Random,
    names: Names,
}

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
    best: Option<Beginning>,
    reason: Option<String>,
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
struct Beginning {
    lane: Lane,
    key: ObjectKey,
    t: i64,
    /// Whether all that the turn writes is in the recording, how much that is, and whether nothing is refused.
    worth: (bool, usize, bool),
}

/// What ours would write instead of the same is told before what it would write besides.
fn better(reason: &mut Option<String>, error: String) {
    if reason.as_ref().is_none_or(|known| known.starts_with(OTHER) || !error.starts_with(OTHER)) {
        *reason = Some(error);
    }
}

/// A request in the words of the audit log.
pub fn describe(request: &Request) -> String {
    let key = request.key();
    let plural = key.kind.plural();
    let (verb, sub) = match &request.verb {
        Verb::Create(_) => ("create", ""),
        Verb::Update(_) => ("update", ""),
        Verb::UpdateStatus(_) => ("update", "/status"),
        Verb::Scale(..) => ("patch", "/scale"),
        Verb::Bind(..) => ("create", "/binding"),
        Verb::Patch(..) | Verb::Apply(..) => ("patch", ""),
        Verb::Delete(..) => ("delete", ""),
        Verb::Evict(..) => ("create", "/eviction"),
        Verb::Finalize(_) => ("update", "/finalize"),
    };
    format!("{verb} {plural}{sub} {}", key.name)
}

/// The same verb on the same resource. A patch of a status is here a PUT without a version.
fn is_alike(request: &Request, write: &Write, names: &Names) -> bool {
    let words = describe(request);
    let mut parts = words.splitn(3, ' ');
    let (verb, resource, name) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
    let is_status = write.resource.ends_with("/status");
    let same_verb = verb == Some(&write.verb) || is_status && verb == Some("update") && write.verb == "patch";
    let is_hashed = matches!(kind_of(&write.resource), "ReplicaSet" | "ControllerRevision") && write.verb == "create";
    same_verb && resource == Some(&write.resource) && (name.is_empty() || is_hashed || name == names.ours(&write.name))
}

/// A new object gets the letters of the recorded one. Where a ReplicaSet lists pods that are equal in all that ranks
/// them, chance decides in which order: ours lists by a hash of names, and its pods get further letters that put them
/// into the order in which the recording's went.
fn prepared(request: &Request, write: &Write, names: &mut Names, places: &Places) -> Request {
    let mut request = request.clone();
    if let Verb::Create(object) = &mut request.verb {
        if matches!(object.kind(), Kind::ReplicaSet | Kind::ControllerRevision) {
            names.learn(&write.name, &object.meta().name.clone());
        } else if object.meta().name.is_empty() {
            let mut name = names.ours(&write.name);
            if let Some((place, of)) = places.get(&write.name) {
                name = placed(object, &name, *place, *of);
                names.learn(&write.name, &name);
            }
            object.meta_mut().name = name.as_str().into();
        }
    }
    request
}

/// A name that begins like this one and stands at a place among so many.
fn placed(object: &Object, name: &str, place: usize, of: usize) -> String {
    const LETTERS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    let letters = |n: usize| (0..6).map(move |at| char::from(LETTERS[n / 20_usize.pow(at) % LETTERS.len()]));
    // Letters further to the left move a hash further.
    let names = (0..8_000).map(|n| format!("{name}{}", letters(n * 7_919).collect::<String>()));
    let stands_at = |name: &String| {
        let order = ObjectKey::new(object.kind(), object.meta().namespace.clone(), name.as_str()).rank() & 0xff_ffff_ffff_ffff;
        (u128::from(order) * of as u128 >> 56) as usize == place
    };
    let mut names = names.filter(stands_at);
    names.next().unwrap_or_else(|| name.to_string())
}

/// The node that a pod is made for (DaemonSets).
fn pinned_to(object: &Object) -> Option<String> {
    let value = object.to_value();
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
    value.pointer(path)?.as_str().map(str::to_string)
}

impl Works<'_> {
    fn write(&self, step: &Step) -> &Write {
        match step.deed {
            Deed::Written(index) | Deed::Refused(index) | Deed::Conflict(index) => &self.recording.writes[index],
            _ => unreachable!("only writes are answered"),
        }
    }

    fn lanes_of(&self, by: &str) -> Vec<usize> {
        (0..self.lanes.len()).filter(|lane| self.lanes[*lane].by == by).collect()
    }

    fn ahead(&self) -> Ahead {
        Ahead { api: self.api.clone(), random: self.random.clone(), names: self.names.clone() }
    }

    /// Answers an accepted write.
    pub fn answer(&mut self, index: usize) -> Result<(), String> {
        let step = self.course.steps[index].clone();
        let write = self.write(&step).clone();
        let words = format!("{} {} {} {}", write.by.trim_start_matches("controller/"), write.verb, write.resource, write.name);
        let subject = subject(self.recording, &step).map(|it| self.names.ours(&it));
        if self.is_starting {
            self.start();
        }
        self.tick_for(&write.by);
        let mut reason = None;
        let is_about = |works: &Self, lane: usize| {
            let only = works.lanes[lane].only.as_ref();
            only.is_none_or(|only| subject.as_ref().is_none_or(|it| *it == only.to_string()))
        };
        let mut lanes = self.lanes_of(&write.by);
        lanes.retain(|lane| is_about(self, *lane));
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
    fn go_on_with(&mut self, lane: usize, index: usize, subject: Option<&str>) -> Result<bool, String> {
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
            match self.fits(request, index, &mut ahead.clone(), part) {
                Ok(_) => return Ok(*slot),
                Err(error) => better(&mut reason, error),
            }
        }
        Err(reason)
    }

    /// Carries a request out in a world to come, and looks whether it is the write of a step.
    fn fits(&self, request: &Request, index: usize, ahead: &mut Ahead, part: Part) -> Result<Outcome, String> {
        let step = &self.course.steps[index];
        let write = self.write(step);
        if !is_alike(request, write, &ahead.names) {
            return Err(format!("{OTHER} {}", describe(request)));
        }
        let record = self.record(step);
        if let (Verb::Create(object @ Object::Pod(_)), Some(_)) = (&request.verb, record)
            && let Some(node) = pinned_to(object)
        {
            let bound = self.recording.trace.iter().filter(|it| it.kind == "Pod" && it.name == write.name);
            let bound = bound.filter_map(|it| it.fields.get("nodeName")?.as_str()).next();
            if bound.is_some_and(|bound| bound != node) {
                return Err(format!("ours makes a pod for {node}, the recording for {}", bound.unwrap_or_default()));
            }
        }
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
        Ok(Ok(Some(answer)))
    }

    /// Sends a parked request as the answer to a step.
    fn send(&mut self, lane: usize, key: &ObjectKey, slot: usize, index: usize) -> Result<(), String> {
        let step = self.course.steps[index].clone();
        let write = self.write(&step).clone();
        let place = self.lanes[lane].turns.iter().position(|turn| turn.key == *key);
        let turn = &mut self.lanes[lane].turns[place.ok_or("no such turn")?];
        let at = turn.parked.iter().position(|(it, _)| *it == slot).ok_or("no such request")?;
        let (_, request) = turn.parked.remove(at);
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

    fn conclude(&mut self, lane: usize, key: &ObjectKey, slot: usize, outcome: Outcome) {
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

    /// Begins a turn at the watch event from which on it answers most.
    fn begin_with(&mut self, lane: usize, index: usize, subject: Option<&str>) -> Result<(), Option<String>> {
        let slack = self.recording.slack_ms as i64;
        let mut search = Search { index, subject, best: None, reason: None };
        if !self.search_in_order(self.lanes[lane].clone(), &mut search) {
            self.search_out_of_order(&self.lanes[lane], &mut search);
        }
        let Some(found) = search.best else { return Err(search.reason) };
        if std::env::var_os("DRIVEN_LOG").is_some() {
            println!("t={} begin {} v{} answered {} for rv {} (latest {})", found.t, found.key, found.lane.version, found.worth.1, self.course.steps[index].rv, self.api.version());
        }
        if std::env::var_os("DRIVEN_PODS").is_some() && self.course.steps[index].rv.to_string() == std::env::var("DRIVEN_PODS").unwrap() {
            self.debug_pods(&found.lane);
        }
        self.lanes[lane] = found.lane;
        let now = self.instant(found.t);
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
                return search.best.as_ref().is_some_and(|it| it.worth.0);
            };
            let t = self.heard_at[change.version as usize];
            probe.hear(change, t);
        }
    }

    /// One kind's informer has heard more than the others, or less.
    fn search_out_of_order(&self, from: &Lane, search: &mut Search<'_>) {
        let Some(kind) = own_kind(from.by) else { return };
        let changes = (from.version + 1..).map_while(|version| self.api.change(version));
        let (own, other): (Vec<_>, Vec<_>) =
            changes.filter(|it| !from.has_heard(it)).partition(|change| change.key.kind == kind);
        let at = |change: &Change| self.heard_at[change.version as usize];
        let mut row = from.clone();
        for next in std::iter::once(None).chain(other.iter().map(Some)) {
            if let Some(change) = next {
                row.hear_ahead(change, at(change));
            }
            let heard = next.map_or(self.heard_at[from.version as usize], |change| at(change));
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

    /// Looks what turns would answer that began now.
    fn consider(&self, probe: &Lane, t: i64, search: &mut Search<'_>) {
        for key in probe.ready(t + self.recording.slack_ms as i64) {
            if search.subject.is_some_and(|it| *it != key.to_string()) {
                continue;
            }
            let forecast = self.foresee(probe.clone(), &key, search.index, t, search.subject.is_some());
            if let Some(reason) = forecast.reason {
                better(&mut search.reason, reason);
            }
            if std::env::var_os("DRIVEN_LOG").is_some() {
                let mut trial = probe.clone();
                trial.begin(&key, self.instant(t), self.recording.slack_ms as i64);
                let wants: Vec<String> = trial.turns.iter().filter(|it| it.key == key).flat_map(|it| &it.parked).map(|(_, it)| describe(it)).collect();
                println!("  candidate v{} t={t} {key}: whole {} answered {} wants {wants:?}", probe.version, forecast.is_whole, forecast.answered);
            }
            let worth = (forecast.is_whole, forecast.answered, forecast.is_smooth);
            if forecast.answered > 0 && search.best.as_ref().is_none_or(|it| worth > it.worth) {
                search.best = Some(Beginning { lane: probe.clone(), key, t, worth });
            }
        }
    }

    /// How many of the writes from a step on a turn would answer that began now.
    fn foresee(&self, mut lane: Lane, key: &ObjectKey, index: usize, t: i64, is_told: bool) -> Forecast {
        let step = &self.course.steps[index];
        let write = self.write(step);
        let about = (write.by.clone(), subject(self.recording, step).unwrap_or_default());
        let all = self.course.turns.get(&about).map_or(&[][..], Vec::as_slice);
        let mut rest = all.iter().copied().filter(|it| *it >= index).peekable();
        let mut ahead = self.ahead();
        let mut forecast = Forecast { answered: 0, is_whole: false, is_smooth: true, reason: None };
        lane.begin(key, self.instant(t), self.recording.slack_ms as i64);
        while let Some(place) = lane.turns.iter().position(|turn| turn.key == *key) {
            while let Some(next) = rest.peek().copied() {
                let turn = &mut lane.turns[place];
                if let Deed::Conflict(write) = self.course.steps[next].deed {
                    let write = &self.recording.writes[write];
                    let alike = |(_, request): &(usize, Request)| is_alike(request, write, &ahead.names);
                    let Some(at) = turn.parked.iter().position(alike) else { break };
                    let (slot, request) = turn.parked.remove(at);
                    turn.outcomes[slot] = Some(Err(ApiError::conflict(&request.key())));
                    forecast.answered += 1;
                    rest.next();
                    continue;
                }
                let part = |request: &Request| match request.verb {
                    _ if next == index => Part::All,
                    Verb::UpdateStatus(_) => Part::Status,
                    _ => Part::Spec,
                };
                let mut found = None;
                for (slot, request) in &turn.parked {
                    let mut trial = ahead.clone();
                    match self.fits(request, next, &mut trial, part(request)) {
                        Ok(outcome) => {
                            found = Some((*slot, outcome, trial));
                            break;
                        }
                        Err(error) => better(&mut forecast.reason, error),
                    }
                }
                let Some((slot, outcome, trial)) = found else { break };
                turn.parked.retain(|(it, _)| *it != slot);
                turn.outcomes[slot] = Some(outcome);
                ahead = trial;
                forecast.answered += 1;
                rest.next();
            }
            if lane.looks_twice() && lane.turns[place].parked.is_empty() {
                // What it writes next depends on what it hears until then.
                forecast.is_whole = true;
                return forecast;
            }
            if !is_told {
                // Which of the following writes are this turn's is not known.
                forecast.is_whole = forecast.answered > 0;
                return forecast;
            }
            forecast.is_smooth &= lane.turns[place].parked.is_empty();
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

fn code_of(outcome: &Outcome) -> Option<u16> {
    outcome.as_ref().err().map(ApiError::code)
}

/// Answers all parked requests of a turn, if each of them is refused or changes nothing.
fn is_vain(lane: &mut Lane, place: usize, ahead: &mut Ahead, now: Instant) -> bool {
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

/// Lets a turn go on to its end, if nothing comes of it. Returns the Events it published.
fn run_out(
    lane: &mut Lane,
    key: &ObjectKey,
    ahead: &mut Ahead,
    now: Instant,
) -> Option<Vec<loopscope_engine::apiserver::EventDraft>> {
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
            return Ok(self.free_turn(lane, key));
        }
        let now = self.instant(self.now);
        let mut trial = self.lanes[lane].clone();
        let mut events = Vec::new();
        if !trial.turns.iter().any(|turn| turn.key == *key) {
            events.extend(trial.begin(key, now, 0));
        }
        let wanted: Vec<String> =
            trial.turns.iter().filter(|turn| turn.key == *key).flat_map(|turn| &turn.parked).map(|(_, it)| self.in_full(it)).collect();
        let mut ahead = self.ahead();
        match run_out(&mut trial, key, &mut ahead, now) {
            Some(more) => {
                self.random = ahead.random;
                events.extend(more);
                self.lanes[lane] = trial;
                self.tell(events);
                Ok(())
            }
            None => {
                if std::env::var_os("DRIVEN_LOG").is_some() {
                    println!("t={} wants: dirty {:?} delayed {:?}", self.now, self.lanes[lane].dirty, self.lanes[lane].delayed);
                }
                Err(wanted.join(", "))
            }
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

fn first_change(path: &str, before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys = keys.into_iter().filter(|key| *key != "resourceVersion");
            keys.find_map(|key| first_change(&format!("{path}.{key}"), &before[key], &after[key]))
        }
        _ if before == after => None,
        _ => Some(format!("{} from {before} to {after}", path.trim_start_matches('.'))),
    }
}

impl Works<'_> {
    pub fn debug_pods(&self, lane: &Lane) {
        for object in lane.cache.of_kind(Kind::Pod) {
            let pod = object.as_pod().unwrap();
            let ready = pod.status.conditions.iter().find(|it| it.kind == "Ready").map(|it| it.last_transition_time);
            println!("   {} {:x} node {} ready {:?} created {:?} del {:?} uid {} place {:?}", pod.metadata.name, object.key().rank(), pod.spec.node_name, ready, pod.metadata.creation_timestamp, pod.metadata.deletion_timestamp, pod.metadata.uid, self.course.places.get(self.names.theirs(&pod.metadata.name).as_str()));
        }
    }
}
