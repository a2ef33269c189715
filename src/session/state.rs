use loopscope_engine::api::{ObjectKey, Uid};
use loopscope_engine::history::BranchId;
use loopscope_engine::manifest::Diagnostic;
use loopscope_engine::view::{
    Column, Convergence, Counts, Crowd, EventRow, Inspection, LoopId, LoopRow, MapView, NodeCard, NowLine, ObjectDiff,
    OrdersView, Phrase, Picture, PodRow, RoomView, ShapeCard, SimpleView, StoreView, Summary,
};
use loopscope_engine::world::Sample as Step;

use super::closer::Closer;
use super::look::is_chosen;
use super::why::{Chain, Origin};
use crate::ui::{SharedState, State};

/// A pod in a list: the list changes with membership, the row with the pod.
#[derive(Clone)]
pub struct PodEntry {
    pub uid: Uid,
    pub row: SharedState<PodRow>,
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
    pub card: SharedState<NodeCard>,
    pub pods: SharedState<Vec<PodEntry>>,
    /// Pods whose binding to this node is on its way.
    pub arriving: SharedState<Vec<PodEntry>>,
}

impl PartialEq for NodeEntry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

#[derive(Clone)]
pub struct LoopEntry {
    pub id: LoopId,
    pub row: SharedState<LoopRow>,
    /// Which of the three phases shines.
    pub lit: SharedState<[bool; 3]>,
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
    pub now_ms: State<u64>,
    pub seq: State<u64>,
    pub playing: State<bool>,
    /// Index into `SPEEDS`.
    pub speed: State<usize>,
    /// What it was before the last change between real gaps and even steps.
    pub other_speed: State<Option<usize>>,
    /// Something has been played or stepped since the page was opened.
    pub started: State<bool>,
    /// Virtual time per real time, in words: exact where it is fixed, else as it was of late.
    pub factor: State<String>,
    /// How much virtual time the last step left out, and what happened in it; empty where that was next to none.
    pub leap: State<String>,
    /// Loop and object of the newest act are selected.
    pub follow: State<bool>,
    /// The steps of all kinds and the stops are shown.
    pub stops_open: State<bool>,
}

/// How the loops are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopsView {
    Rows,
    Cards,
    Picture,
    Shape,
}

impl LoopsView {
    pub const ALL: [LoopsView; 4] = [LoopsView::Rows, LoopsView::Cards, LoopsView::Picture, LoopsView::Shape];

    pub fn name(self) -> &'static str {
        match self {
            LoopsView::Rows => "Rows",
            LoopsView::Cards => "Cards",
            LoopsView::Picture => "Picture",
            LoopsView::Shape => "Same shape",
        }
    }

    /// As the address and the settings have it.
    pub fn word(self) -> &'static str {
        match self {
            LoopsView::Rows => "rows",
            LoopsView::Cards => "cards",
            LoopsView::Picture => "picture",
            LoopsView::Shape => "shape",
        }
    }

    /// What the address or the settings say; rows where they say nothing known.
    fn chosen() -> Self {
        match crate::platform::chosen("loops").as_deref() {
            Some("cards") => LoopsView::Cards,
            Some("picture") => LoopsView::Picture,
            Some("shape") => LoopsView::Shape,
            _ => LoopsView::Rows,
        }
    }
}

/// A course of events, for the list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchRow {
    pub id: BranchId,
    pub name: String,
    /// Where it parted from which other one.
    pub parted: Option<(String, u64)>,
    /// How far it has been played, in ms of virtual time.
    pub end_ms: u64,
    pub n_steps: usize,
    pub is_current: bool,
}

impl BranchRow {
    /// `Branch A`; a name that a person gave as it is.
    pub fn title(&self) -> String {
        if self.name.len() > 2 { self.name.clone() } else { ["Branch ", self.name.as_str()].concat() }
    }
}

/// Another branch at the time that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    pub title: String,
    pub summary: Summary,
    pub map: MapView,
    /// From shortly before the two parted to what is shown, in ms of virtual time.
    pub from_ms: u64,
    pub to_ms: u64,
    /// Want and is of both, the current branch first.
    pub curves: [Vec<Step>; 2],
}

/// Something that a person did in the current branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    pub index: usize,
    pub at_ms: u64,
    pub words: Phrase,
    /// It comes after the cursor.
    pub is_to_come: bool,
}

/// Time beyond what is shown: what was, what is still to come, and what could have been.
#[derive(Clone, Copy)]
pub struct Past {
    /// How far the current branch has been played, in ms of virtual time.
    pub end_ms: State<u64>,
    /// The current branch goes on beyond what is shown.
    pub is_past: State<bool>,
    /// On the way to another instant, so many hundredths of it.
    pub seeking: State<Option<u64>>,
    pub branches: State<Vec<BranchRow>>,
    pub steps: State<Vec<StepRow>>,
    /// The branch that is laid beside the current one, and what it has at the same time.
    pub beside: State<Option<BranchId>>,
    pub other: State<Option<Other>>,
    /// What was done before the page was reloaded: `12 steps, up to 02:15.000`.
    pub offer: State<Option<String>>,
    /// What was open before this scenario was begun: its name.
    pub before: State<Option<String>>,
    /// A branch that has just begun because of an act in the past.
    pub(super) forked: State<Option<String>>,
}

impl Past {
    pub(super) fn new() -> Self {
        Self {
            end_ms: State::new(0),
            is_past: State::new(false),
            seeking: State::new(None),
            branches: State::new(Vec::new()),
            steps: State::new(Vec::new()),
            beside: State::new(None),
            other: State::new(None),
            offer: State::new(None),
            before: State::new(None),
            forked: State::new(None),
        }
    }
}

impl Transport {
    pub(super) fn new() -> Self {
        Self {
            now_ms: State::new(0),
            seq: State::new(0),
            playing: State::new(false),
            speed: State::new(super::first_speed()),
            other_speed: State::new(None),
            started: State::new(false),
            factor: State::new(String::new()),
            leap: State::new(String::new()),
            follow: State::new(false),
            stops_open: State::new(false),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Board {
    pub summary: State<Summary>,
    pub now: State<Option<NowLine>>,
    pub store: State<StoreView>,
    pub loops: State<Vec<LoopEntry>>,
    pub all_loops: State<bool>,
    pub loops_view: State<LoopsView>,
    /// The loop that is shown as a card among the rows.
    pub open_loop: State<Option<LoopId>>,
    /// All loops as one picture, while that is shown.
    pub picture: State<Picture>,
    /// Five loops laid over each other, while that is shown.
    pub shapes: State<Vec<ShapeCard>>,
    pub nodes: State<Vec<NodeEntry>>,
    pub unscheduled: State<Vec<PodEntry>>,
    pub unscheduled_message: State<Option<String>>,
    pub n_pods: State<usize>,
    pub counts: State<Counts>,
    /// There are too many pods to tell by name.
    pub is_crowd: State<bool>,
    /// They, as bare shapes.
    pub crowd: State<Crowd>,
    pub n_nodes: State<usize>,
    /// The page of the table, from 0, where the table of a crowd has pages.
    pub page: State<usize>,
    /// So many pods all its pages have.
    pub n_listed: State<usize>,
    /// The map is shown as a table.
    pub table: State<bool>,
    /// The cards are workloads, not nodes.
    pub by_owner: State<bool>,
    /// What there really is on the machines is shown, not what is reported.
    pub truth: State<bool>,
    /// What the table is ordered by, and whether backwards; by card if by nothing.
    pub order: State<Option<(Column, bool)>>,
    /// The text by which the table's rows are found.
    pub filter: State<String>,
    /// The pod that Tab leads to.
    pub rover: State<Option<Uid>>,
    /// The loop of the simple view, while that is shown, and which of its phases shine.
    pub simple: State<SimpleView>,
    pub code_lit: State<[bool; 3]>,
    /// The room of a thermostat, where there is one.
    pub room: State<Option<RoomView>>,
    /// Scripts that people ran, and the wish beside them, while they are looked at.
    pub orders: State<OrdersView>,
    /// What one waits for while nothing seems to happen.
    pub outlook: State<Option<String>>,
    /// Something has been deleted or broken on purpose, so that nobody needs to be told how.
    pub meddled: State<bool>,
}

impl Board {
    pub(super) fn new() -> Self {
        let summary = Summary {
            subject: String::new(),
            want: 0,
            ready: 0,
            convergence: Convergence::Empty,
            stuck: None,
            slots: Vec::new(),
            more_slots: 0,
        };
        let store = StoreView { resource_version: 0, watches: 0, in_flight: None, are_up: [true; 2] };
        Self {
            summary: State::new(summary),
            now: State::new(None),
            store: State::new(store),
            loops: State::new(Vec::new()),
            all_loops: State::new(false),
            loops_view: State::new(LoopsView::chosen()),
            open_loop: State::new(None),
            picture: State::new(Picture::default()),
            shapes: State::new(Vec::new()),
            nodes: State::new(Vec::new()),
            unscheduled: State::new(Vec::new()),
            unscheduled_message: State::new(None),
            n_pods: State::new(0),
            counts: State::new(Vec::new()),
            is_crowd: State::new(false),
            crowd: State::new(Crowd::default()),
            n_nodes: State::new(0),
            page: State::new(0),
            n_listed: State::new(0),
            table: State::new(false),
            by_owner: State::new(is_chosen("group", "owner")),
            truth: State::new(is_chosen("show", "truth")),
            order: State::new(None),
            filter: State::new(String::new()),
            rover: State::new(None),
            simple: State::new(SimpleView::default()),
            code_lit: State::new([false; 3]),
            room: State::new(None),
            orders: State::new(OrdersView::default()),
            outlook: State::new(None),
            meddled: State::new(false),
        }
    }

    pub(super) fn put_map_facts(&self, map: &mut MapView) {
        self.n_pods.put(map.n_pods);
        self.counts.put(map.counts.clone());
        self.is_crowd.put(map.is_crowd);
        self.n_nodes.put(if map.is_crowd { map.crowd.n_nodes() } else { map.nodes.len() });
        self.crowd.put(std::mem::take(&mut map.crowd));
        self.unscheduled_message.put(map.unscheduled_message.clone());
    }
}

/// The parts of the page that a narrow screen shows one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The lesson, while one is open.
    Learn,
    Map,
    Loops,
    Inspect,
    Manifest,
    Console,
    Git,
    Infra,
    Orders,
    Events,
    History,
    Faults,
    Properties,
}

impl Part {
    /// What is never in the dock.
    const ABOVE: [Part; 3] = [Part::Map, Part::Loops, Part::Inspect];
    /// The panes of the dock, in their order. Where several fit, those up to the infrastructure share a place (Git and it
    /// take all of it), events and orders another, and the last three the last.
    pub const DOCK: [Part; 9] = [
        Part::Manifest,
        Part::Console,
        Part::Git,
        Part::Infra,
        Part::Orders,
        Part::Events,
        Part::History,
        Part::Faults,
        Part::Properties,
    ];

    /// Those that are always there.
    pub fn all() -> impl Iterator<Item = Part> {
        Self::ABOVE.into_iter().chain(Self::DOCK)
    }

    pub fn name(self) -> &'static str {
        match self {
            Part::Learn => "Learn",
            Part::Map => "Map",
            Part::Loops => "Loops",
            Part::Inspect => "Inspect",
            Part::Manifest => "Manifest",
            Part::Console => "Console",
            Part::Git => "Git",
            Part::Infra => "Infra",
            Part::Orders => "Orders",
            Part::Events => "Events",
            Part::History => "History",
            Part::Faults => "Faults",
            Part::Properties => "Properties",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectTab {
    Compare,
    Fields,
    Conditions,
    Kin,
    Events,
    Yaml,
}

/// The object that is edited in place, and its YAML as it was when that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub key: ObjectKey,
    pub yaml: String,
}

#[derive(Clone, Copy)]
pub struct Focus {
    pub selected: State<Option<ObjectKey>>,
    /// The selected object; its last state where it is gone.
    pub inspection: State<Option<Inspection>>,
    /// What else there is to see of it.
    pub closer: State<Closer>,
    /// The objects that are not on the map.
    pub objects: State<Vec<ObjectKey>>,
    pub tab: State<InspectTab>,
    /// The YAML shows who owns which field.
    pub managed: State<bool>,
    pub base: State<Option<Base>>,
    /// The YAML of `base` as it is being changed.
    pub draft: Editor,
    /// What is asked about in particular, with its causes; else those of the inspected object are shown.
    pub chain: State<Option<Chain>>,
    /// Where one was before following links of a chain.
    pub origin: State<Option<Origin>>,
    /// The link that was followed last.
    pub followed: State<Option<u64>>,
    /// The newest events, oldest first.
    pub events: State<Vec<EventRow>>,
    pub part: State<Part>,
    /// The pane of the dock that is open where only one fits.
    pub pane: State<Part>,
    /// Where three fit: which of manifest and console is in the first, or what takes the room of all.
    pub first: State<Part>,
    /// And which of events and orders is in the second, and of the last three in the last.
    pub mid: State<Part>,
    pub last: State<Part>,
}

impl Focus {
    pub(super) fn new(selected: Option<ObjectKey>) -> Self {
        Self {
            selected: State::new(selected),
            inspection: State::new(None),
            closer: State::new(Closer::default()),
            objects: State::new(Vec::new()),
            tab: State::new(InspectTab::Compare),
            managed: State::new(false),
            base: State::new(None),
            draft: Editor::new(String::new()),
            chain: State::new(None),
            origin: State::new(None),
            followed: State::new(None),
            events: State::new(Vec::new()),
            part: State::new(Part::Map),
            pane: State::new(Part::Manifest),
            first: State::new(Part::Manifest),
            mid: State::new(Part::Events),
            last: State::new(Part::History),
        }
    }

    /// The part is in front somewhere.
    pub fn shows(&self, part: Part) -> bool {
        [self.part, self.pane, self.first, self.mid, self.last].iter().any(|it| it.get_untracked() == part)
    }

    /// Brings a part to the front wherever it may be hidden.
    pub fn open(&self, part: Part) {
        self.part.put(part);
        if Part::DOCK.contains(&part) {
            self.pane.put(part);
        }
        match part {
            Part::Manifest | Part::Console | Part::Git | Part::Infra => self.first.put(part),
            Part::Events | Part::Orders => self.mid.put(part),
            Part::History | Part::Faults | Part::Properties => self.last.put(part),
            _ => {}
        }
    }
}

#[derive(Clone, Copy)]
pub struct Editor {
    pub text: State<String>,
    pub problems: State<Vec<Diagnostic>>,
    /// What Apply answered, line by line.
    pub answer: State<Vec<String>>,
    /// Apply was refused, and the text has not changed since.
    pub refused: State<bool>,
    /// The text has changed and is yet to be looked over.
    pub is_new: State<bool>,
    /// What applying the text would change, until the text changes.
    pub diff: State<Option<Vec<ObjectDiff>>>,
}

impl Editor {
    pub(super) fn new(text: String) -> Self {
        Self {
            text: State::new(text),
            problems: State::new(Vec::new()),
            answer: State::new(Vec::new()),
            refused: State::new(false),
            is_new: State::new(false),
            diff: State::new(None),
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
