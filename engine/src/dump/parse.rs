//! The objects of a dump one by one: what is read of it is never there as a whole.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Unreadable;
use crate::manifest;

/// Takes an object, with the line that it begins on where that is known.
type Sink<'a> = &'a mut dyn FnMut(Value, Option<u32>);

/// Hands on each object of a text of YAML or JSON documents; of lists each item.
pub(super) fn each(text: &str, sink: Sink<'_>) -> Result<(), Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let mut count = 0_usize;
    if text.trim_start().starts_with('{') {
        let mut counting = |value: Value, line: Option<u32>| {
            count += 1;
            unfold(value, line, sink);
        };
        let read = json(text, &mut counting);
        // What begins with a brace may still be YAML.
        if read.is_ok() || count > 0 || text.trim_start().starts_with("{\"") || text.trim_start().starts_with("{\n") {
            return Ok(read?);
        }
    }
    manifest::each_object(text, &mut |value, line| unfold(value, Some(line), sink)).map_err(Unreadable::from)
}

/// A list inside a list.
fn unfold(value: Value, line: Option<u32>, sink: Sink<'_>) {
    let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    let Value::Object(mut map) = value else { return sink(value, line) };
    match map.remove("items") {
        Some(Value::Array(items)) if is_list => {
            for mut item in items {
                name_item(&mut item, &map);
                unfold(item, line, sink);
            }
        }
        Some(items) => {
            map.insert("items".into(), items);
            sink(Value::Object(map), line);
        }
        None => sink(Value::Object(map), line),
    }
}

/// What a typed list leaves out of its items, its own name says: `PodList`.
fn name_item(item: &mut Value, list: &Map<String, Value>) {
    let Some(fields) = item.as_object_mut().filter(|it| !it.contains_key("kind")) else { return };
    let kind = list.get("kind").and_then(Value::as_str).and_then(|kind| kind.strip_suffix("List"));
    if let Some(kind) = kind.filter(|kind| !kind.is_empty()) {
        fields.insert("kind".into(), kind.into());
        if let Some(version) = list.get("apiVersion") {
            fields.insert("apiVersion".into(), version.clone());
        }
    }
}

fn json(text: &str, sink: Sink<'_>) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    loop {
        Document(sink).deserialize(&mut reader)?;
        if reader.end().is_ok() {
            return Ok(());
        }
    }
}

struct Document<'a>(Sink<'a>);

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with apiVersion and kind")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut header = Map::new();
        let (mut nameless, mut is_list) = (Vec::new(), false);
        while let Some(key) = map.next_key::<String>()? {
            if key == "items" {
                is_list = true;
                map.next_value_seed(Items { sink: &mut *self.0, nameless: &mut nameless })?;
            } else {
                header.insert(key, map.next_value()?);
            }
        }
        for mut item in nameless {
            name_item(&mut item, &header);
            (self.0)(item, None);
        }
        if !is_list {
            (self.0)(Value::Object(header), None);
        }
        Ok(())
    }
}

struct Items<'a> {
    sink: Sink<'a>,
    /// Items whose kind the list has yet to tell.
    nameless: &'a mut Vec<Value>,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Value>()? {
            if item.get("kind").is_some() {
                (self.sink)(item, None);
            } else {
                self.nameless.push(item);
            }
        }
        Ok(())
    }
}
