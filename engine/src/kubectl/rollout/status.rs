//! `kubectl rollout status`: a line for each change of the object until it is done
//! (`polymorphichelpers/rollout_status.go`, v1.36).

use serde_json::Value;

use super::super::value::{at, has, int, list, text};
use super::super::watch::Place;
use super::super::{Cluster, Context, Done, Failure, Output, Waiting, resource_of};
use crate::api::{Kind, Object, ObjectKey};
use crate::apiserver::ChangeKind;

pub fn status(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error("required resource not specified"));
    }
    let targets = super::targets(context)?;
    if targets.is_empty() && context.problems.is_empty() {
        let namespace = context.namespace();
        context.out.err(&super::super::get::nothing(true, &namespace).replace(".\n", "."));
        context.out.err("\n");
        return context.done();
    }
    for target in &targets {
        if !matches!(target.kind(), Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet) {
            let kind = target.kind();
            let name = [kind.name(), resource_of(kind).trim_start_matches(|c: char| c != '.')].concat();
            return Err(Failure::errors(&["no status viewer has been implemented for ", &name]));
        }
    }
    let until = context.args.duration("timeout").filter(|it| *it > 0).map(|it| context.now() + it);
    let revision = context.args.int("revision").unwrap_or(0);
    if revision > 0 {
        return Err(Failure::not_simulated("the flag --revision of rollout status", ""));
    }
    let mut rest: Vec<ObjectKey> = targets.iter().map(Object::key).collect();
    rest.reverse();
    if !context.problems.is_empty() {
        return context.done();
    }
    let place = Place::now(context.cluster);
    Ok(Done::Wait(Box::new(Status { rest, current: None, place, until, watches: context.args.is_or("watch", true) })))
}

struct Status {
    /// The objects to come, the next one last.
    rest: Vec<ObjectKey>,
    current: Option<ObjectKey>,
    place: Place,
    until: Option<i64>,
    watches: bool,
}

enum Look {
    Goes(String),
    Done(String),
    Failed(String),
}

fn condition<'a>(value: &'a Value, kind: &str) -> Option<&'a Value> {
    list(value, "status.conditions").iter().find(|it| text(it, "type") == kind)
}

fn look(object: &Object) -> Look {
    let value = object.to_value();
    match object.kind() {
        Kind::Deployment => deployment(&value),
        Kind::DaemonSet => daemon_set(&value),
        _ => stateful_set(&value),
    }
}

fn is_behind(value: &Value) -> bool {
    int(value, "metadata.generation") > int(value, "status.observedGeneration")
}

fn number(value: &Value, path: &str) -> (i64, String) {
    let it = int(value, path);
    (it, it.to_string())
}

fn deployment(value: &Value) -> Look {
    let name = text(value, "metadata.name");
    if is_behind(value) {
        return Look::Goes("Waiting for deployment spec update to be observed...\n".into());
    }
    if condition(value, "Progressing").is_some_and(|it| text(it, "reason") == "ProgressDeadlineExceeded") {
        return Look::Failed(["error: deployment \"", name, "\" exceeded its progress deadline\n"].concat());
    }
    let wait = ["Waiting for deployment \"", name, "\" rollout to finish: "].concat();
    let (wanted, n_wanted) = number(value, "spec.replicas");
    let (updated, n_updated) = number(value, "status.updatedReplicas");
    let (all, _) = number(value, "status.replicas");
    let (available, n_available) = number(value, "status.availableReplicas");
    if updated < wanted {
        return Look::Goes([&wait, &n_updated, " out of ", &n_wanted, " new replicas have been updated...\n"].concat());
    }
    if all > updated {
        let old = (all - updated).to_string();
        return Look::Goes([&wait, &old, " old replicas are pending termination...\n"].concat());
    }
    if available < updated {
        return Look::Goes([&wait, &n_available, " of ", &n_updated, " updated replicas are available...\n"].concat());
    }
    Look::Done(["deployment \"", name, "\" successfully rolled out\n"].concat())
}

fn daemon_set(value: &Value) -> Look {
    let name = text(value, "metadata.name");
    if text(value, "spec.updateStrategy.type") != "RollingUpdate" {
        return Look::Failed("error: rollout status is only available for RollingUpdate strategy type\n".into());
    }
    if is_behind(value) {
        return Look::Goes("Waiting for daemon set spec update to be observed...\n".into());
    }
    let wait = ["Waiting for daemon set \"", name, "\" rollout to finish: "].concat();
    let (wanted, n_wanted) = number(value, "status.desiredNumberScheduled");
    let (updated, n_updated) = number(value, "status.updatedNumberScheduled");
    let (available, n_available) = number(value, "status.numberAvailable");
    if updated < wanted {
        return Look::Goes([&wait, &n_updated, " out of ", &n_wanted, " new pods have been updated...\n"].concat());
    }
    if available < wanted {
        return Look::Goes([&wait, &n_available, " of ", &n_wanted, " updated pods are available...\n"].concat());
    }
    Look::Done(["daemon set \"", name, "\" successfully rolled out\n"].concat())
}

fn stateful_set(value: &Value) -> Look {
    if text(value, "spec.updateStrategy.type") != "RollingUpdate" {
        return Look::Failed("error: rollout status is only available for RollingUpdate strategy type\n".into());
    }
    if int(value, "status.observedGeneration") == 0 || is_behind(value) {
        return Look::Goes("Waiting for statefulset spec update to be observed...\n".into());
    }
    let (wanted, ready) = (int(value, "spec.replicas"), int(value, "status.readyReplicas"));
    let (updated, n_updated) = number(value, "status.updatedReplicas");
    if ready < wanted {
        return Look::Goes(["Waiting for ", &(wanted - ready).to_string(), " pods to be ready...\n"].concat());
    }
    let rolling = at(value, "spec.updateStrategy.rollingUpdate");
    if has(rolling, "partition") && int(rolling, "partition") > 0 {
        let goal = wanted - int(rolling, "partition");
        if updated < goal {
            return Look::Goes(
                [
                    "Waiting for partitioned roll out to finish: ",
                    &n_updated,
                    " out of ",
                    &goal.to_string(),
                    " new pods have been updated...\n",
                ]
                .concat(),
            );
        }
        return Look::Done(
            ["partitioned roll out complete: ", &n_updated, " new pods have been updated...\n"].concat(),
        );
    }
    if has(rolling, "partition") {
        if updated < wanted {
            return Look::Goes(
                [
                    "Waiting for partitioned roll out to finish: ",
                    &n_updated,
                    " out of ",
                    &wanted.to_string(),
                    " new pods have been updated...\n",
                ]
                .concat(),
            );
        }
        return Look::Done(
            ["partitioned roll out complete: ", &n_updated, " new pods have been updated...\n"].concat(),
        );
    }
    let (to, from) = (text(value, "status.updateRevision"), text(value, "status.currentRevision"));
    if to != from {
        return Look::Goes(
            ["waiting for statefulset rolling update to complete ", &n_updated, " pods at revision ", to, "...\n"]
                .concat(),
        );
    }
    let current = int(value, "status.currentReplicas").to_string();
    Look::Done(["statefulset rolling update complete ", &current, " pods at revision ", from, "...\n"].concat())
}

impl Status {
    /// Tells how an object is; an exit code where that ends all.
    fn tell(&mut self, object: &Object, out: &mut Output) -> Option<i32> {
        match look(object) {
            Look::Goes(line) => {
                out.out(&line);
                if !self.watches {
                    self.current = None;
                }
            }
            Look::Done(line) => {
                out.out(&line);
                self.current = None;
            }
            Look::Failed(line) => {
                out.err(&line);
                return Some(1);
            }
        }
        None
    }
}

impl Waiting for Status {
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32> {
        loop {
            let Some(key) = self.current.clone() else {
                let Some(next) = self.rest.pop() else { return Some(0) };
                self.place = Place::now(cluster);
                let Some(object) = cluster.api().objects().get(&next).cloned() else {
                    out.err(
                        &[&super::super::errors::server(&crate::apiserver::ApiError::not_found(&next), ""), "\n"]
                            .concat(),
                    );
                    return Some(1);
                };
                self.current = Some(next);
                if let Some(exit) = self.tell(&object, out) {
                    return Some(exit);
                }
                continue;
            };
            let Some(change) = self.place.next(cluster) else {
                if self.until.is_some_and(|until| cluster.wall_millis() >= until) {
                    out.err("error: timed out waiting for the condition\n");
                    return Some(1);
                }
                return None;
            };
            if change.key != key {
                continue;
            }
            if self.until.is_some_and(|until| cluster.wall_of(change.at) > until) {
                out.err("error: timed out waiting for the condition\n");
                return Some(1);
            }
            if change.kind == ChangeKind::Deleted {
                out.err("error: object has been deleted\n");
                return Some(1);
            }
            if let Some(exit) = self.tell(&change.object, out) {
                return Some(exit);
            }
        }
    }

    fn due(&self) -> Option<i64> {
        self.until
    }
}
