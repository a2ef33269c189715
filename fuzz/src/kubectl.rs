//! What somebody types or pastes into the console.

use loopscope_engine::kubectl::{Console, Terminal, complete, is_unfinished};
use loopscope_engine::world::{Instant, Simulation};

use super::world::{check_text, look, n_pods, run_for, small};
use super::{MOST_EVENTS, sum};

/// How long a line may wait, in slices of virtual ms.
const WAITS: [u64; 5] = [1, 50, 500, 2_000, 5_000];
/// What was done last has its consequences within this time.
const AFTER_MS: u64 = 1_000;
/// Of this many inputs one is played again from its journal, and looked at as the page does.
const NOW_AND_THEN: u64 = 8;

pub fn kubectl(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut simulation = small();
    let (n_before, start) = (simulation.journal().len(), small());
    is_unfinished(&text);
    let proposed = complete(&text, &Console::default(), &simulation);
    assert!(proposed.all.iter().all(|it| it.text.starts_with(proposed.common())), "{proposed:?}");
    assert!(text.is_char_boundary(proposed.from), "{proposed:?}");
    let mut terminal = Terminal::default();
    terminal.enter(&text);
    for ms in WAITS {
        let now = simulation.now();
        while terminal.poll(&mut simulation, now) {}
        if let Some(text) = terminal.editor().map(edited) {
            terminal.edited(&text);
            terminal.poll(&mut simulation, now);
        }
        if !terminal.is_busy() || !run_for(&mut simulation, ms) {
            break;
        }
    }
    terminal.stop("Ctrl+C");
    assert!(!terminal.is_busy());
    run_for(&mut simulation, AFTER_MS);
    for block in terminal.blocks() {
        assert_eq!(block.n_lines(), block.pieces.iter().map(|it| it.n_lines).sum::<usize>());
        drop((block.fold(), block.text()));
    }
    check_text(simulation.journal());
    if sum(data).is_multiple_of(NOW_AND_THEN) && n_pods(&simulation) < 100 {
        run_for(&mut simulation, 3_000);
        look(&simulation);
        check_again(start, n_before, &simulation);
    }
}

/// What an editor might make of a manifest.
fn edited(text: &str) -> String {
    text.replace("replicas: 2", "replicas: 3").replace("blue", "red")
}

/// What was typed are commands of the journal: they alone give the same run.
fn check_again(mut again: Simulation, n_before: usize, simulation: &Simulation) {
    for (index, entry) in simulation.journal().iter().enumerate().skip(n_before) {
        while !again.run_to(Instant::before(index, entry), MOST_EVENTS) {}
        again.dispatch(entry.command.clone());
    }
    while !again.run_to(simulation.instant(), MOST_EVENTS) {}
    assert_eq!(again.trace().digest(), simulation.trace().digest(), "what was typed is not in the journal");
}
