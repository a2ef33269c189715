//! The smallest loop: a room, its thermostat, and a window that somebody opens.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::client::{TurnPhase, What};
use loopscope_engine::sim::Time;
use loopscope_engine::view::{self, RoomView};
use loopscope_engine::world::{Lane, Scenario, Simulation};
use play::{command, run_for};

fn cold_room() -> Simulation {
    Simulation::new(Scenario::thermostat())
}

fn room(simulation: &Simulation) -> RoomView {
    view::room(simulation).expect("there is a room")
}

const HOUR: u64 = 3_600_000;

#[test]
fn a_cold_room_overshoots_and_settles() {
    let mut simulation = cold_room();
    run_for(&mut simulation, 1_000);
    let first = room(&simulation);
    assert_eq!((first.desired, first.heater, first.overshoot, first.settled_since), (21_000, 2, None, None));
    run_for(&mut simulation, 2 * HOUR);
    let end = room(&simulation);
    let over = end.overshoot.expect("it came there");
    assert!((1_000..3_000).contains(&over), "overshoot of {over}");
    assert!((end.actual - end.desired).abs() <= end.hysteresis, "{} of {}", end.actual, end.desired);
    let since = end.settled_since.expect("it settles");
    assert!((1_200_000..6_000_000).contains(&since.0), "settled at {since:?}");
    let heater = end.heater;
    run_for(&mut simulation, 5 * HOUR);
    let later = room(&simulation);
    assert_eq!((later.heater, later.settled_since.map(|it| it <= Time(2 * HOUR))), (heater, Some(true)), "it stays");
}

/// A sensor that is older, and steps that are coarser, make of the same loop one that never comes to rest.
#[test]
fn lag_and_coarse_steps_make_it_swing() {
    let range = |commands: &[&str]| {
        let mut simulation = cold_room();
        for text in commands {
            command(&mut simulation, text);
        }
        run_for(&mut simulation, 6 * HOUR);
        let curve = room(&simulation).curve;
        let late: Vec<i32> = curve.iter().filter(|it| it.at > Time(4 * HOUR)).map(|it| it.actual).collect();
        late.iter().max().expect("a point") - late.iter().min().expect("a point")
    };
    let (usual, late, coarse) = (range(&[]), range(&["room lag 120s"]), range(&["room step 20", "room lag 60s"]));
    assert!(usual < 300, "{usual}");
    assert!(late > 2 * 500, "{late}");
    assert!(coarse > 4 * 500, "{coarse}");
    let wide = range(&["room lag 120s", "room hysteresis 2.5"]);
    assert!(wide < 300, "who is content with less comes to rest: {wide}");
}

/// What a person does to the room is a fault, what they say to the thermostat is not; and either is why the heater is
/// turned.
#[test]
fn a_window_is_found_and_made_up_for() {
    let mut simulation = cold_room();
    run_for(&mut simulation, 2 * HOUR);
    let (before, faults) = (room(&simulation), simulation.recorded().n_on(Lane::Faults));
    command(&mut simulation, "room window open");
    assert_eq!(simulation.recorded().n_on(Lane::Faults), faults + 1);
    let opened = simulation.now();
    run_for(&mut simulation, 5 * 60_000);
    let cold = room(&simulation);
    assert!(cold.actual < before.actual - 2_000 && cold.heater > before.heater && cold.is_window_open, "{cold:?}");
    assert!(cold.measured > cold.actual, "the sensor is behind");
    let key = ObjectKey::new(Kind::ConfigMap, "default", "room");
    let links = view::why(&simulation, simulation.origin(&key).expect("kept").0);
    assert!(links[0].is_you && links[0].text.contains("opened the window"), "{links:#?}");
    let phases = simulation.trace().events().filter(|it| it.at > opened).filter_map(|it| match it.what {
        What::Reached { phase, key: of, .. } if of == key => Some(phase),
        _ => None,
    });
    let phases: Vec<TurnPhase> = phases.take(3).collect();
    assert_eq!(phases, [TurnPhase::Observe, TurnPhase::Diff, TurnPhase::Act]);
    command(&mut simulation, "room window close");
    run_for(&mut simulation, 2 * HOUR);
    let after = room(&simulation);
    assert!((after.actual - after.desired).abs() <= after.hysteresis, "{after:?}");
    command(&mut simulation, "room desired 18");
    assert_eq!(simulation.recorded().n_on(Lane::Faults), faults + 2, "a wish is no fault");
    run_for(&mut simulation, 3 * HOUR);
    let links = view::why(&simulation, simulation.origin(&key).expect("kept").0);
    assert!(links[0].is_you, "{links:#?}");
    let end = room(&simulation);
    assert!(end.settled_since.is_some() && end.overshoot.is_some_and(|it| it >= 0), "{end:?}");
}

#[test]
fn a_thermostat_has_a_row_and_can_be_stopped_and_asked_with_kubectls_words() {
    let mut simulation = cold_room();
    run_for(&mut simulation, 5 * 60_000);
    let rows = view::loop_rows(&simulation);
    let row = rows.iter().find(|row| row.name == "Thermostat").expect("it has a row");
    assert!(row.cells.iter().all(Option::is_some) && row.turns > 5, "{row:?}");
    command(&mut simulation, "controller stop thermostat");
    let heater = room(&simulation).heater;
    run_for(&mut simulation, HOUR);
    assert_eq!(room(&simulation).heater, heater, "nobody turns it");
    command(&mut simulation, "controller start thermostat");
    command(&mut simulation, "kubectl patch configmap/room --type=merge -p '{\"data\":{\"desired\":\"19.5\"}}'");
    run_for(&mut simulation, 3 * HOUR);
    let end = room(&simulation);
    assert!(end.desired == 19_500 && (end.actual - 19_500).abs() <= 500, "{end:?}");
    let pair = view::ownership(&simulation, &ObjectKey::new(Kind::ConfigMap, "default", "room"));
    let text = format!("{pair:?}");
    assert!(text.contains("thermostat") && text.contains("kubectl"), "{text}");
}

#[test]
fn where_there_is_no_room_there_is_nothing_to_do() {
    let mut simulation = Simulation::new(Scenario::empty(1));
    assert!(view::room(&simulation).is_none());
    let outcome = simulation.dispatch("room window open".parse().expect("a command"));
    assert_eq!(outcome.problems[0].message, "there is no room: see configmap/room");
    assert!(!simulation.dispatch("room desired 20".parse().expect("a command")).is_ok());
    for bad in ["room", "room desired warm", "room desired 101", "room hysteresis '-1'", "room step 0", "room lag 3m"] {
        assert!(bad.parse::<loopscope_engine::world::Command>().is_err(), "{bad}");
    }
    // Anybody can build one.
    play::apply(&mut simulation, Scenario::thermostat().manifest.as_str());
    run_for(&mut simulation, 600_000);
    assert!(room(&simulation).heater > 10);
}
