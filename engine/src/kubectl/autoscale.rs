//! `kubectl autoscale` (`kubectl/pkg/cmd/autoscale/autoscale.go`, v1.36).

use serde_json::Value;

use super::create::{Told, blank, make};
use super::flags::Args;
use super::resources::NOTHING;
use super::value::{object, set};
use super::{Context, Done, Failure, Problem};
use crate::api::{Kind, Quantity};

const DEPRECATED: &str = "Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU).\n";

fn metric(name: &str, given: &str) -> Result<Value, Failure> {
    let target = match given.strip_suffix('%') {
        Some(percent) => {
            let number: i64 =
                percent.parse().map_err(|_| Failure::errors(&["invalid ", name, " percentage: ", given]))?;
            object(&[("averageUtilization", number.into()), ("type", "Utilization".into())])
        }
        None => {
            let amount: Quantity =
                given.parse().map_err(|_| Failure::errors(&["invalid ", name, " value: ", given]))?;
            object(&[("averageValue", amount.to_string().into()), ("type", "AverageValue".into())])
        }
    };
    let resource = object(&[("name", name.into()), ("target", target)]);
    Ok(object(&[("resource", resource), ("type", "Resource".into())]))
}

fn bounds(args: &Args) -> Result<(i64, i64), Failure> {
    let number = |name: &str| args.int(name);
    if !args.has("max") {
        return Err(Failure::error("required flag(s) \"max\" not set"));
    }
    let (max, min) = (number("max").unwrap_or(-1), number("min").unwrap_or(-1));
    let told = |it: i64| it.to_string();
    if max < 1 {
        return Err(Failure::errors(&["--max=MAXPODS is required and must be at least 1, max: ", &told(max)]));
    }
    if max < min {
        return Err(Failure::errors(&[
            "--max=MAXPODS must be larger or equal to --min=MINPODS, max: ",
            &told(max),
            ", min: ",
            &told(min),
        ]));
    }
    Ok((max, min))
}

fn metrics(args: &Args) -> Result<Vec<Value>, Failure> {
    let mut metrics = Vec::new();
    if let Some(percent) = args.int("cpu-percent").filter(|it| *it >= 0) {
        metrics.push(metric("cpu", &[&percent.to_string(), "%"].concat())?);
    }
    for name in ["cpu", "memory"] {
        let given = args.text(name);
        if !given.is_empty() {
            metrics.push(metric(name, given)?);
        }
    }
    Ok(metrics)
}

pub fn autoscale(context: &mut Context<'_>) -> Result<Done, Failure> {
    if context.args.has("cpu-percent") {
        context.out.err(DEPRECATED);
    }
    let (max, min) = bounds(&context.args)?;
    let metrics = metrics(&context.args)?;
    let words = context.args.words.clone();
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error(NOTHING));
    }
    for target in context.targets(&words)? {
        let (kind, own) = (target.kind(), target.meta().name.clone());
        if !matches!(kind, Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController) {
            let text = ["error: cannot autoscale a ", kind.name(), ": no scale subresource"].concat();
            context.problems.push(Problem::Plain(text));
            continue;
        }
        let name =
            if context.args.text("name").is_empty() { own.to_string() } else { context.args.text("name").into() };
        let mut value = blank(Kind::HorizontalPodAutoscaler, &name);
        set(&mut value, "spec.maxReplicas", max.into());
        if !metrics.is_empty() {
            set(&mut value, "spec.metrics", Value::Array(metrics.clone()));
        }
        if min > 0 {
            set(&mut value, "spec.minReplicas", min.into());
        }
        set(
            &mut value,
            "spec.scaleTargetRef",
            object(&[
                ("apiVersion", kind.api_version().into()),
                ("kind", kind.name().into()),
                ("name", own.as_str().into()),
            ]),
        );
        set(&mut value, "status", object(&[("currentMetrics", Value::Null), ("desiredReplicas", 0.into())]));
        let is_new = context.live(Kind::HorizontalPodAutoscaler, &name).is_err();
        if !is_new && metrics.is_empty() {
            return Err(Failure::error(
                "failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: empty input",
            ));
        }
        make(context, Kind::HorizontalPodAutoscaler, value, "kubectl-autoscale", "autoscaled", &Told::Plain)?;
    }
    context.done()
}
