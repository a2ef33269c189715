use loopscope_engine::view::{Capacity, Counts, NodeCard, NodeClass, PodClass};
use loopscope_engine::world::Command;

use super::pod::{pod_view, reported};
use crate::atoms::{icon, icon_of, plural, pod_icon};
use crate::session::{NodeEntry, PodEntry, session};
use crate::ui::{Content, State, View, each, memo, view, when};

/// One node: what it has room for, and its pods.
pub fn node_view(node: NodeEntry) -> View {
    let NodeEntry { card, pods, arriving, .. } = node;
    let card = State::from(card);
    let pods = State::from(pods);
    let arriving = State::from(arriving);
    let is_lost = move || card.with(|it| it.class == NodeClass::Unreachable);
    let is_cordoned = move || card.with(|it| it.class == NodeClass::Cordoned);
    let label = move || card.with(|it| ["Pods on ", it.key.name.as_str()].concat());
    view! {
        <li class="node" class:node-lost=is_lost class:node-cordoned=is_cordoned>
            {head(card)}
            {capacities(card)}
            <ul class="pods" aria-label=label>
                {each(move || pods.get(), |pod| pod.uid.to_string(), pod_view)}
                {each(move || arriving.get(), |pod| pod.uid.to_string(), slot)}
            </ul>
            <p class="faint node-msg" hidden={move || pods.with(|it| !it.is_empty()) || arriving.with(|it| !it.is_empty())}>"no pods"</p>
            {move || card.with(|it| it.message.clone()).map(|text| view! { <p class="node-msg">{text}</p> })}
        </li>
    }
}

/// The shape of a node's state.
pub fn node_shape(card: State<NodeCard>) -> impl Fn() -> &'static str + Copy + Send {
    move || {
        card.with(|it| match it.class {
            // Really so, whatever is reported.
            _ if it.reported.is_some() && it.faults.is_stopped => "#i-power",
            _ if it.reported.is_some() && it.faults.is_cut => "#i-x",
            NodeClass::Ready => "#node-ready",
            _ if it.reported.is_some() => "#node-ready",
            NodeClass::NotReady => "#node-notready",
            NodeClass::Unreachable => "#node-unreachable",
            NodeClass::Cordoned => "#node-cordoned",
        })
    }
}

/// Shapes with their number and word.
pub fn legend(counts: &Counts) -> View {
    let item = |(class, n): &(PodClass, usize)| {
        let (color, shape) = pod_icon(*class);
        view! { <li>{icon(color, shape)}<b>{*n}</b><span>{class.name()}</span></li> }
    };
    counts.iter().map(item).collect()
}

/// Where there are pods, Tab leads to one of those, and arrows from there to the nodes' buttons.
pub fn node_stop() -> impl Fn() -> &'static str + Copy {
    let rover = session().board.rover;
    move || if rover.with(Option::is_some) { "-1" } else { "0" }
}

fn head(card: State<NodeCard>) -> View {
    let session = session();
    let stop = node_stop();
    let name = card.with_untracked(|it| it.key.name.to_string());
    let key = card.with_untracked(|it| it.key.clone());
    let is_stopped = memo(move || card.with(|it| it.faults.is_stopped));
    let verb = move || if is_stopped.get() { "Restore" } else { "Kill" };
    let label = {
        let name = name.clone();
        move || [verb(), " node ", name.as_str()].concat()
    };
    let switch = {
        let name = name.clone();
        move |_| match is_stopped.get_untracked() {
            true => session.meddle(Command::StartNode { node: name.clone() }),
            false => session.meddle(Command::StopNode { node: name.clone() }),
        }
    };
    let simple = session.is_simple.get_untracked();
    let title = match simple {
        true => name.content(),
        false => view! {
            <button class="link" type="button" tabindex=stop title="Inspect the node" on:click={move |_| session.select(key.clone())}>{name}</button>
        },
    };
    view! {
        <div class="node-h">
            <h3>{title}</h3>
            <span class="tag grow">
                {icon_of(|| "i i12", node_shape(card))}<span class="clip">{move || card.with(|it| it.word.clone())}</span>
            </span>
            {reported(move || card.with(|it| it.reported.clone()))}
            {(!simple).then(|| view! {
                <button class="btn btn-s btn-quiet node-switch" type="button" tabindex=stop aria-label=label on:click=switch>
                    {icon("i i12", "#i-power")}<span>{verb}</span>
                </button>
            })}
        </div>
    }
}

/// What is requested of the node, or when it was last heard.
fn capacities(card: State<NodeCard>) -> View {
    let heard = memo(move || card.with(|it| it.last_heard.clone()));
    let bars = move || {
        view! {
            {bar("cpu", "millicores", move || card.with(|it| it.cpu))}
            {bar("mem", "mebibytes", move || card.with(|it| it.memory))}
        }
    };
    view! {
        <div class="caps">
            {move || match heard.get() {
                Some(text) => view! { <p class="caps-note">{text}</p> },
                None => bars(),
            }}
        </div>
    }
}

fn bar(name: &'static str, unit: &'static str, of: impl Fn() -> Capacity + Copy + 'static) -> View {
    let used = move || {
        let Capacity { used, total } = of();
        if total <= 0 { 0 } else { (used * 100 / total).clamp(0, 100) }
    };
    let label = move || {
        let Capacity { used, total } = of();
        [name, " requested ", used.to_string().as_str(), " of ", total.to_string().as_str(), " ", unit].concat()
    };
    view! {
        <span class="cap">
            <span aria-hidden="true">{name}</span>
            <svg role="img" aria-label=label viewBox="0 0 100 8" preserveAspectRatio="none">
                <title>{label}</title>
                <rect class="cap-all" width="100" height="8"></rect>
                <rect class="cap-used" width={move || used().to_string()} height="8"></rect>
                <path class="cap-tick" d="M100 0v8" vector-effect="non-scaling-stroke"></path>
            </svg>
        </span>
    }
}

/// The place of a pod whose binding is on its way.
fn slot(pod: PodEntry) -> View {
    let row = State::from(pod.row);
    view! {
        <li class="slot">
            {icon("i i14", "#tile-pending")}
            <span class="mono"><i>{move || row.with(|it| it.stem.clone())}</i>{move || row.with(|it| it.tail.clone())}</span>
            <span class="pod-word">"arriving"</span>
        </li>
    }
}

/// Pods that no node has been chosen for.
pub fn unscheduled() -> View {
    let board = session().board;
    view! {
        {when(move || board.unscheduled.with(|it| !it.is_empty()), unscheduled_card)}
    }
}

fn unscheduled_card() -> View {
    let board = session().board;
    let count = move || {
        let n = board.unscheduled.with(Vec::len);
        [plural(n, "pod", "pods").as_str(), " without a node"].concat()
    };
    view! {
            <li class="node node-none">
                <div class="node-h"><h3>"No node"</h3><span class="tag">"unscheduled"</span></div>
                <div class="caps"><p class="caps-note">{count}</p></div>
                <ul class="pods" aria-label="Pods without a node">
                    {each(move || board.unscheduled.get(), |pod| pod.uid.to_string(), pod_view)}
                </ul>
                {move || board.unscheduled_message.get().map(|text| view! { <p class="node-msg">{text}</p> })}
            </li>
    }
}
