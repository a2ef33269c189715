use std::rc::Rc;

use super::on_write::own;

/// Values that stay where they were put, at numbers that are used again once they are taken out, the lowest first.
///
/// A copy shares what has not changed since, in chunks.
#[derive(Clone, Debug)]
pub struct Slots<T> {
    chunks: Vec<Chunk<T>>,
    /// No chunk before this one has room.
    open: usize,
}

#[derive(Clone, Debug)]
struct Chunk<T> {
    /// A bit for each place that is taken.
    taken: u16,
    places: Rc<Vec<Option<T>>>,
}

const CHUNK: usize = u16::BITS as usize;

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), open: 0 }
    }
}

impl<T: Clone> Slots<T> {
    /// Puts a value in and returns where.
    pub fn add(&mut self, value: T) -> u32 {
        while self.chunks.get(self.open).is_some_and(|it| it.taken == u16::MAX) {
            self.open += 1;
        }
        if self.chunks.len() == self.open {
            self.chunks.push(Chunk { taken: 0, places: Rc::default() });
        }
        let chunk = &mut self.chunks[self.open];
        let within = chunk.taken.trailing_ones() as usize;
        chunk.taken |= 1 << within;
        let places = own(&mut chunk.places);
        if places.len() == within {
            places.push(Some(value));
        } else {
            places[within] = Some(value);
        }
        u32::try_from(self.open * CHUNK + within).unwrap_or(u32::MAX)
    }

    fn chunk(&mut self, slot: u32) -> Option<(&mut Chunk<T>, usize)> {
        let within = slot as usize % CHUNK;
        let chunk = self.chunks.get_mut(slot as usize / CHUNK)?;
        (chunk.taken >> within & 1 == 1).then_some((chunk, within))
    }

    #[cfg(feature = "interleavings")]
    pub fn get(&self, slot: u32) -> Option<&T> {
        self.chunks.get(slot as usize / CHUNK)?.places.get(slot as usize % CHUNK)?.as_ref()
    }

    pub fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        let (chunk, within) = self.chunk(slot)?;
        own(&mut chunk.places)[within].as_mut()
    }

    pub fn take(&mut self, slot: u32) -> Option<T> {
        let (chunk, within) = self.chunk(slot)?;
        chunk.taken &= !(1 << within);
        let value = own(&mut chunk.places)[within].take();
        self.open = self.open.min(slot as usize / CHUNK);
        // Nothing is left of a rush, but room for the next few.
        while self.chunks.len() > 1 && self.chunks.last().is_some_and(|it| it.taken == 0) {
            self.chunks.pop();
        }
        if let [only] = &mut *self.chunks
            && only.taken == 0
            && only.places.len() > FEW
        {
            only.places = Rc::default();
        }
        value
    }
}

/// Empty places that are kept.
const FEW: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_copy_leaves_the_original_alone() {
        let mut slots = Slots::default();
        let all: Vec<u32> = (0..100).map(|n| slots.add(n)).collect();
        let mut copy = slots.clone();
        for slot in &all {
            *copy.get_mut(*slot).expect("a value") += 1_000;
            assert_eq!(copy.take(*slot).map(|n| n - 1_000), slots.get_mut(*slot).copied());
        }
        assert_eq!((copy.add(7), copy.get_mut(0).copied(), copy.get_mut(1)), (0, Some(7), None));
        assert_eq!(slots.take(99), Some(99));
        assert_eq!((slots.add(5), slots.add(6), slots.take(3), slots.add(7)), (99, 100, Some(3), 3));
    }
}
