//! The order behind [`Map`](super::Map): one piece of code for all types of keys.

use std::cmp::Ordering;

/// The most entries of a block; a fuller one is halved.
const MOST: usize = 32;
/// A block that is no longer is searched from its beginning.
const FEW: usize = 8;

/// A key's rank and the slot in which it lies.
#[derive(Clone, Copy, Debug)]
struct Entry {
    rank: u64,
    slot: u32,
}

/// Where an entry is: the block and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(usize, usize);

/// Slots in the order of their keys, in blocks, none of them empty.
///
/// It knows of a key its rank alone and asks about two that rank alike. So it need not be compiled for each type of
/// keys, and seldom has to look at a key.
#[derive(Clone, Debug, Default)]
pub struct Index {
    blocks: Vec<Vec<Entry>>,
    /// The rank of the last entry of each block but the last: a search looks at these, which lie side by side, and
    /// then into one block.
    lasts: Vec<u64>,
    len: usize,
}

impl Index {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Looks for a key by its rank. `order` says how the key in a slot compares with the one looked for.
    ///
    /// # Errors
    /// Where the key would belong.
    pub fn find(&self, rank: u64, order: &dyn Fn(u32) -> Ordering) -> Result<At, At> {
        let mut block = self.lasts.partition_point(|last| *last < rank);
        let ties = self.lasts[block..].iter().take_while(|last| **last == rank).count();
        let is_before = |block: &Vec<Entry>| block.last().is_some_and(|last| order(last.slot) == Ordering::Less);
        block += self.blocks.get(block..block + ties).unwrap_or_default().partition_point(is_before);
        let entries = self.blocks.get(block).map(Vec::as_slice).unwrap_or_default();
        let place = self.place(block, rank);
        let ties = entries[place..].iter().take_while(|entry| entry.rank == rank).count();
        match entries[place..place + ties].binary_search_by(|entry| order(entry.slot)) {
            Ok(tie) => Ok(At(block, place + tie)),
            Err(tie) => Err(At(block, place + tie)),
        }
    }

    /// The first place in a block of an entry of this rank or a higher one.
    ///
    /// Most ranks are hashes, spread evenly: so the search begins where the rank would lie among even ones, which is
    /// mostly a step or two away and read from memory at once.
    fn place(&self, block: usize, rank: u64) -> usize {
        let Some(entries) = self.blocks.get(block) else { return 0 };
        let mut place = if entries.len() > FEW { self.guess(block, entries, rank) } else { 0 };
        while entries.get(place).is_some_and(|entry| entry.rank < rank) {
            place += 1;
        }
        while place > 0 && entries.get(place - 1).is_some_and(|entry| entry.rank >= rank) {
            place -= 1;
        }
        place
    }

    /// Where an entry would lie in a block of even ranks.
    fn guess(&self, block: usize, entries: &[Entry], rank: u64) -> usize {
        let edge = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.rank);
        let before = block.checked_sub(1).and_then(|before| self.lasts.get(before));
        let lowest = before.copied().unwrap_or_else(|| edge(entries.first()));
        let highest = self.lasts.get(block).copied().unwrap_or_else(|| edge(entries.last()));
        let range = highest.saturating_sub(lowest);
        // In numbers that can be multiplied by how many there are.
        let shift = 32_u32.saturating_sub(range.leading_zeros());
        let (ahead, span) = (rank.saturating_sub(lowest) >> shift, (range >> shift) + 1);
        (ahead.min(span) * entries.len() as u64 / span) as usize
    }

    pub fn slot(&self, At(block, place): At) -> Option<usize> {
        Some(self.blocks.get(block)?.get(place)?.slot as usize)
    }

    pub fn insert(&mut self, At(block, place): At, rank: u64, slot: u32) {
        self.len += 1;
        let (mut block, mut place) = (block, place);
        let Some(entries) = self.blocks.get_mut(block) else {
            self.blocks.push(vec![Entry { rank, slot }]);
            return;
        };
        if entries.len() == MOST {
            // Keys often come in their order: then the full half is left alone from here on.
            let half = entries.split_off(MOST / 2);
            self.lasts.insert(block, 0);
            self.blocks.insert(block + 1, half);
            self.note_last(block);
            if place > MOST / 2 {
                (block, place) = (block + 1, place - MOST / 2);
            }
        }
        if let Some(entries) = self.blocks.get_mut(block) {
            entries.insert(place, Entry { rank, slot });
        }
        self.note_last(block);
    }

    /// Takes the entry of a slot out, whose key has this rank.
    pub fn remove_slot(&mut self, rank: u64, slot: u32) {
        // Of keys that rank alike the slot tells which is meant.
        let block = self.lasts.partition_point(|last| *last < rank);
        let mut at = At(block, self.place(block, rank));
        while let Some(entries) = self.blocks.get(at.0) {
            match entries.get(at.1) {
                Some(entry) if entry.rank > rank => return,
                Some(entry) if entry.slot == slot => {
                    self.remove(at);
                    return;
                }
                Some(_) => at.1 += 1,
                None => at = At(at.0 + 1, 0),
            }
        }
    }

    /// Takes an entry out and returns its slot.
    pub fn remove(&mut self, At(block, place): At) -> u32 {
        self.len -= 1;
        let entry = self.blocks[block].remove(place);
        if self.blocks[block].is_empty() {
            self.blocks.remove(block);
            if !self.lasts.is_empty() {
                self.lasts.remove(block.min(self.lasts.len() - 1));
            }
        } else {
            self.note_last(block);
        }
        entry.slot
    }

    fn note_last(&mut self, block: usize) {
        if let (Some(last), Some(entry)) = (self.lasts.get_mut(block), self.blocks[block].last()) {
            *last = entry.rank;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn slots(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.blocks.iter().flatten().map(|entry| entry.slot)
    }

    /// As [`Index::slots`], from a place on.
    pub fn slots_from(&self, At(block, place): At) -> impl Iterator<Item = u32> {
        let first = self.blocks.get(block).and_then(|entries| entries.get(place..)).unwrap_or_default();
        let rest = self.blocks.get(block + 1..).unwrap_or_default();
        first.iter().chain(rest.iter().flatten()).map(|entry| entry.slot)
    }

    /// Keeps the slots that `keep` says to keep.
    pub fn retain(&mut self, keep: &mut dyn FnMut(u32) -> bool) {
        for entries in &mut self.blocks {
            entries.retain(|entry| keep(entry.slot));
        }
        self.blocks.retain(|entries| !entries.is_empty());
        let last_ranks = self.blocks.iter().filter_map(|entries| Some(entries.last()?.rank));
        self.lasts = last_ranks.take(self.blocks.len().saturating_sub(1)).collect();
        self.len = self.blocks.iter().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Of many slots few ranks are alike, or many, over several blocks.
        #[test]
        fn a_slot_is_taken_out_by_its_rank(n_ranks in 1..200_u64, deeds in prop::collection::vec(0..200_u32, 0..400)) {
            let (mut index, mut model) = (Index::default(), std::collections::BTreeSet::new());
            for slot in deeds {
                let rank = u64::from(slot) % n_ranks;
                match index.find(rank, &|other| other.cmp(&slot)) {
                    Err(at) if model.insert((rank, slot)) => index.insert(at, rank, slot),
                    Ok(_) if model.remove(&(rank, slot)) => index.remove_slot(rank, slot),
                    found => prop_assert!(false, "{found:?}"),
                }
                index.remove_slot(rank, 1_000);
                prop_assert!(index.slots().eq(model.iter().map(|(_, slot)| *slot)));
                prop_assert_eq!(index.len(), model.len());
            }
        }
    }
}
