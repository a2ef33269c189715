//! Objects to JSON and back.
//!
//! A type lists its fields once ([`Record`]); reading and writing walk that list through `dyn` values. Serde's derived
//! code does the same with a copy of everything for each type, which made up a third of the page's download.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::{Extra, IntOrPercent, MicroTime, Name, Quantity, Text, Timestamp, Uid};
use crate::sim::Dict;

/// A field of the wrong type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// `spec.replicas`, `spec.template.spec.containers[0].image`
    pub path: String,
    pub message: String,
}

impl DecodeError {
    pub fn expected(what: &str) -> Self {
        Self { path: String::new(), message: format!("expected {what}") }
    }

    fn inside(mut self, outer: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{outer}{separator}{}", self.path);
        self
    }
}

/// A value of a field. Writing may take out what it writes: it is done to a copy ([`write_value`]).
pub trait Field {
    /// The value, or nothing where it is the default and is left out.
    fn write(&mut self) -> Option<Value>;
    /// The value in any case.
    fn write_always(&mut self) -> Value;
    /// # Errors
    /// What was expected, and where.
    fn read(&mut self, value: Value) -> Result<(), DecodeError>;
}

/// What walks over a record's fields.
pub trait Visitor {
    /// `always`: the field is written even when it is the default.
    fn field(&mut self, name: &'static str, always: bool, field: &mut dyn Field);
    /// The fields that the record does not know.
    fn extra(&mut self, extra: &mut Extra);
}

/// A JSON object with known fields.
pub trait Record {
    fn fields(&mut self, visitor: &mut dyn Visitor);
}

/// `record!(Lease { spec "spec" always, metadata "metadata" } extra extra)`: lists a type's fields with their JSON names.
macro_rules! record {
    ($type:ident { $($field:ident $name:literal $($always:ident)?),* $(,)? } $(extra $extra:ident)?) => {
        impl $crate::api::Record for $type {
            fn fields(&mut self, visitor: &mut dyn $crate::api::Visitor) {
                $(visitor.field($name, $crate::api::record!(@ $($always)?), &mut self.$field);)*
                $(visitor.extra(&mut self.$extra);)?
            }
        }
    };
    (@ always) => { true };
    (@) => { false };
}
pub(crate) use record;

/// Writes a value of a known type.
pub fn write_value<T: Field + Clone>(value: &T) -> Value {
    value.clone().write_always()
}

/// Reads a value of a known type.
///
/// # Errors
/// What was expected, and where.
pub fn read_value<T: Field + Default>(value: Value) -> Result<T, DecodeError> {
    let mut read = T::default();
    read.read(value)?;
    Ok(read)
}

/// A JSON object. The macro `json!` brings serde's writers along for all that stands in it.
pub fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let mut map = Map::new();
    for (name, value) in fields {
        map.insert(name.into(), value);
    }
    Value::Object(map)
}

struct Writer(Map<String, Value>);

impl Visitor for Writer {
    fn field(&mut self, name: &'static str, always: bool, field: &mut dyn Field) {
        let value = if always { Some(field.write_always()) } else { field.write() };
        if let Some(value) = value {
            self.0.insert(name.into(), value);
        }
    }

    fn extra(&mut self, extra: &mut Extra) {
        for (key, value) in std::mem::take(extra) {
            self.0.insert(key, value);
        }
    }
}

struct Reader {
    map: Map<String, Value>,
    error: Option<DecodeError>,
}

impl Visitor for Reader {
    fn field(&mut self, name: &'static str, _always: bool, field: &mut dyn Field) {
        match self.map.remove(name) {
            None | Some(Value::Null) => {}
            Some(value) => {
                if let Err(error) = field.read(value) {
                    self.error.get_or_insert(error.inside(name));
                }
            }
        }
    }

    fn extra(&mut self, extra: &mut Extra) {
        for (key, value) in std::mem::take(&mut self.map) {
            extra.insert(key, value);
        }
    }
}

fn write_record(record: &mut dyn Record) -> Map<String, Value> {
    let mut writer = Writer(Map::new());
    record.fields(&mut writer);
    writer.0
}

fn read_record(record: &mut dyn Record, value: Value) -> Result<(), DecodeError> {
    let Value::Object(map) = value else { return Err(DecodeError::expected("fields")) };
    let mut reader = Reader { map, error: None };
    record.fields(&mut reader);
    reader.error.map_or(Ok(()), Err)
}

impl<T: Record> Field for T {
    fn write(&mut self) -> Option<Value> {
        let map = write_record(self);
        (!map.is_empty()).then_some(Value::Object(map))
    }

    fn write_always(&mut self) -> Value {
        Value::Object(write_record(self))
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        read_record(self, value)
    }
}

impl<T: Field + Clone> Field for Rc<T> {
    fn write(&mut self) -> Option<Value> {
        Rc::make_mut(self).write()
    }

    fn write_always(&mut self) -> Value {
        Rc::make_mut(self).write_always()
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        Rc::make_mut(self).read(value)
    }
}

impl<T: Field + Default> Field for Option<T> {
    fn write(&mut self) -> Option<Value> {
        self.as_mut().map(T::write_always)
    }

    fn write_always(&mut self) -> Value {
        self.write().unwrap_or_default()
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        self.insert(T::default()).read(value)
    }
}

impl<T: Field + Default> Field for Vec<T> {
    fn write(&mut self) -> Option<Value> {
        (!self.is_empty()).then(|| self.write_always())
    }

    fn write_always(&mut self) -> Value {
        write_list(self)
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        read_list(self, value)
    }
}

/// What lists of all types have in common.
trait List {
    fn count(&self) -> usize;
    fn write_item(&mut self, index: usize) -> Value;
    fn read_item(&mut self, value: Value) -> Result<(), DecodeError>;
}

impl<T: Field + Default> List for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn write_item(&mut self, index: usize) -> Value {
        self[index].write_always()
    }

    fn read_item(&mut self, value: Value) -> Result<(), DecodeError> {
        let place = self.len();
        self.push(T::default());
        self[place].read(value)
    }
}

fn write_list(list: &mut dyn List) -> Value {
    (0..list.count()).map(|index| list.write_item(index)).collect()
}

fn read_list(list: &mut dyn List, value: Value) -> Result<(), DecodeError> {
    let Value::Array(items) = value else { return Err(DecodeError::expected("a list")) };
    for (index, value) in items.into_iter().enumerate() {
        list.read_item(value).map_err(|error| error.inside(&format!("[{index}]")))?;
    }
    Ok(())
}

impl<T: Field + Default + Clone> Field for Dict<T> {
    fn write(&mut self) -> Option<Value> {
        (!self.is_empty()).then(|| self.write_always())
    }

    fn write_always(&mut self) -> Value {
        let mut map = Map::new();
        for (key, value) in std::mem::take(self) {
            map.insert(key, { value }.write_always());
        }
        Value::Object(map)
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        let Value::Object(map) = value else { return Err(DecodeError::expected("fields")) };
        for (key, value) in map.into_iter().filter(|(_, value)| !value.is_null()) {
            let mut item = T::default();
            item.read(value).map_err(|error| error.inside(&key))?;
            self.insert(key, item);
        }
        Ok(())
    }
}

impl Field for bool {
    fn write(&mut self) -> Option<Value> {
        self.then_some(Value::Bool(true))
    }

    fn write_always(&mut self) -> Value {
        Value::Bool(*self)
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        *self = value.as_bool().ok_or_else(|| DecodeError::expected("true or false"))?;
        Ok(())
    }
}

fn whole_number(value: &Value) -> Result<i64, DecodeError> {
    value.as_i64().ok_or_else(|| DecodeError::expected("a whole number"))
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Field for $type {
            fn write(&mut self) -> Option<Value> {
                (*self != 0).then(|| self.write_always())
            }

            fn write_always(&mut self) -> Value {
                Value::from(*self)
            }

            fn read(&mut self, value: Value) -> Result<(), DecodeError> {
                *self = <$type>::try_from(whole_number(&value)?).map_err(|_| DecodeError::expected("a smaller number"))?;
                Ok(())
            }
        }
    )*};
}
number!(i32 i64);

/// Only resource versions are unsigned, and the API writes them as text.
impl Field for u64 {
    fn write(&mut self) -> Option<Value> {
        (*self != 0).then(|| self.write_always())
    }

    fn write_always(&mut self) -> Value {
        Value::String(self.to_string())
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        let text = value.as_str().and_then(|text| text.parse().ok());
        *self = text.ok_or_else(|| DecodeError::expected("a resource version"))?;
        Ok(())
    }
}

/// Types that are written as text.
trait Textual: Sized {
    const WHAT: &'static str;
    fn is_unset(&self) -> bool;
    fn to_text(&self) -> String;
    fn from_text(text: String) -> Option<Self>;
}

macro_rules! text {
    ($($type:ty, $what:literal, $unset:expr, $from:expr;)*) => {$(
        impl Textual for $type {
            const WHAT: &'static str = $what;
            fn is_unset(&self) -> bool {
                let unset: fn(&$type) -> bool = $unset;
                unset(self)
            }
            fn to_text(&self) -> String {
                self.to_string()
            }
            fn from_text(text: String) -> Option<Self> {
                let from: fn(String) -> Option<$type> = $from;
                from(text)
            }
        }

        impl Field for $type {
            fn write(&mut self) -> Option<Value> {
                (!self.is_unset()).then(|| Value::String(self.to_text()))
            }

            fn write_always(&mut self) -> Value {
                Value::String(self.to_text())
            }

            fn read(&mut self, value: Value) -> Result<(), DecodeError> {
                let Value::String(text) = value else { return Err(DecodeError::expected(Self::WHAT)) };
                *self = Self::from_text(text).ok_or_else(|| DecodeError::expected(Self::WHAT))?;
                Ok(())
            }
        }
    )*};
}
text! {
    String, "a text", String::is_empty, Some;
    Text, "a text", |text| text.is_empty(), |text| Some(text.into());
    Name, "a text", |name| name.is_empty(), |text| Some(text.into());
    Uid, "a UUID", |uid| *uid == Uid::default(), |text| Uid::parse(&text);
    Timestamp, "a time like 2026-11-30T08:00:00Z", |_| false, |text| Timestamp::parse(&text);
    MicroTime, "a time like 2026-11-30T08:00:00.000000Z", |_| false, |text| MicroTime::parse(&text);
}

impl Field for Quantity {
    fn write(&mut self) -> Option<Value> {
        Some(self.write_always())
    }

    fn write_always(&mut self) -> Value {
        Value::String(self.to_string())
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        let is_number = value.is_number();
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string().replace("e+", "e"),
            _ => return Err(DecodeError::expected("a quantity such as 100m or 64Mi")),
        };
        let read: Quantity =
            text.parse().map_err(|message: &str| DecodeError { path: String::new(), message: message.into() })?;
        *self = if is_number { read.decimal() } else { read };
        Ok(())
    }
}

impl Field for IntOrPercent {
    fn write(&mut self) -> Option<Value> {
        Some(self.write_always())
    }

    fn write_always(&mut self) -> Value {
        match self {
            IntOrPercent::Int(value) => Value::from(*value),
            IntOrPercent::Text(text) => Value::String(text.clone()),
        }
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        *self = match value {
            Value::String(text) => IntOrPercent::Text(text),
            value => {
                let mut number = 0;
                Field::read(&mut number, value)?;
                IntOrPercent::Int(number)
            }
        };
        Ok(())
    }
}

impl Field for Value {
    fn write(&mut self) -> Option<Value> {
        (!self.is_null()).then(|| self.clone())
    }

    fn write_always(&mut self) -> Value {
        self.clone()
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        *self = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::api::{Kind, Object};

    #[test]
    fn an_object_comes_back_as_it_was_written() {
        let written = serde_json::json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": { "name": "web", "resourceVersion": "12", "labels": { "app": "web" }, "unheardOf": 1 },
            "spec": {
                "replicas": 0,
                "strategy": { "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": 0 } },
                "template": { "spec": { "containers": [{ "name": "a", "image": "b", "resources": { "requests": { "cpu": "1500m" } } }], "volumes": [] } },
            },
        });
        let object = Object::from_value(Kind::Deployment, written.clone()).unwrap();
        assert_eq!(object.to_value(), written);
        assert_eq!(object.as_deployment().unwrap().spec.replicas, Some(0));
    }

    #[test]
    fn a_field_of_the_wrong_type_is_named_with_its_path() {
        let path = |value| Object::from_value(Kind::Deployment, value).unwrap_err().path;
        assert_eq!(path(serde_json::json!({ "spec": { "replicas": "three" } })), "spec.replicas");
        let containers = serde_json::json!([{ "name": "a" }, { "name": "b", "image": 5 }]);
        let deployment = serde_json::json!({ "spec": { "template": { "spec": { "containers": containers } } } });
        assert_eq!(path(deployment), "spec.template.spec.containers[1].image");
    }
}
