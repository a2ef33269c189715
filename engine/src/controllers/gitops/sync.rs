//! The requests of a sync.

use serde_json::Value;

use super::compare::{Target, is_by_hand};
use super::decide::Plan;
use crate::api::{Object, fields};
use crate::apiserver::{Answer, DeleteOptions, Effect, Objects, PatchType, Propagation, Request, Verb, managed_fields};
use crate::client::{Action, Note};
use crate::gitops::{Preset, Settings, Status, SyncState, short};
use crate::note;

/// Requests that are sent at once.
#[derive(Clone, Debug)]
pub struct Batch {
    pub facts: Note,
    pub actions: Vec<Action>,
}

/// What a sync sends: first it takes fields over, then it applies, then it prunes.
pub fn batches(settings: &Settings, plan: &Plan, targets: &[Target], status: &Status, cache: &Objects) -> Vec<Batch> {
    let request = |verb| Action::Api(Request::new(settings.preset.manager(), verb));
    let is_meant = |target: &&Target| {
        let is_same = |it: &&crate::gitops::Resource| it.key == target.key && it.sync == SyncState::Synced;
        !plan.only_differing || !status.resources.iter().any(|it| is_same(&it))
    };
    let meant: Vec<&Target> = targets.iter().filter(is_meant).collect();
    let mut all = Vec::new();
    if settings.preset == Preset::Flux {
        let held = meant.iter().filter_map(|it| cache.get(&it.key)).filter_map(take_over);
        let actions: Vec<Action> = held.map(request).collect();
        all.push(Batch {
            facts: note!("take over the fields that kubectl holds on {} objects", actions.len()),
            actions,
        });
    }
    let actions: Vec<Action> = meant.iter().map(|it| request(apply(settings, it, cache.get(&it.key)))).collect();
    let facts = note!("apply **{}** objects of commit {}", actions.len(), short(&plan.revision).to_owned());
    all.push(Batch { facts, actions });
    if plan.prune {
        let is_gone = |key: &&crate::api::ObjectKey| !targets.iter().any(|it| it.key == **key);
        let extra = status.resources.iter().map(|it| &it.key).filter(is_gone);
        let options = DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
        let actions: Vec<Action> = extra.map(|key| request(Verb::Delete(key.clone(), options))).collect();
        all.push(Batch { facts: note!("delete **{}** objects that are not in Git", actions.len()), actions });
    }
    all.retain(|it| !it.actions.is_empty());
    all
}

fn apply(settings: &Settings, target: &Target, live: Option<&Object>) -> Verb {
    let mut value = target.value.clone();
    if let Some(live) = live.filter(|_| settings.respect_ignored) {
        let live = live.to_value();
        for it in settings.ignored.iter().filter(|it| it.kind == target.key.kind.name()) {
            keep(&mut value, &live, &it.pointer);
        }
    }
    let (kind, namespace) = (target.key.kind, target.key.namespace.clone());
    match settings.preset {
        Preset::ArgoCd => Verb::Apply(kind, namespace, value),
        Preset::Flux => Verb::ServerSideApply(kind, namespace, value, true),
    }
}

/// Puts the live field where Git has one.
fn keep(value: &mut Value, live: &Value, pointer: &str) {
    if let (Some(place), Some(live)) = (value.pointer_mut(pointer), live.pointer(pointer)) {
        *place = live.clone();
    }
}

/// Makes what people hold through kubectl the agent's own, so that applying removes what Git does not have
/// (`fluxcd/pkg/ssa`, `PatchReplaceFieldsManagers`).
fn take_over(live: &Object) -> Option<Verb> {
    if !live.meta().managed.entries().iter().any(|it| is_by_hand(it.by)) {
        return None;
    }
    let mut kept: Vec<Value> = Vec::new();
    let manager = Preset::Flux.manager();
    let (mut own, mut tree) = (None, Value::Null);
    for (entry, known) in managed_fields(live).into_iter().zip(live.meta().managed.entries()) {
        let is_own = known.by.manager == manager && known.by.is_apply();
        if !is_own && !is_by_hand(known.by) {
            kept.push(entry);
            continue;
        }
        join(&mut tree, entry.get("fieldsV1").cloned().unwrap_or_default());
        if is_own || own.is_none() {
            own = Some(entry);
        }
    }
    let mut own = own?;
    let map = own.as_object_mut()?;
    map.insert("manager".into(), manager.into());
    map.insert("operation".into(), "Apply".into());
    map.insert("fieldsV1".into(), tree);
    kept.push(own);
    let op = |path: &str, value: Value| fields([("op", "replace".into()), ("path", path.into()), ("value", value)]);
    let version = live.meta().resource_version.to_string();
    let patch = Value::Array(vec![
        op("/metadata/managedFields", Value::Array(kept)),
        op("/metadata/resourceVersion", version.into()),
    ]);
    Some(Verb::Patch(live.key(), PatchType::Json, patch))
}

fn join(tree: &mut Value, more: Value) {
    match (tree, more) {
        (Value::Object(tree), Value::Object(more)) => {
            for (name, value) in more {
                join(tree.entry(name).or_insert(Value::Null), value);
            }
        }
        (tree @ Value::Null, more) => *tree = more,
        _ => {}
    }
}

/// The version that a watch will tell of a write; none of one that wrote nothing or ended an object.
pub fn heard_at(answer: &Answer) -> u64 {
    match answer.outcome {
        Effect::Created | Effect::Configured => answer.object.meta().resource_version,
        _ => 0,
    }
}
