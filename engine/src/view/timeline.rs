//! A stretch of a whole run: lanes, the curve of want and is, and what was broken meanwhile.

use std::rc::Rc;

use crate::client::LoopIndex;
use crate::sim::{Millis, Time};
use crate::world::{Heap, JournalEntry, Lane, Record, Sample, Simulation, Stroke};

use super::faults::broken;
use super::loops::is_watcher;

/// Which stretch of virtual time is looked at, with both its ends, in ms, and on how many columns; on none lanes are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub from_ms: u64,
    pub to_ms: u64,
    pub columns: usize,
}

impl Stretch {
    /// The column in which a time lies.
    fn column(&self, at: Time) -> usize {
        let span = self.to_ms.saturating_sub(self.from_ms).max(1);
        let column = at.0.saturating_sub(self.from_ms).saturating_mul(self.columns as u64) / span;
        (column as usize).min(self.columns.saturating_sub(1))
    }

    /// Where a column begins, in ms.
    fn edge(&self, column: usize) -> u64 {
        let span = self.to_ms.saturating_sub(self.from_ms);
        self.from_ms + span.saturating_mul(column as u64) / self.columns.max(1) as u64
    }
}

/// What happened on one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineLane {
    pub lane: Lane,
    pub name: String,
    /// Events of the stretch.
    pub n: u64,
    /// How many there are in each column.
    pub columns: Vec<Heap>,
    /// The events one by one, where all of them are there and no more than there are columns.
    pub strokes: Vec<Stroke>,
}

/// Something was broken from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// `node-1 off`
    pub what: String,
    pub from_ms: u64,
    /// Nothing while it lasts.
    pub to_ms: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    pub stretch: Stretch,
    /// The person first, then faults, loops in the order in which work flows, the API server. Only lanes on which
    /// anything happened in the whole run, and the person's.
    pub lanes: Vec<TimelineLane>,
    pub faults: Vec<FaultSpan>,
    /// Want and is: the first step is how they were when the stretch began.
    pub curve: Vec<Sample>,
    /// Stretches in which events are only counted, in ms.
    pub thinned: Vec<(u64, u64)>,
}

/// Draws a stretch of a run of which the simulation has come to an instant, and which is known as `whole` says, along
/// these commands.
///
/// Up to the instant what the simulation knows counts: having been replayed, it has again what is only counted in the
/// record of a long run.
pub fn timeline(simulation: &Simulation, whole: &Record, steps: &[Rc<JournalEntry>], stretch: Stretch) -> Timeline {
    let here = simulation.recorded();
    let ahead = Some(whole).filter(|it| it.n() > here.n());
    let newest = ahead.unwrap_or(here);
    let mut lanes: Vec<TimelineLane> =
        shown(simulation, newest).map(|(lane, name)| empty(lane, name, stretch)).collect();
    let now = simulation.now();
    let mut places = [None; 256];
    for (index, lane) in lanes.iter().enumerate() {
        places[usize::from(lane.lane.number())] = Some(index);
    }
    let mut thinned = Vec::new();
    let mut put = |record: &Record, after: Option<(&Record, Time)>| {
        let exact = record.exact_from();
        let begin = after.map_or(0, |(_, now)| now.0);
        thinned.extend(exact.filter(|it| it.0 > begin && begin <= stretch.to_ms).map(|it| (begin, it.0)));
        if stretch.columns == 0 {
            return;
        }
        for lane in &mut lanes {
            pile(lane, record, stretch, after);
        }
        let (from, to) = (Time(stretch.from_ms), Time(stretch.to_ms));
        for stroke in record.strokes(from, to).filter(|it| after.is_none_or(|(before, _)| it.seq > before.last())) {
            let place = places[usize::from(stroke.lane.number())];
            if let Some(lane) = place.and_then(|it| lanes.get_mut(it)) {
                lane.n += 1;
                if let Some(heap) = lane.columns.get_mut(stretch.column(stroke.at)) {
                    heap.add(stroke.into());
                }
                // One more than is shown says that there are too many.
                if lane.strokes.len() <= stretch.columns {
                    lane.strokes.push(stroke);
                }
            }
        }
    };
    put(here, None);
    if let Some(ahead) = ahead {
        put(ahead, Some((here, now)));
    }
    for lane in &mut lanes {
        if lane.strokes.len() as u64 != lane.n || lane.strokes.len() > stretch.columns {
            lane.strokes = Vec::new();
        }
    }
    thinned.retain(|(_, to)| *to > stretch.from_ms);
    let curve = curve(here, ahead, now, stretch);
    Timeline { stretch, lanes, faults: faults(simulation, steps, stretch), curve, thinned }
}

fn empty(lane: Lane, name: String, stretch: Stretch) -> TimelineLane {
    TimelineLane { lane, name, n: 0, columns: vec![Heap::default(); stretch.columns], strokes: Vec::new() }
}

/// The lanes of a run with their names, in the order in which they are shown.
fn shown(simulation: &Simulation, record: &Record) -> impl Iterator<Item = (Lane, String)> {
    let loops = simulation.loops().iter().enumerate().filter_map(|(index, it)| {
        let lane = simulation.lane_of(LoopIndex(u32::try_from(index).ok()?));
        matches!(lane, Lane::Loop(_)).then(|| (lane, it.name.to_string()))
    });
    let (watchers, others): (Vec<_>, Vec<_>) = loops.partition(|(_, name)| is_watcher(name));
    let own = |lane, name: &str| (lane, name.to_owned());
    let first = [own(Lane::You, "You"), own(Lane::Faults, "Faults")].into_iter().chain(others);
    let all = first.chain([own(Lane::Kubelets, "Kubelets")]).chain(watchers).chain([own(Lane::Server, "API server")]);
    all.filter(|(lane, _)| *lane == Lane::You || record.n_on(*lane) > 0)
}

/// Puts older events, which are only counted, into their columns; those that another record has already are left out.
fn pile(lane: &mut TimelineLane, record: &Record, stretch: Stretch, after: Option<(&Record, Time)>) {
    let Some(exact) = record.exact_from() else { return };
    let mut known = after.map_or(0, |(before, _)| before.n_on(lane.lane));
    for (at, width, mut heap) in record.heaps_on(lane.lane) {
        let skipped = known.min(heap.n.into()) as u32;
        known -= u64::from(skipped);
        heap.n -= skipped;
        let from = after.filter(|_| skipped > 0).map_or(at, |(_, now)| now.max(at));
        let to = (at + width).min(exact + Millis(1)).max(from + Millis(1));
        if heap.n > 0 && from.0 <= stretch.to_ms && to.0 > stretch.from_ms {
            spread(lane, stretch, heap, from, to);
        }
    }
}

/// Spreads a heap evenly over its time.
fn spread(lane: &mut TimelineLane, stretch: Stretch, heap: Heap, from: Time, to: Time) {
    let share = |at: u64| u64::from(heap.n) * (at.clamp(from.0, to.0) - from.0) / (to.0 - from.0);
    let (first, last) = (stretch.column(from), stretch.column(Time(to.0 - 1)));
    for column in first..=last {
        let end = if column == last { stretch.to_ms + 1 } else { stretch.edge(column + 1) };
        let n = share(end) - share(stretch.edge(column));
        lane.n += n;
        if n > 0
            && let Some(into) = lane.columns.get_mut(column)
        {
            into.add(Heap { n: n as u32, ..heap });
        }
    }
}

fn curve(here: &Record, ahead: Option<&Record>, now: Time, stretch: Stretch) -> Vec<Sample> {
    let later = ahead.into_iter().flat_map(|it| it.samples()).filter(|it| it.at > now);
    steps_in(here.samples().iter().chain(later), stretch)
}

/// Want and is of a stretch of another run.
pub fn curve_in(record: &Record, stretch: Stretch) -> Vec<Sample> {
    steps_in(record.samples().iter(), stretch)
}

fn steps_in<'a>(all: impl Iterator<Item = &'a Sample>, stretch: Stretch) -> Vec<Sample> {
    let mut steps: Vec<Sample> = Vec::new();
    for step in all {
        if step.at.0 > stretch.to_ms {
            break;
        }
        if step.at.0 <= stretch.from_ms {
            steps.clear();
        }
        steps.push(Sample { at: step.at.max(Time(stretch.from_ms)), ..*step });
    }
    steps
}

/// What the commands of a run broke, and mended again.
fn faults(simulation: &Simulation, steps: &[Rc<JournalEntry>], stretch: Stretch) -> Vec<FaultSpan> {
    let all = broken(simulation, steps).into_iter().map(|it| FaultSpan {
        what: [&it.target, " ", it.fault.word()].concat(),
        from_ms: it.from_ms,
        to_ms: it.to_ms,
    });
    all.filter(|it| it.from_ms <= stretch.to_ms && it.to_ms.is_none_or(|to| to >= stretch.from_ms)).collect()
}
