//! kubectl in the simulated world: what it changes is in the journal and in the trace, what it waits for comes about in
//! virtual time.

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::environment::{Behavior, Behaviors};
use loopscope_engine::kubectl::{Console, Running, Stream};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Command, Scenario, Simulation, read_journal, write_journal};

fn scenario() -> Scenario {
    let plain = Behavior { pull_ms: 10, start_ms: 290, serve_ms: Some(100), stop_ms: 1_000, ..Behavior::usual("") };
    let images = ["app:v1", "app:v2"].map(|name| (name.to_string(), plain));
    Scenario { behaviors: Behaviors(images.into_iter().collect()), ..Scenario::empty(7) }
}

pub(super) fn world() -> Simulation {
    let mut simulation = Simulation::new(scenario());
    pass(&mut simulation, 1_000);
    simulation
}

fn pass(simulation: &mut Simulation, ms: u64) {
    let until = simulation.now() + Millis(ms);
    assert!(simulation.run_until(until, 10_000_000), "events without end");
}

/// All that was printed since it was last asked for, errors marked with `!`.
fn printed(running: &mut Running) -> String {
    let texts = running.take().into_iter().map(|(stream, text)| match stream {
        Stream::Out => text,
        Stream::Err => format!("!{text}"),
    });
    texts.collect()
}

/// Lets virtual time pass until a command has ended; what it printed, and its exit code.
pub(super) fn run(console: &mut Console, simulation: &mut Simulation, line: &str) -> (String, i32) {
    let mut running = console.run(line, None, simulation);
    let mut text = printed(&mut running);
    for _ in 0..100_000 {
        if let Some(exit) = running.exit() {
            return (text, exit);
        }
        pass(simulation, 10);
        running.poll(console, simulation);
        text += &printed(&mut running);
    }
    panic!("`{line}` does not end: {text}");
}

pub(super) fn says(console: &mut Console, simulation: &mut Simulation, line: &str, expected: &str) {
    assert_eq!(run(console, simulation, line), (expected.to_string(), 0), "{line}");
}

#[test]
fn a_rollout_is_followed_as_it_passes() {
    let (mut console, mut simulation) = (Console::default(), world());
    let (console, simulation) = (&mut console, &mut simulation);
    says(
        console,
        simulation,
        "kubectl create deployment web --image=app:v1 --replicas=2",
        "deployment.apps/web created\n",
    );
    let (text, exit) = run(console, simulation, "k rollout status deploy/web");
    assert!(text.ends_with("deployment \"web\" successfully rolled out\n") && exit == 0, "{text}");
    assert!(text.contains("0 of 2 updated replicas are available..."), "{text}");
    says(console, simulation, "kubectl expose deployment web --port=80", "service/web exposed\n");
    says(console, simulation, "kubectl set image deployment/web app=app:v2", "deployment.apps/web image updated\n");
    let (text, _) = run(console, simulation, "kubectl rollout status deployment/web");
    assert!(text.contains("1 out of 2 new replicas have been updated..."), "{text}");
    assert!(text.contains("1 old replicas are pending termination..."), "{text}");
    says(console, simulation, "kubectl rollout undo deployment/web", "deployment.apps/web rolled back\n");
    let (text, exit) = run(console, simulation, "kubectl rollout status deployment/web --timeout=1m");
    assert!(text.ends_with("successfully rolled out\n") && exit == 0, "{text}");
    let (text, _) =
        run(console, simulation, "kubectl get deploy web -o jsonpath='{.spec.template.spec.containers[0].image}'");
    assert_eq!(text, "app:v1");
    let (text, _) = run(console, simulation, "kubectl get events | grep -c Scaled");
    assert!(text.trim().parse::<usize>().is_ok_and(|it| it >= 3), "{text}");
}

#[test]
fn what_is_typed_is_replayed_from_the_journal() {
    let (mut console, mut simulation) = (Console::default(), world());
    for line in [
        "kubectl create deployment web --image=app:v1 --replicas=3",
        "kubectl label deploy web tier=front",
        "kubectl scale deploy/web --replicas=2",
        "kubectl set env deploy/web A=b",
        "kubectl delete pods --all",
        "kubectl apply -f - <<EOF\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: it's\ndata: {a: b}\nEOF\n",
        "kubectl get pods",
    ] {
        run(&mut console, &mut simulation, line);
        pass(&mut simulation, 500);
    }
    let journal = simulation.journal().to_vec();
    let text = write_journal(&journal);
    assert!(text.contains("kubectl scale deployment/web --replicas=2"), "{text}");
    assert!(text.contains("request kubectl-create"), "{text}");
    assert!(!text.contains("get pods"), "who only looks does nothing: {text}");
    let read = read_journal(&text).expect("what was written can be read");
    let mut again = Simulation::new(scenario());
    for entry in read {
        again.run_until(entry.at, 10_000_000);
        let command: Command = entry.command;
        again.dispatch(command);
    }
    again.run_until(simulation.now(), 10_000_000);
    let names = |it: &Simulation| {
        let pods = it.api().objects().of_kind(Kind::Pod);
        let mut names: Vec<String> = pods.map(|it| it.meta().name.to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&again), names(&simulation));
    assert_eq!(again.api().version(), simulation.api().version());
}

#[test]
fn a_drain_waits_for_its_pods_and_can_be_stopped() {
    let (mut console, mut simulation) = (Console::default(), world());
    run(&mut console, &mut simulation, "kubectl create deployment web --image=app:v1 --replicas=3");
    run(&mut console, &mut simulation, "kubectl wait --for=condition=Available deploy/web");
    let node =
        simulation.api().objects().of_kind(Kind::Pod).find_map(|it| it.as_pod().map(|it| it.spec.node_name.clone()));
    let node = node.expect("a pod has a node");
    let (text, exit) = run(&mut console, &mut simulation, &format!("kubectl drain {node}"));
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.starts_with(&format!("node/{node} cordoned\n")) && text.ends_with(&format!("node/{node} drained\n")),
        "{text}"
    );
    let here = simulation.api().objects().pods_on(&node).count();
    assert_eq!(here, 0, "none is left");
    let mut running = console.run("kubectl get pods -w; kubectl delete deploy web", None, &mut simulation);
    assert!(printed(&mut running).starts_with("NAME"));
    running.cancel();
    assert_eq!((running.poll(&mut console, &mut simulation), running.command().is_some()), (Some(130), true));
    assert!(simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment).count() == 1);
}

#[test]
fn what_is_pasted_runs_line_by_line() {
    let (mut console, mut simulation) = (Console::default(), world());
    let text = "# a comment\ncat <<'EOF' > web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - name: app\n        image: app:v1\nEOF\nkubectl apply -f web.yaml && kubectl rollout status deploy/web\nkubectl get pods --no-headers | wc -l\nkubectl nope || true\n";
    let (said, exit) = run(&mut console, &mut simulation, &text.replace("kubectl nope || true\n", "kubectl nope\n"));
    assert!(said.starts_with("deployment.apps/web created\nWaiting for"), "{said}");
    assert!(said.contains("successfully rolled out\n2\n!error: unknown command \"nope\" for \"kubectl\""), "{said}");
    assert_eq!(exit, 1);
}

#[test]
fn what_is_not_simulated_says_so() {
    let (mut console, mut simulation) = (Console::default(), world());
    for line in [
        "kubectl logs web",
        "kubectl get pods --kubeconfig=x",
        "helm install",
        "kubectl get csr",
        "kubectl explain pod",
    ] {
        let (text, exit) = run(&mut console, &mut simulation, line);
        assert!(text.contains("not simulated") && exit == 1, "{line}: {text}");
    }
    let (text, exit) = run(&mut console, &mut simulation, "kubectl get 'pods");
    assert_eq!((text.as_str(), exit), ("!error: unterminated quote: '\n", 1));
    let long = "x".repeat(1 << 21);
    let (text, exit) = run(&mut console, &mut simulation, &long);
    assert_eq!((text.as_str(), exit), ("!error: the line is longer than 1 MiB\n", 1));
}

#[test]
fn an_edited_object_is_written() {
    let (mut console, mut simulation) = (Console::default(), world());
    run(&mut console, &mut simulation, "kubectl create deployment web --image=app:v1");
    let mut running = console.run("kubectl edit deploy/web", None, &mut simulation);
    let text = running.editor().expect("an editor opens").to_string();
    running.edited(&text.replace("replicas: 1\n", "replicas: 4\n"));
    assert_eq!(running.poll(&mut console, &mut simulation), Some(0));
    assert_eq!(printed(&mut running), "deployment.apps/web edited\n");
    let (text, _) = run(&mut console, &mut simulation, "kubectl get deploy web -o jsonpath='{.spec.replicas}'");
    assert_eq!(text, "4");
}

#[test]
fn an_autoscaler_and_what_pods_use_are_shown_as_they_are() {
    let (mut console, mut simulation) = (Console::default(), world());
    let (console, simulation) = (&mut console, &mut simulation);
    let make = "kubectl create deployment web --image=app:v1 --replicas=2 && kubectl set resources deployment web --requests=cpu=100m";
    assert_eq!(run(console, simulation, make).1, 0);
    says(
        console,
        simulation,
        "kubectl autoscale deployment web --min=2 --max=6 --cpu=50%",
        "horizontalpodautoscaler.autoscaling/web autoscaled\n",
    );
    pass(simulation, 2_000);
    says(
        console,
        simulation,
        "kubectl get hpa",
        "NAME   REFERENCE        TARGETS              MINPODS   MAXPODS   REPLICAS   AGE\n\
         web    Deployment/web   cpu: <unknown>/50%   2         6         0          2s\n",
    );
    assert_eq!(run(console, simulation, "kubectl top pods").0, "!error: metrics not available yet\n");
    let command = "load deployment/web --steady=180m".parse().expect("a command");
    assert!(simulation.dispatch(command).is_ok());
    pass(simulation, 50_000);
    says(
        console,
        simulation,
        "kubectl get hpa",
        "NAME   REFERENCE        TARGETS        MINPODS   MAXPODS   REPLICAS   AGE\n\
         web    Deployment/web   cpu: 53%/50%   2         6         4          52s\n",
    );
    let (text, exit) = run(console, simulation, "kubectl top pods --no-headers --sum");
    assert_eq!(exit, 0);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    // Of the four that there are now two have been measured.
    assert_eq!((lines.len(), lines[0].len()), (4, 3), "{text}");
    let total: i64 = lines[3][0].trim_end_matches('m').parse().expect("an amount");
    assert!((90..=120).contains(&total), "{text}");
    let (text, _) = run(console, simulation, "kubectl describe hpa web");
    for part in ["resource cpu on pods  (as a percentage of request):", "ScalingActive", "New size: 4; reason: cpu"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
