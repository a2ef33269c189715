//! Where a field stands in the text.

use std::fmt;
use std::rc::Rc;

use super::tree::{Content, Entry, Node};

/// A place in the text: line and column begin at 1, column and length count characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub line: u32,
    pub column: u32,
    pub length: u32,
}

/// The places of all fields of a document.
#[derive(Clone)]
pub struct Spans(Rc<Node>);

impl fmt::Debug for Spans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spans").field(&self.0.span).finish()
    }
}

impl Spans {
    pub(super) fn new(node: Node) -> Self {
        Self(Rc::new(node))
    }

    /// The place of the key or value of a mapping that is the given text.
    pub(super) fn locate_inside(&self, path: &str, text: &str) -> Option<Span> {
        let mut node = &*self.0;
        let mut rest = path;
        while !rest.is_empty() {
            let (child, _, after) = step(node, rest.strip_prefix('.').unwrap_or(rest))?;
            (node, rest) = (child, after);
        }
        let Content::Map(entries) = &node.content else { return None };
        let value = entries.iter().find(|entry| entry.value.text() == Some(text)).map(|entry| entry.value.span);
        value.or_else(|| entries.iter().find(|entry| entry.key == text).map(|entry| entry.key_span))
    }

    /// The place of a field such as `spec.template.spec.containers[0].image` or `resources.requests[cpu]`:
    /// its value where that is one line of text, its key otherwise, and what contains it where it is not there.
    pub fn locate(&self, path: &str) -> Span {
        let mut node = &*self.0;
        let mut span = first_key(node).unwrap_or(node.span);
        let mut rest = path;
        while !rest.is_empty() {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let Some((child, key_span, after)) = step(node, rest) else { break };
            span = match child.content {
                Content::List(_) | Content::Map(_) => key_span.unwrap_or(child.span),
                _ => child.span,
            };
            node = child;
            rest = after;
        }
        span
    }
}

impl Spans {
    /// The place of a field's key, or of the nearest key around it.
    pub fn locate_key(&self, path: &str) -> Span {
        let mut node = &*self.0;
        let mut span = first_key(node).unwrap_or(node.span);
        let mut rest = path;
        while !rest.is_empty() {
            let Some((child, key_span, after)) = step(node, rest.strip_prefix('.').unwrap_or(rest)) else { break };
            span = key_span.unwrap_or(child.span);
            (node, rest) = (child, after);
        }
        span
    }
}

fn first_key(node: &Node) -> Option<Span> {
    match &node.content {
        Content::Map(entries) => entries.first().map(|entry| entry.key_span),
        _ => None,
    }
}

/// The child that a path leads to, with the place of its key and the rest of the path.
fn step<'a, 'p>(node: &'a Node, path: &'p str) -> Option<(&'a Node, Option<Span>, &'p str)> {
    match &node.content {
        Content::List(items) => {
            let (index, after) = path.strip_prefix('[')?.split_once(']')?;
            let item = items.get(index.parse::<usize>().ok()?)?;
            Some((item, first_key(item), after))
        }
        Content::Map(entries) => {
            if let Some((key, after)) = path.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                let entry = entries.iter().find(|entry| entry.key == key)?;
                return Some((&entry.value, Some(entry.key_span), after));
            }
            // Keys may have dots in them: the longest that fits is meant.
            let fits = |entry: &&Entry| {
                path.strip_prefix(entry.key.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let entry = entries.iter().filter(fits).max_by_key(|entry| entry.key.len())?;
            Some((&entry.value, Some(entry.key_span), &path[entry.key.len()..]))
        }
        _ => None,
    }
}
