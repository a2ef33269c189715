//! The kubelet's sentences, and its Events with Kubernetes' own words (`pkg/kubelet/events/event.go`, v1.36).

use super::decide::Work;
use super::memory::{Noticed, spec_of};
use super::probes::ProbeKind;
use super::status::{pod_ip, pull_error};
use super::{RECORDER, normal};
use crate::api::{ContainerState, IntOrPercent, Name, ObjectKey, Pod, PodStatus, Probe};
use crate::apiserver::EventDraft;
use crate::client::{Arg, ContainerRecord, Facts, PodRecord};
use crate::note;
use crate::sim::Time;

/// What was observed of a pod.
pub fn observed(key: &ObjectKey, pod: Option<&std::rc::Rc<Pod>>, record: Option<&PodRecord>) -> Facts {
    let name = Arg::Short(key.name.clone());
    let facts: Facts = match pod {
        None => note!("**{}** is gone from the API", name).into(),
        Some(pod) if pod.is_terminating() => note!("**{}** is to stop", name).into(),
        Some(pod) if pod.is_finished() => note!("**{}** has finished", name).into(),
        Some(_) => note!("**{}** is bound here", name).into(),
    };
    let containers = record.map(|record| record.containers.as_slice()).unwrap_or_default();
    let up = containers.iter().filter(|container| container.is_up()).count();
    facts.with(match containers.len() {
        0 => note!("no container here"),
        n => note!("{} of {} containers run", up, n),
    })
}

/// What differs.
pub fn difference(works: &[Work]) -> Facts {
    let with = |facts: Facts, detail| facts.with(detail);
    match works.first() {
        Some(Work::Create { containers, .. }) => {
            let n = containers.len();
            let word = if n == 1 { "container" } else { "containers" };
            with(note!("**{} − 0 = +{}** {}", n, n, word).into(), note!("nothing of it is here"))
        }
        Some(Work::Pull(_, image)) => with(note!("image is **missing**").into(), note!("{}", image)),
        Some(Work::Start { container, restart: false, .. }) => {
            with(note!("**{}** does not run", container).into(), note!("its image is here"))
        }
        Some(Work::Start { container, .. }) => {
            with(note!("**{}** has exited", container).into(), note!("it is to run again"))
        }
        Some(Work::Kill { container, probe, .. }) => {
            with(note!("**{}** runs, but is not well", container).into(), note!("{} probe failed", probe.word()))
        }
        Some(Work::Stop { .. }) => with(note!("runs, should **not**").into(), note!("its grace period begins")),
        Some(Work::Delete) => with(note!("all containers have **stopped**").into(), note!("the pod can go")),
        Some(Work::Remove) => with(note!("left over, should **not** be").into(), note!("the pod is gone")),
        None => note!("containers as asked").into(),
    }
}

/// What is done, and the word of the status that is reported with it.
pub fn deed(key: &ObjectKey, works: &[Work], word: Option<&'static str>) -> Facts {
    // Room for the pod is made in passing.
    let work = works.iter().find(|work| !matches!(work, Work::Create { .. })).or(works.first());
    let facts: Facts = match work {
        Some(Work::Create { .. }) => note!("prepare the pod").into(),
        Some(Work::Pull(_, image)) => note!("pull **{}**", image).into(),
        Some(Work::Start { container, .. }) => note!("start **{}**", container).into(),
        Some(Work::Kill { container, .. }) => note!("end **{}**", container).into(),
        Some(Work::Stop { grace, .. }) => {
            let facts: Facts = note!("stop **{}**", Arg::Short(key.name.clone())).into();
            return facts.with(note!("SIGTERM, {} of grace", Arg::Millis(grace.0)));
        }
        Some(Work::Remove) => note!("remove what is left").into(),
        Some(Work::Delete) | None => note!("report **{}**", word.unwrap_or("nothing new")).into(),
    };
    match word {
        Some(_) => facts.with(note!("PATCH pods/status")),
        None => facts,
    }
}

/// The Events that a piece of work publishes as it begins.
pub fn work_events(key: &ObjectKey, record: Option<&PodRecord>, work: &Work) -> Vec<EventDraft> {
    match work {
        Work::Pull(_, image) => vec![normal(key, "Pulling", format!("Pulling image \"{image}\""))],
        Work::Start { image, pulled_in, .. } => vec![
            normal(key, "Pulled", pulled_message(image, *pulled_in)),
            normal(key, "Created", "Container created".into()),
        ],
        Work::Kill { container, probe, anew, .. } => {
            let what = if *anew { ", will be restarted" } else { "" };
            vec![normal(key, "Killing", format!("Container {container} failed {} probe{what}", probe.word()))]
        }
        Work::Stop { .. } => {
            let up = record.into_iter().flat_map(|record| record.containers.iter().filter(|it| it.is_up()));
            up.map(|it| normal(key, "Killing", format!("Stopping container {}", it.name))).collect()
        }
        Work::Create { .. } | Work::Delete | Work::Remove => Vec::new(),
    }
}

/// A span as Go writes it.
fn span(ms: u64) -> String {
    if ms == 0 {
        return "0s".into();
    }
    if ms < 1000 {
        return format!("{ms}ms");
    }
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn pulled_message(image: &str, pulled_in: Option<u64>) -> String {
    match pulled_in {
        // The size is made up: as if 40 MB came in a second.
        Some(ms) => format!(
            "Successfully pulled image \"{image}\" in {} ({} including waiting). Image size: {} bytes.",
            span(ms),
            span(ms),
            ms * 40_000
        ),
        None => format!("Container image \"{image}\" already present on machine and can be accessed by the pod"),
    }
}

/// The Events that tell what was noticed about a container.
pub fn events(key: &ObjectKey, pod: &Pod, record: &PodRecord, container: &Name, noticed: &Noticed) -> Vec<EventDraft> {
    let Some(found) = record.containers.iter().find(|it| it.name == *container) else { return Vec::new() };
    let image = &found.image;
    match noticed {
        Noticed::Started => vec![normal(key, "Started", "Container started".into())],
        Noticed::ProbeFailed(kind, at) => {
            let spec = spec_of(pod, container);
            let probe = spec.and_then(|spec| match kind {
                ProbeKind::Startup => spec.startup_probe.as_ref(),
                ProbeKind::Liveness => spec.liveness_probe.as_ref(),
                ProbeKind::Readiness => spec.readiness_probe.as_ref(),
            });
            let Some(probe) = probe else { return Vec::new() };
            let name = match kind {
                ProbeKind::Startup => "Startup",
                ProbeKind::Liveness => "Liveness",
                ProbeKind::Readiness => "Readiness",
            };
            let message = format!("{name} probe failed: {}", probe_output(pod, probe, found, *at));
            vec![RECORDER.warning(key, "Unhealthy", message)]
        }
        Noticed::BackOffRestart => {
            let pod = format!("{}_{}({})", key.name, key.namespace, pod.metadata.uid);
            let message = format!("Back-off restarting failed container {container} in pod {pod}");
            vec![RECORDER.warning(key, "BackOff", message)]
        }
        Noticed::PullFailed => vec![
            RECORDER.warning(
                key,
                "Failed",
                format!("Failed to pull image \"{image}\": rpc error: code = NotFound desc = {}", pull_error(image)),
            ),
            RECORDER.warning(key, "Failed", "Error: ErrImagePull".into()),
        ],
        Noticed::BackOffPull => vec![
            normal(key, "BackOff", format!("Back-off pulling image \"{image}\"")),
            RECORDER.warning(key, "Failed", "Error: ImagePullBackOff".into()),
        ],
    }
}

/// What a probe hears from a program that does not answer well: nobody listens yet, it hangs, or it says no.
fn probe_output(pod: &Pod, probe: &Probe, container: &ContainerRecord, at: Time) -> String {
    let answers = &container.answers;
    let hangs = answers.hangs_from.is_some_and(|from| at >= from);
    let listens = at >= answers.serves_from;
    let port = match probe.port() {
        Some(IntOrPercent::Int(port)) => port.to_string(),
        _ => "80".into(),
    };
    let address = format!("{}:{port}", pod_ip(pod));
    let http = probe.extra.get("httpGet");
    let path = || http.and_then(|http| http.get("path")).and_then(|path| path.as_str()).unwrap_or("/");
    match (http.is_some(), probe.extra.contains_key("tcpSocket")) {
        (true, _) if hangs => format!(
            "Get \"http://{address}{}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
            path()
        ),
        (true, _) if !listens => {
            format!("Get \"http://{address}{}\": dial tcp {address}: connect: connection refused", path())
        }
        (true, _) => "HTTP probe failed with statuscode: 503".into(),
        (_, true) if hangs => format!("dial tcp {address}: i/o timeout"),
        (_, true) => format!("dial tcp {address}: connect: connection refused"),
        _ => "probe says no".into(),
    }
}

/// Containers that the kubelet newly says it may not start for want of an image.
pub fn refusals(key: &ObjectKey, pod: &Pod, status: &PodStatus) -> Vec<EventDraft> {
    const NEVER: &str = "ErrImageNeverPull";
    let message = |state: &ContainerState| match state {
        ContainerState::Waiting(waiting) if waiting.reason == NEVER => Some(waiting.message.to_string()),
        _ => None,
    };
    let known = pod.statuses().any(|it| message(&it.state).is_some());
    let new = status.init_container_statuses.iter().chain(&status.container_statuses);
    let Some(text) = new.filter_map(|it| message(&it.state)).next().filter(|_| !known) else { return Vec::new() };
    vec![RECORDER.warning(key, NEVER, text), RECORDER.warning(key, "Failed", format!("Error: {NEVER}"))]
}
