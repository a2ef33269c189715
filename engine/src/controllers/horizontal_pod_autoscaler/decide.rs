//! One pass of an autoscaler as a function of plain values (`reconcileAutoscaler`, v1.36).

use super::calculator::{Patience, Scene};
use super::limits::Bounds;
use super::memory::{Because, Memory};
use super::metrics::{Computed, Failed, Source, compute};
use super::ratio::Tolerances;
use crate::api::{
    AutoscalerStatus, Condition, HorizontalPodAutoscaler, Metric, Pod, ScalingBehavior, ScalingRules, Text, Timestamp,
    condition, set_condition,
};

/// `--horizontal-pod-autoscaler-downscale-stabilization` (v1.36), in ms.
pub const DOWNSCALE_WINDOW: i64 = 300_000;

const READY: Because = ("ReadyForNewScale", "recommended size matches current size");
const GOT_SCALE: Because = ("SucceededGetScale", "the HPA controller was able to get the target's current scale");
const DISABLED: Because = ("ScalingDisabled", "scaling is disabled since the replica count of the target is zero");
const ABOVE_MAX: &str = "Current number of replicas above Spec.MaxReplicas";
const BELOW_MIN: &str = "Current number of replicas below Spec.MinReplicas";

/// How the target selects its pods.
#[derive(Clone, Debug, PartialEq)]
pub enum Selecting {
    /// By this selector, which these autoscalers' targets have in common with regard to the pods that are there.
    By {
        selector: String,
        autoscalers: Vec<String>,
    },
    Missing,
    /// By something that is no selector, for this reason.
    Unreadable(String),
}

/// The `scale` subresource of the target.
#[derive(Clone, Debug)]
pub struct Scale {
    pub wanted: i32,
    pub reported: i32,
    pub selecting: Selecting,
}

/// All that a pass looks at.
pub struct Pass<'a> {
    pub autoscaler: &'a HorizontalPodAutoscaler,
    /// The target's scale, or why it cannot be had.
    pub scale: Result<Scale, String>,
    pub pods: &'a [&'a Pod],
    pub source: &'a dyn Source,
    pub patience: Patience,
    /// In ms since 1970.
    pub now_ms: i64,
    /// The feature gate `HPAScaleToZero`, which is off in v1.36.
    pub scales_to_zero: bool,
}

/// A new size for the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescale {
    pub from: i32,
    pub to: i32,
    pub reason: String,
}

/// How the size came about.
#[derive(Clone, Debug, PartialEq)]
pub enum Reasoning {
    /// Nothing is known of the target, or of the metrics.
    Failed(String),
    /// At 0 replicas.
    Disabled,
    /// Outside the bounds, without a look at metrics.
    OutOfBounds { current: i32, to: i32, reason: &'static str },
    Metrics {
        current: i32,
        /// Name, value and target of the metric that asks for the most.
        metric: [String; 3],
        raw: i32,
        stabilized: i32,
        limited: i32,
        /// Why what is stabilized is not what is raw, and why what is limited is not what is stabilized.
        because: [Because; 2],
    },
}

/// What a pass comes to.
#[derive(Clone, Debug)]
pub struct Decision {
    pub reasoning: Reasoning,
    pub rescale: Option<Rescale>,
    /// Of a pass that scales, as it is if that succeeds.
    pub status: AutoscalerStatus,
    /// Warnings on the way: reason and message.
    pub warnings: Vec<(&'static str, String)>,
    /// It ends in an error.
    pub error: Option<String>,
    /// What the limits of the next passes depend on, if this one scales.
    pub behavior: Option<ScalingBehavior>,
    /// In ms since 1970.
    pub now_ms: i64,
    before: AutoscalerStatus,
}

impl Decision {
    /// The status where the target's size could not be written.
    pub fn status_refused(&self, error: &str) -> AutoscalerStatus {
        let mut status = self.status.clone();
        let now = Timestamp::from_millis(self.now_ms);
        status.desired_replicas = self.before.desired_replicas;
        status.last_scale_time = self.before.last_scale_time;
        let message = ["the HPA controller was unable to update the target scale: ", error].concat();
        set(&mut status.conditions, "AbleToScale", false, ("FailedUpdateScale", message.into()), now);
        status
    }
}

fn set(conditions: &mut Vec<Condition>, kind: &'static str, on: bool, because: (&'static str, Text), now: Timestamp) {
    set_condition(conditions, Condition::new(kind, on).because(because.0, because.1), now);
}

/// A pass under way.
struct Work<'a, 'b> {
    pass: &'b Pass<'a>,
    status: AutoscalerStatus,
    warnings: Vec<(&'static str, String)>,
    now: Timestamp,
}

/// Decides a pass. What it recommends is remembered.
pub fn decide(pass: &Pass<'_>, memory: &mut Memory) -> Decision {
    let before = pass.autoscaler.status.clone();
    let now = Timestamp::from_millis(pass.now_ms);
    let mut work = Work { pass, status: before.clone(), warnings: Vec::new(), now };
    let (reasoning, rescale, error) = match &pass.scale {
        Ok(scale) => work.look(scale, memory),
        Err(error) => {
            let message = ["the HPA controller was unable to get the target's current scale: ", error].concat();
            work.warnings.push(("FailedGetScale", error.clone()));
            work.set("AbleToScale", false, ("FailedGetScale", message.into()));
            (Reasoning::Failed(error.clone()), None, Some(error.clone()))
        }
    };
    let Work { status, warnings, .. } = work;
    let behavior = pass.autoscaler.spec.behavior.clone();
    Decision { reasoning, rescale, status, warnings, error, behavior, now_ms: pass.now_ms, before }
}

type Outcome = (Reasoning, Option<Rescale>, Option<String>);

impl Work<'_, '_> {
    fn set(&mut self, kind: &'static str, on: bool, because: (&'static str, Text)) {
        set(&mut self.status.conditions, kind, on, because, self.now);
    }

    fn say(&mut self, kind: &'static str, on: bool, (reason, message): Because) {
        self.set(kind, on, (reason, message.into()));
    }

    fn look(&mut self, scale: &Scale, memory: &mut Memory) -> Outcome {
        let (pass, current) = (self.pass, scale.wanted);
        let spec = &pass.autoscaler.spec;
        let (min, max) = (spec.min_replicas.unwrap_or(1), spec.max_replicas);
        self.say("AbleToScale", true, GOT_SCALE);
        memory.begin(current, pass.now_ms);
        let was_scaled_to_zero =
            condition(&self.status.conditions, "ScaledToZero").is_some_and(Condition::is_true) && pass.scales_to_zero;
        if current == 0 && !was_scaled_to_zero {
            self.say("ScalingActive", false, DISABLED);
            self.conclude(current, current, Vec::new(), false);
            return (Reasoning::Disabled, None, None);
        }
        let out = match current {
            0 => None,
            _ if current > max => Some((max, ABOVE_MAX)),
            _ if current < min => Some((min, BELOW_MIN)),
            _ => None,
        };
        if let Some((to, reason)) = out {
            self.rescale(current, to, Vec::new());
            let rescale = Rescale { from: current, to, reason: reason.into() };
            return (Reasoning::OutOfBounds { current, to, reason }, Some(rescale), None);
        }
        self.weigh(scale, Bounds { min, max, current }, memory)
    }

    /// The size by the metrics.
    fn weigh(&mut self, scale: &Scale, bounds: Bounds, memory: &mut Memory) -> Outcome {
        let current = bounds.current;
        let (best, statuses, error) = match self.measure(scale) {
            Ok(found) => found,
            Err((statuses, error)) => {
                let desired = self.status.desired_replicas;
                self.conclude(current, desired, statuses, false);
                self.warnings.push(("FailedComputeMetricsReplicas", error.clone()));
                return (Reasoning::Failed(error.clone()), None, Some(error));
            }
        };
        let raw = best.proposal.replicas.max(0);
        let reason = match raw.cmp(&current) {
            std::cmp::Ordering::Greater => [&best.name, " above target"].concat(),
            std::cmp::Ordering::Less => "All metrics below target".into(),
            std::cmp::Ordering::Equal => String::new(),
        };
        let (stabilized, limited, because) = self.normalize(raw, bounds, memory);
        self.say("AbleToScale", true, because[0]);
        self.say("ScalingLimited", limited != stabilized, because[1]);
        let metric = [best.name, best.value, best.target];
        let reasoning = Reasoning::Metrics { current, metric, raw, stabilized, limited, because };
        if limited == current {
            self.conclude(current, current, statuses, false);
            return (reasoning, None, error);
        }
        self.rescale(current, limited, statuses);
        (reasoning, Some(Rescale { from: current, to: limited, reason }), error)
    }

    fn normalize(&self, raw: i32, bounds: Bounds, memory: &mut Memory) -> (i32, i32, [Because; 2]) {
        let (now, current) = (self.pass.now_ms, bounds.current);
        let Some(behavior) = &self.pass.autoscaler.spec.behavior else {
            let stabilized = memory.stabilize(raw, DOWNSCALE_WINDOW, now);
            let why = if stabilized == raw { READY } else { super::memory::DOWN_STABILIZED };
            let (limited, limit) = bounds.limit(stabilized);
            return (stabilized, limited, [why, limit]);
        };
        let none = ScalingRules::default();
        let (up, down) = (behavior.scale_up.as_ref().unwrap_or(&none), behavior.scale_down.as_ref().unwrap_or(&none));
        let window = |rules: &ScalingRules| rules.stabilization_window_seconds.map(|it| i64::from(it) * 1_000);
        let windows = (window(up).unwrap_or(0), window(down).unwrap_or(DOWNSCALE_WINDOW));
        let (stabilized, why) = memory.stabilize_within(raw, current, windows, now);
        let why = if stabilized == raw { READY } else { why };
        let (limited, limit) = bounds.limit_by(stabilized, (up, down), memory, now);
        (stabilized, limited, [why, limit])
    }

    /// All metrics: the one that asks for the most, how each of them stands, and the error of those that say nothing
    /// where the others are enough.
    #[allow(clippy::type_complexity)]
    fn measure(&mut self, scale: &Scale) -> Result<(Computed, Vec<Metric>, Option<String>), (Vec<Metric>, String)> {
        self.check(&scale.selecting).map_err(|error| (Vec::new(), error))?;
        let pass = self.pass;
        let spec = &pass.autoscaler.spec;
        let scene = Scene {
            pods: pass.pods,
            wanted: scale.wanted,
            reported: scale.reported,
            tolerances: tolerances(pass.autoscaler),
            patience: pass.patience,
            now_ms: pass.now_ms,
        };
        let (mut best, mut statuses, mut first, mut invalid) = (None::<Computed>, Vec::new(), None::<Failed>, 0);
        for metric in &spec.metrics {
            match compute(metric, &scene, pass.source) {
                Ok(it) => {
                    statuses.push(it.status.clone());
                    let most = best.as_ref().map_or(0, |best| best.proposal.replicas);
                    if best.is_none() || most == 0 || it.proposal.replicas > most {
                        best = Some(it);
                    }
                }
                Err(failed) => {
                    statuses.push(Metric::default());
                    self.warnings.push((failed.reason, failed.told.clone()));
                    invalid += 1;
                    first.get_or_insert(failed);
                }
            }
        }
        let all = spec.metrics.len();
        let error = first
            .as_ref()
            .map(|it| format!("invalid metrics ({invalid} invalid out of {all}), first error is: {}", it.error));
        match (best, first) {
            (Some(best), first) if first.is_none() || best.proposal.replicas >= scale.wanted => {
                let message = ["the HPA was able to successfully calculate a replica count from ", &best.name].concat();
                self.set("ScalingActive", true, ("ValidMetricFound", message.into()));
                Ok((best, statuses, error))
            }
            (_, first) => {
                let (reason, told) = first.map_or(("", String::new()), |it| (it.reason, it.told));
                let message = ["the HPA was unable to compute the replica count: ", &told].concat();
                self.set("ScalingActive", false, (reason, message.into()));
                Err((statuses, error.unwrap_or_default()))
            }
        }
    }

    /// Whether the pods can be told from those of other autoscalers (`validateAndParseSelector`).
    fn check(&mut self, selecting: &Selecting) -> Result<(), String> {
        let (event, reason, told, message) = match selecting {
            Selecting::By { autoscalers, .. } if autoscalers.len() < 2 => return Ok(()),
            Selecting::By { selector, autoscalers } => {
                let all = autoscalers.join(" ");
                let told = format!("pods by selector {selector} are controlled by multiple HPAs: [{all}]");
                ("AmbiguousSelector", "AmbiguousSelector", told.clone(), told)
            }
            Selecting::Missing => {
                let message = "the HPA target's scale is missing a selector";
                ("SelectorRequired", "InvalidSelector", "selector is required".to_owned(), message.to_owned())
            }
            Selecting::Unreadable(error) => {
                let told =
                    ["couldn't convert selector into a corresponding internal selector object: ", error].concat();
                ("InvalidSelector", "InvalidSelector", told.clone(), told)
            }
        };
        self.warnings.push((event, told.clone()));
        self.set("ScalingActive", false, (reason, message.into()));
        Err(told)
    }

    fn rescale(&mut self, from: i32, to: i32, metrics: Vec<Metric>) {
        let message = ["the HPA controller was able to update the target scale to ", &to.to_string()].concat();
        self.set("AbleToScale", true, ("SucceededRescale", message.into()));
        if self.pass.scales_to_zero {
            if to == 0 {
                self.say("ScaledToZero", true, ("ScaledToZero", "the HPA controller scaled the target to zero"));
            } else if condition(&self.status.conditions, "ScaledToZero").is_some() {
                self.say("ScaledToZero", false, ("NotScaledToZero", "the target is not scaled to zero"));
            }
        }
        self.conclude(from, to, metrics, true);
    }

    /// `setStatus`
    fn conclude(&mut self, current: i32, desired: i32, metrics: Vec<Metric>, is_rescaled: bool) {
        let status = &mut self.status;
        (status.current_replicas, status.desired_replicas) = (current, desired);
        (status.current_metrics, status.observed_generation) = (metrics, None);
        if is_rescaled {
            status.last_scale_time = Some(self.now);
        }
    }
}

fn tolerances(autoscaler: &HorizontalPodAutoscaler) -> Tolerances {
    let behavior = autoscaler.spec.behavior.as_ref();
    let of = |rules: Option<&ScalingRules>| rules?.tolerance.map(crate::api::Quantity::milli);
    Tolerances::new(
        of(behavior.and_then(|it| it.scale_down.as_ref())),
        of(behavior.and_then(|it| it.scale_up.as_ref())),
    )
}
