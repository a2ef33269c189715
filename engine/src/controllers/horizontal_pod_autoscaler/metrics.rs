//! What each metric of an autoscaler asks for, and how its status tells of it (`computeReplicasForMetrics`).

use serde_json::Value;

use super::calculator::{Proposal, Readings, Scene};
use crate::api::{Metric, Quantity, fields, read_value};

/// Where metrics come from.
pub trait Source {
    /// Readings of a resource, of all containers of a pod or of one.
    ///
    /// # Errors
    /// As the metrics client says it.
    fn resource(&self, name: &str, container: &str) -> Result<Readings, String>;
    /// Readings of a metric of the pods' own.
    ///
    /// # Errors
    /// As the metrics client says it.
    fn pods(&self, name: &str) -> Result<Readings, String>;
    /// The value of another object's metric, in thousandths.
    ///
    /// # Errors
    /// As the metrics client says it.
    fn object(&self, name: &str) -> Result<i64, String>;
    /// The values of a metric from outside the cluster, in thousandths.
    ///
    /// # Errors
    /// As the metrics client says it.
    fn external(&self, name: &str) -> Result<Vec<i64>, String>;
}

/// Why a metric says nothing: the reason of the condition and of the Event, and the error as the Event tells it and as
/// the controller passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub reason: &'static str,
    pub told: String,
    pub error: String,
}

/// What a metric comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    pub proposal: Proposal,
    /// `cpu resource utilization (percentage of request)`
    pub name: String,
    pub status: Metric,
    /// What is measured and what is to be, as a person reads them: `54%` and `50%`.
    pub value: String,
    pub target: String,
}

fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    value.pointer(path).unwrap_or(&Value::Null)
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

fn milli(value: &Value) -> Option<i64> {
    if value.is_null() {
        return None;
    }
    read_value::<Quantity>(value.clone()).ok().map(Quantity::milli)
}

fn quantity(milli: i64) -> String {
    Quantity::from_milli(milli).to_string()
}

/// The value of a source's field that is there, as a status repeats it.
fn kept<const N: usize>(from: &Value, names: [&str; N]) -> serde_json::Map<String, Value> {
    let all = names.into_iter().filter_map(|name| Some((name.to_owned(), from.get(name)?.clone())));
    all.collect()
}

fn failed(reason: &'static str, prefix: &str, told: String) -> Failed {
    let error = [prefix, &told].concat();
    Failed { reason, told, error }
}

/// Works one metric out.
///
/// # Errors
/// Why it says nothing.
pub fn compute(metric: &Metric, scene: &Scene<'_>, source: &dyn Source) -> Result<Computed, Failed> {
    let of = |field: &str| metric.extra.get(field).unwrap_or(&Value::Null);
    match metric.kind.as_str() {
        "Resource" => {
            let spec = of("resource");
            let prefix = ["failed to get ", text(spec, "/name"), " resource metric value: "].concat();
            resource("resource", spec, "", scene, source)
                .map_err(|told| failed("FailedGetResourceMetric", &prefix, told))
        }
        "ContainerResource" => {
            let spec = of("containerResource");
            let container = text(spec, "/container");
            let prefix = ["failed to get ", container, " container metric value: "].concat();
            resource("containerResource", spec, container, scene, source)
                .map_err(|told| failed("FailedGetContainerResourceMetric", &prefix, told))
        }
        "Pods" => pods(of("pods"), scene, source)
            .map_err(|told| failed("FailedGetPodsMetric", "failed to get pods metric value: ", told)),
        "Object" => object(of("object"), scene, source)
            .map_err(|told| failed("FailedGetObjectMetric", "failed to get object metric value: ", told)),
        "External" => {
            let spec = of("external");
            let prefix = ["failed to get ", text(spec, "/metric/name"), " external metric value: "].concat();
            external(spec, scene, source).map_err(|told| failed("FailedGetExternalMetric", &prefix, told))
        }
        other => {
            let told = ["unknown metric source type \"", other, "\""].concat();
            Err(failed("InvalidMetricSourceType", "", told))
        }
    }
}

fn resource(
    field: &'static str,
    spec: &Value,
    container: &str,
    scene: &Scene<'_>,
    source: &dyn Source,
) -> Result<Computed, String> {
    let name = text(spec, "/name");
    let readings = || {
        let readings = source.resource(name, container);
        readings.map_err(|error| ["unable to get metrics for resource ", name, ": ", &error].concat())
    };
    let (proposal, words, current, value, target);
    if let Some(goal) = milli(at(spec, "/target/averageValue")) {
        let found = readings().and_then(|it| scene.of_average(it, name == "cpu", goal));
        proposal = found.map_err(|error| ["failed to get ", name, " usage: ", &error].concat())?;
        words = [name, " resource"].concat();
        current = fields([("averageValue", quantity(proposal.value).into())]);
        (value, target) = (quantity(proposal.value), quantity(goal));
    } else if let Some(goal) = at(spec, "/target/averageUtilization").as_i64().and_then(|it| i32::try_from(it).ok()) {
        let found = readings().and_then(|it| scene.of_utilization(it, (name, container), goal));
        proposal = found.map_err(|error| ["failed to get ", name, " utilization: ", &error].concat())?;
        let kind = if container.is_empty() { "" } else { " container" };
        words = [name, kind, " resource utilization (percentage of request)"].concat();
        let percent = proposal.utilization.unwrap_or(0);
        let average = quantity(proposal.value);
        current = fields([("averageUtilization", percent.into()), ("averageValue", average.into())]);
        (value, target) = ([&percent.to_string(), "%"].concat(), [&goal.to_string(), "%"].concat());
    } else {
        return Err("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set".into());
    }
    let mut status = kept(spec, ["name", "container"]);
    status.insert("current".into(), current);
    let kind = if container.is_empty() { "Resource" } else { "ContainerResource" };
    Ok(Computed { proposal, name: words, status: of_kind(kind, field, status), value, target })
}

fn of_kind(kind: &str, field: &str, status: serde_json::Map<String, Value>) -> Metric {
    Metric { kind: kind.into(), extra: [(field.to_owned(), Value::Object(status))].into_iter().collect() }
}

/// How a metric that is no resource stands.
fn computed(
    (kind, field): (&str, &str),
    mut status: serde_json::Map<String, Value>,
    (current, target): (&str, i64),
    proposal: Proposal,
    name: String,
) -> Computed {
    let value = quantity(proposal.value);
    status.insert("current".into(), fields([(current, value.as_str().into())]));
    Computed { proposal, name, status: of_kind(kind, field, status), value, target: quantity(target) }
}

fn pods(spec: &Value, scene: &Scene<'_>, source: &dyn Source) -> Result<Computed, String> {
    let name = text(spec, "/metric/name");
    let target = milli(at(spec, "/target/averageValue")).unwrap_or(0);
    let readings = source.pods(name).map_err(|error| ["unable to get metric ", name, ": ", &error].concat())?;
    let proposal = scene.of_average(readings, false, target)?;
    let words = ["pods metric ", name].concat();
    Ok(computed(("Pods", "pods"), kept(spec, ["metric"]), ("averageValue", target), proposal, words))
}

fn object(spec: &Value, scene: &Scene<'_>, source: &dyn Source) -> Result<Computed, String> {
    let name = text(spec, "/metric/name");
    let kind = text(spec, "/describedObject/kind");
    let value = source.object(name).map_err(|error| ["unable to get metric ", name, ": ", &error].concat());
    let status = kept(spec, ["describedObject", "metric"]);
    if let Some(target) = milli(at(spec, "/target/value")) {
        let proposal = scene.of_value(value?, target)?;
        let words = [kind, " metric ", name].concat();
        return Ok(computed(("Object", "object"), status, ("value", target), proposal, words));
    }
    if let Some(target) = milli(at(spec, "/target/averageValue")) {
        let value = value.map_err(|error| ["failed to get ", name, " object metric: ", &error].concat())?;
        let words = outside(spec);
        let proposal = scene.of_share(value, target);
        return Ok(computed(("Object", "object"), status, ("averageValue", target), proposal, words));
    }
    Err("invalid object metric source: neither a value target nor an average value target was set".into())
}

fn external(spec: &Value, scene: &Scene<'_>, source: &dyn Source) -> Result<Computed, String> {
    let name = text(spec, "/metric/name");
    let sum = |values: Vec<i64>| values.into_iter().fold(0_i64, i64::saturating_add);
    let value = source.external(name).map(sum);
    let status = kept(spec, ["metric"]);
    if let Some(target) = milli(at(spec, "/target/averageValue")) {
        let value = value.map_err(|error| ["failed to get ", name, " external metric: ", &error].concat())?;
        let proposal = scene.of_share(value, target);
        return Ok(computed(("External", "external"), status, ("averageValue", target), proposal, outside(spec)));
    }
    if let Some(target) = milli(at(spec, "/target/value")) {
        let found = value.and_then(|value| scene.of_value(value, target));
        let proposal = found.map_err(|error| ["failed to get external metric ", name, ": ", &error].concat())?;
        return Ok(computed(("External", "external"), status, ("value", target), proposal, outside(spec)));
    }
    Err("invalid external metric source: neither a value target nor an average value target was set".into())
}

/// `external metric qps(nil)`, as Go prints the selector.
fn outside(spec: &Value) -> String {
    let selector = if at(spec, "/metric/selector").is_null() {
        "nil"
    } else {
        "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}"
    };
    ["external metric ", text(spec, "/metric/name"), "(", selector, ")"].concat()
}
