//! The command-line runner, as somebody calls it.

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loopscope-run")).args(args).output().expect("it runs")
}

/// Its exit code, what it printed, and what it complained of.
fn said(args: &[&str]) -> (Option<i32>, String, String) {
    let output = run(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn lesson(id: &str) -> String {
    format!("{}/../public/scenarios/{id}.yaml", env!("CARGO_MANIFEST_DIR"))
}

fn written(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("it can be written");
    path.to_string_lossy().into_owned()
}

#[test]
fn a_lesson_is_solved_by_its_solution_and_not_by_itself() {
    let file = lesson("self-healing");
    let (code, out, _) = said(&[&file, "--solution"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("step 1, One less: goal reached at 00:2"), "{out}");
    assert!(out.contains("predicted 4, came 4"), "{out}");
    let (code, out, _) = said(&[&file]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("step 1, One less: goal NOT reached within 60 s"), "{out}");
}

#[test]
fn the_same_run_ends_in_the_same_state_and_another_seed_in_another() {
    let file = lesson("chain");
    let end = |args: &[&str]| said(args).1.lines().last().unwrap_or_default().to_owned();
    let first = end(&[&file, "--solution", "--summary"]);
    assert!(first.contains("want 7, ready 7, state "), "{first}");
    assert_eq!(first, end(&[&file, "--solution"]));
    assert_ne!(first, end(&[&file, "--solution", "--seed", "9"]));
}

#[test]
fn the_trace_is_printed_where_it_is_asked_for() {
    let (_, out, _) = said(&[&lesson("chain"), "--solution", "--trace"]);
    assert!(out.contains(" You: set replicas 5 on web\n"), "{out}");
    assert!(out.contains(" ReplicaSet: 5 − 3 = "), "{out}");
}

#[test]
fn a_scenario_without_steps_runs_for_a_minute() {
    let file = written("plain.yaml", "# Loopscope scenario 1\ntitle: Plain\n");
    let (code, out, _) = said(&[&file, "--trace"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("end at 01:00.000: want 0, ready 0"), "{out}");
}

#[test]
fn what_cannot_be_run_is_said_with_its_place() {
    let broken = written("broken.yaml", "# Loopscope scenario 1\ntitle: A\nlessson: {}\n");
    let (code, _, err) = said(&[&broken]);
    assert_eq!(code, Some(2));
    assert!(
        err.contains("broken.yaml: line 3, column 1: the field lessson is not known here. Did you mean lesson?"),
        "{err}"
    );
    let refused = written("refused.yaml", "# Loopscope scenario 1\ntitle: A\nopening: |\n  1.000s node stop node-9\n");
    let (code, _, err) = said(&[&refused]);
    assert!(code == Some(2) && err.contains("the opening was refused: 1.000s node stop node-9"), "{err}");
    for (args, why) in [
        (&[][..], "which file?"),
        (&["a.yaml", "b.yaml"], "one file at a time"),
        (&["a.yaml", "--seed", "x"], "--seed needs a whole number"),
        (&["a.yaml", "--solve"], "there is no flag --solve"),
        (&["no-such.yaml"], "no-such.yaml: "),
    ] {
        let (code, _, err) = said(args);
        assert!(code == Some(2) && err.contains(why), "{args:?}: {err}");
    }
}

const DUMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/tests/data/dumps/kubectl.yaml");

#[test]
fn a_cluster_goes_on_from_where_it_stood() {
    let (code, out, _) = said(&["--dump", DUMP, "--trace"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.starts_with("Read: 4 Nodes, 4 Deployments, "), "{out}");
    assert!(out.contains("\nLeft out: 1 HorizontalPodAutoscaler"), "{out}");
    assert!(!out.contains(" wrote ") && out.contains("\nend at 01:00.000: want "), "{out}");
    let deeds = ["--dump", DUMP, "--do", "5s node stop worker-b", "--for", "7m"];
    let (code, out, _) = said(&deeds);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("00:05.000 node stop worker-b: node/worker-b stopped\n"), "{out}");
    assert_eq!(said(&deeds).1, out, "the same run, the same state");
    let (code, out, _) = said(&["--dump", DUMP, "--do", "5s node stop nowhere"]);
    assert!(code == Some(1) && out.contains("not found"), "{out}");
}

#[test]
fn a_cluster_becomes_a_scenario_file() {
    let (code, file, _) = said(&["--dump", DUMP, "--as-scenario"]);
    assert!(code == Some(0) && file.starts_with("# Loopscope scenario 1\n"), "{file}");
    assert!(!file.contains("canary-7f3a9"));
    let direct = said(&["--dump", DUMP]).1;
    let (code, out, _) = said(&[&written("cluster.yaml", &file)]);
    assert_eq!((code, out.lines().last()), (Some(0), direct.lines().last()), "{out}");
}

#[test]
fn what_is_no_dump_is_told() {
    for (text, why) in [
        ("{\"kind\": \"List\", \"items\": [}", "Line 1, column 28: This is not valid JSON: "),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", "No nodes and no pods are in it"),
    ] {
        let (code, _, error) = said(&["--dump", &written("no-dump.yaml", text)]);
        assert!(code == Some(2) && error.contains(why), "{error}");
    }
    let (code, _, error) = said(&["--dump", DUMP, "--for", "soon"]);
    assert!(code == Some(2) && error.contains("--for needs a time"), "{error}");
}
