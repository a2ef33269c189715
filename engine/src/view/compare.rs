//! What is wanted of an object beside what is: pods, and the kinds that have their own way of counting.

use super::inspect::{fact, image_rows, pods_word, row};
use super::pods::{classify, reason};
use super::{CompareRow, Edit, Phrase, PodClass, status_word};
use crate::api::{
    Condition, ContainerState, DaemonSet, EndpointSlice, Job, Node, Object, Pod, Service, StatefulSet, condition,
};
use crate::world::Simulation;

pub fn pod(it: &Pod, node: Option<&Node>) -> (Vec<CompareRow>, Phrase) {
    let class = classify(it, node);
    let wanted_on = if it.is_assigned() { it.spec.node_name.to_string() } else { "any that fits".into() };
    let placed = if it.is_assigned() { it.spec.node_name.to_string() } else { "none yet".into() };
    let mut rows = vec![fact("node", wanted_on, placed, !it.is_assigned())];
    let is_fine = matches!(class, PodClass::Ready | PodClass::Completed);
    let status = if class == PodClass::Unknown { "Unknown".into() } else { status_word(it) };
    if class == PodClass::Completed {
        rows.push(fact("status", "Completed", status, false));
    } else {
        rows.push(fact("status", "Running", status, !is_fine && class != PodClass::NotReady));
        rows.push(fact("ready", "True", if it.is_ready() { "True" } else { "False" }, !it.is_ready()));
    }
    for container in &it.spec.containers {
        let status = it.status.container_statuses.iter().find(|status| status.name == container.name);
        let (is, is_off) = match status.map(|status| &status.state) {
            Some(ContainerState::Running(_)) => ("running".to_string(), false),
            Some(ContainerState::Waiting(waiting)) => (waiting.reason.to_string(), true),
            Some(ContainerState::Terminated(ended)) => {
                (format!("{}, code {}", ended.reason, ended.exit_code), class != PodClass::Completed)
            }
            None => ("not there".into(), true),
        };
        rows.push(fact(&container.name, container.image.clone(), is, is_off));
    }
    rows.push(fact("restarts", "0", it.restarts().to_string(), it.restarts() > 0));
    (rows, verdict(it, class).into())
}

/// A pod's state in a sentence, and the reason in the words of those who gave it.
fn verdict(pod: &Pod, class: PodClass) -> String {
    let said = |kind: &str| condition(&pod.status.conditions, kind).map(|it| it.message.as_str()).unwrap_or_default();
    let waits = || {
        pod.statuses().find_map(|status| match &status.state {
            ContainerState::Waiting(it) => Some(it.message.as_str()),
            _ => None,
        })
    };
    let (short, long) = match class {
        PodClass::Ready => ("As asked.", "It counts as ready."),
        PodClass::Completed => ("Completed.", "Its containers ended well and do not start again."),
        PodClass::Creating if reason(pod).starts_with("Init:") => ("Being made.", "Its init containers come first."),
        PodClass::Creating => ("Being made.", "Its node pulls the image and starts the containers."),
        PodClass::NotReady => ("Not ready.", said("Ready")),
        PodClass::Pending => ("Waits for a node.", said("PodScheduled")),
        PodClass::Terminating => ("On its way out.", "It no longer counts."),
        PodClass::Unknown if pod.is_terminating() => {
            ("Deleted.", "It stays until its node answers; it no longer counts.")
        }
        PodClass::Unknown => ("Unknown.", "Its node is silent; this is what was last heard."),
        PodClass::ImageError => ("Image error.", waits().unwrap_or_default()),
        PodClass::CrashLoop => ("Crash loop.", waits().unwrap_or_default()),
        PodClass::Failed if reason(pod) == "OOMKilled" => ("Failed.", "The kernel killed it for the memory it took."),
        PodClass::Failed if !pod.status.message.is_empty() => ("Failed.", &*pod.status.message),
        PodClass::Failed => ("Failed.", "A container ended with an error."),
    };
    format!("**{short}** {long}").trim_end().to_owned()
}

pub fn stateful_set(it: &StatefulSet) -> (Vec<CompareRow>, Phrase) {
    let (wanted, status) = (it.spec.replicas.unwrap_or(1), &it.status);
    let replicas = row("replicas", wanted.to_string(), status.replicas.to_string(), (wanted - status.replicas).into());
    let old = status.replicas - status.updated_replicas;
    let is = if old > 0 { format!("{} of older", pods_word(old)) } else { "same".into() };
    let mut rows = vec![
        CompareRow { edit: Some(Edit::Replicas(wanted)), ..replicas },
        count("ready", wanted, status.ready_replicas),
        count("updated", wanted, status.updated_replicas),
    ];
    rows.extend(image_rows(&it.spec.template.spec.containers, &is, old > 0));
    (rows, short_of(wanted, status.ready_replicas, old))
}

pub fn daemon_set(it: &DaemonSet) -> (Vec<CompareRow>, Phrase) {
    let status = &it.status;
    let wanted = status.desired_number_scheduled;
    let old = status.current_number_scheduled - status.updated_number_scheduled;
    let is = if old > 0 { format!("{} of older", pods_word(old)) } else { "same".into() };
    let mut rows = vec![
        count("one a node", wanted, status.current_number_scheduled),
        count("ready", wanted, status.number_ready),
        count("updated", wanted, status.updated_number_scheduled),
    ];
    if status.number_misscheduled > 0 {
        rows.push(fact("misplaced", "0", status.number_misscheduled.to_string(), true));
    }
    rows.extend(image_rows(&it.spec.template.spec.containers, &is, old > 0));
    (rows, short_of(wanted, status.number_ready, old))
}

fn count(field: &str, wanted: i32, is: i32) -> CompareRow {
    row(field, wanted.to_string(), is.to_string(), (wanted - is).into())
}

fn short_of(wanted: i32, ready: i32, old: i32) -> Phrase {
    match wanted - ready {
        0 if old > 0 => format!("**Rolling out.** {} of the old template to go.", pods_word(old)),
        0 => "**As asked.** Nothing to do.".into(),
        n if n > 0 => format!("**{} short.**", pods_word(n)),
        n => format!("**{} too many.**", pods_word(-n)),
    }
    .into()
}

pub fn job(it: &Job) -> (Vec<CompareRow>, Phrase) {
    let status = &it.status;
    let wanted = it.spec.completions.or(it.spec.parallelism).unwrap_or(1);
    let limit = it.spec.backoff_limit.unwrap_or(6);
    let at_once = it.spec.parallelism.unwrap_or(1);
    let mut rows = vec![
        count("completions", wanted, status.succeeded),
        fact("active", format!("at most {at_once}"), status.active.to_string(), false),
        fact("failed", format!("at most {limit}"), status.failed.to_string(), status.failed > limit),
    ];
    rows.extend(
        image_rows(&it.spec.template.spec.containers, "same", false)
            .into_iter()
            .map(|row| CompareRow { edit: None, ..row }),
    );
    let is = |kind: &str| condition(&status.conditions, kind).is_some_and(Condition::is_true);
    let verdict = match condition(&status.conditions, "Failed").filter(|it| it.is_true()) {
        Some(failed) => format!("**Failed.** {}", failed.message),
        None if is("Complete") => "**Completed.** Nothing to do.".into(),
        None if is("Suspended") => "**Suspended.** No pods run.".into(),
        None => format!("**{} to go.**", runs(wanted - status.succeeded)),
    };
    (rows, verdict.into())
}

fn runs(n: i32) -> String {
    if n == 1 { "1 run".into() } else { format!("{n} runs") }
}

pub fn service(simulation: &Simulation, it: &Service) -> (Vec<CompareRow>, Phrase) {
    let slices = simulation.api().objects().controlled_by(it.metadata.uid).filter_map(Object::as_endpoint_slice);
    let (mut all, mut ready) = (0, 0);
    for slice in slices {
        let (n, n_ready) = endpoints(slice);
        all += n;
        ready += n_ready;
    }
    let selects: Vec<String> = it.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let rows = vec![fact("selects", selects.join(", "), format!("{} ready", pods_word(ready)), all > ready)];
    let verdict = match ready {
        0 => "**Nobody serves it.**".into(),
        n => format!("**{}** of {all} would get its traffic.", pods_word(n)),
    };
    (rows, verdict.into())
}

/// Endpoints of a slice, and how many of them are ready.
fn endpoints(it: &EndpointSlice) -> (i32, i32) {
    let n = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let ready = it.endpoints.iter().filter(|endpoint| endpoint.conditions.ready);
    (n(it.endpoints.len()), n(ready.count()))
}

pub fn endpoint_slice(it: &EndpointSlice) -> (Vec<CompareRow>, Phrase) {
    let rows = it.endpoints.iter().map(|endpoint| {
        let who = endpoint.target_ref.as_ref().map_or("", |target| &target.name);
        let address = endpoint.addresses.first().map_or("", |it| it);
        let is = if endpoint.conditions.ready { "ready" } else { "not ready" };
        fact(address, who, is, !endpoint.conditions.ready)
    });
    let (all, ready) = endpoints(it);
    (rows.take(MAX_ENDPOINTS).collect(), format!("**{ready} of {all}** endpoints are ready.").into())
}

/// Endpoints that have a row of their own.
const MAX_ENDPOINTS: usize = 20;
