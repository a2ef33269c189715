//! `kubectl rollout history` and `undo` (`polymorphichelpers/{history,rollback}.go`, v1.36).

use serde_json::{Map, Value};

use super::super::describe::template;
use super::super::print::{self, Format, finished};
use super::super::resources;
use super::super::tab;
use super::super::value::{map, object};
use super::super::{Context, Done, Dry, Failure, Problem, reference};
use crate::api::{Kind, Object, Uid};
use crate::apiserver::{LAST_APPLIED, PatchType};
use crate::sim::sort_by;

const REVISION: &str = "deployment.kubernetes.io/revision";
const CAUSE: &str = "kubernetes.io/change-cause";
/// Annotations of a Deployment that stay as they are when it is rolled back.
const KEPT: [&str; 5] = [
    LAST_APPLIED,
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
];
const HASH_LABEL: &str = "pod-template-hash";

/// An old template: its number, why it came to be, and the object that holds it.
struct Revision {
    number: i64,
    cause: String,
    holder: Object,
}

fn owned(context: &Context<'_>, kind: Kind, owner: &Object) -> Vec<Object> {
    let uid: Uid = owner.meta().uid;
    let space = owner.meta().namespace.clone();
    let all = resources::of_kind(context, kind, Some(&space));
    all.into_iter().filter(|it| it.meta().is_controlled_by(uid)).collect()
}

/// The revisions of an object, the oldest first.
fn revisions(context: &Context<'_>, target: &Object) -> Option<Vec<Revision>> {
    let mut found: Vec<Revision> = match target.kind() {
        Kind::Deployment => owned(context, Kind::ReplicaSet, target)
            .into_iter()
            .map(|holder| {
                let annotation = |name: &str| holder.meta().annotations.get(name).cloned().unwrap_or_default();
                Revision { number: annotation(REVISION).parse().unwrap_or(0), cause: annotation(CAUSE), holder }
            })
            .collect(),
        Kind::StatefulSet | Kind::DaemonSet => owned(context, Kind::ControllerRevision, target)
            .into_iter()
            .map(|holder| {
                let cause = holder.meta().annotations.get(CAUSE).cloned().unwrap_or_default();
                let number = super::super::value::int(&holder.to_value(), "revision");
                Revision { number, cause, holder }
            })
            .collect(),
        _ => return None,
    };
    sort_by(&mut found, |a, b| a.number.cmp(&b.number));
    Some(found)
}

fn template_of(revision: &Revision) -> Value {
    let value = revision.holder.to_value();
    match revision.holder.kind() {
        Kind::ReplicaSet => super::super::value::at(&value, "spec.template").clone(),
        _ => super::super::value::at(&value, "data.spec.template").clone(),
    }
}

pub fn history(context: &mut Context<'_>) -> Result<Done, Failure> {
    let wanted = context.args.int("revision");
    if wanted.is_some_and(|it| it < 0) {
        return Err(Failure::error("revision must be a positive integer: -1"));
    }
    let format = print::format(&context.args, false)?;
    for target in super::targets(context)? {
        let Some(revisions) = revisions(context, &target) else {
            let kind = target.kind();
            let text = ["error: no history viewer has been implemented for \"", kind.name(), "\""].concat();
            context.problems.push(Problem::Plain(text));
            continue;
        };
        let name = reference(&target.key());
        let Some(number) = wanted.filter(|it| *it > 0) else {
            if !format.is_table() {
                return Err(Failure::not_simulated("a whole history in this output format", "Use --revision="));
            }
            let mut text = String::from("REVISION\tCHANGE-CAUSE\n");
            for it in &revisions {
                let cause = if it.cause.is_empty() { "<none>" } else { &it.cause };
                text += &[&it.number.to_string(), "\t", cause, "\n"].concat();
            }
            let text = tab::describe(&text);
            context.out(&[&name, " \n", &text, "\n"].concat());
            continue;
        };
        let Some(found) = revisions.iter().find(|it| it.number == number) else {
            context.problems.push(Problem::Plain("error: unable to find the specified revision".into()));
            continue;
        };
        match &format {
            Format::Table { .. } => {
                let mut template = template_of(found);
                if !found.cause.is_empty() {
                    let mut all = map(&template, "metadata.annotations").cloned().unwrap_or_default();
                    all.insert(CAUSE.into(), found.cause.as_str().into());
                    super::super::value::set(&mut template, "metadata.annotations", Value::Object(all));
                }
                let text = template::template(&template);
                context.out(&[&name, " with revision #", &number.to_string(), "\n", &text, "\n"].concat());
            }
            format => {
                let text = format.print(&finished(&found.holder, false), true)?;
                context.out(&text);
            }
        }
    }
    context.done()
}

fn fail(context: &mut Context<'_>, parts: &[&str]) {
    context.problems.push(Problem::Plain(["error: ", &parts.concat()].concat()));
}

pub fn undo(context: &mut Context<'_>) -> Result<Done, Failure> {
    let to = context.args.int("to-revision").unwrap_or(0);
    for target in super::targets(context)? {
        undo_one(context, &target, to)?;
    }
    context.done()
}

fn undo_one(context: &mut Context<'_>, target: &Object, to: i64) -> Result<(), Failure> {
    let kind = target.kind();
    if matches!(kind, Kind::StatefulSet | Kind::DaemonSet) {
        return undo_kept(context, target, to);
    }
    let Some(deployment) = target.as_deployment().cloned() else {
        let group = kind.group();
        fail(
            context,
            &[
                "error retrieving rollbacker for \"",
                kind.name(),
                if group.is_empty() { "" } else { "." },
                group,
                "\", no visitor method exists for {",
                group,
                " ",
                kind.name(),
                "}",
            ],
        );
        return Ok(());
    };
    let revisions = revisions(context, target).unwrap_or_default();
    let found = match to {
        0 if revisions.len() < 2 => None,
        0 => revisions.get(revisions.len() - 2),
        to => revisions.iter().find(|it| it.number == to),
    };
    let name = target.meta().name.clone();
    let Some(found) = found else {
        match to {
            0 => fail(context, &["no rollout history found for deployment \"", &name, "\""]),
            to => fail(context, &["unable to find specified revision ", &to.to_string(), " in history"]),
        }
        return Ok(());
    };
    if context.dry == Dry::Client {
        would_be(context, target, found, "");
        return Ok(());
    }
    if deployment.spec.paused {
        fail(
            context,
            &["you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"],
        );
        return Ok(());
    }
    roll_back(context, target, found)
}

/// What `--dry-run=client` prints.
fn would_be(context: &mut Context<'_>, target: &Object, found: &Revision, words: &str) {
    let text = template::template(&template_of(found));
    let text = text.strip_prefix("Pod Template:\n").unwrap_or(&text);
    context.out(&[&reference(&target.key()), " ", words, "Pod Template:\n", text, " (dry run)\n"].concat());
}

/// A StatefulSet or DaemonSet: its revisions are kept as the patches that bring them back.
fn undo_kept(context: &mut Context<'_>, target: &Object, to: i64) -> Result<(), Failure> {
    let revisions = revisions(context, target).unwrap_or_default();
    let number = to.to_string();
    let found = match to {
        0 if revisions.len() < 2 => {
            fail(context, &["no last revision to roll back to"]);
            return Ok(());
        }
        0 => revisions.get(revisions.len() - 2),
        to => revisions.iter().find(|it| it.number == to),
    };
    let Some(found) = found else {
        fail(context, &["unable to find specified revision ", &number, " in history"]);
        return Ok(());
    };
    if context.dry == Dry::Client {
        would_be(context, target, found, "will roll back to ");
        return Ok(());
    }
    let mut kept = template_of(found);
    if let Some(map) = kept.as_object_mut() {
        map.remove("$patch");
    }
    if *super::super::value::at(&target.to_value(), "spec.template") == kept {
        let name = reference(&target.key());
        context.line(&[&name, " skipped rollback (current template already matches revision ", &number, ")"]);
        return Ok(());
    }
    let patch = super::super::value::at(&found.holder.to_value(), "data").clone();
    let manager = context.manager("kubectl-rollout");
    match context.patch(manager, target, PatchType::Strategic, patch) {
        Ok(answer) => context.say(Ok(answer.object), "rolled back"),
        Err(error) => {
            fail(context, &["failed restoring revision ", &number, ": ", &error.message]);
            Ok(())
        }
    }
}

fn roll_back(context: &mut Context<'_>, target: &Object, found: &Revision) -> Result<(), Failure> {
    let mut template = template_of(found);
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(HASH_LABEL);
    }
    let value = target.to_value();
    if *super::super::value::at(&value, "spec.template") == template {
        let number = found.number.to_string();
        let done = ["skipped rollback (current template already matches revision ", &number, ")"].concat();
        let name = reference(&target.key());
        context.line(&[&name, " ", &done]);
        return Ok(());
    }
    let mut annotations = Map::new();
    for (name, value) in map(&value, "metadata.annotations").into_iter().flatten() {
        if KEPT.contains(&name.as_str()) {
            annotations.insert(name.clone(), value.clone());
        }
    }
    let old = found.holder.to_value();
    for (name, value) in map(&old, "metadata.annotations").into_iter().flatten() {
        if !KEPT.contains(&name.as_str()) {
            annotations.insert(name.clone(), value.clone());
        }
    }
    let replace =
        |path: &str, value: Value| object(&[("op", "replace".into()), ("path", path.into()), ("value", value)]);
    let patch = Value::Array(vec![
        replace("/spec/template", template),
        replace("/metadata/annotations", Value::Object(annotations)),
    ]);
    let manager = context.manager("kubectl-rollout");
    let result = context.patch(manager, target, PatchType::Json, patch);
    context.say(result.map(|answer| answer.object).map_err(Problem::from), "rolled back")
}
