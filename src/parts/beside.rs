//! Another branch at the time that is shown: its own map, to compare.

use loopscope_engine::view::{NodeCard, PodRow};

use crate::atoms::{clock, icon, pod_class_name, pod_icon, signed};
use crate::session::{Other, session};
use crate::ui::{View, each, memo, view, when};

pub fn beside() -> View {
    let session = session();
    let is_there = memo(move || session.past.other.with(Option::is_some));
    when(move || is_there.get(), shown)
}

fn shown() -> View {
    let session = session();
    let other = session.past.other;
    let text = |read: fn(&Other) -> String| memo(move || other.with(|it| it.as_ref().map_or_else(String::new, read)));
    let title = text(|it| it.title.clone());
    let sizes = text(sizes);
    let crowd = text(|it| if it.map.is_crowd { counts(it) } else { String::new() });
    let nodes = move || other.with(|it| it.as_ref().map_or_else(Vec::new, cards));
    let go = move |_| {
        if let Some(id) = session.past.beside.get_untracked() {
            session.go_to_branch(id);
        }
    };
    view! {
        <section class="beside" aria-labelledby="h-beside">
            <div class="panel-h">
                <h3 class="h" id="h-beside">{move || title.get()}</h3>
                <span class="sub">{move || ["at ", clock(session.transport.now_ms.get()).as_str()].concat()}</span>
                <b>{move || sizes.get()}</b>
                <button class="btn btn-s" type="button" on:click=go>"Go there"</button>
                <button class="btn btn-s btn-quiet" type="button" on:click={move |_| session.lay_beside(None)}>
                    {icon("i i12", "#i-x")}"Close"
                </button>
            </div>
            <p class="node-msg" hidden={move || crowd.with(String::is_empty)}>{move || crowd.get()}</p>
            <ul class="nodes">{each(nodes, key, card_view)}</ul>
        </section>
    }
}

/// `wants 3, ready 2, −1`
fn sizes(other: &Other) -> String {
    let it = &other.summary;
    let difference = signed(it.difference());
    [
        it.subject.as_str(),
        " wants ",
        &it.want.to_string(),
        ", ready ",
        &it.ready.to_string(),
        ", difference ",
        &difference,
    ]
    .concat()
}

fn counts(other: &Other) -> String {
    let part = |(class, n): &(_, usize)| [n.to_string().as_str(), " ", pod_class_name(*class)].concat();
    other.map.counts.iter().map(part).collect::<Vec<String>>().join(", ")
}

/// A card of the map without anything to press.
#[derive(Clone)]
struct Card {
    name: String,
    word: String,
    pods: Vec<PodRow>,
}

fn cards(other: &Other) -> Vec<Card> {
    let card = |it: &NodeCard| Card { name: it.key.name.to_string(), word: it.word.clone(), pods: it.pods.clone() };
    let mut cards: Vec<Card> = other.map.nodes.iter().map(card).collect();
    if !other.map.unscheduled.is_empty() {
        cards.push(Card { name: "No node".into(), word: "unscheduled".into(), pods: other.map.unscheduled.clone() });
    }
    cards
}

fn key(card: &Card) -> String {
    let mut key = [card.name.as_str(), " ", &card.word].concat();
    for pod in &card.pods {
        key.push_str(&[" ", pod.label.as_str()].concat());
    }
    key
}

fn card_view(card: Card) -> View {
    let pod = |pod: &PodRow| {
        let (class, href) = pod_icon(pod.class);
        let name = [pod.stem.as_str(), &pod.tail].concat();
        view! { <li class="slot-in">{icon(class, href)}<span class="mono">{name}</span><span class="pod-word">{pod.word.clone()}</span></li> }
    };
    view! {
        <li class="node">
            <div class="node-h"><h4>{card.name}</h4><span class="tag grow">{card.word}</span></div>
            <ul class="pods">{card.pods.iter().map(pod).collect::<View>()}</ul>
        </li>
    }
}
