//! Manifests that a line names with `-f`.

use serde_json::Value;

use super::{Context, Failure, Problem, apply_patch, server_side};
use crate::api::{Kind, Name, Object};
use crate::manifest::{Document, Manifest, read};

/// An object of a manifest, with the name of where it was read.
pub struct Item {
    pub object: Object,
    pub value: Value,
    pub source: String,
    pub warnings: Vec<String>,
}

impl Item {
    pub fn kind(&self) -> Kind {
        self.object.kind()
    }

    /// What the manifest says, with the names of its kind.
    pub fn typed(&self) -> Value {
        let mut value = self.value.clone();
        if let Some(map) = value.as_object_mut() {
            map.insert("apiVersion".into(), self.kind().api_version().into());
            map.insert("kind".into(), self.kind().name().into());
        }
        value
    }
}

impl Context<'_> {
    /// The texts that `-f` names, with the names that errors give them.
    ///
    /// # Errors
    /// Where there is no such file.
    pub fn texts(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut texts = Vec::new();
        for file in self.args.all("filename") {
            let name = file.strip_prefix("./").unwrap_or(file);
            if file == "-" {
                texts.push(("STDIN".to_string(), self.input.clone().unwrap_or_default()));
            } else if file.starts_with("http://") || file.starts_with("https://") {
                return Err(Failure::not_simulated(
                    "reading manifests from the web",
                    "Paste the text with a here-document",
                ));
            } else if matches!(file, "." | "./") {
                let of_manifests = |name: &str| [".yaml", ".yml", ".json"].iter().any(|it| name.ends_with(it));
                texts.extend(self.console.files.iter().filter(|(name, _)| of_manifests(name)).cloned());
                if texts.is_empty() {
                    return Err(Failure::error("error reading [.]: recognized file extensions are [.json .yaml .yml]"));
                }
            } else {
                let found = self.console.files.iter().find(|(known, _)| known == name);
                let (known, text) =
                    found.ok_or_else(|| Failure::errors(&["the path \"", file, "\" does not exist"]))?;
                texts.push((known.clone(), text.clone()));
            }
        }
        Ok(texts)
    }

    /// The objects that `-f` names, in their order. What cannot be read is noted as a problem.
    ///
    /// # Errors
    /// Where there is no such file.
    pub fn items(&mut self, is_strict: bool) -> Result<Vec<Item>, Failure> {
        let is_applied = is_strict && self.args.path == "kubectl apply" && !self.args.is("server-side");
        let mut items = Vec::new();
        for (source, text) in self.texts()? {
            let manifest = read(&text);
            if is_applied {
                let live = |kind: Kind, value: &Value| {
                    let name = value.pointer("/metadata/name")?.as_str()?;
                    let space = value.pointer("/metadata/namespace").and_then(Value::as_str);
                    match space {
                        Some(space) => self.live_in(kind, &space.into(), name).ok(),
                        None => self.live(kind, name).ok(),
                    }
                };
                if let Some(problem) = apply_patch::refusal(&manifest, &text, live) {
                    self.problems.push(problem);
                    continue;
                }
            }
            if is_strict && self.args.is("server-side") && self.args.path == "kubectl apply" {
                let namespace = self.namespace();
                if let Some(problem) = server_side::refusal(&manifest, &text, &namespace) {
                    self.problems.push(problem);
                    continue;
                }
            }
            let numbers = manifest.diagnostics.iter().map(|it| it.document);
            let last = numbers.chain(manifest.documents.iter().map(|it| it.index)).max();
            for index in 0..last.map_or(0, |last| last + 1) {
                let error = if is_strict { manifest.kubectl_error(index) } else { hard_error(&manifest, index) };
                if let Some(error) = error {
                    let error = error.replace("STDIN", &source);
                    self.problems.push(Problem::Plain(error));
                    if is_unreadable(&manifest, index) {
                        break;
                    }
                    continue;
                }
                if let Some(document) = manifest.documents.iter().find(|it| it.index == index) {
                    items.push(self.item(
                        document,
                        &source,
                        if is_strict { Vec::new() } else { unknown(&manifest, index) },
                    )?);
                }
            }
        }
        Ok(items)
    }

    fn item(&self, document: &Document, source: &str, warnings: Vec<String>) -> Result<Item, Failure> {
        let mut object = document.object.clone();
        let given = object.meta().namespace.clone();
        let wanted = self.args.text("namespace");
        if object.kind().is_namespaced() {
            if !given.is_empty() && !wanted.is_empty() && *given != *wanted {
                return Err(Failure::errors(&[
                    "the namespace from the provided object \"",
                    &given,
                    "\" does not match the namespace \"",
                    wanted,
                    "\". You must pass '--namespace=",
                    &given,
                    "' to perform this operation.",
                ]));
            }
            if given.is_empty() {
                object.meta_mut().namespace = self.namespace();
            }
        } else {
            object.meta_mut().namespace = Name::default();
        }
        Ok(Item { object, value: document.value.clone(), source: source.into(), warnings })
    }
}

fn is_unreadable(manifest: &Manifest, index: usize) -> bool {
    use crate::manifest::Stage;
    manifest.diagnostics.iter().any(|it| it.document == index && it.stage == Stage::Parse && it.upstream.is_some())
}

/// What is refused even where unknown fields are not.
fn hard_error(manifest: &Manifest, index: usize) -> Option<String> {
    use crate::manifest::Severity;
    let is_hard = manifest
        .diagnostics
        .iter()
        .any(|it| it.document == index && it.severity == Severity::Error && it.upstream.is_some());
    is_hard.then(|| manifest.kubectl_error(index)).flatten()
}

/// Unknown fields, for those who only want to be warned.
fn unknown(manifest: &Manifest, index: usize) -> Vec<String> {
    use crate::manifest::Severity;
    let of = manifest.diagnostics.iter().filter(|it| it.document == index && it.severity == Severity::Warning);
    of.filter_map(|it| it.upstream.clone()).collect()
}
