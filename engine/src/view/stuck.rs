//! What keeps workloads from what is wanted where nothing is under way that could change it.
//!
//! All of it is read from what the API server says: conditions, waiting reasons, nodes that are not ready. Only that a
//! process is stopped is known of the world.

use super::pods::classify_on;
use super::workloads::Workload;
use super::{PodClass, Stuck};
use crate::api::{Condition, ContainerState, Name, Object, Pod, condition};
use crate::sim::sort_by;
use crate::world::{ProcessKind, Simulation};

/// A container that failed so often is not about to become ready.
const CRASHES: i32 = 2;

/// What holds some pods up, the gravest first: of equally many pods that one is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hold<'a> {
    NoNode(&'static str),
    Stopped(&'static str),
    Refused(&'a str),
    Unfit(&'a str),
    Image(&'a str),
    Crashes,
    Silent,
    Paused(&'a str),
}

/// What is found of the pods of some workloads.
#[derive(Default)]
pub struct Holds<'a> {
    found: Vec<(Hold<'a>, usize)>,
}

/// What of the world each workload's pods depend on.
pub struct Ground<'a> {
    simulation: &'a Simulation,
    silent: &'a [&'a Name],
    /// Why no node takes pods; nothing where one does.
    no_node: Option<&'static str>,
    is_manager_up: bool,
    is_scheduler_up: bool,
}

impl<'a> Ground<'a> {
    pub fn new(simulation: &'a Simulation, silent: &'a [&'a Name]) -> Self {
        let is_up = |kind| simulation.processes().iter().any(|process| process.kind == kind && process.is_up);
        Self {
            simulation,
            silent,
            no_node: no_node(simulation),
            is_manager_up: is_up(ProcessKind::ControllerManager),
            is_scheduler_up: is_up(ProcessKind::Scheduler),
        }
    }

    fn is_silent(&self, pod: &Pod) -> bool {
        self.silent.contains(&&pod.spec.node_name)
    }
}

fn no_node(simulation: &Simulation) -> Option<&'static str> {
    let (mut n, mut n_silent) = (0, 0);
    for (node, _) in simulation.api().objects().nodes() {
        match node.readiness() {
            "True" => return None,
            readiness => n_silent += usize::from(readiness == "Unknown"),
        }
        n += 1;
    }
    Some(match n {
        0 => "there is no node",
        _ if n == n_silent => "no node answers",
        _ => "no node is ready",
    })
}

impl<'a> Holds<'a> {
    fn add(&mut self, hold: Hold<'a>, n: usize) {
        match self.found.iter_mut().find(|(known, _)| *known == hold) {
            Some((_, known)) => *known += n,
            None => self.found.push((hold, n)),
        }
    }

    /// Adds what holds a workload up that is not as it should be. Returns whether it is stuck: something does, and
    /// nothing else is under way, or it says itself that it got nowhere.
    pub fn look(&mut self, ground: &Ground<'a>, workload: &Workload<'a>) -> bool {
        let mut mine = Self::default();
        let mut is_moving = false;
        let mut n_active = 0;
        for pod in workload.pods(ground.simulation) {
            n_active += i32::from(pod.is_active());
            match hold_of(ground, pod) {
                Pace::Rests => {}
                Pace::Moves => is_moving = true,
                Pace::Held(hold) => mine.add(hold, 1),
            }
            // Whatever else there is, it may yet get on.
            if is_moving && !workload.is_stuck {
                return false;
            }
        }
        mine.of_workload(ground, workload, n_active);
        let is_stuck = workload.is_stuck || !mine.found.is_empty();
        if is_stuck {
            mine.found.into_iter().for_each(|(hold, n)| self.add(hold, n));
        }
        is_stuck
    }

    /// What holds up the pods that are not there yet, or the workload as a whole.
    fn of_workload(&mut self, ground: &Ground<'_>, workload: &Workload<'a>, n_active: i32) {
        let n_missing = usize::try_from(workload.wants - n_active).unwrap_or(0);
        if !ground.is_manager_up && (n_missing > 0 || n_active > workload.wants || !workload.is_current) {
            self.add(Hold::Stopped("the controllers are stopped"), n_missing.max(1));
        } else if let Some(refusal) = refused(workload.object) {
            self.add(Hold::Refused(refusal), n_missing.max(1));
        }
        if let Object::Deployment(it) = workload.object
            && it.spec.paused
            && !workload.is_current
            && self.found.is_empty()
        {
            self.add(Hold::Paused(&it.metadata.name), 1);
        }
    }

    /// The gravest of what holds most pods up, in words; what a workload says of itself where nothing was found.
    pub fn said(mut self, workload: &Workload<'_>) -> Option<Stuck> {
        sort_by(&mut self.found, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        match self.found.into_iter().next() {
            Some((hold, n)) => Some(hold.said(n)),
            None => Some(Stuck { why: own_word(workload.object), remedy: "" }),
        }
    }
}

/// Whether a pod is on its way to what is wanted of it.
enum Pace<'a> {
    Rests,
    Moves,
    Held(Hold<'a>),
}

fn hold_of<'a>(ground: &Ground<'_>, pod: &'a Pod) -> Pace<'a> {
    let is_silent = ground.is_silent(pod);
    if pod.is_terminating() {
        // Its end makes room, unless nobody is there to report it.
        return match is_silent || pod.is_finished() {
            true => Pace::Rests,
            false => Pace::Moves,
        };
    }
    if pod.is_finished() {
        return Pace::Rests;
    }
    if !pod.is_assigned() {
        return waits(ground, pod);
    }
    match classify_on(pod, is_silent) {
        PodClass::Ready | PodClass::Completed => Pace::Rests,
        PodClass::Unknown => match ground.no_node {
            Some(why) => Pace::Held(Hold::NoNode(why)),
            None if stays_for_good(pod) => Pace::Held(Hold::Silent),
            None => Pace::Moves,
        },
        PodClass::ImageError => Pace::Held(Hold::Image(image(pod))),
        PodClass::CrashLoop => Pace::Held(Hold::Crashes),
        _ if pod.restarts() >= CRASHES => Pace::Held(Hold::Crashes),
        _ => Pace::Moves,
    }
}

/// A pod without a node.
fn waits<'a>(ground: &Ground<'_>, pod: &'a Pod) -> Pace<'a> {
    let hold = match (ground.no_node, unschedulable(pod)) {
        (Some(why), Some(_)) => Hold::NoNode(why),
        // Pods that are worth less are being removed for it.
        (_, Some(_)) if !pod.status.nominated_node_name.is_empty() => return Pace::Moves,
        (None, Some(message)) => Hold::Unfit(main_reason(message)),
        (_, None) if !ground.is_scheduler_up => Hold::Stopped("the scheduler is stopped"),
        (_, None) => return Pace::Moves,
    };
    Pace::Held(hold)
}

/// What the scheduler says of a pod that fits nowhere.
fn unschedulable(pod: &Pod) -> Option<&str> {
    let scheduled = condition(&pod.status.conditions, "PodScheduled")?;
    (!pod.is_assigned() && scheduled.reason == "Unschedulable").then_some(&*scheduled.message)
}

/// Why pods are on no node: what the scheduler says of the first that fits nowhere, or that their node is gone.
pub fn homeless_because<'a>(pods: impl Iterator<Item = &'a Pod>) -> Option<String> {
    let mut is_lost = false;
    for pod in pods {
        if let Some(message) = unschedulable(pod) {
            return Some(message.to_owned());
        }
        is_lost |= pod.is_assigned();
    }
    is_lost.then(|| "A pod whose node is gone is deleted by the pod collector.".into())
}

/// `Insufficient cpu`, of `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable. preemption: ...`:
/// what is the matter with most nodes.
fn main_reason(message: &str) -> &str {
    let said = message.split_once(": ").map_or(message, |(_, said)| said);
    let said = said.split_once(". ").map_or(said, |(said, _)| said).trim_end_matches('.');
    let parts = said.split(", ").map(|part| {
        let counted = part.split_once(' ').and_then(|(n, reason)| Some((n.parse::<u32>().ok()?, reason)));
        counted.unwrap_or((0, part))
    });
    parts.reduce(|a, b| if b.0 > a.0 { b } else { a }).map_or(said, |(_, reason)| reason)
}

/// It is never evicted from a node that has fallen silent, as a DaemonSet's pods are not.
fn stays_for_good(pod: &Pod) -> bool {
    let is_meant = |key: &str| key.is_empty() || key == "node.kubernetes.io/unreachable";
    pod.spec
        .tolerations
        .iter()
        .any(|it| is_meant(&it.key) && it.operator == "Exists" && it.toleration_seconds.is_none())
}

/// The image of the first container that waits for one.
fn image(pod: &Pod) -> &str {
    let waits = |name: &str| {
        let mut all = pod.statuses();
        all.any(|it| *it.name == *name && matches!(it.state, ContainerState::Waiting(_)))
    };
    let containers = pod.spec.init_containers.iter().chain(&pod.spec.containers);
    containers.into_iter().find(|it| waits(&it.name)).map_or("its image", |it| &it.image)
}

/// What the API server refuses: `exceeded quota: compute`.
fn refused(object: &Object) -> Option<&str> {
    let conditions: &[Condition] = match object {
        Object::Deployment(it) => &it.status.conditions,
        Object::ReplicaSet(it) => &it.status.conditions,
        _ => return None,
    };
    let message = &*condition(conditions, "ReplicaFailure").filter(|it| it.is_true())?.message;
    let from =
        message.find("exceeded quota").or_else(|| message.find("forbidden: ").map(|at| at + "forbidden: ".len()));
    let said = message.get(from.unwrap_or(0)..).unwrap_or(message);
    Some(said.split_once(", ").map_or(said, |(said, _)| said))
}

/// `no progress within 600 s`, `Job pi failed, BackoffLimitExceeded`
fn own_word(object: &Object) -> String {
    match object {
        Object::Deployment(it) => match it.spec.progress_deadline_seconds {
            Some(seconds) => ["no progress within ", &seconds.to_string(), " s"].concat(),
            None => "no progress".into(),
        },
        Object::Job(it) => {
            let failed = condition(&it.status.conditions, "Failed");
            let reason = failed.map_or("", |it| it.reason.as_str());
            ["Job ", &it.metadata.name, " failed, ", reason].concat()
        }
        _ => String::new(),
    }
}

impl Hold<'_> {
    fn said(self, n: usize) -> Stuck {
        let pods = |one: &str, many: &str| match n {
            1 => ["1 pod ", one].concat(),
            n => [&n.to_string(), " pods ", many].concat(),
        };
        let (why, remedy) = match self {
            Hold::NoNode(why) => (why.into(), "Restore a node or add one."),
            Hold::Stopped(why) => (why.into(), "Start it again."),
            Hold::Refused(said) => (pods("refused, ", "refused, ") + said, refusal_remedy(said)),
            Hold::Unfit(said) => (pods("fits no node, ", "fit no node, ") + said, room_remedy(said)),
            Hold::Image(image) => {
                (pods("cannot pull ", "cannot pull ") + image, "Set an image that exists, or roll back.")
            }
            Hold::Crashes => (pods("keeps crashing", "keep crashing"), "Set an image that runs, or roll back."),
            Hold::Silent => {
                (pods("is on a node that does not answer", "are on nodes that do not answer"), "Restore the node.")
            }
            Hold::Paused(name) => ([name, " is paused"].concat(), "Set spec.paused to false."),
        };
        Stuck { why, remedy }
    }
}

fn refusal_remedy(said: &str) -> &'static str {
    if said.starts_with("exceeded quota") { "Raise the quota or scale down." } else { "" }
}

fn room_remedy(said: &str) -> &'static str {
    match said {
        "node(s) were unschedulable" => "Uncordon a node or add one.",
        _ if said.starts_with("Insufficient ") || said == "Too many pods" => "Add a node, scale down or ask for less.",
        _ => "Add a node that fits.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_matter_with_most_nodes_is_told() {
        let said = "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu. preemption: 0/4 nodes are \
                    available: 1 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod.";
        assert_eq!(main_reason(said), "Insufficient cpu");
        assert_eq!(
            main_reason("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."),
            "Insufficient nvidia.com/gpu"
        );
        assert_eq!(main_reason("no nodes available to schedule pods"), "no nodes available to schedule pods");
    }
}
