//! `kubectl patch` (`kubectl/pkg/cmd/patch/patch.go`, v1.36).

use serde_json::Value;

use super::{Context, Done, Failure, Problem};
use crate::apiserver::{ApiError, Effect, PatchType, Reason};
use crate::manifest;

pub fn patch(context: &mut Context<'_>) -> Result<Done, Failure> {
    if context.args.has("patch-file") || context.args.has("subresource") {
        return Err(Failure::not_simulated("patching a subresource, or from a file,", "Use -p"));
    }
    let text = context.args.text("patch").to_string();
    if text.is_empty() {
        return Err(Failure::error("must specify --patch or --patch-file containing the contents of the patch"));
    }
    let kind = match context.args.text("type") {
        "" | "strategic" => PatchType::Strategic,
        "merge" => PatchType::Merge,
        "json" => PatchType::Json,
        other => return Err(Failure::errors(&["--type must be one of [json merge strategic], not \"", other, "\""])),
    };
    let words = context.args.words.clone();
    let targets = context.targets(&words)?;
    if targets.is_empty() {
        return context.done();
    }
    let value = read(&text)?;
    for target in targets {
        let manager = context.manager("kubectl-patch");
        match context.patch(manager, &target, kind, value.clone()) {
            Ok(answer) => {
                let is_same = answer.outcome == Effect::Unchanged || answer.object == target;
                let done = if is_same { "patched (no change)" } else { "patched" };
                context.say(Ok(answer.object), done)?;
            }
            Err(error) => context.problems.push(Problem::from(error)),
        }
    }
    context.done()
}

/// JSON, or YAML that stands for it.
fn read(text: &str) -> Result<Value, Failure> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) => {
            let found = manifest::value(text).ok().filter(|it| it.is_object() || it.is_array());
            found.ok_or_else(|| ApiError::new(Reason::BadRequest, go_json_error(text)).into())
        }
    }
}

/// What Go's JSON reader says of the first letter that it does not expect.
fn go_json_error(text: &str) -> String {
    let inner = text.trim_start();
    match inner.strip_prefix('{').map(str::trim_start).and_then(|it| it.chars().next()) {
        Some(c) if c != '"' && c != '}' => {
            ["invalid character '", &c.to_string(), "' looking for beginning of object key string"].concat()
        }
        Some(_) => "unexpected end of JSON input".into(),
        None => match inner.chars().next() {
            Some(c) => ["invalid character '", &c.to_string(), "' looking for beginning of value"].concat(),
            None => "unexpected end of JSON input".into(),
        },
    }
}
