//! Free runs: the same beginning and the same actions, everything else is ours.

use super::recording::Recording;
use super::{compare, exceptions, milestones, player};

/// So many runs are tried, each with other phases of leases and of the node monitor, other moments at which pods become
/// ready, other UIDs and other nodes among equals: nobody recorded these. One of them must hold.
const TRIES: u64 = 12;

/// Everything that differs, one line each; of several runs, what differs in the best.
pub fn run(recording: &Recording) -> Result<Vec<String>, String> {
    let odd = |all: &[String]| all.iter().filter(|it| exceptions::allowed(&recording.name, it).is_none()).count();
    let mut best = run_once(recording, 1)?;
    for seed in 2..=TRIES {
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
