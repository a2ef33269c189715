//! The load on a Service or on what an autoscaler scales: shaped here, and what becomes of its requests.

use leptos::prelude::event_target_value;
use loopscope_engine::api::{Kind, Quantity};
use loopscope_engine::environment::{Load, Shape};
use loopscope_engine::view::{Endpoint, LoadView, LossLine};
use loopscope_engine::world::Command;

use super::plot::{Axes, brief, permille, plot, thousandths, whole};
use super::writers::closer;
use super::{flow, link};
use crate::atoms::yes;
use crate::session::{Session, Tone, session};
use crate::ui::{State, View, memo, view, when};

pub fn load() -> View {
    let takes = closer(|it| it.takes_load);
    let is_service = memo(move || {
        let selected = session().focus.selected;
        selected.with(|key| key.as_ref().is_some_and(|key| key.kind == Kind::Service))
    });
    view! { {when(move || takes.get(), move || view! { {move || control(is_service.get())} })} }
}

/// What is being typed.
#[derive(Clone, Copy)]
struct Form {
    is_service: bool,
    shape: State<usize>,
    low: State<String>,
    high: State<String>,
    seconds: State<String>,
    cost: State<String>,
}

const SHAPES: [&str; 3] = ["Step", "Ramp", "Wave"];

impl Form {
    fn new(is_service: bool) -> Self {
        let text = |text: &str| State::new(text.to_owned());
        let (low, high) = if is_service { ("20", "120") } else { ("0.2", "1.2") };
        let shape = State::new(0);
        Self { is_service, shape, low: text(low), high: text(high), seconds: text("120"), cost: text("10") }
    }

    /// # Errors
    /// The field that holds no number.
    fn load(&self) -> Result<Load, &'static str> {
        let milli = |text: State<String>, name| {
            let found = text.with_untracked(|it| it.trim().parse::<Quantity>().ok().map(Quantity::milli));
            found.and_then(|it| u64::try_from(it).ok()).ok_or(name)
        };
        let (low, high, over) = (
            || milli(self.low, "the lower amount"),
            || milli(self.high, "the amount"),
            || milli(self.seconds, "seconds"),
        );
        let shape = match self.shape.get_untracked() {
            0 => Shape::Steady { amount: high()? },
            1 => Shape::Ramp { from: low()?, to: high()?, over_ms: over()? },
            _ => Shape::Wave { low: low()?, high: high()?, period_ms: over()? },
        };
        // Thousandths of ms are millionths of a second.
        let cost_micro = if self.is_service { milli(self.cost, "CPU for a request")? } else { 0 };
        Ok(Load { shape, cost_micro, capacity: None })
    }

    fn set(&self, session: Session) {
        let Some(key) = session.focus.selected.get_untracked() else { return };
        match self.load() {
            Ok(load) => session.meddle(Command::SetLoad { target: (&key).into(), load }),
            Err(name) => session.toast(["Load: expected a number for ", name].concat(), Tone::Error),
        }
    }
}

fn control(is_service: bool) -> View {
    let session = session();
    let form = Form::new(is_service);
    let is_on = closer(|it| it.load.is_some());
    let choice = |(index, name): (usize, &&'static str)| {
        let pressed = move || yes(form.shape.get() == index);
        view! { <button type="button" aria-pressed=pressed on:click={move |_| form.shape.put(index)}>{*name}</button> }
    };
    let shape = form.shape;
    let unit = if is_service { "requests / s" } else { "CPU cores" };
    let high = move || [if shape.get() == 0 { "" } else { "to " }, unit].concat();
    let low = move || ["from ", unit].concat();
    let over = move || if shape.get() == 1 { "within s" } else { "period s" }.to_owned();
    let is_shaped = move || shape.get() > 0;
    let stop = move |_| {
        if let Some(key) = session.focus.selected.get_untracked() {
            session.meddle(Command::StopLoad { target: (&key).into() });
        }
    };
    let choices = SHAPES.iter().enumerate().map(choice).collect::<View>();
    view! {
        <section class="insp-sec load" aria-label="Load">
            <div class="sec-h"><h3>"Load"</h3><div class="seg" role="group" aria-label="Shape of the load">{choices}</div></div>
            <div class="load-in">
                {when(is_shaped, move || number(low, form.low))}
                {number(high, form.high)}
                {when(is_shaped, move || number(over, form.seconds))}
                {is_service.then(|| number(|| "ms CPU each".to_owned(), form.cost))}
            </div>
            <div class="load-do">
                <button class="btn btn-s btn-main" type="button" on:click={move |_| form.set(session)}>"Set load"</button>
                <button class="btn btn-s" type="button" disabled={move || !is_on.get()} on:click=stop>"Stop load"</button>
            </div>
            {(!is_service).then(|| view! { <p class="sub">"CPU that all its ready pods share, besides what a Service sends them."</p> })}
            {is_service.then(flow)}
            {traffic()}
        </section>
    }
}

fn number(label: impl Fn() -> String + 'static, text: State<String>) -> View {
    view! {
        <label><span class="sub">{label}</span>
            <input
                class="field field-s" type="text" inputmode="decimal" autocomplete="off" prop:value={move || text.get()}
                on:input={move |event| text.put(event_target_value(&event))}
            />
        </label>
    }
}

/// What comes, and what becomes of it.
fn traffic() -> View {
    let session = session();
    let load = closer(|it| it.load.clone());
    let now = memo(move || session.transport.now_ms.get() / 1_000 * 1_000);
    let content = move || load.with(|it| it.as_ref().map(|it| view! { {course(it, now.get())}{figures(it)} }));
    view! { {content} }
}

/// The load over the last minutes and the next ones.
fn course(it: &LoadView, now: u64) -> View {
    let points: Vec<(u64, i64)> =
        it.course.iter().map(|(at, n)| (at.0, i64::try_from(*n).unwrap_or(i64::MAX))).collect();
    let (from, to) = (points.first().map_or(0, |it| it.0), points.last().map_or(0, |it| it.0));
    let high = points.iter().map(|it| it.1).max().unwrap_or(1).max(1);
    let axes = Axes { from, to, low: 0, high };
    let unit = if it.is_work { " CPU" } else { " a second" };
    let words = ["Load: ", &thousandths(it.amount), unit, " now, at most ", &thousandths(high.unsigned_abs()), unit];
    let x = axes.x(now).to_string();
    let lines = vec![("metric", axes.line(&points)), ("head", ["M", &x, " -3L", &x, " 67"].concat())];
    let words = words.concat();
    view! {
        <figure class="drawn">
            <figcaption class="sub">{words.clone()}</figcaption>{plot(words, lines)}
            <p class="ends sub"><span>{brief(from)}</span><span class="end">{brief(to)}</span></p>
        </figure>
    }
}

fn figures(it: &LoadView) -> View {
    if it.is_work {
        return view! { <p class="sub">"Nothing of it can be lost."</p> };
    }
    let figure = |words: &'static str, value: String| view! { <div><dt>{words}</dt><dd>{value}</dd></div> };
    let rate = |it: Option<u32>| it.map_or_else(|| "–".to_owned(), permille);
    let losses = match it.losses.is_empty() {
        true => view! { <p class="sub">"Nothing has been lost."</p> },
        false => {
            let lines = it.losses.iter().map(loss).collect::<View>();
            view! { <h4>"Lost"</h4><ul class="losses">{lines}</ul> }
        }
    };
    let most = it.endpoints.iter().map(|it| it.served + it.lost).max().unwrap_or(0);
    let rows = it.endpoints.iter().map(|it| endpoint(it, most)).collect::<View>();
    view! {
        <dl class="figures">
            {figure("answered now", rate(it.success))}{figure("answered in all", rate(it.success_in_all))}
            {figure("answers / s", thousandths(it.served))}{figure("sent in all", whole(it.sent_in_all))}
        </dl>
        {losses}
        <table class="endpoints">
            <caption>"Requests a second, by endpoint"</caption>
            <thead><tr><th scope="col">"Pod"</th><th scope="col">"Answered"</th><th scope="col">"Lost"</th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

fn loss(it: &LossLine) -> View {
    let words = [thousandths(it.now).as_str(), " a second, ", &whole(it.total), " in all"].concat();
    view! { <li><b>{it.cause}</b><span class="sub end">{words}</span></li> }
}

/// A pod's share as numbers, and as a bar.
fn endpoint(it: &Endpoint, most: u64) -> View {
    let width = |n: u64| (n * 100).checked_div(most).unwrap_or(0).to_string();
    let (answered, lost) = match it.is_routed {
        true => (thousandths(it.served), thousandths(it.lost)),
        false => (["no more, ", &whole(it.served_in_all), " before"].concat(), whole(it.lost_in_all)),
    };
    let cause = it.cause.map(|it| [" ", it].concat());
    let (served, bad) = (width(it.served), width(it.lost));
    view! {
        <tr>
            <th scope="row">{link(it.pod.clone())}
                <svg class="portion" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="ok" width={served.clone()} height="4"></rect><rect class="lost" x=served width=bad height="4"></rect></svg>
            </th>
            <td>{answered}</td><td class:s-bad={it.lost > 0}>{lost}{cause}</td>
        </tr>
    }
}
