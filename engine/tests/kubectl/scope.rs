//! Which recorded steps are about what is not simulated, each with its reason.

use super::recording::Step;

const VERBS: [(&str, &str); 12] = [
    ("replace", "kubectl replace is not among the verbs"),
    ("logs", "no program really runs"),
    ("exec", "no program really runs"),
    ("attach", "no program really runs"),
    ("cp", "no program really runs"),
    ("port-forward", "no program really runs"),
    ("cluster-info", "kubectl cluster-info is not among the verbs"),
    ("auth", "there are no users"),
    ("help", "help texts"),
    ("-h", "help texts"),
    ("config", "the recorder's context has names of its own"),
    ("", "help texts"),
];

/// Why a step is out of scope; nothing where it is in it.
pub fn outside(recording: &str, index: usize, step: &Step) -> Option<&'static str> {
    let verb = step.cmd.split_whitespace().nth(1).unwrap_or_default();
    if step.cmd.contains("--help") {
        return Some("help texts");
    }
    if let Some((_, reason)) = VERBS.iter().find(|(known, _)| *known == verb) {
        return Some(reason);
    }
    if step.cmd.contains("--raw") {
        return Some("requests by their address");
    }
    if step.cmd.contains("--prune") {
        return Some("kubectl apply --prune");
    }
    if ["get ep", "get endpoints"].iter().any(|it| step.cmd.ends_with(it)) {
        return Some("Endpoints, which were not recorded");
    }
    if step.cmd.ends_with("get cm") {
        return Some("ConfigMaps that were not recorded");
    }
    if step.cmd.ends_with("rollout history sts/db") {
        return Some("ControllerRevisions that were not recorded");
    }
    if step.cmd == "kubectl top" {
        return Some("help texts");
    }
    if recording == "namespaces" && [6, 7, 8, 9, 15, 16, 18, 20, 25, 26, 34].contains(&index) {
        return Some("what controllers did in a namespace that was not recorded");
    }
    if recording == "get_fresh" && step.cmd.contains("--show-managed-fields") {
        return Some("field managers that were not recorded");
    }
    if recording == "control_plane_down" && index >= 26 && index != 30 {
        return Some("an API server that does not answer");
    }
    if step.stderr.contains("map[string]interface {}{") {
        return Some("a dump of Go structures with the field managers of pods");
    }
    if recording == "top_and_hpa_metrics" && index == 29 {
        return Some("metrics that were not recorded");
    }
    None
}
