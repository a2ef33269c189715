//! The console: what may come next on a line, what is shown of a command, and what is typed as a part of a history.

#[path = "console/complete.rs"]
mod complete;
#[path = "console/history.rs"]
mod history;
#[path = "console/terminal.rs"]
mod terminal;

use loopscope_engine::environment::{Behavior, Behaviors};
use loopscope_engine::history::History;
use loopscope_engine::kubectl::{Block, End, Terminal};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Ran, Scenario};

/// A history, and a console beside it.
struct Desk {
    history: History,
    terminal: Terminal,
}

impl Desk {
    fn new() -> Self {
        let plain = Behavior { pull_ms: 10, start_ms: 290, serve_ms: Some(100), stop_ms: 1_000, ..Behavior::usual("") };
        let images = ["app:v1", "app:v2"].map(|name| (name.to_string(), plain));
        let scenario = Scenario { behaviors: Behaviors(images.into_iter().collect()), ..Scenario::empty(7) };
        let mut desk = Self { history: History::new(scenario), terminal: Terminal::default() };
        desk.pass(1_000);
        desk
    }

    /// Lets virtual time pass as the page does while a command waits.
    fn pass(&mut self, ms: u64) {
        let Self { history, terminal } = self;
        let until = history.simulation().now() + Millis(ms);
        let run = |history: &mut History, until| {
            if history.run_until(until, 1) { Ran::There } else { Ran::OnTheWay }
        };
        while history.run_typing(terminal, until, run) == Ran::OnTheWay {}
    }

    fn enter(&mut self, text: &str) {
        self.terminal.enter(text);
        while self.history.type_on(&mut self.terminal) {}
    }

    /// Enters a text and lets time pass until all of it has run; what it printed.
    fn run(&mut self, text: &str) -> String {
        let known = self.terminal.blocks().len();
        self.enter(text);
        for _ in 0..10_000 {
            if !self.terminal.is_busy() {
                return self.terminal.blocks()[known..].iter().map(Block::text).collect();
            }
            self.pass(100);
        }
        panic!("`{text}` does not end: {:?}", self.terminal.blocks().last());
    }

    fn last(&self) -> &Block {
        self.terminal.blocks().last().expect("something was typed")
    }

    fn lines(&self) -> Vec<(&str, End)> {
        self.terminal.blocks().iter().map(|it| (it.line.as_str(), it.end)).collect()
    }
}

#[test]
fn commands_of_the_simulation_may_be_typed_too() {
    let mut desk = Desk::new();
    assert_eq!(desk.run("node stop node-1"), "node/node-1 stopped\n");
    assert_eq!(desk.last().end, End::Exit(0));
    let typed = desk.history.simulation().journal().last().map(|it| it.to_string()).unwrap_or_default();
    assert!(typed.ends_with("node stop node-1"), "{typed}");
    assert!(desk.run("controller crash kube-scheduler --after=2").contains("kube-scheduler"));
    assert_eq!(desk.run("git commit deploy.yaml --message='two words'").matches("unknown").count(), 1);
    assert!(desk.run("node stop node-9").contains("node-9"));
    assert_ne!(desk.last().end, End::Exit(0));
    assert!(desk.run("nodes stop node-1").contains("nodes is not simulated"));
}
