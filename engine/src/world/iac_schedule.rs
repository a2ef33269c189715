//! A clock that runs the tool, where somebody has set one.

use super::faults::{done, invalid};
use super::iac_deed::Iac;
use super::process::ProcessKind;
use super::{IacDeed, Outcome, Simulation};
use crate::client::{Infrastructure, LoopIndex};
use crate::iac::Plan;
use crate::sim::{Millis, Seq};

/// Shorter than this would run into itself.
const SHORTEST: u64 = 10_000;

/// A scheduled run: how often, and whether it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub every_ms: u64,
    pub applies: bool,
}

impl Infrastructure for Iac {
    fn plan(&self) -> Result<Plan, String> {
        self.planned(false)
    }
}

impl Simulation {
    /// The loop of scheduled runs, while there are some.
    pub fn scheduled_run(&self) -> Option<LoopIndex> {
        self.iac.schedule.and(self.iac.runner).and_then(|at| self.processes.get(at)?.loops.first().copied())
    }

    pub(super) fn set_schedule(&mut self, schedule: Option<Schedule>, seq: Seq) -> Outcome {
        if schedule.is_some_and(|it| it.every_ms < SHORTEST) {
            return invalid("a scheduled run takes at least 10 s from one to the next".into());
        }
        let old = std::mem::replace(&mut self.iac.schedule, schedule);
        if let Some(process) = self.iac.runner.filter(|_| old != schedule && old.is_some()) {
            self.crash(process);
        }
        let Some(it) = schedule else { return done("no scheduled runs any more".into()) };
        let kind = ProcessKind::Runner { every_ms: it.every_ms, applies: it.applies };
        match self.iac.runner {
            None => {
                self.iac.runner = Some(self.processes.len());
                self.start_process(kind, seq, Millis(0));
            }
            Some(_) if old == schedule => {}
            Some(process) => {
                self.processes[process].kind = kind;
                // Its loops are made anew, as the new kind has them.
                self.crash(process);
                self.start(process, seq);
            }
        }
        let what = if it.applies { "terraform apply" } else { "terraform plan" };
        done([what, " runs every ", &(it.every_ms / 1_000).to_string(), " s"].concat())
    }

    /// What the loop of scheduled runs asks for. Its words stand in the terminal like those of people.
    pub(super) fn run_by_schedule(&mut self, applies: bool, cause: Seq) {
        let deed = match applies {
            true => IacDeed::Apply { refresh_only: false, approved: true, who: "schedule".into() },
            false => IacDeed::Plan { refresh_only: false },
        };
        // What it was refused stands in the terminal.
        let _ = self.do_iac(deed, cause);
    }
}
