//! Rollouts beside those of the recordings: the sizes that a Deployment gives its ReplicaSets, one after the other.

#[path = "common/play.rs"]
mod play;

use std::rc::Rc;

use loopscope_engine::api::{Deployment, Kind, Object, ReplicaSet, condition};
use loopscope_engine::environment::Behavior;
use loopscope_engine::sim::Time;
use loopscope_engine::world::{Command, Scenario, Simulation};
use play::{apply, behaviors, pods, run_for, scale, set_image, target, until, world};

/// A Deployment `web` of the image `app:v1` without probes: pods are ready as soon as their program runs.
fn manifest(replicas: i32, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  {more}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers: [{{name: app, image: 'app:v1', resources: {{requests: {{cpu: 100m}}}}}}]\n"
    )
}

fn web(simulation: &Simulation) -> Rc<Deployment> {
    play::object(simulation, Kind::Deployment, "web").and_then(|it| it.as_deployment().cloned()).expect("it is there")
}

fn sets(simulation: &Simulation) -> Vec<Rc<ReplicaSet>> {
    let all = simulation.api().objects().of_kind(Kind::ReplicaSet).filter_map(Object::as_replica_set);
    all.cloned().collect()
}

/// Follows the sizes of a Deployment's ReplicaSets, in the order in which they came; -1 once one is deleted.
struct Sizes {
    names: Vec<String>,
    last: Vec<i32>,
    steps: Vec<(Time, Vec<i32>)>,
}

impl Sizes {
    fn new() -> Self {
        Self { names: Vec::new(), last: Vec::new(), steps: Vec::new() }
    }

    fn look(&mut self, simulation: &Simulation) {
        let all = sets(simulation);
        for set in &all {
            if !self.names.iter().any(|name| *name == *set.metadata.name) {
                self.names.push(set.metadata.name.to_string());
            }
        }
        let of =
            |name: &String| all.iter().find(|set| *set.metadata.name == **name).map_or(-1, |set| set.spec.wanted());
        let sizes: Vec<i32> = self.names.iter().map(of).collect();
        if self.last != sizes {
            self.last.clone_from(&sizes);
            self.steps.push((simulation.now(), sizes));
        }
    }

    fn run(&mut self, simulation: &mut Simulation, ms: u64) {
        for _ in 0..ms / 2 {
            run_for(simulation, 2);
            self.look(simulation);
        }
    }

    fn take(&mut self) -> Vec<Vec<i32>> {
        self.steps.drain(..).map(|(_, sizes)| sizes).collect()
    }
}

fn begin(replicas: i32, more: &str, slow: &[(&str, Behavior)]) -> (Simulation, Sizes) {
    let mut images = behaviors();
    for (image, behavior) in slow {
        images.0.insert((*image).into(), *behavior);
    }
    let mut simulation = world(Scenario { behaviors: images, ..Scenario::with_nodes(7, 4, "16", "32Gi") });
    let mut sizes = Sizes::new();
    apply(&mut simulation, &manifest(replicas, more));
    sizes.run(&mut simulation, 6_000);
    assert_eq!(web(&simulation).status.available_replicas, replicas);
    (simulation, sizes)
}

fn image(simulation: &mut Simulation, image: &str) {
    set_image(simulation, Kind::Deployment, "web", image);
}

fn set(simulation: &mut Simulation, patch: serde_json::Value) {
    let kind = loopscope_engine::apiserver::PatchType::Merge;
    let command = Command::Patch { target: target(Kind::Deployment, "web"), kind, patch };
    assert!(simulation.dispatch(command).is_ok());
}

fn status_of(simulation: &Simulation, kind: &str) -> (String, String) {
    let web = web(simulation);
    let it = condition(&web.status.conditions, kind).expect("it has the condition");
    (it.status.to_string(), it.reason.to_string())
}

/// Readiness only after 3 s, by a probe of every second.
fn slow() -> Behavior {
    Behavior { start_ms: 3_000, ..behaviors().0["app:v1"] }
}

fn never() -> Behavior {
    Behavior { is_missing: true, ..behaviors().0["app:v1"] }
}

/// Recording `i_pause_resume`: a paused Deployment scales in proportion and takes no new template; after the pause the
/// newest template counts, and the one in between never had a ReplicaSet.
#[test]
fn a_pause_holds_the_rollout_and_not_the_scaling() {
    let (mut simulation, mut sizes) = begin(6, "", &[("app:v2", slow()), ("app:v3", slow()), ("app:v4", slow())]);
    image(&mut simulation, "app:v2");
    sizes.run(&mut simulation, 1_500);
    assert_eq!(sizes.take(), [vec![6], vec![6, 2], vec![5, 2], vec![5, 3]]);
    set(&mut simulation, serde_json::json!({"spec": {"paused": true}}));
    sizes.run(&mut simulation, 5_000);
    assert!(sizes.take().is_empty(), "the new pods are ready, and nothing follows");
    assert_eq!(status_of(&simulation, "Progressing"), ("Unknown".into(), "DeploymentPaused".into()));
    // The pause is no lack of progress, however long.
    sizes.run(&mut simulation, 10_000);
    run_for(&mut simulation, 700_000);
    assert_eq!(status_of(&simulation, "Progressing").1, "DeploymentPaused");
    scale(&mut simulation, Kind::Deployment, "web", 9);
    sizes.run(&mut simulation, 5_000);
    assert_eq!(sizes.take(), [vec![8, 3], vec![8, 4]]);
    image(&mut simulation, "app:v3");
    sizes.run(&mut simulation, 2_000);
    image(&mut simulation, "app:v4");
    sizes.run(&mut simulation, 2_000);
    assert!(sizes.take().is_empty());
    set(&mut simulation, serde_json::json!({"spec": {"paused": false}}));
    let mut reasons = vec![status_of(&simulation, "Progressing").1];
    for _ in 0..100 {
        run_for(&mut simulation, 1);
        sizes.look(&simulation);
        reasons.push(status_of(&simulation, "Progressing").1);
    }
    reasons.dedup();
    assert_eq!(reasons[..2], ["DeploymentPaused", "DeploymentResumed"]);
    assert!(!reasons.contains(&"ProgressDeadlineExceeded".to_string()), "{reasons:?}");
    sizes.run(&mut simulation, 20_000);
    let steps = sizes.take();
    assert_eq!(steps[..3], [vec![8, 4, 0], vec![3, 4, 0], vec![3, 4, 5]]);
    assert_eq!(steps.last(), Some(&vec![0, 0, 9]));
}

/// Recording `e_progress_deadline_and_rollback` and case S2: nobody rolls back by himself; a rollback uses the old
/// ReplicaSet again, under the newest number.
#[test]
fn a_rollout_that_gets_nowhere_says_so_and_waits_for_a_hand() {
    let (mut simulation, mut sizes) = begin(4, "progressDeadlineSeconds: 15", &[("app:missing", never())]);
    image(&mut simulation, "app:missing");
    let begun = simulation.now();
    sizes.run(&mut simulation, 2_000);
    assert_eq!(sizes.take(), [vec![4], vec![4, 1], vec![3, 1], vec![3, 2]]);
    let late = until(&mut simulation, 20_000, |it| status_of(it, "Progressing").1 == "ProgressDeadlineExceeded");
    assert!((14_500..=17_000).contains(&late.since(begun).0), "{}", late.since(begun).0);
    assert_eq!(
        (status_of(&simulation, "Progressing").0, status_of(&simulation, "Available").0),
        ("False".into(), "True".into())
    );
    sizes.run(&mut simulation, 60_000);
    assert!(sizes.take().is_empty());
    image(&mut simulation, "app:v1");
    sizes.run(&mut simulation, 3_000);
    assert_eq!(sizes.take(), [vec![3, 0], vec![4, 0]]);
    let names = sizes.names.clone();
    let first = sets(&simulation).into_iter().find(|set| *set.metadata.name == *names[0]).expect("kept");
    assert_eq!(first.metadata.annotations["deployment.kubernetes.io/revision"], "3");
    assert_eq!(first.metadata.annotations["deployment.kubernetes.io/revision-history"], "1");
    assert_eq!(status_of(&simulation, "Progressing").1, "NewReplicaSetAvailable");
}

/// Cases R1 and R2: where a broken image freezes, and what undoing it does.
#[test]
fn a_broken_image_freezes_at_eight_and_five_and_undoing_takes_the_broken_ones_first() {
    let (mut simulation, mut sizes) = begin(10, "", &[("app:missing", never())]);
    image(&mut simulation, "app:missing");
    sizes.run(&mut simulation, 5_000);
    assert_eq!(sizes.take(), [vec![10], vec![10, 3], vec![8, 3], vec![8, 5]]);
    assert_eq!((pods(&simulation).len(), status_of(&simulation, "Available").0), (13, "True".into()));
    run_for(&mut simulation, 590_000);
    assert_eq!(status_of(&simulation, "Progressing").0, "True");
    run_for(&mut simulation, 12_000);
    assert_eq!(status_of(&simulation, "Progressing").1, "ProgressDeadlineExceeded");
    let undo = Command::Rollback { target: target(Kind::Deployment, "web"), to_revision: 0 };
    assert!(simulation.dispatch(undo).is_ok());
    sizes.run(&mut simulation, 4_000);
    assert_eq!(sizes.take(), [vec![8, 0], vec![10, 0]]);
}

/// Case R4: of three pods a quarter may be more, rounded up, and none may be less, rounded down.
#[test]
fn three_pods_need_room_for_a_fourth() {
    let (mut simulation, mut sizes) = begin(3, "", &[("app:missing", never())]);
    image(&mut simulation, "app:missing");
    sizes.run(&mut simulation, 10_000);
    assert_eq!(sizes.take(), [vec![3], vec![3, 1]]);
    assert_eq!(web(&simulation).status.available_replicas, 3);
}

/// Case R6: pods on their way out do not count, so more than replicas + maxSurge take up room.
#[test]
fn pods_that_stop_slowly_stand_beside_the_surge() {
    let lingering = Behavior { stop_ms: 25_000, ..behaviors().0["app:v1"] };
    let (mut simulation, mut sizes) = begin(15, "", &[("app:v1", lingering), ("app:v2", slow())]);
    image(&mut simulation, "app:v2");
    sizes.run(&mut simulation, 1_000);
    assert_eq!(sizes.take(), [vec![15], vec![15, 4], vec![12, 4], vec![12, 7]]);
    let all = pods(&simulation);
    assert_eq!((all.len(), all.iter().filter(|pod| pod.is_terminating()).count()), (22, 3));
    assert_eq!(web(&simulation).status.terminating_replicas, Some(3));
}

/// Where another ReplicaSet has the name already, the Deployment counts a collision and takes another
/// (`getNewReplicaSet`).
#[test]
fn a_name_that_is_taken_is_a_collision() {
    let (mut simulation, _) = begin(2, "", &[]);
    let name = sets(&simulation)[0].metadata.name.to_string();
    let delete = Command::Delete {
        target: target(Kind::Deployment, "web"),
        propagation: Some(loopscope_engine::apiserver::Propagation::Foreground),
        grace: None,
    };
    assert!(simulation.dispatch(delete).is_ok());
    until(&mut simulation, 40_000, |it| sets(it).is_empty());
    apply(
        &mut simulation,
        &format!(
            "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: {name}}}\nspec:\n  replicas: 1\n  selector: {{matchLabels: {{app: other}}}}\n  template:\n    metadata: {{labels: {{app: other}}}}\n    spec: {{containers: [{{name: app, image: 'app:v1'}}]}}\n"
        ),
    );
    run_for(&mut simulation, 2_000);
    apply(&mut simulation, &manifest(2, ""));
    until(&mut simulation, 5_000, |it| web(it).status.available_replicas == 2);
    assert_eq!(web(&simulation).status.collision_count, Some(1));
    let mut names: Vec<String> = sets(&simulation).iter().map(|set| set.metadata.name.to_string()).collect();
    names.retain(|it| *it != name);
    assert_eq!(names.len(), 1);
    run_for(&mut simulation, 10_000);
    assert_eq!((sets(&simulation).len(), web(&simulation).status.collision_count), (2, Some(1)));
}
