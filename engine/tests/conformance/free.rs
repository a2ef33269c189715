//! Free runs: the same beginning and the same actions, everything else is ours.

use super::recording::Recording;
use super::{compare, exceptions, milestones, player};

/// So many runs are tried where the recording depends on what nobody recorded: the phase between leases and the node
/// monitor, which pods are ready when a Deployment is synced, and how many syncs in a row fail. One of them must hold.
const TRIES: u64 = 12;

/// Everything that differs, one line each; of several runs, what differs in the best.
pub fn run(recording: &Recording) -> Result<Vec<String>, String> {
    let is_open = |it: &String| it.starts_with("node failure detection") || it.starts_with("replicaSetSpecSteps");
    let odd = |all: &[String]| all.iter().filter(|it| exceptions::allowed(&recording.name, it).is_none()).count();
    let waits = recording.milestones.iter().any(|it| it.phase.as_deref() == Some("backoff"));
    let tries = if waits || recording.racy.iter().any(is_open) { TRIES } else { 1 };
    let mut best = run_once(recording, 1)?;
    for seed in 2..=tries {
        if odd(&best) == 0 {
            break;
        }
        let other = run_once(recording, seed)?;
        if odd(&other) < odd(&best) {
            best = other;
        }
    }
    Ok(best)
}

fn run_once(recording: &Recording, seed: u64) -> Result<Vec<String>, String> {
    let run = player::play(recording, seed)?;
    let mut differences = compare::steps::differences(recording, &run);
    differences.extend(compare::end::differences(recording, &run));
    differences.extend(compare::conditions::differences(recording, &run));
    differences.extend(compare::events::differences(recording, &run));
    differences.extend(milestones::differences(recording, &run));
    Ok(differences)
}
