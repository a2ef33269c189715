//! Requests on their way to the endpoints of a Service. Each mark stands for so many of them and moves as they are
//! counted: while time stands still, so do they. The table below says the same in words.

use loopscope_engine::view::LoadView;

use super::plot::{permille, thousandths};
use crate::session::session;
use crate::ui::{Derived, View, each, memo, view, when};

/// So many endpoints have a wire; the table has all.
const MOST: usize = 8;
/// At most so many marks set out in a virtual second.
const MOST_A_SECOND: u64 = 4;
/// From one mark to the next, in CSS pixels, and the steps in which they move.
const GAP: u64 = 24;
const STEPS: u64 = 48;

/// What a wire shows: requests a second that arrive and that are lost, in thousandths, and how far marks have come.
#[derive(Clone, PartialEq)]
struct Wire {
    name: String,
    served: u64,
    lost: u64,
    cause: &'static str,
    is_routed: bool,
    steps: [u64; 2],
}

#[derive(Clone, PartialEq, Default)]
struct Flow {
    wires: Vec<Wire>,
    more: usize,
    /// So many requests a mark stands for.
    each: u64,
    words: String,
}

pub fn flow() -> View {
    let load = session().trouble.flow;
    let flow = memo(move || load.with(|it| it.as_ref().map(Flow::of)));
    view! { {when(move || flow.with(Option::is_some), move || shown(flow))} }
}

impl Flow {
    fn of(it: &LoadView) -> Self {
        let each = unit(it.amount);
        let steps = |sum: u64| sum * STEPS / (each * 1_000) % STEPS;
        let wires = it.endpoints.iter().filter(|it| it.is_routed || it.lost > 0).map(|end| Wire {
            name: end.pod.name.to_string(),
            served: end.served,
            lost: end.lost,
            cause: end.cause.filter(|_| end.lost > 0).unwrap_or_default(),
            is_routed: end.is_routed,
            steps: [steps(end.served_in_all), steps(end.lost_in_all)],
        });
        let mut wires: Vec<Wire> = wires.collect();
        let (n, more) = (wires.len(), wires.len().saturating_sub(MOST));
        wires.truncate(MOST);
        if n == 0 && it.amount > 0 {
            let lost = it.losses.first().map_or(0, |it| it.total);
            let (name, cause) = ("nobody".to_owned(), "no endpoint");
            wires.push(Wire { name, served: 0, lost: it.amount, cause, is_routed: false, steps: [0, steps(lost)] });
        }
        let ends = if n == 1 { " endpoint" } else { " endpoints" };
        let rate = it.success.map_or_else(String::new, |it| [", ", &permille(it), " answered"].concat());
        let words = [&thousandths(it.amount), " requests a second to ", &n.to_string(), ends, &rate].concat();
        Self { wires, more, each, words }
    }
}

/// Of how many requests there is a mark: one, two, five, ten and so on, so that few set out in a second.
fn unit(amount: u64) -> u64 {
    let mut tens = 1;
    loop {
        let fits = [tens, tens * 2, tens * 5].into_iter().find(|it| amount <= it * MOST_A_SECOND * 1_000);
        match fits {
            Some(each) => return each,
            None => tens *= 10,
        }
    }
}

fn shown(flow: Derived<Option<Flow>>) -> View {
    let names = memo(move || {
        flow.with(|it| it.iter().flat_map(|it| &it.wires).map(|wire| wire.name.clone()).collect::<Vec<String>>())
    });
    let words = memo(move || flow.with(|it| it.as_ref().map_or_else(String::new, |it| it.words.clone())));
    let legend = memo(move || flow.with(|it| it.as_ref().map_or((1, 0), |it| (it.each, it.more))));
    let each_words = move || match legend.get().0 {
        1 => "each mark is a request".to_owned(),
        n => ["each mark is ", &n.to_string(), " requests"].concat(),
    };
    let more = move || match legend.get().1 {
        0 => String::new(),
        n => [" and ", &n.to_string(), " more in the table"].concat(),
    };
    view! {
        <figure class="flow">
            <figcaption class="sub">{move || words.get()}</figcaption>
            <ul class="flow-wires" aria-hidden="true">{each(move || names.get(), Clone::clone, move |name| wire(name, flow))}</ul>
            <p class="sub flow-key" aria-hidden="true"><span class="moving">{each_words}": dots arrive, bars are lost"</span>{more}</p>
        </figure>
    }
}

fn wire(name: String, flow: Derived<Option<Flow>>) -> View {
    let own = name.clone();
    let it = memo(move || flow.with(|it| it.iter().flat_map(|it| &it.wires).find(|wire| wire.name == own).cloned()));
    let offset = move |at: usize| {
        move || it.with(|it| it.as_ref().map(|it| ["-", &(it.steps[at] * GAP / STEPS).to_string()].concat()))
    };
    let is_served = memo(move || it.with(|it| it.as_ref().is_some_and(|it| it.served > 0)));
    let is_lost = memo(move || it.with(|it| it.as_ref().is_some_and(|it| it.lost > 0)));
    let figures = memo(move || {
        it.with(|it| {
            it.as_ref().map_or_else(String::new, |it| match it.lost {
                0 => [&thousandths(it.served), "/s"].concat(),
                lost => [&thousandths(it.served), "/s, lost ", &thousandths(lost), "/s ", it.cause].concat(),
            })
        })
    });
    let is_gone = move || it.with(|it| it.as_ref().is_some_and(|it| !it.is_routed));
    let served = move || {
        let offset = offset(0);
        view! { <line class="mark-ok moving" x1="0" x2="100%" y1="5" y2="5" stroke-dashoffset=offset></line> }
    };
    let lost = move || {
        let offset = offset(1);
        view! { <line class="mark-lost moving" x1="0" x2="100%" y1="11" y2="11" stroke-dashoffset=offset></line> }
    };
    view! {
        <li class:is-gone=is_gone class:has-lost={move || is_lost.get()}>
            <svg class="flow-wire" height="16">
                <line class="rail" x1="0" x2="100%" y1="8" y2="8"></line>
                {when(move || is_served.get(), served)}
                {when(move || is_lost.get(), lost)}
            </svg>
            <span class="mono clip">{name}</span><span class="sub">{move || figures.get()}</span>
        </li>
    }
}
