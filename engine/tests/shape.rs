//! Five loops as one shape: cards that the trace fills, and that say so where their loop is not in this world.

#[path = "common/play.rs"]
mod play;

use loopscope_engine::client::What;
use loopscope_engine::sim::Seq;
use loopscope_engine::view::{self, ShapeCard};
use loopscope_engine::world::{Scenario, Simulation};
use play::{command, run_for};

fn card(simulation: &Simulation, name: &str) -> ShapeCard {
    view::same_shape(simulation).into_iter().find(|it| it.name == name).expect("a card")
}

fn event(simulation: &Simulation, seq: u64) -> What {
    simulation.trace().get(Seq(seq)).expect("it is kept").what
}

#[test]
fn all_five_are_there_and_only_those_of_this_world_are_filled() {
    let mut simulation = Simulation::new(Scenario::self_healing());
    run_for(&mut simulation, 10_000);
    let all = view::same_shape(&simulation);
    let names: Vec<_> = all.iter().map(|it| it.name).collect();
    assert_eq!(names, ["ReplicaSet", "Autoscaler", "GitOps agent", "Infrastructure as code", "Thermostat"]);
    for it in &all {
        assert_eq!(it.is_here, it.name == "ReplicaSet", "{}", it.name);
        assert!(it.is_here || it.cells.iter().all(Option::is_none), "{}", it.name);
        assert!(it.phases.iter().all(|words| !words.is_empty()));
    }
    for cell in all[0].cells.iter().flatten() {
        assert!(matches!(event(&simulation, cell.seq), What::Reached { .. }));
    }
    assert!(all[0].cells[0].is_some());
}

#[test]
fn a_thermostat_and_an_agent_fill_their_cards() {
    let mut room = Simulation::new(Scenario::thermostat());
    run_for(&mut room, 31_000);
    let it = card(&room, "Thermostat");
    assert!(
        it.is_here && it.cells[0].as_ref().is_some_and(|cell| cell.text.plain().starts_with("want 21.0 °C")),
        "{it:?}"
    );
    let mut git = Simulation::new(Scenario::self_healing());
    run_for(&mut git, 5_000);
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting}\ndata: {text: hello}\n";
    command(&mut git, &format!("git commit -m first --file='greeting.yaml={manifest}'"));
    command(&mut git, "gitops argocd --self-heal=on");
    run_for(&mut git, 200_000);
    let it = card(&git, "GitOps agent");
    assert!(it.is_here && it.cells[0].is_some(), "{it:?}");
}

/// No loop goes round here until a person runs it: its cells are of that run.
#[test]
fn infrastructure_as_code_shows_the_last_run() {
    let mut simulation = Simulation::new(Scenario::empty(5));
    command(
        &mut simulation,
        "terraform write 'resources:\n  cloud_service.web:\n    desired_count: 3\n    image: app:v1\n'",
    );
    let it = card(&simulation, "Infrastructure as code");
    assert!(it.is_here && it.cells.iter().all(Option::is_none), "{it:?}");
    command(&mut simulation, "terraform apply");
    let [read, plan, act] = card(&simulation, "Infrastructure as code").cells.map(Option::unwrap_or_default);
    assert_eq!(read.text.plain(), "0 objects read from the cloud");
    assert_eq!(plan.text.plain(), "Plan: 1 to add, 0 to change, 0 to destroy");
    assert_eq!(act.text.plain(), "waits for somebody to say yes");
    assert!(matches!(event(&simulation, plan.seq), What::Commanded(_)));
    command(&mut simulation, "terraform answer yes");
    run_for(&mut simulation, 10_000);
    let act = card(&simulation, "Infrastructure as code").cells[2].clone().expect("it acted");
    assert!(act.text.plain().contains("Creation complete"), "{act:?}");
    assert!(matches!(event(&simulation, act.seq), What::Outside { .. }));
    command(&mut simulation, "terraform plan");
    let [read, plan, _] = card(&simulation, "Infrastructure as code").cells.map(Option::unwrap_or_default);
    assert_eq!((read.text.plain(), plan.text.plain()), ("1 object read from the cloud".into(), "No changes".into()));
}
