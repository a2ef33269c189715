//! The Events that controllers publish about their objects.
//!
//! Before an Event is sent, a recorder puts similar ones together and drops those of a component that says too much of
//! one object. The engine's Events are compared after that.

use std::collections::{BTreeMap, BTreeSet};

use loopscope_engine::apiserver::EventLog;

use super::lane::time;
use super::works::{Told, Works};
use crate::conformance::recording::ChangeType;

/// Whose Events are compared, as they name themselves.
const COMPONENTS: &[&str] = &[
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "node-controller",
    "taint-eviction-controller",
    "endpoint-slice-controller",
    "horizontal-pod-autoscaler",
    "controllermanager",
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    reason: String,
    message: String,
}

type Course = BTreeMap<(String, String), Vec<Said>>;

impl Works<'_> {
    /// The same Events about each object by each component, in the same order.
    pub fn compare_events(&self) -> Result<(), String> {
        let (ours, theirs) = (self.our_events(), self.their_events());
        let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        for key in keys {
            let none = Vec::new();
            let (ours, theirs) = (ours.get(key).unwrap_or(&none), theirs.get(key).unwrap_or(&none));
            let place = (0..ours.len().max(theirs.len())).find(|it| ours.get(*it) != theirs.get(*it));
            if let Some(place) = place {
                let told = |list: &[Said]| match list.get(place) {
                    Some(it) => format!("{} \"{}\"", it.reason, it.message),
                    None => "nothing".into(),
                };
                return Err(format!(
                    "Event {} of {} about {} is {}, recorded {}",
                    place + 1,
                    key.0,
                    key.1,
                    told(ours),
                    told(theirs)
                ));
            }
        }
        Ok(())
    }

    /// Whether an Event tells of a node that came before the recording, or that it does not watch.
    fn is_of_joining(&self, reason: &str, about: &str) -> bool {
        let is_new = |name: &str| {
            let mut trace = self.recording.trace.iter();
            trace.any(|it| it.kind == "Node" && it.name == name && it.change == ChangeType::Added)
        };
        reason == "RegisteredNode" && about.strip_prefix("Node/").is_some_and(|name| !is_new(name))
    }

    fn our_events(&self) -> Course {
        let mut course = Course::new();
        let mut recorders = EventLog::default();
        let mut last_life = 0;
        for Told { t, life, event } in &self.told {
            if *life != last_life {
                recorders.forget();
                last_life = *life;
            }
            if self.is_of_joining(event.reason, &event.about.to_string()) {
                continue;
            }
            let Some(sent) = recorders.correlate(event.clone(), time(*t)) else { continue };
            let (about, message) = (self.names.theirs(&sent.about.to_string()), self.names.theirs(&sent.message));
            let said = Said { reason: sent.reason.into(), message: without_pod(sent.reason, &message) };
            add(&mut course, sent.component, &about, said);
        }
        course
    }

    fn their_events(&self) -> Course {
        let mut course = Course::new();
        let mut events: Vec<_> = self.recording.events.iter().collect();
        events.sort_by_key(|event| event.rv);
        for event in events.into_iter().filter(|event| COMPONENTS.contains(&event.component.as_str())) {
            if self.is_of_joining(&event.reason, &event.about) {
                continue;
            }
            let message = without_pod(&event.reason, &event.message);
            let said = Said { reason: event.reason.clone(), message };
            add(&mut course, &event.component, &event.about, said);
        }
        course
    }
}

/// Reasons that a turn gives again and again as long as something is so: how often depends on how many turns there were.
const REPEATED: &[&str] = &["NoPods", "FailedToUpdateEndpointSlices"];

fn add(course: &mut Course, component: &str, about: &str, said: Said) {
    let list = course.entry((component.to_string(), about.to_string())).or_default();
    if !REPEATED.contains(&said.reason.as_str()) || list.last() != Some(&said) {
        list.push(said);
    }
}

/// Requests that are sent at once are told of in any order: which pod it was is compared with the write itself.
fn without_pod(reason: &str, message: &str) -> String {
    match message.rsplit_once(' ') {
        Some((words, _)) if matches!(reason, "SuccessfulCreate" | "SuccessfulDelete") => words.to_string(),
        _ => super::compare::anonymous(message),
    }
}
