//! The template of pods.

use serde_json::Value;

use super::super::value::{at, list, map, text};
use super::{Writer, containers};

/// A template, as `rollout history` shows it: cells with tabs between them.
pub fn template(template: &Value) -> String {
    let mut w = Writer::default();
    write(&mut w, template);
    w.0
}

pub fn write(w: &mut Writer, template: &Value) {
    let spec = at(template, "spec");
    w.line(0, &["Pod Template:"]);
    w.labels("", "  Labels", map(template, "metadata.labels"));
    let annotations = map(template, "metadata.annotations");
    if annotations.is_some_and(|it| !it.is_empty()) {
        w.annotations("  Annotations", annotations);
    }
    if !text(spec, "serviceAccountName").is_empty() {
        w.line(1, &["Service Account:\t", text(spec, "serviceAccountName")]);
    }
    if !list(spec, "initContainers").is_empty() {
        containers::describe(w, "Init Containers", list(spec, "initContainers"), None, None, "  ");
    }
    containers::describe(w, "Containers", list(spec, "containers"), None, None, "  ");
    containers::volumes(w, list(spec, "volumes"), "  ");
    w.spread("  ", list(spec, "topologySpreadConstraints"));
    if !text(spec, "priorityClassName").is_empty() {
        w.line(1, &["Priority Class Name:\t", text(spec, "priorityClassName")]);
    }
    w.labels("  ", "Node-Selectors", map(spec, "nodeSelector"));
    w.tolerations("  ", list(spec, "tolerations"));
}
