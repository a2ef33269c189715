//! Which failures of pods count, and which successes are enough, where a Job says so itself.
//!
//! Mirrors `pkg/controller/job/{pod_failure_policy,success_policy}.go`, v1.36.

use serde_json::Value;

use super::index;
use crate::api::{ContainerState, ContainerStatus, Pod};
use crate::sim::Set;

/// What a pod's failure comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Count,
    Ignore,
    /// Pods of this number are not tried again.
    FailIndex,
    /// The whole Job has failed, and why.
    FailJob(String),
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn rules(policy: Option<&Value>) -> impl Iterator<Item = (usize, &Value)> {
    policy.and_then(|it| it.get("rules")?.as_array()).into_iter().flatten().enumerate()
}

/// The first container that ended with a code that a rule names, and the code.
fn exit_code<'a>(pod: &'a Pod, rule: &Value) -> Option<(&'a ContainerStatus, i32)> {
    let wanted = text(rule, "containerName");
    let values: Vec<i64> = rule.get("values")?.as_array()?.iter().filter_map(Value::as_i64).collect();
    let is_in = text(rule, "operator") == "In";
    let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let mut ended = statuses.filter_map(|status| match &status.state {
        ContainerState::Terminated(it) => Some((status, it.exit_code)),
        _ => None,
    });
    ended.find(|(status, code)| {
        let is_meant = wanted.is_empty() || *status.name == *wanted;
        is_meant && *code != 0 && values.contains(&i64::from(*code)) == is_in
    })
}

/// The first condition of a pod that a rule names.
fn named_condition<'a>(pod: &'a Pod, patterns: &Value) -> Option<&'a str> {
    let patterns = patterns.as_array()?;
    let is_named = |kind: &str, status: &str| {
        let wanted =
            |it: &Value| if text(it, "status").is_empty() { "True".into() } else { text(it, "status").to_string() };
        patterns.iter().any(|it| text(it, "type") == kind && wanted(it) == status)
    };
    pod.status.conditions.iter().find(|it| is_named(&it.kind, &it.status)).map(|it| it.kind.as_str())
}

/// Judges a failed pod by the first rule that fits (`matchPodFailurePolicy`).
pub fn judge(policy: Option<&Value>, pod: &Pod) -> Verdict {
    let full = || format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
    for (number, rule) in rules(policy) {
        let action = text(rule, "action");
        let why = match (rule.get("onExitCodes"), rule.get("onPodConditions")) {
            (Some(codes), _) => exit_code(pod, codes).map(|(status, code)| {
                format!("Container {} for pod {} failed with exit code {code}", status.name, full())
            }),
            (None, Some(conditions)) => {
                named_condition(pod, conditions).map(|kind| format!("Pod {} has condition {kind}", full()))
            }
            (None, None) => None,
        };
        let Some(why) = why else { continue };
        match action {
            "Ignore" => return Verdict::Ignore,
            "FailIndex" => return Verdict::FailIndex,
            "FailJob" => return Verdict::FailJob(format!("{why} matching {action} rule at index {number}")),
            _ => return Verdict::Count,
        }
    }
    Verdict::Count
}

/// The message of the first rule of a success policy that is met (`matchSuccessPolicy`).
pub fn succeeds(policy: Option<&Value>, completed: &Set<i32>, completions: i32) -> Option<String> {
    let is_met = |rule: &Value| {
        let count = rule.get("succeededCount").and_then(Value::as_u64);
        let is_enough = |n: usize| count.is_some_and(|count| n as u64 >= count);
        match rule.get("succeededIndexes").and_then(Value::as_str) {
            Some(wanted) => {
                let wanted = index::read(wanted, completions);
                let have = wanted.keys().filter(|index| completed.contains(*index)).count();
                !wanted.is_empty() && (have == wanted.len() || is_enough(have))
            }
            None => is_enough(completed.len()),
        }
    };
    let met = rules(policy).filter(|_| !completed.is_empty()).find(|(_, rule)| is_met(rule));
    met.map(|(number, _)| format!("Matched rules at index {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Condition, ContainerTerminated};
    use serde_json::json;

    fn pod(code: i32) -> Pod {
        let mut pod = Pod::default();
        (pod.metadata.namespace, pod.metadata.name) = ("default".into(), "p".into());
        let state =
            ContainerState::Terminated(ContainerTerminated { exit_code: code, ..ContainerTerminated::default() });
        pod.status.container_statuses =
            vec![ContainerStatus { name: "app".into(), state, ..ContainerStatus::default() }];
        pod
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let policy = json!({"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "FailJob", "onExitCodes": {"containerName": "app", "operator": "In", "values": [42, 43]}},
            {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [7]}},
            {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [1]}},
            {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}},
        ]});
        let judge = |pod: &Pod| judge(Some(&policy), pod);
        let message = "Container app for pod default/p failed with exit code 42 matching FailJob rule at index 1";
        assert_eq!(judge(&pod(42)), Verdict::FailJob(message.into()));
        assert_eq!(judge(&pod(7)), Verdict::FailIndex);
        assert_eq!(judge(&pod(9)), Verdict::Count);
        assert_eq!(judge(&pod(1)), Verdict::Ignore);
        let mut evicted = pod(42);
        evicted.status.conditions.push(Condition::new("DisruptionTarget", true));
        assert_eq!(judge(&evicted), Verdict::Ignore);
        assert_eq!(super::judge(None, &pod(1)), Verdict::Count);
    }

    #[test]
    fn a_job_may_be_content_with_some_successes() {
        let met = |rule: Value, completed: &str| {
            succeeds(Some(&json!({"rules": [rule]})), &index::read(completed, 10), 10).is_some()
        };
        assert!(met(json!({"succeededIndexes": "0,2-3"}), "0-3"));
        assert!(!met(json!({"succeededIndexes": "0,2-3"}), "0-2"));
        assert!(met(json!({"succeededIndexes": "0-5", "succeededCount": 2}), "4,5"));
        assert!(!met(json!({"succeededIndexes": "0-5", "succeededCount": 2}), "5-9"));
        assert!(met(json!({"succeededCount": 3}), "1,5,9"));
        let second = json!({"rules": [{"succeededIndexes": "9"}, {"succeededCount": 1}]});
        assert_eq!(succeeds(Some(&second), &index::read("0", 10), 10).as_deref(), Some("Matched rules at index 1"));
        assert_eq!(succeeds(Some(&second), &Set::default(), 10), None);
    }
}
