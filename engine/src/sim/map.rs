use std::borrow::Borrow;

use super::index::{At, Index};

/// Keys of a [`Map`].
pub trait Key: Ord {
    /// Where the key stands, roughly: never lower for the greater of two keys.
    fn rank(&self) -> u64;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Key for $type {
            fn rank(&self) -> u64 {
                u64::from(*self)
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64);

impl Key for i32 {
    fn rank(&self) -> u64 {
        u64::from(self.cast_unsigned() ^ (1 << 31))
    }
}

/// A text's first ten bytes, in six bits each: names of thousands of siblings (`node-4711`) differ in the last of them.
impl Key for str {
    fn rank(&self) -> u64 {
        const LEN: usize = 10;
        let first = self.as_bytes().get(..LEN).unwrap_or(self.as_bytes());
        let rank = first.iter().fold(0, |rank, byte| rank << 6 | u64::from(SIX_BITS[usize::from(*byte)]));
        rank << (6 * (LEN - first.len()))
    }
}

/// For each byte six bits in the order of the bytes. Those of names have their own; of the rest several share theirs.
const SIX_BITS: [u8; 256] = {
    let mut all = [0; 256];
    let (mut byte, mut next) = (1, 1);
    while byte < 256 {
        let is_of_names = matches!(byte as u8, b'-' | b'.' | b'/' | b'0'..=b'9' | b'_' | b'a'..=b'z');
        // What comes after one of names shares the next six bits up to the one after.
        let follows = byte > 1 && matches!(byte as u8 - 1, b'/' | b'9' | b'_' | b'z');
        let is_a_third_letter = matches!(byte as u8, b'A' | b'D' | b'G' | b'J' | b'M' | b'P' | b'S' | b'V' | b'Y');
        next += (byte > 1 && (is_of_names || follows || is_a_third_letter)) as u8;
        all[byte] = next;
        byte += 1;
    }
    all
};

impl Key for String {
    fn rank(&self) -> u64 {
        self.as_str().rank()
    }
}

impl<A: Key, B: Ord> Key for (A, B) {
    fn rank(&self) -> u64 {
        self.0.rank()
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn rank(&self) -> u64 {
        (**self).rank()
    }
}

/// A map without entries keeps so many places however tidy it is.
const FEW: usize = 4;

/// An ordered map.
///
/// Keys and values lie in slots, and an [`Index`] that knows neither type keeps their order. `BTreeMap<K, V>` does the
/// same with several kilobytes of the page's download for each pair of types.
#[derive(Clone, Debug)]
pub struct Map<K, V> {
    keys: Keys<K>,
    slots: Vec<Option<V>>,
}

/// What depends on the type of the keys alone.
#[derive(Clone, Debug)]
struct Keys<K> {
    index: Index,
    slots: Vec<Option<K>>,
    free: Vec<u32>,
}

impl<K: Key> Keys<K> {
    fn find<Q: Key + ?Sized>(&self, key: &Q) -> Result<At, At>
    where
        K: Borrow<Q>,
    {
        let slots = &self.slots;
        self.index.find(key.rank(), &|slot| match slots.get(slot as usize) {
            Some(Some(known)) => known.borrow().cmp(key),
            _ => std::cmp::Ordering::Less,
        })
    }

    fn slot_of<Q: Key + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.index.slot(self.find(key).ok()?)
    }

    /// The slot of a key, made for it where it has none.
    fn place(&mut self, key: K) -> usize {
        let at = match self.find(&key) {
            Ok(at) => return self.index.slot(at).unwrap_or_default(),
            Err(at) => at,
        };
        let rank = key.rank();
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(key);
                slot
            }
            None => {
                self.slots.push(Some(key));
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.index.insert(at, rank, slot);
        slot as usize
    }

    fn remove<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        let slot = self.index.remove(at);
        self.free.push(slot);
        self.slots[slot as usize] = None;
        Some(slot as usize)
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { keys: Keys { index: Index::default(), slots: Vec::new(), free: Vec::new() }, slots: Vec::new() }
    }
}

impl<K: Key, V> Map<K, V> {
    /// The key and the value in a slot.
    pub fn pair(&self, slot: u32) -> Option<(&K, &V)> {
        Some((self.keys.slots.get(slot as usize)?.as_ref()?, self.at(slot)?))
    }

    /// The slot for a key's value, made where it has none.
    fn place(&mut self, key: K) -> usize {
        let slot = self.keys.place(key);
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        slot
    }

    fn entry(&mut self, key: K) -> &mut Option<V> {
        let slot = self.place(key);
        &mut self.slots[slot]
    }

    pub fn len(&self) -> usize {
        self.keys.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn contains_key<Q: Key + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.keys.find(key).is_ok()
    }

    pub fn get<Q: Key + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.slots.get(self.keys.slot_of(key)?)?.as_ref()
    }

    pub fn get_mut<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let slot = self.keys.slot_of(key)?;
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Puts a value in place of the one that the key had, which is returned.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.entry(key).replace(value)
    }

    /// The value of a key, made where there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.entry(key).get_or_insert_with(make)
    }

    pub fn remove<Q: Key + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let slot = self.keys.remove(key)?;
        self.slots.get_mut(slot)?.take()
    }

    /// Lets go of the places of a rush when nothing is left of it. Numbers of slots begin anew.
    pub fn tidy(&mut self) {
        if self.is_empty() && self.slots.len() > FEW {
            self.clear();
        }
    }

    /// Where a key's value is kept; it stays there until the key is removed.
    pub fn slot<Q: Key + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.keys.slot_of(key).map(|slot| slot as u32)
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
        self.slots[slot] = Some(value);
        slot as u32
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// A key as it is kept, and its value.
    pub fn get_pair<Q: Key + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        self.pair(self.slot(key)?)
    }

    /// Keys and values in order of the keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.keys.index.slots().filter_map(|slot| self.pair(slot))
    }

    /// As [`Map::iter`], from a key on.
    pub fn iter_from(&self, from: K) -> impl Iterator<Item = (&K, &V)> {
        let at = self.keys.find(&from).unwrap_or_else(|at| at);
        self.keys.index.slots_from(at).filter_map(|slot| self.pair(slot))
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// All values, in the order of their slots rather than of the keys.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.slots.iter_mut().filter_map(Option::as_mut)
    }

    /// Changes values in order of the keys.
    pub fn each(&mut self, mut change: impl FnMut(&K, &mut V)) {
        let (values, keys) = (&mut self.slots, &self.keys);
        for slot in keys.index.slots().map(|slot| slot as usize) {
            if let (Some(Some(key)), Some(Some(value))) = (keys.slots.get(slot), values.get_mut(slot)) {
                change(key, value);
            }
        }
    }

    /// The values in order of their keys.
    pub fn into_values(mut self) -> Vec<V> {
        let slots = self.keys.index.slots();
        slots.filter_map(|slot| self.slots.get_mut(slot as usize)?.take()).collect()
    }

    /// Keeps what `keep` says to keep.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let (values, Keys { index, slots, free }) = (&mut self.slots, &mut self.keys);
        index.retain(&mut |slot| {
            let (Some(key), Some(value)) = (slots.get_mut(slot as usize), values.get_mut(slot as usize)) else {
                return false;
            };
            let stays = key.as_ref().zip(value.as_mut()).is_some_and(|(key, value)| keep(key, value));
            if !stays {
                (*key, *value) = (None, None);
                free.push(slot);
            }
            stays
        });
    }
}

impl<K: Key, V: Default> Map<K, V> {
    /// The value of a key, the default where there is none yet.
    pub fn or_default(&mut self, key: K) -> &mut V {
        self.or_insert_with(key, V::default)
    }
}

impl<K: Key, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut map = Self::default();
        for (key, value) in items {
            map.insert(key, value);
        }
        map
    }
}

impl<K: Key, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// An ordered set.
pub type Set<K> = Map<K, ()>;

impl<K: Key> Set<K> {
    /// Returns whether the key is new.
    pub fn add(&mut self, key: K) -> bool {
        self.insert(key, ()).is_none()
    }

    pub fn contains<Q: Key + ?Sized>(&self, key: &Q) -> bool
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
        fn it_does_what_a_btree_map_does(deeds in prop::collection::vec((0..200_u8, any::<Option<u16>>()), 0..400)) {
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

    /// Names of siblings rank alike: their order is that of the whole names, over several blocks.
    #[test]
    fn keys_that_rank_alike_are_found_each_by_itself() {
        let name = |n: u32| format!("web-6d4cf56db6-{n:04}");
        let mut map = Map::default();
        for n in (0..500).map(|n| n * 7 % 500) {
            assert_eq!(map.insert(name(n), n), None);
        }
        assert!(map.values().copied().eq(0..500));
        assert!((0..500).all(|n| map.get(&name(n)) == Some(&n)) && map.get(&name(500)).is_none());
        assert!((0..500).step_by(2).all(|n| map.remove(&name(n)) == Some(n)));
        assert!(map.values().copied().eq((1..500).step_by(2)));
    }

    #[test]
    fn ranks_are_in_the_order_of_the_keys() {
        let mut texts =
            ["", "a", "a\0", "abcdefgh", "abcdefghi", "abcdefghijk", "b", "é", "web-10", "web-2", "Zone_A/b"];
        texts.sort_unstable();
        assert!(texts.is_sorted_by_key(|text| text.rank()));
        let mut letters: Vec<String> = (0..=0x10_ffff).filter_map(char::from_u32).map(String::from).collect();
        letters.sort_unstable();
        assert!(letters.is_sorted_by_key(|text| text.rank()));
        assert_ne!("node-4711".rank(), "node-4712".rank());
        assert!([i32::MIN, -1, 0, 1, i32::MAX].is_sorted_by_key(Key::rank));
    }
}
