//! Real public manifests load, and every Deployment in them reaches its ready count.

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::manifest::Severity;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation};

fn manifests() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/manifests");
    let entries = std::fs::read_dir(folder).expect("the manifests are there").filter_map(Result::ok);
    let mut all: Vec<(String, String)> = entries
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).expect("a manifest can be read");
            (entry.file_name().to_string_lossy().to_string(), text)
        })
        .collect();
    all.sort();
    all
}

fn is_ready(object: &Object) -> bool {
    object.as_deployment().is_some_and(|it| {
        it.status.ready_replicas == it.spec.wanted() && it.status.available_replicas == it.spec.wanted()
    })
}

/// sock-shop's published file lacks a line break before the separator that follows `user-db`: its node selector reads
/// `linux---`, which Kubernetes refuses. With the line break every Deployment is accepted.
const RUN_TOGETHER: &str = "kubernetes.io/os: linux---\n";

fn mended(text: &str) -> String {
    text.replace(RUN_TOGETHER, "kubernetes.io/os: linux\n---\n")
}

#[test]
fn the_one_mistake_in_them_is_refused_as_kubernetes_refuses_it_and_stops_nothing_else() {
    let (_, text) = manifests().into_iter().find(|(file, _)| file == "sock-shop.yaml").expect("it is in the set");
    let line = 1 + text.lines().position(|line| line.ends_with("linux---")).expect("the mistake is there") as u32;
    let mut simulation = Simulation::new(Scenario::empty(7));
    let outcome = simulation.dispatch(Command::Apply { manifest: text });
    let errors: Vec<_> = outcome.problems.iter().filter(|it| it.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!((errors[0].line, errors[0].path.as_str()), (line, "spec.template.spec.nodeSelector"));
    assert!(
        errors[0].message.starts_with("Invalid value: \"linux---\": a valid label must be"),
        "{}",
        errors[0].message
    );
    let until = simulation.now() + Millis(240_000);
    assert!(simulation.run_until(until, 50_000_000));
    let ready = simulation.api().objects().of_kind(Kind::Deployment).filter(|object| is_ready(object)).count();
    assert_eq!(ready, 13, "all but user-db");
}

#[test]
fn every_deployment_of_every_file_reaches_its_ready_count() {
    let mut deployments = 0;
    for (file, text) in manifests() {
        let text = mended(&text);
        let mut simulation = Simulation::new(Scenario::empty(7));
        let outcome = simulation.dispatch(Command::Apply { manifest: text });
        assert!(outcome.is_ok(), "{file}: {:#?}", outcome.problems);
        assert!(!outcome.lines.is_empty(), "{file} holds objects");
        assert!(outcome.lines.iter().all(|line| line.ends_with(" created")), "{file}: {:?}", outcome.lines);
        let until = simulation.now() + Millis(240_000);
        assert!(simulation.run_until(until, 50_000_000));
        for object in simulation.api().objects().of_kind(Kind::Deployment) {
            deployments += 1;
            assert!(is_ready(object), "{file}: {} {:?}", object.key(), object.as_deployment().map(|it| &it.status));
        }
    }
    assert_eq!(deployments, 28, "the set has 28 Deployments");
}

#[test]
fn all_files_together_run_beside_each_other() {
    let mut simulation = Simulation::new(Scenario::with_nodes(7, 5, "4", "8Gi"));
    for (_, text) in manifests() {
        simulation.dispatch(Command::Apply { manifest: text });
    }
    let until = simulation.now() + Millis(240_000);
    assert!(simulation.run_until(until, 50_000_000));
    let mut all = simulation.api().objects().of_kind(Kind::Deployment);
    assert!(all.all(is_ready));
}

#[test]
fn what_is_not_simulated_is_listed() {
    for (file, text) in manifests() {
        let mut simulation = Simulation::new(Scenario::empty(7));
        let outcome = simulation.dispatch(Command::Apply { manifest: text.clone() });
        let listed: Vec<&str> = outcome
            .problems
            .iter()
            .filter(|it| it.severity == Severity::NotSimulated)
            .map(|it| it.message.as_str())
            .collect();
        for kind in ["ServiceAccount", "Ingress"] {
            let holds = text.lines().any(|line| line.trim_end() == format!("kind: {kind}"));
            assert_eq!(
                holds,
                listed.iter().any(|message| message.starts_with(&format!("{kind} "))),
                "{file}: {kind}, {listed:#?}"
            );
        }
    }
}
