//! Rollouts as recorded: the sizes that a Deployment gives its ReplicaSets, one after the other.

#[path = "common/play.rs"]
mod play;
#[path = "common/rollout.rs"]
mod rollout;

use loopscope_engine::api::Kind;
use loopscope_engine::client::{TurnPhase, What};
use loopscope_engine::world::{Command, Simulation};
use play::{apply, messages, pods, run_for, scale, scenario, set_image, target, until, world};
use rollout::*;

/// Recording `h_recreate`: nothing new before the last old pod is gone.
#[test]
fn recreate_waits_until_the_last_old_pod_is_gone() {
    let (mut simulation, mut sizes) = begin(4, "strategy: {type: Recreate}", &[]);
    image(&mut simulation, "app:v2");
    for _ in 0..200 {
        sizes.run(&mut simulation, 20);
        let all = pods(&simulation);
        let new = all.iter().filter(|pod| pod.spec.containers[0].image == "app:v2").count();
        assert!(new == 0 || new == all.len(), "old and new side by side");
    }
    assert_eq!(sizes.take(), [vec![4], vec![0], vec![0, 4]]);
    assert_eq!(web(&simulation).status.available_replicas, 4);
    let told = messages(&simulation, "ScalingReplicaSet");
    assert!(told[1].ends_with("from 4 to 0") && told[2].ends_with("from 0 to 4"), "{told:?}");
}

/// `requeueStuckDeployment`: a rollout that was complete once never times out. Past its deadline the controller asks for
/// the next turn as soon as its queue's rate limits let it, ten times a second, and finds nothing to do each time.
#[test]
fn a_complete_rollout_whose_pods_are_gone_is_checked_ten_times_a_second_and_says_nothing() {
    let (mut simulation, _) = begin(3, "", &[]);
    run_for(&mut simulation, 5_000);
    let nodes: Vec<String> = (1..=simulation.machines().len()).map(|number| format!("node-{number}")).collect();
    for node in nodes.clone() {
        assert!(simulation.dispatch(Command::StopNode { node }).is_ok());
    }
    run_for(&mut simulation, 700_000);
    assert_eq!(status_of(&simulation, "Progressing").1, "NewReplicaSetAvailable");
    assert_eq!(web(&simulation).status.available_replicas, 0);
    let turns = |simulation: &Simulation, visible: bool| {
        let events = simulation.trace().all_events().filter(|it| it.is_background != visible);
        let of = |what: &What| match what {
            What::Reached { phase: TurnPhase::Observe, key, .. } => key.kind == Kind::Deployment,
            _ => false,
        };
        let last = simulation.now().0 - 10_000;
        events.filter(|it| it.at.0 > last && of(&it.what)).count()
    };
    assert_eq!((turns(&simulation, false), turns(&simulation, true)), (100, 0));
    let before = simulation.trace().visible_count();
    run_for(&mut simulation, 60_000);
    assert_eq!(simulation.trace().visible_count() - before, 0);
    for node in nodes {
        assert!(simulation.dispatch(Command::StartNode { node }).is_ok());
    }
    run_for(&mut simulation, 60_000);
    assert_eq!(web(&simulation).status.available_replicas, 3, "the checks are in nobody's way");
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

/// Recording `t_min_ready_seconds`: availability, and with it the rollout, comes 5 s after readiness; timestamps have
/// whole seconds, so it may be a little less.
#[test]
fn min_ready_seconds_hold_each_step_of_a_rollout_up() {
    let mut simulation = world(scenario());
    let mut sizes = Sizes::new();
    apply(
        &mut simulation,
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}",
    );
    apply(&mut simulation, &manifest(3, "minReadySeconds: 5"));
    let ready = until(&mut simulation, 3_000, |it| web(it).status.ready_replicas == 3);
    assert_eq!(web(&simulation).status.available_replicas, 0);
    assert_eq!(status_of(&simulation, "Available").0, "False");
    let available = until(&mut simulation, 8_000, |it| web(it).status.available_replicas == 3);
    assert!((4_000..=5_100).contains(&available.since(ready).0), "{}", available.since(ready).0);
    sizes.look(&simulation);
    assert_eq!(sizes.take(), [vec![3]]);
    image(&mut simulation, "app:v2");
    sizes.run(&mut simulation, 20_000);
    let gaps: Vec<u64> = sizes.steps.windows(2).map(|pair| pair[1].0.since(pair[0].0).0).collect();
    assert_eq!(sizes.take(), [vec![3, 1], vec![2, 1], vec![2, 2], vec![1, 2], vec![1, 3], vec![0, 3]]);
    for (step, gap) in gaps.iter().enumerate() {
        let range = if step % 2 == 0 { 4_200..=6_000 } else { 0..=100 };
        assert!(range.contains(gap), "{gaps:?}");
    }
}

/// Recording `u_revision_history_limit`: after a rollout is complete, the oldest empty ReplicaSets beyond the limit go.
#[test]
fn old_replica_sets_go_once_the_rollout_is_complete() {
    let (mut simulation, mut sizes) = begin(2, "revisionHistoryLimit: 2", &[]);
    for version in 2..=5 {
        let name = format!("app:v{version}");
        set_image(&mut simulation, Kind::Deployment, "web", &name);
        sizes.run(&mut simulation, 8_000);
    }
    let steps = sizes.take();
    assert_eq!(steps.last(), Some(&vec![-1, -1, 0, 0, 2]));
    let at = steps.iter().position(|step| step[0] == -1).expect("the first goes");
    assert_eq!(steps[at], [-1, 0, 0, 2], "with the fourth complete, not before");
    let mut revisions: Vec<String> = sets(&simulation)
        .iter()
        .map(|it| it.metadata.annotations["deployment.kubernetes.io/revision"].clone())
        .collect();
    revisions.sort();
    assert_eq!(revisions, ["3", "4", "5"]);
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

/// Recording `f_rollover_mid_rollout`: the third ReplicaSet begins at 0, and what is not yet available of the second
/// goes first.
#[test]
fn a_rollover_begins_at_zero_and_takes_the_unavailable_first() {
    let (mut simulation, mut sizes) = begin(10, "", &[("app:v2", slow()), ("app:v3", slow())]);
    image(&mut simulation, "app:v2");
    sizes.run(&mut simulation, 1_000);
    assert_eq!(sizes.take(), [vec![10], vec![10, 3], vec![8, 3], vec![8, 5]]);
    image(&mut simulation, "app:v3");
    sizes.run(&mut simulation, 1_000);
    assert_eq!(sizes.take(), [vec![8, 5, 0], vec![8, 0, 0], vec![8, 0, 5]]);
    sizes.run(&mut simulation, 15_000);
    assert_eq!(sizes.take().last(), Some(&vec![0, 0, 10]));
}

/// Recordings `i_pause_resume` and `d4_rolling_3_default`: the conditions in their order.
#[test]
fn conditions_change_as_recorded() {
    let mut simulation = world(scenario());
    apply(&mut simulation, &manifest(3, ""));
    let mut seen: Vec<String> = Vec::new();
    let mut watch = |simulation: &mut Simulation, ms: u64| {
        for _ in 0..ms {
            run_for(simulation, 1);
            let web = web(simulation);
            let told: Vec<String> =
                web.status.conditions.iter().map(|it| format!("{} {} {}", it.kind, it.status, it.reason)).collect();
            let told = told.join(", ");
            if seen.last() != Some(&told) {
                seen.push(told);
            }
        }
        std::mem::take(&mut seen)
    };
    let (up, down) = ("Available True MinimumReplicasAvailable", "Available False MinimumReplicasUnavailable");
    let progressing = |reason: &str| format!("Progressing True {reason}");
    let created = progressing("NewReplicaSetCreated");
    let expected = [
        String::new(),
        created.clone(),
        format!("{created}, {down}"),
        format!("{down}, {}", progressing("ReplicaSetUpdated")),
        format!("{up}, {}", progressing("NewReplicaSetAvailable")),
    ];
    assert_eq!(watch(&mut simulation, 5_000), expected);
    image(&mut simulation, "app:v2");
    let expected = ["NewReplicaSetAvailable", "NewReplicaSetCreated", "ReplicaSetUpdated", "NewReplicaSetAvailable"];
    assert_eq!(watch(&mut simulation, 8_000), expected.map(|reason| format!("{up}, {}", progressing(reason))));
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
