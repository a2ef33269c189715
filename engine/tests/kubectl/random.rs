//! Whatever is typed: kubectl answers, and nothing panics.

use std::sync::LazyLock;

use loopscope_engine::kubectl::Console;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Scenario, Simulation};
use proptest::prelude::*;

use super::recording::{Recording, folder, read};

/// Words of kubectl's grammar, good ones and bad ones.
const WORDS: [&str; 96] = [
    "get",
    "describe",
    "apply",
    "create",
    "delete",
    "scale",
    "rollout",
    "status",
    "history",
    "undo",
    "pause",
    "resume",
    "restart",
    "set",
    "image",
    "env",
    "resources",
    "label",
    "annotate",
    "taint",
    "cordon",
    "uncordon",
    "drain",
    "wait",
    "top",
    "events",
    "explain",
    "api-resources",
    "version",
    "config",
    "view",
    "diff",
    "run",
    "expose",
    "autoscale",
    "edit",
    "patch",
    "pods",
    "po",
    "deploy",
    "deployment/web",
    "deploy/web",
    "rs",
    "svc",
    "nodes",
    "node/node-1",
    "hpa",
    "pdb",
    "ns",
    "all",
    "pods,svc",
    "web",
    "node-1",
    "nope",
    "pod/",
    "/",
    "app=v2",
    "app=app:v2",
    "A-",
    "a=b",
    "k=v:NoSchedule",
    "-o",
    "yaml",
    "json",
    "name",
    "wide",
    "jsonpath={.items[*].metadata.name}",
    "jsonpath={.items[9]}",
    "custom-columns=N:.metadata.name",
    "-l",
    "app=web",
    "app in (a,b)",
    "-A",
    "-n",
    "default",
    "--all",
    "--replicas=3",
    "--replicas",
    "--sort-by=.metadata.name",
    "--show-labels",
    "-w",
    "--for=condition=Ready",
    "--for=delete",
    "--timeout=1s",
    "--dry-run=client",
    "--dry-run=server",
    "--image=app:v1",
    "--port=80",
    "-f",
    "-",
    "--force",
    "--grace-period=0",
    "--cascade=orphan",
    "--overwrite",
    "-p",
    "{\"spec\":{\"replicas\":1}}",
];

static RECORDED: LazyLock<Vec<(String, Option<String>)>> = LazyLock::new(|| {
    let mut lines = Vec::new();
    for (name, text) in read(&folder()).into_iter().filter(|(name, _)| name != "yaml_scalars").take(12) {
        lines.extend(Recording::parse(&name, &text).steps.into_iter().map(|it| (it.cmd, it.stdin)));
    }
    lines
});

const MANIFEST: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - name: app\n        image: app:v1\n";

/// Runs a line in a world with a Deployment; it must have said something or have an exit code, or wait and stop.
fn answers(line: &str, input: Option<&str>) -> Result<(), TestCaseError> {
    let mut simulation = Simulation::new(Scenario { manifest: MANIFEST.into(), ..Scenario::empty(3) });
    let until = simulation.now() + Millis(3_000);
    simulation.run_until(until, 1_000_000);
    let mut console = Console::default();
    let mut running = console.run(line, input, &mut simulation);
    for _ in 0..20 {
        if running.exit().is_some() {
            break;
        }
        let until = simulation.now() + Millis(500);
        simulation.run_until(until, 1_000_000);
        running.poll(&mut console, &mut simulation);
    }
    running.cancel();
    let exit = running.poll(&mut console, &mut simulation);
    prop_assert!(exit.is_some(), "{line}");
    let said = running.take();
    prop_assert!(exit != Some(1) || !said.is_empty() || line.contains('|'), "exit code 1 without a word: {line}");
    Ok(())
}

/// A line with letters and words changed, put in, or taken out.
fn mutated(line: &str, at: usize, how: u8, letter: char) -> String {
    let mut letters: Vec<char> = line.chars().collect();
    let at = at % (letters.len() + 1);
    match how % 5 {
        0 => letters.insert(at, letter),
        1 if at < letters.len() => drop(letters.remove(at)),
        2 if at < letters.len() => letters[at] = letter,
        3 => letters.truncate(at),
        _ => {
            let tail: Vec<char> = letters[at..].to_vec();
            letters.extend(tail);
        }
    }
    letters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn kubectl_answers_lines_of_its_grammar(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..9)) {
        let words: Vec<String> = words.iter().map(|it| format!("'{it}'")).collect();
        answers(&format!("kubectl {}", words.join(" ")), Some(MANIFEST))?;
    }

    #[test]
    fn kubectl_answers_mutations_of_recorded_lines(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<usize>(), any::<u8>(), prop::sample::select(" -=/'\"{}[]():,.*@!a0\n|;é".chars().collect::<Vec<_>>())), 0..4),
    ) {
        let (line, input) = which.get(&RECORDED).clone();
        let line = edits.into_iter().fold(line, |line, (at, how, letter)| mutated(&line, at, how, letter));
        answers(&line, input.as_deref())?;
    }
}
