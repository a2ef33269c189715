use loopscope_engine::api::Name;
use loopscope_engine::view::{Convergence, NodeCard, OwnerFacts};

use super::node::node_stop;
use super::pod::pod_view;
use crate::atoms::icon_of;
use crate::session::{NodeEntry, PodEntry, session};
use crate::ui::{Content, State, View, each, memo, view, when};

/// One workload: what it wants, and its pods, those of an old template apart.
pub fn owner_view(node: NodeEntry) -> View {
    let card = State::from(node.card);
    let pods = State::from(node.pods);
    let parts = memo(move || {
        let parts = fact(card, |it| it.parts.iter().map(|part| (part.name.clone(), part.is_new)).collect::<Vec<_>>());
        // Pods of one template, or of none, are one part without a heading.
        if parts.is_empty() { vec![(Name::default(), true)] } else { parts }
    });
    let is_none = move || pods.with(Vec::is_empty);
    view! {
        <li class="node node-owner">
            <div class="node-h">
                <h3>{owner_title(card)}</h3>
                <span class="tag grow">{state(card)}<span class="clip">{move || card.with(|it| it.word.clone())}</span></span>
            </div>
            <div class="caps"><p class="caps-note">{move || sizes(card)}</p></div>
            {each(move || parts.get(), |part| [&*part.0, if part.1 { "+" } else { "-" }].concat(), move |part| part_view(card, pods, part))}
            <p class="faint node-msg" hidden={move || !is_none()}>"no pods"</p>
            {move || card.with(|it| it.message.clone()).map(|text| view! { <p class="node-msg">{text}</p> })}
        </li>
    }
}

fn fact<T>(card: State<NodeCard>, read: impl FnOnce(&OwnerFacts) -> T) -> T
where
    T: Default,
{
    card.with(|it| it.owner.as_ref().map(read)).unwrap_or_default()
}

/// The name, which leads to the inspector; bare pods are nobody's.
pub fn owner_title(card: State<NodeCard>) -> View {
    let session = session();
    let key = card.with_untracked(|it| it.key.clone());
    if key.name.is_empty() {
        return "No owner".content();
    }
    let name = key.name.to_string();
    view! {
        <button class="link" type="button" tabindex={node_stop()} title="Inspect" on:click={move |_| session.select(key.clone())}>{name}</button>
    }
}

/// The shape of how far it is.
pub fn state(card: State<NodeCard>) -> View {
    let state = memo(move || card.with(|it| it.owner.as_ref().map(|it| it.convergence)));
    let class = move || match state.get() {
        Some(Convergence::Converged) => "i i12 s-ready",
        Some(Convergence::Stuck) => "i i12 s-bad",
        _ => "i i12",
    };
    let shape = move || match state.get() {
        Some(Convergence::Converged) => "#i-check",
        Some(Convergence::Stuck) => "#i-error",
        _ => "#ring-act",
    };
    icon_of(class, shape)
}

/// `want 3, ready 2, stuck`
pub fn sizes(card: State<NodeCard>) -> String {
    card.with(|it| {
        it.owner.as_ref().map(|it| {
            let word = match it.convergence {
                Convergence::Converged => "",
                Convergence::Stuck => ", stuck",
                _ => ", converging",
            };
            ["want ", it.want.to_string().as_str(), ", ready ", it.ready.to_string().as_str(), word].concat()
        })
    })
    .unwrap_or_default()
}

fn part_view(card: State<NodeCard>, pods: State<Vec<PodEntry>>, id: (Name, bool)) -> View {
    let place = memo(move || {
        fact(card, |it| {
            let at = it.parts.iter().position(|part| (&part.name, part.is_new) == (&id.0, id.1));
            let from: usize = it.parts.iter().take(at.unwrap_or(0)).map(|part| part.n).sum();
            at.map(|at| (from, it.parts[at].clone()))
        })
    });
    let shown = move || {
        pods.with(|pods| match place.get() {
            Some((from, part)) => pods.iter().skip(from).take(part.n).cloned().collect(),
            None => pods.clone(),
        })
    };
    let heading = move || {
        place.get().map(|(_, part)| {
            let template = if part.is_new { "new template" } else { "old template" };
            let of = part.want.map(|want| [" of ", want.to_string().as_str()].concat()).unwrap_or_default();
            let sizes = [part.ready.to_string().as_str(), of.as_str(), " ready"].concat();
            view! { <b>{template}</b> " " <span class="mono clip">{part.name.to_string()}</span> " " <span class="part-n">{sizes}</span> }
        })
    };
    let label = move || {
        let which = place.with(|it| it.as_ref().map_or("", |(_, part)| if part.is_new { "new " } else { "old " }));
        let name = card.with(|it| it.key.name.to_string());
        [which, "pods of ", if name.is_empty() { "no owner" } else { name.as_str() }].concat()
    };
    view! {
        {when(move || place.with(Option::is_some), move || view! { <h4 class="part-h">{heading}</h4> })}
        <ul class="pods" aria-label=label>{each(shown, |pod| pod.uid.to_string(), pod_view)}</ul>
    }
}
