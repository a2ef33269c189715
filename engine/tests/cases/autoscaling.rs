//! Cases of the HorizontalPodAutoscaler by their ids.

use loopscope_engine::api::{HorizontalPodAutoscaler, Kind, Object, ObjectKey, condition};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation};

/// A Deployment whose pods request 100 m of CPU.
fn deployment(name: &str, app: &str, replicas: i32, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  \
         selector: {{matchLabels: {{app: {app}}}}}\n  template:\n    metadata: {{labels: {{app: {app}}}}}\n    \
         spec:\n      containers:\n      - {{name: app, image: \"{name}:v1\", resources: {{requests: {{cpu: 100m}}}}}}\n{more}"
    )
}

fn autoscaler(name: &str, target: &str, min: i32, max: i32, behavior: &str) -> String {
    format!(
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: {name}}}\nspec:\n  \
         scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}\n  minReplicas: {min}\n  \
         maxReplicas: {max}\n  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]\n{behavior}"
    )
}

struct Cluster(Simulation);

impl Cluster {
    fn new(manifest: &str) -> Self {
        let mut cluster = Self(Simulation::new(Scenario::with_nodes(7, 4, "8", "16Gi")));
        cluster.apply(manifest);
        cluster
    }

    fn apply(&mut self, manifest: &str) {
        let outcome = self.0.dispatch(Command::Apply { manifest: manifest.into() });
        assert!(outcome.is_ok(), "{outcome:?}");
    }

    fn tell(&mut self, text: &str) {
        let outcome = self.0.dispatch(text.parse().expect("a command"));
        assert!(outcome.is_ok(), "{text}: {outcome:?}");
    }

    fn run(&mut self, seconds: u64) {
        let until = self.0.now() + Millis::from_secs(seconds);
        assert!(self.0.run_until(until, 10_000_000));
    }

    fn size(&self, name: &str) -> i32 {
        let key = ObjectKey::new(Kind::Deployment, "default", name);
        self.0.api().objects().get(&key).and_then(Object::as_deployment).expect("a Deployment").spec.wanted()
    }

    fn autoscaler(&self, name: &str) -> &HorizontalPodAutoscaler {
        let key = ObjectKey::new(Kind::HorizontalPodAutoscaler, "default", name);
        self.0.api().objects().get(&key).and_then(Object::as_autoscaler).expect("an autoscaler")
    }

    /// Status and reason of a condition.
    fn condition(&self, name: &str, kind: &str) -> (String, String) {
        let found = condition(&self.autoscaler(name).status.conditions, kind).expect("the condition");
        (found.status.to_string(), found.reason.to_string())
    }

    fn messages(&self, reason: &str) -> Vec<String> {
        let events = self.0.api().events.iter().filter(|it| it.draft.reason == reason);
        events.map(|it| it.draft.message.clone()).collect()
    }

    /// The sizes that a Deployment gets within a time, second by second, without repetitions.
    fn sizes(&mut self, name: &str, seconds: u64) -> Vec<i32> {
        let mut sizes = vec![self.size(name)];
        for _ in 0..seconds {
            self.run(1);
            sizes.push(self.size(name));
        }
        sizes.dedup();
        sizes
    }
}

fn is(status: &str, reason: &str) -> (String, String) {
    (status.into(), reason.into())
}

/// Three pods with a target of 50 %: 54 % is within the tolerance, 56 % makes four, 90 % six.
#[test]
fn h1_three_pods_stay_at_54_percent_and_grow_at_56_and_90() {
    for (percent, size) in [(54, 3), (56, 4), (90, 6)] {
        let mut cluster = Cluster::new(&deployment("web", "web", 3, ""));
        cluster.tell(&format!("load deployment/web --steady={}m", percent * 3));
        // Pods that have just started are not judged by their CPU.
        cluster.run(60);
        cluster.apply(&autoscaler("web", "web", 1, 10, ""));
        cluster.run(16);
        assert_eq!(cluster.size("web"), size, "{percent} %");
    }
}

/// One pod at 400 %: twice as many or four without `behavior`; four more where there is any.
#[test]
fn h1_one_pod_steps_to_four_without_behavior_and_to_five_with() {
    for (behavior, size) in [("", 4), ("  behavior: {scaleDown: {stabilizationWindowSeconds: 60}}\n", 5)] {
        let mut cluster = Cluster::new(&deployment("web", "web", 1, ""));
        cluster.tell("load deployment/web --steady=400m");
        cluster.run(60);
        cluster.apply(&autoscaler("web", "web", 1, 10, behavior));
        cluster.run(16);
        assert_eq!(cluster.size("web"), size, "{behavior}");
        assert_eq!(cluster.condition("web", "ScalingLimited"), is("True", "ScaleUpLimit"));
    }
}

/// The load drops to 10 %: nothing happens until the last high recommendation is 300 s old, then 6 become 2 at once.
#[test]
fn h1_a_drop_is_followed_after_five_minutes() {
    let mut cluster = Cluster::new(&deployment("web", "web", 3, ""));
    cluster.tell("load deployment/web --steady=300m");
    cluster.run(60);
    cluster.apply(&autoscaler("web", "web", 2, 6, ""));
    cluster.run(120);
    assert_eq!(cluster.size("web"), 6);
    cluster.tell("load deployment/web --steady=60m");
    let dropped = cluster.0.now();
    cluster.run(60);
    assert_eq!(cluster.condition("web", "AbleToScale"), is("True", "ScaleDownStabilized"));
    cluster.run(235);
    assert_eq!(cluster.size("web"), 6, "nothing before 300 s");
    while cluster.size("web") == 6 {
        cluster.run(1);
    }
    let after = cluster.0.now().since(dropped).0 / 1_000;
    // The metric itself is behind by up to 35 s, and a pass comes every 15 s.
    assert!((300..=350).contains(&after), "{after} s");
    assert_eq!(cluster.size("web"), 2, "at once");
    let told = cluster.messages("SuccessfulRescale");
    assert_eq!(told.last().map(String::as_str), Some("New size: 2; reason: All metrics below target"));
}

/// A completed test pod without a request, which the selector matches: no scaling at all.
#[test]
fn h2_one_pod_without_a_request_stops_all_scaling() {
    let mut cluster = Cluster::new(&deployment("web", "web", 2, ""));
    cluster.apply(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: smoke, labels: {app: web}}\nspec:\n  restartPolicy: Never\n  containers: [{name: test, image: test}]\n",
    );
    cluster.tell("load deployment/web --steady=400m");
    cluster.run(60);
    cluster.apply(&autoscaler("web", "web", 1, 10, ""));
    cluster.run(40);
    assert_eq!(cluster.size("web"), 2);
    assert_eq!(cluster.condition("web", "ScalingActive"), is("False", "FailedGetResourceMetric"));
    let why = "failed to get cpu utilization: missing request for cpu in container test of Pod smoke";
    assert_eq!(cluster.messages("FailedGetResourceMetric"), [why]);
    assert_eq!(
        cluster.messages("FailedComputeMetricsReplicas"),
        [format!(
            "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {why}"
        )]
    );
    // It goes, and scaling begins.
    cluster.tell("kubectl delete pod/smoke");
    cluster.run(60);
    assert!(cluster.size("web") > 2);
}

/// Twelve Deployments with one label: the autoscaler of one averages over the pods of all, and stays at its maximum.
#[test]
fn h3_a_label_that_others_have_too_keeps_it_at_the_maximum() {
    let all: Vec<String> = (0..12).map(|it| deployment(&format!("app-{it}"), "myapp", 4, "")).collect();
    let mut cluster = Cluster::new(&all.join("---\n"));
    for it in 1..12 {
        cluster.tell(&format!("load deployment/app-{it} --steady=400m"));
    }
    cluster.run(60);
    cluster.apply(&autoscaler("one", "app-0", 2, 8, ""));
    cluster.run(200);
    assert_eq!(cluster.size("app-0"), 8);
    assert_eq!(cluster.condition("one", "ScalingLimited"), is("True", "TooManyReplicas"));
    cluster.run(600);
    assert_eq!(cluster.size("app-0"), 8, "and stays there");
}

/// Two autoscalers on one target: both say so, and neither scales.
#[test]
fn h3_two_autoscalers_of_one_target_scale_nothing() {
    let mut cluster = Cluster::new(&deployment("web", "web", 2, ""));
    cluster.tell("load deployment/web --steady=400m");
    cluster.run(60);
    cluster.apply(&[autoscaler("one", "web", 1, 10, ""), autoscaler("two", "web", 1, 10, "")].join("---\n"));
    // The first pass of the first knows nothing of the second yet.
    cluster.run(16);
    let size = cluster.size("web");
    cluster.run(120);
    assert_eq!(cluster.size("web"), size);
    for name in ["one", "two"] {
        assert_eq!(cluster.condition(name, "ScalingActive"), is("False", "AmbiguousSelector"));
    }
    let why = "pods by selector app=web are controlled by multiple HPAs: [{one default} {two default}]";
    assert!(cluster.messages("AmbiguousSelector").contains(&why.to_string()));
    cluster.tell("kubectl delete horizontalpodautoscaler/two");
    cluster.run(60);
    assert_eq!(cluster.condition("one", "ScalingActive"), is("True", "ValidMetricFound"));
}

/// A rollout that only adds pods first, without load: since terminating and failed pods are not counted (1.36), and
/// those that have just started use nothing that counts, the size does not rise.
#[test]
fn h4_a_rollout_without_load_does_not_inflate() {
    let careful = "  strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}\n";
    let mut cluster = Cluster::new(&deployment("web", "web", 3, careful));
    cluster.run(60);
    cluster.apply(&autoscaler("web", "web", 3, 20, ""));
    cluster.run(330);
    for version in 2..8 {
        cluster.tell(&format!("kubectl set image deployment/web app=web:v{version}"));
        assert_eq!(cluster.sizes("web", 60), [3], "version {version}");
    }
}

/// Below its minimum a target is lifted without a look at metrics, above its maximum cut.
#[test]
fn h_bounds_come_before_metrics() {
    let mut cluster = Cluster::new(&deployment("web", "web", 1, ""));
    cluster.run(5);
    cluster.apply(&autoscaler("web", "web", 2, 4, ""));
    cluster.run(16);
    assert_eq!(cluster.size("web"), 2);
    assert!(cluster.autoscaler("web").status.current_metrics.is_empty(), "<unknown>");
    cluster.tell("kubectl scale deployment/web --replicas=9");
    cluster.run(16);
    assert_eq!(cluster.size("web"), 4);
    assert_eq!(
        cluster.messages("SuccessfulRescale"),
        [
            "New size: 2; reason: Current number of replicas below Spec.MinReplicas",
            "New size: 4; reason: Current number of replicas above Spec.MaxReplicas"
        ]
    );
    cluster.tell("kubectl scale deployment/web --replicas=0");
    cluster.run(40);
    assert_eq!(cluster.size("web"), 0, "at 0 it is off");
    assert_eq!(cluster.condition("web", "ScalingActive"), is("False", "ScalingDisabled"));
}

/// What cannot be: the products' own answers.
#[test]
fn h_bad_input_is_answered_as_kubernetes_does() {
    let mut cluster = Cluster::new(&deployment("web", "web", 2, ""));
    let outcome = cluster.0.dispatch(Command::Apply { manifest: autoscaler("web", "web", 5, 3, "") });
    let wrong: Vec<_> = outcome.problems.iter().filter_map(|it| it.upstream.clone()).collect();
    assert_eq!(
        wrong,
        [
            "HorizontalPodAutoscaler.autoscaling \"web\" is invalid: spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"
        ]
    );
    cluster.apply(&autoscaler("lost", "nowhere", 1, 3, ""));
    cluster.run(20);
    assert_eq!(cluster.condition("lost", "AbleToScale"), is("False", "FailedGetScale"));
    assert_eq!(cluster.messages("FailedGetScale"), ["deployments.apps \"nowhere\" not found"]);
    // It comes, and is scaled.
    cluster.apply(&deployment("nowhere", "nowhere", 1, ""));
    cluster.run(80);
    assert_eq!(cluster.condition("lost", "AbleToScale"), is("True", "ReadyForNewScale"));
    for text in
        ["load node/node-1 --steady=1", "load service/none --steady=1", "load deployment/web --wave=5..1 --period=60s"]
    {
        assert!(!cluster.0.dispatch(text.parse().expect("a command")).is_ok(), "{text}");
    }
}
