//! The namespace controller: empties a namespace that is being deleted, pods first, and lets it go.
//!
//! Mirrors `pkg/controller/namespace/{namespace_controller.go,deletion/namespaced_resources_deleter.go}`, v1.36: it
//! begins 5 s after the deletion, and while something is left it comes again after half of the time that this may take.
//! Fidelity: each object is deleted by a request of its own, where the real controller deletes by kind.

use std::rc::Rc;

use super::CONTROLLER_MANAGER;
use crate::api::{Condition, Kind, Name, Namespace, Object, ObjectKey, set_condition};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Effect, Objects, Propagation, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Dict, Millis, Time};

/// What is seen of a namespace is acted upon after this time (`namespaceDeletionGracePeriod`).
const GRACE: Millis = Millis(5_000);
/// How long finalizers are expected to take, in seconds (`finalizerEstimateSeconds`).
const FINALIZER_ESTIMATE: i64 = 15;

/// Empties namespaces.
#[derive(Clone, Debug, Default)]
pub struct NamespaceController;

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: Stage,
    /// What is to be deleted: the pods, or everything once they are gone.
    content: Vec<Object>,
    remaining: Remaining,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Delete,
    Deleted,
    Reported,
    Finalized,
}

/// What a deletion leaves for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remaining {
    kinds: Dict<usize>,
    finalizers: Dict<usize>,
    /// How long it may take, in seconds.
    estimate: i64,
}

impl Remaining {
    fn add(&mut self, object: &Object) {
        *self.kinds.or_insert_with(object.kind().plural(), || 0) += 1;
        for finalizer in &object.meta().finalizers {
            *self.finalizers.or_insert_with(finalizer, || 0) += 1;
        }
        let estimate = match object {
            Object::Pod(pod) if !pod.is_finished() && pod.metadata.finalizers.is_empty() => pod.spec.grace_seconds(),
            _ => FINALIZER_ESTIMATE,
        };
        self.estimate = self.estimate.max(estimate);
    }

    fn condition(
        kind: &'static str,
        parts: Vec<String>,
        lead: &str,
        some: &'static str,
        none: (&'static str, &'static str),
    ) -> Condition {
        match parts.len() {
            0 => Condition::new(kind, false).because(none.0, none.1),
            _ => Condition::new(kind, true).because(some, format!("{lead}: {}", parts.join(", "))),
        }
    }

    /// The conditions of the namespace, in their order.
    fn conditions(&self) -> [Condition; 5] {
        let kinds = self.kinds.iter().map(|(kind, count)| format!("{kind}. has {count} resource instances"));
        let finalizers = self.finalizers.iter().map(|(name, count)| format!("{name} in {count} resource instances"));
        [
            Condition::new("NamespaceDeletionDiscoveryFailure", false)
                .because("ResourcesDiscovered", "All resources successfully discovered"),
            Condition::new("NamespaceDeletionGroupVersionParsingFailure", false)
                .because("ParsedGroupVersions", "All legacy kube types successfully parsed"),
            Condition::new("NamespaceDeletionContentFailure", false)
                .because("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
            Self::condition(
                "NamespaceContentRemaining",
                kinds.collect(),
                "Some resources are remaining",
                "SomeResourcesRemain",
                ("ContentRemoved", "All content successfully removed"),
            ),
            Self::condition(
                "NamespaceFinalizersRemaining",
                finalizers.collect(),
                "Some content in the namespace has finalizers remaining",
                "SomeFinalizersRemain",
                ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
            ),
        ]
    }

    /// How long to wait before looking again.
    fn wait(&self) -> Millis {
        Millis::from_secs(u64::try_from(self.estimate / 2 + 1).unwrap_or(1))
    }
}

/// The pods of a namespace; everything else in it, where there are none.
fn content(cache: &Objects, namespace: &Name) -> Vec<Object> {
    let pods: Vec<Object> = cache.in_namespace(Kind::Pod, namespace).cloned().collect();
    if !pods.is_empty() {
        return pods;
    }
    let kinds = Kind::ALL.iter().copied().filter(|kind| kind.is_namespaced());
    kinds.flat_map(|kind| cache.in_namespace(kind, namespace)).cloned().collect()
}

fn deleting<'a>(cache: &'a Objects, key: &ObjectKey) -> Option<&'a Rc<Namespace>> {
    cache.get(key).and_then(Object::as_namespace).filter(|it| it.metadata.deletion_timestamp.is_some())
}

impl Reconciler for NamespaceController {
    type State = Turn;

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        match &change.object {
            Object::Namespace(it) if it.metadata.deletion_timestamp.is_some() && change.kind != ChangeKind::Deleted => {
                vec![(change.key.clone(), GRACE)]
            }
            _ => Vec::new(),
        }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        let Some(namespace) = deleting(context.cache, key) else { return Step::Done(Next::AwaitChange).into() };
        match turn.stage {
            Stage::Observe => {
                turn.content = content(context.cache, &key.name);
                turn.stage = Stage::Diff;
                let facts: Facts = note!("**{}** is to go", &key.name).into();
                Step::Observe(facts.with(note!("{} objects in it", turn.content.len()))).into()
            }
            Stage::Diff => {
                turn.stage = Stage::Delete;
                let is_pods = turn.content.first().is_some_and(|it| it.as_pod().is_some());
                let facts: Facts = match turn.content.len() {
                    0 => note!("**nothing** is left in it").into(),
                    n if is_pods => note!("**{}** pods go first", n).into(),
                    n => note!("**{}** objects go", n).into(),
                };
                Step::Diff(facts).into()
            }
            Stage::Delete => delete(turn, namespace, context),
            Stage::Deleted => deleted(turn, namespace, context, outcomes),
            Stage::Reported => reported(turn, key, &outcomes),
            Stage::Finalized => match outcomes.into_iter().find_map(Result::err) {
                Some(error) if error.code() != 404 => Step::Fail(error.message).into(),
                _ => Step::Done(Next::AwaitChange).into(),
            },
        }
    }
}

fn delete(turn: &mut Turn, namespace: &Rc<Namespace>, context: &Context<'_>) -> Stepped {
    turn.stage = Stage::Deleted;
    let actions: Vec<Action> = turn
        .content
        .iter()
        .map(|object| {
            let options = DeleteOptions {
                uid: Some(object.meta().uid),
                propagation: Some(Propagation::Background),
                ..DeleteOptions::default()
            };
            Action::Api(Request::new(CONTROLLER_MANAGER, Verb::Delete(object.key(), options)))
        })
        .collect();
    if actions.is_empty() {
        return deleted(turn, namespace, context, Vec::new());
    }
    let facts: Facts = note!("delete **{}** objects", actions.len()).into();
    Step::Act(facts.with(note!("DELETE, in the background")), actions).into()
}

/// The answers say what is gone and what waits for its grace period or its finalizers.
fn deleted(turn: &mut Turn, namespace: &Rc<Namespace>, context: &Context<'_>, outcomes: Vec<Outcome>) -> Stepped {
    for outcome in outcomes {
        match outcome {
            Ok(Some(answer)) if answer.outcome != Effect::Deleted => turn.remaining.add(&answer.object),
            Ok(_) => {}
            Err(error) if error.code() == 404 => {}
            Err(error) => return Step::Fail(error.message).into(),
        }
    }
    turn.stage = Stage::Reported;
    let mut changed = Rc::clone(namespace);
    let conditions = &mut Rc::make_mut(&mut changed).status.conditions;
    for condition in turn.remaining.conditions() {
        set_condition(conditions, condition, context.wall);
    }
    if changed.status == namespace.status {
        return reported(turn, &Object::Namespace(changed).key(), &[]);
    }
    Rc::make_mut(&mut changed).metadata.resource_version = 0;
    let facts: Facts = match turn.remaining.kinds.values().sum::<usize>() {
        0 => note!("write that it is **empty**").into(),
        n => note!("write that **{}** are left", n).into(),
    };
    let request = Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::Namespace(changed)));
    Step::Act(facts.with(note!("PUT namespaces/status")), vec![Action::Api(request)]).into()
}

fn reported(turn: &mut Turn, key: &ObjectKey, outcomes: &[Outcome]) -> Stepped {
    let refused = outcomes.iter().find_map(|outcome| outcome.as_ref().err()).filter(|error| error.code() != 404);
    if let Some(error) = refused {
        return Step::Fail(error.message.clone()).into();
    }
    if !turn.remaining.kinds.is_empty() {
        return Step::Done(Next::After(turn.remaining.wait())).into();
    }
    // Pods were the first; what else there is goes in the next turn.
    if turn.content.first().is_some_and(|it| it.as_pod().is_some()) {
        return Step::Done(Next::After(Millis(1))).into();
    }
    turn.stage = Stage::Finalized;
    let facts: Facts = note!("let **{}** go", &key.name).into();
    let request = Request::new(CONTROLLER_MANAGER, Verb::Finalize(key.clone()));
    Step::Act(facts.with(note!("PUT namespaces/finalize")), vec![Action::Api(request)]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_left_is_told_in_kubernetes_words() {
        let mut remaining = Remaining::default();
        let hold = json!({"metadata": {"name": "hold", "finalizers": ["example.com/hold"]}});
        remaining.add(&Object::from_value(Kind::ConfigMap, hold).unwrap());
        let messages = remaining.conditions().map(|it| it.message);
        assert_eq!(messages[3], "Some resources are remaining: configmaps. has 1 resource instances");
        assert_eq!(
            messages[4],
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
        );
        assert_eq!(remaining.wait(), Millis(8_000));
        assert!(Remaining::default().conditions().iter().all(|it| !it.is_true()));
    }
}
