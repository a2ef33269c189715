//! Deletion in its three ways, of workloads, pods and namespaces, as recorded from a real control plane
//! (r_delete_background, r_delete_foreground, h20_foreground_delete_mid_rollout, x4_pod_with_finalizer, namespaces).

use loopscope_engine::api::{Kind, Object, ObjectKey, Uid};
use loopscope_engine::apiserver::{Effect, PatchType, Propagation};
use loopscope_engine::client::What;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Command, Scenario, Simulation, Target};
use proptest::prelude::*;
use serde_json::json;

fn run_for(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

fn web() -> Target {
    Target { kind: Kind::Deployment, namespace: "default".into(), name: "web".into() }
}

/// A Deployment of three that has been through one rollout: a ReplicaSet with pods and one without.
fn rolled_out() -> Simulation {
    let mut simulation = Simulation::new(Scenario::self_healing());
    run_for(&mut simulation, 20_000);
    let image = Command::SetImage { target: web(), container: "nginx".into(), image: "nginx:1.28".into() };
    assert!(simulation.dispatch(image).is_ok());
    run_for(&mut simulation, 40_000);
    assert_eq!(count(&simulation, Kind::ReplicaSet), 2);
    assert_eq!(count(&simulation, Kind::Pod), 3);
    simulation
}

fn count(simulation: &Simulation, kind: Kind) -> usize {
    simulation.api().objects().of_kind(kind).count()
}

fn delete(simulation: &mut Simulation, target: Target, propagation: Option<Propagation>) -> Time {
    let at = simulation.now();
    assert!(simulation.dispatch(Command::Delete { target, propagation, grace: None }).is_ok());
    at
}

/// The kinds of the objects that went since an instant, in order, with the time it took.
fn gone_since(simulation: &Simulation, start: Time) -> Vec<(Kind, u64)> {
    let events = simulation.trace().events().filter(|event| event.at >= start);
    events
        .filter_map(|event| match &event.what {
            What::Wrote { key, effect: Effect::Deleted, .. } => Some((key.kind, event.at.since(start).0)),
            _ => None,
        })
        .collect()
}

#[test]
fn in_the_background_the_owner_goes_first() {
    let mut simulation = rolled_out();
    let start = delete(&mut simulation, web(), None);
    run_for(&mut simulation, 60_000);
    let gone = gone_since(&simulation, start);
    let kinds: Vec<Kind> = gone.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [Kind::Deployment, Kind::ReplicaSet, Kind::ReplicaSet, Kind::Pod, Kind::Pod, Kind::Pod]);
    assert_eq!(gone[0].1, 0);
    assert!(gone[2].1 < 50, "recorded: 14 ms; here {} ms", gone[2].1);
}

#[test]
fn in_the_foreground_the_owner_goes_last() {
    let mut simulation = rolled_out();
    let start = delete(&mut simulation, web(), Some(Propagation::Foreground));
    let live = simulation.api().objects().get(&web().key()).cloned().expect("it waits");
    assert_eq!(live.meta().finalizers, ["foregroundDeletion"]);
    assert_eq!((live.meta().generation, live.meta().deletion_grace_period_seconds), (3, Some(0)));
    run_for(&mut simulation, 100);
    // Recorded: within 25 ms the empty ReplicaSet is gone, the other one waits, and the pods are on their way out.
    let sets: Vec<Object> = simulation.api().objects().of_kind(Kind::ReplicaSet).cloned().collect();
    assert_eq!(sets.len(), 1);
    assert_eq!(sets[0].meta().finalizers, ["foregroundDeletion"]);
    assert!(simulation.api().objects().of_kind(Kind::Pod).all(|pod| pod.meta().deletion_timestamp.is_some()));
    run_for(&mut simulation, 60_000);
    let kinds: Vec<Kind> = gone_since(&simulation, start).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Kind::ReplicaSet, Kind::Pod, Kind::Pod, Kind::Pod, Kind::ReplicaSet, Kind::Deployment]);
}

#[test]
fn in_the_middle_of_a_rollout_a_foreground_deletion_ends_all_the_same() {
    let mut simulation = rolled_out();
    let image = Command::SetImage { target: web(), container: "nginx".into(), image: "nginx:1.29".into() };
    assert!(simulation.dispatch(image).is_ok());
    run_for(&mut simulation, 1_500);
    let start = delete(&mut simulation, web(), Some(Propagation::Foreground));
    run_for(&mut simulation, 90_000);
    assert_eq!((count(&simulation, Kind::Pod), count(&simulation, Kind::ReplicaSet)), (0, 0));
    let gone = gone_since(&simulation, start);
    assert_eq!(gone.last().map(|(kind, _)| *kind), Some(Kind::Deployment));
}

#[test]
fn what_is_orphaned_stays_without_an_owner() {
    let mut simulation = rolled_out();
    delete(&mut simulation, web(), Some(Propagation::Orphan));
    run_for(&mut simulation, 60_000);
    assert_eq!(count(&simulation, Kind::Deployment), 0);
    let sets: Vec<Object> = simulation.api().objects().of_kind(Kind::ReplicaSet).cloned().collect();
    assert_eq!((sets.len(), count(&simulation, Kind::Pod)), (2, 3));
    assert!(sets.iter().all(|set| set.meta().owner_references.is_empty() && set.meta().deletion_timestamp.is_none()));
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod);
    assert!(pods.into_iter().all(|pod| pod.is_ready() && pod.metadata.owner_references.len() == 1));
}

#[test]
fn a_pod_with_a_finalizer_is_replaced_at_once_and_stays_until_it_is_let_go() {
    let mut simulation = rolled_out();
    let pod: Target =
        simulation.api().objects().of_kind(Kind::Pod).next().map(|pod| (&pod.key()).into()).expect("a pod");
    let patch = |finalizers| Command::Patch {
        target: pod.clone(),
        kind: PatchType::Merge,
        patch: json!({"metadata": {"finalizers": finalizers}}),
    };
    let hold = patch(json!(["example.com/hold"]));
    let text = serde_json::to_string(&hold).expect("it can be written");
    assert_eq!(serde_json::from_str::<Command>(&text).expect("and read"), hold);
    assert_eq!(simulation.dispatch(hold.clone()).lines, [format!("pod/{} patched", pod.name)]);
    assert_eq!(simulation.dispatch(hold).lines, [format!("pod/{} patched (no change)", pod.name)]);
    delete(&mut simulation, pod.clone(), None);
    run_for(&mut simulation, 40_000);
    assert_eq!(count(&simulation, Kind::Pod), 4);
    let held = simulation.api().objects().get(&pod.key()).and_then(Object::as_pod).cloned().expect("it is held");
    assert!(held.is_terminating());
    assert_eq!(held.metadata.deletion_grace_period_seconds, Some(0));
    assert!(simulation.dispatch(patch(serde_json::Value::Null)).is_ok());
    assert_eq!(count(&simulation, Kind::Pod), 3);
}

const SHOP: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: hold
  namespace: shop
  finalizers: [example.com/hold]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec: {containers: [{name: app, image: 'app:v1'}]}
";

#[test]
fn a_namespace_takes_everything_with_it_and_waits_for_finalizers() {
    let mut simulation = Simulation::new(Scenario::empty(3));
    assert!(simulation.dispatch(Command::Apply { manifest: SHOP.into() }).is_ok());
    run_for(&mut simulation, 20_000);
    let shop = Target { kind: Kind::Namespace, namespace: String::new(), name: "shop".into() };
    let start = delete(&mut simulation, shop.clone(), None);
    let pods = |simulation: &Simulation| count(simulation, Kind::Pod);
    run_for(&mut simulation, 4_900);
    assert_eq!(pods(&simulation), 2, "the controller begins after 5 s");
    run_for(&mut simulation, 60_000);
    let live = simulation.api().objects().get(&shop.key()).and_then(Object::as_namespace).cloned().expect("it waits");
    assert_eq!((live.status.phase.as_str(), pods(&simulation)), ("Terminating", 0));
    let said = |kind: &str| live.status.conditions.iter().find(|it| it.kind == kind).map(|it| it.message.as_str());
    assert_eq!(
        said("NamespaceContentRemaining"),
        Some("Some resources are remaining: configmaps. has 1 resource instances")
    );
    assert_eq!(
        said("NamespaceFinalizersRemaining"),
        Some("Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances")
    );
    let hold = Target { kind: Kind::ConfigMap, namespace: "shop".into(), name: "hold".into() };
    let patch = json!({"metadata": {"finalizers": null}});
    assert!(simulation.dispatch(Command::Patch { target: hold, kind: PatchType::Merge, patch }).is_ok());
    run_for(&mut simulation, 20_000);
    let left = simulation.api().objects().iter().filter(|(key, _)| &*key.namespace == "shop").count();
    assert_eq!((left, simulation.api().objects().get(&shop.key()).is_some()), (0, false));
    let gone = gone_since(&simulation, start);
    assert_eq!(gone.last().map(|(kind, _)| *kind), Some(Kind::Namespace));
    let first_set = gone.iter().position(|(kind, _)| *kind == Kind::ReplicaSet);
    let last_pod = gone.iter().rposition(|(kind, _)| *kind == Kind::Pod);
    assert!(last_pod < first_set, "pods go first: {gone:?}");
}

fn propagation() -> impl Strategy<Value = Option<Propagation>> {
    let all = [None, Some(Propagation::Background), Some(Propagation::Foreground), Some(Propagation::Orphan)];
    prop::sample::select(all.to_vec())
}

fn find(simulation: &Simulation, uid: Uid) -> Option<ObjectKey> {
    simulation.api().objects().iter().find(|(_, object)| object.meta().uid == uid).map(|(key, _)| key.clone())
}

/// No object is among its own owners, however long the chain.
fn has_cycle(simulation: &Simulation) -> bool {
    let objects = simulation.api().objects();
    objects.iter().any(|(_, object)| {
        let mut above: Vec<Object> = vec![object.clone()];
        for _ in 0..8 {
            let owners = above.iter().flat_map(|it| it.meta().owner_references.iter().map(|owner| owner.uid));
            above = owners.filter_map(|uid| objects.get(&find(simulation, uid)?).cloned()).collect();
        }
        !above.is_empty()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn however_and_whenever_a_deployment_is_deleted_nothing_is_left_half_way(
        seed in any::<u64>(),
        first in propagation(),
        again in propagation(),
        wait in 0..9_000_u64,
        pause in 0..3_000_u64,
    ) {
        let mut simulation = Simulation::new(Scenario { seed, ..Scenario::self_healing() });
        run_for(&mut simulation, 4_000);
        simulation.dispatch(Command::SetImage { target: web(), container: "nginx".into(), image: "nginx:1.28".into() });
        run_for(&mut simulation, wait);
        prop_assert!(!has_cycle(&simulation));
        delete(&mut simulation, web(), first);
        run_for(&mut simulation, pause);
        // It may be gone already, or told to go in another way.
        simulation.dispatch(Command::Delete { target: web(), propagation: again, grace: None });
        run_for(&mut simulation, 120_000);
        prop_assert_eq!(count(&simulation, Kind::Deployment), 0);
        let objects = simulation.api().objects();
        for (key, object) in objects.iter() {
            let is_going = object.meta().deletion_timestamp.is_some();
            prop_assert!(!is_going, "{} is stuck", key);
            for owner in &object.meta().owner_references {
                prop_assert!(find(&simulation, owner.uid).is_some(), "{} names an owner that is gone", key);
            }
        }
        if first != Some(Propagation::Orphan) && again != Some(Propagation::Orphan) {
            prop_assert_eq!((count(&simulation, Kind::ReplicaSet), count(&simulation, Kind::Pod)), (0, 0));
        }
    }
}

#[test]
fn no_owner_reference_is_ever_left_that_names_nothing() {
    let mut simulation = rolled_out();
    delete(&mut simulation, web(), None);
    run_for(&mut simulation, 60_000);
    let objects = simulation.api().objects();
    let is_there = |uid| objects.iter().any(|(_, object)| object.meta().uid == uid);
    let dangling: Vec<&ObjectKey> = objects
        .iter()
        .filter(|(_, object)| object.meta().owner_references.iter().any(|owner| !is_there(owner.uid)))
        .map(|(key, _)| key)
        .collect();
    assert!(dangling.is_empty(), "{dangling:?}");
}
