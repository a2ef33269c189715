//! Fights over a field: who writes what how often, what it costs, and what would end it.

use loopscope_engine::view::{Fight, Fighter};

use super::plot::{Axes, brief, plot};
use super::writers::{closer, lanes, writes};
use crate::atoms::{icon, plural};
use crate::session::session;
use crate::ui::{View, memo, view};

/// A fight is over when nobody has written for so long: four passes of an autoscaler.
const OVER_MS: u64 = 60_000;

/// A card for each fight over the object's fields.
pub fn fights() -> View {
    let session = session();
    let all = closer(|it| it.fights.clone());
    // Whole seconds, so that a frame alone draws nothing anew.
    let now = memo(move || session.transport.now_ms.get() / 1_000 * 1_000);
    let cards = move || all.with(|all| all.iter().map(|(it, cures)| card(it, cures, now.get())).collect::<View>());
    view! { {cards} }
}

fn card(it: &Fight, cures: &[(String, String)], now: u64) -> View {
    let field = it.path.trim_start_matches('.').to_owned();
    let quiet = now.saturating_sub(it.last_ms);
    let is_over = quiet >= OVER_MS;
    let state = match is_over {
        true => ["Quiet for ", &brief(quiet)].concat(),
        false => ["Fighting, ", &plural(it.turns, "turn", "turns")].concat(),
    };
    let side = |it: &Fighter| {
        let times = plural(it.writes, "write", "writes");
        view! { <li><b>{it.manager.clone()}</b><span class="sub">" wrote "<b>{it.value.clone()}</b>" last, "{times}</span></li> }
    };
    let (shape, words) = match is_over {
        true => ("i i14 s-ready", "They undid each other’s writes until then."),
        false => (
            "i i14 s-bad",
            "Each undoes what the other has just written. Neither is wrong, and neither sees the other.",
        ),
    };
    view! {
        <section class="insp-sec fight" aria-label={["Fight over ", &field].concat()}>
            <div class="sec-h">
                {icon(shape, if is_over { "#i-check" } else { "#i-error" })}
                <h3>"Fight over "<span class="mono">{field}</span></h3>
                <span class="tag">{state}</span>
            </div>
            <p class="sub">{words}</p>
            <ul class="sides">{it.writers.iter().map(side).collect::<View>()}</ul>
            {saw(it, now)}
            {lanes(&it.values)}
            {cost(it)}
            <details><summary>"All its writes"</summary>{writes(&it.values)}</details>
            {cure_list(it, cures)}
        </section>
    }
}

/// What it cost so far.
fn cost(it: &Fight) -> View {
    let figure = |n: usize, words: &'static str| view! { <div><dt>{words}</dt><dd>{n}</dd></div> };
    let part = (!it.is_whole).then_some("The trace no longer reaches back to the first write: there were more pods.");
    view! {
        <dl class="figures">
            {figure(it.writes, "writes")}{figure(it.pods_created, "pods started")}{figure(it.pods_killed, "pods killed")}
        </dl>
        <p class="sub">{part}</p>
    }
}

/// The values over time. What is no number has a height of its own.
fn saw(it: &Fight, now: u64) -> View {
    let mut known: Vec<&str> = Vec::new();
    let numbers: Option<Vec<i64>> = it.values.iter().map(|it| it.to.parse().ok()).collect();
    let heights = numbers.unwrap_or_else(|| {
        let mut height = |text| {
            known.iter().position(|it| *it == text).unwrap_or_else(|| {
                known.push(text);
                known.len() - 1
            }) as i64
        };
        it.values.iter().map(|it| height(it.to.as_str())).collect()
    });
    let points: Vec<(u64, i64)> = it.values.iter().zip(&heights).map(|(it, height)| (it.time_ms, *height)).collect();
    let (low, high) = (heights.iter().min().copied().unwrap_or(0), heights.iter().max().copied().unwrap_or(1));
    let axes = Axes { from: it.first_ms, to: now.max(it.last_ms), low, high };
    let mut label = [it.path.as_str(), " from ", &brief(axes.from), " to ", &brief(axes.to), ":"].concat();
    for write in it.values.iter().rev().take(12).rev() {
        label.push_str(&[" ", &brief(write.time_ms), " ", &write.manager, " ", &write.to, ","].concat());
    }
    let lines = vec![("want", axes.level(low)), ("want", axes.level(high)), ("curve", axes.steps(&points))];
    let ends = view! { <figcaption class="sub"><span>{brief(axes.from)}</span><span class="end">{brief(axes.to)}</span></figcaption> };
    view! { <figure class="drawn">{plot(label.trim_end_matches(',').to_owned(), lines)}{ends}</figure> }
}

fn cure_list(it: &Fight, all: &[(String, String)]) -> View {
    if all.is_empty() {
        return view! { <p class="sub">"One of the two has to stop writing the field."</p> };
    }
    let session = session();
    let button = |(name, price): &(String, String)| {
        let (path, wanted) = (it.path.clone(), name.clone());
        view! {
            <button class="btn btn-wrap" type="button" on:click={move |_| session.cure(&path, &wanted)}>
                <b>{name.clone()}</b><span class="sub">{price.clone()}</span>
            </button>
        }
    };
    let buttons = all.iter().map(button).collect::<View>();
    view! { <div class="cures" role="group" aria-label="Cures">{buttons}</div> }
}
