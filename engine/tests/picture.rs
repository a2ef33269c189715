//! The picture of all loops shows what the simulation really has on its way, and where.

use loopscope_engine::client::What;
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::view::{self, ChipState, Picture, Travel, TravelKind};
use loopscope_engine::world::{Command, Scenario, Simulation};

fn healthy() -> Simulation {
    let mut simulation = Simulation::new(Scenario::self_healing());
    assert!(simulation.run_until(Time(60_000), 1_000_000));
    simulation
}

/// Runs on by single milliseconds until the picture shows such a travel.
#[track_caller]
fn until(simulation: &mut Simulation, is_so: impl Fn(&Picture, &Travel) -> bool) -> (Picture, Travel) {
    for _ in 0..5_000 {
        let picture = view::picture(simulation);
        if let Some(travel) = picture.travels.iter().find(|it| is_so(&picture, it)) {
            return (picture.clone(), travel.clone());
        }
        simulation.run_until(Time(simulation.now().0 + 1), 1_000_000);
    }
    panic!("it never is so: {:?}", view::picture(simulation));
}

fn name(picture: &Picture, travel: &Travel) -> String {
    picture.stations[travel.station].name.clone()
}

#[test]
fn a_request_its_answer_and_the_watch_event_are_where_their_time_has_them() {
    let mut scenario = Scenario::self_healing();
    (scenario.latency.request, scenario.latency.answer, scenario.latency.watch) = (8, 4, 10);
    let mut simulation = Simulation::new(scenario);
    let is_create = |it: &Travel| it.kind == TravelKind::Request && it.text.starts_with("POST replicasets");
    let (picture, sent) = until(&mut simulation, |_, it| is_create(it));
    assert_eq!((name(&picture, &sent), sent.percent), ("Deployment".into(), 0));
    assert_eq!(picture.said, "On their way: 1 request");
    assert_eq!(sent.sentence(&picture.stations), format!("Deployment asks: {}, 0% of the way", sent.text));

    let began = simulation.now();
    simulation.run_until(began + Millis(2), 1_000);
    let later = view::picture(&simulation).travels.into_iter().find(is_create).unwrap();
    assert_eq!((later.percent, later.id), (25, sent.id));

    // At 8 ms it arrives: its answer turns back, and the write sets out to those who watch.
    simulation.run_until(began + Millis(9), 1_000);
    let picture = view::picture(&simulation);
    let answer = picture.travels.iter().find(|it| it.kind == TravelKind::Answer).unwrap();
    assert_eq!((answer.percent, name(&picture, answer)), (25, "Deployment".into()));
    let hear: Vec<_> = picture.travels.iter().filter(|it| it.kind == TravelKind::Watch).collect();
    let heard: Vec<_> = hear.iter().map(|it| (name(&picture, it), it.percent)).collect();
    assert_eq!(heard, [("Controller manager".to_owned(), 10), ("Scheduler".to_owned(), 10)], "{hear:?}");
    assert!(hear[0].text.starts_with("ReplicaSet web-") && hear[0].text.ends_with("is new"), "{hear:?}");

    // What is drawn as delivered has been delivered, and not before.
    let version = simulation.api().version();
    let manager = |simulation: &Simulation| simulation.processes()[0].version;
    simulation.run_until(began + Millis(17), 1_000);
    assert!(manager(&simulation) < version);
    simulation.run_until(began + Millis(18), 1_000);
    assert!(manager(&simulation) >= version);
}

#[test]
fn every_travel_of_a_run_ends_where_it_was_going() {
    let mut simulation = healthy();
    let pod = simulation.api().objects().of_kind(loopscope_engine::api::Kind::Pod).next().unwrap().key();
    assert!(simulation.dispatch(Command::delete((&pod).into())).is_ok());
    let from = simulation.trace().last_seq();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..20_000 {
        for travel in view::picture(&simulation).travels {
            let last = seen.insert(travel.id.clone(), travel.percent);
            assert!(last.is_none_or(|last| last <= travel.percent), "{travel:?} goes back");
        }
        simulation.run_until(Time(simulation.now().0 + 1), 1_000_000);
    }
    let wrote = |event: &loopscope_engine::sim::TraceEvent<What>| {
        event.seq > from && matches!(event.what, What::Wrote { .. } | What::Refused { .. })
    };
    // The person's own request takes no time.
    let requests = simulation.trace().all_events().filter(wrote).count() - 1;
    let drawn = seen.keys().filter(|id| id.starts_with('r')).count();
    assert!(drawn > 20 && drawn.abs_diff(requests) <= 2, "{drawn} drawn of {requests}");
}

#[test]
fn what_a_cut_off_kubelet_asks_is_lost_until_it_gives_up() {
    let mut simulation = healthy();
    assert!(simulation.dispatch(Command::CutNode { node: "node-1".into() }).is_ok());
    let (picture, lost) = until(&mut simulation, |_, it| it.kind == TravelKind::Lost);
    assert_eq!((name(&picture, &lost), lost.is_background), ("Kubelet node-1".into(), true));
    let row = view::frame(&simulation).loops.into_iter().find(|row| row.name == "Kubelet node-1").unwrap();
    assert!(row.cache.is_cut && row.cache.seen <= row.cache.store, "{row:?}");
}

#[test]
fn when_nothing_is_on_its_way_it_says_what_all_wait_for() {
    let mut simulation = healthy();
    let quiet = |simulation: &Simulation| view::picture(simulation).travels.is_empty();
    while !quiet(&simulation) {
        simulation.run_until(Time(simulation.now().0 + 1), 1_000);
    }
    let said = view::picture(&simulation).said;
    assert!(said.starts_with("Nothing is on its way: every loop waits for its watch. "), "{said}");
    assert!(said.contains("in ") && said.ends_with('.'), "{said}");
    let begin = view::picture(&Simulation::new(Scenario::self_healing()));
    let news: Vec<_> = begin.travels.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(news, ["Deployment web is new"], "what the first lists hold is no news");
}

#[test]
fn many_kubelets_are_one_station_and_idle_controllers_none() {
    let few = view::picture(&healthy());
    let names: Vec<_> = few.stations.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[..3], ["Controller manager", "Deployment", "ReplicaSet"]);
    assert!(names.contains(&"Kubelet node-3") && !names.contains(&"StatefulSet"), "{names:?}");
    let mut simulation = Simulation::new(Scenario { manifest: few_pods(), ..Scenario::with_nodes(1, 40, "4", "8Gi") });
    let is_theirs =
        |picture: &Picture, it: &Travel| name(picture, it) == "40 kubelets" && it.kind == TravelKind::Request;
    let (picture, asked) = until(&mut simulation, is_theirs);
    assert_eq!(picture.stations.iter().filter(|it| it.name.contains("ubelet")).count(), 1);
    assert!(asked.text.contains("leases") || asked.text.contains("nodes") || asked.text.contains("pods"), "{asked:?}");
}

fn few_pods() -> String {
    Scenario::self_healing().manifest
}

#[test]
fn a_row_tells_how_far_its_cache_is_behind_and_what_its_queue_waits_for() {
    let mut simulation = healthy();
    let row = |simulation: &Simulation, name: &str| {
        view::frame(simulation).loops.into_iter().find(|row| row.name == name).unwrap()
    };
    let still = row(&simulation, "ReplicaSet");
    assert_eq!((still.cache.seen, still.cache.behind), (still.cache.store, 0));
    assert_eq!(still.watches, "replicasets, pods");
    let pod = simulation.api().objects().of_kind(loopscope_engine::api::Kind::Pod).next().unwrap().key();
    simulation.dispatch(Command::delete((&pod).into()));
    let behind = row(&simulation, "ReplicaSet");
    assert_eq!((behind.cache.seen + 1, behind.cache.behind), (behind.cache.store, 1));
    simulation.run_until(Time(simulation.now().0 + simulation.watch_lag().0), 1_000);
    assert_eq!(row(&simulation, "ReplicaSet").cache.behind, 0);

    let mut in_flight = false;
    for _ in 0..200 {
        simulation.run_until(Time(simulation.now().0 + 1), 1_000);
        in_flight |= row(&simulation, "ReplicaSet").queue.iter().any(|chip| chip.state == ChipState::InFlight);
    }
    assert!(in_flight, "its request was in flight at some time");
}

#[test]
fn a_key_that_failed_counts_down_its_back_off() {
    let mut simulation = healthy();
    let manifest = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few}\nspec: {hard: {pods: '3'}}\n".to_owned();
    assert!(simulation.dispatch(Command::Apply { manifest }).is_ok());
    simulation.run_until(Time(65_000), 1_000_000);
    let target = (&view::first_key(&simulation).unwrap()).into();
    assert!(simulation.dispatch(Command::Scale { target, replicas: 4 }).is_ok());
    simulation.run_until(Time(67_000), 1_000_000);
    let chip = |simulation: &Simulation| {
        let row = view::frame(simulation).loops.into_iter().find(|row| row.name == "ReplicaSet").unwrap();
        row.queue.into_iter().find(|chip| chip.state == ChipState::BackOff).expect("it is refused again and again")
    };
    let first = chip(&simulation).left.unwrap();
    assert!(first.left_ms <= first.total_ms && first.total_ms >= 640, "it doubles from 5 ms: {first:?}");
    simulation.run_until(Time(67_100), 1_000_000);
    let later = chip(&simulation);
    assert_eq!(later.left.unwrap().total_ms, first.total_ms);
    assert!(later.left.unwrap().left_ms < first.left_ms, "{later:?}");
    assert!(later.wait.ends_with('s'), "{later:?}");
}
