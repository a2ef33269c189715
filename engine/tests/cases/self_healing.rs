//! S: self-healing and apply.

use loopscope_engine::api::{ContainerState, Kind, Object, ObjectKey};
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation, Subject};

use super::*;
use crate::play::{behaviors, delete, messages, object, pod, scale, scenario, set_image};
use crate::rollout::sets;

/// `kubectl delete pod` keeps coming back: replaced within milliseconds, and four pods are there until the old one has
/// stopped, which takes it up to 30 s.
#[test]
fn s1_a_deleted_pod_comes_back() {
    let mut images = behaviors();
    // A program that does not listen: it is killed when its 30 s are over.
    images.0.insert("app:v1".into(), Behavior { ignores_term: true, ..images.0["app:v1"] });
    let mut simulation = start(Scenario { behaviors: images, ..scenario() }, 3);
    let (old, asked) = (pods(&simulation)[0].metadata.name.to_string(), simulation.now());
    delete(&mut simulation, Kind::Pod, &old);
    let created = until(&mut simulation, 1_000, |it| pods(it).len() == 4);
    assert!(created.since(asked) <= Millis(50), "{:?}", created.since(asked));
    let victim = pod(&simulation, &old).expect("it stays for its grace period");
    assert_eq!(victim.metadata.deletion_grace_period_seconds, Some(30));
    // deletionTimestamp is when the grace period ends.
    let due = victim.metadata.deletion_timestamp.expect("it is marked").0 - simulation.wall().0;
    assert!((29..=30).contains(&due), "{due}");
    assert_eq!(pods(&simulation).iter().filter(|pod| pod.is_active()).count(), 3);
    let again = until(&mut simulation, 10_000, |it| n_ready(it) == 3);
    assert!(again.since(asked) >= Millis(300), "it is bound, started and asked whether it is ready first");
    assert_eq!((pods(&simulation).len(), terminating(&simulation)), (4, 1), "the old one still stops");
    let gone = until(&mut simulation, 40_000, |it| pods(it).len() == 3);
    assert!((29_900..=31_100).contains(&gone.since(asked).0), "{:?}", gone.since(asked));
    // What helps: fewer wanted, or no Deployment.
    scale(&mut simulation, Kind::Deployment, "web", 2);
    until(&mut simulation, 40_000, |it| pods(it).len() == 2);
    delete(&mut simulation, Kind::Deployment, "web");
    until(&mut simulation, 40_000, |it| pods(it).is_empty());
    run_for(&mut simulation, 60_000);
    assert!(pods(&simulation).is_empty());
}

/// An apply that succeeded is no rollout that did: after 600 s without progress the Deployment says so, the old pods
/// go on, and nobody rolls back.
#[test]
fn s2_an_apply_that_succeeds_is_no_rollout_that_does() {
    let mut images = behaviors();
    images.0.insert("app:typo".into(), Behavior { is_missing: true, ..images.0["app:v1"] });
    let mut simulation = start(Scenario { behaviors: images, ..scenario() }, 2);
    let manifest = workload("Deployment", "web", "app:typo", "replicas: 2");
    let outcome = simulation.dispatch(Command::Apply { manifest });
    assert!(outcome.is_ok());
    assert_eq!(outcome.lines, ["deployment.apps/web configured"]);
    let begun = simulation.now();
    run_for(&mut simulation, 599_000);
    assert_eq!(state_of(&simulation, Kind::Deployment, "web", "Progressing"), "True ReplicaSetUpdated");
    let late = until(&mut simulation, 5_000, |it| {
        state_of(it, Kind::Deployment, "web", "Progressing") == "False ProgressDeadlineExceeded"
    });
    assert!((600_000..=602_000).contains(&late.since(begun).0), "{:?}", late.since(begun));
    let set = sets(&simulation).into_iter().find(|set| set.spec.template.spec.containers[0].image == "app:typo");
    let set = set.expect("the new ReplicaSet").metadata.name.to_string();
    let told = condition_of(&simulation, Kind::Deployment, "web", "Progressing").expect("there");
    assert_eq!(told.message.as_str(), format!("ReplicaSet \"{set}\" has timed out progressing."));
    assert_eq!(state_of(&simulation, Kind::Deployment, "web", "Available"), "True MinimumReplicasAvailable");
    let pulls = || messages(&simulation, "Pulling").len();
    let before = pulls();
    run_for(&mut simulation, 3_600_000);
    assert_eq!((n_ready(&simulation), pods(&simulation).len()), (2, 3), "no automatic rollback");
    assert!(messages(&simulation, "Pulling").len() > before + 5, "the kubelet keeps trying");
    // The controller does as well: mended by hand, it goes on at once.
    set_image(&mut simulation, Kind::Deployment, "web", "app:v2");
    until(&mut simulation, 30_000, |it| {
        state_of(it, Kind::Deployment, "web", "Progressing") == "True NewReplicaSetAvailable"
    });
    until(&mut simulation, 2_000, |it| n_ready(it) == 2 && pods(it).len() == 2);
}

/// Right after a change the status still tells of what was before, until `observedGeneration` has caught up.
#[test]
fn s3_a_status_is_stale_until_its_generation_is_observed() {
    let mut images = behaviors();
    images.0.insert("app:typo".into(), Behavior { is_missing: true, ..images.0["app:v1"] });
    let mut simulation = start(Scenario { behaviors: images, ..scenario() }, 3);
    set_image(&mut simulation, Kind::Deployment, "web", "app:typo");
    run_for(&mut simulation, 605_000);
    let read = |it: &Simulation| {
        let web = rollout::web(it);
        (web.metadata.generation, web.status.observed_generation, web.status.updated_replicas)
    };
    let progressing = |it: &Simulation| state_of(it, Kind::Deployment, "web", "Progressing");
    assert_eq!((read(&simulation), progressing(&simulation).as_str()), ((2, 2, 1), "False ProgressDeadlineExceeded"));
    set_image(&mut simulation, Kind::Deployment, "web", "app:v1");
    assert_eq!(
        (read(&simulation), progressing(&simulation).as_str()),
        ((3, 2, 1), "False ProgressDeadlineExceeded"),
        "who looks now sees the verdict on the generation before"
    );
    while read(&simulation).1 < 3 {
        assert_eq!(read(&simulation).2, 1, "counts are of generation 2 as well");
        run_for(&mut simulation, 1);
    }
    assert_ne!(progressing(&simulation), "False ProgressDeadlineExceeded");
    until(&mut simulation, 10_000, |it| read(it) == (3, 3, 3));
}

/// The same manifest twice: `unchanged`, the same generation, and not a single write.
#[test]
fn s4_the_same_manifest_again_writes_nothing() {
    let mut simulation = start(scenario(), 3);
    run_for(&mut simulation, 3_000);
    let web_of = |it: &Simulation| object(it, Kind::Deployment, "web").expect("there").meta().clone();
    let (before, seq) = (web_of(&simulation), simulation.trace().last_seq());
    let outcome = simulation.dispatch(Command::Apply { manifest: web(3) });
    assert_eq!(outcome.lines, ["deployment.apps/web unchanged"]);
    run_for(&mut simulation, 60_000);
    assert_eq!(writes_since(&simulation, seq), Vec::<String>::new());
    let after = web_of(&simulation);
    assert_eq!((after.generation, after.resource_version), (before.generation, before.resource_version));
}

/// Another image behind the same tag is no change; a restart makes one.
#[test]
fn s5_a_new_image_behind_the_same_tag_rolls_nothing_out() {
    let mut simulation = start(scenario(), 3);
    let before = uids(&simulation);
    let subject = Subject::Image("app:v1".into());
    let behavior = Behavior { start_ms: 900, ..behaviors().0["app:v1"] };
    assert!(simulation.dispatch(Command::SetBehavior { subject, behavior }).is_ok());
    let seq = simulation.trace().last_seq();
    apply(&mut simulation, &web(3));
    run_for(&mut simulation, 60_000);
    assert_eq!((uids(&simulation), writes_since(&simulation, seq)), (before.clone(), Vec::new()));
    command(&mut simulation, "kubectl rollout restart deployment/web");
    until(&mut simulation, 30_000, |it| n_ready(it) == 3 && uids(it).iter().all(|uid| !before.contains(uid)));
    assert_eq!(sets(&simulation).len(), 2, "another template, with the time of the restart in it");
}

/// A ConfigMap that pods read is no part of the Deployment's template (the half of S6 that the engine can show).
#[test]
fn s6_an_edited_config_map_rolls_nothing_out() {
    let mut simulation = start(scenario(), 3);
    let config =
        |value: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c}}, data: {{a: '{value}'}}}}");
    apply(&mut simulation, &config("1"));
    run_for(&mut simulation, 3_000);
    let (before, seq) = (uids(&simulation), simulation.trace().last_seq());
    apply(&mut simulation, &config("2"));
    run_for(&mut simulation, 120_000);
    assert_eq!(writes_since(&simulation, seq), ["PATCH ConfigMap/c"]);
    assert_eq!(uids(&simulation), before);
}

/// A crash is no replacement: the same pod on the same node, started again after 0, 10, 20, 40, 80, 160, 300, 300 s.
#[test]
fn s7_a_crash_is_not_replaced() {
    let mut images = behaviors();
    images.0.insert("app:crash".into(), Behavior { exit: Some((2_000, 1)), ..images.0["app:v1"] });
    let mut simulation = world(Scenario { behaviors: images, ..scenario() });
    apply(&mut simulation, &workload("Deployment", "web", "app:crash", "replicas: 1"));
    until(&mut simulation, 5_000, |it| pods(it).first().is_some_and(|pod| pod.status.phase == "Running"));
    let first = pods(&simulation)[0].clone();
    let seq = simulation.trace().last_seq();
    let (mut starts, mut ends) = (vec![simulation.now()], Vec::new());
    while let Some(at) = simulation.next_at().filter(|_| starts.len() < 9) {
        simulation.run_until(at, usize::MAX);
        let status = pods(&simulation)[0].status.container_statuses[0].clone();
        match status.state {
            ContainerState::Running(_) if status.restart_count as usize == starts.len() => starts.push(at),
            ContainerState::Terminated(_) if ends.len() + 1 == starts.len() => ends.push(at),
            _ => {}
        }
    }
    let waits: Vec<u64> = starts[1..].iter().zip(&ends).map(|(start, end)| start.since(*end).0 / 1_000).collect();
    assert_eq!(waits.len(), 8);
    for (wait, nominal) in waits.iter().zip([0, 10, 20, 40, 80, 160, 300, 300]) {
        // After the end it takes the kubelet 10 to 15 s until it looks again; later waits it ends to the second or two.
        let late = if nominal == 10 { 6 } else { 2 };
        assert!((nominal..=nominal + late).contains(wait), "{waits:?}");
    }
    let now = pods(&simulation);
    assert_eq!((now.len(), now[0].metadata.uid, now[0].restarts()), (1, first.metadata.uid, 8));
    assert_eq!(now[0].spec.node_name, first.spec.node_name);
    let others: Vec<String> = writes_since(&simulation, seq).into_iter().filter(|it| it.starts_with("POST")).collect();
    assert_eq!(others, Vec::<String>::new(), "the ReplicaSet makes no other pod");
}

/// Quarantine by label: without its label a pod is released and replaced at once; it runs on by itself, is counted by
/// nobody, and is adopted again once the label is back, which makes one too many.
#[test]
fn s9_a_pod_without_its_label_is_released_and_with_it_adopted() {
    let mut simulation = start(scenario(), 3);
    let name = pods(&simulation)[0].metadata.name.to_string();
    let asked = simulation.now();
    command(
        &mut simulation,
        &format!("kubectl patch pod/{name} --type=merge -p '{{\"metadata\":{{\"labels\":{{\"app\":null}}}}}}'"),
    );
    let replaced = until(&mut simulation, 1_000, |it| created_since(it, asked) == 1);
    assert!(replaced.since(asked) <= Millis(50), "{:?}", replaced.since(asked));
    let owners = |it: &Simulation| pod(it, &name).expect("it runs on").metadata.owner_references.len();
    assert_eq!((owners(&simulation), pods(&simulation).len()), (0, 4));
    until(&mut simulation, 10_000, |it| n_ready(it) == 4);
    scale(&mut simulation, Kind::Deployment, "web", 1);
    run_for(&mut simulation, 3_600_000);
    let left = pods(&simulation);
    assert_eq!(left.len(), 2, "scaling down never touches it");
    assert!(pod(&simulation, &name).expect("for ever").is_ready());
    let back = simulation.now();
    command(
        &mut simulation,
        &format!("kubectl patch pod/{name} --type=merge -p '{{\"metadata\":{{\"labels\":{{\"app\":\"web\"}}}}}}'"),
    );
    until(&mut simulation, 1_000, |it| pods(it).iter().filter(|pod| pod.is_active()).count() == 1);
    run_for(&mut simulation, 10_000);
    let left = pods(&simulation);
    assert_eq!((left.len(), left[0].metadata.owner_references.len()), (1, 1));
    let course = play::course(&simulation, back);
    assert_eq!((course.len(), course[0].starts_with('-')), (1, true), "adopted, then one surplus deleted: {course:?}");
}

/// Who edits the child is corrected by the parent within a second; a deleted ReplicaSet comes back under its name.
#[test]
fn s11_a_replica_set_of_a_deployment_is_set_back_and_comes_back() {
    let mut simulation = start(scenario(), 3);
    let set = sets(&simulation)[0].metadata.clone();
    let key = ObjectKey::new(Kind::ReplicaSet, "default", set.name.clone());
    let size =
        |it: &Simulation| it.api().objects().get(&key).and_then(Object::as_replica_set).map(|set| set.spec.wanted());
    let asked = simulation.now();
    scale(&mut simulation, Kind::ReplicaSet, &set.name, 5);
    assert_eq!(size(&simulation), Some(5));
    let corrected = until(&mut simulation, 1_000, |it| size(it) == Some(3));
    assert!(corrected.since(asked) < Millis(1_000), "sub-second");
    until(&mut simulation, 10_000, |it| pods(it).len() == 3);
    delete(&mut simulation, Kind::ReplicaSet, &set.name);
    until(&mut simulation, 1_000, |it| sets(it).first().is_some_and(|new| new.metadata.uid != set.uid));
    let new = sets(&simulation)[0].metadata.clone();
    assert_eq!((&new.name, &new.labels), (&set.name, &set.labels), "the same template, the same hash");
    assert_eq!(size(&simulation), Some(3));
    let are_new = |it: &Simulation| pods(it).iter().all(|pod| pod.metadata.owner_references[0].uid == new.uid);
    until(&mut simulation, 10_000, |it| n_ready(it) == 3 && pods(it).len() == 3 && are_new(it));
}

/// A finalizer whose controller is gone holds a namespace for ever: the loop waits, level-based, and says for what.
#[test]
fn s12_a_namespace_waits_for_a_finalizer_that_nobody_takes_off() {
    let mut simulation = world(scenario());
    apply(&mut simulation, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    apply(
        &mut simulation,
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, finalizers: [example.com/hold]}}",
    );
    delete(&mut simulation, Kind::Namespace, "shop");
    run_for(&mut simulation, 86_400_000);
    let shop = object(&simulation, Kind::Namespace, "shop").expect("a day later still there");
    assert_eq!(shop.to_value()["status"]["phase"], "Terminating");
    let told = |it: &Simulation, which: &str| {
        condition_of(it, Kind::Namespace, "shop", which).map(|it| (it.reason.to_string(), it.message.to_string()))
    };
    let is = |reason: &str, message: &str| Some((reason.to_string(), message.to_string()));
    assert_eq!(
        told(&simulation, "NamespaceFinalizersRemaining"),
        is(
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
        )
    );
    assert_eq!(
        told(&simulation, "NamespaceContentRemaining"),
        is("SomeResourcesRemain", "Some resources are remaining: configmaps. has 1 resource instances")
    );
    command(
        &mut simulation,
        "kubectl patch configmap/c -n shop --type=merge -p '{\"metadata\":{\"finalizers\":null}}'",
    );
    let freed = simulation.now();
    let gone = until(&mut simulation, 60_000, |it| object(it, Kind::Namespace, "shop").is_none());
    assert!(gone.since(freed) <= Millis(15_000), "{:?}", gone.since(freed));
}

/// G4: a manifest that no longer says how many sets the number back to one.
#[test]
fn g4_replicas_that_are_left_out_become_one() {
    let mut simulation = start(scenario(), 3);
    apply(&mut simulation, &workload("Deployment", "web", "app:v1", "revisionHistoryLimit: 10"));
    until(&mut simulation, 5_000, |it| pods(it).iter().filter(|pod| pod.is_active()).count() == 1);
    assert_eq!(rollout::web(&simulation).spec.wanted(), 1);
}
