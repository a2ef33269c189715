use leptos::prelude::event_target_value;
use loopscope_engine::api::Kind;
use loopscope_engine::sim::sort_by;
use loopscope_engine::view::{Column, NodeCard, PodClass, age, compare, matches};
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::card_id;
use super::keys;
use super::node::{node_shape, node_stop};
use super::owner::{owner_title, sizes, state};
use super::pod::{node_name, reported, rover};
use crate::atoms::{icon, icon_of, plural, pod_icon};
use crate::session::{NodeEntry, PodEntry, Session, session};
use crate::ui::{At, Derived, State, View, each, memo, view};

const COLUMNS: [(Column, &str); 7] = [
    (Column::Name, "Pod"),
    (Column::State, "State"),
    (Column::Status, "STATUS"),
    (Column::Ready, "READY"),
    (Column::Restarts, "RESTARTS"),
    (Column::Age, "AGE"),
    (Column::Node, "Node"),
];

/// Rows under one heading, or under none.
#[derive(Clone, PartialEq)]
struct Group {
    head: Option<Head>,
    pods: Vec<PodEntry>,
}

#[derive(Clone, PartialEq)]
enum Head {
    Card(NodeEntry),
    NoNode,
}

/// The map as a table: the same pods in the same order, or in that of a column, with what kubectl prints.
pub fn table() -> View {
    let list = At::<Element>::new();
    let session = session();
    let board = session.board;
    let groups = memo(move || arranged(session));
    let caption = move || match (board.order.get(), board.by_owner.get()) {
        (Some(_), _) => "Pods",
        (None, true) => "Pods by owner",
        (None, false) => "Pods by node",
    };
    let n_here = move || groups.with(|all| all.iter().map(|group| group.pods.len()).sum::<usize>());
    // The table of a crowd has pages.
    let n_shown = move || if board.is_crowd.get() { board.n_listed.get() } else { n_here() };
    let said = move || {
        if board.filter.with(|it| it.trim().is_empty()) {
            return String::new();
        }
        [n_shown().to_string().as_str(), " of ", plural(board.n_pods.get(), "pod", "pods").as_str()].concat()
    };
    view! {
        <div class="find">
            <input
                type="search" class="field" aria-label="Filter pods" placeholder="Filter by name, state, node, owner" spellcheck="false"
                prop:value={move || board.filter.get()} on:input={move |event| {
                    board.filter.put(event_target_value(&event));
                    session.list_anew();
                }}
            />
            <p class="sub" role="status">{said}</p>
        </div>
        <div class="twin" class:is-flat={move || board.order.with(Option::is_some) || board.by_owner.get()} at=list on:keydown={move |event| keys::on_key(session, list, event.unchecked_ref())}>
            <table class="cmp">
                <caption class="sr">{caption}</caption>
                <thead><tr>{COLUMNS.map(|(column, name)| heading(session, column, name))}</tr></thead>
                {each(move || groups.get(), group_id, move |group| group_rows(group, groups))}
            </table>
        </div>
    }
}

/// A column's name, which orders by it: forwards, then backwards, then not.
fn heading(session: Session, column: Column, name: &'static str) -> View {
    let order = session.board.order;
    let mine = move || order.get().filter(|it| it.0 == column).map(|it| it.1);
    let sort = move || mine().map(|back| if back { "descending" } else { "ascending" });
    let turn = move |_| {
        order.put(match order.get_untracked() {
            Some((it, false)) if it == column => Some((column, true)),
            Some((it, true)) if it == column => None,
            _ => Some((column, false)),
        });
        session.list_anew();
    };
    let stop = move || if order.get().map_or(Column::Name, |it| it.0) == column { "0" } else { "-1" };
    view! {
        <th scope="col" aria-sort=sort>
            <button class="link" type="button" tabindex=stop title="Sort" on:click=turn>{name}{icon("i i12", "#i-down")}</button>
        </th>
    }
}

/// What is found, in its order. Follows the simulation's events and the turning of pages, which all changes of rows come from.
fn arranged(session: Session) -> Vec<Group> {
    let board = session.board;
    session.transport.seq.track();
    board.truth.track();
    board.page.track();
    let filter = board.filter.get();
    let is_found = |pod: &PodEntry| pod.row.with_untracked(|row| matches(row, &filter));
    let found = |pods: Vec<PodEntry>| pods.into_iter().filter(is_found).collect::<Vec<_>>();
    let cards =
        board.nodes.get().into_iter().map(|node| (Head::Card(node.clone()), node.pods.with_untracked(Vec::clone)));
    let all = cards.chain([(Head::NoNode, board.unscheduled.get())]).map(|(head, pods)| (head, found(pods)));
    let Some((column, back)) = board.order.get() else {
        // Without a filter, nodes without pods are listed too.
        let is_shown = |head: &Head, pods: &[PodEntry]| !pods.is_empty() || filter.is_empty() && *head != Head::NoNode;
        let groups = all.filter(|(head, pods)| is_shown(head, pods));
        return groups.map(|(head, pods)| Group { head: Some(head), pods }).collect();
    };
    let mut pods: Vec<PodEntry> = all.flat_map(|(_, pods)| pods).collect();
    sort_by(&mut pods, |a, b| {
        let order = a.row.with_untracked(|a| b.row.with_untracked(|b| compare(a, b, column)));
        if back { order.reverse() } else { order }
    });
    vec![Group { head: None, pods }]
}

fn group_id(group: &Group) -> String {
    match &group.head {
        Some(Head::Card(node)) => card_id(node),
        Some(Head::NoNode) => "none".into(),
        None => String::new(),
    }
}

fn group_rows(group: Group, groups: Derived<Vec<Group>>) -> View {
    let id = group_id(&group);
    let pods = move || {
        groups
            .with(|all| all.iter().find(|group| group_id(group) == id).map(|group| group.pods.clone()))
            .unwrap_or_default()
    };
    let head = match group.head {
        Some(Head::Card(node)) => card_row(State::from(node.card)),
        Some(Head::NoNode) => no_node(),
        None => View::List(Vec::new()),
    };
    view! { <tbody>{head}{each(pods, |pod| pod.uid.to_string(), pod_row)}</tbody> }
}

fn card_row(card: State<NodeCard>) -> View {
    let session = session();
    let key = card.with_untracked(|it| it.key.clone());
    if key.kind != Kind::Node {
        let said = move || {
            let message = card.with(|it| it.message.as_ref().map(|text| [". ", text].concat())).unwrap_or_default();
            sizes(card) + &message
        };
        return view! {
            <tr class="twin-node">
                <th scope="rowgroup">{owner_title(card)}</th>
                <td><span class="tag">{state(card)}{move || card.with(|it| it.word.clone())}</span></td>
                <td class="sub" colspan="5">{said}</td>
            </tr>
        };
    }
    let name = key.name.to_string();
    let said = move || card.with(|it| it.message.clone().or_else(|| it.last_heard.clone()));
    view! {
        <tr class="twin-node">
            <th scope="rowgroup">
                <button class="link" type="button" tabindex={node_stop()} on:click={move |_| session.select(key.clone())}>{name}</button>
            </th>
            <td>
                <span class="tag">{icon_of(|| "i i14", node_shape(card))}{move || card.with(|it| it.word.clone())}</span>
                {reported(move || card.with(|it| it.reported.clone()))}
            </td>
            <td class="sub" colspan="5">{said}</td>
        </tr>
    }
}

fn no_node() -> View {
    let message = session().board.unscheduled_message;
    view! {
        <tr class="twin-node">
            <th scope="rowgroup">"No node"</th><td></td>
            <td class="sub" colspan="5">{move || message.get()}</td>
        </tr>
    }
}

fn pod_row(pod: PodEntry) -> View {
    let session = session();
    let PodEntry { uid, row } = pod;
    let row = State::from(row);
    let class = memo(move || row.with(|row| row.class));
    let is_yours = move || row.with(|row| row.is_yours);
    let off = move || !matches!(class.get(), PodClass::Ready | PodClass::Completed);
    let old = memo(move || session.transport.now_ms.get().saturating_sub(row.with(|row| row.created_ms)) / 1000);
    view! {
        <tr class:is-strange=off>
            <td>
                <button
                    class="link mono" class:is-yours=is_yours type="button" data-uid={uid.to_string()} tabindex={rover(uid)}
                    on:focus={move |_| session.board.rover.set(Some(uid))}
                    on:click={move |_| session.select(row.with_untracked(|row| row.key.clone()))}
                >{move || row.with(|row| row.key.name.to_string())}</button>
            </td>
            <td>
                <span class="tag">
                    {icon_of(move || pod_icon(class.get()).0, move || pod_icon(class.get()).1)}{move || row.with(|row| row.word.clone())}
                </span>
                {reported(move || row.with(|row| row.reported.clone()))}
            </td>
            <td class="mono">{move || row.with(|row| row.status.clone())}</td>
            <td>{move || row.with(|row| row.ready.clone())}</td>
            <td>{move || row.with(|row| row.restarts.to_string())}</td>
            <td>{move || age(old.get() * 1000)}</td>
            <td>{move || node_name(row)}</td>
        </tr>
    }
}
