//! What is not asked to hold, and why. Everything else is. `docs/fidelity.md` says the same.

use super::report::Mode;

/// What each apply answered and left is held in `ownership.rs`.
const OVERLAP: &str = "rollouts overlap within milliseconds of the applies that set them off";

/// A recording by its name up to the first `_`, the mode, and the reason; `*` stands for a number, or nothing.
const EXCEPTED: &[(&str, Mode, &str)] =
    &[("h23", Mode::Driven, OVERLAP), ("j5", Mode::Driven, RACE), ("h23", Mode::Free, OVERLAP)];

const RACE: &str =
    "one node was tainted before the controller saw that all were down, a race of 60 ms that the recording lists";

const SHARED: &str = "the first write of its Deployment waited for 0.25 s, since another recording had used up what the controllers' \
                      clients may send: it says that they shared it";

/// A recording by the beginning of its name, a part of the line that tells a difference, and the reason why that
/// difference is right.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("j5_", "conditions Pod web#0/* PodScheduled", RACE),
    ("j5_", "FailedScheduling", RACE),
    ("j5_", "TaintManagerEviction", RACE),
    ("j5_", "milestone taint_added Node node-2 \"node.kubernetes.io/unreachable:NoExecute\"", RACE),
    ("j5_", "milestone available_false", RACE),
    ("j5_", "milestone first_", RACE),
    ("o1_", "after action 1 (", SHARED),
];

/// Whether an entry of the list is of a recording, and no difference needed it: then it has no place there.
pub fn idle(name: &str, differences: &[String]) -> Option<String> {
    let is_needed = |part: &str| differences.iter().any(|it| it.contains(part));
    let all = ALLOWED.iter().filter(|(start, ..)| name.starts_with(start));
    all.map(|(_, part, _)| *part).find(|part| !is_needed(part)).map(|part| format!("no difference \"{part}\" any more"))
}

/// Why a recording need not hold in a mode.
pub fn reason(name: &str, mode: Mode) -> Option<&'static str> {
    let head = name.split('_').next().unwrap_or_default();
    let is_it = |pattern: &str| match pattern.strip_suffix('*') {
        Some(letter) => head.trim_end_matches(|c: char| c.is_ascii_digit()) == letter,
        None => pattern.is_empty() || head == pattern,
    };
    EXCEPTED.iter().find(|(pattern, which, _)| *which == mode && is_it(pattern)).map(|(.., reason)| *reason)
}

/// Why a single difference of a recording is right.
pub fn allowed(name: &str, difference: &str) -> Option<&'static str> {
    let is_it = |(start, part, _): &&(&str, &str, &str)| name.starts_with(start) && difference.contains(part);
    ALLOWED.iter().find(is_it).map(|(.., reason)| *reason)
}
