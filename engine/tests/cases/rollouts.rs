//! R: rollouts.

use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::NodeSetup;

use super::*;
use crate::play::{behaviors, delete, messages, pod, scale, scenario, set_image};
use crate::rollout::{self, Sizes, begin, begin_from, image, manifest, never, slow, status_of};

const MISSING: &str = "app:missing";

/// Ten replicas whose new image never comes up: 8 old ones that are ready and 5 new ones that are not.
fn frozen() -> (Simulation, Sizes, Time) {
    let (mut simulation, mut sizes) = begin(10, "", &[(MISSING, never())]);
    let begun = simulation.now();
    image(&mut simulation, MISSING);
    sizes.run(&mut simulation, 5_000);
    assert_eq!(sizes.take(), [vec![10], vec![10, 3], vec![8, 3], vec![8, 5]]);
    (simulation, sizes, begun)
}

/// Surge 3, unavailable 2: new 3, old 10 to 8, new 5; frozen at 8 + 5 = 13, Available, and told off after 600 s.
#[test]
fn r1_a_broken_image_freezes_at_eight_and_five() {
    let (mut simulation, mut sizes, begun) = frozen();
    assert_eq!((pods(&simulation).len(), n_ready(&simulation)), (13, 8));
    assert_eq!(status_of(&simulation, "Available").0, "True", "8 of at least 8");
    let late = until(&mut simulation, 605_000, |it| status_of(it, "Progressing").1 == "ProgressDeadlineExceeded");
    assert!((600_000..=602_000).contains(&late.since(begun).0), "{:?}", late.since(begun));
    assert_eq!(
        (status_of(&simulation, "Progressing").0, status_of(&simulation, "Available").0),
        ("False".into(), "True".into())
    );
    run_for(&mut simulation, 3_600_000);
    sizes.look(&simulation);
    assert!(sizes.take().is_empty());
    assert_eq!((pods(&simulation).len(), n_ready(&simulation)), (13, 8));
}

/// Undoing R1: the good ReplicaSet is the new one; 13 − 8 − 0 = 5, so all broken ones go in one step, then 8 to 10, and
/// never fewer than eight serve.
#[test]
fn r2_undoing_takes_the_broken_ones_in_one_step() {
    let (mut simulation, mut sizes, _) = frozen();
    run_for(&mut simulation, 602_000);
    command(&mut simulation, "kubectl rollout undo deployment/web");
    for _ in 0..200 {
        sizes.run(&mut simulation, 20);
        assert!(n_ready(&simulation) >= 8, "no extra unavailability");
    }
    assert_eq!(sizes.take(), [vec![8, 0], vec![10, 0]]);
    assert_eq!(n_ready(&simulation), 10);
}

/// The same with one good pod dead meanwhile: 13 − 8 − 1 = 4, so the broken ones go from 5 to 1 first.
#[test]
fn r2_with_a_dead_pod_one_broken_one_stays_at_first() {
    let (mut simulation, mut sizes) = begin_from(&probed(10), 10, &[(MISSING, never())]);
    image(&mut simulation, MISSING);
    sizes.run(&mut simulation, 5_000);
    assert_eq!(sizes.take().last(), Some(&vec![8, 5]));
    let victim = pods(&simulation).into_iter().find(|pod| pod.is_ready()).expect("there are eight");
    command(&mut simulation, &format!("pod {} unready", victim.metadata.name));
    until(&mut simulation, 10_000, |it| n_ready(it) == 7);
    sizes.run(&mut simulation, 1_000);
    assert!(sizes.take().is_empty());
    command(&mut simulation, "kubectl rollout undo deployment/web");
    sizes.run(&mut simulation, 10_000);
    assert_eq!(sizes.take(), [vec![8, 1], vec![10, 1], vec![10, 0]]);
}

/// The manifest with a readiness probe of every second.
fn probed(replicas: i32) -> String {
    manifest(replicas, "")
        .replace("resources:", "readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}, resources:")
}

/// A quarter of three is one more, rounded up, and none less, rounded down: without room for a fourth pod nothing moves.
#[test]
fn r4_three_pods_need_room_for_a_fourth() {
    let (mut simulation, mut sizes) = begin(3, "", &[(MISSING, never())]);
    image(&mut simulation, MISSING);
    sizes.run(&mut simulation, 10_000);
    assert_eq!(sizes.take(), [vec![3], vec![3, 1]]);
    assert_eq!(rollout::web(&simulation).status.available_replicas, 3);

    let nodes = ["n-1", "n-2", "n-3"].map(|name| NodeSetup::named(name, "1", "8Gi"));
    let mut simulation = world(Scenario { nodes: nodes.into(), ..scenario() });
    apply(&mut simulation, &manifest(3, "").replace("cpu: 100m", "cpu: 800m"));
    until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    image(&mut simulation, "app:v2");
    run_for(&mut simulation, 3_600_000);
    let waiting: Vec<_> = pods(&simulation).into_iter().filter(|pod| !pod.is_assigned()).collect();
    assert_eq!((waiting.len(), n_ready(&simulation)), (1, 3), "the fourth waits, and with it the rollout");
    assert!(pods(&simulation).iter().all(|pod| pod.is_ready() == (pod.spec.containers[0].image == "app:v1")));
    command(&mut simulation, "node add n-4 --cpu=1 --memory=8Gi");
    until(&mut simulation, 60_000, |it| {
        n_ready(it) == 3 && pods(it).iter().all(|pod| pod.spec.containers[0].image == "app:v2")
    });
}

/// Times at which a creation of a pod was refused.
fn refusals(simulation: &Simulation) -> Vec<Time> {
    let refused = simulation.trace().events().filter(
        |event| matches!(&event.what, What::Refused { key, code: 403, method: "POST", .. } if key.kind == Kind::Pod),
    );
    refused.map(|event| event.at).collect()
}

/// A quota of three pods for three replicas: the apply is fine, the fourth pod is refused, and the old ones never shrink.
/// The tries come 5 ms · 2ⁿ apart, up to 1,000 s, and a wider quota wakes nobody.
#[test]
fn r5_a_full_quota_stops_a_rollout_that_was_applied_well() {
    let mut simulation = start(scenario(), 3);
    let quota = |pods: u32| {
        format!("{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: q}}, spec: {{hard: {{pods: '{pods}'}}}}}}")
    };
    apply(&mut simulation, &quota(3));
    run_for(&mut simulation, 1_000);
    let outcome = simulation.dispatch(Command::Apply { manifest: web(3).replace("app:v1", "app:v2") });
    assert_eq!(outcome.lines, ["deployment.apps/web configured"]);
    run_for(&mut simulation, 1_000);
    let told = condition_of(&simulation, Kind::Deployment, "web", "ReplicaFailure").expect("there");
    assert_eq!((told.status.as_str(), told.reason.as_str()), ("True", "FailedCreate"));
    let is_quota = |it: &str| {
        it.starts_with("pods \"web-")
            && it.ends_with("\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3")
    };
    assert!(is_quota(&told.message), "{}", told.message);
    let events = messages(&simulation, "FailedCreate");
    assert!(!events.is_empty());
    for event in events {
        assert!(event.strip_prefix("Error creating: ").is_some_and(is_quota), "{event}");
    }
    run_for(&mut simulation, 14_400_000);
    assert_eq!((pods(&simulation).len(), n_ready(&simulation)), (3, 3));
    assert!(pods(&simulation).iter().all(|pod| pod.spec.containers[0].image == "app:v1"), "the old ones stay");
    let gaps: Vec<u64> = refusals(&simulation).windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
    let long: Vec<u64> = gaps.iter().copied().filter(|gap| *gap >= 2_000).collect();
    let expected = [2_560, 5_120, 10_240, 20_480, 40_960, 81_920, 163_840, 327_680, 655_360, 1_000_000, 1_000_000];
    for (gap, nominal) in long.iter().zip(expected) {
        assert!((nominal..=nominal + 100).contains(gap), "{long:?}");
    }
    assert!(long.len() >= expected.len() && long.iter().all(|gap| *gap <= 1_000_100), "{long:?}");
    let last = *refusals(&simulation).last().expect("there are some");
    apply(&mut simulation, &quota(10));
    let next = until(&mut simulation, 1_000_100, |it| pods(it).len() == 4);
    assert!((1_000_000..=1_000_100).contains(&next.since(last).0), "the wait goes on: {:?}", next.since(last));
    until(&mut simulation, 30_000, |it| {
        n_ready(it) == 3 && pods(it).len() == 3 && condition_of(it, Kind::Deployment, "web", "ReplicaFailure").is_none()
    });
}

/// Pods on their way out do not count: of 15 that take a minute to stop, 3 terminate beside 7 new ones, not 4, and 22
/// take up room.
#[test]
fn r6_the_surge_ignores_pods_that_terminate() {
    let lingering = Behavior { stop_ms: 60_000, ..behaviors().0["app:v1"] };
    let patient = manifest(15, "").replace("containers:", "terminationGracePeriodSeconds: 90\n      containers:");
    let (mut simulation, mut sizes) = begin_from(&patient, 15, &[("app:v1", lingering), ("app:v2", slow())]);
    image(&mut simulation, "app:v2");
    sizes.run(&mut simulation, 1_000);
    assert_eq!(sizes.take(), [vec![15], vec![15, 4], vec![12, 4], vec![12, 7]]);
    assert_eq!((pods(&simulation).len(), terminating(&simulation)), (22, 3));
    let status = rollout::web(&simulation).status.clone();
    assert_eq!((status.replicas, status.terminating_replicas), (19, Some(3)));
    let first =
        pods(&simulation).iter().filter(|pod| pod.is_terminating()).map(|pod| pod.metadata.uid).collect::<Vec<_>>();
    let still = |it: &Simulation| pods(it).iter().filter(|pod| first.contains(&pod.metadata.uid)).count();
    run_for(&mut simulation, 58_000);
    assert_eq!(still(&simulation), 3);
    run_for(&mut simulation, 3_000);
    assert_eq!(still(&simulation), 0);
}

fn database(policy: &str) -> Simulation {
    let mut simulation = world(scenario());
    let more = format!("replicas: 3\n  podManagementPolicy: {policy}");
    apply(&mut simulation, &workload("StatefulSet", "db", "app:v1", &more));
    until(&mut simulation, 20_000, |it| n_ready(it) == 3);
    run_for(&mut simulation, 2_000);
    simulation
}

fn image_of(simulation: &Simulation, name: &str) -> String {
    pod(simulation, name).map(|pod| pod.spec.containers[0].image.to_string()).unwrap_or_default()
}

/// OrderedReady: a broken template stops at the highest ordinal, and mending it frees nothing until that pod is deleted
/// by hand. `Parallel` frees itself.
#[test]
fn r9_a_mended_template_does_not_free_an_ordered_stateful_set() {
    let mut simulation = database("OrderedReady");
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:never");
    run_for(&mut simulation, 60_000);
    assert_eq!(["db-0", "db-1", "db-2"].map(|it| image_of(&simulation, it)), ["app:v1", "app:v1", "app:never"]);
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v1");
    run_for(&mut simulation, 86_400_000);
    assert_eq!(
        (n_ready(&simulation), image_of(&simulation, "db-2").as_str()),
        (2, "app:never"),
        "still the broken one"
    );
    delete(&mut simulation, Kind::Pod, "db-2");
    until(&mut simulation, 20_000, |it| n_ready(it) == 3 && image_of(it, "db-2") == "app:v1");

    let mut simulation = database("Parallel");
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:never");
    run_for(&mut simulation, 60_000);
    assert_eq!((n_ready(&simulation), image_of(&simulation, "db-2").as_str()), (2, "app:never"));
    set_image(&mut simulation, Kind::StatefulSet, "db", "app:v1");
    until(&mut simulation, 60_000, |it| n_ready(it) == 3 && image_of(it, "db-2") == "app:v1");
}

/// 5 to 2, with three on one node and two on another: the rank is computed once, so all three of the fuller node go.
#[test]
fn r10_the_fuller_node_loses_all_its_pods() {
    let scenario = Scenario { behaviors: behaviors(), ..Scenario::with_nodes(3, 2, "8", "16Gi") };
    let mut simulation = world(scenario);
    command(&mut simulation, "kubectl cordon node-2");
    run_for(&mut simulation, 100);
    apply(&mut simulation, &web(3));
    run_for(&mut simulation, 5_000);
    command(&mut simulation, "kubectl cordon node-1");
    command(&mut simulation, "kubectl uncordon node-2");
    run_for(&mut simulation, 100);
    scale(&mut simulation, Kind::Deployment, "web", 5);
    until(&mut simulation, 5_000, |it| n_ready(it) == 5);
    assert_eq!((on(&simulation, "node-1").len(), on(&simulation, "node-2").len()), (3, 2));
    let mut stay: Vec<u128> = on(&simulation, "node-2").iter().map(|pod| pod.metadata.uid.0).collect();
    stay.sort_unstable();
    scale(&mut simulation, Kind::Deployment, "web", 2);
    let asked = simulation.now();
    let cut = until(&mut simulation, 1_000, |it| pods(it).iter().filter(|pod| pod.is_active()).count() == 2);
    assert!(cut.since(asked) <= Millis(100), "in one batch");
    until(&mut simulation, 5_000, |it| pods(it).len() == 2);
    assert_eq!(uids(&simulation), stay);
}
