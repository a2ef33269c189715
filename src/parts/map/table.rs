use loopscope_engine::view::PodClass;
use wasm_bindgen::JsCast;
use web_sys::Element;

use super::keys;
use super::node::{node_shape, node_stop};
use super::pod::rover;
use crate::atoms::{icon_of, pod_icon};
use crate::session::{NodeEntry, PodEntry, session};
use crate::ui::{At, State, View, each, memo, view, when};

/// The map as a table: the same pods in the same order, with what kubectl prints.
pub fn table() -> View {
    let list = At::<Element>::new();
    let session = session();
    let board = session.board;
    view! {
        <div class="twin" at=list on:keydown={move |event| keys::on_key(session, list, event.unchecked_ref())}>
            <table class="cmp">
                <caption class="sr">"Pods by node"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Pod"</th><th scope="col">"State"</th><th scope="col">"STATUS"</th>
                        <th scope="col">"READY"</th><th scope="col">"RESTARTS"</th>
                    </tr>
                </thead>
                {each(move || board.nodes.get(), |node| node.key.name.to_string(), node_rows)}
                {when(move || board.unscheduled.with(|it| !it.is_empty()), unscheduled_rows)}
            </table>
        </div>
    }
}

fn node_rows(node: NodeEntry) -> View {
    let session = session();
    let card = State::from(node.card);
    let pods = State::from(node.pods);
    let key = node.key.clone();
    let said = move || card.with(|it| it.message.clone().or_else(|| it.last_heard.clone()));
    view! {
        <tbody>
            <tr class="twin-node">
                <th scope="rowgroup">
                    <button class="link" type="button" tabindex={node_stop()} on:click={move |_| session.select(key.clone())}>{node.key.name.to_string()}</button>
                </th>
                <td><span class="tag">{icon_of(|| "i i14", node_shape(card))}{move || card.with(|it| it.word.clone())}</span></td>
                <td class="sub" colspan="3">{said}</td>
            </tr>
            {each(move || pods.get(), |pod| pod.uid.to_string(), pod_row)}
        </tbody>
    }
}

fn unscheduled_rows() -> View {
    let board = session().board;
    view! {
        <tbody>
            <tr class="twin-node">
                <th scope="rowgroup">"No node"</th><td></td>
                <td class="sub" colspan="3">{move || board.unscheduled_message.get()}</td>
            </tr>
            {each(move || board.unscheduled.get(), |pod| pod.uid.to_string(), pod_row)}
        </tbody>
    }
}

fn pod_row(pod: PodEntry) -> View {
    let session = session();
    let PodEntry { uid, row } = pod;
    let row = State::from(row);
    let class = memo(move || row.with(|row| row.class));
    let is_yours = move || row.with(|row| row.is_yours);
    let off = move || !matches!(class.get(), PodClass::Ready | PodClass::Completed);
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
            </td>
            <td class="mono">{move || row.with(|row| row.status.clone())}</td>
            <td>{move || row.with(|row| row.ready.clone())}</td>
            <td>{move || row.with(|row| row.restarts.to_string())}</td>
        </tr>
    }
}
