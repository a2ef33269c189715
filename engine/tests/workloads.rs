//! StatefulSet, DaemonSet, Job, EndpointSlice, pod collector, adoption and rollback, held against the courses of the
//! recordings that each test names.

use std::rc::Rc;

use loopscope_engine::api::{Condition, EndpointSlice, Job, Kind, Object, ObjectKey, Pod, StatefulSet, condition};
use loopscope_engine::apiserver::Effect;
use loopscope_engine::client::What;
use loopscope_engine::environment::{Behavior, Behaviors};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{ClientLimit, Command, Outcome, Scenario, Simulation, Target};

fn world(scenario: Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario);
    run_for(&mut simulation, 1_000);
    simulation
}

/// Programs that come up after 300 ms, are ready 700 ms later and need a second to stop, as in the recordings.
fn behaviors() -> Behaviors {
    let plain =
        Behavior { pull_ms: 10, start_ms: 290, serve_ms: Some(100), stop_ms: 1_000, exit: None, is_missing: false };
    let images = [
        ("app:v1", plain),
        ("app:v2", plain),
        ("app:never", Behavior { serve_ms: None, ..plain }),
        ("app:crash", Behavior { exit: Some((1_000, 1)), ..plain }),
        ("app:done", Behavior { exit: Some((3_000, 0)), ..plain }),
        ("app:long", Behavior { exit: Some((600_000, 0)), ..plain }),
    ];
    Behaviors(images.into_iter().map(|(name, behavior)| (name.to_string(), behavior)).collect())
}

fn scenario() -> Scenario {
    Scenario { behaviors: behaviors(), ..Scenario::empty(7) }
}

fn run_for(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

/// Runs until something holds, and says when that was.
fn until(simulation: &mut Simulation, within: u64, holds: impl Fn(&Simulation) -> bool) -> Time {
    let end = simulation.now() + Millis(within);
    while !holds(simulation) {
        assert!(simulation.now() < end, "not within {within} ms");
        run_for(simulation, 10);
    }
    simulation.now()
}

fn apply(simulation: &mut Simulation, manifest: &str) {
    let outcome = simulation.dispatch(Command::Apply { manifest: manifest.into() });
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn target(kind: Kind, name: &str) -> Target {
    let namespace = if kind.is_namespaced() { "default" } else { "" };
    Target { kind, namespace: namespace.into(), name: name.into() }
}

fn scale(simulation: &mut Simulation, kind: Kind, name: &str, replicas: i32) {
    assert!(simulation.dispatch(Command::Scale { target: target(kind, name), replicas }).is_ok());
}

fn set_image(simulation: &mut Simulation, kind: Kind, name: &str, image: &str) {
    let command = Command::SetImage { target: target(kind, name), container: "app".into(), image: image.into() };
    let outcome = simulation.dispatch(command);
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn delete(simulation: &mut Simulation, kind: Kind, name: &str) -> Outcome {
    simulation.dispatch(Command::Delete { target: target(kind, name) })
}

fn object(simulation: &Simulation, kind: Kind, name: &str) -> Option<Object> {
    let namespace = if kind.is_namespaced() { "default" } else { "" };
    simulation.api().objects().get(&ObjectKey::new(kind, namespace, name)).cloned()
}

fn pods(simulation: &Simulation) -> Vec<Rc<Pod>> {
    simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).cloned().collect()
}

fn pod(simulation: &Simulation, name: &str) -> Option<Rc<Pod>> {
    object(simulation, Kind::Pod, name)?.as_pod().cloned()
}

fn n_ready(simulation: &Simulation) -> usize {
    pods(simulation).iter().filter(|pod| pod.is_active() && pod.is_ready()).count()
}

fn names(pods: &[Rc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| pod.metadata.name.to_string()).collect()
}

fn messages(simulation: &Simulation, reason: &str) -> Vec<String> {
    let events = simulation.api().events.iter().filter(|event| event.draft.reason == reason);
    events.flat_map(|event| vec![event.draft.message.clone(); event.count as usize]).collect()
}

/// Creations and deletions of pods since an instant, in their order: `+db-0`, `-db-0`.
fn course(simulation: &Simulation, since: Time) -> Vec<String> {
    let events = simulation.trace().events().filter(|event| event.at >= since);
    let told = events.filter_map(|event| match &event.what {
        What::Wrote { key, method, effect, .. } if key.kind == Kind::Pod => match (*method, effect) {
            ("POST", Effect::Created) => Some(format!("+{}", key.name)),
            ("DELETE", Effect::Deleting) => Some(format!("-{}", key.name)),
            _ => None,
        },
        _ => None,
    });
    told.collect()
}

fn requests(simulation: &Simulation, since: Time) -> Vec<String> {
    let events = simulation.trace().events().filter(|event| event.at >= since);
    let told = events.filter_map(|event| match &event.what {
        What::Wrote { key, method, subresource, .. } => Some(format!("{method} {}/{subresource}", key.kind.plural())),
        _ => None,
    });
    told.collect()
}

fn workload(kind: &str, name: &str, image: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  {more}\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n      - name: app\n        image: {image}\n        readinessProbe: {{tcpSocket: {{port: 80}}, periodSeconds: 1}}\n"
    )
}

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

/// kubernetes#67250: with OrderedReady a broken template has to be helped by hand.
#[test]
fn a_mended_template_does_not_free_a_stuck_stateful_set() {
    let mut simulation = database();
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:never");
    run_for(&mut simulation, 10_000);
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v1");
    run_for(&mut simulation, 60_000);
    assert_eq!(n_ready(&simulation), 2, "db-2 is still the broken one");
    delete(&mut simulation, Kind::Pod, "db-2");
    until(&mut simulation, 20_000, |it| n_ready(it) == 3);
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

fn job_manifest(name: &str, image: &str, more: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}}}\nspec:\n  {more}\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{{name: app, image: \"{image}\"}}]\n"
    )
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

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: web}\n  ports: [{port: 80, targetPort: 8080}]\n";

fn slices(simulation: &Simulation) -> Vec<Rc<EndpointSlice>> {
    simulation.api().objects().of_kind(Kind::EndpointSlice).filter_map(Object::as_endpoint_slice).cloned().collect()
}

/// ready, serving, terminating of each endpoint.
fn endpoints(simulation: &Simulation) -> Vec<(bool, bool, bool)> {
    let all = slices(simulation);
    let conditions = all.iter().flat_map(|slice| &slice.endpoints).map(|it| it.conditions);
    conditions.map(|it| (it.ready, it.serving, it.terminating)).collect()
}

/// Recordings `a_create_deployment_5` and `b_delete_pods`: an empty slice first, pods without readiness are listed as
/// such, and one on its way out stays listed.
#[test]
fn endpoints_follow_the_pods_of_a_service() {
    let mut simulation = world(scenario());
    apply(&mut simulation, SERVICE);
    run_for(&mut simulation, 100);
    let first = slices(&simulation);
    assert_eq!((first.len(), first[0].endpoints.len(), first[0].ports.len()), (1, 0, 0));
    assert_eq!(first[0].metadata.labels["kubernetes.io/service-name"], "web");
    assert_eq!(first[0].metadata.generation, 1);
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 5"));
    until(&mut simulation, 10_000, |it| endpoints(it) == [(true, true, false); 5]);
    let slice = &slices(&simulation)[0];
    assert_eq!((slice.ports[0].port, slice.ports[0].protocol.as_str()), (8080, "TCP"));
    assert!(slice.endpoints.iter().all(|it| !it.node_name.is_empty() && !it.addresses[0].is_empty()));
    let victim = slice.endpoints[1].target_ref.as_ref().expect("a pod").name.to_string();
    delete(&mut simulation, Kind::Pod, &victim);
    run_for(&mut simulation, 100);
    let (ready, _, terminating) = endpoints(&simulation)[1];
    assert_eq!((ready, terminating), (false, true), "it stays listed");
    run_for(&mut simulation, 10_000);
    assert_eq!(endpoints(&simulation), [(true, true, false); 5]);
    delete(&mut simulation, Kind::Service, "web");
    run_for(&mut simulation, 1_000);
    assert_eq!(slices(&simulation).len(), 0);
}

#[test]
fn a_big_service_has_a_slice_for_each_hundred_pods() {
    let mut simulation = world(Scenario { behaviors: behaviors(), ..Scenario::with_nodes(3, 6, "8", "32Gi") });
    apply(&mut simulation, SERVICE);
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 230"));
    run_for(&mut simulation, 60_000);
    let mut sizes: Vec<usize> = slices(&simulation).iter().map(|slice| slice.endpoints.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [30, 100, 100]);
    assert_eq!(endpoints(&simulation).iter().filter(|it| it.0).count(), 230);
    scale(&mut simulation, Kind::Deployment, "web", 0);
    run_for(&mut simulation, 60_000);
    assert_eq!(slices(&simulation).iter().map(|slice| slice.endpoints.len()).collect::<Vec<_>>(), [0]);
}

/// Recording `q_release_and_adopt` and case S9.
#[test]
fn a_pod_with_other_labels_is_let_go_and_one_with_the_right_ones_is_taken() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    let quarantined = pods(&simulation)[0].clone();
    let name = quarantined.metadata.name.to_string();
    let hash = &quarantined.metadata.labels["pod-template-hash"];
    let since = simulation.now();
    let label = |app: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, labels: {{app: {app}, pod-template-hash: {hash}}}}}\n"
        )
    };
    relabel(&mut simulation, &label("quarantine"));
    run_for(&mut simulation, 100);
    assert!(pod(&simulation, &name).expect("it stays").metadata.controller().is_none());
    assert_eq!(pods(&simulation).len(), 4, "a substitute came at once");
    run_for(&mut simulation, 5_000);
    assert_eq!(n_ready(&simulation), 4);
    relabel(&mut simulation, &label("web"));
    run_for(&mut simulation, 100);
    let owned = pods(&simulation).iter().filter(|pod| pod.metadata.controller().is_some()).count();
    assert_eq!(owned, 4, "it is taken back");
    let gone: Vec<String> = course(&simulation, since).into_iter().filter(|it| it.starts_with('-')).collect();
    assert_eq!(gone.len(), 1, "and one is too many");
    until(&mut simulation, 10_000, |it| pods(it).len() == 3 && n_ready(it) == 3);
    let stray = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: stray, labels: {{app: web, pod-template-hash: {hash}}}}}\nspec: {{containers: [{{name: app, image: \"app:v1\"}}]}}\n"
    );
    apply(&mut simulation, &stray);
    run_for(&mut simulation, 3_000);
    assert_eq!(messages(&simulation, "SuccessfulDelete").last().map(String::as_str), Some("Deleted pod: stray"));
}

/// Changes a pod's labels with its spec as it is.
fn relabel(simulation: &mut Simulation, manifest: &str) {
    let parsed: serde_json::Value = {
        let name = manifest.split("name: ").nth(1).and_then(|rest| rest.split(',').next()).expect("a name");
        let mut value = object(simulation, Kind::Pod, name).expect("the pod").to_value();
        let app = manifest.split("app: ").nth(1).and_then(|rest| rest.split(',').next()).expect("a label");
        value["metadata"]["labels"]["app"] = app.into();
        value["metadata"].as_object_mut().expect("metadata").remove("resourceVersion");
        value
    };
    apply(simulation, &parsed.to_string());
}

/// Surprise 20: what lost its Deployment is taken by another with the same selector.
#[test]
fn a_deployment_takes_replica_sets_that_nobody_owns() {
    let mut simulation = world(scenario());
    let set = workload("ReplicaSet", "web-old", "app:v1", "replicas: 2").replace("app: web-old", "app: web");
    let set = set.replace("metadata: {name: web-old}", "metadata: {name: web-old, labels: {app: web}}");
    apply(&mut simulation, &set);
    until(&mut simulation, 10_000, |it| n_ready(it) == 2);
    let before = names(&pods(&simulation));
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    run_for(&mut simulation, 5_000);
    assert_eq!(simulation.api().objects().of_kind(Kind::ReplicaSet).count(), 1, "its template is the Deployment's");
    let owner = object(&simulation, Kind::ReplicaSet, "web-old").and_then(|it| it.meta().controller().cloned());
    assert_eq!(owner.expect("adopted").name.as_str(), "web");
    assert_eq!(names(&pods(&simulation)), before, "no pod was touched");
}

/// `kubectl/rollout_history_undo.json`.
#[test]
fn a_rollback_brings_an_old_template_back() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 2);
    let undo = |simulation: &mut Simulation, to_revision| {
        simulation.dispatch(Command::Rollback { target: target(Kind::Deployment, "web"), to_revision })
    };
    let refused = undo(&mut simulation, 0);
    assert_eq!(refused.problems[0].message, "no rollout history found for deployment \"web\"");
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    run_for(&mut simulation, 10_000);
    let missing = undo(&mut simulation, 9);
    assert_eq!(missing.problems[0].message, "unable to find specified revision 9 in history");
    let same = undo(&mut simulation, 2);
    let skipped = "deployment.apps/web skipped rollback (current template already matches revision 2)";
    assert_eq!(same.lines, [skipped]);
    assert_eq!(undo(&mut simulation, 0).lines, ["deployment.apps/web rolled back"]);
    run_for(&mut simulation, 10_000);
    assert!(pods(&simulation).iter().all(|pod| pod.spec.containers[0].image == "app:v1"));
    let web = object(&simulation, Kind::Deployment, "web").expect("there");
    assert_eq!(web.meta().annotations["deployment.kubernetes.io/revision"], "3");
    assert_eq!(simulation.api().objects().of_kind(Kind::ReplicaSet).count(), 2);
}

/// Recording `j2_node_dead_default_tolerations`, its end: the node object is deleted, and the pods that nobody can
/// confirm to have stopped go 40 to 62 s later.
#[test]
fn the_pods_of_a_deleted_node_are_collected() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 3"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    let node = pods(&simulation)[0].spec.node_name.to_string();
    let on_node = |it: &Simulation| pods(it).iter().filter(|pod| *pod.spec.node_name == *node).count();
    simulation.dispatch(Command::StopNode { node: node.clone() });
    run_for(&mut simulation, 420_000);
    assert!(on_node(&simulation) > 0, "they stay Terminating");
    delete(&mut simulation, Kind::Node, &node);
    let since = simulation.now();
    let gone = until(&mut simulation, 70_000, |it| on_node(it) == 0).since(since);
    assert!((40_000..=62_000).contains(&gone.0), "{gone:?}");
    run_for(&mut simulation, 5_000);
    assert_eq!((pods(&simulation).len(), n_ready(&simulation)), (3, 3));
}

/// Surprise 19: a real controller manager's clients are slow.
#[test]
fn a_limited_client_sends_twenty_requests_a_second_after_a_burst_of_thirty() {
    let limited = Scenario { client_limit: Some(ClientLimit::CONTROLLER_MANAGER), ..scenario() };
    let took = |scenario: Scenario| {
        let mut simulation = world(scenario);
        apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 90"));
        let from = simulation.now();
        until(&mut simulation, 60_000, |it| pods(it).len() == 90).since(from).0
    };
    let (free, held_back) = (took(scenario()), took(limited));
    assert!(free < 1_000, "{free}");
    assert!((2_500..=4_500).contains(&held_back), "60 of 90 creations wait 50 ms each: {held_back}");
}

#[test]
fn informers_that_tell_everything_again_change_nothing() {
    let mut simulation = world(Scenario { resync_ms: Some(30_000), ..scenario() });
    apply(&mut simulation, SERVICE);
    for kind in ["Deployment", "StatefulSet"] {
        apply(&mut simulation, &workload(kind, "web", "app:v1", "replicas: 2"));
    }
    apply(&mut simulation, &workload("DaemonSet", "agent", "app:v1", "minReadySeconds: 0"));
    apply(&mut simulation, &job_manifest("good", "app:done", "completions: 2"));
    run_for(&mut simulation, 25_000);
    let turns =
        |it: &Simulation| it.trace().all_events().filter(|event| matches!(event.what, What::Told { .. })).count();
    let (before, told) = (simulation.api().version(), turns(&simulation));
    let heartbeats = |it: &Simulation, since: u64| {
        let kinds = [Kind::Lease, Kind::Node];
        let all = (since + 1..=it.api().version()).filter_map(|version| it.api().change(version));
        all.filter(|change| !kinds.contains(&change.object.kind())).count()
    };
    run_for(&mut simulation, 70_000);
    assert!(turns(&simulation) > told + 20, "everything was told again");
    assert_eq!(heartbeats(&simulation, before), 0, "and nothing was written");
}
