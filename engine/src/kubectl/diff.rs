//! `kubectl diff` (`kubectl/pkg/cmd/diff/diff.go`, v1.36): what an apply would change.

use serde_json::Value;

use super::files::Item;
use super::print::finished;
use super::text_diff::unified;
use super::{Context, Done, Failure, Problem, server_side};
use crate::api::Object;
use crate::apiserver::{ApiError, LAST_APPLIED, Request, Verb as Ask};
use crate::manifest::to_yaml;

pub fn diff(context: &mut Context<'_>) -> Result<Done, Failure> {
    if !context.args.has("filename") {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    if context.args.has("prune") {
        return Err(Failure::not_simulated("this form of kubectl diff", "Leave --prune out"));
    }
    let mut differs = false;
    for item in context.items(true)? {
        match texts(context, &item) {
            Ok((old, new)) => differs |= show(context, &item, &old, &new),
            Err(error) => context.problems.push(Problem::Api { error, during: String::new() }),
        }
    }
    match context.done()? {
        Done::Exit(0) if differs => Ok(Done::Exit(1)),
        done => Ok(done),
    }
}

fn shown(object: &Object) -> String {
    to_yaml(&finished(object, false))
}

/// An object as it is, and as an apply would leave it.
fn texts(context: &Context<'_>, item: &Item) -> Result<(String, String), ApiError> {
    let meta = item.object.meta();
    let live = context.live_in(item.kind(), &meta.namespace, &meta.name).ok();
    let value = item.typed();
    let by_server = context.args.is("server-side");
    let ask = match &live {
        _ if by_server => {
            let force = context.args.is("force-conflicts");
            Ask::ServerSideApply(item.kind(), meta.namespace.clone(), value, force)
        }
        Some(_) => Ask::Apply(item.kind(), meta.namespace.clone(), value),
        // What is new is shown as it would be created, without what apply remembers.
        None => Ask::Create(item.object.clone()),
    };
    let manager = context.manager(if by_server { server_side::MANAGER } else { "kubectl-client-side-apply" });
    let merged = context.cluster.try_out(&Request::new(manager, ask))?.object;
    let old = live.as_ref().map_or(String::new(), shown);
    let mut new = finished(&merged, false);
    if let Some(meta) = new.get_mut("metadata").and_then(Value::as_object_mut) {
        match &live {
            None => drop(meta.remove("resourceVersion")),
            Some(live) => drop(meta.insert("resourceVersion".into(), live.meta().resource_version.to_string().into())),
        }
    }
    // What apply remembers is no difference.
    let last = live.as_ref().and_then(|it| it.meta().annotations.get(LAST_APPLIED));
    let annotations = new.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    if let (Some(last), Some(annotations)) = (last, annotations) {
        annotations.insert(LAST_APPLIED.into(), last.as_str().into());
    }
    if live.is_none() && new.get("status").is_none() {
        super::value::set(&mut new, "status", super::create::empty());
    }
    Ok((old, to_yaml(&new)))
}

/// Shows how two texts differ, where they do.
fn show(context: &mut Context<'_>, item: &Item, old: &str, new: &str) -> bool {
    let hunks = unified(old, new);
    if hunks.is_empty() {
        return false;
    }
    let (kind, meta) = (item.kind(), item.object.meta());
    let name =
        [&kind.api_version().replace('/', "."), ".", kind.name(), ".", &meta.namespace, ".", &meta.name].concat();
    let (a, b) = (["/tmp/LIVE/", &name].concat(), ["/tmp/MERGED/", &name].concat());
    let time = super::time::file_time(context.now());
    context.out(
        &["diff -u -N ", &a, " ", &b, "\n--- ", &a, "\t", &time, "\n+++ ", &b, "\t", &time, "\n", &hunks].concat(),
    );
    true
}
