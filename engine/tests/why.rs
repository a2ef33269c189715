//! Why things are as they are, and what came of what: every chain ends at a person, a fault, the clock or the beginning.

#[path = "common/play.rs"]
mod play;
#[path = "common/script.rs"]
mod script;

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::client::{Field, What};
use loopscope_engine::history::History;
use loopscope_engine::sim::{Seq, Time, Trace};
use loopscope_engine::view::{self, Asked, CauseLink, ConditionRow};
use loopscope_engine::world::{Command, Scenario, Simulation};

/// A run in which more happened than is kept.
fn crowded() -> History {
    let mut history = History::new(Scenario::with_nodes(3, 10, "16", "32Gi"));
    let mut at = 0;
    let manifest = play::workload("Deployment", "many", "app:v1", "replicas: 20");
    let scale = |replicas| Command::Scale { target: play::target(Kind::Deployment, "many"), replicas };
    for command in [Command::Apply { manifest }].into_iter().chain([300, 5, 300, 5, 150].map(scale)) {
        assert!(history.dispatch(command).is_ok());
        at += 40_000;
        assert!(history.run_until(Time(at), 10_000_000));
    }
    assert!(history.simulation().trace().visible_count() > 5 * Trace::<What>::LIMIT as u64 / 4);
    history
}

/// The chain of causes of a value; empty where the object is not there.
fn why_value(simulation: &Simulation, key: &ObjectKey, asked: &Asked) -> Vec<CauseLink> {
    view::source(simulation, key, asked).map(|seq| view::why(simulation, seq.0)).unwrap_or_default()
}

fn worlds() -> impl Iterator<Item = (&'static str, Simulation)> {
    script::names().map(|name| (name, script::end_of(name)))
}

/// A chain's first link is a command of the person's (faults are commands), the clock, or the beginning.
fn check_chain(simulation: &Simulation, of: &str, links: &[CauseLink]) {
    let first = links.first().unwrap_or_else(|| panic!("nothing says why {of}"));
    let is_clock =
        simulation.trace().get(Seq(first.seq)).is_some_and(|it| matches!(it.what, What::Ticked(_) | What::Resynced));
    // A clock is of the background, which is let go of sooner.
    let is_gone = first.is_gap_after && simulation.trace().get(Seq(first.seq)).is_none();
    assert!(first.is_you || first.seq == 1 || is_clock || is_gone, "{of} begins with {first:?}");
    assert!(!first.is_you || first.text.starts_with("You "), "{first:?}");
    assert!(links.iter().all(|link| !link.text.is_empty() && !link.text.contains("**")), "{links:#?}");
    assert!(links.windows(2).all(|it| it[0].seq < it[1].seq && it[0].at_ms <= it[1].at_ms), "{of}: {links:#?}");
}

/// Each event has a cause that is kept, or begins a chain; of every so manyth one the chain is looked at.
fn check_events(name: &str, simulation: &Simulation, every: usize) {
    let trace = simulation.trace();
    // Those of the background are let go of sooner.
    let is_whole = trace.all_events().last().is_some_and(|it| trace.all_events().count() as u64 == it.seq.0);
    for event in trace.all_events() {
        let may_begin = matches!(event.what, What::Began | What::Commanded(_) | What::Ticked(_) | What::Resynced);
        match event.cause {
            Some(cause) => assert!(trace.get(cause).is_some() || !is_whole, "{name}: {event:?}"),
            None => assert!(may_begin, "{name}: {event:?}"),
        }
    }
    for event in trace.events().step_by(every) {
        check_chain(simulation, &format!("{name} event {}", event.seq.0), &view::why(simulation, event.seq.0));
    }
}

/// Each object says why it is so, and so does each of its rows and conditions.
fn check_objects(name: &str, simulation: &Simulation, every: usize, kinds: &mut Vec<Kind>) {
    for (key, _) in simulation.api().objects().iter().step_by(every) {
        let inspection = view::inspect(simulation, key).expect("it is there");
        let of = |what: &str| format!("{name} {key} {what}");
        check_chain(simulation, &of("is"), &inspection.why);
        for row in &inspection.rows {
            check_chain(simulation, &of(&row.field), &why_value(simulation, key, &Asked::Row(row.field.clone())));
        }
        for row in &inspection.conditions {
            let asked = Asked::Condition(row.kind.clone());
            check_chain(simulation, &of(&row.kind), &why_value(simulation, key, &asked));
            check_source(simulation, key, row, &of(&row.kind));
        }
        if !inspection.conditions.is_empty() {
            kinds.push(key.kind);
        }
    }
}

/// The write that is named made the condition what it is.
fn check_source(simulation: &Simulation, key: &ObjectKey, row: &ConditionRow, of: &str) {
    let source = view::source(simulation, key, &Asked::Condition(row.kind.clone())).expect("a write");
    let Some(What::Wrote { changed, .. }) = simulation.trace().get(source).map(|it| it.what) else { return };
    let field = |field: Field| changed.iter().find(|it| it.field == field).map(|it| it.to.to_string());
    let status = field(Field::Condition(row.kind.clone().into()));
    let reason = field(Field::Reason(row.kind.clone().into()));
    assert!(status.is_some() || reason.is_some(), "{of}: {source:?}");
    assert!(status.is_none_or(|it| it == row.status) && reason.is_none_or(|it| it == row.reason), "{of}");
}

#[test]
fn every_event_of_every_journal_leads_back_to_a_person_the_clock_or_the_beginning() {
    for (name, simulation) in worlds() {
        check_events(name, &simulation, 5);
    }
}

#[test]
fn every_object_row_and_condition_says_why() {
    let mut kinds = Vec::new();
    for (name, simulation) in worlds() {
        check_objects(name, &simulation, 1, &mut kinds);
    }
    for kind in [Kind::Pod, Kind::Node, Kind::Deployment, Kind::Job, Kind::PodDisruptionBudget] {
        assert!(kinds.contains(&kind), "no {kind:?} with conditions in any journal");
    }
}

#[test]
fn where_links_are_no_longer_kept_the_chain_still_says_what_it_began_with() {
    let history = crowded();
    let simulation = history.simulation();
    check_events("crowded", simulation, 97);
    check_objects("crowded", simulation, 29, &mut Vec::new());
    let many = ObjectKey::new(Kind::Deployment, "default", "many");
    let creation = simulation.creation(&many).expect("it was created");
    assert_eq!(simulation.trace().get(creation), None);
    let links = view::why(simulation, creation.0);
    assert_eq!(texts(&links), ["You applied Deployment many"]);
    assert!(links[0].is_gap_after);
    // A checkpoint still knows.
    let links = view::why(history.keeping(creation), creation.0);
    assert_eq!(texts(&links)[0], "You applied Deployment many");
    assert!(texts(&links)[1].starts_with("Deployment many created, rv "), "{links:#?}");
}

fn texts(links: &[CauseLink]) -> Vec<&str> {
    links.iter().map(|link| link.text.as_str()).collect()
}

#[test]
fn a_deleted_pod_leads_to_its_successor_and_back_to_who_deleted_it() {
    let mut simulation = Simulation::new(Scenario::self_healing());
    play::run_for(&mut simulation, 20_000);
    let victim = play::pods(&simulation)[0].metadata.name.to_string();
    let command = simulation.trace().last_seq().0 + 1;
    play::delete(&mut simulation, Kind::Pod, &victim);
    play::run_for(&mut simulation, 60_000);

    let effects = view::led_to(&simulation, command);
    let has = |text: &str| effects.summary.iter().any(|it| it.starts_with(text));
    for text in
        ["1 pod told to stop at once", "1 pod created", "1 pod bound to a node", "1 pod became ready 2", "1 pod gone"]
    {
        assert!(has(text), "{text}: {:#?}", effects.summary);
    }
    assert_eq!(effects.more, 0);
    for (index, link) in effects.links.iter().enumerate() {
        let causes = view::why(&simulation, link.seq);
        assert_eq!(causes[0].seq, command, "{link:?}");
        // What it lies under is among its causes, unless that is the deletion itself.
        let above = effects.links[..index].iter().rev().find(|it| it.depth < link.depth);
        assert!(above.is_none_or(|above| causes.iter().any(|it| it.seq == above.seq)), "{link:?} under {above:?}");
    }

    let web = ObjectKey::new(Kind::Deployment, "default", "web");
    let links = why_value(&simulation, &web, &Asked::Row("replicas".into()));
    let texts = texts(&links);
    assert_eq!(texts[0], format!("You deleted pod {victim}"));
    assert!(
        texts.iter().any(|it| it.starts_with("ReplicaSet compared web-") && it.ends_with(": 3 − 2 = +1")),
        "{texts:#?}"
    );
    assert!(texts.last().expect("links").contains("readyReplicas 2 → 3"), "{texts:#?}");
}

#[test]
fn much_is_told_in_numbers_and_the_nearest_of_it_one_by_one() {
    let mut simulation = Simulation::new(Scenario::with_nodes(3, 10, "16", "32Gi"));
    play::apply(&mut simulation, &play::workload("Deployment", "many", "app:v1", "replicas: 1"));
    play::run_for(&mut simulation, 20_000);
    let command = simulation.trace().last_seq().0 + 1;
    play::scale(&mut simulation, Kind::Deployment, "many", 101);
    play::run_for(&mut simulation, 60_000);
    let effects = view::led_to(&simulation, command);
    for text in
        ["100 pods created, the last ", "100 pods bound to nodes, the last ", "100 pods became ready, the last "]
    {
        assert!(effects.summary.iter().any(|it| it.starts_with(text)), "{text}: {:#?}", effects.summary);
    }
    assert_eq!((effects.links.len(), effects.more > 300), (40, true), "{}", effects.more);
    assert!(effects.links.iter().all(|it| it.depth <= 3), "the nearest");
    assert_eq!(view::led_to(&simulation, u64::MAX), view::Effects::default());
}

#[test]
fn silence_and_its_end_are_told_by_the_machine_that_they_are_about() {
    let simulation = script::end_of("nodes");
    for (node, command) in
        [("node-2", "You joined node-2 to the network again"), ("node-3", "You restored node node-3")]
    {
        let inspection = view::inspect(&simulation, &ObjectKey::node(node)).expect("it is there");
        let texts = texts(&inspection.why);
        assert_eq!(texts[0], command, "{texts:#?}");
        assert!(texts.iter().any(|it| it.ends_with(&format!("{node} is back: its pods may stay"))), "{texts:#?}");
    }
}

#[test]
fn a_condition_that_tells_of_a_refusal_says_whose() {
    let mut simulation = play::world(play::scenario());
    play::apply(
        &mut simulation,
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: 2}}\n",
    );
    play::run_for(&mut simulation, 2_000);
    play::apply(&mut simulation, &play::workload("Deployment", "web", "app:v1", "replicas: 3"));
    play::run_for(&mut simulation, 5_000);
    let set = simulation.api().objects().of_kind(Kind::ReplicaSet).next().expect("its set").key();
    let web = ObjectKey::new(Kind::Deployment, "default", "web");
    for key in [&set, &web] {
        let links = why_value(&simulation, key, &Asked::Condition("ReplicaFailure".into()));
        let texts = texts(&links);
        assert_eq!(texts[0], "You applied Deployment web");
        let is_refusal =
            |it: &&str| it.starts_with("The API server refused: 403 ") && it.contains("exceeded quota: few");
        // The Deployment's turn had another reason first: it was tried again after a conflict.
        assert!(*key == web || texts.iter().any(is_refusal), "{texts:#?}");
        assert!(texts.last().expect("links").contains("ReplicaFailure True"), "{texts:#?}");
    }
}
