//! The objects of a text one by one, so that a large one is never there as a whole tree.

use serde_json::Value;

use super::tree::{self, Content, Entry, Node};
use super::{Diagnostic, check, split};

/// Hands on each object of a text of YAML documents, of lists each item, with the line that it begins on. Fields that
/// are null are left out.
///
/// # Errors
/// What is wrong with the text as YAML, and where. What came before that has been handed on.
pub fn each_object(text: &str, sink: &mut dyn FnMut(Value, u32)) -> Result<(), Diagnostic> {
    for chunk in split::documents(text) {
        let mut nameless = Vec::new();
        let mut is_list = false;
        let mut item = |node: Node| {
            is_list = true;
            match node.get("kind") {
                Some(_) => sink(check::plain(&node), node.span.line),
                None => nameless.push(node),
            }
        };
        let root = tree::stream(chunk.text, chunk.first_line, &mut item)?;
        let Some(root) = root.filter(|it| !it.is_null()) else { continue };
        for mut node in nameless {
            name_item(&mut node, &root);
            sink(check::plain(&node), node.span.line);
        }
        if !is_list {
            sink(check::plain(&root), root.span.line);
        }
    }
    Ok(())
}

/// What a typed list leaves out of its items, its own name says: `PodList`.
fn name_item(node: &mut Node, list: &Node) {
    let kind = list.get("kind").and_then(Node::text).and_then(|kind| kind.strip_suffix("List"));
    let (Some(kind), Content::Map(fields)) = (kind.filter(|it| !it.is_empty()), &mut node.content) else { return };
    let span = node.span;
    let mut put = |key: &str, value: &str| {
        let value = Node { content: Content::Text(value.into()), span };
        fields.push(Entry { key: key.into(), key_span: span, value });
    };
    put("kind", kind);
    if let Some(version) = list.get("apiVersion").and_then(Node::text) {
        put("apiVersion", version);
    }
}
