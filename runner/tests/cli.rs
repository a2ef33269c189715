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
