use std::cmp::Ordering;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Key;

/// Named values in the order of their names, for the few that an object has: labels, amounts, unknown fields.
///
/// Copies share one list until one of them is changed.
#[derive(Debug, Eq)]
pub struct Dict<V>(Option<Rc<Vec<(String, V)>>>);

impl<V> Clone for Dict<V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Mostly a list is compared with itself, which need not be read for that.
impl<V: PartialEq> PartialEq for Dict<V> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.pairs() == other.pairs()
    }
}

impl<V: Ord> Ord for Dict<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_same(other) { Ordering::Equal } else { self.pairs().cmp(other.pairs()) }
    }
}

impl<V: Ord> PartialOrd for Dict<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V> Default for Dict<V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<V> Dict<V> {
    pub fn new() -> Self {
        Self(None)
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(mine), Some(theirs)) => Rc::ptr_eq(mine, theirs),
            (None, None) => true,
            _ => false,
        }
    }

    fn pairs(&self) -> &[(String, V)] {
        self.0.as_ref().map_or(&[], |pairs| pairs.as_slice())
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.pairs().binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    pub fn len(&self) -> usize {
        self.pairs().len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        self.pairs().get(self.place(name).ok()?).map(|(_, value)| value)
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&String, &V)> + Clone {
        self.pairs().iter().map(|(name, value)| (name, value))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &String> + Clone {
        self.pairs().iter().map(|(name, _)| name)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.pairs().iter().map(|(_, value)| value)
    }
}

impl<V: Clone> Dict<V> {
    fn own(&mut self) -> &mut Vec<(String, V)> {
        Rc::make_mut(self.0.get_or_insert_default())
    }

    /// Puts a value in place of the one of that name, which is returned.
    pub fn insert(&mut self, name: String, value: V) -> Option<V> {
        let place = self.place(&name);
        let pairs = self.own();
        match place {
            Ok(place) => Some(std::mem::replace(&mut pairs[place].1, value)),
            Err(place) => {
                pairs.insert(place, (name, value));
                None
            }
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<V> {
        let place = self.place(name).ok()?;
        let pairs = self.own();
        let (_, value) = pairs.remove(place);
        if pairs.is_empty() {
            self.0 = None;
        }
        Some(value)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        let place = self.place(name).ok()?;
        self.own().get_mut(place).map(|(_, value)| value)
    }

    /// The value of a name, made where there is none.
    pub fn or_insert_with(&mut self, name: &str, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(name);
        let pairs = self.own();
        let place = place.unwrap_or_else(|place| {
            pairs.insert(place, (name.to_string(), make()));
            place
        });
        &mut pairs[place].1
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let pairs = self.0.as_mut().map(Rc::make_mut);
        pairs.into_iter().flatten().map(|(_, value)| value)
    }

    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Keeps what `keep` says to keep.
    pub fn retain(&mut self, mut keep: impl FnMut(&String, &V) -> bool) {
        if self.iter().all(|(name, value)| keep(name, value)) {
            return;
        }
        let pairs = self.own();
        pairs.retain(|(name, value)| keep(name, value));
        if pairs.is_empty() {
            self.0 = None;
        }
    }
}

impl<V: Clone> Extend<(String, V)> for Dict<V> {
    fn extend<I: IntoIterator<Item = (String, V)>>(&mut self, items: I) {
        for (name, value) in items {
            self.insert(name, value);
        }
    }
}

impl<V: Clone> FromIterator<(String, V)> for Dict<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(items: I) -> Self {
        let mut dict = Self::new();
        dict.extend(items);
        dict
    }
}

impl<V: Clone, const N: usize> From<[(String, V); N]> for Dict<V> {
    fn from(items: [(String, V); N]) -> Self {
        items.into_iter().collect()
    }
}

impl<V: Clone> IntoIterator for Dict<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(Rc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<'a, V> IntoIterator for &'a Dict<V> {
    type Item = (&'a String, &'a V);
    type IntoIter = std::iter::Map<std::slice::Iter<'a, (String, V)>, fn(&'a (String, V)) -> (&'a String, &'a V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs().iter().map(|(name, value)| (name, value))
    }
}

impl<V> std::ops::Index<&str> for Dict<V> {
    type Output = V;

    /// # Panics
    /// Where there is no value of that name.
    fn index(&self, name: &str) -> &V {
        self.get(name).expect("a value of that name")
    }
}

impl<V: Ord> Key for Dict<V> {
    fn rank(&self) -> u64 {
        self.pairs().first().map_or(0, |(name, _)| name.rank())
    }
}

impl<V: Serialize> Serialize for Dict<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de> + Clone> Deserialize<'de> for Dict<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(std::collections::BTreeMap::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_does_what_a_btree_map_does(deeds in prop::collection::vec(("[a-c]{0,2}", any::<Option<u8>>()), 0..60)) {
            let (mut dict, mut model) = (Dict::new(), BTreeMap::new());
            let shared = dict.clone();
            for (name, value) in deeds {
                match value {
                    Some(value) => prop_assert_eq!(dict.insert(name.clone(), value), model.insert(name.clone(), value)),
                    None => prop_assert_eq!(dict.remove(&name), model.remove(&name)),
                }
                prop_assert!(dict.iter().eq(model.iter()));
                prop_assert_eq!(dict.is_empty(), model.is_empty());
            }
            prop_assert!(shared.is_empty());
            dict.retain(|_, value| value.is_multiple_of(2));
            model.retain(|_, value| value.is_multiple_of(2));
            prop_assert!(dict.iter().eq(model.iter()));
            prop_assert_eq!(dict == Dict::new(), model.is_empty());
        }
    }

    #[test]
    fn a_changed_copy_leaves_the_original_alone() {
        let original: Dict<u8> = [("a".to_string(), 1), ("b".to_string(), 2)].into();
        let mut copy = original.clone();
        copy.insert("c".into(), 3);
        copy.remove("a");
        assert_eq!((original.len(), original["a"], copy.len()), (2, 1, 2));
    }
}
