//! `kubectl rollout` (`kubectl/pkg/cmd/rollout`, `pkg/polymorphichelpers`, v1.36).

mod history;
mod status;

pub use history::{history, undo};
pub use status::status;

use serde_json::Value;

use super::resources::Wants;
use super::value::{object, text};
use super::{Context, Done, Failure, Problem};
use crate::api::{Kind, Object, Timestamp};
use crate::apiserver::PatchType;

const USAGE: &str = "Manage the rollout of one or many resources.\n        \n Valid resource types include:\n\n  *  deployments\n  *  daemonsets\n  *  statefulsets\n\nExamples:\n  # Rollback to the previous deployment\n  kubectl rollout undo deployment/abc\n  \n  # Check the rollout status of a daemonset\n  kubectl rollout status daemonset/foo\n  \n  # Restart a deployment\n  kubectl rollout restart deployment/abc\n  \n  # Restart deployments with the 'app=nginx' label\n  kubectl rollout restart deployment --selector=app=nginx\n\nAvailable Commands:\n  history       View rollout history\n  pause         Mark the provided resource as paused\n  restart       Restart a resource\n  resume        Resume a paused resource\n  status        Show the status of the rollout\n  undo          Undo a previous rollout\n\nUsage:\n  kubectl rollout SUBCOMMAND [options]\n\nUse \"kubectl rollout <command> --help\" for more information about a given command.\nUse \"kubectl options\" for a list of global command-line options (applies to all commands).\n";

pub fn rollout(context: &mut Context<'_>) -> Result<Done, Failure> {
    match context.args.words.first() {
        Some(word) => Err(Failure::usage("kubectl rollout", &["unknown command \"", word, "\""].concat())),
        None => {
            context.out(USAGE);
            Ok(Done::Exit(1))
        }
    }
}

/// The objects that a line names, at least one.
fn targets(context: &mut Context<'_>) -> Result<Vec<Object>, Failure> {
    let words = context.args.words.clone();
    if words.is_empty() && !context.args.has("filename") {
        return Err(Failure::error("required resource not specified"));
    }
    if context.args.has("filename") {
        return context.targets(&words);
    }
    context.find(&words, Wants { type_alone: true, ..Wants::default() }).map(|found| found.objects)
}

/// `deployments.apps "web" is already paused`
fn unwilling(object: &Object, why: &str) -> Problem {
    let resource = object.kind().qualified_plural();
    Problem::Plain(["error: ", &resource, " \"", &object.meta().name, "\" ", why].concat())
}

pub fn pause(context: &mut Context<'_>) -> Result<Done, Failure> {
    hold(context, true)
}

pub fn resume(context: &mut Context<'_>) -> Result<Done, Failure> {
    hold(context, false)
}

fn hold(context: &mut Context<'_>, on: bool) -> Result<Done, Failure> {
    let (done, again, never) = match on {
        true => ("paused", "is already paused", "pausing is not supported"),
        false => ("resumed", "is not paused", "resuming is not supported"),
    };
    for target in targets(context)? {
        let Some(deployment) = target.as_deployment() else {
            context.problems.push(unwilling(&target, never));
            continue;
        };
        if deployment.spec.paused == on {
            context.problems.push(unwilling(&target, again));
            continue;
        }
        let to = if on { Value::Bool(true) } else { Value::Null };
        let patch = object(&[("spec", object(&[("paused", to)]))]);
        let manager = context.manager("kubectl-rollout");
        let result = context.patch(manager, &target, PatchType::Strategic, patch);
        context.say(result.map(|answer| answer.object).map_err(Problem::from), done)?;
    }
    context.done()
}

const RESTARTED: &str = "kubectl.kubernetes.io/restartedAt";

pub fn restart(context: &mut Context<'_>) -> Result<Done, Failure> {
    for target in targets(context)? {
        if !matches!(target.kind(), Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet) {
            context.problems.push(unwilling(&target, "restarting is not supported"));
            continue;
        }
        if target.as_deployment().is_some_and(|it| it.spec.paused) {
            context.problems.push(unwilling(&target, "can't restart paused deployment (run rollout resume first)"));
            continue;
        }
        let now = Timestamp::from_millis(context.now()).to_string();
        let value = target.to_value();
        let annotations = super::value::map(&value, "spec.template.metadata.annotations");
        let last = annotations.and_then(|it| it.get(RESTARTED)).and_then(Value::as_str);
        if last == Some(&now) {
            let name = text(&value, "metadata.name");
            let words = [
                "error: failed to create patch for ",
                name,
                ": if restart has already been triggered within the past second, please wait before attempting to trigger another",
            ];
            context.problems.push(Problem::Plain(words.concat()));
            continue;
        }
        let mut patch = Value::Null;
        super::value::set(&mut patch, "spec.template.metadata.annotations", object(&[(RESTARTED, now.into())]));
        let manager = context.manager("kubectl-rollout");
        let result = context.patch(manager, &target, PatchType::Strategic, patch);
        context.say(result.map(|answer| answer.object).map_err(Problem::from), "restarted")?;
    }
    context.done()
}
