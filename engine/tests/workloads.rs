//! StatefulSet, DaemonSet and Job, held against the courses of the recordings that each test names.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{Condition, Job, Kind, StatefulSet, condition};
use loopscope_engine::sim::Time;
use loopscope_engine::world::{Command, Simulation};
use play::*;

fn stateful_set(simulation: &Simulation) -> Rc<StatefulSet> {
    object(simulation, Kind::StatefulSet, "db").and_then(|it| it.as_stateful_set().cloned()).expect("there")
}

/// replicas, ready, current, updated
fn counts(set: &StatefulSet) -> (i32, i32, i32, i32) {
    let status = &set.status;
    (status.replicas, status.ready_replicas, status.current_replicas, status.updated_replicas)
}

fn database() -> Simulation {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("StatefulSet", "db", "app:v1", "serviceName: db\n  replicas: 3"));
    until(&mut simulation, 20_000, |it| counts(&stateful_set(it)) == (3, 3, 3, 3));
    simulation
}

/// Recording `x6_statefulset`: one pod after the other, each once the one before is ready.
#[test]
fn a_stateful_set_comes_up_in_order() {
    let simulation = database();
    assert_eq!(course(&simulation, Time(0)), ["+db-0", "+db-1", "+db-2"]);
    let all = pods(&simulation);
    for earlier_and_later in all.windows(2) {
        let ready = condition(&earlier_and_later[0].status.conditions, "Ready").and_then(|it| it.last_transition_time);
        assert!(earlier_and_later[1].metadata.creation_timestamp >= ready, "{:?}", names(earlier_and_later));
    }
    let set = stateful_set(&simulation);
    assert_eq!(set.status.current_revision, set.status.update_revision);
    assert!(set.status.current_revision.starts_with("db-"));
    let labels = &all[1].metadata.labels;
    assert_eq!(labels["statefulset.kubernetes.io/pod-name"], "db-1");
    assert_eq!(labels["apps.kubernetes.io/pod-index"], "1");
    assert_eq!(labels["controller-revision-hash"], set.status.current_revision);
    assert_eq!(messages(&simulation, "SuccessfulCreate")[0], "Create Pod db-0 in StatefulSet db successful");
    assert!(object(&simulation, Kind::ControllerRevision, &set.status.current_revision).is_some());
}

/// There: the deleted pod counts until it is gone, and comes again under its name only then.
#[test]
fn a_pod_of_a_stateful_set_comes_back_once_the_old_one_is_gone() {
    let mut simulation = database();
    let first = pod(&simulation, "db-1").expect("there").metadata.uid;
    let since = simulation.now();
    delete(&mut simulation, Kind::Pod, "db-1");
    run_for(&mut simulation, 100);
    let (replicas, _, current, updated) = counts(&stateful_set(&simulation));
    assert_eq!((replicas, current, updated), (3, 2, 2));
    assert_eq!(course(&simulation, since), ["-db-1"], "nothing is made yet");
    until(&mut simulation, 10_000, |it| counts(&stateful_set(it)) == (3, 3, 3, 3));
    assert_ne!(pod(&simulation, "db-1").expect("again").metadata.uid, first);
    assert_eq!(course(&simulation, since)[..2], ["-db-1", "+db-1"]);
}

#[test]
fn a_stateful_set_grows_and_shrinks_at_its_end() {
    let mut simulation = database();
    let since = simulation.now();
    scale(&mut simulation, Kind::StatefulSet, "db", 5);
    until(&mut simulation, 10_000, |it| counts(&stateful_set(it)) == (5, 5, 5, 5));
    assert_eq!(course(&simulation, since), ["+db-3", "+db-4"]);
    let since = simulation.now();
    scale(&mut simulation, Kind::StatefulSet, "db", 2);
    run_for(&mut simulation, 200);
    assert_eq!(course(&simulation, since), ["-db-4"], "db-3 waits until db-4 is gone");
    until(&mut simulation, 20_000, |it| counts(&stateful_set(it)) == (2, 2, 2, 2));
    let gone: Vec<String> = course(&simulation, since).into_iter().filter(|it| it.starts_with('-')).collect();
    assert_eq!(gone, ["-db-4", "-db-3", "-db-2"]);
}

/// There: from the highest number down; `updatedReplicas` counts up, `currentReplicas` down.
#[test]
fn an_update_of_a_stateful_set_goes_from_the_highest_number_down() {
    let mut simulation = database();
    let (since, before) = (simulation.now(), stateful_set(&simulation).status.current_revision.clone());
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v2");
    run_for(&mut simulation, 100);
    let (replicas, _, current, updated) = counts(&stateful_set(&simulation));
    assert_eq!((replicas, current, updated), (3, 2, 0));
    until(&mut simulation, 30_000, |it| stateful_set(it).status.current_revision != before);
    let order: Vec<String> = course(&simulation, since);
    assert_eq!(order, ["-db-2", "+db-2", "-db-1", "+db-1", "-db-0", "+db-0"]);
    assert_eq!(counts(&stateful_set(&simulation)), (3, 3, 3, 3));
    assert_eq!(simulation.api().objects().of_kind(Kind::ControllerRevision).count(), 2);
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v1");
    until(&mut simulation, 30_000, |it| stateful_set(it).status.current_revision == before);
    assert_eq!(simulation.api().objects().of_kind(Kind::ControllerRevision).count(), 2, "the old one is used again");
}

#[test]
fn a_partition_keeps_the_lower_numbers_at_the_old_template() {
    let mut simulation = world(scenario());
    let partition = "replicas: 3\n  updateStrategy: {rollingUpdate: {partition: 2}}";
    apply(&mut simulation, &workload("StatefulSet", "db", "app:v1", partition));
    until(&mut simulation, 20_000, |it| n_ready(it) == 3);
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v2");
    run_for(&mut simulation, 10_000);
    let image = |it: &Simulation, name| pod(it, name).map(|pod| pod.spec.containers[0].image.clone());
    let images = |it: &Simulation| ["db-0", "db-1", "db-2"].map(|name| image(it, name).unwrap_or_default());
    assert_eq!(images(&simulation), ["app:v1", "app:v1", "app:v2"]);
    delete(&mut simulation, Kind::Pod, "db-0");
    run_for(&mut simulation, 10_000);
    assert_eq!(images(&simulation), ["app:v1", "app:v1", "app:v2"], "made anew from the kept template");
    assert_eq!(counts(&stateful_set(&simulation)), (3, 3, 2, 1));
}

#[test]
fn pods_that_need_no_order_come_together_and_on_delete_waits_for_a_hand() {
    let mut simulation = world(scenario());
    let more = "replicas: 3\n  podManagementPolicy: Parallel\n  updateStrategy: {type: OnDelete}";
    apply(&mut simulation, &workload("StatefulSet", "db", "app:v1", more));
    run_for(&mut simulation, 200);
    assert_eq!(pods(&simulation).len(), 3);
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v2");
    run_for(&mut simulation, 20_000);
    assert!(pods(&simulation).iter().all(|pod| pod.spec.containers[0].image == "app:v1"));
    delete(&mut simulation, Kind::Pod, "db-1");
    run_for(&mut simulation, 10_000);
    assert_eq!(pod(&simulation, "db-1").expect("again").spec.containers[0].image, "app:v2");
}

fn daemons(simulation: &Simulation) -> (i32, i32, i32, i32, i32) {
    let set = object(simulation, Kind::DaemonSet, "agent").and_then(|it| it.as_daemon_set().cloned()).expect("there");
    let status = &set.status;
    let updated = status.updated_number_scheduled;
    (
        status.desired_number_scheduled,
        status.current_number_scheduled,
        status.number_ready,
        status.number_available,
        updated,
    )
}

/// Recording `x7_daemonset`: one pod a node, tolerations added, an update one node at a time.
#[test]
fn a_daemon_set_has_a_pod_on_every_node_and_updates_one_at_a_time() {
    let mut simulation = world(scenario());
    simulation.dispatch(Command::Cordon { node: "node-1".into(), on: true });
    apply(&mut simulation, &workload("DaemonSet", "agent", "app:v1", "minReadySeconds: 0"));
    until(&mut simulation, 10_000, |it| daemons(it) == (3, 3, 3, 3, 3));
    let all = pods(&simulation);
    let mut nodes: Vec<String> = all.iter().map(|pod| pod.spec.node_name.to_string()).collect();
    nodes.sort();
    assert_eq!(nodes, ["node-1", "node-2", "node-3"], "a cordon does not keep them off");
    let tolerated: Vec<_> =
        all[0].spec.tolerations.iter().map(|it| (it.key.rsplit('/').next().unwrap(), &*it.effect)).collect();
    let expected = [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ];
    assert_eq!(tolerated, expected);
    assert_eq!(all[0].metadata.labels["pod-template-generation"], "1");
    assert!(messages(&simulation, "SuccessfulCreate")[0].starts_with("Created pod: agent-"));

    let since = simulation.now();
    set_image(&mut simulation, Kind::DaemonSet, "agent", "app:v2");
    for _ in 0..1_000 {
        run_for(&mut simulation, 10);
        let (.., available, _) = daemons(&simulation);
        assert!(available >= 2, "one node at a time is without");
    }
    assert_eq!(daemons(&simulation), (3, 3, 3, 3, 3));
    let signs: String = course(&simulation, since).iter().filter_map(|it| it.chars().next()).collect();
    assert_eq!(signs, "-+-+-+");
    assert!(pods(&simulation).iter().all(|pod| pod.metadata.labels["pod-template-generation"] == "2"));
}

#[test]
fn a_daemon_set_follows_the_labels_of_nodes() {
    let mut simulation = world(scenario());
    let mut manifest = workload("DaemonSet", "agent", "app:v1", "minReadySeconds: 0");
    manifest.push_str("      nodeSelector: {disk: fast}\n");
    apply(&mut simulation, &manifest);
    run_for(&mut simulation, 2_000);
    assert_eq!((pods(&simulation).len(), daemons(&simulation)), (0, (0, 0, 0, 0, 0)));
    apply(&mut simulation, "apiVersion: v1\nkind: Node\nmetadata: {name: node-2, labels: {disk: fast}}\n");
    until(&mut simulation, 10_000, |it| daemons(it) == (1, 1, 1, 1, 1));
    assert_eq!(&*pods(&simulation)[0].spec.node_name, "node-2");
    apply(&mut simulation, "apiVersion: v1\nkind: Node\nmetadata: {name: node-2, labels: {disk: slow}}\n");
    until(&mut simulation, 10_000, |it| pods(it).is_empty());
    assert_eq!(daemons(&simulation), (0, 0, 0, 0, 0));
}

fn job(simulation: &Simulation, name: &str) -> Rc<Job> {
    object(simulation, Kind::Job, name).and_then(|it| it.as_job().cloned()).expect("the Job is there")
}

fn condition_list(conditions: &[Condition]) -> Vec<(&str, &str, &str)> {
    conditions.iter().map(|it| (it.kind.as_str(), it.status.as_str(), it.reason.as_str())).collect()
}

/// Recording `v7_real_kubelet_job_backoff`, Job `bad`: new pods 10, 20 and 40 s after a failure, then the end.
#[test]
fn a_failing_job_backs_off_and_gives_up() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &job_manifest("bad", "app:crash", "backoffLimit: 3"));
    until(&mut simulation, 120_000, |it| !job(it, "bad").status.conditions.is_empty());
    run_for(&mut simulation, 3_000);
    let bad = job(&simulation, "bad");
    let expected = [("FailureTarget", "True", "BackoffLimitExceeded"), ("Failed", "True", "BackoffLimitExceeded")];
    assert_eq!(condition_list(&bad.status.conditions), expected);
    assert_eq!((bad.status.active, bad.status.failed, bad.status.succeeded), (0, 4, 0));
    assert_eq!(bad.status.conditions[1].message, "Job has reached the specified backoff limit");
    let mut all = pods(&simulation);
    assert!(all.iter().all(|pod| pod.metadata.finalizers.is_empty() && pod.status.phase == "Failed"));
    all.sort_by_key(|pod| pod.metadata.creation_timestamp);
    let gaps: Vec<i64> = all
        .windows(2)
        .map(|pair| pair[1].metadata.creation_timestamp.unwrap().0 - pair[0].metadata.creation_timestamp.unwrap().0)
        .collect();
    assert_eq!(gaps.len(), 3);
    for (gap, wait) in gaps.iter().zip([10, 20, 40]) {
        assert!((wait..=wait + 3).contains(gap), "{gaps:?}");
    }
    assert_eq!(messages(&simulation, "BackoffLimitExceeded"), ["Job has reached the specified backoff limit"]);
}

/// There, Job `good`: four completions, two at a time; ended pods are counted and then let go.
#[test]
fn a_job_completes_with_as_many_pods_at_a_time_as_it_may_have() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &job_manifest("good", "app:done", "completions: 4\n  parallelism: 2"));
    for _ in 0..1_500 {
        run_for(&mut simulation, 10);
        assert!(pods(&simulation).iter().filter(|pod| pod.is_active()).count() <= 2);
    }
    let good = job(&simulation, "good");
    let expected = [("SuccessCriteriaMet", "True", "CompletionsReached"), ("Complete", "True", "CompletionsReached")];
    assert_eq!(condition_list(&good.status.conditions), expected);
    assert_eq!((good.status.succeeded, good.status.failed, good.status.ready), (4, 0, Some(0)));
    assert!(good.status.start_time.is_some() && good.status.completion_time.is_some());
    assert_eq!(messages(&simulation, "SuccessfulCreate").len(), 4);
    assert_eq!(messages(&simulation, "Completed"), ["Job completed"]);
    let selector = good.spec.selector.as_ref().expect("generated").match_labels.clone();
    assert_eq!(selector["batch.kubernetes.io/controller-uid"], good.metadata.uid.to_string());
    let patches = requests(&simulation, Time(0)).iter().filter(|it| *it == "PATCH pods/").count();
    assert_eq!(patches, 4, "each finalizer goes once");
    let before = good.metadata.resource_version;
    run_for(&mut simulation, 60_000);
    assert_eq!(job(&simulation, "good").metadata.resource_version, before);
}

/// `kubectl/jobs.json`: deadline, suspension.
#[test]
fn a_job_has_a_deadline_and_can_be_suspended() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &job_manifest("late", "app:long", "activeDeadlineSeconds: 4"));
    apply(&mut simulation, &job_manifest("paused", "app:done", "suspend: true"));
    run_for(&mut simulation, 12_000);
    let late = job(&simulation, "late");
    let expected = [("FailureTarget", "True", "DeadlineExceeded"), ("Failed", "True", "DeadlineExceeded")];
    assert_eq!(condition_list(&late.status.conditions), expected);
    assert_eq!((late.status.failed, late.status.active, late.status.terminating), (1, 0, Some(0)));
    assert_eq!(messages(&simulation, "DeadlineExceeded"), ["Job was active longer than specified deadline"]);
    assert_eq!(pods(&simulation).len(), 0, "the pod goes with its finalizer");
    let paused = job(&simulation, "paused");
    assert_eq!(condition_list(&paused.status.conditions), [("Suspended", "True", "JobSuspended")]);
    assert_eq!((paused.status.start_time, messages(&simulation, "Suspended").len()), (None, 1));
    apply(&mut simulation, &job_manifest("paused", "app:done", "suspend: false"));
    run_for(&mut simulation, 10_000);
    let paused = job(&simulation, "paused");
    assert_eq!(condition_list(&paused.status.conditions)[0], ("Suspended", "False", "JobResumed"));
    assert_eq!((paused.status.succeeded, messages(&simulation, "Resumed").len()), (1, 1));
}

#[test]
fn a_finished_job_is_kept_for_as_long_as_it_says_and_a_deleted_one_leaves_nothing() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &job_manifest("short", "app:done", "ttlSecondsAfterFinished: 30"));
    apply(&mut simulation, &job_manifest("long", "app:long", "parallelism: 2"));
    run_for(&mut simulation, 25_000);
    assert!(object(&simulation, Kind::Job, "short").is_some());
    run_for(&mut simulation, 20_000);
    assert!(object(&simulation, Kind::Job, "short").is_none());
    assert_eq!(pods(&simulation).len(), 2, "those of the other Job");
    delete(&mut simulation, Kind::Job, "long");
    run_for(&mut simulation, 40_000);
    assert_eq!(pods(&simulation).len(), 0, "their finalizers do not hold them");
}

/// `UpdateStatefulPod`: a pod keeps the label by which a Service can name it alone.
#[test]
fn a_pod_of_a_stateful_set_gets_its_name_label_back() {
    let mut simulation = database();
    run_for(&mut simulation, 20_000);
    let label = "statefulset.kubernetes.io/pod-name";
    let patch = serde_json::json!({"metadata": {"labels": {label: null}}});
    let kind = loopscope_engine::apiserver::PatchType::Merge;
    let command = Command::Patch { target: target(Kind::Pod, "db-1"), kind, patch };
    let before = pod(&simulation, "db-1").expect("there").metadata.uid;
    assert!(simulation.dispatch(command).is_ok());
    run_for(&mut simulation, 1_000);
    let after = pod(&simulation, "db-1").expect("there");
    assert_eq!((after.metadata.uid, after.metadata.labels[label].as_str()), (before, "db-1"));
    assert_eq!(messages(&simulation, "SuccessfulUpdate"), ["Update Pod db-1 in StatefulSet db successful"]);
}
