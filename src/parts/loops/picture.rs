//! All loops at once, around the API server: requests go to it, answers and watch events come from it.

use loopscope_engine::view::{Station, Travel, TravelKind};
use web_sys::Event;

use crate::atoms::{icon_of, yes};
use crate::session::{LoopEntry, session};
use crate::ui::{Derived, State, View, each, memo, view, when};

const PHASES: [[&str; 2]; 3] =
    [["#ph-observe", "#ph-observe-on"], ["#ph-diff", "#ph-diff-on"], ["#ph-act", "#ph-act-on"]];

pub fn picture() -> View {
    let board = session().board;
    let picture = board.picture;
    let stations = memo(move || picture.with(|it| it.stations.clone()));
    // What is pointed at or has the focus.
    let at = State::new(None::<String>);
    let said = move || {
        picture.with(|it| match at.get().and_then(|id| it.travels.iter().find(|travel| travel.id == id)) {
            Some(travel) => travel.sentence(&it.stations),
            None => it.said.clone(),
        })
    };
    let side = move |is_controller: bool, label: &'static str| {
        let here = move || {
            stations.with(|all| {
                all.iter().cloned().enumerate().filter(|(_, it)| it.is_controller == is_controller).collect()
            })
        };
        view! {
            <ol class="pic-side" class:is-right={!is_controller} aria-label=label>
                {each(here, |(at, it): &(usize, Station)| [at.to_string().as_str(), &it.name].concat(), move |(index, it)| station_view(index, it, stations, at))}
            </ol>
        }
    };
    let twin =
        move || picture.with(|it| it.travels.iter().map(|travel| travel.sentence(&it.stations)).collect::<Vec<_>>());
    view! {
        <div class="pic">
            {side(true, "Controllers")}
            <p class="pic-api"><b>"API server"</b><span class="sub">"rv " {move || board.store.with(|it| it.resource_version)}</span></p>
            {side(false, "Scheduler and kubelets")}
        </div>
        <p class="pic-said">{said}</p>
        <ul class="sr" aria-label="On their way">
            {move || twin().into_iter().map(|text| view! { <li>{text}</li> }).collect::<View>()}
        </ul>
    }
}

/// A loop, or what stands for many, and its two wires: requests on the upper, what comes back on the lower.
fn station_view(index: usize, station: Station, stations: Derived<Vec<Station>>, at: State<Option<String>>) -> View {
    let board = session().board;
    let of = station.of;
    // As a row of its own: the lights belong to what shows them.
    let entry = memo(move || board.loops.with(|rows| rows.iter().find(|row| Some(row.id) == of).cloned()));
    let phases = each(
        move || entry.get().into_iter().collect(),
        |entry: &LoopEntry| entry.id.0.to_string(),
        |entry| phases(entry.lit.into()),
    );
    let is_down = move || stations.with(|all| all.get(index).is_some_and(|it| it.is_down));
    let ids = memo(move || {
        board.picture.with(|it| {
            it.travels
                .iter()
                .filter(|travel| travel.station == index)
                .map(|travel| travel.id.clone())
                .collect::<Vec<_>>()
        })
    });
    let is_right = !station.is_controller;
    let sends = station.of.is_some() || is_right;
    view! {
        <li class="pic-row" class:is-head={station.of.is_none() && !is_right} class:is-down=is_down>
            <div class="pic-id"><span class="pic-name">{station.name.clone()}</span>{phases}</div>
            <svg class="wires" role="group" aria-label={["Between ", &station.name, " and the API server"].concat()}>
                {when(move || sends, || view! { <line class="wire-r" x1="0" x2="100%" y1="32%" y2="32%"></line> })}
                <line class="wire-w" x1="0" x2="100%" y1="68%" y2="68%"></line>
                {each(move || ids.get(), Clone::clone, move |id| travel_view(id, is_right, at))}
            </svg>
        </li>
    }
}

fn phases(lit: State<[bool; 3]>) -> View {
    let is_any = move || lit.get().contains(&true);
    let one = move |phase: usize| icon_of(|| "i i14", move || PHASES[phase][usize::from(lit.get()[phase])]);
    view! { <span class="pic-phases" class:on=is_any aria-hidden="true">{[0, 1, 2].map(one)}</span> }
}

/// One mark on a wire, as far along as its time has passed: an arrow that shows which way it goes.
fn travel_view(id: String, is_right: bool, at: State<Option<String>>) -> View {
    let board = session().board;
    let key = id.clone();
    let travel = memo(move || board.picture.with(|it| it.travels.iter().find(|travel| travel.id == key).cloned()));
    let with = move |read: fn(&Travel) -> bool| travel.with(|it| it.as_ref().is_some_and(read));
    let is_out = move || with(|it| it.kind.is_outward());
    let x = move || {
        let percent = travel.with(|it| it.as_ref().map_or(0, |it| it.percent));
        // From the left to the middle, or back.
        let from_left = if is_out() == is_right { 100 - percent } else { percent };
        [(4 + u32::from(from_left) * 92 / 100).to_string().as_str(), "%"].concat()
    };
    let y = move || if is_out() { "32%" } else { "68%" };
    let shape = move || match (with(|it| it.kind == TravelKind::Lost), is_out() == is_right) {
        (true, _) => "M-5-5 5 5M5-5-5 5",
        (_, true) => "M5-5-6 0 5 5z",
        _ => "M-5-5 6 0-5 5z",
    };
    let label = move || {
        board
            .picture
            .with(|it| travel.with(|travel| travel.as_ref().map(|travel| travel.sentence(&it.stations))))
            .unwrap_or_default()
    };
    let count = move || travel.with(|it| it.as_ref().filter(|it| it.count > 1).map(|it| it.count.to_string()));
    let own = id.clone();
    let enter = move |_: Event| at.put(Some(own.clone()));
    let enter_too = enter.clone();
    let leave = move |_: Event| at.put(None);
    view! {
        <svg
            class="travel" x=x y=y overflow="visible" tabindex="0" role="img" aria-label=label
            class:is-hum={move || with(|it| it.is_background)} class:is-watch={move || with(|it| it.kind == TravelKind::Watch)}
            class:is-bad={move || with(|it| matches!(it.kind, TravelKind::Refusal | TravelKind::Lost))}
            data-marked={move || yes(at.with(|at| at.as_deref() == Some(id.as_str())))}
            on:pointerenter=enter on:focus=enter_too on:pointerleave=leave on:blur=leave
        >
            <circle class="travel-hit" r="12"></circle>
            <path d=shape></path>
            <text y="-8" text-anchor="middle">{count}</text>
        </svg>
    }
}
