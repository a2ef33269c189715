//! Whatever a person does: limits hold at every instant, and once they stop, every workload converges and stays.

#[path = "common/converged.rs"]
mod converged;
#[path = "common/deeds.rs"]
mod deeds;
#[path = "common/guard.rs"]
mod guard;

use converged::check_convergence;
use deeds::{Deed, calm, command, deed, healthy_deed, manifest, other, scenario, uncordon};
use guard::Guard;
use loopscope_engine::api::Kind;
use loopscope_engine::client::{Author, What};
use loopscope_engine::sim::{Millis, Seq};
use loopscope_engine::world::{Command, Simulation};
use proptest::prelude::*;

fn run_for(simulation: &mut Simulation, ms: u64) -> Result<(), TestCaseError> {
    let until = simulation.now() + Millis(ms);
    prop_assert!(simulation.run_until(until, 3_000_000), "events without end");
    Ok(())
}

/// Nothing is asked for but what says that a node is alive, and even that changes only times.
fn check_quiet(simulation: &mut Simulation, ms: u64) -> Result<(), TestCaseError> {
    let until = simulation.now() + Millis(ms);
    let mut seen = simulation.trace().last_seq();
    while !simulation.run_until(until, 100) {
        let last = simulation.trace().last_seq();
        for event in (seen.0 + 1..=last.0).filter_map(|seq| simulation.trace().get(Seq(seq))) {
            let (author, key, subresource) = match &event.what {
                What::Wrote { author, key, subresource, .. } | What::Refused { author, key, subresource, .. } => {
                    (author, key, subresource)
                }
                _ => continue,
            };
            let is_heartbeat = key.kind == Kind::Lease || (key.kind == Kind::Node && *subresource == "status");
            prop_assert!(is_heartbeat, "{:?} asks for {}/{} in a quiet world", author, key, subresource);
            prop_assert!(matches!(author, Author::Loop(_)));
        }
        seen = last;
    }
    Ok(())
}

fn stable(deeds: &[(Deed, u64)], seed: u64) -> Result<(), TestCaseError> {
    let mut simulation = Simulation::new(scenario(seed));
    let mut guard = Guard::new(false);
    for which in 0..2 {
        simulation.dispatch(Command::Apply { manifest: manifest(which) });
    }
    for (deed, pause) in deeds {
        guard.run(&mut simulation, *pause)?;
        if let Some(command) = command(&simulation, deed) {
            simulation.dispatch(command);
        }
    }
    guard.run(&mut simulation, 1)?;
    calm(&mut simulation);
    guard.run(&mut simulation, 1_000)?;
    uncordon(&mut simulation);
    // A controller that was refused often enough waits 1,000 s before it tries again; that a quota grew wakes nobody.
    guard.run(&mut simulation, 1_100_000)?;
    check_convergence(&simulation)?;
    check_quiet(&mut simulation, 200_000)?;
    check_convergence(&simulation)
}

/// Rollouts of healthy pods, each begun wherever the one before has got to.
fn within_limits(deeds: &[(Deed, u64)], seed: u64, replicas: i32, min_ready: i32) -> Result<(), TestCaseError> {
    let mut simulation = Simulation::new(scenario(seed));
    let text = manifest(0).replace("replicas: 3", &format!("replicas: {replicas}\n  minReadySeconds: {min_ready}"));
    let outcome = simulation.dispatch(Command::Apply { manifest: text });
    prop_assert!(outcome.is_ok(), "{:?}", outcome);
    run_for(&mut simulation, 60_000)?;
    check_convergence(&simulation)?;
    // A ReplicaSet that shrinks ranks its pods by readiness alone. Where a rollout is overtaken by another, a pod that has
    // been ready for minReadySeconds may go before one that has not: there Kubernetes' own floor gives way.
    let mut guard = Guard::new(deeds.len() == 1 || min_ready == 0);
    for (deed, pause) in deeds {
        if let Some(command) = command(&simulation, deed) {
            simulation.dispatch(command);
        }
        guard.run(&mut simulation, *pause)?;
    }
    calm(&mut simulation);
    guard.run(&mut simulation, 1_000)?;
    uncordon(&mut simulation);
    guard.run(&mut simulation, 600_000)?;
    check_convergence(&simulation)
}

/// The same cases in every run; `PROPTEST_CASES` asks for more, and for others each time.
fn config() -> ProptestConfig {
    let usual = ProptestConfig { max_shrink_iters: 400, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => usual,
        None => ProptestConfig { cases: 48, rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..usual },
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn after_any_deeds_every_workload_converges_and_stays(
        deeds in prop::collection::vec((deed(), 0..30_000_u64), 1..14),
        seed in any::<u64>(),
    ) {
        stable(&deeds, seed)?;
    }

    #[test]
    fn a_rollout_of_healthy_pods_keeps_its_ceiling_and_its_floor(
        deeds in prop::collection::vec((healthy_deed(), 0..9_000_u64), 1..8),
        seed in any::<u64>(),
        replicas in 1..12_i32,
        min_ready in 0..4_i32,
    ) {
        within_limits(&deeds, seed, replicas, min_ready)?;
    }

    #[test]
    fn the_journal_alone_gives_the_same_trace(
        deeds in prop::collection::vec((deed(), 0..20_000_u64), 1..8),
        seed in any::<u64>(),
    ) {
        let mut first = Simulation::new(scenario(seed));
        for (deed, pause) in &deeds {
            run_for(&mut first, *pause)?;
            if let Some(command) = command(&first, deed) {
                first.dispatch(command);
            }
        }
        run_for(&mut first, 60_000)?;
        let journal = serde_json::to_string(&first.journal().iter().map(|it| &**it).collect::<Vec<_>>()).expect("commands can be written");
        let journal: Vec<loopscope_engine::world::JournalEntry> = serde_json::from_str(&journal).expect("and read");
        let mut second = Simulation::new(scenario(seed));
        for entry in journal {
            prop_assert!(second.run_until(entry.at, 3_000_000));
            second.dispatch(entry.command);
        }
        prop_assert!(second.run_until(first.now(), 3_000_000));
        prop_assert_eq!(first.trace().digest(), second.trace().digest());
    }
}

/// Found once, by seeds that no longer give the same deeds.
#[test]
fn cases_that_were_found_once() {
    let deeds = [
        (Deed::Power(1, false), 28_715),
        (Deed::DeleteSet(3_600_465_620_813_429_804, None), 3_406),
        (Deed::Power(2, false), 2_514),
        (Deed::Misbehave(2, false), 26_136),
        (Deed::CrashContainer(14_891_132_515_058_104_349, 2), 27_935),
        (Deed::Cordon(3, false), 24_586),
        (Deed::DeletePod(17_920_714_127_827_770_280), 15_448),
    ];
    stable(&deeds, 11_567_025_074_549_297_689).expect("it converges");
    // A pod came back under its name to a machine that still had what was left of an older one.
    let deeds = [
        (Deed::ApplyOthers, 758),
        (Deed::RemoveNode(1), 2_001),
        (Deed::Scale(0, 0), 0),
        (Deed::Scale(1, 4), 16_174),
        (Deed::Process(true, true), 21_952),
        (Deed::MisbehavePod(3_333_405_359_165_165_034), 6_347),
        (Deed::RemoveNode(4), 11_725),
        (Deed::ImageOfOthers(0, 1), 242),
    ];
    stable(&deeds, 13_429_409_311_293_098_283).expect("it converges");
    // Refused over and over by a full quota.
    let deeds = [
        (Deed::ApplyShop, 2_373),
        (Deed::CrashContainer(2_609_518_342_058_376_537, 0), 16_032),
        (Deed::Scale(0, 0), 21_916),
        (Deed::Misbehave(0, false), 19_192),
        (Deed::Misbehave(0, false), 27_842),
    ];
    stable(&deeds, 14_878_644_212_433_434_473).expect("it converges");
    let deeds = [(Deed::Image(0, 3), 7_148), (Deed::Image(0, 1), 25), (Deed::Image(0, 2), 0)];
    within_limits(&deeds, 7_708_597_488_705_824_326, 7, 2).expect("the floor gives way here, the ceiling does not");
    let deeds = [(Deed::Image(0, 2), 4_126), (Deed::Image(0, 1), 0)];
    within_limits(&deeds, 0, 4, 0).expect("two ReplicaSets shrink within the time that a status takes");
}

#[test]
fn the_guard_sees_an_object_that_owns_itself() {
    let mut simulation = Simulation::new(scenario(1));
    let map = |name: &str, owner: String| {
        let manifest = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}{owner}}}}}");
        Command::Apply { manifest }
    };
    let uid = |simulation: &Simulation, name: &str| {
        simulation.api().objects().get(&other(Kind::ConfigMap, name).key()).expect("it is there").meta().uid
    };
    let owned_by = |simulation: &Simulation, name: &str| {
        let uid = uid(simulation, name);
        format!(", ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: {name}, uid: {uid}}}]")
    };
    assert!(simulation.dispatch(map("a", String::new())).is_ok());
    let owner = owned_by(&simulation, "a");
    assert!(simulation.dispatch(map("b", owner)).is_ok());
    let mut guard = Guard::new(false);
    guard.run(&mut simulation, 100).expect("a chain is no ring");
    let owner = owned_by(&simulation, "b");
    assert!(simulation.dispatch(map("a", owner)).is_ok());
    assert!(guard.run(&mut simulation, 100).is_err());
}
