//! The room of a thermostat: its temperature over time, its heater, and what one can do to it.

use leptos::prelude::event_target_value;
use loopscope_engine::controllers::thermostat::{degrees, milli_degrees};
use loopscope_engine::view::{RoomPoint, RoomView};
use loopscope_engine::world::RoomSetting;
use web_sys::Event;

use super::inspector::plot::{Axes, brief, plot};
use crate::atoms::icon;
use crate::session::{Session, Tone, session};
use crate::ui::{Derived, View, memo, view};

/// By how much a press changes what is wanted, in thousandths of a degree.
const HALF: i32 = 500;

pub fn room() -> View {
    let session = session();
    let room = session.board.room;
    let now = move || room.with(|it| it.as_ref().map(figures));
    let drawing = move || room.with(|it| it.as_ref().map(|it| view! { {course(it)}{heater(it)} }));
    let ends = move || room.with(|it| it.as_ref().map(|it| (from(it), brief(session.transport.now_ms.get()))));
    view! {
        <div class="room">
            {now}
            {controls(session)}
            {drawing}
            <p class="ends sub"><span>{move || ends().map(|it| brief(it.0))}</span><span class="end">{move || ends().map(|it| it.1)}</span></p>
        </div>
    }
}

/// Where its curve begins.
fn from(it: &RoomView) -> u64 {
    it.curve.first().map_or(0, |it| it.at.0)
}

/// `21.0` of 20960
fn tenths(milli: i32) -> String {
    let half = if milli < 0 { -50 } else { 50 };
    degrees((milli + half) / 100 * 100)
}

fn figures(it: &RoomView) -> View {
    let figure = |words: &'static str, value: String| view! { <div><dt>{words}</dt><dd>{value}</dd></div> };
    let celsius = |milli: i32| [tenths(milli).as_str(), " °C"].concat();
    let heater = [it.heater.to_string().as_str(), " %"].concat();
    let window = if it.is_window_open { "open" } else { "closed" };
    view! {
        <dl class="figures">
            {figure("wanted", celsius(it.desired))}{figure("in the room", celsius(it.actual))}{figure("its sensor says", celsius(it.measured))}
            {figure("heater", heater)}{figure("outside", celsius(it.outside))}{figure("window", window.to_owned())}
        </dl>
        <p class="room-said">{said(it)}</p>
    }
}

/// How it went since what is wanted was last changed.
fn said(it: &RoomView) -> String {
    let over = it
        .overshoot
        .filter(|it| *it > 0)
        .map(|over| ["It went ", &tenths(over), " °C beyond what is wanted. "].concat());
    let settled = match it.settled_since {
        Some(at) => ["Near enough since ", &brief(at.0), ": within ", &degrees(it.hysteresis), " °C."].concat(),
        None => ["Not yet near enough: more than ", &degrees(it.hysteresis), " °C off."].concat(),
    };
    [over.unwrap_or_default(), settled].concat()
}

fn points(it: &RoomView, read: fn(&RoomPoint) -> i64) -> Vec<(u64, i64)> {
    it.curve.iter().map(|it| (it.at.0, read(it))).collect()
}

/// The temperature against what is wanted.
fn course(it: &RoomView) -> View {
    let all = || it.curve.iter().flat_map(|it| [it.actual, it.desired, it.measured]);
    let (low, high) = (all().min().unwrap_or(0) - 500, all().max().unwrap_or(1) + 500);
    let to = it.curve.last().map_or(0, |it| it.at.0);
    let axes = Axes { from: from(it), to, low: low.into(), high: high.into() };
    let lines = vec![
        ("want", axes.steps(&points(it, |it| it.desired.into()))),
        ("metric", axes.line(&points(it, |it| it.measured.into()))),
        ("curve", axes.line(&points(it, |it| it.actual.into()))),
    ];
    let span = [tenths(low + 500), tenths(high - 500)];
    let label = [
        "Temperature: ",
        &tenths(it.actual),
        " °C now, wanted ",
        &tenths(it.desired),
        ", between ",
        &span[0],
        " and ",
        &span[1],
    ];
    let label = label.concat();
    view! {
        <figure class="drawn">
            <figcaption class="sub">{label.clone()}</figcaption>{plot(label, lines)}
            <p class="room-keys sub" aria-hidden="true"><span class="key-curve">"in the room"</span><span class="key-metric">"sensor"</span><span class="key-want">"wanted"</span></p>
        </figure>
    }
}

fn heater(it: &RoomView) -> View {
    let to = it.curve.last().map_or(0, |it| it.at.0);
    let axes = Axes { from: from(it), to, low: 0, high: 100 };
    let most = it.curve.iter().map(|it| it.heater).max().unwrap_or(0);
    let label = ["Heater: ", &it.heater.to_string(), " % now, at most ", &most.to_string(), " %"].concat();
    let lines = vec![("curve", axes.steps(&points(it, |it| it.heater.into())))];
    view! { <figure class="drawn is-low"><figcaption class="sub">{label.clone()}</figcaption>{plot(label, lines)}</figure> }
}

fn controls(session: Session) -> View {
    let room = session.board.room;
    let part =
        move |read: fn(&RoomView) -> String| memo(move || room.with(|it| it.as_ref().map_or_else(String::new, read)));
    let is_open = memo(move || room.with(|it| it.as_ref().is_some_and(|it| it.is_window_open)));
    let words = move || if is_open.get() { "Close the window" } else { "Open the window" };
    let window = move |_| session.set_room(RoomSetting::Window(!is_open.get_untracked()));
    let warmer = move |by: i32| {
        move |_| {
            if let Some(now) = room.with_untracked(|it| it.as_ref().map(|it| it.desired)) {
                session.set_room(RoomSetting::Desired((now + by).clamp(-100_000, 100_000)));
            }
        }
    };
    let desired = part(|it| degrees(it.desired));
    let ask = move |_| session.with_all(move || session.ask_room());
    view! {
        <div class="room-do" role="group" aria-label="The room">
            <button class="btn" type="button" on:click=window>{words}</button>
            <span class="opt"><span aria-hidden="true">"wanted °C"</span>
                <span class="step" role="group" aria-label="Wanted, in °C">
                    <button type="button" aria-label="Half a degree less" on:click={warmer(-HALF)}>{icon("i i12", "#i-minus")}</button>
                    <input type="text" inputmode="decimal" size="4" autocomplete="off" aria-label="Wanted °C" prop:value={move || desired.get()} on:change={change(session, desired, |text| milli_degrees(text).map(RoomSetting::Desired))} />
                    <button type="button" aria-label="Half a degree more" on:click={warmer(HALF)}>{icon("i i12", "#i-plus")}</button>
                </span>
            </span>
            {field("near enough, °C", part(|it| degrees(it.hysteresis)), |text| milli_degrees(text).filter(|it| *it >= 0).map(RoomSetting::Hysteresis))}
            {field("heater's step, %", part(|it| it.step.to_string()), |text| text.parse().ok().filter(|it| (1..=100).contains(it)).map(RoomSetting::Step))}
            {field("sensor late by, s", part(|it| (it.lag_ms / 1_000).to_string()), |text| text.parse().ok().filter(|it| *it <= 120).map(|it: u64| RoomSetting::Lag(it * 1_000)))}
            {field("outside, °C", part(|it| degrees(it.outside)), |text| milli_degrees(text).map(RoomSetting::Outside))}
            <button class="btn btn-s" type="button" title="Shows what made the heater stand as it does" on:click=ask>"Why?"</button>
        </div>
    }
}

/// A setting that is typed. What cannot be meant is said, and the field shows again what is so.
fn change(session: Session, now: Derived<String>, read: fn(&str) -> Option<RoomSetting>) -> impl Fn(Event) {
    move |event: Event| {
        let text = event_target_value(&event);
        match read(text.trim()) {
            Some(setting) => session.set_room(setting),
            None => session.toast(["\u{201c}", &text, "\u{201d} is no such number"].concat(), Tone::Error),
        }
        let input: web_sys::HtmlInputElement = leptos::prelude::event_target(&event);
        input.set_value(&now.get_untracked());
    }
}

fn field(label: &'static str, now: Derived<String>, read: fn(&str) -> Option<RoomSetting>) -> View {
    let session = session();
    view! {
        <label class="opt"><span>{label}</span>
            <input class="field field-s" type="text" inputmode="decimal" size="5" autocomplete="off" prop:value={move || now.get()} on:change={change(session, now, read)} />
        </label>
    }
}
