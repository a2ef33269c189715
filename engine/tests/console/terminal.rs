use loopscope_engine::kubectl::{Block, End, Stream, is_unfinished};

use crate::Desk;

/// As in a blog post, with its prompts and comments.
const POST: &str = "$ kubectl create deployment web --image=app:v1   # the first version
$ kubectl scale deployment web --replicas=3
$ kubectl rollout status deployment/web
deployment \"web\" successfully rolled out
$ kubectl set image deployment/web app=app:v2 && kubectl rollout status deployment/web
$ kubectl rollout history deployment/web
$ kubectl rollout undo deployment/web
$ kubectl delete pod -l app=web --wait=false
";

#[test]
fn a_blog_post_runs_to_its_end_command_by_command() {
    let mut desk = Desk::new();
    let text = desk.run(POST);
    let ends: Vec<(&str, i32)> = desk
        .lines()
        .into_iter()
        .map(|(line, end)| match end {
            End::Exit(exit) => (line, exit),
            other => panic!("{line}: {other:?}"),
        })
        .collect();
    assert_eq!(
        ends,
        [
            ("kubectl create deployment web --image=app:v1   # the first version", 0),
            ("kubectl scale deployment web --replicas=3", 0),
            ("kubectl rollout status deployment/web", 0),
            ("kubectl set image deployment/web app=app:v2", 0),
            ("kubectl rollout status deployment/web", 0),
            ("kubectl rollout history deployment/web", 0),
            ("kubectl rollout undo deployment/web", 0),
            ("kubectl delete pod -l app=web --wait=false", 0),
        ],
        "{text}"
    );
    let printed: Vec<String> = desk.terminal.blocks().iter().map(Block::text).collect();
    assert!(printed[2].ends_with("successfully rolled out\n") && printed[4].ends_with("successfully rolled out\n"));
    assert!(printed[5].contains("REVISION"), "{}", printed[5]);
    assert!(printed[7].lines().all(|line| line.ends_with("deleted from default namespace")), "{}", printed[7]);
    assert!(desk.terminal.blocks()[2].at < desk.terminal.blocks()[3].at, "each waited for the one before");
}

#[test]
fn lines_without_the_prompt_that_others_have_are_passed_over() {
    let mut desk = Desk::new();
    let text = "$ kubectl create namespace a\nnamespace/a created\n\n$ kubectl get ns a -o name\nnamespace/a\nit's (not) a command";
    let said = "(3 lines do not begin with \"$ \" as the commands do: taken for output and passed over)\n";
    assert_eq!(desk.run(text), format!("{said}namespace/a created\nnamespace/a\n"));
    assert_eq!(
        desk.lines(),
        [("kubectl create namespace a", End::Exit(0)), ("kubectl get ns a -o name", End::Exit(0))]
    );
    assert_eq!(
        desk.run("kubectl get ns a -o name\n# a prompt of root, or a comment\nkubectl version | grep -c x"),
        "namespace/a\n0\n"
    );
}

#[test]
fn of_a_long_line_the_beginning_is_kept() {
    let mut desk = Desk::new();
    let text = desk.run(&format!("kubectl get pods -l '{}'", "(a,".repeat(300_000)));
    assert!(
        text.starts_with("Error from server (BadRequest): Unable to find") && text.len() <= 64 << 10,
        "{}",
        &text[..80]
    );
    let (_, rest) = text.rsplit_once("… (").expect("what is left out is told");
    let n: usize = rest.trim_end_matches(" more characters are left out)\n").parse().expect("a number");
    assert!(n + text.len() > 900_000 && desk.last().n_cut == 0, "{rest}");
}

#[test]
fn what_follows_a_command_that_failed_only_runs_where_it_may() {
    let mut desk = Desk::new();
    desk.run("kubectl nope && kubectl get nodes && kubectl version; kubectl config current-context");
    assert_eq!(desk.lines(), [("kubectl nope", End::Exit(1)), ("kubectl config current-context", End::Exit(0))]);
    assert_eq!(desk.terminal.blocks()[0].pieces[0].stream, Stream::Err);
    desk.run("# nothing but a comment");
    assert_eq!(desk.lines().last(), Some(&("# nothing but a comment", End::Exit(0))));
    desk.run("kubectl get 'pods");
    assert_eq!(desk.last().text(), "error: unterminated quote: '\n");
}

#[test]
fn a_stopped_command_takes_all_that_was_to_follow_with_it() {
    let mut desk = Desk::new();
    desk.enter("kubectl get nodes -w; kubectl delete node --all");
    desk.enter("kubectl create namespace never");
    assert_eq!((desk.terminal.n_queued(), desk.last().end), (1, End::Open));
    assert!(desk.terminal.stop("Ctrl+C"));
    assert_eq!(desk.lines(), [("kubectl get nodes -w", End::Stopped("Ctrl+C"))]);
    assert!(!desk.terminal.is_busy() && !desk.terminal.stop("Ctrl+C"));
    desk.pass(60_000);
    assert!(!desk.run("kubectl get ns").contains("never"));
    desk.terminal.clear();
    assert!(desk.terminal.blocks().is_empty());
}

#[test]
fn a_command_that_waits_for_a_time_goes_on_right_then() {
    let mut desk = Desk::new();
    desk.run("sleep 7; kubectl create namespace a");
    let blocks = desk.terminal.blocks();
    assert_eq!(blocks[1].at.0 - blocks[0].at.0, 7_000);
    desk.run("kubectl wait --for=delete ns/a --timeout=3s");
    assert_eq!(desk.last().end, End::Exit(1));
    assert!(desk.last().text().contains("timed out"), "{}", desk.last().text());
}

#[test]
fn long_outputs_fold_and_endless_ones_are_cut() {
    let mut desk = Desk::new();
    let text: String = (0..60).map(|n| format!("line {n}\n")).collect();
    desk.enter(&format!("cat <<EOF > many\n{text}EOF\n"));
    desk.run("cat many");
    let block = desk.last();
    assert_eq!((block.n_lines(), block.fold()), (60, Some((1, 2, 40))));
    assert_eq!(block.text(), text, "nothing is lost");
    assert_eq!(&*block.pieces[2].text, "line 55\nline 56\nline 57\nline 58\nline 59\n");
    desk.run("head -n 24 < many");
    assert_eq!(desk.last().fold(), None);
    let large = "0123456789abcde\n".repeat(20_000);
    desk.enter(&format!("cat <<EOF > large\n{large}EOF\n"));
    desk.run("cat large");
    let block = desk.last();
    assert!(block.text().len() <= 256 << 10 && block.text().starts_with("0123"), "{}", block.text().len());
    assert_eq!(block.n_lines() + block.n_cut, 20_000);
    for _ in 0..120 {
        desk.enter("true");
    }
    assert_eq!(desk.terminal.blocks().len(), 100);
    assert!(desk.terminal.blocks().windows(2).all(|it| it[0].id < it[1].id));
}

#[test]
fn many_pasted_commands_leave_others_a_turn() {
    let mut desk = Desk::new();
    desk.terminal.enter(&"true\n".repeat(120));
    let mut turns = 1;
    while desk.history.type_on(&mut desk.terminal) {
        turns += 1;
    }
    assert!(turns > 1 && !desk.terminal.is_busy());
}

#[test]
fn an_editor_holds_a_command_up() {
    let mut desk = Desk::new();
    desk.run("kubectl create deployment web --image=app:v1");
    desk.enter("kubectl edit deploy/web\nkubectl get deploy web -o name");
    let text = desk.terminal.editor().expect("an editor opens").to_string();
    desk.pass(5_000);
    assert_eq!(desk.last().end, End::Open);
    desk.terminal.edited(&text.replace("replicas: 1\n", "replicas: 2\n"));
    desk.history.type_on(&mut desk.terminal);
    let printed: Vec<String> = desk.terminal.blocks()[1..].iter().map(Block::text).collect();
    assert_eq!(printed, ["deployment.apps/web edited\n", "deployment.apps/web\n"]);
}

#[test]
fn a_text_is_unfinished_where_a_shell_would_ask_for_more() {
    for text in ["a 'b", "a \"b\n", "cat <<EOF", "cat <<EOF\na\n", "a \\", "a |", "a &&", "a && "] {
        assert!(is_unfinished(text), "{text}");
    }
    for text in ["", "a", "a 'b'", "cat <<EOF\na\nEOF", "cat <<EOF\na\nEOF\n", "a \\\\", "a $b", "a ||", "a;"] {
        assert!(!is_unfinished(text), "{text}");
    }
}
