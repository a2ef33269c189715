//! The HorizontalPodAutoscaler controller: how many pods the metrics ask for.
//!
//! Mirrors `pkg/controller/podautoscaler`, v1.36. Fidelity: the target's scale is read from the controller's cache, where
//! the real one asks the API server; there is no custom and no external metrics API, as in a cluster without an adapter.

pub mod calculator;
pub mod decide;
pub mod limits;
pub mod memory;
pub mod metrics;
pub mod ratio;

use std::rc::Rc;

use calculator::{Patience, Reading, Readings};
use decide::{Decision, Pass, Reasoning, Scale, Selecting, decide};
use memory::Memory;
use metrics::Source;

use super::Recorder;
use super::pods::request;
use super::script::{Purpose, Script, Scripted};
use crate::api::{
    AutoscalerStatus, HorizontalPodAutoscaler, Kind, LabelSelector, Name, Object, ObjectKey, Pod, ScaleTarget,
};
use crate::apiserver::{Answer, Change, ChangeKind, EventDraft, Objects, Verb};
use crate::client::{Action, Arg, Context, Facts, Metrics, Note, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time, sort_by};

const RECORDER: Recorder = Recorder("horizontal-pod-autoscaler");
/// `--horizontal-pod-autoscaler-sync-period`: every key waits so long for each of its turns.
pub const SYNC_PERIOD: Millis = Millis(15_000);
/// The name of the loop.
pub const NAME: &str = "Horizontal pod autoscaler";

/// What a pass found: replicas, metric, value, target.
pub const FOUND: &str = "**{}** replicas, {} **{}**, target {}";
/// How it came to a size.
pub const REASONED: &str = "raw **{}** → stabilized **{}** → limited **{}**";
/// What is done about it.
pub const RESCALES: &str = "scale {} **{} → {}**";

/// Scales targets by their metrics.
#[derive(Clone, Debug, Default)]
pub struct HorizontalPodAutoscalerController {
    memories: Map<ObjectKey, Memory>,
    /// By what the target of each autoscaler selects its pods, as far as a pass has found out.
    selectors: Map<ObjectKey, Option<LabelSelector>>,
    /// Passes that write, and why their size was refused.
    pending: Map<ObjectKey, (Decision, Option<String>)>,
}

/// The metrics API as the controller asks it.
struct Api<'a> {
    pods: &'a [&'a Pod],
    metrics: Option<&'a dyn Metrics>,
}

impl Source for Api<'_> {
    fn resource(&self, name: &str, container: &str) -> Result<Readings, String> {
        let metrics = self.metrics.ok_or("unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)")?;
        let mut readings = Readings::default();
        let mut is_any = false;
        for pod in self.pods {
            let Some(usage) = metrics.of(pod) else { continue };
            is_any = true;
            let meant = usage.containers.iter().filter(|it| container.is_empty() || *it.name == *container);
            let values: Vec<i64> = meant.filter_map(|it| milli(name, it.cpu_nano, it.memory)).collect();
            if !values.is_empty() {
                let value = values.into_iter().fold(0, i64::saturating_add);
                let (at_ms, window_ms) = (usage.at_ms, usage.window.0 as i64);
                readings.insert(pod.metadata.name.clone(), Reading { value, at_ms, window_ms });
            }
        }
        if is_any { Ok(readings) } else { Err("no metrics returned from resource metrics API".into()) }
    }

    fn pods(&self, _name: &str) -> Result<Readings, String> {
        Err(no_adapter("custom"))
    }

    fn object(&self, _name: &str) -> Result<i64, String> {
        Err(no_adapter("custom"))
    }

    fn external(&self, _name: &str) -> Result<Vec<i64>, String> {
        Err(no_adapter("external"))
    }
}

fn no_adapter(which: &str) -> String {
    let api = [which, ".metrics.k8s.io"].concat();
    ["unable to fetch metrics from ", which, " metrics API: no ", which, " metrics API (", &api, ") registered"]
        .concat()
}

/// Thousandths of the resource's unit, rounded up as `Quantity.MilliValue` does.
fn milli(resource: &str, cpu_nano: u64, memory: u64) -> Option<i64> {
    match resource {
        "cpu" => i64::try_from(cpu_nano.div_ceil(1_000_000)).ok(),
        "memory" => i64::try_from(memory.saturating_mul(1_000)).ok(),
        _ => None,
    }
}

/// The scale of a target, and the selector behind it.
fn scale_of(object: &Object) -> Option<(i32, i32, &LabelSelector)> {
    match object {
        Object::Deployment(it) => Some((it.spec.wanted(), it.status.replicas, &it.spec.selector)),
        Object::ReplicaSet(it) => Some((it.spec.wanted(), it.status.replicas, &it.spec.selector)),
        Object::StatefulSet(it) => Some((it.spec.replicas.unwrap_or(1), it.status.replicas, &it.spec.selector)),
        _ => None,
    }
}

/// The object that a reference names.
///
/// # Errors
/// As the API server's list of kinds, or the API server itself, says it.
pub fn target_key(target: &ScaleTarget, namespace: &Name) -> Result<ObjectKey, String> {
    let group = match target.api_version.split('/').collect::<Vec<_>>()[..] {
        [_] => "",
        [group, _] => group,
        _ => return Err(["unexpected GroupVersion string: ", &target.api_version].concat()),
    };
    let known = Kind::by_name(&target.kind).filter(|kind| kind.group() == group);
    let kind = known.ok_or_else(|| format!("no matches for kind \"{}\" in group \"{group}\"", target.kind))?;
    Ok(ObjectKey::new(kind, namespace.clone(), target.name.as_str()))
}

/// A selector as labels are written: `app=web,tier in (a,b)`.
fn written(selector: &LabelSelector) -> String {
    let mut parts: Vec<(&str, String)> =
        selector.match_labels.iter().map(|(key, value)| (key.as_str(), [key, "=", value].concat())).collect();
    for it in &selector.match_expressions {
        let mut values = it.values.clone();
        values.sort();
        let list = ["(", &values.join(","), ")"].concat();
        parts.push((
            &it.key,
            match it.operator.as_str() {
                "In" => [&it.key, " in ", &list].concat(),
                "NotIn" => [&it.key, " notin ", &list].concat(),
                "DoesNotExist" => ["!", &it.key].concat(),
                _ => it.key.clone(),
            },
        ));
    }
    sort_by(&mut parts, |a, b| a.0.cmp(b.0));
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
}

impl Scripted for HorizontalPodAutoscalerController {
    fn recorder(&self) -> Recorder {
        RECORDER
    }

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        if change.key.kind != Kind::HorizontalPodAutoscaler {
            return Vec::new();
        }
        let key = change.key.clone();
        if change.kind == ChangeKind::Deleted {
            self.selectors.remove(&key);
            return Vec::new();
        }
        self.selectors.or_default(key.clone());
        vec![(key, SYNC_PERIOD)]
    }

    fn backoff(&self) -> (Millis, Millis) {
        (SYNC_PERIOD, SYNC_PERIOD)
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        let Some(autoscaler) = context.cache.get(key).and_then(Object::as_autoscaler) else {
            self.memories.remove(key);
            return None;
        };
        let decision = self.pass(context, key, autoscaler);
        let (found, reasoned) = facts(&decision);
        let mut script = Script::new(found, reasoned);
        script.look_again(SYNC_PERIOD);
        script.tell(decision.warnings.iter().map(|(reason, text)| RECORDER.warning(key, reason, text.clone())));
        if let Some(rescale) = &decision.rescale
            && let Ok(target) = target_key(&autoscaler.spec.scale_target_ref, &key.namespace)
        {
            let size = rescale.to.to_string();
            let message = ["New size: ", &size, "; reason: ", &rescale.reason].concat();
            let facts: Facts = Note {
                text: RESCALES,
                args: vec![Arg::Name(target.name.clone()), rescale.from.into(), rescale.to.into()],
            }
            .into();
            let facts = facts.with(note!("PUT {}/scale", target.kind.plural()));
            let action = request(Verb::Scale(target, rescale.to));
            script.send(facts, vec![(action, Purpose::Tell("SuccessfulRescale", message, false))]);
            script.end_with_last(true);
            self.pending.insert(key.clone(), (decision, None));
        } else if decision.status != autoscaler.status {
            let (facts, action) = write(autoscaler, decision.status);
            script.send(facts, vec![(action, Purpose::Plain)]);
        }
        Some(script)
    }

    fn last(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<(Facts, Action)> {
        let (decision, refused) = self.pending.remove(key)?;
        let autoscaler = context.cache.get(key)?.as_autoscaler()?;
        let status = match refused {
            Some(error) => decision.status_refused(&error),
            None => decision.status,
        };
        (status != autoscaler.status).then(|| write(autoscaler, status))
    }

    fn done(&mut self, key: &ObjectKey, purpose: &Purpose, _answer: &Answer) -> Option<EventDraft> {
        let Purpose::Tell(reason, message, _) = purpose else { return None };
        let (decision, _) = self.pending.get(key)?;
        if let (Some(rescale), Some(memory)) = (&decision.rescale, self.memories.get_mut(key)) {
            memory.scaled(decision.behavior.as_ref(), rescale.from, rescale.to, decision.now_ms);
        }
        Some(RECORDER.normal(key, reason, message.clone()))
    }

    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft> {
        let error = error.unwrap_or("the target is gone");
        let Purpose::Tell(_, message, _) = purpose else {
            return Some(RECORDER.warning(key, "FailedUpdateStatus", error.to_owned()));
        };
        if let Some((_, refused)) = self.pending.get_mut(key) {
            *refused = Some(error.to_owned());
        }
        Some(RECORDER.warning(key, "FailedRescale", [message, "; error: ", error].concat()))
    }
}

fn write(autoscaler: &Rc<HorizontalPodAutoscaler>, status: AutoscalerStatus) -> (Facts, Action) {
    let desired = status.desired_replicas;
    let mut autoscaler = Rc::clone(autoscaler);
    Rc::make_mut(&mut autoscaler).status = status;
    let facts: Facts = note!("write the status: desired **{}**", desired).into();
    let facts = facts.with(note!("PUT horizontalpodautoscalers/status"));
    (facts, request(Verb::UpdateStatus(Object::HorizontalPodAutoscaler(autoscaler))))
}

impl HorizontalPodAutoscalerController {
    fn pass(&mut self, context: &Context<'_>, key: &ObjectKey, autoscaler: &HorizontalPodAutoscaler) -> Decision {
        let target = target_key(&autoscaler.spec.scale_target_ref, &key.namespace).and_then(|target| {
            let object = context.cache.get(&target);
            object.ok_or_else(|| crate::apiserver::ApiError::not_found(&target).message)
        });
        let found = target.and_then(|object| {
            scale_of(object).ok_or_else(|| "the server could not find the requested resource".to_owned())
        });
        let mut pods: Vec<&Pod> = Vec::new();
        let scale = found.map(|(wanted, reported, selector)| {
            pods.extend(context.cache.pods_labeled(&key.namespace, |labels| selector.matches(labels)).map(Rc::as_ref));
            Scale { wanted, reported, selecting: self.selecting(key, selector, &pods) }
        });
        let source = Api { pods: &pods, metrics: context.metrics };
        let pass = Pass {
            autoscaler,
            scale,
            pods: &pods,
            source: &source,
            patience: Patience::USUAL,
            now_ms: context.wall_millis,
            scales_to_zero: false,
        };
        decide(&pass, self.memories.or_default(key.clone()))
    }

    /// Notes by what a target selects its pods, and finds the autoscalers that these are pods of.
    fn selecting(&mut self, key: &ObjectKey, selector: &LabelSelector, pods: &[&Pod]) -> Selecting {
        if selector.is_empty() {
            return Selecting::Missing;
        }
        self.selectors.insert(key.clone(), Some(selector.clone()));
        let is_of = |other: &LabelSelector| pods.iter().any(|pod| other.matches(&pod.metadata.labels));
        let all = self.selectors.iter().filter(|(other, _)| other.namespace == key.namespace);
        let all = all.filter(|(_, selector)| selector.as_ref().is_some_and(is_of));
        let mut autoscalers: Vec<String> = all.map(|(it, _)| format!("{{{} {}}}", it.name, it.namespace)).collect();
        autoscalers.sort();
        Selecting::By { selector: written(selector), autoscalers }
    }
}

/// What a pass found, and how it came to a size.
fn facts(decision: &Decision) -> (Facts, Facts) {
    match &decision.reasoning {
        Reasoning::Failed(error) => {
            (note!("no metric can be read").into(), note!("stays as it is: {}", error.clone()).into())
        }
        Reasoning::Disabled => (note!("**0** replicas").into(), note!("scaling is disabled at 0 replicas").into()),
        Reasoning::OutOfBounds { current, to, reason } => {
            (note!("**{}** replicas", *current).into(), note!("{}: **{}**", *reason, *to).into())
        }
        Reasoning::Metrics { current, metric: [name, value, target], raw, stabilized, limited, because } => {
            let text = |it: &String| Arg::Text(it.as_str().into());
            let found = Note { text: FOUND, args: vec![(*current).into(), text(name), text(value), text(target)] };
            let args = [raw, stabilized, limited].map(|it| Arg::from(*it)).into();
            let reasoned: Facts = Note { text: REASONED, args }.into();
            let reasoned = reasoned.with(note!("{}, {}", because[0].0, because[1].0));
            (found.into(), reasoned)
        }
    }
}
