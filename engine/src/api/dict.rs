//! Values by name, as `labels` and `resources` are.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A map of names, in their order. They are few, so a sorted list does; and its code is a fraction of a tree's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dict<V>(Vec<(String, V)>);

impl<V> Dict<V> {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(it, _)| it.as_str().cmp(name))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        let place = self.place(name).ok()?;
        self.0.get(place).map(|(_, value)| value)
    }

    /// Puts a value in place of the one that the name had, which is returned.
    pub fn insert(&mut self, name: String, value: V) -> Option<V> {
        match self.place(&name) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (name, value));
                None
            }
        }
    }

    /// The value of a name, made where there is none.
    pub fn or_insert_with(&mut self, name: &str, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(name).unwrap_or_else(|place| {
            self.0.insert(place, (name.into(), make()));
            place
        });
        &mut self.0[place].1
    }

    pub fn remove(&mut self, name: &str) -> Option<V> {
        self.place(name).ok().map(|place| self.0.remove(place).1)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&String, &mut V) -> bool) {
        self.0.retain_mut(|(name, value)| keep(name, value));
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&String, &V)> + DoubleEndedIterator {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// The first name that is not before this one.
    pub fn from(&self, name: &str) -> Option<&String> {
        let (Ok(place) | Err(place)) = self.place(name);
        self.0.get(place).map(|(name, _)| name)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }
}

/// # Panics
/// Where the name has no value.
impl<V> std::ops::Index<&str> for Dict<V> {
    type Output = V;

    fn index(&self, name: &str) -> &V {
        self.get(name).expect("a value of this name")
    }
}

impl<V> Default for Dict<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Extend<(String, V)> for Dict<V> {
    fn extend<I: IntoIterator<Item = (String, V)>>(&mut self, items: I) {
        for (name, value) in items {
            self.insert(name, value);
        }
    }
}

impl<V> FromIterator<(String, V)> for Dict<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(items: I) -> Self {
        let mut dict = Self::new();
        dict.extend(items);
        dict
    }
}

impl<V, const N: usize> From<[(String, V); N]> for Dict<V> {
    fn from(items: [(String, V); N]) -> Self {
        items.into_iter().collect()
    }
}

impl<V> IntoIterator for Dict<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, V> IntoIterator for &'a Dict<V> {
    type Item = (&'a String, &'a V);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (String, V)>, fn(&'a (String, V)) -> (&'a String, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

impl<V: Serialize> Serialize for Dict<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

struct Reading<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Reading<V> {
    type Value = Dict<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Dict<V>, A::Error> {
        let mut dict = Dict::new();
        while let Some((name, value)) = map.next_entry()? {
            dict.insert(name, value);
        }
        Ok(dict)
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Dict<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_order_and_once() {
        let mut dict: Dict<i32> = [("b", 1), ("a", 2), ("b", 3)].into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        assert_eq!(dict.iter().map(|(name, value)| (name.as_str(), *value)).collect::<Vec<_>>(), [("a", 2), ("b", 3)]);
        assert_eq!((dict.insert("a".into(), 4), dict.get("a"), dict.get("c")), (Some(2), Some(&4), None));
        *dict.or_insert_with("c", || 6) += 1;
        assert_eq!((dict.remove("b"), dict.remove("b"), dict.len()), (Some(3), None, 2));
        let read: Dict<i32> = serde_json::from_str(&serde_json::to_string(&dict).unwrap()).unwrap();
        assert_eq!((&read, read.get("c")), (&dict, Some(&7)));
    }
}
