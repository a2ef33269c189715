//! Which endpoints go into which slice, as a function of plain values.
//!
//! Mirrors `staging/src/k8s.io/endpointslice/reconciler.go`, v1.36: endpoints stay in the slice they are in, new ones
//! fill slices that are written anyway, then one that has room, then new slices.

use crate::api::{Endpoint, Name};
use crate::sim::Map;

/// `--max-endpoints-per-slice`
pub const CAPACITY: usize = 100;

/// What becomes of a Service's slices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arrangement {
    /// Places of the slices that change, and what they will hold.
    pub updated: Vec<(usize, Vec<Endpoint>)>,
    pub created: Vec<Vec<Endpoint>>,
    pub deleted: Vec<usize>,
}

fn pod_name(endpoint: &Endpoint) -> Option<&Name> {
    endpoint.target_ref.as_ref().map(|target| &target.name)
}

/// Spreads the wanted endpoints, by the names of their pods, over the slices that there are.
pub fn arrange(existing: &[&[Endpoint]], mut wanted: Map<Name, Endpoint>) -> Arrangement {
    let mut kept: Vec<(Vec<Endpoint>, bool)> = Vec::new();
    for slice in existing {
        let mut changed = false;
        let mut stays = Vec::new();
        for endpoint in *slice {
            match pod_name(endpoint).and_then(|name| wanted.remove(name)) {
                Some(new) => {
                    changed |= new != *endpoint;
                    stays.push(new);
                }
                None => changed = true,
            }
        }
        kept.push((stays, changed));
    }
    let mut rest: Vec<Endpoint> = wanted.into_values();
    let room = |slice: &Vec<Endpoint>| CAPACITY.saturating_sub(slice.len());
    for (slice, _) in kept.iter_mut().filter(|(_, changed)| *changed) {
        let count = room(slice).min(rest.len());
        slice.extend(rest.drain(..count));
    }
    let fits = |(slice, changed): &&mut (Vec<Endpoint>, bool)| !changed && room(slice) >= rest.len();
    if !rest.is_empty()
        && let Some((slice, changed)) = kept.iter_mut().filter(fits).max_by_key(|(slice, _)| slice.len())
    {
        slice.append(&mut rest);
        *changed = true;
    }
    let mut arrangement = Arrangement::default();
    while !rest.is_empty() {
        let later = rest.split_off(rest.len().min(CAPACITY));
        arrangement.created.push(std::mem::replace(&mut rest, later));
    }
    let total = kept.iter().map(|(slice, _)| slice.len()).sum::<usize>() + arrangement.created.len();
    for (place, (slice, changed)) in kept.into_iter().enumerate() {
        // An empty slice goes, but a Service without endpoints keeps its first.
        if slice.is_empty() && (total > 0 || place > 0) {
            arrangement.deleted.push(place);
        } else if changed {
            arrangement.updated.push((place, slice));
        }
    }
    if existing.is_empty() && arrangement.created.is_empty() {
        arrangement.created.push(Vec::new());
    }
    arrangement
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TargetRef;

    fn endpoint(number: usize) -> Endpoint {
        let target = TargetRef { name: format!("pod-{number:03}").as_str().into(), ..TargetRef::default() };
        Endpoint { target_ref: Some(target), ..Endpoint::default() }
    }

    fn wanted(numbers: std::ops::Range<usize>) -> Map<Name, Endpoint> {
        numbers.map(|number| (format!("pod-{number:03}").as_str().into(), endpoint(number))).collect()
    }

    fn slice(numbers: std::ops::Range<usize>) -> Vec<Endpoint> {
        numbers.map(endpoint).collect()
    }

    #[test]
    fn a_service_without_pods_has_one_empty_slice() {
        let arranged = arrange(&[], Map::default());
        assert_eq!(arranged.created, [Vec::new()]);
        assert_eq!(arrange(&[&[]], Map::default()), Arrangement::default());
    }

    #[test]
    fn a_hundred_endpoints_fill_a_slice() {
        let arranged = arrange(&[], wanted(0..250));
        assert_eq!(arranged.created.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 50]);
    }

    #[test]
    fn endpoints_stay_where_they_are_and_new_ones_take_free_room() {
        let (first, second) = (slice(0..100), slice(100..150));
        let arranged = arrange(&[&first, &second], wanted(0..151));
        assert_eq!(arranged.updated, [(1, slice(100..151))], "the full one is not written");
        let arranged = arrange(&[&first, &second], wanted(1..150));
        assert_eq!(arranged.updated, [(0, slice(1..100))]);
        assert_eq!(arrange(&[&first, &second], wanted(0..150)), Arrangement::default());
    }

    #[test]
    fn an_emptied_slice_goes_unless_it_is_the_last() {
        let (first, second) = (slice(0..100), slice(100..150));
        assert_eq!(arrange(&[&first, &second], wanted(0..100)).deleted, [1]);
        let arranged = arrange(&[&first, &second], Map::default());
        assert_eq!((arranged.updated.len(), arranged.deleted), (1, vec![1]));
    }
}
