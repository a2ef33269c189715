//! Autoscalers: what each pass found and how it came to a size, and the curve of that.

use serde::Serialize;

use super::{CompareRow, Phrase};
use crate::api::{HorizontalPodAutoscaler, Kind, Object, ObjectKey, Quantity, condition};
use crate::client::{Arg, Author, Facts, LoopIndex, TurnPhase, What};
use crate::controllers::horizontal_pod_autoscaler::{FOUND, NAME, REASONED, RESCALES, target_key};
use crate::sim::{Seq, Time};
use crate::world::Simulation;

/// One pass as the controller reasons: metric → raw → stabilized → limited → written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PassLine {
    /// The trace event in which it found what it found.
    pub seq: Seq,
    pub at: Time,
    /// `cpu resource utilization (percentage of request) 90% of 50%`, or why there is none.
    pub metric: String,
    pub value: Option<MetricValue>,
    /// The size that it found.
    pub current: Option<i32>,
    /// What the metric asks for; what is left of that within the windows, and within the limits.
    pub raw: Option<i32>,
    pub stabilized: Option<i32>,
    pub limited: Option<i32>,
    /// Why: `ScaleDownStabilized, DesiredWithinRange`, or what was decided without a metric.
    pub because: String,
    /// The size that was written, and whether the API server took it.
    pub written: Option<(i32, bool)>,
}

/// A metric and its target, in percent or in thousandths of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MetricValue {
    pub value: i64,
    pub target: i64,
    pub is_percent: bool,
}

/// What there is to show of an autoscaler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoscalerView {
    pub key: ObjectKey,
    /// The object that it scales, where its reference names one.
    pub target: Option<ObjectKey>,
    pub min: i32,
    pub max: i32,
    pub current: i32,
    pub desired: i32,
    /// When its next pass comes.
    pub next_pass: Option<Time>,
    /// Passes that changed anything or found something new, oldest first. A pass that is not among them found what the
    /// one before had found: so the lines are all steps of the curve of metric, desired and actual size.
    pub log: Vec<PassLine>,
}

/// All autoscalers, by name.
pub fn autoscalers(simulation: &Simulation) -> Vec<AutoscalerView> {
    let objects = simulation.api().objects().of_kind(Kind::HorizontalPodAutoscaler).filter_map(Object::as_autoscaler);
    let mut all: Vec<AutoscalerView> = objects.map(|it| autoscaler(simulation, it)).collect();
    crate::sim::sort_by(&mut all, |a, b| (&a.key.namespace, &a.key.name).cmp(&(&b.key.namespace, &b.key.name)));
    all
}

/// An autoscaler, or the one that scales a workload.
pub fn autoscaler_of(simulation: &Simulation, key: &ObjectKey) -> Option<AutoscalerView> {
    about(simulation, key).map(|it| autoscaler(simulation, it))
}

pub(super) fn about<'a>(simulation: &'a Simulation, key: &ObjectKey) -> Option<&'a HorizontalPodAutoscaler> {
    let mut all = simulation.api().objects().of_kind(Kind::HorizontalPodAutoscaler).filter_map(Object::as_autoscaler);
    let found = all.find(|it| match key.kind {
        Kind::HorizontalPodAutoscaler => own_key(it) == *key,
        _ => target_key(&it.spec.scale_target_ref, &it.metadata.namespace).as_ref() == Ok(key),
    });
    found.map(|it| &**it)
}

pub(super) fn own_key(it: &HorizontalPodAutoscaler) -> ObjectKey {
    let meta = &it.metadata;
    ObjectKey::new(Kind::HorizontalPodAutoscaler, meta.namespace.clone(), meta.name.clone())
}

/// What an autoscaler wants beside what it has found.
pub(super) fn compared(it: &HorizontalPodAutoscaler) -> (Vec<CompareRow>, Phrase) {
    let (min, max) = (it.spec.min_replicas.unwrap_or(1), it.spec.max_replicas);
    let (current, desired) = (it.status.current_replicas, it.status.desired_replicas);
    let replicas =
        super::inspect::row("replicas", desired.to_string(), current.to_string(), (desired - current).into());
    let bounds = super::inspect::fact("bounds", format!("{min} to {max}"), desired.to_string(), false);
    let is = |kind: &str| condition(&it.status.conditions, kind).filter(|it| !it.is_true());
    let verdict = match is("AbleToScale").or_else(|| is("ScalingActive")) {
        Some(it) => format!("**Cannot scale.** {}", it.message),
        None if it.status.conditions.is_empty() => "**Not looked at yet.** Its first pass is to come.".into(),
        None if desired == current => "**As wanted.** Nothing to do.".into(),
        None => format!("**Scaling** from {current} to {desired}."),
    };
    (vec![replicas, bounds], verdict.into())
}

fn autoscaler(simulation: &Simulation, it: &HorizontalPodAutoscaler) -> AutoscalerView {
    let meta = &it.metadata;
    let key = own_key(it);
    let found = simulation.loops().iter().position(|it| it.name.as_str() == NAME);
    let next = found.and_then(|at| simulation.loops().get(at)).and_then(|it| {
        let mut delayed = it.queue.delayed().filter(|(it, _)| **it == key);
        delayed.next().map(|(_, at)| at)
    });
    let by = found.and_then(|at| u32::try_from(at).ok()).map(LoopIndex);
    AutoscalerView {
        target: target_key(&it.spec.scale_target_ref, &meta.namespace).ok(),
        min: it.spec.min_replicas.unwrap_or(1),
        max: it.spec.max_replicas,
        current: it.status.current_replicas,
        desired: it.status.desired_replicas,
        next_pass: next,
        log: by.map(|by| log(simulation, by, &key)).unwrap_or_default(),
        key,
    }
}

/// The passes that the trace still tells of.
fn log(simulation: &Simulation, by: LoopIndex, key: &ObjectKey) -> Vec<PassLine> {
    let mut lines: Vec<PassLine> = Vec::new();
    for event in simulation.trace().events() {
        match &event.what {
            What::Reached { by: it, key: of, phase, facts } if *it == by && of == key => match phase {
                TurnPhase::Observe => lines.push(found(event.seq, event.at, facts)),
                TurnPhase::Diff => lines.iter_mut().next_back().into_iter().for_each(|line| reasoned(line, facts)),
                TurnPhase::Act if facts.text.text == RESCALES => {
                    if let (Some(line), Some(Arg::Int(to))) = (lines.last_mut(), facts.text.args.get(2)) {
                        line.written = Some((*to as i32, false));
                    }
                }
                TurnPhase::Act => {}
            },
            What::Wrote { author: Author::Loop(it), key: of, subresource: "scale", .. } if *it == by => {
                // One autoscaler has one pass at a time, and of several the newest has asked.
                if let Some((_, is_taken)) = lines.last_mut().and_then(|line| line.written.as_mut())
                    && is_target(simulation, key, of)
                {
                    *is_taken = true;
                }
            }
            _ => {}
        }
    }
    lines
}

fn is_target(simulation: &Simulation, key: &ObjectKey, target: &ObjectKey) -> bool {
    let autoscaler = simulation.api().objects().get(key).and_then(Object::as_autoscaler);
    autoscaler.is_some_and(|it| target_key(&it.spec.scale_target_ref, &key.namespace).as_ref() == Ok(target))
}

fn found(seq: Seq, at: Time, facts: &Facts) -> PassLine {
    let (mut metric, mut value, mut current) = (facts.text.to_string().replace("**", ""), None, None);
    if let (FOUND, [Arg::Int(size), name, now, goal]) = (facts.text.text, facts.text.args.as_slice()) {
        let (now, goal) = (now.to_string(), goal.to_string());
        value = measured(&now, &goal);
        current = Some(*size as i32);
        metric = [&name.to_string(), " ", &now, " of ", &goal].concat();
    } else if let [Arg::Int(size)] = facts.text.args.as_slice() {
        current = Some(*size as i32);
    }
    let (raw, stabilized, limited) = (None, None, None);
    PassLine { seq, at, metric, value, current, raw, stabilized, limited, because: String::new(), written: None }
}

fn measured(value: &str, target: &str) -> Option<MetricValue> {
    if let (Some(value), Some(target)) = (value.strip_suffix('%'), target.strip_suffix('%')) {
        return Some(MetricValue { value: value.parse().ok()?, target: target.parse().ok()?, is_percent: true });
    }
    let milli = |text: &str| text.parse::<Quantity>().ok().map(Quantity::milli);
    Some(MetricValue { value: milli(value)?, target: milli(target)?, is_percent: false })
}

fn reasoned(line: &mut PassLine, facts: &Facts) {
    if let (REASONED, [Arg::Int(raw), Arg::Int(stabilized), Arg::Int(limited)]) =
        (facts.text.text, facts.text.args.as_slice())
    {
        let size = |it: &i64| Some(*it as i32);
        (line.raw, line.stabilized, line.limited) = (size(raw), size(stabilized), size(limited));
        line.because = facts.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    } else {
        line.because = facts.text.to_string().replace("**", "");
    }
}
