//! What the inspector and the manifest's comparison show: YAML, conditions, owners, what is gone, what would change.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::history::History;
use loopscope_engine::manifest::{self, Severity};
use loopscope_engine::sim::Time;
use loopscope_engine::view::{self, Change, ObjectDiff};
use loopscope_engine::world::{Command, Instant, Outcome, Scenario, Simulation};
use play::{apply, delete, object, run_for, scale, scenario, target, until, workload, world};
use serde_json::json;

fn key(kind: Kind, name: &str) -> ObjectKey {
    target(kind, name).key()
}

const SETTINGS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels:
    app.kubernetes.io/name: shop
data:
  app.conf: |
    a: 1
    b: 2
  mode: \"on\"
";

fn yaml_of(simulation: &Simulation, kind: Kind, name: &str, managed: bool) -> String {
    view::yaml(simulation, &key(kind, name), managed).expect("it is there")
}

#[test]
fn yaml_is_kubectls_with_and_without_managed_fields() {
    let mut simulation = world(scenario());
    apply(&mut simulation, SETTINGS);
    let uid = object(&simulation, Kind::ConfigMap, "settings").expect("it is there").meta().uid;
    let version = object(&simulation, Kind::ConfigMap, "settings").expect("it is there").meta().resource_version;
    let plain = format!(
        r#"apiVersion: v1
data:
  app.conf: |
    a: 1
    b: 2
  mode: "on"
kind: ConfigMap
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {{"apiVersion":"v1","data":{{"app.conf":"a: 1\nb: 2\n","mode":"on"}},"kind":"ConfigMap","metadata":{{"annotations":{{}},"labels":{{"app.kubernetes.io/name":"shop"}},"name":"settings","namespace":"default"}}}}
  creationTimestamp: "2026-11-30T08:00:01Z"
  labels:
    app.kubernetes.io/name: shop
  name: settings
  namespace: default
  resourceVersion: "{version}"
  uid: {uid}
"#
    );
    assert_eq!(yaml_of(&simulation, Kind::ConfigMap, "settings", false), plain);
    let managed = r#"  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data:
        .: {}
        f:app.conf: {}
        f:mode: {}
      f:metadata:
        f:annotations:
          .: {}
          f:kubectl.kubernetes.io/last-applied-configuration: {}
        f:labels:
          .: {}
          f:app.kubernetes.io/name: {}
    manager: kubectl-client-side-apply
    operation: Update
    time: "2026-11-30T08:00:01Z"
  name: settings
"#;
    assert_eq!(yaml_of(&simulation, Kind::ConfigMap, "settings", true), plain.replace("  name: settings\n", managed));
}

#[test]
fn items_of_lists_and_subresources_are_in_managed_fields() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    scale(&mut simulation, Kind::Deployment, "web", 3);
    let yaml = yaml_of(&simulation, Kind::Deployment, "web", true);
    for line in [
        "              k:{\"name\":\"app\"}:\n                .: {}\n                f:image: {}\n",
        "      f:spec:\n        f:replicas: {}\n    manager: kubectl\n    operation: Update\n    subresource: scale\n",
    ] {
        assert!(yaml.contains(line), "{line} is not in\n{yaml}");
    }
    // What is shown reads back as the same object, with its version.
    let plain = yaml_of(&simulation, Kind::Deployment, "web", false);
    let read = manifest::read(&plain);
    assert_eq!(read.documents[0].object, object(&simulation, Kind::Deployment, "web").expect("it is there"));
    assert!(!read.has_errors(), "{:?}", read.diagnostics);
}

fn error(outcome: &Outcome) -> &manifest::Diagnostic {
    outcome.problems.iter().find(|it| it.severity == Severity::Error).expect("an error")
}

fn replace(simulation: &mut Simulation, text: &str) -> Outcome {
    simulation.dispatch(Command::Replace { manifest: text.into() })
}

#[test]
fn an_edited_object_is_written_unless_it_has_changed_meanwhile() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    run_for(&mut simulation, 20_000);
    let base = yaml_of(&simulation, Kind::Deployment, "web", false);
    let mine = base.replace("replicas: 2\n  revisionHistory", "replicas: 5\n  revisionHistory");
    assert_ne!(base, mine);
    assert_eq!(replace(&mut simulation, &mine).lines, ["deployment.apps/web replaced"]);
    run_for(&mut simulation, 20_000);
    let ready = object(&simulation, Kind::Deployment, "web").and_then(|it| it.as_deployment().cloned());
    assert_eq!(ready.expect("it is there").status.ready_replicas, 5);

    let again = replace(&mut simulation, &mine);
    let problem = error(&again);
    assert_eq!(
        problem.message,
        "409 Conflict: Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again"
    );
    assert_eq!((problem.line, again.is_ok()), (0, false));

    let live = yaml_of(&simulation, Kind::Deployment, "web", false);
    let wrong = live.replace("replicas: 5\n  revisionHistory", "replicas: -1\n  revisionHistory");
    let refused = replace(&mut simulation, &wrong);
    let problem = error(&refused);
    assert_eq!(problem.message, "Invalid value: -1: must be greater than or equal to 0");
    assert_eq!(wrong.lines().nth(problem.line as usize - 1), Some("  replicas: -1"));
}

#[test]
fn changes_are_done_again_on_top_of_what_others_did() {
    let base = json!({"metadata": {"resourceVersion": "1", "labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 2}});
    let mine =
        json!({"metadata": {"resourceVersion": "1", "labels": {"a": "9"}}, "spec": {"replicas": 2, "paused": true}});
    let live = json!({"metadata": {"resourceVersion": "7", "labels": {"a": "1", "b": "2", "c": "3"}}, "spec": {"replicas": 4}});
    let expected = json!({"metadata": {"resourceVersion": "7", "labels": {"a": "9", "c": "3"}}, "spec": {"replicas": 4, "paused": true}});
    assert_eq!(view::rebase(&base, &mine, &live), expected);
}

/// `~ spec.replicas: 2 → 3`
fn lines(diff: &ObjectDiff) -> Vec<String> {
    let line = |it: &view::FieldChange| match it.change {
        Change::Added => format!("+ {}: {}", it.path, it.new),
        Change::Removed => format!("- {}: {}", it.path, it.old),
        Change::Changed => format!("~ {}: {} → {}", it.path, it.old, it.new),
    };
    diff.fields.iter().map(line).collect()
}

#[test]
fn a_comparison_says_what_an_apply_would_change_and_changes_nothing() {
    let mut simulation = world(scenario());
    let web = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {tier: front, team: a}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: 'app:v1'}]}
";
    apply(&mut simulation, web);
    run_for(&mut simulation, 20_000);
    assert_eq!(lines(&view::dry_run(&simulation, web)[0]), Vec::<String>::new());

    let before = (simulation.trace().digest(), simulation.api().version());
    let changed = web
        .replace("replicas: 2", "replicas: 3")
        .replace("app:v1", "app:v2")
        .replace(", team: a", "")
        .replace("image: 'app:v2'", "image: 'app:v2', env: [{name: MODE, value: fast}]");
    let text = format!(
        "{changed}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n---\n{}---\n{}",
        SETTINGS.replace("name: settings", "name: settings\n  namespace: shop"),
        SETTINGS.replace("name: settings", "name: settings\n  namespace: nowhere"),
    );
    let diff = view::dry_run(&simulation, &text);
    assert_eq!(
        lines(&diff[0]),
        [
            "- metadata.labels.team: a",
            "~ spec.replicas: 2 → 3",
            "+ spec.template.spec.containers[name=\"app\"].env[name=\"MODE\"].name: MODE",
            "+ spec.template.spec.containers[name=\"app\"].env[name=\"MODE\"].value: fast",
            "~ spec.template.spec.containers[name=\"app\"].image: app:v1 → app:v2",
        ]
    );
    let heads: Vec<_> = diff.iter().map(|it| (it.title.as_str(), it.is_new, it.refused.as_str())).collect();
    assert_eq!(
        heads,
        [
            ("Deployment web", false, ""),
            ("Namespace shop", true, ""),
            ("ConfigMap settings", true, ""),
            ("ConfigMap settings", true, "404 NotFound: namespaces \"nowhere\" not found"),
        ]
    );
    assert_eq!((simulation.trace().digest(), simulation.api().version()), before);

    // And it is what an apply does.
    apply(&mut simulation, &changed);
    assert_eq!(lines(&view::dry_run(&simulation, &changed)[0]), Vec::<String>::new());
    let frozen = changed.replace("{app: web}}\n  template", "{app: other}}\n  template");
    let refused = &view::dry_run(&simulation, &frozen)[0].refused;
    assert!(refused.starts_with("422 Invalid: ") && refused.contains("field is immutable"), "{refused}");
}

#[test]
fn behind_a_pod_that_was_not_created_is_the_answer_of_the_api_server() {
    let mut simulation = world(scenario());
    apply(&mut simulation, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: {pods: '1'}}}");
    run_for(&mut simulation, 1_000);
    apply(&mut simulation, &workload("ReplicaSet", "web", "app:v1", "replicas: 2"));
    run_for(&mut simulation, 5_000);
    let inspection = view::inspect(&simulation, &key(Kind::ReplicaSet, "web")).expect("it is there");
    let failed = inspection.events.iter().find(|it| it.reason == "FailedCreate").expect("an Event");
    for chain in [&inspection.why, &view::why(&simulation, failed.seq)] {
        let at = chain.iter().position(|it| it.text.contains("403 pod: pods \"web-")).expect("the refusal");
        assert!(chain[at].text.contains("exceeded quota: small"), "{}", chain[at].text);
        assert!(chain[at - 1].text.starts_with("ReplicaSet acted on web: create"), "{}", chain[at - 1].text);
        assert!(chain.windows(2).all(|pair| pair[0].seq < pair[1].seq), "newest last: {chain:?}");
    }
    // Of several, the one that the Event is about.
    let named = view::why(&simulation, failed.seq).into_iter().find(|it| it.text.contains("403")).expect("it");
    assert!(
        failed.message.ends_with(named.text.trim_start_matches("The API server refused: 403 pod: ")),
        "{} {}",
        failed.message,
        named.text
    );
}

#[test]
fn what_is_gone_keeps_its_last_state_and_names_what_took_its_place() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    run_for(&mut simulation, 20_000);
    let pods = play::pods(&simulation);
    let gone = key(Kind::Pod, &pods[0].metadata.name);
    let before = view::inspect(&simulation, &gone).expect("it is there");
    delete(&mut simulation, Kind::Pod, &gone.name);
    until(&mut simulation, 60_000, |it| it.api().objects().get(&gone).is_none());
    run_for(&mut simulation, 12_000);
    let last = view::gone(&simulation, before.clone());
    let it = last.gone.clone().expect("it is gone");
    assert!(it.since.starts_with("12 s") || it.since.starts_with("11 s"), "{}", it.since);
    let names = play::names(&play::pods(&simulation));
    let new: Vec<ObjectKey> =
        names.iter().filter(|it| **it != *pods[1].metadata.name).map(|it| key(Kind::Pod, it)).collect();
    assert_eq!(new.len(), 1);
    assert_eq!(it.replaced_by, new);
    assert_eq!(it.owner.as_ref().map(|it| it.kind), Some(Kind::ReplicaSet));
    assert_eq!((&last.yaml, &last.events, last.can_delete), (&before.yaml, &before.events, false));
    assert!(last.why.iter().any(|it| it.is_you), "{:?}", last.why);

    // Later it says the same, and how long that is.
    run_for(&mut simulation, 30_000);
    let later = view::gone(&simulation, last).gone.expect("it is gone");
    assert_eq!((later.at_ms, later.seq), (it.at_ms, it.seq));
    assert!(later.since.starts_with("42 s") || later.since.starts_with("41 s"), "{}", later.since);
}

#[test]
fn owners_stand_above_and_what_is_owned_below() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    run_for(&mut simulation, 20_000);
    let shape = |kind: Kind, name: &str| -> Vec<(Kind, usize, bool, String)> {
        let kin = view::inspect(&simulation, &key(kind, name)).expect("it is there").kin;
        kin.iter().map(|it| (it.key.kind, it.depth, it.is_self, it.state.clone())).collect()
    };
    let pod = |is_self| (Kind::Pod, 2, is_self, "Running".to_owned());
    let top = |kind, depth, is_self| (kind, depth, is_self, "2 of 2 ready".to_owned());
    assert_eq!(
        shape(Kind::Deployment, "web"),
        [top(Kind::Deployment, 0, true), top(Kind::ReplicaSet, 1, false), pod(false), pod(false)]
    );
    let name = play::pods(&simulation)[0].metadata.name.clone();
    assert_eq!(shape(Kind::Pod, &name), [top(Kind::Deployment, 0, false), top(Kind::ReplicaSet, 1, false), pod(true)]);
}

#[test]
fn conditions_have_an_age_and_each_of_kubernetes_own_a_meaning() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    apply(
        &mut simulation,
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}",
    );
    apply(
        &mut simulation,
        "{apiVersion: batch/v1, kind: Job, metadata: {name: run}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: 'app:done'}]}}}}",
    );
    run_for(&mut simulation, 30_000);
    let mut seen = 0;
    for kind in Kind::ALL {
        for object in simulation.api().objects().of_kind(*kind) {
            for it in view::inspect(&simulation, &object.key()).expect("it is there").conditions {
                assert!(!it.meaning.is_empty(), "{kind:?} {}", it.kind);
                assert!(it.age.ends_with('s') && it.age != "0s", "{kind:?} {} {}", it.kind, it.age);
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// The manifests that the page offers, with how many pods are ready after two minutes.
const SAMPLES: [(&str, &str, usize); 9] = [
    ("web", include_str!("../../src/parts/manifest/samples/web.yaml"), 3),
    ("autoscaled", include_str!("../../src/parts/manifest/samples/autoscaled.yaml"), 2),
    ("traffic", include_str!("../../src/parts/manifest/samples/traffic.yaml"), 3),
    ("unready", include_str!("../../src/parts/manifest/samples/unready.yaml"), 0),
    ("budget", include_str!("../../src/parts/manifest/samples/budget.yaml"), 4),
    ("statefulset", include_str!("../../src/parts/manifest/samples/statefulset.yaml"), 3),
    ("daemonset", include_str!("../../src/parts/manifest/samples/daemonset.yaml"), 3),
    ("job", include_str!("../../src/parts/manifest/samples/job.yaml"), 0),
    ("quota", include_str!("../../src/parts/manifest/samples/quota.yaml"), 2),
];

#[test]
fn samples_are_right_and_do_what_they_say() {
    for (name, text, n_ready) in SAMPLES {
        let mut simulation = world(Scenario::empty(3));
        for (image, index) in [("shop/cart:2.2-rc1", 4), ("shop/report:5", 3)] {
            let subject = loopscope_engine::world::Subject::Image(image.into());
            simulation.dispatch(Command::SetBehavior { subject, behavior: view::behavior(image, index) });
        }
        let read = manifest::read(text);
        let wrong: Vec<_> = read.diagnostics.iter().filter(|it| it.severity != Severity::NotSimulated).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
        assert!(view::dry_run(&simulation, text).iter().all(|it| it.is_new && it.refused.is_empty()), "{name}");
        apply(&mut simulation, text);
        run_for(&mut simulation, 120_000);
        let ready = play::pods(&simulation).iter().filter(|pod| pod.is_ready()).count();
        assert_eq!(ready, n_ready, "{name}");
        let conditions =
            |kind, name: &str| view::inspect(&simulation, &key(kind, name)).expect("it is there").conditions;
        let is = |kind, name: &str, of: &str, status: &str| {
            assert!(
                conditions(kind, name).iter().any(|it| it.kind == of && it.status == status),
                "{of} {:?}",
                conditions(kind, name)
            );
        };
        match name {
            "unready" => is(Kind::Deployment, "unready", "Progressing", "False"),
            "job" => is(Kind::Job, "report", "Complete", "True"),
            "quota" => is(Kind::Deployment, "crowd", "ReplicaFailure", "True"),
            _ => {}
        }
    }
}

#[test]
fn what_is_yet_to_be_created_is_not_called_gone() {
    let mut history = History::new(Scenario::self_healing());
    history.run_until(Time(20_000), usize::MAX);
    let pod = play::pods(history.simulation())[0].metadata.name.clone();
    let key = key(Kind::Pod, &pod);
    let seen = view::inspect(history.simulation(), &key).expect("it is there");
    history.dispatch(Command::delete(target(Kind::Pod, &pod)));
    history.run_until(Time(60_000), usize::MAX);
    let gone = view::gone(history.simulation(), seen);
    let ended = gone.gone.clone().expect("it is gone");
    assert!(ended.seq > 0 && !ended.since.is_empty(), "{ended:?}");

    history.seek(Instant::default());
    let before = view::gone(history.simulation(), gone).gone.expect("it is not there");
    assert_eq!((before.seq, before.since.as_str()), (0, ""));
}
