use loopscope_engine::api::Kind;
use loopscope_engine::history::History;
use loopscope_engine::kubectl::End;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Goal, Instant};

use crate::Desk;

fn has(history: &History, kind: Kind, name: &str) -> bool {
    history.simulation().api().objects().of_kind(kind).any(|it| &*it.meta().name == name)
}

#[test]
fn what_is_typed_is_undone_and_done_again() {
    let mut desk = Desk::new();
    desk.run("kubectl create deployment web --image=app:v1");
    desk.run("kubectl get pods");
    desk.run("kubectl create namespace other");
    let steps = |desk: &Desk| desk.history.branch(desk.history.current()).map_or(0, |it| it.steps().len());
    assert_eq!((steps(&desk), desk.history.simulation().journal().len()), (2, 2));
    desk.pass(3_000);
    let digest = desk.history.simulation().trace().digest();
    let end = desk.history.end();
    desk.history.undo();
    assert!(!has(&desk.history, Kind::Namespace, "other") && has(&desk.history, Kind::Deployment, "web"));
    desk.history.undo();
    assert!(!has(&desk.history, Kind::Deployment, "web"));
    // Who only looks begins no other future.
    let text = desk.run("kubectl get deployments,namespaces");
    assert!(!text.contains("web") && !text.contains("other"), "{text}");
    assert_eq!((desk.history.branches().len(), steps(&desk)), (1, 2));
    desk.history.redo();
    desk.history.redo();
    assert!(has(&desk.history, Kind::Namespace, "other"));
    desk.history.seek(end);
    assert_eq!(desk.history.simulation().trace().digest(), digest, "the same world");
}

#[test]
fn typing_in_the_past_begins_another_branch() {
    let mut desk = Desk::new();
    desk.run("kubectl create namespace a");
    desk.pass(5_000);
    let first = desk.history.current();
    desk.history.undo();
    desk.run("kubectl create namespace b; kubectl create namespace c");
    assert_ne!(desk.history.current(), first);
    assert_eq!(desk.history.branches().len(), 2, "one other future, not one for each request");
    assert!(has(&desk.history, Kind::Namespace, "c") && !has(&desk.history, Kind::Namespace, "a"));
    desk.pass(5_000);
    let (here, digest) = (desk.history.current(), desk.history.simulation().trace().digest());
    let end = desk.history.end();
    desk.history.open(first, Instant::end_of(end.at));
    assert!(has(&desk.history, Kind::Namespace, "a") && !has(&desk.history, Kind::Namespace, "b"));
    desk.history.open(here, Instant::default());
    desk.history.open(here, end);
    assert_eq!(desk.history.simulation().trace().digest(), digest);
}

#[test]
fn a_command_that_waits_is_replayed_with_all_its_requests() {
    let mut desk = Desk::new();
    desk.run("kubectl create deployment web --image=app:v1 --replicas=4 && kubectl rollout status deploy/web");
    let text = desk.run("kubectl drain node-1 --ignore-daemonsets; kubectl uncordon node-1");
    assert!(text.contains("node/node-1 drained\n") && text.ends_with("node/node-1 uncordoned\n"), "{text}");
    let (end, digest) = (desk.history.simulation().instant(), desk.history.simulation().trace().digest());
    desk.history.seek(Instant::default());
    desk.history.seek(end);
    assert_eq!(desk.history.simulation().trace().digest(), digest);
}

#[test]
fn a_step_ends_where_a_command_says_something() {
    let mut desk = Desk::new();
    desk.enter("sleep 5; kubectl config current-context");
    let Desk { history, terminal } = &mut desk;
    let goal = Goal::Any(Vec::new());
    assert!(history.step_typing(terminal, &goal, Millis(60_000)));
    assert_eq!(history.simulation().now().0, 6_000, "five seconds after the first second");
    assert_eq!(terminal.blocks().last().map(|it| it.end), Some(End::Exit(0)));
    assert!(!history.step_typing(terminal, &goal, Millis(1_000)), "nothing is typed any more");
}

#[test]
fn templates_of_stateful_and_daemon_sets_come_back() {
    for (kind, name) in [("StatefulSet", "statefulset"), ("DaemonSet", "daemonset")] {
        let mut desk = Desk::new();
        let service = if kind == "StatefulSet" { "  serviceName: db\n" } else { "" };
        let manifest = |image: &str| {
            format!(
                "kubectl apply -f - <<EOF\napiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: db}}\nspec:\n{service}  selector: {{matchLabels: {{app: db}}}}\n  template:\n    metadata: {{labels: {{app: db}}}}\n    spec: {{containers: [{{name: app, image: '{image}'}}]}}\nEOF\n"
            )
        };
        let image = format!("kubectl get {name} db -o jsonpath='{{.spec.template.spec.containers[0].image}}'");
        desk.run(&manifest("app:v1"));
        desk.pass(5_000);
        let text = desk.run(&format!("kubectl rollout undo {name}/db"));
        assert_eq!((text.as_str(), desk.last().end), ("error: no last revision to roll back to\n", End::Exit(1)));
        desk.run(&manifest("app:v2"));
        desk.pass(5_000);
        assert_eq!(desk.run(&image), "app:v2");
        let text = desk.run(&format!("kubectl rollout undo {name}/db --dry-run=client"));
        assert!(text.starts_with(&format!("{name}.apps/db will roll back to Pod Template:\n")), "{text}");
        assert!(text.contains("app:v1"), "{text}");
        let text = desk.run(&format!("kubectl rollout undo {name}/db --to-revision=9"));
        assert_eq!(text, "error: unable to find specified revision 9 in history\n");
        let text = desk.run(&format!("kubectl rollout undo {name}/db --to-revision=2"));
        assert_eq!(text, format!("{name}.apps/db skipped rollback (current template already matches revision 2)\n"));
        assert_eq!(desk.run(&format!("kubectl rollout undo {name}/db")), format!("{name}.apps/db rolled back\n"));
        assert_eq!(desk.run(&image), "app:v1");
        desk.run(&format!("kubectl rollout status {name}/db"));
        assert_eq!(desk.last().end, End::Exit(0), "{}", desk.last().text());
        let text = desk.run(&format!("kubectl rollout history {name}/db"));
        assert!(text.contains("\n2 ") && text.contains("\n3 ") && !text.contains("\n1 "), "numbered anew: {text}");
        let text = desk.run("kubectl get pods -o jsonpath='{.items[*].spec.containers[0].image}'");
        assert!(text.contains("app:v1") && !text.contains("app:v2"), "{text}");
    }
}

#[test]
fn a_refused_request_is_told_as_refused() {
    let mut desk = Desk::new();
    for line in [
        "kubectl create deployment web --image=app:v1",
        "kubectl create deployment web --image=app:v1",
        "kubectl scale deploy/web --replicas=2",
        r#"kubectl patch deploy web -p '{"spec":{"replicas":-1}}'"#,
    ] {
        desk.run(line);
    }
    let words =
        |desk: &Desk| -> Vec<String> { (0..9).map_while(|place| desk.history.simulation().words_of(place)).collect() };
    let expected = [
        "created deployment **web**",
        "tried to create deployment **web**, **refused**: deployments.apps \"web\" already exists",
        "set **replicas 2** on web",
        "tried to patch deployment **web**: {\"spec\":{\"replicas\":-1}}, **refused**: Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
    ];
    assert_eq!(words(&desk), expected);
    // So it is where it is done again.
    let end = desk.history.simulation().instant();
    desk.history.seek(Instant::default());
    assert_eq!(words(&desk), [""; 0]);
    desk.history.seek(end);
    assert_eq!(words(&desk), expected);
}
