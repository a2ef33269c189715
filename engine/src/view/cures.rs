//! What would end a fight over a field, as commands.

use serde_json::{Value, json};

use super::autoscaler::{about, own_key};
use super::{Cure, Fight};
use crate::api::{HorizontalPodAutoscaler, ObjectKey};
use crate::apiserver::{LAST_APPLIED, PatchType};
use crate::gitops::{Edit, Ignored, Preset, Settings};
use crate::manifest;
use crate::world::{Command, GitDeed, Simulation, Target, namespace_of};

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
    let agent = simulation.gitops().settings.as_ref();
    let agent = agent.filter(|it| fight.writers.iter().any(|who| who.manager == it.preset.manager()));
    all.extend(agent.and_then(|it| drop_from_git(simulation, &fight.key, it)));
    all.extend(agent.and_then(|it| ignore(it, fight)));
    if fight.writers.iter().any(|it| it.manager == CLIENT_APPLY && it.writes > 1) {
        all.extend(drop_from_manifest(simulation, &fight.key));
    }
    // One that is in Git itself is changed there: all else would be undone.
    let scaler = scaler.filter(|it| !is_in_git(simulation, &own_key(it)));
    if let Some(scaler) = scaler {
        all.extend(through_bounds(scaler, fight));
    }
    all.extend(agent.and_then(heal_no_more));
    if let Some(scaler) = scaler {
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

fn is_in_git(simulation: &Simulation, key: &ObjectKey) -> bool {
    simulation.gitops().status.resources.iter().any(|it| it.key == *key && !it.is_extra)
}

/// Git stops to say a size, by a commit.
fn drop_from_git(simulation: &Simulation, key: &ObjectKey, settings: &Settings) -> Option<Cure> {
    let head = simulation.gitops().repository.head()?;
    let mut found = head.files.iter().filter_map(|it| Some((it.path.to_string(), without_size(&it.text, key)?)));
    let (path, text) = found.next()?;
    let seen = if settings.webhook { "seen at once" } else { "seen at the next poll" };
    Some(Cure {
        name: "Drop replicas from Git".into(),
        price: ["A commit, ", seen, ". The size falls to its default, 1, once; then the autoscaler alone writes it."]
            .concat(),
        command: Command::Git {
            deed: GitDeed::Commit {
                author: "you".into(),
                message: ["Leave the size of ", &key.name, " to the autoscaler"].concat(),
                edits: vec![Edit { path, text: Some(text) }],
            },
        },
        drops: None,
    })
}

/// A text without the size of an object; nothing where it has none, or cannot be read.
fn without_size(text: &str, key: &ObjectKey) -> Option<String> {
    let manifest = manifest::read(text);
    if manifest.has_errors() {
        return None;
    }
    let is_it = |object: &crate::api::Object| {
        object.kind() == key.kind && object.meta().name == key.name && namespace_of(object) == key.namespace
    };
    let at = manifest.documents.iter().position(|it| is_it(&it.object))?;
    let document = manifest.documents.get(at)?;
    document.value.pointer("/spec/replicas")?;
    let line = document.spans.locate("spec.replicas").line as usize;
    let lines = || text.split('\n').enumerate().map(|(index, it)| (index + 1, it));
    if lines().any(|(n, it)| n == line && it.trim_start().starts_with("replicas:")) {
        let kept: Vec<&str> = lines().filter(|(n, _)| *n != line).map(|(_, it)| it).collect();
        return Some(kept.join("\n"));
    }
    // It shares its line with others: the file is written anew.
    let documents = manifest.documents.into_iter().enumerate().map(|(index, mut it)| {
        if let Some(spec) = it.value.get_mut("spec").and_then(Value::as_object_mut).filter(|_| index == at) {
            spec.remove("replicas");
        }
        manifest::to_yaml(&it.value)
    });
    Some(documents.collect::<Vec<String>>().join("---\n"))
}

fn set(settings: Settings) -> Command {
    Command::Git { deed: GitDeed::Set { settings } }
}

/// Git may say a size, and the agent leaves the field alone.
fn ignore(old: &Settings, fight: &Fight) -> Option<Cure> {
    let kind = fight.key.kind.name();
    let is_ignored = old.ignores(kind, &fight.path);
    if old.preset != Preset::ArgoCd || (is_ignored && old.respect_ignored) {
        return None;
    }
    let mut settings = Settings { respect_ignored: true, ..old.clone() };
    if !is_ignored {
        settings.ignored.push(Ignored { kind: kind.into(), pointer: fight.path.replace('.', "/") });
    }
    Some(Cure {
        name: "Ignore the difference".into(),
        price: "ignoreDifferences for the field, with RespectIgnoreDifferences: Git still says a size, and no sync writes it.".into(),
        command: set(settings),
        drops: None,
    })
}

fn heal_no_more(old: &Settings) -> Option<Cure> {
    let heals = old.preset == Preset::ArgoCd && old.automated && old.self_heal;
    heals.then(|| Cure {
        name: "Turn selfHeal off".into(),
        price: "Ends it until the next commit, whose sync writes Git’s size again. No drift is undone any more.".into(),
        command: set(Settings { self_heal: false, ..old.clone() }),
        drops: None,
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
