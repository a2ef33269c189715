//! The autoscaler's loop in the world: when it is there, what it is told late, what it cannot know, and what a view shows.

use loopscope_engine::api::{Kind, Object, condition};
use loopscope_engine::controllers::horizontal_pod_autoscaler::NAME;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view;
use loopscope_engine::world::{Command, Scenario, Simulation};

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: web}}\n  \
                   template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: app, image: \"web:v1\", resources: {requests: {cpu: 100m}}}]}\n";

fn autoscaler(metric: &str) -> String {
    format!(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\nspec:\n  \
         scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}\n  minReplicas: 1\n  maxReplicas: 9\n  metrics: [{metric}]\n"
    )
}

const CPU: &str = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}";

fn world() -> Simulation {
    let mut simulation = Simulation::new(Scenario::empty(3));
    apply(&mut simulation, WEB);
    run(&mut simulation, 30);
    simulation
}

fn apply(simulation: &mut Simulation, manifest: &str) {
    let outcome = simulation.dispatch(Command::Apply { manifest: manifest.into() });
    assert!(outcome.is_ok(), "{outcome:?}");
}

fn tell(simulation: &mut Simulation, text: &str) {
    let outcome = simulation.dispatch(text.parse().expect("a command"));
    assert!(outcome.is_ok(), "{text}: {outcome:?}");
}

fn run(simulation: &mut Simulation, seconds: u64) {
    let until = simulation.now() + Millis::from_secs(seconds);
    assert!(simulation.run_until(until, 10_000_000));
}

fn size(simulation: &Simulation) -> i32 {
    let mut all = simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment);
    all.next().expect("a Deployment").spec.wanted()
}

#[test]
fn the_loop_comes_with_the_first_autoscaler() {
    let has_loop = |simulation: &Simulation| simulation.loops().iter().any(|it| it.name.as_str() == NAME);
    let mut simulation = world();
    assert!(!has_loop(&simulation));
    apply(&mut simulation, &autoscaler(CPU));
    run(&mut simulation, 1);
    assert!(has_loop(&simulation));
    // A crash takes what it remembers, not itself.
    tell(&mut simulation, "controller crash kube-controller-manager");
    tell(&mut simulation, "load deployment/web --steady=400m");
    run(&mut simulation, 60);
    assert_eq!(simulation.loops().iter().filter(|it| it.name.as_str() == NAME).count(), 1);
    assert!(size(&simulation) > 2);
}

/// A load is there at once; what the metrics API says of it comes up over 10 to 35 s.
#[test]
fn the_metrics_api_learns_late_of_a_load() {
    let mut simulation = world();
    apply(&mut simulation, &autoscaler(CPU));
    assert!(simulation.run_until(Time(90_100), 10_000_000));
    tell(&mut simulation, "load deployment/web --steady=160m");
    let began = simulation.now();
    let mut values = Vec::new();
    for _ in 0..60 {
        run(&mut simulation, 1);
        let view = view::autoscalers(&simulation).remove(0);
        let percent = view.log.last().and_then(|it| it.value).map_or(0, |it| it.value);
        values.push((simulation.now().since(began).0 / 1_000, percent));
    }
    let first = values.iter().find(|(_, percent)| *percent > 5).map(|(at, _)| *at);
    assert!(first.is_some_and(|at| (10..=35).contains(&at)), "{values:?}");
    assert!(values.iter().any(|(_, percent)| (75..=85).contains(percent)), "{values:?}");
    assert!(size(&simulation) > 2);
}

#[test]
fn metrics_that_nobody_provides_are_unknown() {
    for (metric, reason, why) in [
        (
            "{type: Pods, pods: {metric: {name: qps}, target: {type: AverageValue, averageValue: 5}}}",
            "FailedGetPodsMetric",
            "the HPA was unable to compute the replica count: unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
        ),
        (
            "{type: External, external: {metric: {name: queue}, target: {type: Value, value: 5}}}",
            "FailedGetExternalMetric",
            "the HPA was unable to compute the replica count: failed to get external metric queue: unable to fetch metrics from external metrics API: no external metrics API (external.metrics.k8s.io) registered",
        ),
    ] {
        let mut simulation = world();
        apply(&mut simulation, &autoscaler(metric));
        run(&mut simulation, 20);
        let mut all =
            simulation.api().objects().of_kind(Kind::HorizontalPodAutoscaler).filter_map(Object::as_autoscaler);
        let status = &all.next().expect("an autoscaler").status;
        let active = condition(&status.conditions, "ScalingActive").expect("a condition");
        assert_eq!((active.reason.as_str(), active.message.as_str()), (reason, why));
        assert_eq!(size(&simulation), 2);
    }
}

/// The log has the controller's reasoning, pass by pass, and what was written is what was decided.
#[test]
fn the_log_tells_how_each_size_came_about() {
    let mut simulation = world();
    tell(&mut simulation, "load deployment/web --steady=160m");
    run(&mut simulation, 60);
    apply(&mut simulation, &autoscaler(CPU));
    run(&mut simulation, 16);
    let view = view::autoscalers(&simulation).remove(0);
    assert_eq!((view.min, view.max, view.current, view.desired), (1, 9, 2, 4));
    assert_eq!(view.target.as_ref().map(ToString::to_string).as_deref(), Some("Deployment/web"));
    assert!(view.next_pass.is_some_and(|at| (13_000..15_000).contains(&at.since(simulation.now()).0)));
    let line = &view.log[0];
    assert_eq!(line.metric, "cpu resource utilization (percentage of request) 81% of 50%");
    assert_eq!((line.current, line.raw, line.stabilized, line.limited), (Some(2), Some(4), Some(4), Some(4)));
    assert_eq!(line.because, "ReadyForNewScale, DesiredWithinRange");
    assert_eq!(line.written, Some((4, true)));
    // The load goes: what is recommended falls, what stands in the window holds.
    tell(&mut simulation, "load deployment/web stop");
    run(&mut simulation, 120);
    let view = view::autoscalers(&simulation).remove(0);
    let held = view.log.iter().find(|it| it.raw < it.stabilized).expect("a pass that is held back");
    assert_eq!((held.written, held.limited), (None, held.stabilized));
    assert!(held.because.starts_with("ScaleDownStabilized"), "{}", held.because);
    assert!(size(&simulation) >= 4);
}

/// A size that the API server refuses: the product's own words, and the next pass tries again.
#[test]
fn a_size_that_is_refused_is_told_and_tried_again() {
    let scenario = Scenario { max_pods: Some(3), ..Scenario::empty(3) };
    let mut simulation = Simulation::new(scenario);
    apply(&mut simulation, WEB);
    tell(&mut simulation, "load deployment/web --steady=400m");
    run(&mut simulation, 60);
    apply(&mut simulation, &autoscaler(CPU));
    run(&mut simulation, 50);
    let told = simulation.api().events.iter().filter(|it| it.draft.reason == "FailedRescale");
    let (told, count) = told.fold((String::new(), 0), |_, it| (it.draft.message.clone(), it.count));
    assert!(
        told.starts_with("New size: 4; reason: cpu resource utilization (percentage of request) above target; error: "),
        "{told}"
    );
    assert!(count >= 2, "{count}");
    let view = view::autoscalers(&simulation).remove(0);
    assert_eq!(view.log[0].written, Some((4, false)));
    let mut all = simulation.api().objects().of_kind(Kind::HorizontalPodAutoscaler).filter_map(Object::as_autoscaler);
    let status = &all.next().expect("an autoscaler").status;
    let able = condition(&status.conditions, "AbleToScale").expect("a condition");
    assert_eq!((able.status.as_str(), able.reason.as_str()), ("False", "FailedUpdateScale"));
    assert_eq!(status.last_scale_time, None);
    assert_eq!(size(&simulation), 2);
}
