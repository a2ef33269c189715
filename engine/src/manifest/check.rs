//! Holds a document against the fields of its kind and makes the value that the API server would get.
//!
//! Types are as strict as Kubernetes' JSON decoder (`sigs.k8s.io/json`): `3.0` is a whole number, `"3"` is none.

use serde_json::{Map, Value};

use super::schema::{Field, Schema, Type, nearest};
use super::tree::{Content, Entry, Node};
use super::{Diagnostic, MAX_DIAGNOSTICS, Severity, Span, scalar};
use crate::api::Quantity;

/// Walks one document.
pub(super) struct Checker<'a> {
    schema: &'a Schema,
    pub diagnostics: Vec<Diagnostic>,
    notices: Vec<Notice>,
    path: String,
    /// The path as Go's decoder prints it: without list indices and mapping keys.
    go_path: String,
    /// Whether to say which fields are not simulated: not inside one that was said to be so already.
    says_not_simulated: bool,
}

/// A field that is kept but not simulated, told once per document.
struct Notice {
    owner: &'static str,
    field: &'static str,
    path: String,
    span: Span,
    count: usize,
}

impl<'a> Checker<'a> {
    pub fn new(schema: &'a Schema, says_not_simulated: bool) -> Self {
        Self {
            schema,
            diagnostics: Vec::new(),
            notices: Vec::new(),
            path: String::new(),
            go_path: String::new(),
            says_not_simulated,
        }
    }

    /// The value of a document of a kind.
    pub fn document(&mut self, kind: &'static str, node: &Node) -> Value {
        let value = if self.schema.has(kind) { self.object(kind, node) } else { plain(node) };
        for notice in self.notices.drain(..) {
            let times =
                if notice.count > 1 { format!(" ({} times in this document)", notice.count) } else { String::new() };
            let message = format!("not simulated, kept as written{times}");
            self.diagnostics.push(Diagnostic::new(Severity::NotSimulated, notice.span, notice.path, message));
        }
        value
    }

    fn object(&mut self, type_name: &'static str, node: &Node) -> Value {
        let Content::Map(entries) = &node.content else { return plain(node) };
        let mut map = Map::new();
        for entry in entries {
            if self.path.is_empty() && matches!(entry.key.as_str(), "apiVersion" | "kind") {
                map.insert(entry.key.clone(), plain(&entry.value));
                continue;
            }
            let length = self.path.len();
            self.push_field(&entry.key);
            let value = match self.schema.field(type_name, &entry.key) {
                Some(field) => self.field(type_name, field, entry),
                None => {
                    self.unknown_field(type_name, entry);
                    Some(plain(&entry.value)).filter(|value| !value.is_null())
                }
            };
            self.path.truncate(length);
            if let Some(value) = value {
                map.insert(entry.key.clone(), value);
            }
        }
        Value::Object(map)
    }

    fn push_field(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
    }

    fn field(&mut self, owner: &'static str, field: Field, entry: &Entry) -> Option<Value> {
        if entry.value.is_null() {
            return None;
        }
        let length = self.go_path.len();
        for part in [field.embedded, field.name] {
            if !self.go_path.is_empty() && !part.is_empty() {
                self.go_path.push('.');
            }
            self.go_path.push_str(part);
        }
        let says_not_simulated = self.says_not_simulated;
        if says_not_simulated && !field.is_simulated {
            self.notice(owner, field.name, entry.key_span);
            self.says_not_simulated = false;
        }
        let errors = self.diagnostics.len();
        let value = self.value(owner, field.kind, &entry.value);
        self.place_container_errors(errors, entry);
        self.says_not_simulated = says_not_simulated;
        self.go_path.truncate(length);
        Some(value)
    }

    /// A wrong list or mapping is underlined at its key: its own text may be many lines long.
    fn place_container_errors(&mut self, from: usize, entry: &Entry) {
        if matches!(entry.value.content, Content::List(_) | Content::Map(_)) {
            for diagnostic in self.diagnostics.iter_mut().skip(from).filter(|it| it.path == self.path) {
                diagnostic.place(entry.key_span);
            }
        }
    }

    fn notice(&mut self, owner: &'static str, field: &'static str, span: Span) {
        match self.notices.iter_mut().find(|it| it.owner == owner && it.field == field) {
            Some(notice) => notice.count += 1,
            None => self.notices.push(Notice { owner, field, path: self.path.clone(), span, count: 1 }),
        }
    }

    fn value(&mut self, owner: &'static str, kind: Type, node: &Node) -> Value {
        match (kind, &node.content) {
            (_, Content::Null) => zero(kind),
            (Type::Struct(name), Content::Map(_)) => self.object(name, node),
            (Type::List(item), Content::List(items)) => {
                let length = self.path.len();
                let values = items.iter().enumerate().map(|(index, item_node)| {
                    self.path.push_str(&format!("[{index}]"));
                    let value = self.value(owner, Type::named(item), item_node);
                    self.path.truncate(length);
                    value
                });
                Value::Array(values.collect())
            }
            (Type::Map(value_type), Content::Map(entries)) => {
                let length = self.path.len();
                let mut map = Map::new();
                for entry in entries {
                    self.path.push_str(&format!("[{}]", entry.key));
                    let value = self.value(owner, Type::named(value_type), &entry.value);
                    self.path.truncate(length);
                    map.insert(entry.key.clone(), value);
                }
                Value::Object(map)
            }
            _ => {
                if !fits(kind, node) {
                    self.wrong_type(owner, kind, node);
                }
                plain(node)
            }
        }
    }

    fn wrong_type(&mut self, owner: &str, kind: Type, node: &Node) {
        let expected = match kind {
            Type::Text => "text",
            Type::Int32 | Type::Int64 => "a whole number",
            Type::Bool => "true or false",
            Type::Quantity => "a quantity such as 100m or 64Mi",
            Type::IntOrText => "a whole number or text",
            Type::List(_) => "a list",
            Type::Map(_) | Type::Struct(_) | Type::Any => "a mapping",
        };
        let found = node.describe();
        let message = format!("expected {expected}, found {found}");
        let mut diagnostic = Diagnostic::new(Severity::Error, node.span, self.path.clone(), message);
        diagnostic.hint =
            suggestion(kind, node, self.path.rsplit(['.', '[']).next().unwrap_or_default().trim_end_matches(']'));
        diagnostic.upstream = Some(match (kind, &node.content) {
            (Type::Quantity, Content::Text(text)) => quantity_error(text).into(),
            (Type::Quantity, _) => QUANTITY_PATTERN.into(),
            _ => {
                let found = go_value(kind, node);
                let owner =
                    if self.go_path.starts_with("metadata.") && owner.is_empty() { "ObjectMeta" } else { owner };
                format!(
                    "json: cannot unmarshal {found} into Go struct field {owner}.{} of type {}",
                    self.go_path,
                    kind.go_name()
                )
            }
        });
        self.diagnostics.push(diagnostic);
    }

    fn unknown_field(&mut self, type_name: &str, entry: &Entry) {
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            return;
        }
        let path = self.path.clone();
        let mut diagnostic = Diagnostic::new(Severity::Warning, entry.key_span, path, "unknown field".into());
        let known = self.schema.fields(type_name).map(|field| field.name);
        diagnostic.hint = nearest(&entry.key, known).map(|name| format!("Did you mean {name}?"));
        diagnostic.upstream = Some(format!("unknown field \"{}\"", self.path));
        self.diagnostics.push(diagnostic);
    }
}

const QUANTITY_PATTERN: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// What `resource.ParseQuantity` says of a text that is no quantity.
fn quantity_error(text: &str) -> &'static str {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = body.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let rest = letters.strip_prefix(['+', '-']).unwrap_or(letters);
    if !text.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()) {
        "unable to parse quantity's suffix"
    } else {
        QUANTITY_PATTERN
    }
}

/// Whether a scalar, or a list or mapping in the place of one, has the type.
fn fits(kind: Type, node: &Node) -> bool {
    match (kind, &node.content) {
        (Type::Any, _) | (Type::Text | Type::IntOrText, Content::Text(_)) | (Type::Bool, Content::Bool(_)) => true,
        (Type::Int32 | Type::IntOrText, Content::Number(number)) => {
            number.as_i64().is_some_and(|value| i32::try_from(value).is_ok())
        }
        (Type::Int64, Content::Number(number)) => number.is_i64(),
        (Type::Quantity, Content::Number(_)) => true,
        (Type::Quantity, Content::Text(text)) => text.trim().parse::<Quantity>().is_ok(),
        _ => false,
    }
}

/// The value as Go's decoder names it; a number with its digits where a number was wanted.
fn go_value(kind: Type, node: &Node) -> String {
    match &node.content {
        Content::Number(number) if matches!(kind, Type::Int32 | Type::Int64 | Type::IntOrText) => {
            format!("number {}", scalar::go_number(number))
        }
        Content::Number(_) => "number".into(),
        Content::Text(_) => "string".into(),
        Content::Bool(_) => "bool".into(),
        Content::List(_) => "array".into(),
        Content::Map(_) => "object".into(),
        Content::Null => "null".into(),
    }
}

/// How the line could be written instead.
fn suggestion(kind: Type, node: &Node, field: &str) -> Option<String> {
    match (kind, &node.content) {
        (Type::Int32 | Type::Int64 | Type::IntOrText, Content::Text(text)) => match whole_number(text) {
            Some(number) => Some(format!("Try {field}: {number}")),
            None => Some(format!("Write a number, as in {field}: 3")),
        },
        (Type::Int32 | Type::IntOrText, Content::Number(number)) if number.is_i64() || number.is_u64() => {
            Some("The largest number here is 2147483647".into())
        }
        (Type::Int32 | Type::Int64 | Type::IntOrText, Content::Number(number)) => {
            let rounded = number.as_f64().filter(|it| it.abs() < 1e6).map(|it| it as i64)?;
            Some(format!("Try {field}: {rounded}"))
        }
        (Type::Text, Content::Number(_) | Content::Bool(_)) => {
            Some(format!("Put it in quotes: {field}: \"{}\"", node.describe()))
        }
        (Type::Bool, Content::Text(text)) => {
            let value = matches!(scalar::plain(text), Ok(Value::Bool(true)));
            matches!(scalar::plain(text), Ok(Value::Bool(_))).then(|| format!("Without quotes: {field}: {value}"))
        }
        (Type::List(_), _) => Some("Begin each item with a dash: \"- \"".into()),
        (Type::Map(_) | Type::Struct(_), Content::List(_)) => Some("Leave the dash away".into()),
        (Type::Map(_) | Type::Struct(_), _) => Some("Put its fields on the lines below, indented".into()),
        _ => None,
    }
}

/// A number written in quotes or as a word.
fn whole_number(text: &str) -> Option<i64> {
    const WORDS: [&str; 11] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = WORDS.iter().position(|word| word.eq_ignore_ascii_case(text.trim())).map(|index| index as i64);
    word.or_else(|| text.trim().parse().ok())
}

/// What Go's decoder leaves where null stands for an item of a list or mapping.
fn zero(kind: Type) -> Value {
    match kind {
        Type::Text => "".into(),
        Type::Int32 | Type::Int64 | Type::IntOrText => 0.into(),
        Type::Bool => false.into(),
        Type::Quantity => "0".into(),
        Type::List(_) => Value::Array(Vec::new()),
        Type::Map(_) | Type::Struct(_) => Value::Object(Map::new()),
        Type::Any => Value::Null,
    }
}

/// The value as it is written, without fields that are null.
pub(super) fn plain(node: &Node) -> Value {
    match &node.content {
        Content::Null => Value::Null,
        Content::Bool(value) => Value::Bool(*value),
        Content::Number(number) => Value::Number(number.clone()),
        Content::Text(text) => Value::String(text.clone()),
        Content::List(items) => items.iter().map(plain).collect(),
        Content::Map(entries) => {
            let mut map = Map::new();
            for entry in entries.iter().filter(|entry| !entry.value.is_null()) {
                map.insert(entry.key.clone(), plain(&entry.value));
            }
            Value::Object(map)
        }
    }
}
