//! `kubectl apply --server-side` (`kubectl/pkg/cmd/apply/apply.go`, `client-go/util/csaupgrade`, v1.36).

use serde_json::{Map, Value};

use super::files::Item;
use super::value::{object, text};
use super::{Context, Dry, Problem};
use crate::api::{Kind, ManagerId, Name, Object, STEP};
use crate::apiserver::{ApiError, LAST_APPLIED, PatchType, Reason, Verb as Ask, managed_fields};
use crate::manifest::{Manifest, Severity, Stage};

/// The manager that kubectl applies as where nothing else is said.
pub const MANAGER: &str = "kubectl";
/// Keeps the annotation of earlier client-side applies.
const LAST_APPLIED_MANAGER: &str = "kubectl-last-applied";

const ADVICE: &str = "\nPlease review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts";

/// Applies an object, and makes what was applied by the client before the server's.
pub fn apply(context: &mut Context<'_>, item: &Item) -> Result<(Object, &'static str), Problem> {
    let manager = context.manager(MANAGER);
    let mut object = send(context, item, manager)?;
    if context.dry == Dry::No {
        keep_annotation(context, &object, manager)?;
        let fresh = |context: &Context<'_>| {
            let meta = item.object.meta();
            context.live_in(item.kind(), &meta.namespace, &meta.name).ok()
        };
        if let Some(live) = fresh(context)
            && migrate(context, &live, manager)?
        {
            object = send(context, item, manager)?;
        }
    }
    Ok((object, "serverside-applied"))
}

fn send(context: &mut Context<'_>, item: &Item, manager: &'static str) -> Result<Object, Problem> {
    let force = context.args.is("force-conflicts");
    let namespace = item.object.meta().namespace.clone();
    let ask = Ask::ServerSideApply(item.kind(), namespace, item.typed(), force);
    match context.send(manager, ask) {
        Ok(answer) => Ok(answer.object),
        Err(error) if is_conflict(&error) => Err(Problem::Plain(["error: ", &error.message, ADVICE].concat())),
        Err(error) => Err(error.into()),
    }
}

fn owns_annotation(object: &Object, operation: &str) -> Vec<&'static str> {
    let path = ["f:metadata", "f:annotations", &["f:", LAST_APPLIED].concat()].join(&STEP.to_string());
    let owners = object.meta().managed.owners(&path).filter(|it| it.by.operation == operation);
    owners.map(|it| it.by.manager).collect()
}

/// Applies the annotation of client-side applies alone, so that the next apply does not take it away.
fn keep_annotation(context: &mut Context<'_>, live: &Object, manager: &str) -> Result<(), Problem> {
    let Some(annotation) = live.meta().annotations.get(LAST_APPLIED) else { return Ok(()) };
    if manager != MANAGER || !owns_annotation(live, "Apply").is_empty() {
        return Ok(());
    }
    let meta = live.meta();
    let value = object(&[
        ("apiVersion", live.kind().api_version().into()),
        ("kind", live.kind().name().into()),
        (
            "metadata",
            object(&[
                ("annotations", object(&[(LAST_APPLIED, annotation.as_str().into())])),
                ("name", meta.name.as_str().into()),
            ]),
        ),
    ]);
    let ask = Ask::ServerSideApply(live.kind(), meta.namespace.clone(), value, false);
    context.send(LAST_APPLIED_MANAGER, ask)?;
    Ok(())
}

/// Gives the fields of client-side applies to the server-side manager. Whether there were any.
fn migrate(context: &mut Context<'_>, live: &Object, manager: &'static str) -> Result<bool, Problem> {
    let clients = owns_annotation(live, "Update");
    if clients.is_empty() {
        return Ok(false);
    }
    let mut entries = managed_fields(live);
    for client in clients {
        upgrade(&mut entries, client, manager);
    }
    let op = |op: &str, path: &str, value: Value| object(&[("op", op.into()), ("path", path.into()), ("value", value)]);
    let version = live.meta().resource_version.to_string();
    let patch = Value::Array(vec![
        op("replace", "/metadata/managedFields", Value::Array(entries)),
        op("replace", "/metadata/resourceVersion", version.into()),
    ]);
    context.send(manager, Ask::Patch(live.key(), PatchType::Json, patch))?;
    Ok(true)
}

fn is_by(entry: &Value, by: ManagerId) -> bool {
    let is_whole = text(entry, "subresource") == by.subresource;
    is_whole && text(entry, "manager") == by.manager && text(entry, "operation") == by.operation
}

/// Joins what a client-side manager owns to what the server-side one does.
fn upgrade(entries: &mut Vec<Value>, client: &'static str, manager: &'static str) {
    let old = ManagerId { manager: client, operation: "Update", subresource: "" };
    let new = ManagerId { manager, operation: "Apply", subresource: "" };
    let Some(at) = entries.iter().position(|it| is_by(it, old)) else { return };
    match entries.iter().position(|it| is_by(it, new)) {
        Some(own) => {
            let theirs = entries[at].get("fieldsV1").cloned().unwrap_or_default();
            if let (Some(Value::Object(tree)), Value::Object(theirs)) = (entries[own].get_mut("fieldsV1"), theirs) {
                join(tree, theirs);
            }
            entries.remove(at);
        }
        None => {
            if let Some(map) = entries[at].as_object_mut() {
                map.insert("manager".into(), manager.into());
                map.insert("operation".into(), "Apply".into());
            }
        }
    }
}

fn join(tree: &mut Map<String, Value>, other: Map<String, Value>) {
    for (step, below) in other {
        match (tree.get_mut(&step), below) {
            (Some(Value::Object(known)), Value::Object(below)) => {
                // A leaf there and a map here: the dot says that the field itself is owned, too.
                if known.is_empty() != below.is_empty() {
                    known.insert(".".into(), Value::Object(Map::new()));
                }
                join(known, below);
            }
            (_, below) => drop(tree.insert(step, below)),
        }
    }
}

/// What the API server says of a patch whose values have the wrong type, or unknown fields.
pub fn refusal(manifest: &Manifest, source: &str, namespace: &Name) -> Option<Problem> {
    let value = crate::manifest::value(source).ok()?;
    let kind = Kind::find(text(&value, "apiVersion"), text(&value, "kind"))?;
    let found = manifest.diagnostics.iter().filter(|it| it.upstream.is_some() && it.stage != Stage::Parse);
    let mut errors: Vec<String> = found
        .filter_map(|it| {
            let upstream = it.upstream.as_deref()?;
            let path = it.path.as_str();
            if it.severity == Severity::Warning && upstream.starts_with("unknown field") {
                return Some([".", path, ": field not declared in schema"].concat());
            }
            let (found, wanted) = types(upstream)?;
            Some([".", path, ": expected ", wanted, ", got ", found].concat())
        })
        .collect();
    errors.dedup();
    let errors = match errors.as_slice() {
        [] => return None,
        [one] => one.clone(),
        many => ["errors:\n  ", &many.join("\n  ")].concat(),
    };
    let meta = value.get("metadata").cloned().unwrap_or_default();
    let namespace = if text(&meta, "namespace").is_empty() { namespace.as_str() } else { text(&meta, "namespace") };
    let group = kind.api_version();
    let name = text(&meta, "name");
    let message = [
        "failed to create typed patch object (",
        namespace,
        "/",
        name,
        "; ",
        group,
        ", Kind=",
        kind.name(),
        "): ",
        &errors,
    ]
    .concat();
    Some(Problem::Plain(["Error from server: ", &message].concat()))
}

/// What was found and what was expected, of the words for a value of the wrong type.
fn types(upstream: &str) -> Option<(&'static str, &'static str)> {
    let (_, rest) = upstream.rsplit_once("cannot unmarshal ")?;
    let (found, _) = rest.split_once(" into Go")?;
    let (_, wanted) = rest.rsplit_once(" of type ")?;
    let found = match found.split(' ').next()? {
        "string" => "string",
        "bool" => "boolean",
        "object" => "map",
        "array" => "list",
        _ => "number",
    };
    let wanted = match wanted {
        "int32" | "int64" => "numeric (int or float)",
        "bool" => "boolean",
        "string" => "string",
        other if other.starts_with("[]") => "list",
        _ => "map",
    };
    Some((found, wanted))
}

/// Whether an error is one of conflicts between managers.
fn is_conflict(error: &ApiError) -> bool {
    error.reason == Reason::Conflict && error.message.starts_with("Apply failed")
}
