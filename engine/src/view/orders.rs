//! Orders beside a wish: a script that people run, and a Deployment that asks for as much.

use serde::Serialize;

use crate::api::{Kind, Object};
use crate::client::{Author, LoopIndex, What};
use crate::controllers::orders::APP;
use crate::sim::Time;
use crate::world::{Command, Simulation};

/// Runs that are listed, the newest.
const MOST_RUNS: usize = 8;
/// The Deployment that asks for what the script orders.
pub const WISH: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: declared
spec:
  replicas: 3
  selector:
    matchLabels:
      app: declared
  template:
    metadata:
      labels:
        app: declared
    spec:
      containers:
      - name: app
        image: nginx:1.27.3
";
/// As many as the wish asks for.
pub const COUNT: u32 = 3;
const DECLARED: &str = "declared";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RunState {
    Running,
    Done,
    Crashed,
    /// The API server said no, and a script does not ask twice.
    Refused,
}

/// One run of the script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The command's place in the journal.
    pub index: usize,
    pub at_ms: u64,
    pub by: String,
    pub count: u32,
    /// So many pods it has started.
    pub started: u32,
    pub state: RunState,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OrdersView {
    /// The newest runs, oldest first, and how many there were.
    pub runs: Vec<Run>,
    pub n_runs: usize,
    /// Pods that scripts started and that are there.
    pub ordered: usize,
    /// How often the wish was applied, and the pods that are there for it.
    pub n_applied: usize,
    pub declared: usize,
    /// So many the wish asks for; nothing where it is not there.
    pub wants: Option<i32>,
}

pub fn orders(simulation: &Simulation) -> OrdersView {
    let mut view = OrdersView::default();
    let objects = simulation.api().objects();
    for pod in objects.of_kind(Kind::Pod).filter_map(Object::as_pod).filter(|pod| pod.is_active()) {
        match pod.metadata.labels.get("app").map(|app| &**app) {
            Some(APP) => view.ordered += 1,
            Some(DECLARED) => view.declared += 1,
            _ => {}
        }
    }
    let wish = objects.of_kind(Kind::Deployment).find(|it| &*it.meta().name == DECLARED);
    view.wants = wish.and_then(crate::world::wanted);
    for (index, step) in simulation.journal().iter().enumerate() {
        match &step.command {
            Command::Apply { manifest } if manifest == WISH => view.n_applied += 1,
            Command::RunScript { by, count, crash_after } => {
                view.n_runs += 1;
                let (by, count, crash_after) = (by.clone(), *count, *crash_after);
                view.runs.push(run(
                    simulation,
                    Run { index, at_ms: step.at.0, by, count, started: 0, state: RunState::Running },
                    crash_after,
                ));
            }
            _ => {}
        }
    }
    view.runs.drain(..view.runs.len().saturating_sub(MOST_RUNS));
    view
}

/// What came of a run: what was written in its turn, up to the next run of the same person.
fn run(simulation: &Simulation, run: Run, crash_after: Option<u32>) -> Run {
    let journal = &simulation.journal()[run.index + 1..];
    let is_next = |it: &Command| matches!(it, Command::RunScript { by, .. } if *by == run.by);
    let next = journal.iter().find(|it| is_next(&it.command)).map_or(Time(u64::MAX), |it| it.at);
    let name = ["Script of ", &run.by].concat();
    let at = simulation.loops().iter().position(|it| *it.name == *name).and_then(|at| u32::try_from(at).ok());
    let Some(at) = at.map(LoopIndex) else { return run };
    let (mut started, mut is_refused) = (0, false);
    for event in simulation.trace().events().filter(|it| it.at.0 >= run.at_ms && it.at < next) {
        match event.what {
            What::Wrote { author: Author::Loop(by), .. } if by == at => started += 1,
            What::Refused { author: Author::Loop(by), .. } if by == at => is_refused = true,
            _ => {}
        }
    }
    let state = match () {
        () if started >= run.count => RunState::Done,
        () if is_refused => RunState::Refused,
        () if crash_after.is_some_and(|n| started >= n) => RunState::Crashed,
        () => RunState::Running,
    };
    Run { started, state, ..run }
}
