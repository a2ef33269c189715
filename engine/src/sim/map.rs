use std::borrow::Borrow;
use std::cmp::Ordering;

/// An ordered map: a sorted list of numbers of slots, in which the keys and the values are.
///
/// Each kind of `BTreeMap<K, V>` compiles to several kilobytes. Here all that depends on the types is short, and what is
/// long is the same for all. A key that comes or goes moves the four bytes of each key after it, which for all sizes
/// that the simulation reaches costs less than finding its place.
#[derive(Clone, Debug)]
pub struct Map<K, V> {
    keys: Keys<K>,
    slots: Vec<Option<V>>,
}

/// What depends on the type of the keys alone.
#[derive(Clone, Debug)]
struct Keys<K> {
    order: Vec<u32>,
    slots: Vec<Option<K>>,
    free: Vec<u32>,
}

/// Where in a sorted list something is, or where it would have to be.
fn search(order: &[u32], compare: &dyn Fn(u32) -> Ordering) -> Result<usize, usize> {
    order.binary_search_by(|slot| compare(*slot))
}

/// Puts a new key's slot at its place; the slot is one that is free, or the next.
fn enter(order: &mut Vec<u32>, free: &mut Vec<u32>, place: usize) -> usize {
    let slot = free.pop().unwrap_or_else(|| u32::try_from(order.len()).unwrap_or(u32::MAX));
    order.insert(place, slot);
    slot as usize
}

impl<K: Ord> Keys<K> {
    fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        search(&self.order, &|slot| self.at(slot).map_or(Ordering::Less, |it| it.borrow().cmp(key)))
    }

    fn at(&self, slot: u32) -> Option<&K> {
        self.slots.get(slot as usize)?.as_ref()
    }

    fn slot_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let place = self.search(key).ok()?;
        self.order.get(place).map(|slot| *slot as usize)
    }

    /// The slot of a key, made for it where it has none.
    fn place(&mut self, key: K) -> usize {
        match self.search(&key) {
            Ok(place) => self.order[place] as usize,
            Err(place) => {
                let slot = enter(&mut self.order, &mut self.free, place);
                if slot == self.slots.len() {
                    self.slots.push(Some(key));
                } else {
                    self.slots[slot] = Some(key);
                }
                slot
            }
        }
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let place = self.search(key).ok()?;
        let slot = self.order.remove(place);
        self.free.push(slot);
        self.slots[slot as usize] = None;
        Some(slot as usize)
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { keys: Keys { order: Vec::new(), slots: Vec::new(), free: Vec::new() }, slots: Vec::new() }
    }
}

impl<K: Ord, V> Map<K, V> {
    pub fn len(&self) -> usize {
        self.keys.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.order.is_empty()
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.keys.search(key).is_ok()
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.slots.get(self.keys.slot_of(key)?)?.as_ref()
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let slot = self.keys.slot_of(key)?;
        self.slots.get_mut(slot)?.as_mut()
    }

    /// The value's place of a key, made for it where it has none.
    fn entry(&mut self, key: K) -> &mut Option<V> {
        let slot = self.keys.place(key);
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        &mut self.slots[slot]
    }

    /// Puts a value in place of the one that the key had, which is returned.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.entry(key).replace(value)
    }

    /// Where a key's value is kept; it stays there until the key is removed.
    pub fn slot<Q: Ord + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        let place = self.keys.search(key).ok()?;
        self.keys.order.get(place).copied()
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
        let slot = self.keys.place(key);
        if slot == self.slots.len() {
            self.slots.push(Some(value));
        } else {
            self.slots[slot] = Some(value);
        }
        u32::try_from(slot).unwrap_or(u32::MAX)
    }

    /// The value of a key, made where there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.entry(key).get_or_insert_with(make)
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let slot = self.keys.remove(key)?;
        self.slots.get_mut(slot)?.take()
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn entries<'a>(&'a self, order: &'a [u32]) -> impl DoubleEndedIterator<Item = (&'a K, &'a V)> {
        order.iter().filter_map(|slot| Some((self.keys.at(*slot)?, self.at(*slot)?)))
    }

    /// Keys and values in order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries(&self.keys.order)
    }

    /// As [`Map::iter`], from a key on.
    pub fn iter_from(&self, from: K) -> impl Iterator<Item = (&K, &V)> {
        let (Ok(place) | Err(place)) = self.keys.search(&from);
        self.entries(&self.keys.order[place..])
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.keys.order.iter().filter_map(|slot| self.keys.at(*slot))
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.keys.order.iter().filter_map(|slot| self.at(*slot))
    }

    /// All values, in the order of their slots rather than of the keys.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.slots.iter_mut().filter_map(Option::as_mut)
    }

    /// Shows every value to `change`, in order of the keys.
    pub fn each(&mut self, mut change: impl FnMut(&K, &mut V)) {
        for slot in &self.keys.order {
            if let (Some(key), Some(Some(value))) = (self.keys.at(*slot), self.slots.get_mut(*slot as usize)) {
                change(key, value);
            }
        }
    }

    /// The values in order of the keys.
    pub fn into_values(mut self) -> Vec<V> {
        let slots = &mut self.slots;
        self.keys.order.iter().filter_map(|slot| slots.get_mut(*slot as usize)?.take()).collect()
    }

    /// Keeps what `keep` says to keep.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let Keys { order, slots: keys, free } = &mut self.keys;
        order.retain(|slot| {
            let at = *slot as usize;
            let stays = match (&keys[at], &mut self.slots[at]) {
                (Some(key), Some(value)) => keep(key, value),
                _ => false,
            };
            if !stays {
                keys[at] = None;
                self.slots[at] = None;
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

impl<K: Ord, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
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

/// An ordered set.
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
    use std::collections::BTreeMap;

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
            map.each(|key, value| *value = value.wrapping_add((*key).into()));
            model.iter_mut().for_each(|(key, value)| *value = value.wrapping_add((*key).into()));
            prop_assert_eq!(map.into_values(), model.into_values().collect::<Vec<_>>());
        }
    }
}
