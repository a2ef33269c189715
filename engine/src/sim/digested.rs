use std::collections::VecDeque;
use std::rc::Rc;

/// Values in the order in which they came, found by a digest of what they are about; of several with one digest, the
/// newest. The oldest may go.
///
/// A copy shares what has not changed since, in chunks.
#[derive(Clone, Debug)]
pub struct Digested<T> {
    /// All full but the last; those of the first may be gone in part.
    chunks: VecDeque<Rc<Vec<(u64, T)>>>,
    /// How many have gone.
    gone: usize,
    len: usize,
    table: Table,
}

const CHUNK: usize = 32;

impl<T> Default for Digested<T> {
    fn default() -> Self {
        Self { chunks: VecDeque::new(), gone: 0, len: 0, table: Table::default() }
    }
}

impl<T> Digested<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The chunk and the place in it of a value by its number, counted from the very first.
    fn place(&self, number: usize) -> (usize, usize) {
        (number / CHUNK - self.gone / CHUNK, number % CHUNK)
    }

    fn entry(&self, number: usize) -> Option<&(u64, T)> {
        let (chunk, within) = self.place(number);
        self.chunks.get(chunk)?.get(within)
    }

    fn digest(&self, number: u32) -> u64 {
        self.entry(number as usize).map_or(0, |it| it.0)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        (self.gone..self.gone + self.len).filter_map(|number| self.entry(number).map(|it| &it.1))
    }

    fn find(&self, digest: u64) -> Option<usize> {
        self.table.find(digest, &|number| self.digest(number)).map(|number| number as usize)
    }
}

impl<T: Clone> Digested<T> {
    fn at_mut(&mut self, number: usize) -> &mut T {
        let (chunk, within) = self.place(number);
        &mut Rc::make_mut(&mut self.chunks[chunk])[within].1
    }

    pub fn get_mut(&mut self, digest: u64) -> Option<&mut T> {
        self.find(digest).map(|number| self.at_mut(number))
    }

    /// The newest value of a digest, the default where there is none yet.
    pub fn or_default(&mut self, digest: u64) -> &mut T
    where
        T: Default,
    {
        let number = self.find(digest).unwrap_or_else(|| {
            self.push(digest, T::default());
            self.gone + self.len - 1
        });
        self.at_mut(number)
    }

    pub fn push(&mut self, digest: u64, value: T) {
        let number = self.gone + self.len;
        if number.is_multiple_of(CHUNK) || self.chunks.is_empty() {
            self.chunks.push_back(Rc::default());
        }
        if let Some(last) = self.chunks.back_mut() {
            Rc::make_mut(last).push((digest, value));
        }
        self.len += 1;
        let mut table = std::mem::take(&mut self.table);
        if table.is_narrow_for(self.len) {
            table = Table::of_size(self.len);
            (self.gone..number).for_each(|number| table.put(number as u32, &|number| self.digest(number)));
        }
        table.put(number as u32, &|number| self.digest(number));
        self.table = table;
    }

    /// Lets the oldest go.
    pub fn pop_front(&mut self) {
        if self.len == 0 {
            return;
        }
        let mut table = std::mem::take(&mut self.table);
        table.remove(self.gone as u32, &|number| self.digest(number));
        self.table = table;
        (self.gone, self.len) = (self.gone + 1, self.len - 1);
        if self.gone.is_multiple_of(CHUNK) {
            self.chunks.pop_front();
        }
    }
}

/// Numbers by digests, which it asks for: each at the first free place from where its digest says.
#[derive(Clone, Debug, Default)]
struct Table(Vec<u32>);

type Digests<'a> = &'a dyn Fn(u32) -> u64;

impl Table {
    fn of_size(len: usize) -> Self {
        Self(vec![0; (len * 2).next_power_of_two()])
    }

    fn is_narrow_for(&self, len: usize) -> bool {
        self.0.len() * 3 < len * 4
    }

    fn home(&self, digest: u64) -> usize {
        (digest.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.0.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.0.len() - 1)
    }

    /// Where the number with a digest is, or is to be.
    fn place(&self, digest: u64, digests: Digests<'_>) -> usize {
        let mut place = self.home(digest);
        while let Some(number) = self.0[place].checked_sub(1) {
            if digests(number) == digest {
                break;
            }
            place = self.after(place);
        }
        place
    }

    fn find(&self, digest: u64, digests: Digests<'_>) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        self.0[self.place(digest, digests)].checked_sub(1)
    }

    fn put(&mut self, number: u32, digests: Digests<'_>) {
        let place = self.place(digests(number), digests);
        self.0[place] = number + 1;
    }

    /// Takes a number out, unless a newer one has its place.
    fn remove(&mut self, number: u32, digests: Digests<'_>) {
        let mut hole = self.place(digests(number), digests);
        if self.0[hole] != number + 1 {
            return;
        }
        // What stands behind it because of it moves up.
        let mut place = self.after(hole);
        while let Some(other) = self.0[place].checked_sub(1) {
            let (home, mask) = (self.home(digests(other)), self.0.len() - 1);
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(hole) & mask {
                self.0[hole] = other + 1;
                hole = place;
            }
            place = self.after(place);
        }
        self.0[hole] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_newest_of_a_digest_is_found_until_it_goes(deeds in prop::collection::vec((0..40_u64, 0..3_u8), 0..600)) {
            let (mut all, mut model) = (Digested::default(), VecDeque::new());
            let mut copy: Option<(Digested<usize>, Vec<usize>)> = None;
            for (number, (digest, deed)) in deeds.into_iter().enumerate() {
                if deed == 0 {
                    all.pop_front();
                    model.pop_front();
                } else if deed == 1 {
                    all.push(digest << 40, number);
                    model.push_back((digest, number));
                }
                let found = model.iter_mut().rev().find(|it| it.0 == digest).map(|it| &mut it.1);
                let mine = all.get_mut(digest << 40);
                prop_assert_eq!(&mine, &found);
                if let (Some(mine), Some(found)) = (mine, found) {
                    (*mine, *found) = (*mine + 1_000, *found + 1_000);
                }
                prop_assert!(all.iter().eq(model.iter().map(|it| &it.1)));
                prop_assert_eq!(all.len(), model.len());
                if number == 200 {
                    copy = Some((all.clone(), all.iter().copied().collect()));
                }
            }
            if let Some((copy, then)) = copy {
                prop_assert!(copy.iter().eq(then.iter()));
            }
        }
    }
}
