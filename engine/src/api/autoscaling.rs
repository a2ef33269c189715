use super::{Condition, Extra, ObjectMeta, Quantity, Timestamp, record};

/// `autoscaling/v2` HorizontalPodAutoscaler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HorizontalPodAutoscaler {
    pub metadata: ObjectMeta,
    pub spec: AutoscalerSpec,
    pub status: AutoscalerStatus,
    pub extra: Extra,
}

record!(HorizontalPodAutoscaler { metadata "metadata" always, spec "spec" always, status "status" } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AutoscalerSpec {
    pub behavior: Option<ScalingBehavior>,
    pub max_replicas: i32,
    pub metrics: Vec<Metric>,
    pub min_replicas: Option<i32>,
    pub scale_target_ref: ScaleTarget,
    pub extra: Extra,
}

record!(AutoscalerSpec {
    behavior "behavior",
    max_replicas "maxReplicas" always,
    metrics "metrics",
    min_replicas "minReplicas",
    scale_target_ref "scaleTargetRef" always,
} extra extra);

/// Whose replicas are set (`CrossVersionObjectReference`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScaleTarget {
    pub api_version: String,
    pub kind: String,
    pub name: String,
}

record!(ScaleTarget { api_version "apiVersion", kind "kind" always, name "name" always });

/// A metric that is asked for, or how it stands now: `extra` holds the one field that its type names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// `Resource`, `ContainerResource`, `Pods`, `Object` or `External`.
    pub kind: String,
    pub extra: Extra,
}

record!(Metric { kind "type" always } extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalingBehavior {
    pub scale_down: Option<ScalingRules>,
    pub scale_up: Option<ScalingRules>,
}

record!(ScalingBehavior { scale_down "scaleDown", scale_up "scaleUp" });

/// How fast replicas may change in one direction (`HPAScalingRules`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalingRules {
    pub policies: Vec<ScalingPolicy>,
    /// `Max`, `Min` or `Disabled`.
    pub select_policy: String,
    pub stabilization_window_seconds: Option<i32>,
    pub tolerance: Option<Quantity>,
    pub extra: Extra,
}

record!(ScalingRules {
    policies "policies",
    select_policy "selectPolicy",
    stabilization_window_seconds "stabilizationWindowSeconds",
    tolerance "tolerance",
} extra extra);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalingPolicy {
    pub period_seconds: i32,
    /// `Pods` or `Percent`.
    pub kind: String,
    pub value: i32,
}

record!(ScalingPolicy { period_seconds "periodSeconds" always, kind "type" always, value "value" always });

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AutoscalerStatus {
    pub conditions: Vec<Condition>,
    pub current_metrics: Vec<Metric>,
    pub current_replicas: i32,
    pub desired_replicas: i32,
    pub last_scale_time: Option<Timestamp>,
    pub observed_generation: Option<i64>,
}

record!(AutoscalerStatus {
    conditions "conditions",
    current_metrics "currentMetrics",
    current_replicas "currentReplicas",
    desired_replicas "desiredReplicas" always,
    last_scale_time "lastScaleTime",
    observed_generation "observedGeneration",
});
