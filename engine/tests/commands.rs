//! Commands as text: what is written reads back, kubectl's words are understood, and what they do is what kubectl does.

#[path = "common/commands.rs"]
mod commands;
#[path = "common/deeds.rs"]
mod deeds;
#[path = "common/play.rs"]
mod play;

use commands::{any_command, text};
use loopscope_engine::api::{Kind, Labels};
use loopscope_engine::apiserver::PatchType;
use loopscope_engine::environment::{Behavior, Load, Shape};
use loopscope_engine::sim::Time;
use loopscope_engine::view;
use loopscope_engine::world::{
    Command, JournalEntry, NodeSetup, Scenario, Simulation, Subject, Target, read_journal, write_journal,
};
use play::{apply, n_ready, object, run_for, scenario, target, workload, world};
use proptest::prelude::*;
use serde_json::json;

proptest! {
    #[test]
    fn a_command_reads_back_as_it_was_written(command in any_command()) {
        let text = command.to_string();
        let read: Command = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(read, command, "{}", text);
    }

    #[test]
    fn a_journal_reads_back_as_it_was_written(commands in prop::collection::vec((any_command(), 0..1_000_000_u64), 0..6)) {
        let journal: Vec<JournalEntry> =
            commands.into_iter().map(|(command, at)| JournalEntry { at: Time(at), nth: None, command }).collect();
        let text = write_journal(&journal);
        prop_assert_eq!(read_journal(&text), Ok(journal), "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in text()) {
        let _ = text.parse::<Command>();
        let _ = read_journal(&text);
    }
}

fn shop(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "shop".into(), name: name.into() }
}

#[test]
fn commands_are_written_in_the_words_of_kubectl() {
    let web = || target(Kind::Deployment, "web");
    let exit = Behavior { serve_ms: None, exit: Some((3_000, 1)), ..Behavior::usual("app:v2") };
    let ssd: Labels = [("disk".to_string(), "ssd".to_string())].into();
    let all = [
        (
            Command::Scale { target: shop(Kind::Deployment, "web"), replicas: 5 },
            "kubectl scale deployment/web --replicas=5 -n shop",
        ),
        (
            Command::SetImage { target: web(), container: "app".into(), image: "app:v2".into() },
            "kubectl set image deployment/web app=app:v2",
        ),
        (Command::Rollback { target: web(), to_revision: 2 }, "kubectl rollout undo deployment/web --to-revision=2"),
        (Command::Rollback { target: web(), to_revision: 0 }, "kubectl rollout undo deployment/web"),
        (Command::Pause { target: web(), on: true }, "kubectl rollout pause deployment/web"),
        (Command::Pause { target: web(), on: false }, "kubectl rollout resume deployment/web"),
        (Command::Restart { target: target(Kind::DaemonSet, "agent") }, "kubectl rollout restart daemonset/agent"),
        (
            Command::Patch { target: web(), kind: PatchType::Merge, patch: json!({"spec": {"replicas": 2}}) },
            "kubectl patch deployment/web --type=merge -p '{\"spec\":{\"replicas\":2}}'",
        ),
        (
            Command::Delete {
                target: target(Kind::Pod, "x"),
                propagation: Some(loopscope_engine::apiserver::Propagation::Foreground),
                grace: Some(0),
            },
            "kubectl delete pod/x --cascade=foreground --grace-period=0",
        ),
        (Command::Evict { target: target(Kind::Pod, "x") }, "evict pod/x"),
        (Command::Cordon { node: "node-1".into(), on: true }, "kubectl cordon node-1"),
        (Command::Apply { manifest: "kind: Pod\n".into() }, "kubectl apply -f - <<'EOF'\nkind: Pod\nEOF"),
        (Command::Replace { manifest: "kind: Pod\n".into() }, "kubectl replace -f - <<'EOF'\nkind: Pod\nEOF"),
        (Command::StopNode { node: "node-1".into() }, "node stop node-1"),
        (
            Command::AddNode { node: NodeSetup { labels: ssd, ..NodeSetup::named("node-4", "4", "8Gi") } },
            "node add node-4 --cpu=4 --memory=8Gi --label=disk=ssd",
        ),
        (
            Command::SetBehavior { subject: Subject::Image("app:v2".into()), behavior: exit },
            "image app:v2 behave --ready-after=never --exit=1@3s",
        ),
        (
            Command::SetLoad {
                target: target(Kind::Service, "web"),
                load: Load { shape: Shape::Steady { amount: 50_000 }, cost_micro: 20_000, capacity: Some(30_500) },
            },
            "load service/web --steady=50 --cost=20m --capacity=30500m",
        ),
        (
            Command::SetLoad {
                target: shop(Kind::Deployment, "web"),
                load: Load {
                    shape: Shape::Wave { low: 100, high: 2_000, period_ms: 120_000 },
                    cost_micro: 0,
                    capacity: None,
                },
            },
            "load deployment/web --wave=100m..2 --period=120s -n shop",
        ),
        (
            Command::SetLoad {
                target: target(Kind::Service, "web"),
                load: Load {
                    shape: Shape::Drawn { points: vec![(0, 10_000), (30_000, 80_000), (60_500, 0)] },
                    cost_micro: 0,
                    capacity: None,
                },
            },
            "load service/web --curve=0ms:10,30s:80,60500ms:0",
        ),
        (Command::StopLoad { target: target(Kind::Service, "web") }, "load service/web stop"),
        (Command::SetReady { namespace: "default".into(), pod: "web-1".into(), ready: false }, "pod web-1 unready"),
        (
            Command::CrashContainer { namespace: "shop".into(), pod: "web-1".into(), container: "app".into(), code: 1 },
            "container web-1/app crash --code=1 -n shop",
        ),
        (Command::CrashController { process: "kube-scheduler".into() }, "controller crash kube-scheduler"),
        (
            Command::SetExpectations { process: "kube-controller-manager".into(), on: false },
            "controller expectations-off kube-controller-manager",
        ),
    ];
    for (command, text) in all {
        assert_eq!(command.to_string(), text);
        assert_eq!(text.parse(), Ok(command));
    }
}

#[test]
fn a_person_may_write_as_with_kubectl() {
    let read = |text: &str| text.parse::<Command>();
    let web = target(Kind::Deployment, "web");
    let scale = Command::Scale { target: web.clone(), replicas: 3 };
    assert_eq!(read("  kubectl   scale deploy/web -n default --replicas=3 "), Ok(scale.clone()));
    assert_eq!(read("kubectl scale deployments/\"web\" --replicas='3'\n"), Ok(scale));
    let patch = Command::Patch { target: web, kind: PatchType::Strategic, patch: json!({"a": "it's"}) };
    assert_eq!(read("kubectl patch deploy/web -p \"{\\\"a\\\": \\\"it's\\\"}\""), Ok(patch));
    for (text, error) in [
        ("kubectl scale deployment/web", "--replicas is required"),
        ("kubectl scale deployment/web --replicas=many", "--replicas=many: not a number that can be meant"),
        ("kubectl scale web --replicas=3", "\"web\" is not of the form kind/name"),
        ("kubectl delete wagon/web", "the server doesn't have a resource type \"wagon\""),
        ("kubectl delete pod/x --force", "unknown flag: --force"),
        ("kubectl delete pod/x -n", "flag needs an argument: -n"),
        ("kubectl get pods", "unknown command \"kubectl get pods\""),
        ("kubectl apply -f - <<'EOF'\nkind: Pod\n", "the here-document does not end: no line \"EOF\""),
        ("load service/web", "one of --steady, --ramp, --wave and --curve is required"),
        ("load service/web --ramp=1..5", "--over is required"),
        ("load service/web --steady=-1", "\"-1\" is no amount such as 50 or 200m"),
        ("load service/web --curve=5:1", "\"5\" is no time such as 3s or 1500ms"),
        ("image app:v1 behave --exit=1", "--exit=1: an @ is missing"),
        ("image app:v1 behave --pull=3", "\"3\" is no time such as 3s or 1500ms"),
        ("node stop 'node-1", "a quote is not closed"),
        ("node stop node-1\nnode stop node-2", "more than one command"),
        ("", "no command"),
    ] {
        assert_eq!(read(text), Err(error.to_string()), "{text}");
    }
}

#[test]
fn a_journal_is_a_script_that_gives_the_same_world() {
    let script = "\
# A rollout, paused on the way.
0.500s kubectl apply -f - <<'EOF'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: 'app:v1'}]}
EOF
10.000s kubectl set image deployment/web app=app:v2

10.750s kubectl rollout pause deployment/web
20.000s kubectl rollout resume deployment/web
";
    let journal = read_journal(script).expect("it can be read");
    assert_eq!(journal.iter().map(|it| it.at.0).collect::<Vec<_>>(), [500, 10_000, 10_750, 20_000]);
    let play = |journal: Vec<JournalEntry>| {
        let mut simulation = Simulation::new(scenario());
        for entry in journal {
            assert!(simulation.run_until(entry.at, usize::MAX));
            assert!(simulation.dispatch(entry.command).is_ok());
        }
        run_for(&mut simulation, 30_000);
        simulation
    };
    let first = play(journal);
    assert_eq!(n_ready(&first), 3);
    let second = play(read_journal(&write_journal(first.journal())).expect("it can be read"));
    assert_eq!(first.trace().digest(), second.trace().digest());
    assert_eq!(read_journal("# one\n\n12s kubectl cordon a\n"), Err((3, "\"12s\" is no time such as 12.345s".into())));
    let odd = "1.000s node stop a\n2.000s node burn a\n";
    assert_eq!(read_journal(odd), Err((2, "unknown command \"node burn a\"".into())));
}

/// Recording `rollout_history_undo`.
#[test]
fn rollouts_pause_resume_and_restart_with_the_answers_of_kubectl() {
    let mut simulation = world(scenario());
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";
    apply(&mut simulation, &format!("{}{service}", workload("Deployment", "web", "app:v1", "replicas: 3")));
    run_for(&mut simulation, 10_000);
    let ask = |simulation: &mut Simulation, text: &str| {
        let outcome = simulation.dispatch(text.parse().expect("a command"));
        outcome.problems.into_iter().map(|it| it.message).chain(outcome.lines).collect::<Vec<_>>().join("\n")
    };
    let web = |simulation: &Simulation| object(simulation, Kind::Deployment, "web").expect("there").to_value();
    for (command, answer) in [
        ("resume deployment/web", "deployments.apps \"web\" is not paused"),
        ("pause deployment/web", "deployment.apps/web paused"),
        ("pause deployment/web", "deployments.apps \"web\" is already paused"),
        (
            "restart deployment/web",
            "deployments.apps \"web\" can't restart paused deployment (run rollout resume first)",
        ),
        (
            "undo deployment/web",
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again",
        ),
        ("pause service/web", "services \"web\" pausing is not supported"),
        ("restart service/web", "services \"web\" restarting is not supported"),
        ("restart deployment/nope", "deployments.apps \"nope\" not found"),
        ("resume deployment/web", "deployment.apps/web resumed"),
        ("restart deployment/web", "deployment.apps/web restarted"),
        (
            "restart deployment/web",
            "failed to create patch for web: if restart has already been triggered within the past second, please wait before attempting to trigger another",
        ),
    ] {
        assert_eq!(ask(&mut simulation, &format!("kubectl rollout {command}")), answer, "{command}");
    }
    assert_eq!(web(&simulation)["spec"].get("paused"), None);
    let annotations = web(&simulation)["spec"]["template"]["metadata"]["annotations"].clone();
    assert_eq!(annotations["kubectl.kubernetes.io/restartedAt"], json!("2026-11-30T08:00:11Z"));
    run_for(&mut simulation, 30_000);
    let sets = simulation.api().objects().of_kind(Kind::ReplicaSet).count();
    assert_eq!((sets, n_ready(&simulation)), (2, 3), "every pod is new");
    assert_eq!(ask(&mut simulation, "kubectl rollout undo deployment/web"), "deployment.apps/web rolled back");
}

/// What is written down of a text says whether anything of it was sent.
#[test]
fn a_text_that_is_refused_whole_is_no_manifest_that_was_applied() {
    let said = |command: Command| {
        let mut simulation = Simulation::new(Scenario::empty(7));
        let first = simulation.trace().last_seq();
        let outcome = simulation.dispatch(command);
        let row = view::event(&simulation, first.0 + 1).expect("the command");
        let words = simulation.journal().last().map(|entry| entry.command.words());
        assert_eq!(words.as_deref(), Some(row.text.0.as_str()), "the list of steps says the same");
        (row.text.plain(), outcome.is_ok())
    };
    let apply = |text: &str| Command::Apply { manifest: text.into() };
    let good = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
    let bad = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: three}}";
    assert_eq!(said(apply(good)), ("applied ConfigMap a".into(), true));
    let (text, is_ok) = said(apply(bad));
    assert!(text.starts_with("tried to apply a manifest, refused: ") && text.contains("three") && !is_ok, "{text}");
    assert_eq!(said(apply(&format!("{good}\n---\n{bad}"))).0, "applied ConfigMap a", "in part");
    assert_eq!(said(apply("# nothing")).0, "tried to apply a manifest, refused: no objects in it");
    let replace = |text: String| Command::Replace { manifest: text };
    let (text, _) = said(replace(format!("{good}\n---\n{bad}")));
    assert!(text.starts_with("tried to replace an object, refused: "), "{text}");
}
