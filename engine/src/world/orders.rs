//! Scripts that people run.

use super::faults::{done, invalid};
use super::{Outcome, ProcessKind, Simulation, default_namespace};
use crate::controllers::orders::{MOST, run_key};
use crate::sim::{Millis, Seq};

impl Simulation {
    /// Lets a person run the script that starts so many pods more; it may crash after so many requests.
    pub(super) fn run_script(&mut self, by: &str, count: u32, crash_after: Option<u32>, seq: Seq) -> Outcome {
        if count == 0 || count > MOST {
            return invalid(format!("start-{count}: between 1 and {MOST} pods"));
        }
        let kind = ProcessKind::Script(by.into());
        let process = match self.processes.iter().position(|it| it.kind == kind) {
            Some(process) => process,
            None => {
                let process = self.processes.len();
                self.start_process(kind, seq, Millis(0));
                process
            }
        };
        if !self.processes[process].is_up {
            self.start(process, seq);
        }
        self.processes[process].ails.crash_after = crash_after;
        let key = run_key(&default_namespace(), count, self.journal.len());
        if let Some(at) = self.processes[process].loops.first().copied() {
            self.enqueue(at, key, Millis(0), seq);
        }
        done(format!("start-{count} runs as {by}"))
    }
}
