//! Another branch at the time that is shown: its own map, to compare.

use loopscope_engine::view::{NodeCard, PodClass, PodRow};
use loopscope_engine::world::Sample;

use crate::atoms::{clock, icon, pod_icon, signed};
use crate::session::{Other, session};
use crate::ui::{State, View, each, memo, view, when};

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
            {curves(other)}
            <ul class="nodes">{each(nodes, key, card_view)}</ul>
        </section>
    }
}

const WIDTH: u64 = 600;
const HEIGHT: u64 = 40;

/// The ready pods of both branches on one axis.
fn curves(other: State<Option<Other>>) -> View {
    let drawn = memo(move || other.with(|it| it.as_ref().map_or_else(Default::default, shapes)));
    let shape = move |index: usize| move || drawn.with(|it: &[String; 3]| it[index].clone());
    let name =
        |which: usize| memo(move || other.with(|it| it.as_ref().map_or_else(String::new, |it| legend(it, which))));
    let (here, there) = (name(0), name(1));
    let label = move || ["Ready pods: ", here.get().as_str(), "; ", there.get().as_str()].concat();
    view! {
        <figure class="curves">
            <svg viewBox="0 -2 600 44" preserveAspectRatio="none" role="img" aria-label=label>
                <path class="want" d={shape(0)}></path>
                <path class="there" d={shape(2)}></path>
                <path class="curve" d={shape(1)}></path>
            </svg>
            <figcaption><span class="key-here">{move || here.get()}</span> <span class="key-there">{move || there.get()}</span></figcaption>
        </figure>
    }
}

/// `here 3 ready`, and the least there was.
fn legend(other: &Other, which: usize) -> String {
    let curve = &other.curves[which];
    let last = curve.last().map_or(0, |it| it.ready);
    let least = curve.iter().map(|it| it.ready).min().unwrap_or(0);
    let title = if which == 0 { "here" } else { other.title.as_str() };
    [title, " ", &last.to_string(), " ready, at least ", &least.to_string()].concat()
}

/// What is wanted here, and what is ready here and there, in steps.
fn shapes(other: &Other) -> [String; 3] {
    let [here, there] = &other.curves;
    let span = other.to_ms.saturating_sub(other.from_ms).max(1);
    let highest = here.iter().chain(there).map(|it| it.want.max(it.ready)).max().unwrap_or(1).max(1) as u64;
    let x = |ms: u64| (ms.clamp(other.from_ms, other.to_ms) - other.from_ms) * WIDTH / span;
    let y = |n: i32| HEIGHT - n.max(0) as u64 * HEIGHT / highest;
    let line = |steps: &[Sample], of: fn(&Sample) -> i32| {
        let mut line = String::new();
        for (index, step) in steps.iter().enumerate() {
            let until = steps.get(index + 1).map_or(other.to_ms, |next| next.at.0);
            let (from, to, y) = (x(step.at.0).to_string(), x(until).to_string(), y(of(step)).to_string());
            let join = if line.is_empty() { "M" } else { "L" };
            line.push_str(&[join, &from, " ", &y, "L", &to, " ", &y].concat());
        }
        line
    };
    [line(here, |it| it.want), line(here, |it| it.ready), line(there, |it| it.ready)]
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
    let part = |(class, n): &(PodClass, usize)| [n.to_string().as_str(), " ", class.name()].concat();
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
