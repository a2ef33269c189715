//! `kubectl apply` (`kubectl/pkg/cmd/apply`, v1.36).

use serde_json::Value;

use super::files::Item;
use super::print::{self, Format, finished, list_of};
use super::resources::Wants;
use super::{Context, Done, Failure, Problem, apply_patch, json, reference, server_side};
use crate::api::Object;
use crate::apiserver::{Effect, LAST_APPLIED, Verb as Ask, warnings};
use crate::manifest::to_yaml;

pub fn apply(context: &mut Context<'_>) -> Result<Done, Failure> {
    if let Some(flag) = ["prune", "openapi-patch", "subresource"].into_iter().find(|it| context.args.has(it)) {
        return Err(Failure::not_simulated(&["the flag --", flag, " of kubectl apply"].concat(), ""));
    }
    super::delete::cascade(context.args.text("cascade"))?;
    let by_server = context.args.is("server-side");
    if context.args.is("force-conflicts") && !by_server {
        return Err(Failure::error("--force-conflicts only works with --server-side"));
    }
    if by_server && context.dry == super::Dry::Client {
        return Err(Failure::error(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
        ));
    }
    if by_server && context.args.is("force") {
        return Err(Failure::error("--force cannot be used with --server-side"));
    }
    if !context.args.has("filename") {
        if !context.args.words.is_empty() {
            let words = context.args.words.join(" ");
            return Err(Failure::usage("kubectl apply", &["Unexpected args: [", &words, "]"].concat()));
        }
        return Err(Failure::error("must specify one of -f and -k"));
    }
    let format = print::format(&context.args, false)?;
    let validation = context.args.text("validate").to_string();
    let is_strict = matches!(validation.as_str(), "" | "strict" | "true") && context.dry != super::Dry::Client;
    let items = context.items(is_strict)?;
    if items.is_empty() && context.problems.is_empty() {
        return Err(Failure::error("no objects passed to apply"));
    }
    let mut done: Vec<Object> = Vec::new();
    for item in &items {
        if validation == "warn" {
            for warning in &item.warnings {
                context.out.err(&["Warning: ", warning, "\n"].concat());
            }
        }
        let result = if by_server { server_side::apply(context, item) } else { one(context, item) };
        match result {
            Ok((object, word)) => {
                let suffix = context.dry.suffix();
                match &format {
                    Format::Table { .. } => context.line(&[&reference(&object.key()), " ", word, suffix]),
                    Format::Name => context.line(&[&reference(&object.key())]),
                    _ => done.push(object),
                }
            }
            Err(problem) => context.problems.push(problem),
        }
    }
    if !done.is_empty() {
        let with_managers = context.args.is("show-managed-fields");
        let mut values: Vec<Value> = done.iter().map(|it| finished(it, with_managers)).collect();
        let value = if values.len() == 1 && items.len() == 1 { values.remove(0) } else { list_of(values) };
        let text = format.print(&value, true)?;
        context.out(&text);
    }
    context.done()
}

/// Creates an object, or changes what the manifest has changed since it was last applied.
fn one(context: &mut Context<'_>, item: &Item) -> Result<(Object, &'static str), Problem> {
    let meta = item.object.meta();
    let live = context.live_in(item.kind(), &meta.namespace, &meta.name).ok();
    if live.as_ref().is_some_and(|it| !it.meta().annotations.contains_key(LAST_APPLIED)) {
        let what = [item.kind().plural(), "/", meta.name.as_str()].concat();
        context.out.err(&[
            "Warning: resource ", &what,
            " is missing the kubectl.kubernetes.io/last-applied-configuration annotation which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n",
        ].concat());
    }
    let verb = if live.is_some() { "patching" } else { "creating" };
    let during = ["error when ", verb, " \"", &item.source, "\""].concat();
    let manager = context.manager("kubectl-client-side-apply");
    let value = item.typed();
    let is_new = live.is_none();
    if is_new && context.dry == super::Dry::Client {
        return Ok((item.object.clone(), "created"));
    }
    match context.send(manager, Ask::Apply(item.kind(), meta.namespace.clone(), value)) {
        Ok(answer) => {
            if answer.outcome != Effect::Unchanged {
                for warning in warnings(&answer.object) {
                    context.out.err(&["Warning: ", &warning, "\n"].concat());
                }
            }
            let word = match answer.outcome {
                Effect::Created => "created",
                Effect::Unchanged => "unchanged",
                _ => "configured",
            };
            Ok((answer.object, word))
        }
        Err(error) => {
            let during = match &live {
                Some(live) if error.fields.is_empty() => apply_patch::during(live, &item.value, &item.source),
                _ => during,
            };
            Err(Problem::Api { error, during })
        }
    }
}

pub fn view_last_applied(context: &mut Context<'_>) -> Result<Done, Failure> {
    let words = context.args.words.clone();
    let objects = if context.args.has("filename") {
        context.targets(&words)?
    } else {
        context.find(&words, Wants { type_alone: true, all: context.args.is("all"), ..Wants::default() })?.objects
    };
    for object in objects {
        let Some(text) = object.meta().annotations.get(LAST_APPLIED) else {
            let what = [object.kind().name(), "/", object.meta().name.as_str()].concat();
            return Err(Failure::errors(&["no last-applied-configuration annotation found on resource: ", &what]));
        };
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let text = match context.args.text("output") {
            "" | "yaml" => to_yaml(&value),
            "json" => json::to_json(&value, 2) + "\n",
            other => {
                return Err(Failure::errors(&[
                    "Unexpected -o output mode: ",
                    other,
                    ". We only support -o yaml or -o json",
                ]));
            }
        };
        context.out(&text);
    }
    context.done()
}
