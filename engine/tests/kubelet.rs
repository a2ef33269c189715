//! What a kubelet does, against recordings of the real one (v1.36.2, `v1` to `v6` of the recorded traces).

#[path = "common/lab.rs"]
mod lab;

use lab::{Lab, condition_text, conditions, instant, state};
use loopscope_engine::api::ContainerState;
use loopscope_engine::environment::Behavior;
use loopscope_engine::world::{Command, Subject};

fn crashing(after: u64, code: i32) -> Behavior {
    Behavior { exit: Some((after, code)), ..instant() }
}

/// Recording `v2_real_kubelet_crashloop`.
#[test]
fn a_container_that_keeps_exiting_restarts_as_recorded() {
    let mut lab = Lab::new(&[("app:crash", crashing(2_000, 1))]);
    lab.pod("crash", "{containers: [{name: app, image: 'app:crash'}]}");
    let seen = lab.watch(700_000, |lab| (state(&lab.get("crash")), lab.get("crash").restarts()));
    let starts: Vec<u64> = seen.iter().filter(|(_, (state, _))| state == "running").map(|(at, _)| *at).collect();
    let recorded = [0, 2, 18, 42, 86, 169, 332, 635];
    assert_eq!(starts.len(), recorded.len(), "{seen:?}");
    for (at, expected) in starts.iter().zip(recorded) {
        let (low, high) = (expected as f64 * 930.0 - 2_000.0, expected as f64 * 1_100.0 + 2_000.0);
        assert!((low..=high).contains(&(*at as f64)), "started at {at} ms, recorded at {expected} s: {starts:?}");
    }
    let states: Vec<_> = seen.iter().map(|(_, (state, restarts))| format!("{state} {restarts}")).collect();
    let shown: Vec<_> = states.iter().map(String::as_str).skip_while(|it| !it.starts_with("waiting")).take(9).collect();
    assert_eq!(
        shown,
        [
            "waiting ContainerCreating 0",
            "running 0",
            "terminated Error 1 0",
            "running 1",
            "terminated Error 1 1",
            "waiting CrashLoopBackOff 1",
            "running 2",
            "terminated Error 1 2",
            "waiting CrashLoopBackOff 2",
        ]
    );
    let waits: Vec<u64> = seen
        .windows(2)
        .filter(|pair| pair[0].1.0.starts_with("terminated") && pair[1].1.0.starts_with("waiting"))
        .map(|pair| pair[1].0 - pair[0].0)
        .collect();
    assert!(waits.iter().all(|ms| (9_900..=16_100).contains(ms)), "one kubelet sync later: {waits:?}");
    let pod = lab.get("crash");
    let uid = pod.metadata.uid;
    let events = lab.events("crash");
    let texts: Vec<_> = events.iter().map(|(reason, message, _)| (*reason, message.as_str())).collect();
    for expected in [
        ("Pulling", "Pulling image \"app:crash\""),
        ("Pulled", "Container image \"app:crash\" already present on machine and can be accessed by the pod"),
        ("Created", "Container created"),
        ("Started", "Container started"),
        ("BackOff", &format!("Back-off restarting failed container app in pod crash_default({uid})")),
    ] {
        assert!(texts.contains(&expected), "{expected:?} is missing in {texts:?}");
    }
    let message = match &pod.status.container_statuses[0].state {
        ContainerState::Waiting(it) => it.message.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(message, format!("back-off 5m0s restarting failed container=app pod=crash_default({uid})"));
    assert_eq!(pod.status.phase, "Running", "the pod stays, it is only its container that exits");
}

/// Recording `v4_real_kubelet_liveness`: ends at 24, 48, 72, 96 s with restarts at once, at 120 s into the back-off.
#[test]
fn a_failing_liveness_probe_restarts_the_container() {
    let mut lab = Lab::new(&[("app:v1", Behavior { hang_ms: Some(15_000), ..instant() })]);
    let probe = "livenessProbe: {exec: {command: [ok]}, periodSeconds: 3, failureThreshold: 3}";
    lab.pod(
        "lv",
        &format!("{{terminationGracePeriodSeconds: 5, containers: [{{name: app, image: 'app:v1', {probe}}}]}}"),
    );
    let seen =
        lab.watch(125_000, |lab| (lab.status("lv"), lab.reasons("lv").iter().filter(|it| **it == "Killing").count()));
    let restarts: Vec<u64> = (1..=4)
        .filter_map(|n| seen.iter().find(|(_, (status, _))| *status == format!("Running {n}")).map(|(at, _)| *at))
        .collect();
    for (at, recorded) in restarts.iter().zip([24_000_u64, 48_000, 72_000, 96_000]) {
        assert!(at.abs_diff(recorded) <= 2_000, "{restarts:?}");
    }
    assert_eq!(restarts.len(), 4, "{seen:?}");
    assert_ne!(lab.status("lv"), "Running 5", "the fifth waits until the back-off has run out");
    let events = lab.events("lv");
    let count = |reason: &str, message: &str| {
        let found = events.iter().find(|it| it.0 == reason && it.1 == message);
        found.map_or(0, |it| it.2)
    };
    assert_eq!(count("Unhealthy", "Liveness probe failed: probe says no"), 15);
    assert_eq!(count("Killing", "Container app failed liveness probe, will be restarted"), 5);
    lab.run(25_000);
    assert_eq!(lab.status("lv"), "CrashLoopBackOff 4", "the recording ends at 151 s and it waits");
    lab.run(25_000);
    assert!(lab.status("lv").ends_with(" 5"), "{}", lab.status("lv"));
}

/// Recording `v3_real_kubelet_readiness`: answers from 5 to 20 s, period 3 s, two failures to be unready.
#[test]
fn readiness_comes_and_goes_with_the_programs_answers() {
    let behavior = Behavior { serve_ms: Some(5_000), lapse: Some((20_000, 100_000)), ..instant() };
    let mut lab = Lab::new(&[("app:v1", behavior)]);
    let probe =
        "readinessProbe: {exec: {command: [ok]}, periodSeconds: 3, failureThreshold: 2, initialDelaySeconds: 1}";
    lab.pod("rd", &format!("{{containers: [{{name: app, image: 'app:v1', {probe}}}]}}"));
    let seen = lab.watch(40_000, |lab| lab.get("rd").is_ready());
    let flips: Vec<u64> = seen.iter().skip(1).map(|(at, _)| *at).collect();
    assert_eq!(flips.len(), 2, "{seen:?}");
    assert!((5_000..=8_200).contains(&flips[0]) && (23_000..=26_200).contains(&flips[1]), "{flips:?}");
    let pod = lab.get("rd");
    assert_eq!(condition_text(&pod, "Ready"), "containers with unready status: [app]");
    assert!(pod.status.container_statuses[0].started, "it runs all the same");
    assert_eq!(pod.restarts(), 0);
    assert!(lab.events("rd").iter().any(|it| it.1 == "Readiness probe failed: probe says no" && it.2 > 3));
}

/// Recording `s_readiness_flip`, with the kubelet's own probes.
#[test]
fn a_person_makes_answers_flip_either_way() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    let probe = "readinessProbe: {httpGet: {path: /ok, port: 80}, periodSeconds: 2, failureThreshold: 2}";
    lab.pod("web", &format!("{{containers: [{{name: app, image: 'app:v1', {probe}}}]}}"));
    lab.run(10_000);
    assert!(lab.get("web").is_ready());
    let set = |ready| Command::SetReady { namespace: String::new(), pod: "web".into(), ready };
    assert_eq!(lab.command(set(false)), ["pod/web answers not ready"]);
    let seen = lab.watch(20_000, |lab| lab.get("web").is_ready());
    assert_eq!(seen.len(), 2);
    let took = seen[1].0 - seen[0].0;
    assert!((2_000..=4_200).contains(&took), "two rounds of 2 s, not at once: {took}");
    assert!(
        lab.events("web").iter().any(|it| it.1 == "Readiness probe failed: HTTP probe failed with statuscode: 503")
    );
    lab.command(set(true));
    let seen = lab.watch(20_000, |lab| lab.get("web").is_ready());
    assert!(seen.len() == 2 && seen[1].0 - seen[0].0 <= 2_200, "{seen:?}");
    let writes = lab.get("web").metadata.resource_version;
    lab.run(300_000);
    assert_eq!(lab.get("web").metadata.resource_version, writes, "nothing is written while nothing differs");
}

/// Recording `v6_real_kubelet_run_to_end`.
#[test]
fn pods_that_run_to_their_end_succeed_or_fail() {
    let mut lab = Lab::new(&[
        ("app:ok", crashing(2_000, 0)),
        ("app:bad", crashing(2_000, 1)),
        ("app:long", crashing(4_000, 1)),
        ("app:oom", Behavior { is_oom: true, ..crashing(2_000, 1) }),
    ]);
    lab.pod("never-ok", "{restartPolicy: Never, containers: [{name: app, image: 'app:ok'}]}");
    lab.pod("never-fail", "{restartPolicy: Never, containers: [{name: app, image: 'app:bad'}]}");
    lab.pod("onfailure-ok", "{restartPolicy: OnFailure, containers: [{name: app, image: 'app:ok'}]}");
    lab.pod("onfailure-fail", "{restartPolicy: OnFailure, containers: [{name: app, image: 'app:bad'}]}");
    lab.pod("oom", "{restartPolicy: Never, containers: [{name: app, image: 'app:oom'}]}");
    lab.pod("two", "{restartPolicy: Never, containers: [{name: a, image: 'app:ok'}, {name: b, image: 'app:long'}]}");
    lab.run(3_000);
    assert_eq!(lab.status("two"), "NotReady 0", "one of two has ended");
    assert_eq!(condition_text(&lab.get("two"), "Ready"), "containers with unready status: [a]");
    lab.run(3_000);
    for (name, status) in [
        ("never-ok", "Completed 0"),
        ("never-fail", "Error 0"),
        ("onfailure-ok", "Completed 0"),
        ("oom", "OOMKilled 0"),
        ("two", "Completed 0"),
    ] {
        assert_eq!(lab.status(name), status, "{name}");
    }
    assert_eq!(lab.get("two").status.phase, "Failed");
    assert_eq!((lab.get("onfailure-fail").restarts(), lab.get("onfailure-fail").status.phase.as_str()), (1, "Running"));
    assert_eq!(state(&lab.get("oom")), "terminated OOMKilled 137");
    assert_eq!(
        conditions(&lab.get("never-ok")),
        [
            "PodReadyToStartContainers False",
            "Initialized True PodCompleted",
            "Ready False PodCompleted",
            "ContainersReady False PodCompleted",
            "PodScheduled True"
        ]
    );
    assert_eq!(
        conditions(&lab.get("never-fail")),
        [
            "PodReadyToStartContainers False",
            "Initialized True",
            "Ready False PodFailed",
            "ContainersReady False PodFailed",
            "PodScheduled True"
        ]
    );
}

/// Recording `v6_real_kubelet_run_to_end`, the pods `init` and `init-fail`.
#[test]
fn init_containers_run_one_after_the_other() {
    let mut lab = Lab::new(&[
        ("i:two", crashing(2_000, 0)),
        ("i:one", crashing(1_000, 0)),
        ("i:bad", crashing(1_000, 3)),
        ("app:v1", instant()),
    ]);
    lab.pod("init", "{initContainers: [{name: i1, image: 'i:two'}, {name: i2, image: 'i:one'}], containers: [{name: app, image: 'app:v1'}]}");
    lab.pod("init-fail", "{restartPolicy: Never, initContainers: [{name: i1, image: 'i:bad'}], containers: [{name: app, image: 'app:v1'}]}");
    lab.pod("init-loop", "{initContainers: [{name: i1, image: 'i:bad'}], containers: [{name: app, image: 'app:v1'}]}");
    lab.run(1_000);
    let pod = lab.get("init");
    assert_eq!(condition_text(&pod, "Initialized"), "containers with incomplete status: [i1 i2]");
    assert_eq!((state(&pod).as_str(), pod.status.phase.as_str()), ("waiting PodInitializing", "Pending"));
    let statuses = lab.course(10_000, |lab| lab.status("init"));
    assert_eq!(statuses, ["Init:0/2 0", "Init:1/2 0", "PodInitializing 0", "Running 0"]);
    assert_eq!(
        (lab.status("init-fail").as_str(), lab.get("init-fail").status.phase.as_str()),
        ("Init:Error 0", "Failed")
    );
    assert_eq!(conditions(&lab.get("init-fail"))[1], "Initialized False ContainersNotInitialized");
    let loops = lab.course(30_000, |lab| lab.status("init-loop"));
    assert!(loops.iter().any(|it| it == "Init:CrashLoopBackOff 1"), "{loops:?}");
    assert_eq!(lab.get("init-loop").status.phase, "Pending");
}

#[test]
fn a_sidecar_stays_until_the_others_are_done() {
    let slow = Behavior { start_ms: 500, ..instant() };
    let mut lab = Lab::new(&[("app:side", slow), ("app:job", crashing(5_000, 0))]);
    let side = "{name: side, image: 'app:side', restartPolicy: Always}";
    lab.pod(
        "job",
        &format!("{{restartPolicy: Never, initContainers: [{side}], containers: [{{name: app, image: 'app:job'}}]}}"),
    );
    let statuses = lab.course(12_000, |lab| lab.status("job"));
    assert_eq!(statuses, ["Pending 0", "Init:0/1 0", "PodInitializing 0", "Running 0", "Completed 0"]);
    let pod = lab.get("job");
    assert!(matches!(pod.status.init_container_statuses[0].state, ContainerState::Terminated(_)), "{pod:?}");
}

#[test]
fn an_image_that_cannot_be_had_is_asked_for_less_and_less_often() {
    let mut lab = Lab::new(&[("nginx:9.9", Behavior { is_missing: true, pull_ms: 300, ..instant() })]);
    lab.pod("bad", "{containers: [{name: app, image: 'nginx:9.9'}]}");
    let seen = lab.watch(700_000, |lab| lab.status("bad"));
    let words: Vec<_> = seen.iter().map(|(_, word)| word.as_str()).take(6).collect();
    assert_eq!(
        words,
        [
            "Pending 0",
            "ContainerCreating 0",
            "ErrImagePull 0",
            "ImagePullBackOff 0",
            "ErrImagePull 0",
            "ImagePullBackOff 0"
        ]
    );
    let failed: Vec<u64> = seen.iter().filter(|(_, word)| word == "ErrImagePull 0").map(|(at, _)| *at).collect();
    let gaps: Vec<u64> = failed.windows(2).map(|pair| (pair[1] - pair[0]) / 1000).collect();
    for (gap, delay) in gaps.iter().zip([10, 20, 40, 80, 160, 300]) {
        assert!((delay..=delay + 2).contains(gap), "{gaps:?}");
    }
    let full = "docker.io/library/nginx:9.9";
    let error = format!(
        "failed to pull and unpack image \"{full}\": failed to resolve reference \"{full}\": {full}: not found"
    );
    let events: Vec<_> = lab.events("bad").into_iter().map(|(reason, message, _)| (reason, message)).collect();
    for expected in [
        ("Pulling", "Pulling image \"nginx:9.9\"".to_string()),
        ("Failed", format!("Failed to pull image \"nginx:9.9\": rpc error: code = NotFound desc = {error}")),
        ("Failed", "Error: ErrImagePull".into()),
        ("BackOff", "Back-off pulling image \"nginx:9.9\"".into()),
        ("Failed", "Error: ImagePullBackOff".into()),
    ] {
        assert!(events.contains(&expected), "{expected:?} is missing in {events:?}");
    }
    lab.command(Command::RestoreBehavior { subject: Subject::Image("nginx:9.9".into()) });
    lab.run(320_000);
    assert_eq!(lab.status("bad"), "Running 0", "once the image is there, the next try finds it");
}

#[test]
fn the_pull_policy_says_whether_the_registry_is_asked() {
    let mut lab = Lab::new(&[("app:v1", Behavior { pull_ms: 1_500, ..instant() })]);
    let pod = |policy: &str| {
        format!("{{nodeName: node-1, containers: [{{name: app, image: 'app:v1', imagePullPolicy: {policy}}}]}}")
    };
    lab.pod("never", &pod("Never"));
    lab.run(3_000);
    assert_eq!(lab.status("never"), "ErrImageNeverPull 0");
    assert!(lab.reasons("never").contains(&"ErrImageNeverPull"));
    lab.pod("usual", &pod("IfNotPresent"));
    lab.run(3_000);
    lab.pod("always", &pod("Always"));
    lab.pod("again", &pod("IfNotPresent"));
    lab.run(3_000);
    let pulled = |name: &str| lab.events(name).into_iter().find(|it| it.0 == "Pulled").expect("it was pulled").1;
    assert!(
        pulled("usual")
            .starts_with("Successfully pulled image \"app:v1\" in 1.5s (1.5s including waiting). Image size: ")
    );
    assert!(pulled("always").starts_with("Successfully pulled image \"app:v1\" in 150ms "), "{}", pulled("always"));
    assert!(pulled("again").starts_with("Container image \"app:v1\" already present on machine"));
    assert_eq!(["usual", "always", "again"].map(|name| lab.status(name)), ["Running 0", "Running 0", "Running 0"]);
}

#[test]
fn a_slow_starter_needs_a_startup_probe() {
    let mut lab = Lab::new(&[("app:slow", Behavior { serve_ms: Some(25_000), ..instant() })]);
    let liveness = "livenessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 5, failureThreshold: 2}";
    let startup = "startupProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 5, failureThreshold: 10}";
    lab.pod("without", &format!("{{containers: [{{name: app, image: 'app:slow', {liveness}}}]}}"));
    lab.pod("with", &format!("{{containers: [{{name: app, image: 'app:slow', {liveness}, {startup}}}]}}"));
    lab.pod("hopeless", "{containers: [{name: app, image: 'app:slow', startupProbe: {tcpSocket: {port: 80}, periodSeconds: 2, failureThreshold: 3}}]}");
    lab.run(20_000);
    assert!(!lab.get("with").is_ready() && !lab.get("with").status.container_statuses[0].started);
    lab.run(40_000);
    assert!(lab.get("without").restarts() >= 2, "{}", lab.status("without"));
    assert_eq!((lab.status("with").as_str(), lab.get("with").is_ready()), ("Running 0", true));
    let ip = lab.get("without").status.pod_ip.clone();
    let text = format!(
        "Liveness probe failed: Get \"http://{ip}:8080/healthz\": dial tcp {ip}:8080: connect: connection refused"
    );
    assert!(lab.events("without").iter().any(|it| it.0 == "Unhealthy" && it.1 == text), "{:?}", lab.events("without"));
    assert!(lab.events("hopeless").iter().any(|it| it.1 == "Container app failed startup probe, will be restarted"));
}

/// The grace period begins with the request; the hook takes its part of it; what is left is killed.
#[test]
fn termination_takes_hook_and_grace_into_account() {
    let deaf = Behavior { ignores_term: true, ..instant() };
    let hooked = Behavior { stop_ms: 1_000, hook_ms: 3_000, ..instant() };
    let mut lab = Lab::new(&[("app:deaf", deaf), ("app:v1", hooked), ("app:now", instant())]);
    lab.pod("deaf", "{terminationGracePeriodSeconds: 7, containers: [{name: app, image: 'app:deaf'}]}");
    lab.pod("exec", "{containers: [{name: app, image: 'app:v1', lifecycle: {preStop: {exec: {command: [bye]}}}}]}");
    lab.pod("sleep", "{containers: [{name: app, image: 'app:v1', lifecycle: {preStop: {sleep: {seconds: 5}}}}]}");
    lab.pod("plain", "{containers: [{name: app, image: 'app:now'}]}");
    lab.run(5_000);
    let mut took = Vec::new();
    for name in ["deaf", "exec", "sleep", "plain"] {
        lab.delete(name);
        let seen =
            lab.watch(15_000, |lab| lab.find(name).map(|pod| (pod.is_ready(), state(&pod), pod.status.phase.clone())));
        let ends: Vec<_> =
            seen.iter().filter_map(|(_, it)| it.clone()).map(|(_, state, phase)| format!("{state} {phase}")).collect();
        took.push(((seen.last().expect("seen").0 - seen[0].0) / 100, ends.last().cloned().unwrap_or_default()));
        assert!(
            seen.iter().filter_map(|(_, it)| it.clone()).all(|(ready, state, _)| ready == (state == "running")),
            "{seen:?}"
        );
        assert!(lab.find(name).is_none(), "{name}");
    }
    assert_eq!(
        took,
        [
            (70, "terminated Error 137 Failed".to_string()),
            (40, "terminated Completed 0 Succeeded".into()),
            (60, "terminated Completed 0 Succeeded".into()),
            (0, "terminated Completed 0 Succeeded".into()),
        ]
    );
    assert!(lab.events("exec").iter().any(|it| it.1 == "Stopping container app"));
}

#[test]
fn a_container_ended_by_hand_is_started_again_in_the_same_pod() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.pod("web", "{containers: [{name: app, image: 'app:v1'}]}");
    lab.run(5_000);
    let before = lab.get("web");
    let crash =
        Command::CrashContainer { namespace: String::new(), pod: "web".into(), container: "app".into(), code: 3 };
    lab.command(crash.clone());
    lab.run(1_000);
    let pod = lab.get("web");
    assert_eq!((pod.metadata.uid, pod.restarts(), state(&pod).as_str()), (before.metadata.uid, 1, "running"));
    assert!(
        matches!(&pod.status.container_statuses[0].last_state, Some(ContainerState::Terminated(it)) if it.exit_code == 3)
    );
    let unknown =
        Command::CrashContainer { namespace: String::new(), pod: "web".into(), container: "no".into(), code: 3 };
    assert!(!lab.simulation.dispatch(unknown).is_ok());
    let nobody = Command::SetReady { namespace: String::new(), pod: "nobody".into(), ready: true };
    assert_eq!(lab.simulation.dispatch(nobody).problems[0].message, "pods \"nobody\" not found");
}

#[test]
fn a_pod_may_behave_in_a_way_of_its_own() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    for name in ["one", "other"] {
        lab.pod(name, "{containers: [{name: app, image: 'app:v1'}]}");
    }
    lab.run(5_000);
    let subject = Subject::Pod { namespace: "default".into(), name: "one".into() };
    let behavior = Behavior { exits_once: true, ..crashing(3_000, 1) };
    lab.command(Command::SetBehavior {
        subject: subject.clone(),
        behavior: Behavior { exits_once: false, ..behavior },
    });
    lab.run(60_000);
    assert!(lab.get("one").restarts() >= 2 && lab.get("other").restarts() == 0);
    lab.command(Command::RestoreBehavior { subject });
    lab.run(60_000);
    let restarts = lab.get("one").restarts();
    lab.run(120_000);
    assert_eq!((lab.status("one"), lab.get("one").is_ready()), (format!("Running {restarts}"), true));
    lab.behave("app:v1", behavior);
    lab.run(200_000);
    assert_eq!(lab.get("other").restarts(), 1, "only its first run ends by itself");
}

/// A pod that names its node itself goes past the scheduler; the kubelet looks at it all the same
/// (`pkg/kubelet/lifecycle/predicate.go`).
#[test]
fn a_pod_that_does_not_fit_its_node_is_rejected() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    let pod = |cpu: &str, more: &str| {
        format!(
            "{{nodeName: node-1, {more} containers: [{{name: app, image: 'app:v1', resources: {{requests: {{cpu: '{cpu}'}}}}}}]}}"
        )
    };
    lab.pod("first", &pod("3", ""));
    lab.pod("second", &pod("1500m", ""));
    lab.pod("picky", &pod("100m", "nodeSelector: {disk: ssd},"));
    lab.pod("third", &pod("1", ""));
    lab.run(5_000);
    assert_eq!((lab.status("first"), lab.status("third")), ("Running 0".into(), "Running 0".into()));
    assert_eq!((lab.status("second"), lab.status("picky")), ("OutOfcpu 0".into(), "NodeAffinity 0".into()));
    let status = &lab.get("second").status;
    let message = "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000";
    assert_eq!((status.phase.as_str(), status.message.as_str()), ("Failed", &*format!("Pod was rejected: {message}")));
    assert!(lab.events("second").contains(&("OutOfcpu", message.into(), 1)), "{:?}", lab.events("second"));
    // What has failed takes no room, and can go.
    lab.delete("first");
    lab.delete("second");
    lab.run(35_000);
    assert_eq!((lab.status("first"), lab.status("second")), ("gone".into(), "gone".into()));
    lab.pod("fourth", &pod("3", ""));
    lab.run(2_000);
    assert_eq!(lab.status("fourth"), "Running 0");
}

/// `failedPodsBackoff` of the DaemonSet controller: 1, 2, 4 … s between one failed pod and the next on a node.
#[test]
fn a_daemon_set_waits_longer_from_failure_to_failure() {
    let mut lab = Lab::new(&[("app:v1", instant())]);
    lab.apply(
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n    spec:\n      nodeName: node-2\n      containers: [{name: app, image: 'app:v1', resources: {requests: {cpu: '9'}}}]\n",
    );
    let all =
        lab.watch(70_000, |lab| lab.pods().iter().filter(|pod| pod.is_active()).map(|pod| pod.metadata.uid).next());
    let starts: Vec<u64> = all.iter().filter(|(_, uid)| uid.is_some()).map(|(at, _)| *at).collect();
    let gaps: Vec<u64> = starts.windows(2).map(|pair| (pair[1] - pair[0] + 500) / 1000).collect();
    assert_eq!(gaps, [0, 1, 2, 4, 8, 16, 32], "{starts:?}");
    let (_, message, count) =
        lab.events("agent").into_iter().find(|(reason, ..)| *reason == "FailedDaemonPod").expect("it is told");
    assert!(message.starts_with("Found failed daemon pod default/agent-") && count == 1, "{message}");
}
