//! The sizes of ReplicaSets.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::names::Names;
use super::super::player::Run;
use super::super::recording::{Change, ChangeType, Recording, controller};
use super::Fields;

/// Sizes of ReplicaSets in their order: `web#0 5`.
fn size_writes(changes: &[Change], names: &Names) -> Vec<String> {
    let mut known: BTreeMap<&str, i64> = BTreeMap::new();
    let mut writes = Vec::new();
    for change in changes.iter().filter(|it| it.kind == "ReplicaSet") {
        if change.change == ChangeType::Deleted {
            known.remove(change.name.as_str());
            continue;
        }
        let size = change.fields["spec"]["replicas"].as_i64().unwrap_or(0);
        if known.insert(change.name.as_str(), size) != Some(size) {
            writes
                .push(format!("{} {size}", names.object("ReplicaSet", &change.name).trim_start_matches("ReplicaSet ")));
        }
    }
    writes
}

/// The sizes that ReplicaSets were given: equal as far as nothing waits for readiness, afterwards within the bounds
/// that a rolling update promises.
pub fn differences(recording: &Recording, run: &Run) -> Vec<String> {
    let recorded = size_writes(&recording.trace, &Names::of(&recording.trace, &recording.namespace));
    let ours = size_writes(&run.changes, &Names::of(&run.changes, &recording.namespace));
    let asked = recording.deterministic_prefix.min(recorded.len());
    let differs = (0..asked).find(|at| recorded.get(*at) != ours.get(*at));
    let mut told = Vec::new();
    if let Some(at) = differs {
        let none = "nothing".to_string();
        told.push(format!(
            "size write {at}: {} (recorded {})",
            ours.get(at).unwrap_or(&none),
            recorded.get(at).unwrap_or(&none)
        ));
    } else if asked == recorded.len() && ours.len() > asked {
        told.push(format!("size write {asked}: {} (recorded nothing more)", ours[asked]));
    }
    told.extend(bounds(&run.changes));
    told
}

/// No ReplicaSet grows while all of its Deployment's together are at replicas + maxSurge already.
fn bounds(changes: &[Change]) -> Vec<String> {
    let mut deployments: BTreeMap<&str, Rc<Fields>> = BTreeMap::new();
    let mut sizes: BTreeMap<(String, &str), i64> = BTreeMap::new();
    let mut told = Vec::new();
    for change in changes {
        match change.kind.as_str() {
            "Deployment" => {
                deployments.insert(&change.name, Rc::clone(&change.fields));
            }
            "ReplicaSet" => {
                let Some((_, owner)) = controller(&change.fields) else { continue };
                let key = (owner.clone(), change.name.as_str());
                if change.change == ChangeType::Deleted {
                    sizes.remove(&key);
                    continue;
                }
                let size = change.fields["spec"]["replicas"].as_i64().unwrap_or(0);
                let grows = size > sizes.insert(key, size).unwrap_or(0);
                let total: i64 = sizes.iter().filter(|((of, _), _)| *of == owner).map(|(_, size)| size).sum();
                let most = deployments.get(owner.as_str()).map_or(i64::MAX, |it| most(it));
                if grows && total > most {
                    told.push(format!("{} at {} ms: {owner} has {total} in all (bound {most})", change.name, change.t));
                }
            }
            _ => {}
        }
    }
    told
}

/// replicas + maxSurge, rounded up.
fn most(deployment: &Fields) -> i64 {
    let replicas = deployment["spec"]["replicas"].as_i64().unwrap_or(1);
    let surge = &deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"];
    let percent = surge.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    replicas + percent.map_or(surge.as_i64().unwrap_or(0), |percent| (replicas * percent + 99) / 100)
}
