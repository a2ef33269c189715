//! The forms in which objects are printed: `-o yaml`, `json`, `name`, `jsonpath=…`, `custom-columns=…`.

use serde_json::{Map, Value};

use super::flags::Args;
use super::jsonpath::{Template, go, relaxed};
use super::tab::Table;
use super::value::text;
use super::{Failure, json, reference};
use crate::api::{Kind, Object};
use crate::apiserver::managed_fields;
use crate::manifest::to_yaml;

/// A form of output.
pub enum Format {
    Table { wide: bool },
    Name,
    Yaml,
    Json,
    Kyaml,
    JsonPath(Template, String),
    Columns(Vec<(String, Template)>),
    Go(Vec<(String, String)>),
}

const FORMATS: &str =
    "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml";
const GET_FORMATS: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml";

/// The form that a line asks for; `of_get`: tables are among them.
///
/// # Errors
/// kubectl's words for what is no form.
pub fn format(args: &Args, of_get: bool) -> Result<Format, Failure> {
    let asked = args.text("output");
    let (name, rest) = asked.split_once('=').unwrap_or((asked, ""));
    let template = if rest.is_empty() { args.text("template") } else { rest };
    Ok(match name {
        "" if !args.text("template").is_empty() => Format::Go(go_template(template)?),
        "" => Format::Table { wide: false },
        "wide" if of_get => Format::Table { wide: true },
        "name" => Format::Name,
        "yaml" => Format::Yaml,
        "json" => Format::Json,
        "kyaml" => Format::Kyaml,
        "jsonpath" if template.is_empty() => {
            return Err(Failure::error("template format specified but no template given"));
        }
        "jsonpath" => match Template::read(template) {
            Ok(read) => Format::JsonPath(read, template.into()),
            Err(error) => return Err(Failure::errors(&["error parsing jsonpath ", template, ", ", &error])),
        },
        "custom-columns" if of_get => Format::Columns(custom_columns(rest)?),
        "go-template" | "template" if template.is_empty() => {
            return Err(Failure::error("template format specified but no template given"));
        }
        "go-template" | "template" => Format::Go(go_template(template)?),
        "jsonpath-as-json" | "jsonpath-file" | "custom-columns-file" | "go-template-file" | "templatefile" => {
            return Err(Failure::not_simulated(&["the output format ", name].concat(), ""));
        }
        _ => {
            let known = if of_get { GET_FORMATS } else { FORMATS };
            return Err(Failure::errors(&[
                "unable to match a printer suitable for the output format \"",
                asked,
                "\", allowed formats are: ",
                known,
            ]));
        }
    })
}

fn custom_columns(spec: &str) -> Result<Vec<(String, Template)>, Failure> {
    if spec.is_empty() {
        return Err(Failure::error("custom-columns format specified but no custom columns given"));
    }
    let mut columns = Vec::new();
    for part in spec.split(',') {
        let Some((header, path)) = part.split_once(':') else {
            return Err(Failure::errors(&[
                "unexpected custom-columns spec: ",
                part,
                ", expected <header>:<json-path-expr>",
            ]));
        };
        let template = relaxed(path).and_then(|it| Template::read(&it)).map_err(|error| Failure::error(&error))?;
        columns.push((header.to_string(), template));
    }
    Ok(columns)
}

/// Texts and the fields behind them, of a Go template that has nothing but fields.
fn go_template(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (action, after) = after.split_once("}}").ok_or_else(|| {
            Failure::errors(&["error parsing template ", text, ", template: output:1: unclosed action"])
        })?;
        let path = action.trim();
        let is_field = path.starts_with('.') && path.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        if !is_field {
            return Err(Failure::not_simulated(
                &["the Go template action {{", action, "}}"].concat(),
                "Use -o jsonpath=, which has ranges and filters",
            ));
        }
        parts.push((before.to_string(), path.trim_start_matches('.').to_string()));
        rest = after;
    }
    parts.push((rest.into(), String::new()));
    Ok(parts)
}

/// An object as it is shown: with the field managers where asked for, and with what Go always writes.
pub fn finished(object: &Object, with_managers: bool) -> Value {
    let mut value = object.to_value();
    let kept = with_managers.then(|| managed_fields(object)).filter(|it| !it.is_empty());
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        if let Some(kept) = kept {
            meta.insert("managedFields".into(), Value::Array(kept));
        } else if !with_managers {
            meta.remove("managedFields");
        }
    }
    if object.kind() == Kind::Pod {
        finish_pod(&mut value);
    }
    for path in ["/spec", "/spec/template/spec"] {
        for field in ["containers", "initContainers"] {
            let path = [path, "/", field].concat();
            for it in value.pointer_mut(&path).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(map) = it.as_object_mut() {
                    map.entry("resources").or_insert_with(|| Value::Object(Map::new()));
                }
            }
        }
    }
    value
}

/// Go leaves out no structs: `lastState: {}` and `resources: {}` stand even where nothing is in them.
fn finish_pod(value: &mut Value) {
    let empty = || Value::Object(Map::new());
    for path in ["/status/containerStatuses", "/status/initContainerStatuses"] {
        for it in value.pointer_mut(path).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(map) = it.as_object_mut() {
                let last = map.entry("lastState").or_insert_with(empty);
                if last.pointer("/waiting/reason").and_then(Value::as_str) == Some("") {
                    *last = empty();
                }
            }
        }
    }
    for it in value.pointer_mut("/status/conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(map) = it.as_object_mut() {
            map.entry("lastProbeTime").or_insert(Value::Null);
        }
    }
}

/// A list as kubectl makes one of several objects.
pub fn list_of(items: Vec<Value>) -> Value {
    let mut map = Map::new();
    let mut meta = Map::new();
    meta.insert("resourceVersion".into(), "".into());
    map.insert("apiVersion".into(), "v1".into());
    map.insert("items".into(), Value::Array(items));
    map.insert("kind".into(), "List".into());
    map.insert("metadata".into(), Value::Object(meta));
    Value::Object(map)
}

impl Format {
    pub fn is_table(&self) -> bool {
        matches!(self, Format::Table { .. })
    }

    /// Prints one value that is no table: an object, or a list.
    ///
    /// # Errors
    /// What does not fit the value.
    pub fn print(&self, value: &Value, with_headers: bool) -> Result<String, Failure> {
        Ok(match self {
            Format::Yaml => to_yaml(value),
            Format::Json => json::to_json(value, 4) + "\n",
            Format::Kyaml => json::to_kyaml(value),
            Format::JsonPath(template, source) => template.print(value).map_err(|error| {
                Failure::errors(&["error executing jsonpath \"", source, "\": Error executing template: ", &error])
            })?,
            Format::Columns(columns) => self.columns(columns, value, with_headers),
            Format::Go(parts) => {
                let mut out = String::new();
                for (before, path) in parts {
                    out += before;
                    if !path.is_empty() {
                        let found = super::value::at(value, path);
                        out += &if found.is_null() { "<no value>".into() } else { go(found) };
                    }
                }
                out
            }
            Format::Table { .. } | Format::Name => String::new(),
        })
    }

    fn columns(&self, columns: &[(String, Template)], value: &Value, with_headers: bool) -> String {
        let items: Vec<&Value> = match value.get("items").and_then(Value::as_array) {
            Some(items) if text(value, "kind") == "List" => items.iter().collect(),
            _ => vec![value],
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        if with_headers {
            rows.push(columns.iter().map(|(header, _)| header.clone()).collect());
        }
        for item in items {
            let cell = |template: &Template| {
                let found = template.find(item).unwrap_or_default();
                let parts: Vec<String> = found.into_iter().map(go).collect();
                if parts.is_empty() { "<none>".into() } else { parts.join(",") }
            };
            rows.push(columns.iter().map(|(_, template)| cell(template)).collect());
        }
        Table::default().print(&rows)
    }
}

/// What a verb that changed an object says of it: `deployment.apps/web scaled`, or the object in the form asked for.
///
/// # Errors
/// What does not fit the object.
pub fn changed(args: &Args, object: &Object, done: &str) -> Result<String, Failure> {
    let format = format(args, false)?;
    Ok(match format {
        Format::Table { .. } => [&reference(&object.key()), " ", done, "\n"].concat(),
        Format::Name => [&reference(&object.key()), "\n"].concat(),
        _ => format.print(&finished(object, args.is("show-managed-fields")), true)?,
    })
}
