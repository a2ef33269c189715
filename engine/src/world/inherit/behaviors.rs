//! How the images of a cluster behave, as far as the statuses of its pods tell.

use crate::api::{ContainerState, ContainerStatus, Object, ObjectKey, Pod};
use crate::dump::Cluster;
use crate::environment::{Behavior, Behaviors};
use crate::sim::Map;

/// What a scenario may describe.
const MOST: usize = 1_000;
/// A run that ends is not shorter or longer than this, in ms.
const RUNS: std::ops::RangeInclusive<i64> = 500..=3_600_000;

/// What a container's status tells of its image.
enum Tells {
    /// It runs, or has ended well.
    Sane,
    /// It keeps ending.
    Ends(Behavior),
    Missing,
    Nothing,
}

/// The images that nobody has ever seen run are as they are: they cannot be had, or end again and again. Where only some
/// pods of an image keep ending, it is they that do.
pub fn behaviors_of(cluster: &Cluster) -> Behaviors {
    let mut images: Map<String, Option<Behavior>> = Map::default();
    let mut single: Vec<(ObjectKey, String, Behavior)> = Vec::new();
    for object in cluster.objects() {
        let Object::Pod(pod) = object else { continue };
        if pod.is_terminating() {
            continue;
        }
        for spec in &pod.spec.containers {
            let Some(status) = pod.status.container_statuses.iter().find(|it| it.name == spec.name) else { continue };
            let found = match tells(&pod, &spec.image, status) {
                Tells::Sane => None,
                Tells::Ends(behavior) => {
                    if pod.spec.containers.len() == 1 {
                        single.push((Object::Pod(pod.clone()).key(), spec.image.clone(), behavior));
                    }
                    Some(behavior)
                }
                Tells::Missing => Some(Behavior { is_missing: true, ..Behavior::usual(&spec.image) }),
                Tells::Nothing => continue,
            };
            let known = images.or_insert_with(spec.image.clone(), || found);
            // One that runs anywhere is sane.
            *known = known.and(found).and(*known);
        }
    }
    let mut all = Behaviors::default();
    for (image, behavior) in images.iter().filter_map(|(image, it)| Some((image, (*it)?))).take(MOST) {
        all.0.insert(image.clone(), behavior);
    }
    for (key, image, behavior) in single {
        if all.0.len() < MOST && !all.0.contains_key(&image) {
            all.0.insert(Behaviors::pod(&key), behavior);
        }
    }
    all
}

fn tells(pod: &Pod, image: &str, status: &ContainerStatus) -> Tells {
    match (&status.state, &status.last_state) {
        (ContainerState::Running(_), _) => Tells::Sane,
        (ContainerState::Terminated(ended), _) if ended.exit_code == 0 => Tells::Sane,
        (ContainerState::Waiting(it), _) if matches!(it.reason.as_str(), "ErrImagePull" | "ImagePullBackOff") => {
            Tells::Missing
        }
        (ContainerState::Terminated(ended), _)
        | (ContainerState::Waiting(_), Some(ContainerState::Terminated(ended)))
            if !pod.is_finished() =>
        {
            let ms = (ended.finished_at.millis() - ended.started_at.millis()).clamp(*RUNS.start(), *RUNS.end());
            let exit = Some((u64::try_from(ms).unwrap_or(0), ended.exit_code));
            let is_oom = ended.reason == "OOMKilled";
            Tells::Ends(Behavior { exit, is_oom, ..Behavior::usual(image) })
        }
        _ => Tells::Nothing,
    }
}
