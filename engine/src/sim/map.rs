use std::borrow::Borrow;
use std::collections::BTreeMap;

/// An ordered map whose tree holds numbers of slots.
///
/// The tree's code is then the same for all types of values, and a map costs the page a few bytes instead of the
/// several kilobytes that each `BTreeMap<K, V>` compiles to.
#[derive(Clone, Debug)]
pub struct Map<K, V> {
    index: BTreeMap<K, u32>,
    slots: Vec<Option<V>>,
    free: Vec<u32>,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { index: BTreeMap::new(), slots: Vec::new(), free: Vec::new() }
    }
}

impl<K: Ord, V> Map<K, V> {
    fn slot_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.index.get(key).map(|slot| *slot as usize)
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.index.contains_key(key)
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.slots.get(self.slot_of(key)?)?.as_ref()
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let slot = self.slot_of(key)?;
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Puts a value in place of the one that the key had, which is returned.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let slot = self.place(key);
        self.slots.get_mut(slot)?.replace(value)
    }

    /// The slot of a key, made for it where it has none.
    fn place(&mut self, key: K) -> usize {
        let (free, slots) = (&mut self.free, &mut self.slots);
        let slot = self.index.entry(key).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                slots.push(None);
                u32::try_from(slots.len() - 1).unwrap_or(u32::MAX)
            })
        });
        *slot as usize
    }

    /// Where a key's value is kept; it stays there until the key is removed.
    pub fn slot<Q: Ord + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.index.get(key).copied()
    }

    /// The value in a slot.
    pub fn at(&self, slot: u32) -> Option<&V> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn at_mut(&mut self, slot: u32) -> Option<&mut V> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// Puts in a key that is new, and says where its value is kept.
    pub fn add_at(&mut self, key: K, value: V) -> u32 {
        let slot = self.place(key);
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some(value);
        }
        slot as u32
    }

    /// The value of a key, made where there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let slot = self.place(key);
        self.slots[slot].get_or_insert_with(make)
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let slot = self.index.remove(key)?;
        self.free.push(slot);
        self.slots.get_mut(slot as usize)?.take()
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Keys and values in order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.index.iter().filter_map(|(key, slot)| Some((key, self.slots.get(*slot as usize)?.as_ref()?)))
    }

    /// As [`Map::iter`], from a key on.
    pub fn iter_from(&self, from: K) -> impl Iterator<Item = (&K, &V)> {
        self.index.range(from..).filter_map(|(key, slot)| Some((key, self.slots.get(*slot as usize)?.as_ref()?)))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.index.keys()
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// All values, in the order of their slots rather than of the keys.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.slots.iter_mut().filter_map(Option::as_mut)
    }

    /// Keeps what `keep` says to keep.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let (slots, free) = (&mut self.slots, &mut self.free);
        self.index.retain(|key, slot| {
            let Some(entry) = slots.get_mut(*slot as usize) else { return false };
            let stays = entry.as_mut().is_some_and(|value| keep(key, value));
            if !stays {
                *entry = None;
                free.push(*slot);
            }
            stays
        });
    }
}

impl<K: Ord, V: Default> Map<K, V> {
    /// The value of a key, the default where there is none yet.
    pub fn or_default(&mut self, key: K) -> &mut V {
        self.or_insert_with(key, V::default)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut map = Self::default();
        for (key, value) in items {
            map.insert(key, value);
        }
        map
    }
}

/// An ordered set, on the same tree as [`Map`].
pub type Set<K> = Map<K, ()>;

impl<K: Ord> Set<K> {
    /// Returns whether the key is new.
    pub fn add(&mut self, key: K) -> bool {
        self.insert(key, ()).is_none()
    }

    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.contains_key(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_btree_map_does(deeds in prop::collection::vec((0..20_u8, any::<Option<u16>>()), 0..200)) {
            let (mut map, mut model) = (Map::default(), BTreeMap::new());
            for (key, value) in deeds {
                match value {
                    Some(value) => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                    None => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                }
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert!(map.iter().eq(model.iter()));
                prop_assert!(map.iter_from(10).eq(model.range(10..)));
            }
            map.retain(|key, value| u16::from(*key).wrapping_add(*value).is_multiple_of(2));
            model.retain(|key, value| u16::from(*key).wrapping_add(*value).is_multiple_of(2));
            prop_assert!(map.iter().eq(model.iter()));
            prop_assert_eq!(map.len(), model.len());
        }
    }
}
