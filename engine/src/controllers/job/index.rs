//! The numbers of an Indexed Job's pods, and which of them have succeeded or failed.
//!
//! Mirrors `pkg/controller/job/indexed_job_utils.go`, v1.36.

use std::rc::Rc;

use serde_json::json;

use crate::api::{Pod, PodSpec};
use crate::sim::Set;

pub const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";
const VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// Reads `0,2-5`; numbers that are no longer asked for are left out.
pub fn read(text: &str, completions: i32) -> Set<i32> {
    let mut all = Set::default();
    for span in text.split(',') {
        let mut ends = span.split('-').map(str::parse::<i32>);
        let Some(Ok(first)) = ends.next() else { continue };
        let last = match ends.next() {
            Some(Ok(last)) => last,
            Some(Err(_)) => continue,
            None => first,
        };
        for index in first..=last.min(completions - 1) {
            all.add(index);
        }
    }
    all
}

/// Writes `0,2-5`: two in a row are no span yet.
pub fn write(all: &Set<i32>) -> String {
    let mut spans: Vec<(i32, i32)> = Vec::new();
    for index in all.keys() {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => spans.push((*index, *index)),
        }
    }
    let mut text = String::new();
    for (first, last) in spans {
        let comma = if text.is_empty() { "" } else { "," };
        text.push_str(&match last - first {
            0 => format!("{comma}{first}"),
            1 => format!("{comma}{first},{last}"),
            _ => format!("{comma}{first}-{last}"),
        });
    }
    text
}

fn number(pod: &Pod, annotation: &str) -> Option<i32> {
    pod.metadata.annotations.get(annotation)?.parse().ok().filter(|number| *number >= 0)
}

/// A pod's number, where it is one that is asked for.
pub fn of(pod: &Pod, completions: i32) -> Option<i32> {
    number(pod, INDEX).filter(|index| *index < completions)
}

/// How often pods of this number failed before this one: those that count, and all.
pub fn failures(pod: &Pod) -> (i32, i32) {
    let counted = number(pod, FAILURES).unwrap_or(0);
    (counted, counted.saturating_add(number(pod, IGNORED).unwrap_or(0)))
}

/// The lowest numbers that are not taken.
pub fn first_pending(taken: &Set<i32>, count: i32, completions: i32) -> Vec<i32> {
    let free = (0..completions).filter(|index| !taken.contains(index));
    free.take(usize::try_from(count).unwrap_or(0)).collect()
}

/// Pods that are one too many for their number, or have none that is asked for; and the rest.
pub fn split_doubles(
    active: &[Rc<Pod>],
    completions: i32,
    victims: impl Fn(&[Rc<Pod>]) -> Vec<Rc<Pod>>,
) -> (Vec<Rc<Pod>>, Vec<Rc<Pod>>) {
    let mut by_index: crate::sim::Map<i32, Vec<Rc<Pod>>> = crate::sim::Map::default();
    let mut surplus = Vec::new();
    for pod in active {
        match of(pod, completions) {
            Some(index) => by_index.or_default(index).push(Rc::clone(pod)),
            None => surplus.push(Rc::clone(pod)),
        }
    }
    let mut rest = Vec::new();
    for pods in by_index.values() {
        let gone = if pods.len() > 1 { victims(pods) } else { Vec::new() };
        rest.extend(pods.iter().filter(|pod| !gone.iter().any(|it| Rc::ptr_eq(it, pod))).cloned());
        surplus.extend(gone);
    }
    (surplus, rest)
}

/// Gives a new pod its number: in its name, host name, annotation and label, and in its containers' environment.
pub fn mark(pod: &mut Pod, job: &str, index: i32, failures: Option<(i32, i32)>) {
    let meta = &mut pod.metadata;
    meta.generate_name = format!("{job}-{index}-").into();
    meta.annotations.insert(INDEX.into(), index.to_string());
    meta.labels.insert(INDEX.into(), index.to_string());
    if let Some((counted, all)) = failures {
        meta.annotations.insert(FAILURES.into(), counted.to_string());
        if all > counted {
            meta.annotations.insert(IGNORED.into(), (all - counted).to_string());
        }
    }
    let spec: &mut PodSpec = Rc::make_mut(&mut pod.spec);
    spec.extra.insert("hostname".into(), format!("{job}-{index}").into());
    let field = json!({ "apiVersion": "v1", "fieldPath": format!("metadata.labels['{INDEX}']") });
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        let variables = container.extra.or_insert_with("env", || json!([]));
        let Some(variables) = variables.as_array_mut() else { continue };
        if !variables.iter().any(|it| it.get("name").is_some_and(|name| name == VARIABLE)) {
            variables.push(json!({ "name": VARIABLE, "valueFrom": { "fieldRef": field.clone() } }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_and_read_as_kubernetes_does() {
        for (text, indexes) in
            [("", &[][..]), ("0", &[0]), ("0,1", &[0, 1]), ("0-2", &[0, 1, 2]), ("1,3-5,7,8", &[1, 3, 4, 5, 7, 8])]
        {
            let all: Set<i32> = indexes.iter().map(|index| (*index, ())).collect();
            assert_eq!(write(&all), text);
            assert_eq!(read(text, 10).keys().copied().collect::<Vec<_>>(), indexes, "{text}");
        }
        assert_eq!(write(&read("0-9", 4)), "0-3", "completions were lowered");
        assert_eq!(write(&read("x,2", 4)), "2");
    }

    #[test]
    fn the_lowest_free_numbers_come_first() {
        assert_eq!(first_pending(&read("0,2", 6), 2, 6), [1, 3]);
        assert_eq!(first_pending(&read("0-4", 6), 3, 6), [5]);
    }
}
