//! What is not asked to hold, and why. Everything else is. `docs/fidelity.md` says the same.

use super::report::Mode;

const HPA: &str = "the HPA's loop does not exist yet";
const OWNERSHIP: &str = "server-side apply does not exist yet";

/// A recording by the beginning of its name, the mode, and the reason.
const EXCEPTED: &[(&str, Mode, &str)] = &[
    ("o", Mode::Driven, HPA),
    ("h14_", Mode::Driven, HPA),
    ("p_", Mode::Driven, OWNERSHIP),
    ("h23_", Mode::Driven, OWNERSHIP),
    ("n_", Mode::Driven, OWNERSHIP),
    ("j5_", Mode::Driven, RACE),
    ("o", Mode::Free, HPA),
    ("h14_", Mode::Free, HPA),
    ("p_", Mode::Free, OWNERSHIP),
    ("h23_", Mode::Free, OWNERSHIP),
    ("n_", Mode::Free, OWNERSHIP),
];

const ONE_WRITE: &str =
    "a pod that is deleted without grace goes in one write here, in Kubernetes it is marked in a write before";
const SILENT: &str =
    "the recorder's kubelet does not say again how a pod is once its node is back, which ours and the real one do";
const RACE: &str =
    "one node was tainted before the controller saw that all were down, a race of 60 ms that the recording lists";
const BARE: &str =
    "the recorder creates a node bare and posts its status in a second write; a kubelet creates it whole";
const PROMPT: &str =
    "a pod of which nothing ever ran goes at once; the recorder's kubelet waits as long as for one that ran";
const BEFORE: &str = "the recorder takes the milestone before for the cause, which it is not";
const SLOW: &str =
    "the recorded kubelet (kubemark) may send five requests a second, and what it says comes seconds late";
const DRAWN: &str =
    "when a kubelet looks again at a container that waits is drawn at random, and some Events were dropped";
const OTHERS: &str = "a controller that is not simulated, over addresses of Services that the recordings share";
const COUNT: &str = "how many syncs meet the pods of a node that is gone depends on milliseconds";
const WORDS: &str = "the recorder's kubelet gives a reason of its own; ours says that the network plugin does not work";
const PROBED: &str = "lastProbeTime, which says the same as lastTransitionTime, is left out";

/// A recording by the beginning of its name, a part of the line that tells a difference, and the reason why that
/// difference is right.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("b_", "milestone delete_marked", ONE_WRITE),
    ("h08_", "conditions Pod web#0/* Ready", SILENT),
    ("h08_", "end Pod web#0/*: conditions[0]", SILENT),
    ("h08_", "milestone object_gone Pod web#0/*", BEFORE),
    ("j1_", "conditions Pod web#0/* Ready", SILENT),
    ("j3_", "conditions Pod web#0/* Ready", SILENT),
    ("j3_", "end Pod web#0/*: conditions[0]", SILENT),
    ("j5_", "conditions Pod web#0/* Ready", SILENT),
    ("j5_", "end Pod web#0/*: conditions[0]", SILENT),
    ("j5_", "conditions Pod web#0/* PodScheduled", RACE),
    ("j5_", "FailedScheduling", RACE),
    ("j5_", "TaintManagerEviction", RACE),
    ("j5_", "milestone taint_added Node node-2 \"node.kubernetes.io/unreachable:NoExecute\"", RACE),
    ("j5_", "milestone available_false", RACE),
    ("j5_", "milestone first_", RACE),
    ("j2_", "FailedToUpdateEndpointSlices", COUNT),
    ("j6_", "conditions Node node-1 Ready", WORDS),
    ("l_", "conditions Node big-1 Ready", BARE),
    ("m_", "ClusterIPNotAllocated", OTHERS),
    ("m_", "conditions Pod web#0/* Ready", PROMPT),
    ("q_", "milestone object_gone Pod stray", PROMPT),
    ("v3_", "milestone pod_ready", SLOW),
    ("v3_", "milestone endpoints_ready", SLOW),
    ("v4_", "end Pod lv", DRAWN),
    ("v4_", "event kubelet Warning BackOff", DRAWN),
    ("v6_", "milestone", SLOW),
    ("v7_", "lastProbeTime", PROBED),
    ("v7_", "milestone pod_unready Pod", SLOW),
    ("v7_", "milestone container_terminated Pod", SLOW),
    ("v7_", "milestone pod_failed Pod", SLOW),
    ("v7_", "milestone pod_succeeded Pod", SLOW),
    ("v7_", "milestone job_failed Job bad 1", SLOW),
    ("x7_", "conditions Node extra-1 Ready", BARE),
    ("x7_", "1 Too many pods", BARE),
    ("x8_", "conditions Node node-", BARE),
];

/// Whether an entry of the list is of a recording, and no difference needed it: then it has no place there.
pub fn idle(name: &str, differences: &[String]) -> Option<String> {
    let is_needed = |part: &str| differences.iter().any(|it| it.contains(part));
    let all = ALLOWED.iter().filter(|(start, ..)| name.starts_with(start));
    all.map(|(_, part, _)| *part).find(|part| !is_needed(part)).map(|part| format!("no difference \"{part}\" any more"))
}

/// Why a recording need not hold in a mode.
pub fn reason(name: &str, mode: Mode) -> Option<&'static str> {
    EXCEPTED.iter().find(|(start, which, _)| name.starts_with(start) && *which == mode).map(|(.., reason)| *reason)
}

/// Why a single difference of a recording is right.
pub fn allowed(name: &str, difference: &str) -> Option<&'static str> {
    let is_it = |(start, part, _): &&(&str, &str, &str)| name.starts_with(start) && difference.contains(part);
    ALLOWED.iter().find(is_it).map(|(.., reason)| *reason)
}
