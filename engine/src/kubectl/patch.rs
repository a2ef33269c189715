//! `kubectl patch` (`kubectl/pkg/cmd/patch/patch.go`, v1.36).

use serde_json::Value;

use super::{Context, Done, Failure, Problem};
use crate::api::Kind;
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
        let mut value = value.clone();
        let unknown = without_unknown(target.kind(), kind, &mut value);
        match context.patch(manager, &target, kind, value) {
            Ok(answer) => {
                for field in unknown {
                    context.out.err(&["Warning: ", &field, "\n"].concat());
                }
                let is_same = answer.outcome == Effect::Unchanged || answer.object == target;
                let done = if is_same { "patched (no change)" } else { "patched" };
                context.say(Ok(answer.object), done)?;
            }
            Err(error) => context.problems.push(Problem::from(error)),
        }
    }
    context.done()
}

/// Takes out what the server would not keep, and names it: it checks a patch with `fieldValidation=Warn`.
fn without_unknown(kind: Kind, of: PatchType, patch: &mut Value) -> Vec<String> {
    let Value::Array(operations) = patch else { return manifest::take_unknown(kind, patch) };
    if of != PatchType::Json {
        return Vec::new();
    }
    let mut found = Vec::new();
    operations.retain_mut(|it| {
        let path = it.get("path").and_then(Value::as_str).unwrap_or_default().to_string();
        let Some(value) = it.get_mut("value") else { return true };
        let (unknown, is_all) = manifest::take_unknown_at(kind, &path, value);
        let is_test = it.get("op").and_then(Value::as_str) == Some("test");
        if !is_test {
            found.extend(unknown);
        }
        is_test || !is_all
    });
    found
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
