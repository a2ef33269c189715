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

/// A Deployment's ReplicaSets, as far as what a rolling update promises is concerned.
#[derive(Default)]
struct Rollout {
    deployment: Option<Rc<Fields>>,
    /// Size and available pods of each ReplicaSet.
    sets: BTreeMap<String, (i64, i64)>,
}

impl Rollout {
    fn replicas(&self) -> i64 {
        self.deployment.as_ref().and_then(|it| it["spec"]["replicas"].as_i64()).unwrap_or(1)
    }

    /// `maxSurge` rounded up, `maxUnavailable` rounded down, at least one of them 1. Nothing where all old pods go first.
    fn fenceposts(&self) -> Option<(i64, i64)> {
        let rolling = self.deployment.as_ref()?["spec"]["strategy"].get("rollingUpdate")?.clone();
        let amount = |name: &str, more: i64| {
            let percent = rolling[name].as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
            percent.map_or(rolling[name].as_i64().unwrap_or(0), |percent| (self.replicas() * percent + more) / 100)
        };
        let (surge, unavailable) = (amount("maxSurge", 99), amount("maxUnavailable", 0));
        Some((surge, if surge == 0 { unavailable.max(1) } else { unavailable }))
    }

    /// What a ReplicaSet's new size breaks: the bound above where it grows; the one below where it shrinks and the
    /// Deployment is not being scaled.
    fn broken_by(&self, set: &str, size: i64, is_scaling: bool) -> Option<String> {
        let (surge, unavailable) = self.fenceposts()?;
        let (old, available) = self.sets.get(set).copied().unwrap_or((0, 0));
        let total: i64 = self.sets.values().map(|(size, _)| size).sum::<i64>() - old + size;
        let most = self.replicas() + surge;
        if size > old && total > most {
            return Some(format!("{total} pods are asked for in all (bound {most})"));
        }
        // Pods of sets that are to have none are on their way out.
        let there: i64 = self.sets.values().filter(|(size, _)| *size > 0).map(|(_, available)| available).sum();
        let left = there - (available - size).clamp(0, available);
        let least = self.replicas() - unavailable;
        let shrinks = size < old && !is_scaling && available > size;
        (shrinks && left < least.min(there)).then(|| format!("{left} available pods are left (bound {least})"))
    }
}

/// Where the sizes of ReplicaSets leave the bounds that a rolling update promises.
fn bounds(changes: &[Change]) -> Vec<String> {
    let mut rollouts: BTreeMap<String, Rollout> = BTreeMap::new();
    let mut told = Vec::new();
    for change in changes {
        if change.kind == "Deployment" {
            rollouts.entry(change.name.clone()).or_default().deployment = Some(Rc::clone(&change.fields));
        }
        let owner = controller(&change.fields).filter(|_| change.kind == "ReplicaSet");
        let Some(rollout) = owner.and_then(|(_, owner)| rollouts.get_mut(&owner)) else { continue };
        if change.change == ChangeType::Deleted {
            rollout.sets.remove(&change.name);
            continue;
        }
        let size = change.fields["spec"]["replicas"].as_i64().unwrap_or(0);
        let annotation = |name: &str| change.fields.get("annotations")?[name].as_str()?.parse::<i64>().ok();
        let desired = annotation("deployment.kubernetes.io/desired-replicas");
        // A size that goes with another number of wanted pods is that of a scaling.
        let is_scaling = change.changed.iter().any(|it| it == "annotations") || desired != Some(rollout.replicas());
        if let Some(broken) = rollout.broken_by(&change.name, size, is_scaling) {
            told.push(format!("bounds at {} ms, {} to {size}: {broken}", change.t, change.name));
        }
        let available = change.fields.get("status").and_then(|it| it["availableReplicas"].as_i64()).unwrap_or(0);
        rollout.sets.insert(change.name.clone(), (size, available));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::folder::Folder;

    #[test]
    fn recordings_keep_the_bounds_themselves() {
        let folder = Folder::own();
        let mut broken = Vec::new();
        for name in folder.traces() {
            let Ok(recording) = folder.trace(&name).and_then(|text| Recording::read(&text)) else { continue };
            broken.extend(bounds(&recording.trace).into_iter().map(|it| format!("{name} {it}")));
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}
