//! What a timeline shows of a whole run.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::client::Mark;
use crate::sim::{Millis, Seq, Time};

/// Who an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    You,
    /// What a person breaks and mends.
    Faults,
    /// The API server's answers.
    Server,
    /// All kubelets, and what happens on their nodes.
    Kubelets,
    /// A loop of the control plane, by its number.
    Loop(u8),
}

impl Lane {
    /// Lanes of their own, before the loops.
    const OWN: [Lane; 4] = [Lane::You, Lane::Faults, Lane::Server, Lane::Kubelets];

    pub fn number(self) -> u8 {
        match self {
            Lane::You => 0,
            Lane::Faults => 1,
            Lane::Server => 2,
            Lane::Kubelets => 3,
            Lane::Loop(at) => at.saturating_add(Self::OWN.len() as u8),
        }
    }

    fn numbered(number: u8) -> Self {
        let own = Self::OWN.get(usize::from(number)).copied();
        own.unwrap_or(Lane::Loop(number.saturating_sub(Self::OWN.len() as u8)))
    }
}

/// One event on its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    pub at: Time,
    pub seq: Seq,
    pub lane: Lane,
    pub mark: Mark,
    /// It is, or follows from, something the person did.
    pub is_yours: bool,
}

/// Several events of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heap {
    pub n: u32,
    /// The one of most weight.
    pub mark: Mark,
    /// Any of them is the person's.
    pub is_yours: bool,
}

impl Default for Heap {
    fn default() -> Self {
        Self { n: 0, mark: Mark::Watch, is_yours: false }
    }
}

impl Heap {
    pub fn add(&mut self, other: Heap) {
        self.n = self.n.saturating_add(other.n);
        self.is_yours |= other.is_yours;
        if other.n > 0 && other.mark.weight() > self.mark.weight() {
            self.mark = other.mark;
        }
    }
}

impl From<Stroke> for Heap {
    fn from(stroke: Stroke) -> Self {
        Self { n: 1, mark: stroke.mark, is_yours: stroke.is_yours }
    }
}

/// How many pods are wanted and how many of them are ready, from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub at: Time,
    pub want: i32,
    pub ready: i32,
}

/// A [`Stroke`] as seen from the first of its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    after: u32,
    further: u32,
    lane: u8,
    mark: Mark,
    is_yours: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Chunk {
    at: Time,
    seq: Seq,
    strokes: Vec<Packed>,
}

impl Chunk {
    const SIZE: usize = 250;

    /// Nothing where the chunk is full.
    fn add(&mut self, stroke: Stroke) -> Option<()> {
        let after = u32::try_from(stroke.at.0 - self.at.0).ok().filter(|_| self.strokes.len() < Self::SIZE)?;
        let further = u32::try_from(stroke.seq.0 - self.seq.0).ok()?;
        let (lane, mark, is_yours) = (stroke.lane.number(), stroke.mark, stroke.is_yours);
        self.strokes.push(Packed { after, further, lane, mark, is_yours });
        Some(())
    }

    fn strokes(&self) -> impl DoubleEndedIterator<Item = Stroke> {
        self.strokes.iter().map(|it| Stroke {
            at: self.at + Millis(it.after.into()),
            seq: Seq(self.seq.0 + u64::from(it.further)),
            lane: Lane::numbered(it.lane),
            mark: it.mark,
            is_yours: it.is_yours,
        })
    }
}

/// The events of a run that lists show, on lanes, and the curve of want and is: a function of the run alone.
///
/// The newest [`Record::EXACT`] events are there one by one. Older ones are counted, for each lane in at most
/// [`Record::BINS`] stretches of equal length, which doubles whenever the run has become too long for them. Of the
/// curve's [`Record::SAMPLES`] steps the older half is thinned when there are more: of two neighbours the one stays
/// where want and is were further apart. Copies share what they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    chunks: VecDeque<Rc<Chunk>>,
    n_exact: usize,
    /// By the number of the lane, some stretches together.
    bins: Vec<Vec<Rc<[Heap; Self::TOGETHER]>>>,
    width: Millis,
    samples: Rc<Vec<Sample>>,
    /// Up to here samples were thinned.
    smoothed: Time,
    n: u64,
    /// By the number of the lane.
    n_on: Vec<u64>,
    last: Seq,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            chunks: VecDeque::new(),
            n_exact: 0,
            bins: Vec::new(),
            width: Self::FIRST_WIDTH,
            samples: Rc::default(),
            smoothed: Time(0),
            n: 0,
            n_on: Vec::new(),
            last: Seq(0),
        }
    }
}

impl Record {
    /// Events that are kept one by one.
    pub const EXACT: usize = 20_000;
    /// Stretches in which older ones are counted, and how long one is at first.
    pub const BINS: usize = 1_024;
    pub const FIRST_WIDTH: Millis = Millis(100);
    pub const SAMPLES: usize = 2_048;
    const TOGETHER: usize = 64;

    /// Takes an event down; they come in order.
    pub(super) fn add(&mut self, stroke: Stroke) {
        (self.n, self.last) = (self.n + 1, stroke.seq);
        self.n_exact += 1;
        let lane = usize::from(stroke.lane.number());
        if self.n_on.len() <= lane {
            self.n_on.resize(lane + 1, 0);
        }
        self.n_on[lane] += 1;
        let newest = self.chunks.back_mut().map(Rc::make_mut);
        if newest.and_then(|it| it.add(stroke)).is_none() {
            let mut chunk = Chunk { at: stroke.at, seq: stroke.seq, strokes: Vec::new() };
            chunk.add(stroke);
            self.chunks.push_back(Rc::new(chunk));
        }
        if self.n_exact > Self::EXACT
            && let Some(oldest) = self.chunks.pop_front()
        {
            self.n_exact -= oldest.strokes.len();
            oldest.strokes().for_each(|it| self.count(it));
        }
    }

    fn count(&mut self, stroke: Stroke) {
        while stroke.at.0 / self.width.0 >= Self::BINS as u64 {
            self.widen();
        }
        let (lane, at) = (usize::from(stroke.lane.number()), (stroke.at.0 / self.width.0) as usize);
        if self.bins.len() <= lane {
            self.bins.resize_with(lane + 1, Vec::new);
        }
        let bins = &mut self.bins[lane];
        while bins.len() <= at / Self::TOGETHER {
            bins.push(Rc::new([Heap::default(); Self::TOGETHER]));
        }
        Rc::make_mut(&mut bins[at / Self::TOGETHER])[at % Self::TOGETHER].add(stroke.into());
    }

    fn widen(&mut self) {
        self.width = Millis(self.width.0 * 2);
        for bins in &mut self.bins {
            let halve = |pair: &[Rc<[Heap; Self::TOGETHER]>]| {
                let mut sums = [Heap::default(); Self::TOGETHER];
                for (at, heap) in pair.iter().flat_map(|it| it.iter()).enumerate() {
                    sums[at / 2].add(*heap);
                }
                Rc::new(sums)
            };
            *bins = bins.chunks(2).map(halve).collect();
        }
    }

    /// Takes the curve down as it is from a time on.
    pub(super) fn sample(&mut self, at: Time, want: i32, ready: i32) {
        let is_new = |last: Option<&Sample>| last.is_none_or(|it| (it.want, it.ready) != (want, ready));
        if !is_new(self.samples.last()) {
            return;
        }
        let samples = Rc::make_mut(&mut self.samples);
        // What lasted no time is not seen.
        if samples.last().is_some_and(|last| last.at == at) {
            samples.pop();
        }
        if is_new(samples.last()) {
            samples.push(Sample { at, want, ready });
        }
        if samples.len() > Self::SAMPLES {
            let newer = samples.split_off(Self::SAMPLES / 2);
            self.smoothed = newer.first().map_or(at, |it| it.at);
            let gap = |it: &Sample| it.want.abs_diff(it.ready);
            let further = |pair: &[Sample]| {
                let worst = pair.iter().fold(pair[0], |a, b| if gap(b) > gap(&a) { *b } else { a });
                Sample { at: pair[0].at, ..worst }
            };
            let thinned: Vec<Sample> = samples.chunks(2).map(further).collect();
            *samples = thinned;
            samples.extend(newer);
        }
    }

    /// Events so far.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Events so far on one lane.
    pub fn n_on(&self, lane: Lane) -> u64 {
        self.n_on.get(usize::from(lane.number())).copied().unwrap_or(0)
    }

    /// The newest event.
    pub fn last(&self) -> Seq {
        self.last
    }

    /// From here on events are there one by one; nothing while all are.
    pub fn exact_from(&self) -> Option<Time> {
        let is_thinned = self.n > self.n_exact as u64;
        self.chunks.front().map(|it| it.at).filter(|_| is_thinned)
    }

    /// From here on the curve is exact; nothing while all of it is.
    pub fn smoothed_until(&self) -> Option<Time> {
        Some(self.smoothed).filter(|it| it.0 > 0)
    }

    /// The events that are there one by one, of a stretch with both its ends.
    pub fn strokes(&self, from: Time, to: Time) -> impl Iterator<Item = Stroke> {
        let ends = self.chunks.iter().skip(1).map(|it| it.at).chain([Time(u64::MAX)]);
        let chunks = self.chunks.iter().zip(ends).filter(move |(it, end)| it.at <= to && *end >= from);
        chunks.flat_map(|(it, _)| it.strokes()).filter(move |it| (from..=to).contains(&it.at))
    }

    /// Older events of a lane, counted: beginning and length of the stretch, and what is in it.
    pub fn heaps_on(&self, lane: Lane) -> impl Iterator<Item = (Time, Millis, Heap)> {
        let (width, bins) = (self.width, self.bins.get(usize::from(lane.number())));
        let all = bins.into_iter().flatten().flat_map(|it| it.iter()).enumerate().filter(|(_, heap)| heap.n > 0);
        all.map(move |(index, heap)| (Time(index as u64 * width.0), width, *heap))
    }

    /// The lanes on which anything happened.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.n_on.iter().enumerate().filter(|(_, n)| **n > 0).map(|(number, _)| Lane::numbered(number as u8))
    }

    /// The steps of want and is, oldest first.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
