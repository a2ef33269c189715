//! What is typed in a console is done where the cursor is, as every other command.

use serde_json::Value;

use super::{Goal, History, Millis, Ran, Time};
use crate::apiserver::{Answer, ApiError, ApiServer, Request};
use crate::kubectl::{Cluster, Terminal};
use crate::world::Command;

impl Cluster for History {
    fn api(&self) -> &ApiServer {
        self.live.api()
    }

    fn wall_millis(&self) -> i64 {
        self.live.wall_millis()
    }

    fn wall_of(&self, at: Time) -> i64 {
        self.live.wall_of(at)
    }

    fn ask(&mut self, request: Request) -> Result<Answer, ApiError> {
        self.act(|live| live.ask(request))
    }

    fn order(&mut self, words: &[String]) -> Option<Result<String, String>> {
        let first = words.first()?;
        if !Command::OWN_WORDS.contains(&first.as_str()) {
            return None;
        }
        Some(match Command::of_words(words) {
            Err(why) => Err([&why, "\n"].concat()),
            Ok(command) => {
                let outcome = self.dispatch(command);
                match outcome.refusal() {
                    Some(why) => Err([why, "\n"].concat()),
                    None => Ok(outcome.lines.iter().map(|it| [it.as_str(), "\n"].concat()).collect()),
                }
            }
        })
    }

    fn try_out(&self, request: &Request) -> Result<Answer, ApiError> {
        self.live.try_out(request)
    }

    fn events(&self) -> Vec<Value> {
        Cluster::events(&self.live)
    }

    fn metrics(&self, of_nodes: bool) -> Option<Vec<Value>> {
        self.live.metrics(of_nodes)
    }
}

impl History {
    /// When a console wants to look next, if that is yet to come.
    fn due(&self, terminal: &Terminal) -> Option<Time> {
        let ms = terminal.due()? - self.live.scenario().epoch_ms;
        u64::try_from(ms).ok().map(Time).filter(|due| *due > self.live.now())
    }

    /// Lets what was typed go on as far as it can now; says whether it would go on if it were asked again.
    pub fn type_on(&mut self, terminal: &mut Terminal) -> bool {
        let now = self.live.now();
        terminal.is_busy() && terminal.poll(self, now)
    }

    /// Runs in a given way to a time, but no further than to where a console wants to look, and lets it look then.
    pub fn run_typing(
        &mut self,
        terminal: &mut Terminal,
        until: Time,
        run: impl FnOnce(&mut History, Time) -> Ran,
    ) -> Ran {
        let bound = self.due(terminal).map_or(until, |due| due.min(until));
        let ran = run(self, bound);
        self.type_on(terminal);
        if ran == Ran::There && bound < until { Ran::OnTheWay } else { ran }
    }

    /// As [`History::step`]; that a console prints something, or that its command ends, is something that happened.
    pub fn step_typing(&mut self, terminal: &mut Terminal, goal: &Goal, within: Millis) -> bool {
        if !terminal.is_busy() {
            return self.step(goal, within);
        }
        let end = self.live.now() + within;
        loop {
            let now = self.live.now();
            let bound = self.due(terminal).map_or(end, |due| due.min(end));
            let is_met = self.step(goal, bound.since(now));
            // The clock stands at the last thing that happened.
            while !is_met && !self.run_until(bound, usize::MAX) {}
            let before = (terminal.version(), terminal.is_busy());
            self.type_on(terminal);
            if is_met || (terminal.version(), terminal.is_busy()) != before {
                return true;
            }
            if bound == end {
                return false;
            }
        }
    }
}
