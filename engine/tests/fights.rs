//! Writers of one field, in the simulated world: who owns it, who has written it, and what their fight costs.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::view::{self, FieldRow, Fight};
use loopscope_engine::world::{Ask, Command, Outcome, Simulation};
use play::{apply, n_ready, object, run_for, scale, scenario, target, until, workload, world};
use serde_json::{Value, json};

fn web(replicas: Option<i32>) -> Value {
    let mut value = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "app:v1"}]}}}});
    if let Some(replicas) = replicas {
        value["spec"]["replicas"] = replicas.into();
    }
    value
}

fn by_server(simulation: &mut Simulation, manager: &str, object: Value, force: bool) -> Outcome {
    let ask = Ask::ServerSideApply { namespace: "default".into(), object, force };
    simulation.dispatch(Command::Request { manager: manager.into(), ask })
}

fn autoscale(simulation: &mut Simulation, replicas: i32) {
    let ask = Ask::Scale { target: target(Kind::Deployment, "web"), replicas };
    let outcome = simulation.dispatch(Command::Request { manager: "kube-controller-manager".into(), ask });
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn key() -> ObjectKey {
    ObjectKey::new(Kind::Deployment, "default", "web")
}

fn field(simulation: &Simulation, path: &str) -> FieldRow {
    let ownership = view::ownership(simulation, &key()).expect("it is there");
    ownership.fields.into_iter().find(|it| it.path == path).unwrap_or_else(|| panic!("no field {path}"))
}

fn owners(simulation: &Simulation, path: &str) -> Vec<String> {
    field(simulation, path).owners.into_iter().map(|it| it.manager).collect()
}

const REPLICAS: &str = ".spec.replicas";

#[test]
fn each_field_tells_its_owners_and_its_writers() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 2"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 2);
    assert_eq!(owners(&simulation, REPLICAS), ["kubectl-client-side-apply"]);
    assert_eq!(
        owners(&simulation, ".metadata.annotations.deployment.kubernetes.io/revision"),
        ["kube-controller-manager (status)"]
    );
    assert!(field(&simulation, REPLICAS).writes.is_empty(), "nobody has changed it");
    run_for(&mut simulation, 5_000);
    scale(&mut simulation, Kind::Deployment, "web", 3);
    let row = field(&simulation, REPLICAS);
    assert_eq!((row.value.as_str(), row.owners.len()), ("3", 1));
    assert_eq!((row.owners[0].manager.as_str(), row.owners[0].since.as_str()), ("kubectl (scale)", ""));
    let write = &row.writes[0];
    assert_eq!((write.from.as_str(), write.to.as_str(), write.manager.as_str()), ("2", "3", "kubectl (scale)"));
    assert_eq!(write.time_ms, simulation.now().0);
    assert!(view::event(&simulation, write.seq).is_some(), "the write is an event of the trace");
    let lanes = view::ownership(&simulation, &key()).expect("it is there").lanes;
    assert_eq!(lanes, ["kube-controller-manager (status)", "kubectl-client-side-apply", "kubectl (scale)"]);
}

/// G5: who applies through the server meets a conflict rather than a fight.
#[test]
fn g5_an_apply_meets_the_autoscaler_and_is_refused() {
    let mut simulation = world(scenario());
    assert!(by_server(&mut simulation, "helm", web(Some(3)), false).is_ok());
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    autoscale(&mut simulation, 5);
    let outcome = by_server(&mut simulation, "helm", web(Some(3)), false);
    let text = format!("{:?}", outcome);
    let message = "Apply failed with 1 conflict: conflict with \\\"kube-controller-manager\\\" with subresource \\\"scale\\\" using apps/v1: .spec.replicas";
    assert!(text.contains(message), "{text}");
    assert_eq!(owners(&simulation, REPLICAS), ["kube-controller-manager (scale)"]);
    // The cure: the manifest says nothing of the size, which stays as the autoscaler has set it.
    assert!(by_server(&mut simulation, "helm", web(None), false).is_ok());
    let wanted = object(&simulation, Kind::Deployment, "web").expect("it is there").to_value();
    assert_eq!(wanted["spec"]["replicas"], 5);
    assert!(view::fights(&simulation).is_empty());
}

fn fight_of(simulation: &Simulation) -> Fight {
    let mut all: Vec<Fight> = view::fights(simulation).into_iter().filter(|it| it.key == key()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn writers_that_take_turns_fight_and_the_pods_are_counted() {
    let mut simulation = world(scenario());
    assert!(by_server(&mut simulation, "gitops", web(Some(1)), false).is_ok());
    until(&mut simulation, 10_000, |it| n_ready(it) == 1);
    for _ in 0..3 {
        run_for(&mut simulation, 10_000);
        autoscale(&mut simulation, 2);
        run_for(&mut simulation, 10_000);
        assert!(by_server(&mut simulation, "gitops", web(Some(1)), true).is_ok());
    }
    run_for(&mut simulation, 40_000);
    let fight = fight_of(&simulation);
    assert_eq!((fight.path.as_str(), fight.writes, fight.turns), (REPLICAS, 6, 5));
    let sides: Vec<(&str, usize, &str)> =
        fight.writers.iter().map(|it| (it.manager.as_str(), it.writes, it.value.as_str())).collect();
    assert_eq!(sides, [("kube-controller-manager (scale)", 3, "2"), ("gitops", 3, "1")]);
    let values: Vec<&str> = fight.values.iter().map(|it| it.to.as_str()).collect();
    assert_eq!(values, ["2", "1", "2", "1", "2", "1"], "a sawtooth");
    assert_eq!((fight.pods_created, fight.pods_killed, fight.is_whole), (3, 3, true));
    assert_eq!(fight.last_ms - fight.first_ms, 50_000);
    // The field dropped from Git, the autoscaler's size stays, and ten minutes later nobody speaks of it.
    autoscale(&mut simulation, 2);
    assert!(by_server(&mut simulation, "gitops", web(None), false).is_ok());
    run_for(&mut simulation, 601_000);
    assert_eq!(n_ready(&simulation), 2);
    assert!(view::fights(&simulation).is_empty());
}

/// A person who scales up and down alone, and two who each say something once, fight with nobody.
#[test]
fn one_writer_or_a_correction_is_no_fight() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "replicas: 1"));
    for replicas in [2, 1, 2, 1, 2, 1] {
        scale(&mut simulation, Kind::Deployment, "web", replicas);
        run_for(&mut simulation, 1_000);
    }
    assert!(view::fights(&simulation).is_empty());
    autoscale(&mut simulation, 2);
    assert!(view::fights(&simulation).is_empty(), "one turn is none");
}
