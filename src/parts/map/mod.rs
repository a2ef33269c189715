//! Where the pods are, or whose.

mod crowd;
mod keys;
mod node;
mod owner;
mod pages;
mod pod;
mod table;

use loopscope_engine::api::Kind;
use loopscope_engine::view::Convergence;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event};

use super::deeds::switch_table;
use super::outlook;
use crate::atoms::{icon, plural, yes};
use crate::session::{NodeEntry, Part, Session, session};
use crate::ui::{At, State, View, each, memo, view, when};
use node::{legend, node_view, unscheduled};
use owner::owner_view;

pub fn map() -> View {
    let session = session();
    let board = session.board;
    let list = At::<Element>::new();
    let counts = move || {
        let pods = plural(board.n_pods.get(), "pod", "pods");
        let n = board.n_nodes.get();
        let cards = if is_by_owner(session) { plural(n, "owner", "owners") } else { plural(n, "node", "nodes") };
        [pods.as_str(), ", ", cards.as_str()].concat()
    };
    let simple = session.is_simple.get_untracked();
    let is_table = move || !simple && board.table.get();
    let has_room = move || board.room.with(Option::is_some);
    let is_empty = move || board.n_pods.get() == 0 && !has_room();
    view! {
        <section class="map" class:is-room=has_room id="map" tabindex="-1" aria-labelledby="h-map">
            <div class="panel-h">
                <h2 class="h" id="h-map">{move || if has_room() { "Room" } else { "Map" }}</h2><span class="sub map-count">{counts}</span>
                <ul class="legend" aria-label="Pods by state">{move || board.counts.with(legend)}</ul>
                {(!simple).then(|| acts(session))}
            </div>
            {when(has_room, super::room::room)}
            {when(is_empty, empty)}
            {when(is_table, table::table)}
            {when(move || is_table() && board.is_crowd.get(), pages::pages)}
            {when(move || !is_table() && board.is_crowd.get(), crowd::crowd)}
            {when(move || !is_table() && !board.is_crowd.get(), move || tiles(session, list))}
            {super::beside()}
            {(!simple).then(|| foot(session))}
        </section>
    }
}

/// Below all else, so that nothing moves when something is said.
fn foot(session: Session) -> View {
    let board = session.board;
    let text = memo(move || if board.outlook.with(Option::is_some) { "" } else { hint(session) });
    view! {
        <div class="map-foot">
            <p class="map-hint" hidden={move || text.with(|it| it.is_empty())}>{move || text.get()}</p>
            {outlook()}
        </div>
    }
}

fn acts(session: Session) -> View {
    let board = session.board;
    view! {
        <div class="map-acts">
            {switch("group", "Group pods by", board.by_owner, ["node", "owner"], Session::group_by_owner)}
            {switch("show", "Show the map as", board.truth, ["reported", "truth"], Session::show_truth)}
            <button class="btn btn-s btn-quiet" type="button" on:click={move |_| session.add_node()}>
                {icon("i i12", "#i-plus")}"Add node"
            </button>
            <button
                class="btn btn-s btn-quiet" type="button" title="Show as table (T)" aria-pressed={move || yes(board.table.get())}
                on:click={move |_| switch_table(session)}
            >"Table"</button>
        </div>
    }
}

/// One of two ways.
fn switch(
    name: &'static str,
    label: &'static str,
    is: State<bool>,
    words: [&'static str; 2],
    choose: fn(Session, bool),
) -> View {
    let session = session();
    let choice = |second: bool| {
        view! {
            <button type="button" aria-pressed={move || yes(is.get() == second)} on:click={move |_| choose(session, second)}>
                {words[usize::from(second)]}
            </button>
        }
    };
    view! {
        <span class="opt"><span aria-hidden="true">{name}</span><span class="seg" role="group" aria-label=label>{[false, true].map(choice)}</span></span>
    }
}

fn is_by_owner(session: Session) -> bool {
    session.board.by_owner.get() && !session.is_simple.get()
}

/// What tells a card from all others.
fn card_id(card: &NodeEntry) -> String {
    [card.key.kind.name(), &card.key.namespace, &card.key.name].join("/")
}

fn card_view(card: NodeEntry) -> View {
    if card.key.kind == Kind::Node { node_view(card) } else { owner_view(card) }
}

fn tiles(session: Session, list: At<Element>) -> View {
    let board = session.board;
    view! {
            <ul
                class="nodes" at=list
                on:keydown={move |event| keys::on_key(session, list, event.unchecked_ref())}
            >
                {each(move || board.nodes.get(), card_id, card_view)}
                {unscheduled()}
            </ul>
    }
}

/// The next thing to try, until something has been tried.
fn hint(session: Session) -> &'static str {
    let board = session.board;
    let converged = board.summary.with(|it| it.convergence == Convergence::Converged);
    if board.meddled.get() || !session.transport.started.get() || !converged || session.is_taught() {
        return "";
    }
    "Now press a pod and delete it, or kill a node"
}

fn empty() -> View {
    let session = session();
    let asked = move || session.board.summary.with(|it| it.want > 0);
    let open = move |_: Event| {
        session.open(Part::Manifest);
        crate::platform::next_frame(|| crate::platform::focus_by_id("editor"));
    };
    view! {
        <div class="empty">
            <span class="empty-shapes">{[(); 3].map(|_| icon("i i20 s-pending", "#pod-pending"))}</span>
            <p><b>"No pods."</b> " " {move || if asked() { "The loops have not run yet: press play." } else { "Nothing asks for any. Apply a Deployment." }}</p>
            {when(
                move || !asked() && !session.is_embedded,
                move || view! { <button class="btn btn-s" type="button" on:click=open>"Open the manifest"</button> },
            )}
        </div>
    }
}
