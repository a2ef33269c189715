use loopscope_engine::api::{ObjectKey, Uid};
use loopscope_engine::sim::{Map, Set, sort_by};
use loopscope_engine::view::{self, LoopRow, MapView, NodeCard, PodRow};

use super::moves::Moves;
use super::{Board, Core, LoopEntry, LoopsView, NodeEntry, PodEntry, Session, keep};

use crate::platform::wall_ms;
use crate::ui::SharedState;

/// Loops that ran within this much virtual time count as active.
const ACTIVE_MS: u64 = 20_000;
/// So many rows are shown even where fewer are active, so that the page does not jump.
const LEAST_LOOPS: usize = 6;
/// When time runs faster than real, the loops and the sentence of now are shown at most this often, in wall ms.
const LOOPS_EVERY_MS: f64 = 200.0;
/// So many rows the table of a crowd has at a time, and how often they change while playing, in wall ms.
pub const PAGE: usize = 100;
const PAGE_EVERY_MS: f64 = 200.0;
/// While playing, the map is derived again once this many times the time has passed that it took.
const REST: f64 = 3.0;

/// The signals behind the rows that are on the page.
#[derive(Default)]
pub struct Registry {
    pods: Map<Uid, SharedState<PodRow>>,
    nodes: Map<ObjectKey, NodeEntry>,
    /// By the loops' numbers.
    loops: Vec<Option<LoopEntry>>,
}

impl Registry {
    fn pod(&mut self, pod: PodRow) -> PodEntry {
        let uid = pod.uid;
        let row = match self.pods.get(&uid) {
            Some(row) => {
                row.put(pod);
                row.clone()
            }
            None => {
                let row = SharedState::new(pod);
                self.pods.insert(uid, row.clone());
                row
            }
        };
        PodEntry { uid, row }
    }

    fn node(&mut self, mut card: NodeCard, arriving: Vec<PodEntry>) -> NodeEntry {
        let pods: Vec<PodEntry> = std::mem::take(&mut card.pods).into_iter().map(|pod| self.pod(pod)).collect();
        if let Some(entry) = self.nodes.get(&card.key) {
            entry.card.put(card);
            entry.pods.put(pods);
            entry.arriving.put(arriving);
            return entry.clone();
        }
        let entry = NodeEntry {
            key: card.key.clone(),
            card: SharedState::new(card),
            pods: SharedState::new(pods),
            arriving: SharedState::new(arriving),
        };
        self.nodes.insert(entry.key.clone(), entry.clone());
        entry
    }

    fn row(&mut self, row: LoopRow, lit: [bool; 3], is_active: bool) -> LoopEntry {
        if let Some(Some(entry)) = self.loops.get_mut(row.id.0 as usize) {
            entry.row.put(row);
            entry.lit.put(lit);
            entry.is_active = is_active;
            return entry.clone();
        }
        let entry = LoopEntry { id: row.id, row: SharedState::new(row), lit: SharedState::new(lit), is_active };
        let at = entry.id.0 as usize;
        if self.loops.len() <= at {
            self.loops.resize_with(at + 1, || None);
        }
        self.loops[at] = Some(entry.clone());
        entry
    }

    fn show_map(&mut self, board: &Board, mut map: MapView) {
        board.put_map_facts(&mut map);
        let unscheduled: Vec<PodEntry> = map.unscheduled.into_iter().map(|pod| self.pod(pod)).collect();
        let mut n_seen = unscheduled.len();
        let nodes: Vec<NodeEntry> = map
            .nodes
            .into_iter()
            .map(|card| {
                n_seen += card.pods.len();
                let here =
                    |pod: &&PodEntry| pod.row.with_untracked(|row| row.arriving_at.as_deref() == Some(&*card.key.name));
                let arriving = unscheduled.iter().filter(here).cloned().collect();
                self.node(card, arriving)
            })
            .collect();
        if n_seen != self.pods.len() {
            self.forget_gone(&unscheduled, &nodes);
        }
        if n_seen > 0 || !board.is_crowd.get_untracked() {
            self.keep_rover(board, &nodes, &unscheduled);
        }
        board.unscheduled.put(unscheduled);
        board.nodes.put(nodes);
    }

    fn forget_gone(&mut self, unscheduled: &[PodEntry], nodes: &[NodeEntry]) {
        let mut here: Set<Uid> = Set::default();
        for pod in unscheduled {
            here.add(pod.uid);
        }
        for node in nodes {
            node.pods.with_untracked(|pods| {
                pods.iter().for_each(|pod| {
                    here.add(pod.uid);
                })
            });
        }
        self.pods.retain(|uid, _| here.contains(uid));
        if self.nodes.len() != nodes.len() {
            self.nodes.retain(|key, _| nodes.iter().any(|node| node.key == *key));
        }
    }

    /// Tab leads to one pod: the last one focused, or the first.
    fn keep_rover(&self, board: &Board, nodes: &[NodeEntry], unscheduled: &[PodEntry]) {
        if board.rover.get_untracked().is_some_and(|uid| self.pods.contains_key(&uid)) {
            return;
        }
        let first = nodes.iter().find_map(|node| node.pods.with_untracked(|pods| pods.first().map(|pod| pod.uid)));
        board.rover.put(first.or_else(|| unscheduled.first().map(|pod| pod.uid)));
    }
}

impl Core {
    /// Derives what is shown, and touches only what differs from what is on the page.
    pub fn show(&mut self, session: Session, wall: f64) {
        keep::reached(self.sim());
        self.show_past(session);
        let playing = session.transport.playing.get_untracked();
        let board = &session.board;
        let now_ms = self.sim().now().0;
        let summary = view::summary(self.sim());
        session.transport.now_ms.put(now_ms);
        session.transport.seq.put(self.sim().trace().visible_count());
        board.summary.put(summary);
        if !(playing && session.is_fast()) || wall - self.loops_at >= LOOPS_EVERY_MS {
            self.loops_at = wall;
            board.now.put(view::now_line(self.sim()));
            board.store.put(view::store(self.sim()));
            board.outlook.put(view::outlook(self.sim()));
            self.show_loops(board, view::loop_rows(self.sim()), now_ms, wall, playing);
            match board.loops_view.get_untracked() {
                LoopsView::Picture => board.picture.put(view::picture(self.sim())),
                LoopsView::Shape => board.shapes.put(view::same_shape(self.sim())),
                _ => {}
            }
        }
        if !session.is_simple.get_untracked() {
            self.show_flow(session);
        }
        self.follow(session, wall, playing);
        if self.sim().has_room() {
            self.show_room(session, wall, playing);
        } else {
            board.room.put(None);
        }
        if session.is_simple.get_untracked() {
            let simple = session.focus.selected.with_untracked(|key| view::simple(self.sim(), key.as_ref()));
            board.code_lit.put(self.lights.of_code(&simple, wall, playing));
            board.simple.put(simple);
        }
        // The map of very many pods takes long to derive: then not with every frame.
        if !playing || wall >= self.map_due {
            let began = wall_ms();
            self.show_map(session, wall, playing);
            self.show_beside(session, wall, playing);
            if session.twins.are_shown.get_untracked() {
                self.show_twins(session, wall, playing);
            }
            self.map_due = wall + REST * (wall_ms() - began);
        }
    }

    fn show_map(&mut self, session: Session, wall: f64, playing: bool) {
        let board = &session.board;
        let mut map = view::map(self.sim(), session.look());
        if map.is_crowd && board.table.get_untracked() {
            if playing && wall - self.page_at < PAGE_EVERY_MS {
                return board.put_map_facts(&mut map);
            }
            self.page_at = wall;
            let list = session.listing();
            let mut page = board.page.get_untracked();
            let mut n_listed;
            (map, n_listed) = view::listed(self.sim(), session.look(), &list, page * PAGE, PAGE);
            if page * PAGE >= n_listed && page > 0 {
                page = n_listed.saturating_sub(1) / PAGE;
                (map, n_listed) = view::listed(self.sim(), session.look(), &list, page * PAGE, PAGE);
            }
            board.page.put(page);
            board.n_listed.put(n_listed);
        }
        let moves = Moves::begin(session, &map);
        self.registry.show_map(board, map);
        moves.play();
    }

    fn show_loops(&mut self, board: &Board, rows: Vec<LoopRow>, now_ms: u64, wall: f64, playing: bool) {
        let active = active(&rows, now_ms);
        let entries = rows
            .into_iter()
            .zip(active)
            .map(|(row, is_active)| {
                let lit = self.lights.lit(&row, wall, playing);
                self.registry.row(row, lit, is_active)
            })
            .collect();
        board.loops.put(entries);
    }
}

/// Which rows ran lately or have something to do; the most recent ones, then the first ones, fill up to a handful.
fn active(rows: &[LoopRow], now_ms: u64) -> Vec<bool> {
    let is_busy = |row: &LoopRow| row.is_current || row.lit.is_some() || !row.queue.is_empty();
    let ran_lately = |row: &LoopRow| row.last_active_ms.is_some_and(|at| at + ACTIVE_MS >= now_ms);
    let mut active: Vec<bool> = rows.iter().map(|row| is_busy(row) || ran_lately(row)).collect();
    let mut missing = LEAST_LOOPS.saturating_sub(active.iter().filter(|it| **it).count());
    let mut rest: Vec<usize> = (0..rows.len()).filter(|index| !active[*index]).collect();
    sort_by(&mut rest, |a, b| rows[*b].last_active_ms.cmp(&rows[*a].last_active_ms));
    for index in rest {
        if missing == 0 {
            break;
        }
        active[index] = true;
        missing -= 1;
    }
    active
}
