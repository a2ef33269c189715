//! EndpointSlice, adoption, rollback, the pod collector and the limits of clients, held against the courses of the
//! recordings that each test names.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{EndpointSlice, Kind, Object, ObjectKey};
use loopscope_engine::client::What;
use loopscope_engine::world::{ClientLimit, Command, Scenario, Simulation};
use play::*;

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
fn a_service_gets_an_address_and_ports_of_nodes_and_keeps_them() {
    let typed = |kind: &str| SERVICE.replace("spec:\n", &format!("spec:\n  type: {kind}\n"));
    let spec = |simulation: &Simulation, name: &str| {
        let found = simulation.api().objects().get(&ObjectKey::new(Kind::Service, "default", name)).cloned();
        let Some(Object::Service(service)) = found else { panic!("no service {name}") };
        let port = service.spec.ports.first().and_then(|it| it.extra.get("nodePort")?.as_u64());
        (service.spec.cluster_ip.clone(), port)
    };
    let mut simulation = world(scenario());
    apply(&mut simulation, SERVICE);
    let (address, port) = spec(&simulation, "web");
    assert!(address.starts_with("10.") && port.is_none(), "{address}");
    apply(&mut simulation, &typed("NodePort"));
    let (same, port) = spec(&simulation, "web");
    assert_eq!(same, address);
    assert!(port.is_some_and(|it| (30_000..32_768).contains(&it)), "{port:?}");
    apply(&mut simulation, &typed("NodePort").replace("targetPort: 8080", "targetPort: 8081"));
    assert_eq!(spec(&simulation, "web"), (address.clone(), port), "a changed port keeps its number");
    for n in 0..300 {
        apply(&mut simulation, &typed("LoadBalancer").replace("name: web", &format!("name: other-{n}")));
    }
    let mut all: Vec<_> = (0..300).map(|n| spec(&simulation, &format!("other-{n}"))).collect();
    all.push((address, port));
    let n_ports = all.iter().map(|it| it.1).collect::<std::collections::BTreeSet<_>>().len();
    let n_addresses = all.into_iter().map(|it| it.0).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!((n_addresses, n_ports), (301, 301), "none is given twice");
    let none = typed("ExternalName")
        .replace("name: web", "name: far")
        .replace("spec:\n", "spec:\n  externalName: example.org\n");
    apply(&mut simulation, &none);
    assert_eq!(spec(&simulation, "far"), (String::new(), None));
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

#[test]
fn of_two_that_would_take_a_pod_one_gets_it() {
    let mut simulation = world(scenario());
    let stray = "apiVersion: v1\nkind: Pod\nmetadata: {name: stray, labels: {app: web, tier: front}}\nspec: {containers: [{name: app, image: \"app:v1\"}]}\n";
    let set = |name: &str, selector: &str| {
        format!(
            "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {name}}}\nspec:\n  replicas: 1\n  selector: {{matchLabels: {{{selector}}}}}\n  template:\n    metadata: {{labels: {{app: web, tier: front}}}}\n    spec: {{containers: [{{name: app, image: \"app:v1\"}}]}}\n"
        )
    };
    apply(&mut simulation, &format!("{}---\n{}---\n{stray}", set("a", "app: web"), set("b", "tier: front")));
    run_for(&mut simulation, 60_000);
    let owners: Vec<_> = pods(&simulation).iter().map(|pod| pod.metadata.owner_references.clone()).collect();
    assert!(owners.iter().all(|all| all.len() == 1), "{owners:?}");
    let refused = simulation.trace().events().find_map(|event| match &event.what {
        What::Refused { code: 422, message, .. } => Some(message.clone()),
        _ => None,
    });
    let message = refused.expect("both ask at once");
    assert!(message.ends_with("in references for ReplicaSet/a and ReplicaSet/b"), "{message}");
    assert_eq!(pods(&simulation).len(), 2, "each has one");
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
