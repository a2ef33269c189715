//! The StatefulSet controller: pods with numbers, one after the other.
//!
//! Mirrors `pkg/controller/statefulset`, v1.36. Fidelity: no volume claims. `maxUnavailable`
//! counts as 1: its feature gate is off in v1.36.

mod decide;

use std::rc::Rc;

use serde_json::json;

pub use decide::{Deed, Member, Wish, decide};

use super::history::{HASH_LABEL, Hashes, History};
use super::pods::{Claims, create_slowly, delete_all, pod_from, pod_key, request, suitors};
use super::script::{Purpose, Script, Scripted};
use super::{Recorder, controller_key};
use crate::api::{Kind, Object, ObjectKey, Pod, PodTemplate, StatefulSet, StatefulSetStatus};
use crate::apiserver::{Answer, Change, ChangeKind, EventDraft, Objects, PatchType, Verb};
use crate::client::{Action, Context, Facts, Wakeup};
use crate::note;
use crate::sim::{Millis, Time, sort_by};

const RECORDER: Recorder = Recorder("statefulset-controller");
const NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";
const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

/// Keeps the pods of each StatefulSet.
#[derive(Clone, Debug, Default)]
pub struct StatefulSetController {
    hashes: Hashes,
}

/// The number at the end of a pod's name, where the rest is the set's.
fn number_of(set: &str, pod: &str) -> Option<i32> {
    let number = pod.strip_prefix(set)?.strip_prefix('-')?;
    number.parse().ok().filter(|value: &i32| *value >= 0 && value.to_string() == number)
}

fn revision_of(pod: &Pod) -> &str {
    pod.metadata.labels.get(HASH_LABEL).map_or("", String::as_str)
}

fn is_running_and_ready(pod: &Pod) -> bool {
    pod.status.phase == "Running" && pod.is_ready()
}

/// What a turn looks at.
struct Seen<'a> {
    set: &'a Rc<StatefulSet>,
    history: History,
    pods: Vec<(i32, &'a Rc<Pod>)>,
    wish: Wish,
    deeds: Vec<Deed>,
}

impl<'a> Seen<'a> {
    fn find(context: &Context<'a>, set: &'a Rc<StatefulSet>, history: History) -> Self {
        let name = &set.metadata.name;
        let owned = context.cache.owned(set.metadata.uid, Kind::Pod).filter_map(Object::as_pod);
        let mut pods: Vec<_> = owned.filter_map(|pod| Some((number_of(name, &pod.metadata.name)?, pod))).collect();
        sort_by(&mut pods, |a, b| a.0.cmp(&b.0));
        let spec = &set.spec;
        let ordinals = spec.extra.get("ordinals").and_then(|it| it.get("start")).and_then(serde_json::Value::as_i64);
        let rolls = spec.update_strategy.kind != "OnDelete";
        let partition = spec.update_strategy.rolling_update.as_ref().and_then(|it| it.partition).unwrap_or(0);
        let replicas = spec.replicas.unwrap_or(1).max(0);
        let wish = Wish {
            // So that every pod has a number.
            start: ordinals.map_or(0, |start| start.clamp(0, i64::from(i32::MAX - replicas)) as i32),
            replicas,
            is_parallel: spec.pod_management_policy == "Parallel",
            partition: rolls.then_some(partition),
        };
        let min_ready = spec.min_ready_seconds;
        let members: Vec<Member> = pods
            .iter()
            .map(|(number, pod)| Member {
                number: *number,
                is_up_to_date: revision_of(pod) == &*history.present,
                is_finished: pod.is_finished(),
                is_terminating: pod.is_terminating(),
                is_available: is_running_and_ready(pod) && pod.is_available(min_ready, context.wall),
            })
            .collect();
        let is_going = set.metadata.deletion_timestamp.is_some();
        let deeds = if is_going { Vec::new() } else { decide(wish, &members) };
        Self { set, history, pods, wish, deeds }
    }

    fn current_revision(&self) -> &str {
        let current = self.set.status.current_revision.as_str();
        if self.history.has(current) { current } else { &self.history.present }
    }

    fn pod(&self, number: i32) -> Option<&Rc<Pod>> {
        self.pods.iter().find(|(it, _)| *it == number).map(|(_, pod)| *pod)
    }

    /// The status after this turn (`updateStatus`, `completeRollingUpdate`): pods made in it do not count yet.
    fn status(&self, context: &Context<'_>) -> StatefulSetStatus {
        let current = self.current_revision();
        let mut status = StatefulSetStatus {
            collision_count: Some(0),
            conditions: self.set.status.conditions.clone(),
            current_revision: current.into(),
            observed_generation: self.set.metadata.generation,
            update_revision: self.history.present.to_string(),
            ..StatefulSetStatus::default()
        };
        for (_, pod) in &self.pods {
            status.replicas += 1;
            let is_ready = is_running_and_ready(pod);
            status.ready_replicas += i32::from(is_ready);
            let is_available = is_ready && pod.is_available(self.set.spec.min_ready_seconds, context.wall);
            status.available_replicas += i32::from(is_available);
            if !pod.is_terminating() {
                status.current_replicas += i32::from(revision_of(pod) == current);
                status.updated_replicas += i32::from(revision_of(pod) == &*self.history.present);
            }
        }
        if let Some(Deed::Update(number)) = self.deeds.last()
            && self.pod(*number).is_some_and(|pod| revision_of(pod) == current)
        {
            status.current_replicas -= 1;
        }
        let counts = [status.replicas, status.ready_replicas, status.updated_replicas];
        let is_complete = counts == [self.wish.replicas; 3];
        if self.wish.partition.is_some() && is_complete {
            status.current_replicas = status.updated_replicas;
            status.current_revision.clone_from(&status.update_revision);
        }
        status
    }

    /// The pod of a number, at the revision that belongs there (`newVersionedStatefulSetPod`).
    fn new_pod(&self, number: i32) -> Pod {
        let set = self.set;
        let is_old = self.wish.partition.is_some_and(|partition| number < self.wish.start.saturating_add(partition));
        let old = is_old.then(|| self.current_revision()).filter(|name| **name != *self.history.present);
        let kept: Option<PodTemplate> = old.and_then(|name| self.history.template(name));
        let revision = old.filter(|_| kept.is_some()).unwrap_or(&self.history.present);
        let mut pod = pod_from(kept.as_ref().unwrap_or(&set.spec.template), &set.metadata, Kind::StatefulSet);
        let name = format!("{}-{number}", set.metadata.name);
        pod.metadata.generate_name = crate::api::Name::default();
        pod.metadata.name = name.as_str().into();
        let labels = &mut pod.metadata.labels;
        labels.insert(NAME_LABEL.into(), name.clone());
        labels.insert(INDEX_LABEL.into(), number.to_string());
        labels.insert(HASH_LABEL.into(), revision.into());
        let spec = Rc::make_mut(&mut pod.spec);
        spec.extra.insert("hostname".into(), name.into());
        if !set.spec.service_name.is_empty() {
            spec.extra.insert("subdomain".into(), set.spec.service_name.clone().into());
        }
        pod
    }

    /// Gives back the label that names them to pods that have lost it, as far as the turn gets (`identityMatches`).
    fn mend(&self) -> Vec<(Action, Purpose)> {
        let is_next = |(place, (number, pod)): &(i32, &(i32, &'a Rc<Pod>))| {
            *number == self.wish.start + *place
                && (self.wish.is_parallel || is_running_and_ready(pod) && !pod.is_terminating())
        };
        let wanted = self.wish.start..self.wish.start + self.wish.replicas;
        let in_range = self.pods.iter().filter(|(number, _)| wanted.contains(number));
        let reached = (0..).zip(in_range).take_while(is_next).map(|(_, it)| it);
        let strangers = reached.filter(|(_, pod)| {
            let label = pod.metadata.labels.get(NAME_LABEL);
            !pod.is_terminating() && label.is_none_or(|label| **label != *pod.metadata.name)
        });
        let patch = |(number, pod): &(i32, &Rc<Pod>)| {
            let name = &pod.metadata.name;
            let labels = json!({ NAME_LABEL: name.as_str(), INDEX_LABEL: number.to_string() });
            let verb = Verb::Patch(pod_key(pod), PatchType::Merge, json!({ "metadata": { "labels": labels } }));
            let message = format!("Update Pod {name} in StatefulSet {} successful", self.set.metadata.name);
            (request(verb), Purpose::Tell("SuccessfulUpdate", message, false))
        };
        strangers.map(patch).collect()
    }

    fn explain(&self) -> Facts {
        let word = |text: &'static str, number: i32, detail: &'static str| {
            let facts: Facts = crate::client::Note { text, args: vec![number.into()] }.into();
            facts.with(note!("{}", detail))
        };
        match self.deeds.first() {
            Some(Deed::Create(number)) => word("number **{}** is missing", *number, "those before it are ready"),
            Some(Deed::Renew(number)) => word("number **{}** has ended", *number, "it is to be made anew"),
            Some(Deed::ScaleDown(number)) => word("number **{}** is one too many", *number, "the highest goes first"),
            Some(Deed::Update(number)) => word("number **{}** has an old template", *number, "from the highest down"),
            None if self.set.metadata.deletion_timestamp.is_some() => note!("is being deleted").into(),
            None if self.set.status.ready_replicas < self.wish.replicas => {
                let facts: Facts = note!("waits for a pod").into();
                facts.with(note!("one after the other"))
            }
            None => note!("nothing to do").into(),
        }
    }
}

impl Scripted for StatefulSetController {
    fn recorder(&self) -> Recorder {
        RECORDER
    }

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let keys = match &change.object {
            Object::StatefulSet(set) => {
                if change.kind == ChangeKind::Deleted {
                    self.hashes.forget(set.metadata.uid);
                }
                vec![change.key.clone()]
            }
            Object::Pod(_) => match controller_key(&change.object, Kind::StatefulSet) {
                Some(key) => vec![key],
                None => suitors(Kind::StatefulSet, change, cache),
            },
            _ => Vec::new(),
        };
        keys.into_iter().map(|key| (key, Millis(0))).collect()
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        let set = context.cache.get(key)?.as_stateful_set()?;
        let hash = self.hashes.of(&set.metadata, &set.spec.template);
        let history = History::find(context.cache, &set.metadata, hash, &set.spec.template);
        let seen = Seen::find(context, set, history);
        let facts: Facts = note!("want **{}**, have **{}**", seen.wish.replicas, seen.pods.len()).into();
        let ready = seen.pods.iter().filter(|(_, pod)| is_running_and_ready(pod)).count();
        let mut script =
            Script::new(facts.with(note!("{} ready, cache rv {}", ready, context.version)), seen.explain());
        let belongs = |pod: &Pod| number_of(&set.metadata.name, &pod.metadata.name).is_some();
        let claims = Claims::find(context.cache, &set.metadata, &set.spec.selector, belongs);
        if set.metadata.deletion_timestamp.is_none() {
            seen.history.keep_present(&mut script, &set.metadata, Kind::StatefulSet, &set.spec.template);
        }
        if !claims.is_empty() {
            script.send(claims.facts(), claims.requests(&set.metadata, Kind::StatefulSet));
            // The pods are told of as they change hands: the rest is for the next turn.
            return Some(script);
        }
        let facts: Facts = note!("name pods again").into();
        script.send(facts.with(note!("PATCH pods")), seen.mend());
        let created = seen.deeds.iter().filter_map(|deed| match deed {
            Deed::Create(number) => Some(seen.new_pod(*number)),
            _ => None,
        });
        create_slowly(&mut script, created);
        let deleted = seen.deeds.iter().filter_map(|deed| match deed {
            Deed::Create(_) => None,
            Deed::Renew(number) | Deed::ScaleDown(number) | Deed::Update(number) => seen.pod(*number),
        });
        delete_all(&mut script, deleted);
        let status = seen.status(context);
        if status != set.status {
            let facts: Facts =
                note!("write status: **{}** of **{}** ready", status.ready_replicas, status.replicas).into();
            let mut set = Rc::clone(set);
            Rc::make_mut(&mut set).status = status.clone();
            let action = request(Verb::UpdateStatus(Object::StatefulSet(set)));
            script.send_always(facts.with(note!("PUT statefulsets/status")), action, Purpose::Plain);
        }
        let is_live = |name: &str| {
            name == &*seen.history.present
                || name == status.current_revision
                || seen.pods.iter().any(|(_, pod)| revision_of(pod) == name)
        };
        seen.history.truncate(&mut script, set.spec.revision_history_limit.unwrap_or(10), is_live);
        if set.spec.min_ready_seconds > 0 && status.ready_replicas != status.available_replicas {
            script.look_again(Millis::from_secs(u64::from(set.spec.min_ready_seconds.unsigned_abs())));
        }
        Some(script)
    }

    fn done(&mut self, key: &ObjectKey, purpose: &Purpose, answer: &Answer) -> Option<EventDraft> {
        let tell = |reason, verb, name: &str| {
            let message = format!("{verb} Pod {name} in StatefulSet {} successful", key.name);
            Some(RECORDER.normal(key, reason, message))
        };
        match purpose {
            Purpose::Create => tell("SuccessfulCreate", "Create", &answer.object.meta().name),
            Purpose::Delete(name, _) => tell("SuccessfulDelete", "Delete", name),
            Purpose::Tell(reason, message, _) => Some(RECORDER.normal(key, reason, message.clone())),
            _ => None,
        }
    }

    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft> {
        let error = error?;
        let tell = |reason, verb| {
            let message = format!("{verb} Pod in StatefulSet {} failed error: {error}", key.name);
            Some(RECORDER.warning(key, reason, message))
        };
        match purpose {
            // The cache was behind: the pod is there.
            Purpose::Create if error.ends_with("already exists") => None,
            Purpose::Create => tell("FailedCreate", "Create"),
            Purpose::Delete(..) => tell("FailedDelete", "Delete"),
            _ => None,
        }
    }
}
