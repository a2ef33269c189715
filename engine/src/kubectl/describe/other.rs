//! Budgets, quotas, namespaces and configuration.

use serde_json::Value;

use super::super::value::{at, has, int, list, map, plain, selector, text};
use super::super::{resources, time};
use super::{About, Writer};
use crate::api::{Kind, Name};

pub fn budget(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    for (field, name) in [("spec.minAvailable", "Min available"), ("spec.maxUnavailable", "Max unavailable")] {
        if has(value, field) {
            w.field(name, &plain(at(value, field)));
        }
    }
    w.field(
        "Selector",
        &if has(value, "spec.selector") { selector(at(value, "spec.selector")) } else { "<unset>".into() },
    );
    w.line(0, &["Status:"]);
    for (field, name) in [
        ("disruptionsAllowed", "Allowed disruptions"),
        ("currentHealthy", "Current"),
        ("desiredHealthy", "Desired"),
        ("expectedPods", "Total"),
    ] {
        w.line(2, &[name, ":\t", &int(at(value, "status"), field).to_string()]);
    }
    about.tail(w);
}

fn amounts(w: &mut Writer, value: &Value, depth: usize) {
    let used = map(value, "status.used");
    for (name, hard) in map(value, "status.hard").into_iter().flatten() {
        let used = used.and_then(|it| it.get(name)).map_or("0".into(), plain);
        w.line(depth, &[name, "\t", &used, "\t", &plain(hard)]);
    }
}

pub fn quota(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    w.field("Name", text(value, "metadata.name"));
    w.field("Namespace", text(value, "metadata.namespace"));
    w.line(0, &["Resource\tUsed\tHard"]);
    w.line(0, &["--------\t----\t----"]);
    amounts(w, value, 0);
}

pub fn namespace(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    w.field("Name", text(value, "metadata.name"));
    about.marks(w);
    w.field("Status", text(value, "status.phase"));
    let conditions = list(value, "status.conditions");
    if !conditions.is_empty() {
        w.line(0, &["Conditions:"]);
        w.line(1, &["Type\tStatus\tLastTransitionTime\tReason\tMessage"]);
        w.line(1, &["----\t------\t------------------\t------\t-------"]);
    }
    for it in conditions {
        let at = time::date(text(it, "lastTransitionTime"));
        w.line(
            1,
            &[
                text(it, "type"),
                "\t",
                text(it, "status"),
                "\t",
                &at,
                "\t",
                text(it, "reason"),
                "\t",
                text(it, "message"),
            ],
        );
    }
    let name: Name = about.object.meta().name.clone();
    let quotas = resources::list(about.cluster, Kind::ResourceQuota, Some(&name));
    w.line(0, &[""]);
    if quotas.is_empty() {
        w.line(0, &["No resource quota."]);
    } else {
        w.line(0, &["Resource Quotas"]);
        for quota in &quotas {
            let value = quota.to_value();
            w.line(1, &["Name:\t", text(&value, "metadata.name")]);
            w.line(1, &["Resource\tUsed\tHard"]);
            w.line(1, &["--------\t---\t---"]);
            amounts(w, &value, 1);
        }
    }
    w.line(0, &[""]);
    w.line(0, &["No LimitRange resource."]);
}

pub fn config_map(about: &About<'_>, w: &mut Writer) {
    let value = about.value;
    about.head(w);
    w.line(0, &["\nData\n===="]);
    for (name, text) in map(value, "data").into_iter().flatten() {
        w.line(0, &[name, ":\n----\n", text.as_str().unwrap_or_default(), "\n"]);
    }
    w.line(0, &["\nBinaryData\n====\n"]);
    about.tail(w);
}
