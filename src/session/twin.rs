//! Two worlds beside each other: the one that is shown, and one whose ReplicaSet controller counts events.

use loopscope_engine::history::Twin;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view::{self, LoopRow, TwinSide, TwinWhy};
use loopscope_engine::world::{CONTROLLER_MANAGER, Command, Instant, Sample};

use super::lights::Lights;
use super::seek::here;
use super::{Core, LoopEntry, Session, Tone};
use crate::platform::{self, set_view, wall_ms};
use crate::ui::{SharedState, State};

/// While playing, the two are shown this often, and the other one may take so much of a frame, in wall ms.
const EVERY_MS: f64 = 200.0;
const BUDGET_MS: f64 = 4.0;
/// While time stands still, so much before the page is drawn again.
const STILL_BUDGET_MS: f64 = 100.0;
const CHUNK: usize = 64;

/// What the page shows of both, the usual one first.
#[derive(Clone, Copy)]
pub struct Twins {
    /// They are what is shown.
    pub are_shown: State<bool>,
    /// The other one is on its way to the time that is shown.
    pub is_behind: State<bool>,
    pub sides: [State<TwinSide>; 2],
    pub curves: [State<Vec<Sample>>; 2],
    /// The ReplicaSet controllers as rows.
    pub rows: [State<Option<LoopEntry>>; 2],
    /// What was asked, as it was found.
    pub whys: [State<Option<TwinWhy>>; 2],
}

impl Twins {
    pub(super) fn new(are_shown: bool) -> Self {
        Self {
            are_shown: State::new(are_shown),
            is_behind: State::new(false),
            sides: [(); 2].map(|()| State::new(TwinSide::default())),
            curves: [(); 2].map(|()| State::new(Vec::new())),
            rows: [(); 2].map(|()| State::new(None)),
            whys: [(); 2].map(|()| State::new(None)),
        }
    }

    /// The row stays the same one, and what it shows changes.
    fn show_row(&self, index: usize, row: Option<(LoopRow, [bool; 3])>) {
        let Some((row, lit)) = row else { return self.rows[index].put(None) };
        let known = self.rows[index].get_untracked().filter(|it| it.id == row.id);
        if let Some(entry) = known {
            entry.row.put(row);
            return entry.lit.put(lit);
        }
        let (id, row, lit) = (row.id, SharedState::new(row), SharedState::new(lit));
        self.rows[index].put(Some(LoopEntry { id, row, lit, is_active: true }));
    }
}

/// The world beside the one that is shown, and what is remembered between two frames.
pub(super) struct Beside {
    twin: Twin,
    lights: [Lights; 2],
    at: f64,
}

impl Core {
    /// Lets the other world come to where this one is, and shows both.
    pub(super) fn show_twins(&mut self, session: Session, wall: f64, playing: bool) {
        let mut beside = self.twin.take().unwrap_or_else(|| {
            let twin = Twin::edge_triggered(self.sim().scenario().clone());
            Beside { twin, lights: [Lights::default(), Lights::default()], at: f64::MIN }
        });
        let (began, budget) = (wall_ms(), if playing { BUDGET_MS } else { STILL_BUDGET_MS });
        let mut is_there = false;
        while !is_there && wall_ms() - began < budget {
            is_there = beside.twin.follow(&self.history, CHUNK);
        }
        session.twins.is_behind.put(!is_there && !playing);
        if !is_there && !playing {
            // A long history takes more than one frame.
            platform::next_frame(move || session.refresh());
        }
        if !playing || wall - beside.at >= EVERY_MS {
            beside.at = wall;
            let twins = &session.twins;
            for (index, sim) in [self.sim(), beside.twin.simulation()].into_iter().enumerate() {
                let side = view::twin_side(sim);
                let lit = side.row.as_ref().map(|row| beside.lights[index].lit(row, wall, playing));
                twins.show_row(index, side.row.clone().zip(lit));
                twins.sides[index].put(side);
                twins.curves[index].put(sim.recorded().samples().to_vec());
            }
        }
        self.twin = Some(beside);
    }
}

impl Session {
    /// Lays the two worlds beside each other, or goes back to the workspace.
    pub fn show_twins(self, are_shown: bool) {
        set_view(if are_shown { "twin" } else { "workspace" });
        if !are_shown {
            self.with_core(|core| core.twin = None);
            self.twins.whys.iter().for_each(|why| why.put(None));
        }
        self.is_simple.put(false);
        self.twins.are_shown.put(are_shown);
        self.refresh();
    }

    /// Asks one of the two why it has as many pods as it has, or has heard enough.
    pub fn ask_twin(self, index: usize) {
        let why = self.twins.whys[index];
        if why.with_untracked(Option::is_some) {
            return why.put(None);
        }
        let found = self.with_core(|core| match index {
            0 => view::twin_why(core.sim()),
            _ => core.twin.as_ref().and_then(|it| view::twin_why(it.twin.simulation())),
        });
        match found.flatten() {
            Some(found) => why.put(Some(found)),
            None => self.toast("Nothing has happened yet: press play", Tone::Notice),
        }
    }

    /// Deletes so many of the pods that the usual world has, the first ones. The other one gets the same commands.
    pub fn delete_first(self, n: usize) {
        let is_there = |class| !matches!(class, view::PodClass::Terminating);
        let keys: Vec<_> = self.twins.sides[0].with_untracked(|side| {
            side.pods.iter().filter(|pod| is_there(pod.class)).take(n).map(|pod| pod.key.clone()).collect()
        });
        if keys.is_empty() {
            return self.toast("There is no pod to delete", Tone::Notice);
        }
        for key in keys {
            self.delete(key);
        }
        self.refresh();
    }

    /// Does something to the program of both controllers.
    pub fn to_both(self, command: impl FnOnce(String) -> Command) {
        self.meddle(command(CONTROLLER_MANAGER.to_owned()));
        self.refresh();
    }

    /// Lets so much virtual time pass at once.
    pub fn pass(self, ms: u64) {
        self.go(String::new(), |core| here(core, Instant::end_of(Time(core.sim().now().0) + Millis(ms))));
    }
}
