//! YAML as a tree of values, each with its place in the text.

use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

use super::{MAX_DIAGNOSTICS, Span, scalar, syntax};

/// Nesting that a manifest may have.
const MAX_DEPTH: usize = 100;
/// Values that the aliases of one document may stand for together, against alias bombs.
const MAX_ALIASED: usize = 200_000;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub content: Content,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

/// Something wrong with the text itself.
pub(super) struct Problem {
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
    /// The error as kubectl words it, without its line.
    pub upstream: Option<String>,
    pub is_error: bool,
}

impl Problem {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None, upstream: None, is_error: true }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn upstream(mut self, text: impl Into<String>) -> Self {
        self.upstream = Some(text.into());
        self
    }
}

impl Node {
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Null)
    }

    /// What a message calls the value.
    pub fn describe(&self) -> String {
        match &self.content {
            Content::Null => "nothing".into(),
            Content::Bool(value) => value.to_string(),
            Content::Number(number) => scalar::go_number(number),
            Content::Text(text) if text.chars().count() > 40 => {
                format!("\"{}…\"", text.chars().take(40).collect::<String>())
            }
            Content::Text(text) => format!("\"{text}\""),
            Content::List(_) => "a list".into(),
            Content::Map(_) => "a mapping".into(),
        }
    }
}

/// Reads the first document of a text. `first_line` is the number of lines before the text.
pub(super) fn parse(text: &str, first_line: u32, problems: &mut Vec<Problem>) -> Option<Node> {
    if let Some(problem) = control_character(text, first_line) {
        problems.push(problem);
        return None;
    }
    // YAML 1.1 takes these for line breaks, YAML 1.2 does not.
    let replaced: String;
    let text = if text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        replaced = text.replace(['\u{85}', '\u{2028}', '\u{2029}'], "\n");
        replaced.as_str()
    } else {
        text
    };
    let mut builder = Builder { first_line, ..Builder::default() };
    let mut result = builder.read(text, &mut |_| {});
    if result.is_err() && text.contains(":\t") {
        // A tab after a colon is fine in YAML 1.1 and not in 1.2; in text that has other faults it does no harm.
        let mut second = Builder { first_line, ..Builder::default() };
        if second.read(&text.replace(":\t", ": "), &mut |_| {}).is_ok() {
            (builder, result) = (second, Ok(()));
        }
    }
    problems.append(&mut builder.warnings);
    match result {
        Ok(()) => builder.root,
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Reads the first document of a text, and hands on the items of a list while it does: the tree has none of them.
pub(super) fn stream(text: &str, first_line: u32, sink: &mut dyn FnMut(Node)) -> Result<Option<Node>, Problem> {
    if let Some(problem) = control_character(text, first_line) {
        return Err(problem);
    }
    let mut builder = Builder { first_line, streams: true, ..Builder::default() };
    builder.read(text, sink)?;
    Ok(builder.root)
}

fn control_character(text: &str, first_line: u32) -> Option<Problem> {
    let is_bad = |c: char| (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || c == '\u{fffe}';
    let at = text.find(is_bad)?;
    let before = &text[..at];
    let line = first_line + before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
    let span = Span { line, column, length: 1 };
    let code = text[at..].chars().next().map_or(0, u32::from);
    Some(
        Problem::error(span, format!("This is not text: character U+{code:04X} is not allowed in YAML"))
            .hint("Remove it, or write it as an escape in double quotes")
            .upstream("yaml: control characters are not allowed"),
    )
}

fn to_span(span: saphyr_parser::Span, first_line: u32) -> Span {
    let (start, end) = (span.start, span.end);
    let length = if start.line() == end.line() { end.col().saturating_sub(start.col()) } else { 1 };
    Span { line: start.line() as u32 + first_line, column: start.col() as u32 + 1, length: length.max(1) as u32 }
}

#[derive(Default)]
struct Builder {
    first_line: u32,
    root: Option<Node>,
    open: Vec<Open>,
    /// By the parser's number for them.
    anchors: Vec<Option<Anchor>>,
    aliased: usize,
    warnings: Vec<Problem>,
    /// Items of the document's own list are not kept but handed on.
    streams: bool,
    ready: Option<Node>,
}

/// A list or mapping whose end has not come yet.
struct Open {
    node: Node,
    anchor: usize,
    key: Option<Key>,
    /// Where each key of a mapping is. Numbers as JSON, since this kind of tree is there in any case; not the engine's
    /// own sorted list, into which many keys in another order go slowly.
    keys: Map<String, Value>,
    /// Which entries were written there and not merged in.
    written: Vec<bool>,
}

impl Open {
    fn place(&self, key: &str) -> Option<usize> {
        self.keys.get(key).and_then(Value::as_u64).and_then(|place| usize::try_from(place).ok())
    }
}

struct Key {
    text: String,
    span: Span,
    is_merge: bool,
}

struct Anchor {
    node: Rc<Node>,
    size: usize,
    height: usize,
}

type Built = Result<(), Box<Problem>>;

impl Builder {
    fn read(&mut self, text: &str, sink: &mut dyn FnMut(Node)) -> Result<(), Problem> {
        let mut parser = Parser::new_from_str(text);
        loop {
            match parser.next_event() {
                None | Some(Ok((Event::DocumentEnd | Event::StreamEnd, _))) => return Ok(()),
                Some(Ok((event, span))) => {
                    self.event(event, span).map_err(|problem| *problem)?;
                    if let Some(item) = self.ready.take() {
                        sink(item);
                    }
                }
                Some(Err(error)) => return Err(syntax::problem(&error, text, self.first_line)),
            }
        }
    }

    fn event(&mut self, event: Event<'_>, at: saphyr_parser::Span) -> Built {
        let span = to_span(at, self.first_line);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                if self.expects_key() {
                    return self.key(&text, is_plain, tag.as_deref(), span);
                }
                let content = content(&text, is_plain, tag.as_deref()).map_err(|reason| not_json(span, reason))?;
                self.finish(Node { content, span }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.start(Content::List(Vec::new()), span, anchor),
            Event::MappingStart(anchor, _) => self.start(Content::Map(Vec::new()), span, anchor),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(done) => self.finish(done.node, done.anchor),
                None => Ok(()),
            },
            Event::Alias(id) => self.alias(id, span),
            _ => Ok(()),
        }
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| matches!(open.node.content, Content::Map(_)) && open.key.is_none())
    }

    fn start(&mut self, content: Content, span: Span, anchor: usize) -> Built {
        if self.expects_key() {
            return Err(Box::new(
                Problem::error(span, "A key must be text, not a list or mapping").upstream("yaml: invalid map key"),
            ));
        }
        self.check_depth(self.open.len() + 1, span)?;
        self.open.push(Open { node: Node { content, span }, anchor, key: None, keys: Map::new(), written: Vec::new() });
        Ok(())
    }

    fn check_depth(&self, depth: usize, span: Span) -> Built {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        Err(Box::new(Problem::error(span, format!("Nested more than {MAX_DEPTH} levels deep"))))
    }

    fn key(&mut self, text: &str, is_plain: bool, tag: Option<&Tag>, span: Span) -> Built {
        let is_merge = is_plain && tag.is_none() && text == "<<";
        let text = match content(text, is_plain, tag).map_err(|reason| not_json(span, reason))? {
            Content::Text(text) => text,
            Content::Bool(value) => value.to_string(),
            Content::Number(number) => scalar::go_number(&number),
            _ => {
                return Err(Box::new(
                    Problem::error(span, "A key is missing: null cannot be one")
                        .upstream("unsupported map key of type: %!s(<nil>), key: <nil>"),
                ));
            }
        };
        if let Some(open) = self.open.last_mut() {
            open.key = Some(Key { text, span, is_merge });
        }
        Ok(())
    }

    fn alias(&mut self, id: usize, span: Span) -> Built {
        if self.expects_key() {
            let text =
                self.anchors.get(id).and_then(Option::as_ref).and_then(|anchor| anchor.node.text().map(str::to_owned));
            return match (text, self.open.last_mut()) {
                (Some(text), Some(open)) => {
                    open.key = Some(Key { text, span, is_merge: false });
                    Ok(())
                }
                _ => Err(Box::new(Problem::error(span, "A key must be text"))),
            };
        }
        let Some(anchor) = self.anchors.get(id).and_then(Option::as_ref) else {
            return Err(Box::new(
                Problem::error(span, "This alias stands inside the value that it refers to")
                    .upstream("yaml: anchor value contains itself"),
            ));
        };
        let (size, height, node) = (anchor.size, anchor.height, Rc::clone(&anchor.node));
        self.spend(size, span)?;
        self.check_depth(self.open.len() + height, span)?;
        self.finish(Node { content: node.content.clone(), span }, 0)
    }

    /// Counts values that anchors and aliases copy.
    fn spend(&mut self, size: usize, span: Span) -> Built {
        self.aliased += size;
        if self.aliased <= MAX_ALIASED {
            return Ok(());
        }
        Err(Box::new(
            Problem::error(span, format!("Aliases stand for more than {MAX_ALIASED} values"))
                .upstream("yaml: document contains excessive aliasing"),
        ))
    }

    /// Puts a whole value where it belongs.
    fn finish(&mut self, node: Node, anchor: usize) -> Built {
        if anchor > 0 {
            let (size, height) = measure(&node);
            self.spend(size, node.span)?;
            if self.anchors.len() <= anchor {
                self.anchors.resize_with(anchor + 1, || None);
            }
            self.anchors[anchor] = Some(Anchor { node: Rc::new(node.clone()), size, height });
        }
        let holds_items = |open: &Open| open.key.as_ref().is_some_and(|key| key.text == "items");
        let is_item = self.streams && self.open.len() == 2 && self.open.first().is_some_and(holds_items);
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return Ok(());
        };
        match (&mut open.node.content, open.key.take()) {
            (Content::List(_), _) if is_item => self.ready = Some(node),
            (Content::List(items), _) => items.push(node),
            (Content::Map(_), Some(key)) if key.is_merge => merge(open, &node, key.span)?,
            (Content::Map(_), Some(key)) => {
                let is_twice = open.place(&key.text).is_some_and(|place| open.written[place]);
                if is_twice && self.warnings.len() >= MAX_DIAGNOSTICS {
                    let message = format!("More than {MAX_DIAGNOSTICS} keys stand here twice");
                    return Err(Box::new(Problem::error(key.span, message.as_str()).upstream(message)));
                }
                if is_twice {
                    self.warnings.push(duplicate(&key));
                }
                set(open, Entry { key: key.text, key_span: key.span, value: node }, true);
            }
            _ => {}
        }
        Ok(())
    }
}

fn not_json(span: Span, reason: String) -> Box<Problem> {
    Box::new(Problem::error(span, format!("JSON has no such value: {reason}")).upstream(reason))
}

fn duplicate(key: &Key) -> Problem {
    Problem {
        span: key.span,
        message: format!("the key \"{}\" stands here twice, and the last one counts", key.text),
        hint: Some("Remove one of the two".into()),
        upstream: None,
        is_error: false,
    }
}

/// Sets a key of the open mapping; the last one wins.
fn set(open: &mut Open, entry: Entry, written: bool) {
    let place = open.place(&entry.key);
    let Content::Map(entries) = &mut open.node.content else { return };
    match place {
        Some(place) => {
            open.written[place] |= written;
            if let Some(old) = entries.get_mut(place) {
                *old = entry;
            }
        }
        None => {
            open.keys.insert(entry.key.clone(), entries.len().into());
            open.written.push(written);
            entries.push(entry);
        }
    }
}

/// `<<`: the entries of a mapping, or of several where the earlier win.
fn merge(open: &mut Open, node: &Node, span: Span) -> Built {
    let sources = match &node.content {
        Content::Map(_) => std::slice::from_ref(node),
        Content::List(items) => items.as_slice(),
        _ => &[],
    };
    if sources.is_empty() || sources.iter().any(|source| !matches!(source.content, Content::Map(_))) {
        return Err(Box::new(
            Problem::error(span, "<< takes a mapping or a list of mappings")
                .upstream("yaml: map merge requires map or sequence of maps as the value"),
        ));
    }
    for source in sources.iter().rev() {
        if let Content::Map(entries) = &source.content {
            for entry in entries {
                set(open, entry.clone(), false);
            }
        }
    }
    Ok(())
}

/// The number of values in a tree, and how deep it goes.
fn measure(node: &Node) -> (usize, usize) {
    let children: Vec<(usize, usize)> = match &node.content {
        Content::List(items) => items.iter().map(measure).collect(),
        Content::Map(entries) => entries.iter().map(|entry| measure(&entry.value)).collect(),
        _ => return (1, 0),
    };
    let size = children.iter().map(|(size, _)| size).sum::<usize>() + 1;
    let height = children.iter().map(|(_, height)| *height).max().unwrap_or(0) + 1;
    (size, height)
}

fn content(text: &str, is_plain: bool, tag: Option<&Tag>) -> Result<Content, String> {
    let tag = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    let resolves = match tag {
        Some("str") => false,
        Some("binary") => {
            let decoded = scalar::binary(text).ok_or("yaml: !!binary value contains invalid base64 data")?;
            return Ok(Content::Text(decoded));
        }
        Some("int" | "float" | "bool" | "null") => true,
        _ => is_plain,
    };
    if !resolves {
        return Ok(Content::Text(text.into()));
    }
    Ok(match scalar::plain(text)? {
        Value::Bool(value) => Content::Bool(value),
        Value::Number(number) => Content::Number(number),
        Value::String(text) => Content::Text(text),
        _ => Content::Null,
    })
}
