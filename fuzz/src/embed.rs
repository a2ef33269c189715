//! Messages of a page around an embed.

use loopscope_engine::embed::{Ask, MOST_MS, Message, read};
use loopscope_engine::kubectl::Terminal;
use loopscope_engine::share::packed;
use loopscope_engine::world::{Command, Scenario, Simulation};

use super::world::{run_for, small};

pub fn embed(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match read(&text) {
        Message::Foreign => {}
        Message::Wrong(refusal, _) => assert!(!refusal.code.is_empty() && !refusal.words.is_empty()),
        Message::Asks(ask, _) => obey(ask),
    }
}

/// What the page does with it, as far as that is the engine's.
fn obey(ask: Ask) {
    let world = small;
    match ask {
        Ask::Seek(ms) => assert!(ms <= MOST_MS),
        Ask::Apply(manifest) => {
            let mut simulation = world();
            simulation.dispatch(Command::Apply { manifest });
            run_for(&mut simulation, 1_000);
        }
        Ask::Command(line) => type_line(&mut world(), &line),
        Ask::Load(name) => drop(Scenario::called(&name)),
        Ask::Open(hash) => {
            assert!(!hash.starts_with('#'));
            drop(packed(&hash));
        }
        Ask::Step { .. } => drop(world().step_to_act(loopscope_engine::sim::Millis(1_000))),
        Ask::Ping | Ask::Play | Ask::Pause | Ask::Theme(_) | Ask::Language | Ask::Highlight(_) => {}
        Ask::Share | Ask::Picture => {}
    }
}

fn type_line(simulation: &mut Simulation, line: &str) {
    let mut terminal = Terminal::default();
    terminal.enter(line);
    let now = simulation.now();
    while terminal.poll(simulation, now) {}
    terminal.stop("Ctrl+C");
}
