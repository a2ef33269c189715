//! A HorizontalPodAutoscaler.

use serde_json::Value;

use super::super::value::{at, has, int, list, plain, text};
use super::{About, Writer};

fn or_unknown(value: &Value) -> String {
    if value.is_null() { "<unknown>".into() } else { plain(value) }
}

fn metric(w: &mut Writer, spec: &Value, current: Option<&Value>) {
    let none = Value::Null;
    let (field, name, on) = match text(spec, "type") {
        "Resource" => ("resource", text(spec, "resource.name"), " on pods"),
        "ContainerResource" => ("containerResource", text(spec, "containerResource.name"), ""),
        other => {
            let target = at(at(spec, &other.to_ascii_lowercase()), "target");
            let metric = text(at(spec, &other.to_ascii_lowercase()), "metric.name");
            let (kind, goal) = match has(target, "averageValue") {
                true => ("averageValue", plain(at(target, "averageValue"))),
                false => ("value", plain(at(target, "value"))),
            };
            let now = current.map_or(&none, |it| at(at(it, &other.to_ascii_lowercase()), "current"));
            return w.line(1, &["\"", metric, "\" ", &or_unknown(at(now, kind)), " / ", &goal]);
        }
    };
    let target = at(at(spec, field), "target");
    let now = current.map_or(&none, |it| at(at(it, field), "current"));
    if has(target, "averageUtilization") {
        let goal = int(target, "averageUtilization").to_string();
        let shown = match at(now, "averageUtilization") {
            Value::Null => "<unknown>".into(),
            percent => [&percent.to_string(), "% (", &plain(at(now, "averageValue")), ")"].concat(),
        };
        w.line(1, &["resource ", name, on, "  (as a percentage of request):\t", &shown, " / ", &goal, "%"]);
    } else {
        let goal = plain(at(target, "averageValue"));
        w.line(1, &["resource ", name, on, ":\t", &or_unknown(at(now, "averageValue")), " / ", &goal]);
    }
}

fn rules(w: &mut Writer, rules: &Value, title: &str) {
    if rules.is_null() {
        return;
    }
    w.line(1, &[title, ":"]);
    if has(rules, "stabilizationWindowSeconds") {
        let seconds = int(rules, "stabilizationWindowSeconds").to_string();
        w.line(2, &["Stabilization Window: ", &seconds, " seconds"]);
    }
    let policies = list(rules, "policies");
    if policies.is_empty() {
        return;
    }
    let select = match text(rules, "selectPolicy") {
        "" => "Max",
        select => select,
    };
    w.line(2, &["Select Policy: ", select]);
    w.line(2, &["Policies:"]);
    for it in policies {
        let (value, period) = (int(it, "value").to_string(), int(it, "periodSeconds").to_string());
        w.line(3, &["- Type: ", text(it, "type"), "\tValue: ", &value, "\tPeriod: ", &period, " seconds"]);
    }
}

pub fn describe(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    let (spec, status) = (at(value, "spec"), at(value, "status"));
    about.head(w);
    w.field("CreationTimestamp", &about.date("metadata.creationTimestamp"));
    let kind = text(spec, "scaleTargetRef.kind");
    w.field("Reference", &[kind, "/", text(spec, "scaleTargetRef.name")].concat());
    let metrics = list(spec, "metrics");
    if !metrics.is_empty() {
        w.line(0, &["Metrics:\t( current / target )"]);
    }
    let current = list(status, "currentMetrics");
    for (index, it) in metrics.iter().enumerate() {
        metric(w, it, current.get(index));
    }
    let min = if has(spec, "minReplicas") { int(spec, "minReplicas").to_string() } else { "<unset>".into() };
    w.field("Min replicas", &min);
    w.field("Max replicas", &int(spec, "maxReplicas").to_string());
    if has(spec, "behavior") {
        w.line(0, &["Behavior:"]);
        rules(w, at(spec, "behavior.scaleUp"), "Scale Up");
        rules(w, at(spec, "behavior.scaleDown"), "Scale Down");
    }
    let (now, wanted) = (int(status, "currentReplicas").to_string(), int(status, "desiredReplicas").to_string());
    w.line(0, &[kind, " pods:\t", &now, " current / ", &wanted, " desired"]);
    let conditions = list(status, "conditions");
    if !conditions.is_empty() {
        w.line(0, &["Conditions:"]);
        w.line(1, &["Type\tStatus\tReason\tMessage"]);
        w.line(1, &["----\t------\t------\t-------"]);
    }
    for it in conditions {
        w.line(1, &[text(it, "type"), "\t", text(it, "status"), "\t", text(it, "reason"), "\t", text(it, "message")]);
    }
    about.tail(w);
}
