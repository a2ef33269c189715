//! Jobs that say more: numbered pods, which failures count, which successes are enough.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{Condition, Job, Kind, Pod};
use loopscope_engine::environment::Behavior;
use loopscope_engine::world::{Command, Simulation, Subject};
use play::{apply, behaviors, job_manifest, messages, object, pods, run_for, scenario, until, world};

const INDEX: &str = "batch.kubernetes.io/job-completion-index";

fn job(simulation: &Simulation) -> Rc<Job> {
    object(simulation, Kind::Job, "work").and_then(|it| it.as_job().cloned()).expect("the Job is there")
}

fn start(image: &str, more: &str) -> Simulation {
    let mut simulation = world(scenario());
    apply(&mut simulation, &job_manifest("work", image, more));
    run_for(&mut simulation, 1_000);
    simulation
}

fn reasons(conditions: &[Condition]) -> Vec<(&str, &str)> {
    conditions.iter().map(|it| (it.kind.as_str(), it.reason.as_str())).collect()
}

fn index(pod: &Pod) -> &str {
    pod.metadata.annotations.get(INDEX).map_or("", String::as_str)
}

fn text(job: &Job, field: &str) -> String {
    job.status.extra.get(field).and_then(|it| it.as_str()).unwrap_or("none").to_string()
}

fn is_over(simulation: &Simulation) -> bool {
    job(simulation).status.conditions.iter().any(|it| matches!(it.kind.as_str(), "Complete" | "Failed"))
}

/// Lets one running pod do as an image does.
fn behave(simulation: &mut Simulation, pod: &Pod, behavior: Behavior) {
    let subject = Subject::Pod { namespace: "default".into(), name: pod.metadata.name.to_string() };
    assert!(simulation.dispatch(Command::SetBehavior { subject, behavior }).is_ok());
}

/// Recording `kubectl/jobs.json`, Job `indexed`.
#[test]
fn pods_of_an_indexed_job_have_their_number() {
    let mut simulation = start("app:done", "completions: 2\n  parallelism: 2\n  completionMode: Indexed");
    let pod = pods(&simulation).into_iter().find(|pod| index(pod) == "0").expect("number 0");
    assert!(pod.metadata.name.starts_with("work-0-"), "{}", pod.metadata.name);
    assert_eq!(pod.metadata.labels[INDEX], "0");
    assert_eq!(pod.spec.extra["hostname"], "work-0");
    let variable = serde_json::json!([{ "name": "JOB_COMPLETION_INDEX", "valueFrom": { "fieldRef": {
        "apiVersion": "v1", "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']" } } }]);
    assert_eq!(pod.spec.containers[0].extra["env"], variable);
    until(&mut simulation, 20_000, is_over);
    let done = job(&simulation);
    assert_eq!((done.status.succeeded, text(&done, "completedIndexes").as_str()), (2, "0,1"));
    let expected = [("SuccessCriteriaMet", "CompletionsReached"), ("Complete", "CompletionsReached")];
    assert_eq!(reasons(&done.status.conditions), expected);
}

#[test]
fn only_the_number_that_failed_is_tried_again() {
    let mut simulation = start("app:long", "completions: 4\n  parallelism: 3\n  completionMode: Indexed");
    run_for(&mut simulation, 2_000);
    let mut numbers: Vec<String> = pods(&simulation).iter().map(|pod| index(pod).to_string()).collect();
    numbers.sort();
    assert_eq!(numbers, ["0", "1", "2"]);
    let known = behaviors().0;
    for pod in pods(&simulation) {
        let image = if index(&pod) == "1" { "app:crash" } else { "app:done" };
        behave(&mut simulation, &pod, known[image]);
    }
    run_for(&mut simulation, 8_000);
    let status = job(&simulation);
    assert_eq!((text(&status, "completedIndexes").as_str(), status.status.failed), ("0,2", 1));
    run_for(&mut simulation, 10_000);
    let mut active: Vec<String> =
        pods(&simulation).iter().filter(|pod| pod.is_active()).map(|pod| index(pod).to_string()).collect();
    active.sort();
    assert_eq!(active, ["1", "3"]);
}

#[test]
fn a_policy_fails_the_job_at_once_for_one_exit_code() {
    let policy = "podFailurePolicy:\n    rules:\n    - {action: FailJob, onExitCodes: {containerName: app, operator: In, values: [1]}}";
    let mut simulation =
        start("app:crash", &format!("backoffLimit: 6\n  parallelism: 2\n  completions: 2\n  {policy}"));
    until(&mut simulation, 20_000, is_over);
    let failed = job(&simulation);
    assert_eq!(
        reasons(&failed.status.conditions),
        [("FailureTarget", "PodFailurePolicy"), ("Failed", "PodFailurePolicy")]
    );
    let message = &failed.status.conditions[1].message;
    assert!(message.starts_with("Container app for pod default/work-"), "{message}");
    assert!(message.ends_with(" failed with exit code 1 matching FailJob rule at index 0"), "{message}");
    assert_eq!(messages(&simulation, "PodFailurePolicy"), [message.to_string()]);
    assert_eq!((failed.status.failed, failed.status.active, pods(&simulation).len()), (2, 0, 2));
}

/// A pod that was evicted does not count against the limit, and is replaced once it has ended.
#[test]
fn a_disruption_may_be_ignored() {
    let policy = "podFailurePolicy:\n    rules:\n    - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: \"True\"}]}";
    // It hears the signal and stays: what is killed has not succeeded.
    let deaf = Behavior { ignores_term: true, ..behaviors().0["app:long"] };
    let mut simulation = start("app:long", &format!("backoffLimit: 0\n  {policy}"));
    let pod = pods(&simulation)[0].clone();
    behave(&mut simulation, &pod, deaf);
    run_for(&mut simulation, 2_000);
    assert_eq!(job(&simulation).spec.extra["podReplacementPolicy"], "Failed");
    let old = pods(&simulation)[0].clone();
    let target = play::target(Kind::Pod, &old.metadata.name);
    assert!(simulation.dispatch(Command::Evict { target }).is_ok());
    run_for(&mut simulation, 20_000);
    assert_eq!(pods(&simulation).len(), 1, "it is not replaced while it stops");
    run_for(&mut simulation, 25_000);
    let status = job(&simulation);
    assert_eq!((status.status.failed, status.status.active), (0, 1), "{:?}", status.status);
    let new = pods(&simulation).into_iter().find(|pod| pod.is_active()).expect("another one");
    assert_ne!(new.metadata.uid, old.metadata.uid);
    // Without the policy the same is the end of the Job.
    let mut simulation = start("app:long", "backoffLimit: 0");
    run_for(&mut simulation, 2_000);
    let target = play::target(Kind::Pod, &pods(&simulation)[0].metadata.name);
    assert!(simulation.dispatch(Command::Evict { target }).is_ok());
    until(&mut simulation, 60_000, is_over);
    assert_eq!(job(&simulation).status.conditions[0].reason, "BackoffLimitExceeded");
}

#[test]
fn each_number_has_a_limit_of_its_own() {
    let more = "completions: 2\n  parallelism: 2\n  completionMode: Indexed\n  backoffLimitPerIndex: 1";
    let mut simulation = start("app:crash", more);
    assert_eq!(job(&simulation).spec.backoff_limit, Some(i32::MAX));
    let good = pods(&simulation).into_iter().find(|pod| index(pod) == "0").expect("number 0");
    behave(&mut simulation, &good, behaviors().0["app:done"]);
    run_for(&mut simulation, 8_000);
    let first = pods(&simulation).into_iter().find(|pod| index(pod) == "1").expect("number 1");
    assert_eq!(first.metadata.annotations["batch.kubernetes.io/job-index-failure-count"], "0");
    assert!(!first.metadata.finalizers.is_empty(), "it stays until its replacement knows of its failure");
    run_for(&mut simulation, 10_000);
    let second = pods(&simulation).into_iter().find(|pod| index(pod) == "1" && pod.metadata.uid != first.metadata.uid);
    let second = second.expect("it is tried again after 10 s");
    assert_eq!(second.metadata.annotations["batch.kubernetes.io/job-index-failure-count"], "1");
    until(&mut simulation, 30_000, is_over);
    let failed = job(&simulation);
    assert_eq!((text(&failed, "completedIndexes").as_str(), text(&failed, "failedIndexes").as_str()), ("0", "1"));
    assert_eq!((failed.status.succeeded, failed.status.failed), (1, 2));
    assert_eq!(reasons(&failed.status.conditions), [("FailureTarget", "FailedIndexes"), ("Failed", "FailedIndexes")]);
    assert!(pods(&simulation).iter().all(|pod| pod.metadata.finalizers.is_empty()));
}

#[test]
fn too_many_failed_numbers_end_the_job() {
    let more =
        "completions: 5\n  parallelism: 5\n  completionMode: Indexed\n  backoffLimitPerIndex: 0\n  maxFailedIndexes: 1";
    let mut simulation = start("app:long", more);
    run_for(&mut simulation, 2_000);
    for pod in pods(&simulation).into_iter().filter(|pod| matches!(index(pod), "1" | "3")) {
        behave(&mut simulation, &pod, behaviors().0["app:crash"]);
    }
    until(&mut simulation, 60_000, is_over);
    let failed = job(&simulation);
    assert_eq!(failed.status.conditions[1].reason, "MaxFailedIndexesExceeded");
    // The others were stopped, and count as failed as well: none may fail even once.
    assert_eq!((text(&failed, "failedIndexes").as_str(), failed.status.active), ("0-4", 0));
}

#[test]
fn some_successes_may_be_enough() {
    let more = "completions: 3\n  parallelism: 3\n  completionMode: Indexed\n  successPolicy: {rules: [{succeededIndexes: \"0\"}]}";
    let mut simulation = start("app:long", more);
    run_for(&mut simulation, 2_000);
    let leader = pods(&simulation).into_iter().find(|pod| index(pod) == "0").expect("number 0");
    behave(&mut simulation, &leader, behaviors().0["app:done"]);
    until(&mut simulation, 60_000, is_over);
    let done = job(&simulation);
    assert_eq!(
        reasons(&done.status.conditions),
        [("SuccessCriteriaMet", "SuccessPolicy"), ("Complete", "SuccessPolicy")]
    );
    assert_eq!(done.status.conditions[0].message, "Matched rules at index 0");
    assert_eq!((done.status.succeeded, done.status.active), (1, 0));
    assert!(pods(&simulation).iter().all(|pod| !pod.is_active()));
}

#[test]
fn what_a_job_cannot_be_is_refused() {
    let mut simulation = world(scenario());
    for (more, message) in [
        (
            "completionMode: Indexed\n  parallelism: 2",
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            "completions: 2\n  backoffLimitPerIndex: 1",
            "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
    ] {
        let manifest = job_manifest("odd", "app:done", more);
        let outcome = simulation.dispatch(Command::Apply { manifest });
        assert!(
            outcome.problems.iter().any(|it| it.upstream.as_deref().is_some_and(|text| text.contains(message))),
            "{outcome:?}"
        );
    }
    apply(&mut simulation, &job_manifest("work", "app:done", "managedBy: example.com/other"));
    run_for(&mut simulation, 5_000);
    assert!(pods(&simulation).is_empty(), "another controller's");
}
