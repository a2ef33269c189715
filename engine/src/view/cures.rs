//! What would end a fight over a field, as commands.

use serde_json::{Value, json};

use super::autoscaler::{about, own_key};
use super::{Cure, Fight};
use crate::api::{HorizontalPodAutoscaler, ObjectKey};
use crate::apiserver::{LAST_APPLIED, PatchType};
use crate::world::{Command, Simulation, Target};

/// The field that an autoscaler writes.
const REPLICAS: &str = ".spec.replicas";
/// Managers as they write sizes.
const AUTOSCALER: &str = "kube-controller-manager (scale)";
const CLIENT_APPLY: &str = "kubectl-client-side-apply";

/// What would end a fight, the mildest first. Each is one command, so that it can be undone like any other.
pub fn cures(simulation: &Simulation, fight: &Fight) -> Vec<Cure> {
    if fight.path != REPLICAS {
        return Vec::new();
    }
    let mut all = Vec::new();
    let scaler = about(simulation, &fight.key);
    if fight.writers.iter().any(|it| it.manager == CLIENT_APPLY && it.writes > 1) {
        all.extend(drop_from_manifest(simulation, &fight.key));
    }
    if let Some(scaler) = scaler {
        all.extend(through_bounds(scaler, fight));
        let name = scaler.metadata.name.to_string();
        all.push(Cure {
            name: ["Remove the autoscaler ", &name].concat(),
            price: "Whoever is left writes the size. Load is no longer followed.".into(),
            command: Command::delete(Target::from(&own_key(scaler))),
            drops: None,
        });
    }
    all
}

/// The manifest stops to say a size, without a write to the size itself: `kubectl apply edit-last-applied`.
fn drop_from_manifest(simulation: &Simulation, key: &ObjectKey) -> Option<Cure> {
    let object = simulation.api().objects().get(key)?;
    let mut applied: Value = serde_json::from_str(object.meta().annotations.get(LAST_APPLIED)?).ok()?;
    applied.get_mut("spec")?.as_object_mut()?.remove("replicas")?;
    let text = [applied.to_string().as_str(), "\n"].concat();
    let patch = json!({"metadata": {"annotations": {(LAST_APPLIED): text}}});
    Some(Cure {
        name: "Drop replicas from the manifest".into(),
        price: "Whoever applies it no longer says a size. The size stays as it is.".into(),
        command: Command::Patch { target: key.into(), kind: PatchType::Merge, patch },
        drops: Some("replicas"),
    })
}

/// The size that the others want, asked of the autoscaler as one of its bounds.
fn through_bounds(scaler: &HorizontalPodAutoscaler, fight: &Fight) -> Option<Cure> {
    let size = |manager_is: fn(&str) -> bool| {
        let found = fight.values.iter().rfind(|it| manager_is(&it.manager))?;
        found.to.parse::<i32>().ok()
    };
    let theirs = size(|it| it == AUTOSCALER)?;
    let wanted = size(|it| it != AUTOSCALER)?.max(1);
    let (min, max) = (scaler.spec.min_replicas.unwrap_or(1), scaler.spec.max_replicas);
    let (min, max) = if wanted >= theirs { (wanted, max.max(wanted)) } else { (min.min(wanted), wanted) };
    let text = |n: i32| n.to_string();
    let price = match wanted >= theirs {
        true if max > min => ["minReplicas ", &text(min), ": never fewer, and more under load."].concat(),
        true => ["minReplicas and maxReplicas ", &text(min), ": no longer by load."].concat(),
        false => ["maxReplicas ", &text(max), ": never more, however high the load."].concat(),
    };
    Some(Cure {
        name: ["Ask the autoscaler for ", &text(wanted)].concat(),
        price,
        command: Command::Patch {
            target: Target::from(&own_key(scaler)),
            kind: PatchType::Merge,
            patch: json!({"spec": {"minReplicas": min, "maxReplicas": max}}),
        },
        drops: None,
    })
}
