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
    first: u64,
    /// How far the numbers of events are above the first.
    places: Vec<(u32, Place)>,
    log: Log,
}

impl Chunk {
    fn is_full(&self) -> bool {
        self.places.len() == Ring::CHUNK
    }

    fn seq(&self, (further, _): (u32, Place)) -> Seq {
        Seq(self.first + u64::from(further))
    }

    fn last(&self) -> Option<Seq> {
        self.places.last().map(|place| self.seq(*place))
    }
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
        if self.chunks.back().is_none_or(|last| last.is_full()) {
            self.chunks.push_back(Rc::default());
        }
        let Some(chunk) = self.chunks.back_mut().map(Rc::make_mut) else { return };
        if chunk.places.is_empty() {
            chunk.first = event.seq.0;
        }
        let further = u32::try_from(event.seq.0 - chunk.first).unwrap_or(u32::MAX);
        chunk.places.push((further, chunk.log.end()));
        let log = &mut chunk.log;
        log.number(event.seq.0 - event.root.0);
        log.number(event.cause.map_or(0, |cause| event.seq.0 - cause.0));
        log.number(event.at.0);
        event.what.write(log);
        if chunk.is_full() {
            chunk.places.shrink_to_fit();
            chunk.log.close();
        }
        self.len += 1;
    }

    fn drop_first(&mut self) {
        self.dropped += 1;
        self.len -= 1;
        if self.dropped.is_multiple_of(Self::CHUNK)
            && let Some(mut chunk) = self.chunks.pop_front()
            && self.chunks.back().is_none_or(|last| last.is_full())
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
        let chunk = self.chunks.partition_point(|it| it.last().is_some_and(|last| last < seq));
        let within = self.chunks.get(chunk).map_or(0, |it| it.places.partition_point(|place| it.seq(*place) < seq));
        (chunk * Self::CHUNK + within).saturating_sub(self.dropped % Self::CHUNK)
    }

    pub fn find(&self, seq: Seq) -> Option<usize> {
        let index = self.from(seq);
        self.reader(index).filter(|(found, _)| *found == seq).map(|_| index)
    }

    fn reader(&self, index: usize) -> Option<(Seq, LogReader<'_>)> {
        let (chunk, within) = self.place(index);
        let chunk = self.chunks.get(chunk)?;
        let place = *chunk.places.get(within)?;
        Some((chunk.seq(place), chunk.log.read_from(place.1)))
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

/// How far back the root of each of the newest events is, at the event's number modulo the length. A copy shares what was
/// noted before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots(Vec<Rc<Vec<u32>>>);

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
            chunk.resize(within + 1, 0);
        }
        chunk[within] = u32::try_from(seq.0 - root.0).unwrap_or(0);
    }

    pub fn get(&self, seq: Seq) -> Option<Seq> {
        let (chunk, within) = Self::place(seq);
        let back = *self.0.get(chunk)?.get(within)?;
        Some(Seq(seq.0.saturating_sub(back.into())))
    }
}
