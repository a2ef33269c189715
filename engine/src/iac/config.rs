use serde_json::Value;

use super::{Address, Attributes, Type};
use crate::manifest;

/// A resource as the configuration wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    pub address: Address,
    pub attributes: Attributes,
    pub ignore_changes: Vec<String>,
}

/// A resource's settings that are no attributes.
const LIFECYCLE: &str = "lifecycle";

/// Reads a configuration: YAML with `resources`, each an address and its arguments.
///
/// # Errors
/// In the tool's words, with the line where the text is no YAML.
pub fn read_config(text: &str) -> Result<Vec<Wanted>, String> {
    let value = manifest::value(text).map_err(|it| {
        let place = [it.line.max(1).to_string(), it.column.max(1).to_string()];
        [
            "Error: Invalid configuration\n\n  on main.yaml line ",
            &place[0],
            ", column ",
            &place[1],
            ":\n\n",
            &it.message,
        ]
        .concat()
    })?;
    let resources = match value.get("resources") {
        Some(Value::Object(map)) => map,
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(_) => return Err("Error: Invalid configuration\n\nresources must be a mapping.".into()),
    };
    let mut all = Vec::new();
    for (name, body) in resources {
        all.push(resource(name, body).map_err(|error| [&error, "\n\n  with ", name, "."].concat())?);
    }
    crate::sim::sort_by(&mut all, |a, b| a.address.cmp(&b.address));
    Ok(all)
}

fn resource(name: &str, body: &Value) -> Result<Wanted, String> {
    let address = Address::read(name)
        .ok_or("Error: Invalid address\n\nA resource is named by its type and a name, such as cloud_service.web.")?;
    let kind = Type::find(&address.kind).ok_or_else(|| {
        let text = ["The provider does not support resource type \"", &address.kind, "\"."].concat();
        ["Error: Invalid resource type\n\n", &text].concat()
    })?;
    let (mut attributes, mut ignore_changes) = (Attributes::new(), Vec::new());
    for (field, value) in body.as_object().into_iter().flatten() {
        if field == LIFECYCLE {
            ignore_changes = ignored(kind, value)?;
        } else {
            attributes.insert(field.clone(), kind.value(field, value)?);
        }
    }
    if let Some(it) = kind.attributes.iter().find(|it| it.is_required && !attributes.contains_key(it.name)) {
        let text = ["The argument \"", it.name, "\" is required, but no definition was found."].concat();
        return Err(["Error: Missing required argument\n\n", &text].concat());
    }
    Ok(Wanted { address, attributes, ignore_changes })
}

fn ignored(kind: &Type, lifecycle: &Value) -> Result<Vec<String>, String> {
    let list = lifecycle.get("ignore_changes").and_then(Value::as_array);
    let names = list.into_iter().flatten().filter_map(Value::as_str);
    names
        .map(|name| match kind.attribute(name) {
            Some(_) => Ok(name.to_owned()),
            None => Err([
                "Error: Unsupported attribute\n\nThis object has no argument, nested block, or exported attribute named \"",
                name,
                "\".",
            ]
            .concat()),
        })
        .collect()
}
