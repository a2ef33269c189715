//! Which pods a pod wants around it, and which want it around them.
//!
//! Mirrors `framework/plugins/interpodaffinity`, v1.36.

use std::rc::Rc;

use super::snapshot::{Domains, Group, Matcher, NOWHERE, Scope, Snapshot};
use crate::api::{Affinity, Kind, Name, Pod, PodAffinity, PodAffinityTerm};
use crate::apiserver::Objects;

/// How much a pod on a node that must have company weighs (`hardPodAffinityWeight`).
const REQUIRED_WEIGHT: i64 = 1;

/// Pods by the domains of one label.
#[derive(Debug)]
pub(super) struct Term {
    domains: Rc<Domains>,
    counts: Vec<i32>,
    /// Which pods these are: those that a selector selects, or those of a group of like pods.
    pub who: Who,
}

#[derive(Debug)]
pub(super) enum Who {
    Selected(Vec<Matcher>),
    Of(usize),
}

impl Term {
    fn new(domains: Rc<Domains>, per_node: &[i32], who: Who) -> Self {
        let mut counts = vec![0; domains.count];
        for (node, count) in per_node.iter().enumerate() {
            if let Some(sum) = counts.get_mut(domains.at(node) as usize) {
                *sum += count;
            }
        }
        Self { domains, counts, who }
    }

    fn of_group(snapshot: &mut Snapshot, group: usize, key: &str) -> Option<Self> {
        let domains = snapshot.domains(key);
        Some(Self::new(domains, &snapshot.groups.get(group)?.per_node, Who::Of(group)))
    }

    /// The pods in a node's domain; nothing where the node has none.
    fn at(&self, node: usize) -> Option<i32> {
        self.counts.get(self.domains.at(node) as usize).copied()
    }

    /// Whether a pod is one of those counted.
    pub fn counts(&self, pod: &Pod, groups: &[Group]) -> bool {
        match &self.who {
            Who::Selected(matchers) => {
                matchers.iter().all(|it| it.matches(&pod.metadata.namespace, &pod.metadata.labels))
            }
            Who::Of(group) => groups.get(*group).is_some_and(|group| group.holds(pod)),
        }
    }
}

/// What must hold of the pods around.
#[derive(Debug, Default)]
pub(super) struct Company {
    /// Pods that must be near, one entry a label; all are counted by the same selectors.
    pub near: Vec<Term>,
    /// The first of its kind may stand alone.
    may_begin: bool,
    /// Pods that must not be near.
    pub far: Vec<Term>,
    /// Pods that do not want this one near.
    pub unwilling: Vec<Term>,
}

/// Pods that leave a node, by the terms of [`Company`].
#[derive(Debug, Default)]
pub(super) struct Leaving {
    pub near: i32,
    pub far: Vec<i32>,
    pub unwilling: Vec<i32>,
}

fn side(affinity: &Affinity, against: bool) -> Option<&PodAffinity> {
    if against { affinity.pod_anti_affinity.as_ref() } else { affinity.pod_affinity.as_ref() }
}

fn matcher(term: &PodAffinityTerm, namespace: &Name, cache: &Objects) -> Matcher {
    let mut names: Vec<Name> = term.namespaces.iter().map(|name| Name::from(name.as_str())).collect();
    let scope = match &term.namespace_selector {
        None if names.is_empty() => Scope::In(vec![namespace.clone()]),
        None => Scope::In(names),
        Some(selector) if selector.is_empty() => Scope::All,
        Some(selector) => {
            let all = cache.of_kind(Kind::Namespace).map(|it| it.meta());
            names.extend(all.filter(|it| selector.matches(&it.labels)).map(|it| it.name.clone()));
            Scope::In(names)
        }
    };
    Matcher { scope, selector: term.label_selector.clone() }
}

impl Company {
    pub fn of(snapshot: &mut Snapshot, cache: &Objects, pod: &Pod) -> Self {
        let mut company = Company::default();
        let (namespace, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
        let required = |against| pod.spec.affinity.as_ref().and_then(|it| side(it, against)).map(|it| &it.required);
        if let Some(terms) = required(false).filter(|terms| !terms.is_empty()) {
            let all: Vec<Matcher> = terms.iter().map(|term| matcher(term, namespace, cache)).collect();
            for term in terms {
                let domains = snapshot.domains(&term.topology_key);
                let per_node = snapshot.count(cache, all.clone(), false);
                company.near.push(Term::new(domains, &per_node, Who::Selected(all.clone())));
            }
            let nobody = company.near.iter().all(|term| term.counts.iter().all(|count| *count == 0));
            company.may_begin = nobody && all.iter().all(|it| it.matches(namespace, labels));
        }
        for term in required(true).into_iter().flatten() {
            let domains = snapshot.domains(&term.topology_key);
            let matchers = vec![matcher(term, namespace, cache)];
            let per_node = snapshot.count(cache, matchers.clone(), false);
            company.far.push(Term::new(domains, &per_node, Who::Selected(matchers)));
        }
        let mut unwilling: Vec<(usize, String)> = Vec::new();
        for (at, group) in snapshot.groups.iter().enumerate() {
            for term in side(&group.affinity, true).into_iter().flat_map(|it| &it.required) {
                if matcher(term, &group.namespace, cache).matches(namespace, labels) {
                    unwilling.push((at, term.topology_key.clone()));
                }
            }
        }
        for (at, key) in unwilling {
            company.unwilling.extend(Term::of_group(snapshot, at, &key));
        }
        company
    }

    /// Whether the pods that must be near are.
    pub fn has_near(&self, node: usize, leaving: i32) -> bool {
        let is_somewhere = self.near.iter().all(|term| term.at(node).is_some());
        is_somewhere && (self.may_begin || self.near.iter().all(|term| term.at(node).unwrap_or(0) > leaving))
    }

    pub fn has_far(&self, node: usize, leaving: &[i32]) -> bool {
        any_left(&self.far, node, leaving)
    }

    pub fn has_unwilling(&self, node: usize, leaving: &[i32]) -> bool {
        any_left(&self.unwilling, node, leaving)
    }
}

fn any_left(terms: &[Term], node: usize, leaving: &[i32]) -> bool {
    let mut all = terms.iter().enumerate();
    all.any(|(at, term)| term.at(node).unwrap_or(0) > leaving.get(at).copied().unwrap_or(0))
}

/// How much each node is liked for the pods around it; nothing where nobody cares.
pub(super) fn raw_scores(snapshot: &mut Snapshot, cache: &Objects, pod: &Pod, feasible: &[usize]) -> Option<Vec<i64>> {
    let (namespace, labels) = (&pod.metadata.namespace, &pod.metadata.labels);
    let mut liked: Vec<(Term, i64)> = Vec::new();
    for (against, sign) in [(false, 1), (true, -1)] {
        let own = pod.spec.affinity.as_ref().and_then(|it| side(it, against));
        for wish in own.into_iter().flat_map(|it| &it.preferred) {
            let domains = snapshot.domains(&wish.pod_affinity_term.topology_key);
            let matchers = vec![matcher(&wish.pod_affinity_term, namespace, cache)];
            let per_node = snapshot.count(cache, matchers, false);
            liked.push((Term::new(domains, &per_node, Who::Selected(Vec::new())), sign * i64::from(wish.weight)));
        }
    }
    let mut wishes: Vec<(usize, String, i64)> = Vec::new();
    for (at, group) in snapshot.groups.iter().enumerate() {
        let mut wish = |term: &PodAffinityTerm, weight: i64| {
            if matcher(term, &group.namespace, cache).matches(namespace, labels) {
                wishes.push((at, term.topology_key.clone(), weight));
            }
        };
        for (against, sign) in [(false, 1), (true, -1)] {
            let Some(side) = side(&group.affinity, against) else { continue };
            if !against {
                side.required.iter().for_each(|term| wish(term, REQUIRED_WEIGHT));
            }
            side.preferred.iter().for_each(|it| wish(&it.pod_affinity_term, sign * i64::from(it.weight)));
        }
    }
    for (at, key, weight) in wishes {
        liked.extend(Term::of_group(snapshot, at, &key).map(|term| (term, weight)));
    }
    if liked.is_empty() {
        return None;
    }
    let score = |node: &usize| {
        let all = liked.iter().filter(|(term, _)| term.domains.at(*node) != NOWHERE);
        all.map(|(term, weight)| i64::from(term.at(*node).unwrap_or(0)) * weight).sum()
    };
    Some(feasible.iter().map(score).collect())
}
