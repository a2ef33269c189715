//! Commands and faults against the engine, with its invariants looked at after every event.

use arbitrary::{Arbitrary, Unstructured};
use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::apiserver::Propagation;
use loopscope_engine::kubectl::Console;
use loopscope_engine::world::{Command, Simulation};

use super::MOST_EVENTS;
use super::converged::check_convergence;
use super::deeds::{self, Deed};
use super::guard::Guard;
use super::lines::{COMMANDS, MANIFESTS, TYPED};
use super::world::{check_replay, check_text, look, n_pods};

/// Longer plans are cut.
const MOST_MOVES: usize = 40;
/// A world with more pods is looked at no further.
const MOST_PODS: usize = 150;
/// A controller that was refused often enough waits 1,000 s before it tries again.
const SETTLES_MS: u64 = 1_100_000;
/// How long a line of the console may wait.
const WAITS: [u64; 4] = [1, 100, 2_000, 9_000];

pub fn world(data: &[u8]) {
    if let Ok(plan) = Unstructured::new(data).arbitrary::<Plan>() {
        plan.play();
    }
}

#[derive(Arbitrary, Clone, Debug)]
enum Move {
    /// Something that a cluster gets over, by its number, to two of what is there.
    Deed(u8, u8, u8),
    /// Any command, by its place in `COMMANDS`.
    Command(u8, u8, u8),
    /// A line of the console, by its place in `TYPED`.
    Type(u8, u8, u8),
    /// Milliseconds.
    Wait(u16),
    /// Seconds.
    WaitLong(u8),
}

/// One thing after another.
#[derive(Arbitrary, Clone, Debug)]
struct Plan {
    seed: u8,
    /// Whether the world is mended at the end, and must come to what is wanted.
    settles: bool,
    /// Whether it is played once more from its journal.
    replays: bool,
    moves: Vec<Move>,
}

impl Plan {
    fn play(&self) {
        let mut simulation = Simulation::new(deeds::scenario(self.seed.into()));
        let mut guard = Guard::new(false);
        for which in 0..2 {
            simulation.dispatch(Command::Apply { manifest: deeds::manifest(which) });
        }
        let moves = &self.moves[..self.moves.len().min(MOST_MOVES)];
        let is_wild = moves.iter().any(|it| matches!(it, Move::Command(..) | Move::Type(..)));
        if is_wild {
            guard.expect_anything();
        }
        let mut is_calm = true;
        for it in moves {
            is_calm &= it.play(&mut simulation, &mut guard);
            if !is_calm || n_pods(&simulation) > MOST_PODS {
                break;
            }
        }
        look(&simulation);
        check_text(simulation.journal());
        if self.replays {
            check_replay(&simulation);
        }
        if self.settles && is_calm && !is_wild {
            settle(&mut simulation, &mut guard);
        }
    }
}

fn settle(simulation: &mut Simulation, guard: &mut Guard) {
    pass(simulation, guard, 1);
    deeds::calm(simulation);
    pass(simulation, guard, 1_000);
    deeds::uncordon(simulation);
    guard.run(simulation, SETTLES_MS).expect("what must hold holds");
    if let Err(why) = check_convergence(simulation) {
        panic!("{why}");
    }
}

/// Lets time pass; says whether there was an end to what happened.
fn pass(simulation: &mut Simulation, guard: &mut Guard, ms: u64) -> bool {
    match guard.run_at_most(simulation, ms, MOST_EVENTS) {
        Ok(is_done) => is_done,
        Err(why) => panic!("{why}"),
    }
}

impl Move {
    fn play(&self, simulation: &mut Simulation, guard: &mut Guard) -> bool {
        match *self {
            Move::Wait(ms) => pass(simulation, guard, u64::from(ms) % 20_000),
            Move::WaitLong(seconds) => pass(simulation, guard, u64::from(seconds) * 1_000),
            Move::Deed(which, a, b) => {
                if let Some(command) = deeds::command(simulation, &deed(which, a, b)) {
                    simulation.dispatch(command);
                }
                true
            }
            Move::Command(which, a, b) => {
                let line = fill(COMMANDS[usize::from(which) % COMMANDS.len()], simulation, a, b);
                // Some numbers are too small.
                if let Ok(command) = line.parse::<Command>() {
                    simulation.dispatch(command);
                }
                true
            }
            Move::Type(which, a, b) => {
                let line = fill(TYPED[usize::from(which) % TYPED.len()], simulation, a, b);
                type_line(simulation, guard, &line)
            }
        }
    }
}

fn type_line(simulation: &mut Simulation, guard: &mut Guard, line: &str) -> bool {
    let mut console = Console::default();
    let mut running = console.run(line, None, simulation);
    let mut is_calm = true;
    for ms in WAITS {
        if let Some(text) = running.editor().map(|it| it.replace("replicas: 3", "replicas: 4")) {
            running.edited(&text);
        }
        if !is_calm || running.exit().is_some() {
            break;
        }
        is_calm = pass(simulation, guard, ms);
        running.poll(&mut console, simulation);
    }
    running.cancel();
    assert!(running.poll(&mut console, simulation).is_some(), "{line} does not stop");
    is_calm
}

fn propagation(number: u8) -> Option<Propagation> {
    [None, Some(Propagation::Background), Some(Propagation::Foreground), Some(Propagation::Orphan)]
        [usize::from(number) % 4]
}

fn deed(which: u8, a: u8, b: u8) -> Deed {
    let (index, on, two, node) = (usize::from(a), b % 2 == 1, a % 2, 1 + a % 4);
    match which % 29 {
        0 => Deed::Scale(two, i32::from(b % 9)),
        1 => Deed::Image(two, 1 + b % 3),
        2 => Deed::DeletePod(index),
        3 => Deed::DeleteSet(index, propagation(b)),
        4 => Deed::Power(node, on),
        5 => Deed::Cordon(node, on),
        6 => Deed::Apply(two),
        7 => Deed::Cut(node, on),
        8 => Deed::Ready(index, on),
        9 => Deed::CrashContainer(index, i32::from(b % 3)),
        10 => Deed::CrashProcess(on),
        11 => Deed::Misbehave(a % 3, on),
        12 => Deed::ApplyOthers,
        13 => Deed::ScaleSet(i32::from(b % 6)),
        14 => Deed::ImageOfOthers(two, 1 + b % 3),
        15 => Deed::DeleteJob,
        16 => Deed::Pause(two, on),
        17 => Deed::Restart(a % 3),
        18 => Deed::Rollback(two, i64::from(b % 4)),
        19 => Deed::Fences(i32::from(a % 4), i32::from(b % 3)),
        20 => Deed::Evict(index),
        21 => Deed::Process(two == 0, on),
        22 => Deed::AddNode,
        23 => Deed::RemoveNode(node),
        24 => Deed::DeleteDeployment(two, propagation(b)),
        25 => Deed::MisbehavePod(index),
        26 => Deed::ApplyShop,
        27 => Deed::DeleteShop,
        _ => Deed::WidenShop,
    }
}

/// A line with what there is for its blanks; what is not there is called `none`.
fn fill(line: &str, simulation: &Simulation, a: u8, b: u8) -> String {
    let pick = |kind: Kind| -> Option<ObjectKey> {
        let all = simulation.api().objects().of_kind(kind);
        let n = all.count();
        let mut all = simulation.api().objects().of_kind(kind);
        all.nth(usize::from(a).checked_rem(n)?).map(Object::key)
    };
    let workloads = ["deployment/app-0", "deployment/app-1", "statefulset/db", "daemonset/agent", "job/work"];
    let programs = ["kube-controller-manager", "kube-scheduler", "argocd-application-controller", "thermostat"];
    let mut line = line.to_owned();
    if line.contains("{manifest}") {
        line = line.replace("{manifest}", MANIFESTS[usize::from(b) % MANIFESTS.len()]);
    }
    if line.contains("{pod}") {
        let pod = pick(Kind::Pod);
        let (name, place) =
            pod.map_or(("none".into(), "default".into()), |it| (it.name.to_string(), it.namespace.to_string()));
        line = line.replace("{pod}", &name).replace("{ns}", &place);
    }
    let node = pick(Kind::Node).map_or_else(|| "none".into(), |it| it.name.to_string());
    line.replace("{node}", &node)
        .replace("{workload}", workloads[usize::from(a) % workloads.len()])
        .replace("{program}", programs[usize::from(a) % programs.len()])
        .replace("{ns}", "default")
        .replace("{n}", &(a % 10).to_string())
        .replace("{m}", &(b % 10).to_string())
        .replace("{tag}", &format!("v{}", b % 4))
}

#[cfg(test)]
mod tests {
    use loopscope_engine::manifest;

    use super::*;
    use crate::world::run_for;

    /// So that no kept input means nothing.
    #[test]
    fn every_line_is_a_command() {
        for a in [1, 3, 8] {
            let mut simulation = Simulation::new(deeds::scenario(1));
            simulation.dispatch(Command::Apply { manifest: deeds::manifest(0) });
            simulation.dispatch(Command::Apply { manifest: deeds::OTHERS.into() });
            run_for(&mut simulation, 5_000);
            let lines = COMMANDS.iter().map(|line| fill(line, &simulation, a, a + 1));
            let wrong: Vec<_> =
                lines.filter_map(|it| Some([&it, ": ", &it.parse::<Command>().err()?].concat())).collect();
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            for b in 0..MANIFESTS.len() as u8 {
                let read = manifest::read(&fill("{manifest}", &simulation, a, b));
                assert!(!read.has_errors(), "{:?}", read.diagnostics);
            }
        }
    }
}
