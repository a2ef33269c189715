//! Which kind a document is of, and the documents inside a list.

use serde_json::Value;

use super::schema::nearest;
use super::tree::{Content, Entry, Node};
use super::{Diagnostic, Severity, Stage};
use crate::api::{Kind, fields};

/// A document's kind as it is written, and the kind that it is.
pub(super) struct Found {
    pub kind: Kind,
    pub api_version: String,
}

/// Unfolds `kind: List` and typed lists such as `DeploymentList`.
pub(super) fn unfold(node: Node, into: &mut Vec<Node>) {
    let kind = node.get("kind").and_then(Node::text).unwrap_or_default().to_owned();
    let is_list = kind.ends_with("List") && node.get("items").is_some_and(|it| matches!(it.content, Content::List(_)));
    if !is_list {
        into.push(node);
        return;
    }
    let api_version = node.get("apiVersion").cloned();
    let item_kind = kind.trim_end_matches("List");
    let Content::Map(entries) = node.content else { return };
    for entry in entries.into_iter().filter(|entry| entry.key == "items") {
        let Content::List(items) = entry.value.content else { continue };
        for mut item in items {
            if !item_kind.is_empty() && item.get("kind").is_none() {
                let span = item.span;
                let kind = Node { content: Content::Text(item_kind.into()), span };
                let version = api_version.clone().map(|it| Node { span, ..it });
                if let Content::Map(fields) = &mut item.content {
                    fields.push(Entry { key: "kind".into(), key_span: span, value: kind });
                    fields.extend(version.map(|value| Entry { key: "apiVersion".into(), key_span: span, value }));
                }
            }
            unfold(item, into);
        }
    }
}

/// The kind of a document, or what kubectl says where it has none.
pub(super) fn find(node: &Node) -> Result<Found, Diagnostic> {
    if !matches!(node.content, Content::Map(_)) {
        let message = format!("Expected an object with apiVersion, kind and metadata, found {}", node.describe());
        return Err(validation(node, "", message, "invalid object to validate"));
    }
    let field = |name: &str| node.get(name).filter(|it| !it.is_null());
    let (version_node, kind_node) = (field("apiVersion"), field("kind"));
    let (version_node, kind_node) = match (version_node, kind_node) {
        (Some(version), Some(kind)) => (version, kind),
        (None, None) => return Err(not_set(node, "apiVersion and kind", "[apiVersion not set, kind not set]")),
        (None, _) => return Err(not_set(node, "apiVersion", "apiVersion not set")),
        (_, None) => return Err(not_set(node, "kind", "kind not set")),
    };
    let Some(api_version) = version_node.text() else {
        return Err(validation(
            version_node,
            "apiVersion",
            format!("expected text, found {}", version_node.describe()),
            "apiVersion isn't string type",
        ));
    };
    let Some(kind) = kind_node.text() else {
        return Err(validation(
            kind_node,
            "kind",
            format!("expected text, found {}", kind_node.describe()),
            "kind isn't string type",
        ));
    };
    if api_version.matches('/').count() > 1 {
        let text = format!("unexpected GroupVersion string: {api_version}");
        return Err(validation(version_node, "apiVersion", text.clone(), &text));
    }
    match served(api_version, kind) {
        Some(found) => Ok(Found { kind: found, api_version: api_version.into() }),
        None => Err(no_match(node, version_node, kind_node, api_version, kind)),
    }
}

/// Kinds that v1.36 serves in more than the version that it stores.
fn served(api_version: &str, kind: &str) -> Option<Kind> {
    if (api_version, kind) == ("autoscaling/v1", "HorizontalPodAutoscaler") {
        return Some(Kind::HorizontalPodAutoscaler);
    }
    Kind::find(api_version, kind)
}

fn validation(node: &Node, path: &str, message: String, upstream: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(Severity::Error, node.span, path.into(), message);
    diagnostic.stage = Stage::Validate;
    diagnostic.upstream = Some(upstream.into());
    diagnostic
}

fn not_set(node: &Node, what: &str, upstream: &str) -> Diagnostic {
    let mut diagnostic = validation(node, "", format!("{what} not set"), upstream);
    if let Content::Map(entries) = &node.content {
        let wrong = entries
            .iter()
            .find(|entry| what.split(" and ").any(|it| it.eq_ignore_ascii_case(&entry.key) && it != entry.key));
        diagnostic.hint = Some(match wrong {
            Some(entry) => {
                diagnostic.place(entry.key_span);
                let right = if entry.key.eq_ignore_ascii_case("kind") { "kind" } else { "apiVersion" };
                format!("Write {right}, not {}", entry.key)
            }
            None => "An object begins with lines such as apiVersion: apps/v1 and kind: Deployment".into(),
        });
    }
    diagnostic
}

fn no_match(node: &Node, version_node: &Node, kind_node: &Node, api_version: &str, kind: &str) -> Diagnostic {
    let by_name = Kind::by_name(kind);
    let lower = Kind::ALL.iter().find(|it| it.name().eq_ignore_ascii_case(kind) && it.api_version() == api_version);
    let similar = || nearest(kind, Kind::ALL.iter().filter(|it| it.api_version() == api_version).map(|it| it.name()));
    let message = format!("no matches for kind \"{kind}\" in version \"{api_version}\"");
    let (at, path, hint) = match (by_name, similar()) {
        (Some(known), _) => (version_node, "apiVersion", format!("Did you mean {}?", known.api_version())),
        (None, Some(name)) => (kind_node, "kind", format!("Did you mean {name}?")),
        (None, None) => (kind_node, "kind", "ensure CRDs are installed first".into()),
    };
    let mut diagnostic = Diagnostic::new(Severity::Error, at.span, path.into(), message.clone());
    diagnostic.hint = Some(hint);
    let text =
        |path: &[&str]| path.iter().try_fold(node, |at, key| at.get(key)).and_then(Node::text).unwrap_or_default();
    if let Some(known) = lower.filter(|it| it.name().to_ascii_lowercase() == kind) {
        // kubectl finds the resource by its singular name; the server refuses the kind.
        let name = known.name();
        let version = known.version();
        diagnostic.message = format!("no kind \"{kind}\" is registered for version \"{api_version}\"");
        diagnostic.stage = Stage::Decode;
        diagnostic.upstream = Some(format!(
            "{kind} in version \"{version}\" cannot be handled as a {name}: {} in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
            diagnostic.message
        ));
    } else {
        diagnostic.stage = Stage::Find;
        diagnostic.upstream = Some(format!(
            "resource mapping not found for name: \"{}\" namespace: \"{}\" from \"STDIN\": {message}\nensure CRDs are installed first",
            text(&["metadata", "name"]),
            text(&["metadata", "namespace"]),
        ));
    }
    diagnostic
}

/// Whether a field is one of a version that is served but not stored.
pub(super) fn is_converted(found: &Found, path: &str) -> bool {
    found.api_version == "autoscaling/v1" && path == "spec.targetCPUUtilizationPercentage"
}

/// Turns a version that is served but not stored into the stored one.
pub(super) fn convert(found: &Found, value: &mut Value) {
    let is_old_autoscaler = found.kind == Kind::HorizontalPodAutoscaler && found.api_version == "autoscaling/v1";
    let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut).filter(|_| is_old_autoscaler) else { return };
    if let Some(target) = spec.remove("targetCPUUtilizationPercentage") {
        let target = fields([("type", "Utilization".into()), ("averageUtilization", target)]);
        let resource = fields([("name", "cpu".into()), ("target", target)]);
        let metric = fields([("type", "Resource".into()), ("resource", resource)]);
        spec.insert("metrics".into(), Value::Array(vec![metric]));
    }
}
