//! Small worlds in all orders of what may happen, up to a bound: watch events to each client, requests, answers, and the
//! steps of controllers and kubelets.
//!
//! `cargo xtask explore` goes further than the tests do, and plays one order again.

mod past;
mod rules;
mod search;
mod worlds;

use std::time::{Duration, Instant};

use search::{Bound, Found, Node, Search, read_order, write_order};
use worlds::{GUILTY, WORLDS, World};

/// What a test may take where the machine is slow: beyond it the search fails rather than pretend to be done.
const AT_MOST: Duration = Duration::from_secs(600);

/// The tests begin at one of so many places, and leave one of so many leaves alone: the rest is `cargo xtask explore`'s.
const SAMPLE: (usize, usize) = (4, 32);

fn print(world: &World, bound: Bound, found: &Found, took: Duration) {
    let Found { states, transitions, known, deepest, leaves, left_alone, guilty, .. } = found;
    let cut = if found.is_cut_short { ", cut short" } else { "" };
    println!(
        "{:22} {bound:?}: {states} states, {transitions} transitions, {known} to known states, {deepest} steps deep, {leaves} leaves ({left_alone} left alone), {guilty} violations, {:.1} s{cut}",
        world.name,
        took.as_secs_f64()
    );
    for it in &found.violations {
        println!("  {}\n    --world {} --order {}", it.what, world.name, write_order(&it.order));
    }
}

fn holds_in(name: &str, bound: Bound) {
    let world = WORLDS.iter().find(|it| it.name == name).expect("a world");
    let start = Instant::now();
    let found = Search::new(world, bound, AT_MOST).sample(SAMPLE.0, SAMPLE.1).run();
    print(world, bound, &found, start.elapsed());
    assert!(found.violations.is_empty(), "{:#?}", found.violations);
    assert!(!found.is_cut_short && found.leaves > 0, "{found:?}");
}

/// Each world in a test of its own, so that they run side by side: how deep in all orders, and with how many deviations to
/// the end, where there is time for that.
macro_rules! worlds {
    ($($test:ident $name:literal $depth:literal [$($deviations:literal)?])*) => {
        $(
            #[test]
            fn $test() {
                holds_in($name, Bound::Depth($depth));
                $(holds_in($name, Bound::Deviations($deviations));)?
            }
        )*

        #[test]
        fn every_world_has_a_test() {
            let tested = [$($name),*];
            assert!(WORLDS.iter().all(|it| tested.contains(&it.name)));
        }
    };
}

worlds! {
    a_deployment_is_created "created" 3 []
    a_pod_is_deleted "pod-deleted" 4 [1]
    a_node_is_lost "node-lost" 3 [1]
    the_controllers_crash_during_a_rollout "crash-while-rolling" 2 []
    the_controllers_crash_while_pods_are_created "crash-while-creating" 3 [0]
    a_deployment_is_scaled_during_a_rollout "scaled-while-rolling" 2 []
    a_deployment_is_scaled_down_and_up "scaled-down-and-up" 3 []
    a_write_meets_another "conflict" 2 []
    a_server_refuses "refused" 3 [0]
}

/// The rules would prove little if they found nothing.
#[test]
fn without_expectations_an_order_with_too_many_pods_is_found() {
    let found = Search::new(&GUILTY, Bound::Deviations(1), AT_MOST).up_to_the_first().run();
    let guilty = found.violations.first().expect("it is found");
    assert!(guilty.what.starts_with("over-creation"), "{}", guilty.what);
    // The order that is told leads there again, from the same beginning.
    let order = read_order(&write_order(&guilty.order)).expect("an order");
    assert_eq!(replay(&GUILTY, &order, |_| {}), Err(guilty.what.clone()));
}

/// In the usual order the hook changes nothing: it leads to what the world does by itself, clocks aside.
#[test]
fn an_order_is_played_again_step_by_step() {
    let mut words = Vec::new();
    let order = read_order("0,0,0,0,0,0").expect("an order");
    assert_eq!(replay(&WORLDS[0], &order, |text| words.push(text.to_string())), Ok(()));
    assert_eq!(words.len(), 6);
    assert!(words[0].contains("kube-controller-manager hears that"), "{words:?}");
}

fn replay(world: &World, order: &[search::Step], mut tell: impl FnMut(&str)) -> Result<(), String> {
    let mut node = Node::new(world);
    for step in order {
        let words = match step {
            search::Step::Take(n) => node.simulation.ready().get(*n).map(|it| node.simulation.tell_choice(it)),
            search::Step::Deed => Some("what a person does".to_string()),
        };
        tell(&words.unwrap_or_default());
        node.take(world, *step)?;
    }
    Ok(())
}

fn asked<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// What `cargo xtask explore` runs.
#[test]
#[ignore = "takes as long as it is asked for: cargo xtask explore"]
fn explore() {
    let depth = asked("EXPLORE_DEPTH").unwrap_or(10);
    let deviations = asked("EXPLORE_DEVIATIONS").unwrap_or(1);
    let seconds = Duration::from_secs(asked("EXPLORE_SECONDS").unwrap_or(120));
    let one_of = asked("EXPLORE_LEAVES").unwrap_or(1).max(1);
    let only = std::env::var("EXPLORE_WORLD").ok();
    let mut worlds: Vec<&World> = WORLDS.iter().filter(|it| only.as_ref().is_none_or(|only| only == it.name)).collect();
    worlds.extend(Some(&GUILTY).filter(|it| only.as_deref() == Some(it.name)));
    assert!(!worlds.is_empty(), "there is no such world");
    if let Ok(order) = std::env::var("EXPLORE_ORDER") {
        let order = read_order(&order).expect("an order is numbers with commas between");
        let end = replay(worlds[0], &order, |words| println!("{words}"));
        println!("{}", end.err().unwrap_or_else(|| "nothing is violated".into()));
        return;
    }
    let mut all = Found::default();
    for world in worlds {
        for bound in [Bound::Depth(depth), Bound::Deviations(deviations)] {
            let start = Instant::now();
            let found = Search::new(world, bound, seconds).sample(1, one_of).run();
            print(world, bound, &found, start.elapsed());
            all.add(found);
        }
    }
    println!(
        "in all: {} states, {} transitions, {} to known states, {} leaves, {} violations",
        all.states, all.transitions, all.known, all.leaves, all.guilty
    );
    assert_eq!(all.guilty, 0, "an order that violates a rule is told above");
}
