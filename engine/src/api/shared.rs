//! What the versions of an object have in common, and texts that are mostly written in the program.
//!
//! An object is copied whenever a version of it is written. These types make the copy cheap, and comparing it with the
//! version before.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{DecodeError, Field};

/// A collection that has an empty one to point to.
pub trait Empty: Clone + Default + 'static {
    fn empty() -> &'static Self;
}

impl Empty for BTreeMap<String, String> {
    fn empty() -> &'static Self {
        static EMPTY: BTreeMap<String, String> = BTreeMap::new();
        &EMPTY
    }
}

impl Empty for BTreeMap<String, Value> {
    fn empty() -> &'static Self {
        static EMPTY: BTreeMap<String, Value> = BTreeMap::new();
        &EMPTY
    }
}

/// A collection that copies share until one of them is changed. An empty one takes no room. `Arc`, since commands
/// travel through the page's closures.
pub struct Shared<T>(Option<Arc<T>>);

impl<T: Empty> Shared<T> {
    pub fn new() -> Self {
        Self(None)
    }
}

impl<T: Empty> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        match &self.0 {
            Some(it) => it,
            None => T::empty(),
        }
    }
}

impl<T: Empty> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(self.0.get_or_insert_with(Arc::default))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Empty + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: Empty + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
            (None, None) => true,
            _ => **self == **other,
        }
    }
}

impl<T: Empty + Eq> Eq for Shared<T> {}

impl<T: Empty + Ord> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Empty + Ord> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            _ => (**self).cmp(&**other),
        }
    }
}

impl<T: Empty + FromIterator<X>, X> FromIterator<X> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = X>>(items: I) -> Self {
        Self(Some(Arc::new(items.into_iter().collect())))
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Shared<BTreeMap<K, V>> {
    fn from(items: [(K, V); N]) -> Self {
        Self(Some(Arc::new(items.into())))
    }
}

impl<'a, T: Empty> IntoIterator for &'a Shared<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;
    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

impl<T: Empty + IntoIterator> IntoIterator for Shared<T> {
    type Item = T::Item;
    type IntoIter = T::IntoIter;
    fn into_iter(self) -> T::IntoIter {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<T: Empty + Field> Field for Shared<T> {
    fn write(&self) -> Option<Value> {
        (**self).write()
    }

    fn write_always(&self) -> Value {
        (**self).write_always()
    }

    fn read(&mut self, value: Value) -> Result<(), DecodeError> {
        (**self).read(value)
    }
}

impl<T: Empty + Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Empty + Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|it| Self(Some(Arc::new(it))))
    }
}

/// A text that mostly is one of the program's own: such a one is copied for nothing.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Cow<'static, str>);

impl Text {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Text {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0.into_owned()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<Text> for Value {
    fn eq(&self, other: &Text) -> bool {
        self.as_str() == Some(other.as_str())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Value::String(text.into())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
