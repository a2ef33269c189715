use std::collections::VecDeque;

use leptos::prelude::*;
use loopscope_engine::api::{ObjectKey, Uid};
use loopscope_engine::manifest::Diagnostic;
use loopscope_engine::view::{
    CauseLink, Convergence, EventRow, Inspection, LoopId, LoopRow, MapView, NodeCard, NowLine, PodRow, StoreView,
    Summary,
};

/// Sets a signal only when the value differs, so that nothing is drawn twice.
pub fn put<S>(signal: &S, value: S::Value)
where
    S: Update,
    S::Value: PartialEq + Sized,
{
    signal.try_maybe_update(|old| {
        let differs = *old != value;
        if differs {
            *old = value;
        }
        (differs, ())
    });
}

/// A pod in a list: the list changes with membership, the row with the pod.
#[derive(Clone)]
pub struct PodEntry {
    pub uid: Uid,
    pub row: ArcRwSignal<PodRow>,
}

impl PartialEq for PodEntry {
    fn eq(&self, other: &Self) -> bool {
        self.uid == other.uid
    }
}

#[derive(Clone)]
pub struct NodeEntry {
    pub key: ObjectKey,
    /// The card without its pods.
    pub card: ArcRwSignal<NodeCard>,
    pub pods: ArcRwSignal<Vec<PodEntry>>,
    /// Pods whose binding to this node is on its way.
    pub arriving: ArcRwSignal<Vec<PodEntry>>,
}

impl PartialEq for NodeEntry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

#[derive(Clone)]
pub struct LoopEntry {
    pub id: LoopId,
    pub row: ArcRwSignal<LoopRow>,
    /// Which of the three phases shines.
    pub lit: ArcRwSignal<[bool; 3]>,
    /// It ran lately or is about to: shown unless all are.
    pub is_active: bool,
}

impl PartialEq for LoopEntry {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.is_active == other.is_active
    }
}

#[derive(Clone, Copy)]
pub struct Transport {
    /// Virtual time in ms.
    pub now_ms: RwSignal<u64>,
    pub seq: RwSignal<u64>,
    pub playing: RwSignal<bool>,
    /// Index into `SPEEDS`.
    pub speed: RwSignal<usize>,
    /// Something has been played or stepped since the page was opened.
    pub started: RwSignal<bool>,
    /// The engine cannot keep up with the chosen speed.
    pub behind: RwSignal<bool>,
}

impl Transport {
    pub(super) fn new() -> Self {
        Self {
            now_ms: RwSignal::new(0),
            seq: RwSignal::new(0),
            playing: RwSignal::new(false),
            speed: RwSignal::new(0),
            started: RwSignal::new(false),
            behind: RwSignal::new(false),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Board {
    pub summary: RwSignal<Summary>,
    pub now: RwSignal<Option<NowLine>>,
    pub store: RwSignal<StoreView>,
    pub loops: RwSignal<Vec<LoopEntry>>,
    pub all_loops: RwSignal<bool>,
    pub nodes: RwSignal<Vec<NodeEntry>>,
    pub unscheduled: RwSignal<Vec<PodEntry>>,
    pub unscheduled_message: RwSignal<Option<String>>,
    pub n_pods: RwSignal<usize>,
    pub compact: RwSignal<bool>,
    /// The pod that Tab leads to.
    pub rover: RwSignal<Option<Uid>>,
    /// Something has been deleted or broken on purpose, so that nobody needs to be told how.
    pub meddled: RwSignal<bool>,
}

impl Board {
    pub(super) fn new() -> Self {
        let summary = Summary {
            subject: String::new(),
            want: 0,
            ready: 0,
            convergence: Convergence::Empty,
            slots: Vec::new(),
            more_slots: 0,
        };
        let store = StoreView { resource_version: 0, watches: 0, in_flight: None };
        Self {
            summary: RwSignal::new(summary),
            now: RwSignal::new(None),
            store: RwSignal::new(store),
            loops: RwSignal::new(Vec::new()),
            all_loops: RwSignal::new(false),
            nodes: RwSignal::new(Vec::new()),
            unscheduled: RwSignal::new(Vec::new()),
            unscheduled_message: RwSignal::new(None),
            n_pods: RwSignal::new(0),
            compact: RwSignal::new(false),
            rover: RwSignal::new(None),
            meddled: RwSignal::new(false),
        }
    }

    pub(super) fn put_map_facts(&self, map: &MapView, compact_from: usize) {
        put(&self.n_pods, map.n_pods);
        put(&self.compact, map.n_pods >= compact_from);
        put(&self.unscheduled_message, map.unscheduled_message.clone());
    }
}

/// The parts of the page that a narrow screen shows one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Map,
    Loops,
    Inspect,
    Manifest,
    Events,
}

impl Part {
    pub const ALL: [Part; 5] = [Part::Map, Part::Loops, Part::Inspect, Part::Manifest, Part::Events];

    pub fn name(self) -> &'static str {
        match self {
            Part::Map => "Map",
            Part::Loops => "Loops",
            Part::Inspect => "Inspect",
            Part::Manifest => "Manifest",
            Part::Events => "Events",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectTab {
    Compare,
    Yaml,
}

#[derive(Clone, Copy)]
pub struct Focus {
    pub selected: RwSignal<Option<ObjectKey>>,
    /// The selected object, while it exists.
    pub inspection: RwSignal<Option<Inspection>>,
    pub tab: RwSignal<InspectTab>,
    /// The event whose causes are shown, with them.
    pub event: RwSignal<Option<(u64, Vec<CauseLink>)>>,
    /// The newest events, oldest first.
    pub events: RwSignal<Vec<EventRow>>,
    pub part: RwSignal<Part>,
    /// The pane of the dock that is open where only one fits.
    pub pane: RwSignal<Part>,
}

impl Focus {
    pub(super) fn new(selected: Option<ObjectKey>) -> Self {
        Self {
            selected: RwSignal::new(selected),
            inspection: RwSignal::new(None),
            tab: RwSignal::new(InspectTab::Compare),
            event: RwSignal::new(None),
            events: RwSignal::new(Vec::new()),
            part: RwSignal::new(Part::Map),
            pane: RwSignal::new(Part::Manifest),
        }
    }

    /// Brings a part to the front wherever it may be hidden.
    pub fn open(&self, part: Part) {
        put(&self.part, part);
        if matches!(part, Part::Manifest | Part::Events) {
            put(&self.pane, part);
        }
    }
}

#[derive(Clone, Copy)]
pub struct Editor {
    pub text: RwSignal<String>,
    pub problems: RwSignal<Vec<Diagnostic>>,
    /// What Apply answered, line by line.
    pub answer: RwSignal<Vec<String>>,
    /// Apply was refused, and the text has not changed since.
    pub refused: RwSignal<bool>,
}

impl Editor {
    pub(super) fn new(text: String) -> Self {
        Self {
            text: RwSignal::new(text),
            problems: RwSignal::new(Vec::new()),
            answer: RwSignal::new(Vec::new()),
            refused: RwSignal::new(false),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// About time: the newest takes the place of the one before.
    Notice,
    Answer,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub id: u32,
    pub text: String,
    pub tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub at_ms: u64,
    pub want: i32,
    pub ready: i32,
}

/// Want and is over the last minutes: one sample for each change, and where the curve ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    pub samples: VecDeque<Sample>,
    pub now_ms: u64,
}

impl Curve {
    const MAX_SAMPLES: usize = 400;

    pub(super) fn add(&mut self, at_ms: u64, summary: &Summary) {
        let (want, ready) = (summary.want, summary.ready);
        self.now_ms = at_ms;
        if self.samples.back().is_none_or(|last| (last.want, last.ready) != (want, ready)) {
            self.samples.push_back(Sample { at_ms, want, ready });
            if self.samples.len() > Self::MAX_SAMPLES {
                self.samples.pop_front();
            }
        }
    }
}
