//! Bring your own cluster: a dump becomes a world that stands as the cluster stood, and goes on from there.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{Kind, Node, Object, ObjectKey, Pod, Timestamp, condition};
use loopscope_engine::client::What;
use loopscope_engine::dump::{self, Dump};
use loopscope_engine::history::History;
use loopscope_engine::share::{self, Handed, Moment, write_journal_file, write_moment_file, write_scenario_file};
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::{Instant, Scenario, Simulation};
use loopscope_engine::{export, lesson, manifest, view};
use play::{command, pods, run_for, until};
use proptest::prelude::*;
use serde_json::{Value, json};

/// As `kubectl get … -A -o yaml --show-managed-fields` prints it.
const KUBECTL: &str = include_str!("data/dumps/kubectl.yaml");
/// It stands in environment values, Secrets, what was last applied, and all else that is nobody's business.
const CANARY: &str = "canary-7f3a9";
/// The same as a Secret holds it.
const ENCODED: &str = "Y2FuYXJ5LTdmM2E5";
const MINUTE: u64 = 60_000;

fn read(text: &str) -> Dump {
    dump::read(text).unwrap_or_else(|error| panic!("{error}"))
}

fn world(text: &str) -> Simulation {
    Simulation::new(Scenario::of_dump(&read(text)))
}

fn last(simulation: &Simulation) -> Seq {
    simulation.trace().last_seq()
}

/// Writes and Events since an event, without what a cluster at rest writes: leases.
fn news(simulation: &Simulation, since: Seq) -> Vec<String> {
    let newer = simulation.trace().all_events().filter(|event| event.seq > since);
    let told = newer.filter_map(|event| match &event.what {
        What::Wrote { key, method, changed, .. } if key.kind != Kind::Lease => {
            Some(format!("{} {method} {key} {changed:?}", event.at))
        }
        What::Announced { .. } | What::Refused { .. } | What::Failed { .. } => {
            Some(format!("{} {:?}", event.at, event.what))
        }
        _ => None,
    });
    told.collect()
}

fn node(simulation: &Simulation, name: &str) -> Rc<Node> {
    let found = simulation.api().objects().get(&ObjectKey::node(name)).and_then(Object::as_node).cloned();
    found.expect("the node is there")
}

fn pod(simulation: &Simulation, namespace: &str, name: &str) -> Rc<Pod> {
    let key = ObjectKey::new(Kind::Pod, namespace, name);
    simulation.api().objects().pod(&key).cloned().unwrap_or_else(|| panic!("{key} is there"))
}

fn of<'a>(all: &'a [Rc<Pod>], app: &str) -> Vec<&'a Rc<Pod>> {
    all.iter().filter(|it| it.metadata.labels.get("app").is_some_and(|it| it == app)).collect()
}

#[test]
fn a_dump_of_kubectl_is_told_of_in_words() {
    let lines = read(KUBECTL).report.lines();
    assert_eq!(
        lines[..2],
        [
            "Read: 4 Nodes, 4 Deployments, 5 ReplicaSets, 1 StatefulSet, 1 DaemonSet, 20 Pods, 4 Services, 1 HorizontalPodAutoscaler, 1 PodDisruptionBudget.",
            "Left out: 1 HorizontalPodAutoscaler (by metrics that are not simulated), 1 Rollout (argoproj.io/v1alpha1), 1 Secret, 1 ConfigMap, 1 Certificate (cert-manager.io/v1).",
        ]
    );
    assert!(lines[2].starts_with("Dropped: 19 environment values, 44 commands and arguments, "), "{}", lines[2]);
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn nothing_is_written_in_the_first_minute() {
    let mut simulation = world(KUBECTL);
    let began = last(&simulation);
    run_for(&mut simulation, MINUTE);
    assert_eq!(news(&simulation, began), [""; 0]);
    assert_eq!(simulation.api().events.iter().count(), 0);
    let listed: Vec<String> =
        simulation.trace().events().filter(|it| it.seq > began).map(|it| format!("{it:?}")).collect();
    assert_eq!(listed, [""; 0], "nor is anything told");
}

#[test]
fn statuses_uids_owners_and_ages_are_those_of_the_dump() {
    let mut simulation = world(KUBECTL);
    run_for(&mut simulation, MINUTE);
    let given = manifest::value(KUBECTL).expect("it is YAML");
    let items = given["items"].as_array().expect("a list").iter().filter(|it| it["kind"] == "Pod");
    let mut count = 0;
    for item in items {
        let text = |path: &str| item.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let here = Object::Pod(pod(&simulation, text("/metadata/namespace"), text("/metadata/name"))).to_value();
        for path in ["/metadata/uid", "/metadata/creationTimestamp", "/metadata/ownerReferences", "/metadata/labels"]
            .into_iter()
            .chain(["/status/phase", "/status/podIP", "/status/podIPs", "/status/startTime", "/status/qosClass"])
        {
            assert_eq!(here.pointer(path), item.pointer(path), "{path} of {}", text("/metadata/name"));
        }
        for path in ["state", "restartCount", "ready", "containerID", "imageID", "image", "started"] {
            let of = |it: &Value| it.pointer("/status/containerStatuses/0").and_then(|it| it.get(path)).cloned();
            assert_eq!(of(&here), of(item), "{path} of {}", text("/metadata/name"));
        }
        count += 1;
    }
    assert_eq!(count, 20);
    // Kubectl would have said so at the newest time that the dump names.
    assert_eq!(simulation.scenario().epoch_ms, Timestamp::parse("2026-05-12T09:29:55Z").expect("a time").millis());
}

/// The figures of case N1.
#[test]
fn a_node_that_dies_is_tainted_after_its_grace_and_emptied_after_five_minutes_more() {
    let mut simulation = world(KUBECTL);
    run_for(&mut simulation, 30_000);
    let killed = simulation.now();
    command(&mut simulation, "node stop worker-b");
    let ready =
        |it: &Simulation| condition(&node(it, "worker-b").status.conditions, "Ready").expect("there").status.clone();
    let unknown = until(&mut simulation, 61_000, |it| ready(it) == "Unknown");
    assert!((40_000..=60_500).contains(&unknown.since(killed).0), "{unknown}");
    until(&mut simulation, 6_000, |it| node(it, "worker-b").has_taint("node.kubernetes.io/unreachable", "NoExecute"));
    let leaving = |it: &Simulation| of(&pods(it), "web").iter().filter(|it| it.is_terminating()).count();
    let marked = until(&mut simulation, 320_000, |it| leaving(it) > 0);
    assert!((299_000..=306_500).contains(&marked.since(unknown).0), "{:?}", marked.since(unknown));
    // Its program is asked every ten seconds.
    until(&mut simulation, 20_000, |it| of(&pods(it), "web").iter().filter(|it| it.is_ready()).count() == 3);
    let all = pods(&simulation);
    let (web, db) = (of(&all, "web"), of(&all, "db"));
    assert_eq!((web.len(), db.len()), (4, 2), "a StatefulSet waits for the one that nobody ends");
    let new = web
        .iter()
        .find(|it| it.metadata.creation_timestamp.is_some_and(|it| it.millis() > simulation.scenario().epoch_ms));
    assert!(new.is_some_and(|it| *it.spec.node_name != *"worker-b"), "the new one is elsewhere");
    let proxies = all.iter().filter(|it| it.metadata.name.starts_with("kube-proxy-") && !it.is_terminating());
    assert_eq!(proxies.count(), 4, "DaemonSet pods stay");
}

#[test]
fn pods_of_owners_that_nobody_knows_run_on_and_are_not_made_again() {
    let mut simulation = world(KUBECTL);
    run_for(&mut simulation, 20 * MINUTE);
    let strangers = [
        ("shop", "backup-29110-zkq8v"),
        ("shop", "edge-rollout-77f9-k2"),
        ("kube-system", "etcd-cp-1"),
        ("kube-system", "kube-apiserver-cp-1"),
    ];
    for (namespace, name) in strangers {
        let pod = pod(&simulation, namespace, name);
        assert!(pod.is_ready() && pod.status.phase == "Running", "{name}: {:?}", pod.status);
    }
    assert_eq!(pod(&simulation, "shop", "backup-29109-4hzzp").status.phase, "Succeeded");
    command(&mut simulation, "kubectl delete pod/edge-rollout-77f9-k2 -n shop");
    run_for(&mut simulation, 2 * MINUTE);
    assert!(of(&pods(&simulation), "edge").is_empty());
}

#[test]
fn what_crashes_goes_on_crashing_and_what_cannot_be_had_still_cannot() {
    let mut simulation = world(KUBECTL);
    run_for(&mut simulation, 15 * MINUTE);
    let all = pods(&simulation);
    let (worker, report) = (of(&all, "worker")[0], of(&all, "report")[0]);
    assert!((43..=45).contains(&worker.restarts()), "every five minutes and a little: {}", worker.restarts());
    assert_eq!(view::status_word(report), "ImagePullBackOff");
    // A new one of the same image is no better; any other image is sane.
    command(&mut simulation, "kubectl scale deployment/worker -n shop --replicas=2");
    command(&mut simulation, "kubectl scale deployment/web -n shop --replicas=4");
    run_for(&mut simulation, MINUTE);
    let all = pods(&simulation);
    assert!(of(&all, "worker").iter().all(|it| it.restarts() > 0), "it crashes as well");
    assert_eq!(of(&all, "web").iter().filter(|it| it.is_ready()).count(), 4);
}

#[test]
fn what_was_out_of_balance_is_mended() {
    let mut given = manifest::value(KUBECTL).expect("it is YAML");
    let items = given["items"].as_array_mut().expect("a list");
    let at = items.iter().position(|it| it["kind"] == "Pod" && it["metadata"]["labels"]["app"] == "web");
    items.remove(at.expect("there is one"));
    let mut simulation = world(&given.to_string());
    let began = last(&simulation);
    run_for(&mut simulation, MINUTE);
    assert_eq!(of(&pods(&simulation), "web").iter().filter(|it| it.is_ready()).count(), 3);
    assert!(news(&simulation, began).iter().any(|it| it.contains("POST Pod/")));
}

#[test]
fn no_secret_is_kept_anywhere() {
    let mut simulation = world(KUBECTL);
    command(&mut simulation, "node stop worker-a");
    run_for(&mut simulation, 8 * MINUTE);
    let scenario = simulation.scenario();
    let steps = simulation.journal().to_vec();
    let at = simulation.instant();
    let moment = Moment { scenario: scenario.clone(), steps: steps.clone(), at, selected: None, digest: 0 };
    let texts = [
        write_scenario_file(scenario),
        write_journal_file(scenario, &steps),
        write_moment_file(&moment),
        share::write_moment(&moment),
        export::cluster_yaml(&simulation),
        export::trace_json(&simulation),
        read(KUBECTL).report.lines().join("\n"),
        format!("{:?}", read(KUBECTL)),
    ];
    for text in texts {
        for secret in [CANARY, ENCODED] {
            let at = text.find(secret);
            assert_eq!(at.map(|at| &text[at.saturating_sub(200)..at + 20]), None);
        }
        assert!(!text.contains("last-applied-configuration"));
    }
    assert!(KUBECTL.contains(CANARY) && KUBECTL.contains(ENCODED));
}

#[test]
fn a_dump_survives_the_time_machine_and_files() {
    let scenario = Scenario::of_dump(&read(KUBECTL));
    let file = write_scenario_file(&scenario);
    assert_eq!(share::read_file(&file), Ok(Handed::Scenario(scenario.clone())));
    let lesson = lesson::read(&file).expect("it is a scenario file");
    assert_eq!(lesson.scenario, scenario);

    let mut history = History::of(scenario.clone(), Vec::new(), Instant::default());
    history.seek(Instant::end_of(Time(20_000)));
    history.dispatch("node stop worker-c".parse().expect("a command"));
    history.seek(Instant::end_of(Time(90_000)));
    let there = history.simulation().trace().digest();
    history.seek(Instant::default());
    assert_eq!(history.simulation().now(), Time(0));
    assert_eq!(pods(history.simulation()).len(), 20);
    history.seek(Instant::end_of(Time(90_000)));
    assert_eq!(history.simulation().trace().digest(), there);

    let steps = history.branch(history.current()).expect("there is one").steps().to_vec();
    let at = history.simulation().instant();
    let moment = Moment { scenario, steps, at, selected: None, digest: there };
    let Ok(Handed::Moment(read)) = share::read_file(&write_moment_file(&moment)) else { panic!("it is a moment") };
    assert_eq!(read, moment);
    let mut again = History::of(read.scenario, read.steps, Instant::default());
    again.seek(read.at);
    assert_eq!(again.simulation().trace().digest(), there);
}

const MIXED: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: app:v1
        env: [{name: A, value: b}]
        ports: [{containerPort: 80}]
        readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 2}
        resources: {requests: {cpu: 100m}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {minReplicas: 2, maxReplicas: 6, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: app, image: app:v1}]}}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: app, image: app:v2}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: app:done}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: alone}, spec: {containers: [{name: app, image: app:v1}]}}
";

#[test]
fn our_own_export_loads_back_without_a_write() {
    let mut first = play::world(play::scenario());
    play::apply(&mut first, MIXED);
    run_for(&mut first, 20_000);
    command(&mut first, "load deployment/web --steady=240m");
    run_for(&mut first, 400_000);
    let text = export::cluster_yaml(&first);
    let dump = read(&text);
    assert_eq!(dump.report.left_out, []);
    let mut scenario = Scenario::of_dump(&dump);
    scenario.behaviors = play::behaviors();
    let mut second = Simulation::new(scenario);
    let began = last(&second);
    let known = |it: &Simulation| -> Vec<String> {
        let all = it.api().objects().iter().filter(|(key, _)| !matches!(key.kind, Kind::Lease | Kind::Node));
        let mut all: Vec<String> = all.map(|(_, object)| without_version(object)).collect();
        all.sort();
        all
    };
    assert_eq!(
        known(&second),
        known(&first).into_iter().map(|it| it.replace("\"b\"", "\"dropped\"")).collect::<Vec<_>>()
    );
    run_for(&mut second, MINUTE);
    assert_eq!(news(&second, began), [""; 0]);
    let end = view::summary(&second);
    assert_eq!((end.want, end.ready), (view::summary(&first).want, view::summary(&first).ready));
    // And once more, from the world that it became.
    assert_eq!(news_of_reload(&second), [""; 0]);
}

fn news_of_reload(simulation: &Simulation) -> Vec<String> {
    let mut again = world(&export::cluster_yaml(simulation));
    let began = last(&again);
    run_for(&mut again, MINUTE);
    news(&again, began)
}

fn without_version(object: &Object) -> String {
    let mut value = object.to_value();
    let meta = value["metadata"].as_object_mut().expect("every object has it");
    meta.remove("resourceVersion");
    meta.remove("annotations");
    value.to_string()
}

#[test]
fn json_lists_and_several_documents_are_the_same_cluster() {
    let yaml = read(KUBECTL);
    let value = manifest::value(KUBECTL).expect("it is YAML");
    let items = value["items"].as_array().expect("a list");
    let pretty = format!("{value:#}");
    assert_eq!(read(&pretty).cluster, yaml.cluster);
    assert_eq!(read(&value.to_string()).report, yaml.report);
    let documents: Vec<String> = items.iter().map(manifest::to_yaml).collect();
    assert_eq!(read(&documents.join("---\n")).cluster, yaml.cluster);
    let objects: Vec<String> = items.iter().map(Value::to_string).collect();
    assert_eq!(read(&objects.join("\n")).cluster, yaml.cluster);
    // What a world holds is read again as it is.
    assert_eq!(read(yaml.cluster.as_str()).cluster, yaml.cluster);
    // `kubectl get --raw /api/v1/pods` leaves out what each item is.
    let bare = |kind: &str| -> Vec<Value> {
        let all = items.iter().filter(|it| it["kind"] == kind).cloned();
        all.map(|mut it| {
            it.as_object_mut().map(|it| (it.remove("kind"), it.remove("apiVersion")));
            it
        })
        .collect()
    };
    for text in [
        json!({"apiVersion": "v1", "items": bare("Pod"), "kind": "PodList"}).to_string(),
        manifest::to_yaml(&json!({"apiVersion": "v1", "kind": "PodList", "items": bare("Pod")})),
    ] {
        let dump = read(&text);
        assert_eq!(dump.report.count(Kind::Pod), 20);
        assert_eq!(dump.report.notes.len(), 4, "{:?}", dump.report.notes);
        assert_eq!(dump.report.count(Kind::Node), 4, "made up, and told");
        let mut simulation = Simulation::new(Scenario::of_dump(&dump));
        let began = last(&simulation);
        run_for(&mut simulation, MINUTE);
        assert_eq!(news(&simulation, began), [""; 0], "without their owners they stay as well");
    }
}

fn refusal(text: &str) -> dump::Unreadable {
    dump::read(text).expect_err("it is no dump")
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let place = |text: &str| {
        let it = refusal(text);
        (it.line, it.column)
    };
    assert_eq!(place("apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  metadata: {name: [}\n").0, 5);
    assert_eq!(place("{\"kind\": \"List\",\n \"items\": [{\"kind\": \"Pod\",}]}"), (2, 27));
    assert!(
        refusal("{\"kind\": \"List\", \"items\": [")
            .to_string()
            .starts_with("Line 1, column 27: This is not valid JSON: EOF")
    );
    let nothing = refusal("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    assert!(nothing.is_nothing && nothing.message.ends_with("Left out: 1 ConfigMap."), "{nothing}");
    assert!(refusal("").is_nothing && refusal("hello").is_nothing && refusal("- 1\n- 2\n").is_nothing);
    assert!(refusal(&"[".repeat(100_000)).line > 0 || refusal(&"[".repeat(100_000)).is_nothing);
    assert!(refusal(&["{\"a\":", &"[".repeat(100_000)].concat()).message.contains("recursion limit"));
    let large = refusal(&" ".repeat(dump::MOST_BYTES + 1));
    assert!(large.is_too_large && large.message.starts_with("The dump has 65 MB; at most 64 MB are read."), "{large}");
    let dump = read(
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: 3}}\n- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: c}, spec: {replicas: 2000000000, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}\n",
    );
    assert_eq!(
        dump.report.lines()[1..],
        [
            "Could not be read: Pod b (line 5): spec.containers: expected a list.",
            "Could not be read: ReplicaSet c (line 6): it asks for 2000000000 pods; a simulation takes 10000 of one workload.",
        ]
    );
}

/// What a mutilated dump once found: a pod that may take for ever to end.
#[test]
fn absurd_numbers_are_held() {
    let mut value = manifest::value(KUBECTL).expect("it is YAML");
    for item in value["items"].as_array_mut().into_iter().flatten().filter(|it| it["kind"] == "Pod") {
        item["spec"]["terminationGracePeriodSeconds"] = i64::MAX.into();
        item["metadata"]["deletionGracePeriodSeconds"] = i64::MIN.into();
    }
    let mut simulation = world(&value.to_string());
    command(&mut simulation, "kubectl delete pod/db-1 -n shop");
    run_for(&mut simulation, MINUTE);
    assert!(pod(&simulation, "shop", "db-1").is_terminating() || pods(&simulation).len() >= 20);
}

/// Something that does not belong there.
fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(-1)),
        Just(json!(i64::MAX)),
        Just(json!(0.5)),
        Just(json!(true)),
        Just(json!("")),
        Just(json!("9999-99-99T99:99:99Z")),
        Just(json!("0001-01-01T00:00:00Z")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{"name": "a"}])),
        "[ -~é\\n]{0,12}".prop_map(Value::from),
    ]
}

/// Puts something else in the place of one of the values inside, found by a walk.
fn mutilate(value: &mut Value, mut way: Vec<u16>, with: Value) {
    let step = |n: usize, way: &mut Vec<u16>| way.pop().map(|it| usize::from(it) % (n + 1)).filter(|it| *it < n);
    match value {
        Value::Array(items) => match step(items.len(), &mut way) {
            Some(at) => mutilate(&mut items[at], way, with),
            None => *value = with,
        },
        Value::Object(fields) => match step(fields.len(), &mut way).and_then(|at| fields.values_mut().nth(at)) {
            Some(inner) => mutilate(inner, way, with),
            None => *value = with,
        },
        _ => *value = with,
    }
}

fn play_a_while(dump: &Dump) {
    let mut simulation = Simulation::new(Scenario::of_dump(dump));
    simulation.run_until(Time(20_000), 10_000);
    let first = simulation.machines().keys().next().cloned();
    if let Some(name) = first {
        let _ = simulation.dispatch(format!("node stop {name}").parse().expect("a command"));
    }
    simulation.run_until(Time(400_000), 20_000);
    let _ = view::frame(&simulation);
    let _ = export::cluster_yaml(&simulation);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_mutilated_dump_never_panics(
        changes in prop::collection::vec((prop::collection::vec(any::<u16>(), 1..9), anything()), 1..60),
    ) {
        let mut value = manifest::value(KUBECTL).expect("it is YAML");
        let items = value["items"].as_array_mut().expect("a list");
        for (mut way, with) in changes {
            let at = usize::from(way.pop().unwrap_or(0)) % items.len();
            mutilate(&mut items[at], way, with);
        }
        if let Ok(dump) = dump::read(&value.to_string()) {
            play_a_while(&dump);
        }
    }

    #[test]
    fn a_text_that_was_cut_or_scribbled_on_never_panics(
        cuts in prop::collection::vec((any::<u32>(), 0_usize..200, "[ -~\\n\\t\u{85}]{0,6}"), 1..8),
        end in any::<u32>(),
    ) {
        let mut text = KUBECTL.to_owned();
        for (at, n, with) in cuts {
            let at = at as usize % text.len();
            text.replace_range(at..(at + n).min(text.len()), &with);
        }
        if end % 3 == 0 {
            text.truncate(end as usize % text.len());
        }
        if let Ok(dump) = dump::read(&text) {
            let _ = Simulation::new(Scenario::of_dump(&dump));
        }
        let _ = dump::read(&format!("{{{text}"));
    }
}
