//! The taint eviction controller: pods leave nodes whose NoExecute taints they do not tolerate, or not for ever.
//!
//! Mirrors `pkg/controller/tainteviction/taint_eviction.go`, v1.36.

use std::rc::Rc;

use super::{CONTROLLER_MANAGER, Recorder};
use crate::api::{Condition, Node, Object, ObjectKey, Pod, set_condition};
use crate::apiserver::{Change, DeleteOptions, Objects, Request, Verb};
use crate::client::{Action, Arg, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Map, Millis, Time};

const RECORDER: Recorder = Recorder("taint-eviction-controller");

/// Evicts pods from tainted nodes.
#[derive(Clone, Debug, Default)]
pub struct TaintEviction {
    /// Since when each pod sits on a tainted node, by this controller's own clock.
    since: Map<ObjectKey, Time>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Turn {
    #[default]
    Observe,
    Diff,
    Mark,
    Delete,
    Deleted,
}

/// How long a pod may stay on a node; nothing where it may stay for ever.
fn stay_of(pod: &Pod, node: &Node) -> Option<Millis> {
    let mut shortest: Option<Millis> = None;
    for taint in node.spec.taints.iter().filter(|taint| taint.effect == "NoExecute") {
        // Of several tolerations the first counts (`GetMatchingTolerations`).
        let mut tolerations = pod.spec.tolerations.iter();
        let Some(first) = tolerations.find(|it| it.tolerates(&taint.key, &taint.value, &taint.effect)) else {
            return Some(Millis(0));
        };
        if let Some(seconds) = first.toleration_seconds {
            let limit = Millis::from_secs(u64::try_from(seconds).unwrap_or(0));
            shortest = Some(shortest.map_or(limit, |known| known.min(limit)));
        }
    }
    shortest
}

/// The taints that make pods leave.
fn evicting(node: &Node) -> Vec<(&str, &str)> {
    let taints = node.spec.taints.iter().filter(|taint| taint.effect == "NoExecute");
    taints.map(|taint| (taint.key.as_str(), taint.value.as_str())).collect()
}

fn node_of<'a>(cache: &'a Objects, pod: &Pod) -> Option<&'a Node> {
    cache.get(&ObjectKey::node(pod.spec.node_name.clone()))?.as_node().map(|node| &**node)
}

impl Reconciler for TaintEviction {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let key = &change.key;
        match &change.object {
            Object::Pod(pod) => {
                let is_tainted = |node: &Node| !evicting(node).is_empty();
                let old = change.old.as_ref().and_then(Object::as_pod);
                let newly = old.is_none_or(|old| !old.is_assigned() || old.spec.tolerations != pod.spec.tolerations);
                if pod.is_assigned() && newly && node_of(cache, pod).is_some_and(is_tainted) {
                    return vec![(key.clone(), Millis(0))];
                }
                if change.kind == crate::apiserver::ChangeKind::Deleted {
                    self.since.remove(key);
                }
                Vec::new()
            }
            Object::Node(node) => {
                let old = change.old.as_ref().and_then(Object::as_node);
                if old.map(|old| evicting(old)).unwrap_or_default() == evicting(node) {
                    return Vec::new();
                }
                let pods = cache.pods_on(&node.metadata.name);
                pods.map(|pod| (Object::Pod(Rc::clone(pod)).key(), Millis(0))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::Observe
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        let standing = context.cache.pod(key).and_then(|pod| Some((pod, node_of(context.cache, pod)?)));
        let Some((pod, node)) = standing.filter(|(pod, _)| !pod.is_terminating()) else {
            self.since.remove(key);
            return Step::Done(Next::AwaitChange).into();
        };
        let Some(stay) = stay_of(pod, node) else {
            return self.spare(key);
        };
        let since = *self.since.or_insert_with(key.clone(), || context.now);
        let left = (since + stay).since(context.now);
        match *turn {
            Turn::Observe => {
                *turn = Turn::Diff;
                let facts: Facts = note!("**{}** is on a tainted node", Arg::Short(key.name.clone())).into();
                Step::Observe(facts.with(note!("{}: NoExecute", &node.metadata.name))).into()
            }
            Turn::Diff if left > Millis(0) => {
                *turn = Turn::Deleted;
                let facts: Facts = note!("may stay **{}** more", Arg::Millis(left.0)).into();
                Step::Diff(facts.with(note!("tolerationSeconds {}", stay.0 / 1000))).into()
            }
            Turn::Diff => {
                *turn = Turn::Mark;
                let facts: Facts = note!("its time is over").into();
                Step::Diff(facts.with(note!("tolerationSeconds {}", stay.0 / 1000))).into()
            }
            Turn::Mark => {
                *turn = Turn::Delete;
                mark(pod, key, context)
            }
            Turn::Delete => {
                *turn = Turn::Deleted;
                let facts: Facts = note!("delete **{}**", Arg::Short(key.name.clone())).into();
                let options = DeleteOptions { uid: Some(pod.metadata.uid), ..DeleteOptions::default() };
                let request = Request::new(CONTROLLER_MANAGER, Verb::Delete(key.clone(), options));
                Step::Act(facts.with(note!("DELETE pods")), vec![Action::Api(request)]).into()
            }
            Turn::Deleted if left > Millis(0) => Step::Done(Next::After(left)).into(),
            Turn::Deleted => match outcomes.into_iter().next() {
                Some(Err(error)) if error.code() != 404 => Step::Fail(error.message).into(),
                _ => Step::Done(Next::AwaitChange).into(),
            },
        }
    }
}

impl TaintEviction {
    /// The taint went in time, or the pod tolerates it for ever.
    fn spare(&mut self, key: &ObjectKey) -> Stepped {
        let mut stepped: Stepped = Step::Done(Next::AwaitChange).into();
        if self.since.remove(key).is_some() {
            let message = format!("Cancelling deletion of Pod {}/{}", key.namespace, key.name);
            stepped.events.push(RECORDER.normal(key, "TaintManagerEviction", message));
        }
        stepped
    }
}

fn mark(pod: &Rc<Pod>, key: &ObjectKey, context: &Context<'_>) -> Stepped {
    let mut pod = Rc::clone(pod);
    let it = Rc::make_mut(&mut pod);
    it.metadata.resource_version = 0;
    let target = Condition::new("DisruptionTarget", true)
        .because("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint");
    set_condition(&mut it.status.conditions, target, context.wall);
    let facts: Facts = note!("note why **{}** goes", Arg::Short(key.name.clone())).into();
    let request = Request::new(CONTROLLER_MANAGER, Verb::UpdateStatus(Object::Pod(pod)));
    let step = Step::Act(facts.with(note!("PUT pods/status")), vec![Action::Api(request)]);
    let message = format!("Marking for deletion Pod {}/{}", key.namespace, key.name);
    Stepped { events: vec![RECORDER.normal(key, "TaintManagerEviction", message)], ..step.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Taint, Toleration};

    fn toleration(key: &'static str, seconds: Option<i64>) -> Toleration {
        let operator = "Exists".into();
        Toleration { key: key.into(), operator, toleration_seconds: seconds, ..Toleration::default() }
    }

    #[test]
    fn the_shortest_of_the_first_tolerations_counts() {
        let mut node = Node::default();
        let taint = |key: &str| Taint { key: key.into(), effect: "NoExecute".into(), ..Taint::default() };
        node.spec.taints = vec![taint("a"), taint("b")];
        let stay = |tolerations: &[Toleration]| {
            let mut pod = Pod::default();
            Rc::make_mut(&mut pod.spec).tolerations = tolerations.to_vec();
            stay_of(&pod, &node).map(|stay| stay.0)
        };
        assert_eq!(stay(&[toleration("a", None)]), Some(0), "b is not tolerated");
        assert_eq!(stay(&[toleration("a", None), toleration("b", None)]), None);
        assert_eq!(stay(&[toleration("a", Some(30)), toleration("b", Some(10))]), Some(10_000));
        assert_eq!(stay(&[toleration("", None), toleration("a", Some(30))]), None, "the first tolerates all, for ever");
        assert_eq!(stay(&[toleration("a", Some(-1)), toleration("b", None)]), Some(0));
    }
}
