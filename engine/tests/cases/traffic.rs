//! Requests to a Service: what a rollout, a deletion, an overload and an outage cost.

use loopscope_engine::sim::Millis;
use loopscope_engine::view::{self, LoadView};
use loopscope_engine::world::{Command, Scenario, Simulation};

const SERVICE: &str =
    "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n---\n";

fn deployment(replicas: i32, pod: &str, container: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: {{app: web}}}}\n  \
         template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n{pod}      containers:\n      - name: app\n        image: web:v1\n        \
         ports: [{{containerPort: 80}}]\n        resources: {{requests: {{cpu: 100m}}}}\n{container}"
    )
}

const PROBE: &str = "        readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}\n";
const PRE_STOP: &str = "        lifecycle: {preStop: {sleep: {seconds: 5}}}\n";
/// A program that takes 3 s until it serves, and half a second to stop.
const SLOW: &str = "--start=200ms --ready-after=3s --stop=500ms --pull=1s";

struct Web(Simulation);

impl Web {
    fn new(replicas: i32, container: &str) -> Self {
        let mut web = Self(Simulation::new(Scenario::with_nodes(3, 3, "8", "16Gi")));
        for version in 1..=2 {
            web.tell(&format!("image web:v{version} behave {SLOW}"));
        }
        let manifest = [SERVICE, &deployment(replicas, "", container)].concat();
        assert!(web.0.dispatch(Command::Apply { manifest }).is_ok());
        web.run(30);
        web
    }

    fn tell(&mut self, text: &str) {
        let outcome = self.0.dispatch(text.parse().expect("a command"));
        assert!(outcome.is_ok(), "{text}: {outcome:?}");
    }

    fn run(&mut self, seconds: u64) {
        self.run_ms(seconds * 1_000);
    }

    fn run_ms(&mut self, ms: u64) {
        let until = self.0.now() + Millis(ms);
        assert!(self.0.run_until(until, 10_000_000));
    }

    fn load(&self) -> LoadView {
        view::traffic(&self.0).into_iter().next().expect("a load")
    }

    /// Requests that were lost for a reason.
    fn lost(&self, cause: &str) -> u64 {
        self.load().losses.iter().find(|it| it.cause == cause).map_or(0, |it| it.total / 1_000)
    }

    fn all_lost(&self) -> u64 {
        self.load().losses.iter().map(|it| it.total).sum::<u64>() / 1_000
    }
}

/// Without a readiness probe a pod counts as ready when its process runs: every rollout costs requests.
#[test]
fn r7_a_rollout_without_a_probe_loses_requests() {
    let mut web = Web::new(3, PRE_STOP);
    web.tell("load service/web --steady=100");
    web.run(10);
    assert_eq!(web.all_lost(), 0, "nothing changes, nothing is lost");
    web.tell("kubectl set image deployment/web app=web:v2");
    web.run(60);
    let lost = web.lost("not serving yet");
    // Three pods, one after the other: each gets about a third or a quarter of 100 a second for nearly 3 s.
    assert!((150..=300).contains(&lost), "{lost}: {:?}", web.load().losses);
    assert_eq!(web.all_lost(), lost, "and nothing for another reason");
    assert_eq!(web.load().success, Some(1_000), "all is well again");
    assert!(web.load().success_in_all < Some(970), "{:?}", web.load().success_in_all);
}

/// The same with a probe loses nothing.
#[test]
fn r7_a_rollout_with_a_probe_loses_nothing() {
    let mut web = Web::new(3, &[PROBE, PRE_STOP].concat());
    web.tell("load service/web --steady=100");
    web.run(10);
    web.tell("kubectl set image deployment/web app=web:v2");
    web.run(60);
    assert_eq!(web.all_lost(), 0, "{:?}", web.load().losses);
    assert_eq!(web.load().sent_in_all, 7_000_000);
}

/// A deleted pod is told to stop while proxies still send to it: up to a second of its share is lost. A hook that sleeps
/// until they know costs nothing.
#[test]
fn r8_the_endpoint_is_removed_while_the_pod_already_stops() {
    for (hook, is_lost) in [("", true), (PRE_STOP, false)] {
        let mut web = Web::new(4, &[PROBE, hook].concat());
        web.tell("load service/web --steady=100");
        web.run(10);
        web.tell("kubectl scale deployment/web --replicas=3");
        web.run(20);
        let lost = web.load().losses.iter().find(|it| it.cause == "terminating").map_or(0, |it| it.total);
        assert_eq!(lost > 0, is_lost, "{hook:?}: {lost}");
        // A quarter of 100 a second, for the ms that it takes the word to reach the proxies.
        assert!(lost <= 25_000, "{lost}");
        assert_eq!(web.all_lost() * 1_000, lost / 1_000 * 1_000, "nothing else is lost");
        assert_eq!(web.load().endpoints.iter().filter(|it| it.is_routed).count(), 3);
    }
}

/// More than the pods can take: the rest is lost, and fewer pods lose more.
#[test]
fn an_overload_loses_what_is_too_much() {
    let mut web = Web::new(3, PROBE);
    web.tell("load service/web --steady=100 --capacity=25");
    web.run(100);
    let load = web.load();
    assert_eq!((load.served, load.success), (75_000, Some(750)));
    assert_eq!(web.lost("overloaded"), 2_500);
    assert!(load.endpoints.iter().all(|it| it.served == 25_000 && it.cause == Some("overloaded")));
    web.tell("kubectl scale deployment/web --replicas=5");
    web.run(30);
    assert_eq!(web.load().success, Some(1_000), "five are enough");
}

/// What a CPU limit allows is a capacity as well.
#[test]
fn a_cpu_limit_bounds_what_a_pod_answers() {
    let limited = PROBE.to_owned() + "        resources: {limits: {cpu: 200m}, requests: {cpu: 100m}}\n";
    let mut web = Web(Simulation::new(Scenario::with_nodes(3, 3, "8", "16Gi")));
    let text = deployment(1, "", &limited).replace("        resources: {requests: {cpu: 100m}}\n", "");
    let manifest = [SERVICE, &text].concat();
    assert!(web.0.dispatch(Command::Apply { manifest }).is_ok());
    web.run(30);
    // 200 m at 10 ms each are 20 a second.
    web.tell("load service/web --steady=50 --cost=10m");
    web.run(10);
    assert_eq!(web.load().served, 20_000);
}

#[test]
fn without_endpoints_and_without_power_all_is_lost() {
    let mut web = Web::new(2, PROBE);
    web.tell("load service/web --steady=10");
    web.run(10);
    web.tell("kubectl scale deployment/web --replicas=0");
    web.run(20);
    assert_eq!(web.load().success, Some(0));
    assert!(web.lost("no endpoint") >= 150, "{:?}", web.load().losses);
    web.tell("kubectl scale deployment/web --replicas=2");
    web.run(20);
    assert_eq!(web.load().success, Some(1_000));
    // The node of one of them loses its power: half is lost until the node controller notices, after some 50 s.
    let node = web.load().endpoints[0].node.to_string();
    let before = web.lost("does not answer");
    web.tell(&format!("node stop {node}"));
    web.run(80);
    let lost = web.lost("does not answer") - before;
    assert!((190..=310).contains(&lost), "{lost}");
    assert_eq!(web.load().success, Some(1_000), "the other pod takes all");
}

/// A ramp and a wave come to what their curves say, however the time is cut into pieces.
#[test]
fn what_is_sent_does_not_depend_on_when_one_looks() {
    let sent = |step: u64| {
        let mut web = Web::new(2, PROBE);
        web.tell("load service/web --wave=10..90 --period=60s --cost=5m");
        let mut ran = 0;
        while ran < 120_000 {
            web.run_ms(step);
            ran += step;
            let _ = view::traffic(&web.0);
        }
        let load = web.load();
        (load.sent_in_all, load.endpoints, web.0.trace().digest())
    };
    let once = sent(120_000);
    assert_eq!(once.0, 6_000_000, "50 a second on average");
    assert_eq!(once, sent(7_500));
    assert_eq!(once, sent(1_000));
}

/// The same load feeds the autoscaler: the requests make the CPU, and more pods lose less.
#[test]
fn the_load_that_is_lost_is_the_load_that_scales() {
    let mut web = Web::new(2, PROBE);
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  minReplicas: 2\n  maxReplicas: 10\n  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]\n";
    assert!(web.0.dispatch(Command::Apply { manifest: autoscaler.into() }).is_ok());
    web.run(60);
    // 100 a second at 4 ms are 400 m; two pods can take 30 a second each.
    web.tell("load service/web --steady=100 --cost=4m --capacity=30");
    web.run(5);
    assert_eq!(web.load().success, Some(600));
    web.run(150);
    assert_eq!(web.load().success, Some(1_000));
    let autoscaler = view::autoscalers(&web.0).remove(0);
    assert!((8..=10).contains(&autoscaler.current), "{}", autoscaler.current);
    let log: Vec<_> = autoscaler.log.iter().filter(|it| it.written.is_some()).collect();
    assert!(!log.is_empty());
    for line in &log {
        let (size, is_taken) = line.written.expect("a size");
        assert!(is_taken && Some(size) == line.limited, "{line:?}");
        assert!(line.raw >= line.limited || line.because.contains("Scale"), "{line:?}");
        assert!(line.value.is_some_and(|it| it.is_percent && it.target == 50 && it.value > 55), "{line:?}");
    }
    // Why it scaled leads back to the load.
    let chain = view::why(&web.0, log[0].seq.0);
    let root = format!("{chain:?}");
    assert!(root.contains("put a load on"), "{root}");
}

/// What is at rest costs nothing: the world without a load goes exactly as before there were any.
#[test]
fn a_load_that_is_taken_off_leaves_no_trace_of_its_own() {
    let mut with = Web::new(2, PROBE);
    let mut without = Web::new(2, PROBE);
    with.tell("load service/web --steady=100");
    with.tell("load service/web stop");
    assert!(view::traffic(&with.0).is_empty());
    let events = |web: &Web| web.0.trace().last_seq().0;
    let (a, b) = (events(&with), events(&without));
    with.run(60);
    without.run(60);
    assert_eq!(events(&with) - a, events(&without) - b);
}
