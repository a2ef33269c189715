//! The ResourceQuota controller: keeps what a quota counts as used in step with the pods that are there.
//!
//! Mirrors `pkg/controller/resourcequota/resource_quota_controller.go`, v1.36. Admission raises the figures as pods are
//! created; this loop sets them after a change of the quota, and lowers them as pods finish or go.
//! Fidelity: there is no recount every five minutes.

use std::rc::Rc;

use super::CONTROLLER_MANAGER;
use crate::api::{Kind, Name, Object, ObjectKey, Pod, Quantity, ResourceQuota, ResourceQuotaStatus};
use crate::apiserver::{Amounts, Change, ChangeKind, Objects, Request, Verb, is_counted, usage_of};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Set, Time};

/// Every resource of pods that a quota may count.
const RESOURCES: [&str; 8] =
    ["count/pods", "cpu", "limits.cpu", "limits.memory", "memory", "pods", "requests.cpu", "requests.memory"];

/// Counts what quotas limit.
#[derive(Clone, Debug, Default)]
pub struct ResourceQuotaController {
    /// The namespaces that have quotas.
    counts: Map<Name, Count>,
}

/// The quotas of a namespace, and its pods with what they take.
#[derive(Clone, Debug, Default)]
struct Count {
    quotas: Set<ObjectKey>,
    pods: Map<Name, [Quantity; 8]>,
    totals: [Quantity; 8],
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    write: Option<Rc<ResourceQuota>>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Act,
    Finish,
}

impl Count {
    /// Takes a pod as it is now, or as gone. Returns whether it takes less of anything than before.
    fn take(&mut self, name: &Name, pod: Option<&Pod>) -> bool {
        let new = pod.map(|pod| RESOURCES.map(|resource| usage_of(pod, resource)));
        let old = match &new {
            Some(new) => self.pods.insert(name.clone(), *new),
            None => self.pods.remove(name),
        };
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        for (total, (old, new)) in self.totals.iter_mut().zip(old.iter().zip(&new)) {
            *total = total.minus(*old).plus(*new);
        }
        old.iter().zip(&new).any(|(old, new)| new < old)
    }

    fn used(&self, quota: &ResourceQuota) -> Amounts {
        let hard = quota.spec.hard.keys().filter(|resource| is_counted(resource));
        hard.map(|resource| {
            let index = RESOURCES.iter().position(|known| known == resource);
            let total = index.and_then(|index| self.totals.get(index)).copied().unwrap_or_default();
            (resource.clone(), total)
        })
        .collect()
    }
}

impl ResourceQuotaController {
    fn hear_quota(&mut self, change: &Change, cache: &Objects, quota: &ResourceQuota) -> Vec<Wakeup> {
        let key = change.key.clone();
        if change.kind == ChangeKind::Deleted {
            if let Some(count) = self.counts.get_mut(&key.namespace) {
                count.quotas.remove(&key);
                if count.quotas.is_empty() {
                    self.counts.remove(&key.namespace);
                }
            }
            return Vec::new();
        }
        let is_first = !self.counts.contains_key(&key.namespace);
        let count = self.counts.or_default(key.namespace.clone());
        count.quotas.add(key.clone());
        if is_first {
            for pod in cache.in_namespace(Kind::Pod, &key.namespace).filter_map(Object::as_pod) {
                count.take(&pod.metadata.name, Some(pod));
            }
        }
        // What admission writes is no news; a quota that was changed, or never counted, is.
        let is_settled = change.kind == ChangeKind::Modified && quota.status.hard == quota.spec.hard;
        if is_settled { Vec::new() } else { vec![(key, Millis(0))] }
    }
}

impl Reconciler for ResourceQuotaController {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        match &change.object {
            Object::ResourceQuota(quota) => self.hear_quota(change, cache, quota),
            Object::Pod(pod) => {
                let Some(count) = self.counts.get_mut(&pod.metadata.namespace) else { return Vec::new() };
                let was_counted = change
                    .old
                    .as_ref()
                    .and_then(Object::as_pod)
                    .is_some_and(|old| Rc::ptr_eq(&old.spec, &pod.spec) && old.is_finished() == pod.is_finished());
                if change.kind == ChangeKind::Modified && was_counted {
                    return Vec::new();
                }
                let is_there = change.kind != ChangeKind::Deleted;
                if count.take(&pod.metadata.name, is_there.then_some(&**pod)) {
                    return count.quotas.keys().map(|key| (key.clone(), Millis(0))).collect();
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        match turn.stage {
            Stage::Observe => self.observe(context, key, turn),
            Stage::Diff => {
                turn.stage = if turn.write.is_some() { Stage::Act } else { Stage::Finish };
                let facts = if turn.write.is_some() { note!("the figures **differ**") } else { note!("as written") };
                Stepped { is_background: turn.write.is_none(), ..Step::Diff(facts.into()).into() }
            }
            Stage::Act => {
                turn.stage = Stage::Finish;
                let Some(quota) = turn.write.take() else { return Step::Done(Next::AwaitChange).into() };
                let facts: Facts = note!("write what is used").into();
                let request = Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::ResourceQuota(quota)));
                Step::Act(facts.with(note!("PUT resourcequotas/status")), vec![Action::Api(request)]).into()
            }
            Stage::Finish => match outcomes.into_iter().find_map(Result::err) {
                Some(error) if error.code() != 404 => Step::Fail(error.message).into(),
                _ => Stepped { is_background: true, ..Step::Done(Next::AwaitChange).into() },
            },
        }
    }
}

impl ResourceQuotaController {
    fn observe(&self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn) -> Stepped {
        let quota = context.cache.get(key).and_then(Object::as_resource_quota);
        let (Some(quota), Some(count)) = (quota, self.counts.get(&key.namespace)) else {
            return Step::Done(Next::AwaitChange).into();
        };
        let status = ResourceQuotaStatus { hard: quota.spec.hard.clone(), used: count.used(quota) };
        let differs = status != quota.status;
        if differs {
            let mut quota = Rc::clone(quota);
            Rc::make_mut(&mut quota).status = status;
            turn.write = Some(quota);
        }
        turn.stage = Stage::Diff;
        let facts: Facts = note!("**{}** pods in {}", count.pods.len(), &key.namespace).into();
        Stepped { is_background: !differs, ..Step::Observe(facts.with(note!("quota {}", &key.name))).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::read_value;
    use serde_json::json;

    #[test]
    fn a_pod_counts_once_until_it_finishes() {
        let mut count = Count::default();
        let mut pod: Pod = read_value(json!({"spec": {"containers": [
            {"name": "app", "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "1Gi"}}}]}}))
        .unwrap();
        let name = Name::from("p");
        assert!(!count.take(&name, Some(&pod)) && !count.take(&name, Some(&pod)));
        let quota: ResourceQuota = read_value(
            json!({"spec": {"hard": {"pods": "5", "requests.cpu": "1", "limits.memory": "2Gi", "services": "1"}}}),
        )
        .unwrap();
        let used =
            |count: &Count| count.used(&quota).iter().map(|(name, it)| format!("{name}={it}")).collect::<Vec<_>>();
        assert_eq!(used(&count), ["limits.memory=1Gi", "pods=1", "requests.cpu=100m"]);
        pod.status.phase = "Succeeded".into();
        assert!(count.take(&name, Some(&pod)), "there is room again");
        assert_eq!(used(&count), ["limits.memory=0", "pods=0", "requests.cpu=0"]);
    }
}
