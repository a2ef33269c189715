//! `kubectl rollout undo`: an old ReplicaSet's template becomes the Deployment's again.
//!
//! Mirrors `kubectl/pkg/polymorphichelpers/rollback.go`, v1.36.

use std::rc::Rc;

use super::simulation::{reference, refused};
use super::{Outcome, Simulation, Target};
use crate::api::{Deployment, Object, ReplicaSet};
use crate::apiserver::{ApiError, Reason, Verb};
use crate::controllers::deployment::revision::{self, HASH_LABEL};
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

impl Simulation {
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
