use std::borrow::Cow;

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement};

/// What an attribute or a property is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    None,
    Is(bool),
    Text(Cow<'static, str>),
}

/// Where a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Attribute(&'static str),
    Class(&'static str),
    Style(&'static str),
    Property(&'static str),
}

impl Place {
    pub fn put(self, element: &Element, value: &Value) {
        let text = match value {
            Value::None | Value::Is(false) => None,
            Value::Is(true) => Some(""),
            Value::Text(text) => Some(&**text),
        };
        let _ = match (self, text) {
            (Place::Attribute(name), Some(text)) => element.set_attribute(name, text),
            (Place::Attribute(name), None) => element.remove_attribute(name),
            (Place::Class(name), _) => element.class_list().toggle_with_force(name, text.is_some()).map(drop),
            (Place::Style(name), _) => match element.dyn_ref::<HtmlElement>() {
                Some(element) => element.style().set_property(name, text.unwrap_or_default()),
                None => Ok(()),
            },
            (Place::Property(name), _) => {
                let value = match value {
                    Value::Text(text) => JsValue::from_str(text),
                    Value::Is(is) => JsValue::from_bool(*is),
                    Value::None => JsValue::UNDEFINED,
                };
                js_sys::Reflect::set(element, &JsValue::from_str(name), &value).map(drop)
            }
        };
    }
}

/// A closure behind a pointer. The table of a `dyn Fn` also holds code that calls and drops the closure, for each of them.
pub trait Derive<T> {
    fn derive(&self) -> T;
}

impl<T, F: Fn() -> T> Derive<T> for F {
    fn derive(&self) -> T {
        self()
    }
}

/// A value, or what derives it from signals.
pub enum Source {
    Fixed(Value),
    Live(Box<dyn Derive<Value>>),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Value::Is(is)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::None, Into::into)
    }
}

/// Marks what derives a value or a view, among what is one.
pub struct Derives;

pub trait IntoSource<Mark> {
    fn source(self) -> Source;
}

impl<T: Into<Value>> IntoSource<()> for T {
    fn source(self) -> Source {
        Source::Fixed(self.into())
    }
}

impl<F: Fn() -> T + 'static, T: Into<Value>> IntoSource<Derives> for F {
    fn source(self) -> Source {
        Source::Live(Box::new(move || self().into()))
    }
}
