//! What the API server fills in for HorizontalPodAutoscalers (`pkg/apis/autoscaling/v2/defaults.go`, v1.36).

use crate::api::{HorizontalPodAutoscaler, Metric, ScalingPolicy, ScalingRules, fields};

/// Percent of the CPU that is requested, where no metric is named.
const CPU_TARGET: i32 = 80;
const PERIOD_SECONDS: i32 = 15;

pub(super) fn default_autoscaler(autoscaler: &mut HorizontalPodAutoscaler) {
    let spec = &mut autoscaler.spec;
    spec.min_replicas.get_or_insert(1);
    if spec.metrics.is_empty() {
        let target = fields([("averageUtilization", CPU_TARGET.into()), ("type", "Utilization".into())]);
        let resource = fields([("name", "cpu".into()), ("target", target)]);
        let extra = [("resource".to_owned(), resource)].into_iter().collect();
        spec.metrics.push(Metric { kind: "Resource".into(), extra });
    }
    if let Some(behavior) = &mut spec.behavior {
        let policy =
            |kind: &str, value: i32| ScalingPolicy { kind: kind.into(), value, period_seconds: PERIOD_SECONDS };
        let up = behavior.scale_up.get_or_insert_default();
        up.stabilization_window_seconds.get_or_insert(0);
        complete(up, || vec![policy("Pods", 4), policy("Percent", 100)]);
        complete(behavior.scale_down.get_or_insert_default(), || vec![policy("Percent", 100)]);
    }
}

fn complete(rules: &mut ScalingRules, policies: impl Fn() -> Vec<ScalingPolicy>) {
    if rules.select_policy.is_empty() {
        rules.select_policy = "Max".into();
    }
    if rules.policies.is_empty() {
        rules.policies = policies();
    }
}
