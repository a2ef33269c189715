use std::collections::VecDeque;
use std::rc::Rc;

use super::trace::{Head, TraceEvent};
use super::{Log, LogReader, Logged, Place, Seq, Time};

/// The newest events of one sort, in order. They are written down, so that an event that is dropped, long after anybody
/// last looked at it, need not be looked at again.
///
/// A copy shares what was written before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// All full but the last; those of the first may have been dropped in part.
    chunks: VecDeque<Rc<Chunk>>,
    dropped: usize,
    len: usize,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    places: Vec<(Seq, Place)>,
    log: Log,
}

impl Ring {
    /// Events of a chunk.
    const CHUNK: usize = 250;

    pub fn len(&self) -> usize {
        self.len
    }

    /// How many came before those that are kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    pub fn push<P: Logged>(&mut self, event: &TraceEvent<P>, limit: usize) {
        if self.len == limit {
            self.drop_first();
        }
        if self.chunks.back().is_none_or(|last| last.places.len() == Self::CHUNK) {
            self.chunks.push_back(Rc::default());
        }
        let Some(chunk) = self.chunks.back_mut().map(Rc::make_mut) else { return };
        chunk.places.push((event.seq, chunk.log.end()));
        let log = &mut chunk.log;
        log.number(event.seq.0 - event.root.0);
        log.number(event.cause.map_or(0, |cause| event.seq.0 - cause.0));
        log.number(event.at.0);
        event.what.write(log);
        self.len += 1;
    }

    fn drop_first(&mut self) {
        self.dropped += 1;
        self.len -= 1;
        if self.dropped.is_multiple_of(Self::CHUNK)
            && let Some(mut chunk) = self.chunks.pop_front()
            && self.chunks.back().is_none_or(|last| last.places.len() == Self::CHUNK)
            && let Some(mine) = Rc::get_mut(&mut chunk)
        {
            // Its memory is used again.
            mine.places.clear();
            mine.log.clear();
            self.chunks.push_back(chunk);
        }
    }

    /// Where an event is, counted from the first of the first chunk.
    fn place(&self, index: usize) -> (usize, usize) {
        let at = self.dropped % Self::CHUNK + index;
        (at / Self::CHUNK, at % Self::CHUNK)
    }

    /// The index of the first event that is not before another.
    fn from(&self, seq: Seq) -> usize {
        let chunk = self.chunks.partition_point(|it| it.places.last().is_some_and(|(last, _)| *last < seq));
        let within = self.chunks.get(chunk).map_or(0, |it| it.places.partition_point(|(it, _)| *it < seq));
        (chunk * Self::CHUNK + within).saturating_sub(self.dropped % Self::CHUNK)
    }

    pub fn find(&self, seq: Seq) -> Option<usize> {
        let index = self.from(seq);
        self.reader(index).filter(|(found, _)| *found == seq).map(|_| index)
    }

    fn reader(&self, index: usize) -> Option<(Seq, LogReader<'_>)> {
        let (chunk, within) = self.place(index);
        let chunk = self.chunks.get(chunk)?;
        let (seq, place) = *chunk.places.get(within)?;
        Some((seq, chunk.log.read_from(place)))
    }

    pub fn first(&self) -> Option<Seq> {
        self.reader(0).map(|(seq, _)| seq)
    }

    pub fn root(&self, index: usize) -> Option<Seq> {
        let (seq, mut from) = self.reader(index)?;
        Some(Seq(seq.0 - from.number()))
    }

    pub fn heads_after(&self, seq: Seq) -> impl Iterator<Item = Head> {
        (self.from(Seq(seq.0 + 1))..self.len).filter_map(|index| {
            let (seq, mut from) = self.reader(index)?;
            let root = Seq(seq.0 - from.number());
            let cause = Some(from.number()).filter(|back| *back > 0).map(|back| Seq(seq.0 - back));
            Some(Head { seq, root, cause, at: Time(from.number()) })
        })
    }

    pub fn read<P: Logged>(&self, index: usize, is_background: bool) -> Option<TraceEvent<P>> {
        let (seq, mut from) = self.reader(index)?;
        let root = Seq(seq.0 - from.number());
        let cause = Some(from.number()).filter(|back| *back > 0).map(|back| Seq(seq.0 - back));
        let at = Time(from.number());
        Some(TraceEvent { seq, at, cause, root, is_background, what: P::read(&mut from) })
    }
}

/// The root of each of the newest events, at its number modulo the length. A copy shares what was noted before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots(Vec<Rc<Vec<Seq>>>);

impl Roots {
    /// Events back to which roots are known.
    pub const LEN: u64 = 1 << 16;
    const CHUNK: u64 = 1 << 10;

    fn place(seq: Seq) -> (usize, usize) {
        let slot = seq.0 % Self::LEN;
        ((slot / Self::CHUNK) as usize, (slot % Self::CHUNK) as usize)
    }

    pub fn note(&mut self, seq: Seq, root: Seq) {
        let (chunk, within) = Self::place(seq);
        while self.0.len() <= chunk {
            self.0.push(Rc::default());
        }
        let chunk = Rc::make_mut(&mut self.0[chunk]);
        if chunk.len() <= within {
            // The first event has number 1.
            chunk.resize(within + 1, Seq(0));
        }
        chunk[within] = root;
    }

    pub fn get(&self, seq: Seq) -> Option<Seq> {
        let (chunk, within) = Self::place(seq);
        self.0.get(chunk)?.get(within).copied()
    }
}
