//! Manifests: YAML or JSON text into objects, with the place of every field and of everything that is wrong.
//!
//! Follows kubectl and the API server v1.36: how a text is cut into documents, what a scalar stands for, how strict types
//! are, and in which words each refuses (`upstream`). Deliberately milder: an unknown field is a warning and is kept, and
//! a broken document does not keep the others from being read.

mod check;
mod kinds;
mod scalar;
mod schema;
mod spans;
mod split;
mod stream;
mod syntax;
mod tree;
mod unknown;
mod write;

pub use schema::nearest;
pub use spans::{Span, Spans};
pub use stream::each_object;
pub use unknown::{take_unknown, take_unknown_at};
pub use write::{is_ambiguous, to_yaml};

use serde_json::Value;

use crate::api::{Kind, Object, Support};
use check::Checker;
use schema::Schema;
use split::Chunk;
use tree::{Content, Node, Problem};

/// The API server takes no more in one request.
const MAX_BYTES: usize = 3 * 1024 * 1024;
const MAX_DOCUMENTS: usize = 5_000;
/// Of errors, and of everything else: more would only hide what matters.
const MAX_DIAGNOSTICS: usize = 1_000;

/// What a text holds.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// The objects that could be read, in their order in the text.
    pub documents: Vec<Document>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Manifest {
    /// The documents with a mistake, of which none is sent.
    pub fn broken(&self) -> impl Iterator<Item = usize> + Clone {
        self.diagnostics.iter().filter(|it| it.severity == Severity::Error).map(|it| it.document)
    }

    /// Why nothing of it can be sent to the API server: its first mistake. Where it has to be `whole`, any mistake will do.
    pub fn refusal(&self, whole: bool) -> Option<&str> {
        let is_sent = |document: &Document| !self.broken().any(|broken| broken == document.index);
        if self.documents.iter().any(is_sent) && !(whole && self.broken().next().is_some()) {
            return None;
        }
        let first = self.diagnostics.iter().find(|it| it.severity == Severity::Error);
        Some(first.map_or("no objects in it", |it| &it.message))
    }
}

/// One object of a manifest.
#[derive(Clone, Debug)]
pub struct Document {
    pub object: Object,
    /// The object as it was written, numbers and booleans resolved and fields that are null left out.
    pub value: Value,
    pub spans: Spans,
    /// Its position among the objects of the text, counting those that could not be read.
    pub index: usize,
}

impl Document {
    /// The place of a field, or of the nearest thing around it that is there.
    pub fn locate(&self, path: &str) -> Option<Span> {
        Some(self.spans.locate(path))
    }

    /// The place of what the API server refused: inside a mapping such as `metadata.labels`, of which it names only the
    /// whole, the key or value that its message repeats.
    pub fn locate_refused(&self, path: &str, message: &str) -> Option<Span> {
        let quoted = message.strip_prefix("Invalid value: \"").and_then(|rest| rest.split_once("\": "));
        let inside = quoted.and_then(|(text, _)| self.spans.locate_inside(path, &text.replace("\\\"", "\"")));
        Some(inside.unwrap_or_else(|| self.spans.locate(path)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The object cannot be read.
    Error,
    /// Kubernetes may refuse it; Loopscope takes it.
    Warning,
    /// Valid in Kubernetes, kept, and without effect here.
    NotSimulated,
}

/// Who finds the mistake when kubectl applies the manifest, which decides the words around `upstream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// kubectl: `error: error parsing STDIN: error converting YAML to JSON: …`
    Parse,
    /// kubectl: `error: error validating "STDIN": error validating data: …; if you choose to ignore these errors, …`
    Validate,
    /// kubectl: `error: …`
    Find,
    /// The server: `Error from server (BadRequest): error when creating "STDIN": …`
    Decode,
    /// Nobody: Kubernetes takes it.
    Nobody,
}

/// Something to tell about a place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// How many characters to underline.
    pub length: u32,
    /// The field, such as `spec.replicas`, or nothing.
    pub path: String,
    /// What is wrong or to know, without the path.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    pub stage: Stage,
    /// What Kubernetes says of it, without the words that `stage` stands for.
    pub upstream: Option<String>,
    /// The position of its object among all of the text.
    pub document: usize,
}

impl Diagnostic {
    fn new(severity: Severity, span: Span, path: String, message: String) -> Self {
        let mut diagnostic = Self {
            severity,
            line: 0,
            column: 0,
            length: 0,
            path,
            message,
            hint: None,
            stage: if severity == Severity::NotSimulated { Stage::Nobody } else { Stage::Decode },
            upstream: None,
            document: 0,
        };
        diagnostic.place(span);
        diagnostic
    }

    fn place(&mut self, span: Span) {
        (self.line, self.column, self.length) = (span.line, span.column, span.length);
    }
}

impl From<Problem> for Diagnostic {
    fn from(problem: Problem) -> Self {
        let severity = if problem.is_error { Severity::Error } else { Severity::Warning };
        let mut diagnostic = Self::new(severity, problem.span, String::new(), problem.message);
        diagnostic.hint = problem.hint;
        diagnostic.stage = if problem.is_error { Stage::Parse } else { Stage::Nobody };
        diagnostic.upstream = problem.upstream;
        diagnostic
    }
}

impl Manifest {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity == Severity::Error)
    }

    /// What `kubectl apply` prints where it refuses an object of the text, unknown fields included.
    /// `STDIN` stands for the name of the file.
    pub fn kubectl_error(&self, document: usize) -> Option<String> {
        let mut found = self.diagnostics.iter().filter(|it| it.document == document && it.upstream.is_some());
        let first = found.clone().find(|it| it.severity == Severity::Error).or_else(|| found.next())?;
        let text = first.upstream.as_deref()?;
        Some(match first.stage {
            Stage::Parse if text.starts_with("invalid Yaml") => format!("error: error parsing STDIN: {text}"),
            Stage::Parse => format!("error: error parsing STDIN: error converting YAML to JSON: {text}"),
            Stage::Validate => format!(
                "error: error validating \"STDIN\": error validating data: {text}; if you choose to ignore these errors, turn validation off with --validate=false"
            ),
            Stage::Find => format!("error: {text}"),
            Stage::Decode if first.severity == Severity::Error => decode_error(first, text),
            _ => self.strict_error(document)?,
        })
    }

    /// The server's refusal of unknown fields, sorted as it sorts them.
    fn strict_error(&self, document: usize) -> Option<String> {
        let unknown = self.diagnostics.iter().filter(|it| it.document == document && it.severity == Severity::Warning);
        let mut fields: Vec<&str> = Vec::new();
        for field in unknown.filter_map(|it| it.upstream.as_deref()) {
            if let Err(at) = fields.binary_search(&field) {
                fields.insert(at, field);
            }
        }
        let kind = self.documents.iter().find(|it| it.index == document)?.object.kind();
        Some(format!(
            "Error from server (BadRequest): error when creating \"STDIN\": {} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
            kind.name(),
            kind.version(),
            kind.name(),
            fields.join(", ")
        ))
    }
}

/// kubectl itself decodes `metadata`, the server the rest.
fn decode_error(diagnostic: &Diagnostic, text: &str) -> String {
    if diagnostic.path.starts_with("metadata.") && text.contains("json: ") {
        let text = text.split_once("json: ").map_or(text, |(_, rest)| rest);
        return format!("error: unable to decode \"STDIN\": json: {text}");
    }
    format!("Error from server (BadRequest): error when creating \"STDIN\": {text}")
}

/// The first of a path's fields that the type before it does not have.
pub fn unknown_field(kind: Kind, path: &[&str]) -> Option<String> {
    let schema = Schema::new();
    let mut owner = kind.name();
    for name in path {
        // What is reported is in no manifest, and so not in the schema.
        if owner == kind.name() && matches!(*name, "apiVersion" | "kind" | "status") {
            return None;
        }
        let Some(field) = schema.field(owner, name) else { return Some((*name).into()) };
        owner = match field.kind {
            schema::Type::Struct(name) => name,
            schema::Type::List(name) | schema::Type::Map(name) => name,
            _ => "",
        };
    }
    None
}

/// Reads a text of YAML or JSON documents.
pub fn read(text: &str) -> Manifest {
    let mut reader = Reader { schema: Schema::new(), manifest: Manifest::default(), next: 0 };
    if text.len() > MAX_BYTES {
        let tenths = text.len() * 10 / (1024 * 1024);
        let message = format!(
            "The manifest is {}.{} MB. The API server takes at most 3 MiB in one request.",
            tenths / 10,
            tenths % 10
        );
        let mut diagnostic =
            Diagnostic::new(Severity::Error, Span { line: 1, column: 1, length: 1 }, String::new(), message);
        diagnostic.hint = Some("Apply it in several parts".into());
        reader.manifest.diagnostics.push(diagnostic);
        return reader.manifest;
    }
    for chunk in split::documents(text) {
        if reader.next > MAX_DOCUMENTS {
            break;
        }
        reader.chunk(&chunk);
    }
    let mut counts = [0; 2];
    reader.manifest.diagnostics.retain(|it| {
        let count = &mut counts[usize::from(it.severity == Severity::Error)];
        *count += 1;
        *count <= MAX_DIAGNOSTICS
    });
    reader.manifest
}

/// The one document of a text that is no manifest. Fields that are null are left out.
///
/// # Errors
/// What is wrong with the text as YAML, and where.
pub fn value(text: &str) -> Result<Value, Diagnostic> {
    let mut problems = Vec::new();
    let root = tree::parse(text, 0, &mut problems);
    match problems.into_iter().find(|it| it.is_error) {
        Some(problem) => Err(problem.into()),
        None => Ok(root.as_ref().map_or(Value::Null, check::plain)),
    }
}

/// The same, with the places of its fields.
///
/// # Errors
/// What is wrong with the text as YAML, and where.
pub fn located(text: &str) -> Result<(Value, Spans), Diagnostic> {
    let mut problems = Vec::new();
    let root = tree::parse(text, 0, &mut problems);
    if let Some(problem) = problems.into_iter().find(|it| it.is_error) {
        return Err(problem.into());
    }
    let start = Span { line: 1, column: 1, length: 1 };
    let root = root.unwrap_or(Node { content: Content::Null, span: start });
    Ok((check::plain(&root), Spans::new(root)))
}

struct Reader {
    schema: Schema,
    manifest: Manifest,
    next: usize,
}

impl Reader {
    fn chunk(&mut self, chunk: &Chunk<'_>) {
        if let Some(junk) = chunk.junk {
            self.junk(junk, chunk.first_line);
        }
        let mut problems = Vec::new();
        let root = tree::parse(chunk.text, chunk.first_line, &mut problems);
        let is_broken = root.is_none() && !problems.is_empty();
        for problem in problems {
            self.push(problem.into());
        }
        if is_broken {
            self.next += 1;
        }
        let mut objects = Vec::new();
        if let Some(root) = root.filter(|node| !node.is_null()) {
            kinds::unfold(root, &mut objects);
        }
        for object in objects {
            if self.next == MAX_DOCUMENTS {
                let message = format!("More than {MAX_DOCUMENTS} documents: the rest is not read");
                self.push(Diagnostic::new(Severity::Error, object.span, String::new(), message));
                self.next += 1;
                return;
            }
            self.object(object);
            self.next += 1;
        }
    }

    fn push(&mut self, mut diagnostic: Diagnostic) {
        diagnostic.document = self.next;
        self.manifest.diagnostics.push(diagnostic);
    }

    fn junk(&mut self, junk: &str, line: u32) {
        let span = Span { line, column: 4, length: junk.chars().count() as u32 + 1 };
        let message = "Only a comment may follow --- on its line".to_owned();
        let mut diagnostic = Diagnostic::new(Severity::Error, span, String::new(), message);
        diagnostic.hint = Some("Put it on the next line".into());
        diagnostic.stage = Stage::Parse;
        diagnostic.upstream = Some(format!("invalid Yaml document separator: {junk}"));
        self.push(diagnostic);
    }

    fn object(&mut self, node: Node) {
        let found = match kinds::find(&node) {
            Ok(found) => found,
            Err(diagnostic) => return self.push(diagnostic),
        };
        let kind = found.kind;
        let mut checker = Checker::new(&self.schema, kind.support() == Support::Simulated);
        let mut value = checker.document(kind.name(), &node);
        let mut diagnostics = checker.diagnostics;
        diagnostics.retain(|it| !kinds::is_converted(&found, &it.path));
        diagnostics.extend(unusable_name(kind, &node));
        kinds::convert(&found, &mut value);
        if kind.support() == Support::StoredOnly {
            let span = node.get("kind").map_or(node.span, |it| it.span);
            let message = format!("{} is stored and shown; no controller acts on it yet", kind.name());
            diagnostics.push(Diagnostic::new(Severity::NotSimulated, span, "kind".into(), message));
        }
        let spans = Spans::new(node);
        let object = if diagnostics.iter().any(|it| it.severity == Severity::Error) {
            None
        } else {
            match Object::from_value(kind, value.clone()) {
                Ok(object) => Some(object),
                Err(error) => {
                    let span = spans.locate(&error.path);
                    diagnostics.push(Diagnostic::new(Severity::Error, span, error.path, error.message));
                    None
                }
            }
        };
        for mut diagnostic in diagnostics {
            if diagnostic.severity == Severity::Error && diagnostic.stage == Stage::Decode {
                diagnostic.upstream = diagnostic.upstream.map(|text| {
                    let (name, version) = (kind.name(), kind.version());
                    format!("{name} in version \"{version}\" cannot be handled as a {name}: {text}")
                });
            }
            self.push(diagnostic);
        }
        if let Some(object) = object {
            let index = self.next;
            self.manifest.documents.push(Document { object, value, spans, index });
        }
    }
}

/// kubectl looks an object up by its name before anything else.
fn unusable_name(kind: Kind, node: &Node) -> Option<Diagnostic> {
    let metadata = node.get("metadata");
    let field = |name: &str| metadata.and_then(|it| it.get(name)).filter(|it| !it.is_null());
    let name = field("name").map_or(Some(""), Node::text)?;
    let upstream = if name.is_empty() {
        if field("generateName").and_then(Node::text).is_some_and(|it| !it.is_empty()) {
            return None;
        }
        "resource name may not be empty".to_owned()
    } else {
        let wrong: Vec<String> = match name {
            "." | ".." => vec![format!("may not be '{name}'")],
            _ => {
                ['/', '%'].iter().filter(|it| name.contains(**it)).map(|it| format!("may not contain '{it}'")).collect()
            }
        };
        if wrong.is_empty() {
            return None;
        }
        format!("invalid resource name \"{name}\": [{}]", wrong.join(" "))
    };
    let key = match &node.content {
        Content::Map(entries) => entries.iter().find(|it| it.key == "metadata").map(|it| it.key_span),
        _ => None,
    };
    let span = field("name").map(|it| it.span).or(key).unwrap_or(node.span);
    let mut diagnostic = Diagnostic::new(Severity::Error, span, "metadata.name".into(), upstream.clone());
    diagnostic.hint = Some("Give it a name of lower-case letters, digits and dashes, as in name: web".into());
    diagnostic.stage = Stage::Find;
    let (version, plural, kind_name) = (kind.api_version(), kind.plural(), kind.name());
    let namespace =
        field("namespace").and_then(Node::text).unwrap_or(if kind.is_namespaced() { "default" } else { "" });
    diagnostic.upstream = Some(format!(
        "error when retrieving current configuration of:\nResource: \"{version}, Resource={plural}\", GroupVersionKind: \"{version}, Kind={kind_name}\"\nName: \"{name}\", Namespace: \"{namespace}\"\nfrom server for: \"STDIN\": {upstream}"
    ));
    Some(diagnostic)
}
