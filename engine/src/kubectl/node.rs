//! `kubectl cordon` and `uncordon` (`kubectl/pkg/drain/cordon.go`, v1.36).

use serde_json::Value;

use super::resources::Wants;
use super::value::object;
use super::{Context, Done, Dry, Failure};
use crate::api::Object;
use crate::apiserver::{ApiError, PatchType};

pub fn cordon(context: &mut Context<'_>) -> Result<Done, Failure> {
    change(context, "cordon", true)
}

pub fn uncordon(context: &mut Context<'_>) -> Result<Done, Failure> {
    change(context, "uncordon", false)
}

/// The nodes that a line names.
///
/// # Errors
/// kubectl's words for a line that names none.
pub fn nodes(context: &mut Context<'_>, verb: &str) -> Result<Vec<Object>, Failure> {
    let words = context.args.words.clone();
    let has_selector = context.args.has("selector");
    if words.is_empty() && !has_selector {
        let path = context.args.path.clone();
        return Err(Failure::usage(&path, &["USAGE: ", verb, " NODE [flags]"].concat()));
    }
    if !words.is_empty() && has_selector {
        return Err(Failure::error("error: cannot specify both a node name and a --selector option"));
    }
    let named: Vec<String> = words.iter().map(|it| it.strip_prefix("node/").unwrap_or(it).to_string()).collect();
    let mut all = vec!["nodes".to_string()];
    all.extend(named);
    Ok(context.find(&all, Wants { type_alone: has_selector, ..Wants::default() })?.objects)
}

/// Closes a node for new pods, or opens it.
///
/// # Errors
/// As the API server answers.
pub fn close(context: &mut Context<'_>, node: &Object, on: bool) -> Result<&'static str, ApiError> {
    let is_closed = node.as_node().is_some_and(|it| it.spec.unschedulable);
    if is_closed == on {
        return Ok(if on { "already cordoned" } else { "already uncordoned" });
    }
    if context.dry != Dry::Client {
        let to = if on { Value::Bool(true) } else { Value::Null };
        let patch = object(&[("spec", object(&[("unschedulable", to)]))]);
        let manager = if context.args.path.ends_with("drain") { "kubectl-drain" } else { "kubectl-cordon" };
        context.patch(manager, node, PatchType::Merge, patch)?;
    }
    Ok(if on { "cordoned" } else { "uncordoned" })
}

fn change(context: &mut Context<'_>, verb: &str, on: bool) -> Result<Done, Failure> {
    for node in nodes(context, verb)? {
        let name = node.meta().name.clone();
        match close(context, &node, on) {
            Ok(done) => {
                let suffix = context.dry.suffix();
                context.line(&["node/", &name, " ", done, suffix]);
            }
            Err(error) => {
                let text = ["error: unable to ", verb, " node \"", &name, "\": ", &error.message].concat();
                context.problems.push(super::Problem::Plain(text));
            }
        }
    }
    context.done()
}
