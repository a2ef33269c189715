//! `kubectl rollout`: `undo` makes an old ReplicaSet's template the Deployment's again; `pause`, `resume`, `restart`.
//!
//! Mirrors `kubectl/pkg/polymorphichelpers/{rollback,objectpauser,objectresumer,objectrestarter}.go`, v1.36.

use std::rc::Rc;

use super::simulation::refused;
use super::{Outcome, Simulation, Target};
use crate::api::{Deployment, Kind, Object, ReplicaSet};
use crate::apiserver::{ApiError, PatchType, Reason, Verb};
use crate::controllers::deployment::revision::{self, HASH_LABEL};
use crate::kubectl::reference;
use crate::sim::{Seq, sort_by};

/// Annotations of a Deployment that stay as they are when it is rolled back.
const KEPT: [&str; 5] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    revision::REVISION,
    revision::REVISION_HISTORY,
    revision::DESIRED,
    revision::MAX,
];

/// The ReplicaSet of a revision; of the one before the newest, where none is named.
fn find(sets: &[Rc<ReplicaSet>], to: i64) -> Option<&Rc<ReplicaSet>> {
    if to != 0 {
        return sets.iter().find(|set| revision::revision(&set.metadata) == to);
    }
    let mut sorted: Vec<&Rc<ReplicaSet>> = sets.iter().collect();
    let number = |set: &ReplicaSet| revision::revision(&set.metadata);
    sort_by(&mut sorted, |a, b| number(b).cmp(&number(a)));
    sorted.get(1).copied()
}

/// The Deployment with the template of an old ReplicaSet; nothing where it has it already.
fn rolled_back(deployment: &Rc<Deployment>, set: &ReplicaSet) -> Option<Rc<Deployment>> {
    let mut template = set.spec.template.clone();
    template.metadata.labels.remove(HASH_LABEL);
    if template == deployment.spec.template {
        return None;
    }
    let mut changed = Rc::clone(deployment);
    let it = Rc::make_mut(&mut changed);
    it.spec.template = template;
    it.metadata.annotations.retain(|key, _| KEPT.contains(&key.as_str()));
    let old = set.metadata.annotations.iter().filter(|(key, _)| !KEPT.contains(&key.as_str()));
    it.metadata.annotations.extend(old.map(|(key, value)| (key.clone(), value.clone())));
    Some(changed)
}

/// What kubectl says of an object that it will not do something to.
fn unwilling(target: &Target, why: &str) -> Outcome {
    let message = format!("{} \"{}\" {why}", target.kind.qualified_plural(), target.name);
    refused(&ApiError::new(Reason::BadRequest, message))
}

impl Simulation {
    fn patch_rollout(&mut self, target: &Target, patch: serde_json::Value, done: &str, seq: Seq) -> Outcome {
        let verb = Verb::Patch(target.key(), PatchType::Strategic, patch);
        self.request(target, "kubectl-rollout", verb, done, seq)
    }

    pub(super) fn pause(&mut self, target: &Target, on: bool, seq: Seq) -> Outcome {
        let Some(object) = self.api.objects().get(&target.key()) else {
            return refused(&ApiError::not_found(&target.key()));
        };
        let (done, again, never) = match on {
            true => ("paused", "is already paused", "pausing is not supported"),
            false => ("resumed", "is not paused", "resuming is not supported"),
        };
        match object.as_deployment() {
            None => unwilling(target, never),
            Some(deployment) if deployment.spec.paused == on => unwilling(target, again),
            Some(_) => {
                let paused = on.then_some(true);
                self.patch_rollout(target, serde_json::json!({"spec": {"paused": paused}}), done, seq)
            }
        }
    }

    /// Changes the template's annotations, so that every pod is replaced.
    pub(super) fn restart_rollout(&mut self, target: &Target, seq: Seq) -> Outcome {
        let Some(object) = self.api.objects().get(&target.key()) else {
            return refused(&ApiError::not_found(&target.key()));
        };
        let has_rollouts = matches!(target.kind, Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet);
        if !has_rollouts {
            return unwilling(target, "restarting is not supported");
        }
        if object.as_deployment().is_some_and(|deployment| deployment.spec.paused) {
            return unwilling(target, "can't restart paused deployment (run rollout resume first)");
        }
        let now = self.wall().to_string();
        let path = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";
        if object.to_value().pointer(path).and_then(serde_json::Value::as_str) == Some(&now) {
            let message = format!(
                "failed to create patch for {}: if restart has already been triggered within the past second, please wait before attempting to trigger another",
                target.name
            );
            return refused(&ApiError::new(Reason::BadRequest, message));
        }
        let annotations = serde_json::json!({"kubectl.kubernetes.io/restartedAt": now});
        let patch = serde_json::json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        self.patch_rollout(target, patch, "restarted", seq)
    }

    pub(super) fn roll_back(&mut self, target: &Target, to: i64, seq: Seq) -> Outcome {
        let key = target.key();
        let Some(deployment) = self.api.objects().get(&key).and_then(Object::as_deployment).cloned() else {
            return refused(&ApiError::not_found(&key));
        };
        let owned = self.api.objects().controlled_by(deployment.metadata.uid);
        let sets: Vec<Rc<ReplicaSet>> = owned.filter_map(Object::as_replica_set).cloned().collect();
        let refuse = |message: String| refused(&ApiError::new(Reason::BadRequest, message));
        if deployment.spec.paused {
            return refuse(
                "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
                    .into(),
            );
        }
        let Some(set) = find(&sets, to) else {
            return refuse(match to {
                0 => format!("no rollout history found for deployment \"{}\"", key.name),
                to => format!("unable to find specified revision {to} in history"),
            });
        };
        match rolled_back(&deployment, set) {
            Some(changed) => {
                let verb = Verb::Update(Object::Deployment(changed));
                self.request(target, "kubectl-rollout", verb, "rolled back", seq)
            }
            None => {
                let revision = revision::revision(&set.metadata);
                let reason = format!("skipped rollback (current template already matches revision {revision})");
                Outcome { lines: vec![format!("{} {reason}", reference(&key))], problems: Vec::new() }
            }
        }
    }
}
