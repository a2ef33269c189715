use leptos::prelude::*;

use super::stops::stops;
use super::{branch_bar, timeline};
use crate::atoms::{clock, icon, icon_when, yes};
use crate::session::{EVEN, SPEEDS, StepBy, session};
use crate::ui::{State, View, memo, view, when};

/// Play, step, skip, speed, and where in time we are.
pub fn transport_bar() -> View {
    let open = session().transport.stops_open;
    view! {
        <section class="timeline" aria-label="Time">
            {when(move || open.get(), stops)}
            <div class="transport">{transport_keys(open)}{time()}{speed()}{branch_bar()}{edge()}</div>
            {timeline()}
        </section>
    }
}

fn transport_keys(stops_open: State<bool>) -> View {
    let session = session();
    let n_stops = move || session.stops.with(|all| all.iter().filter(|it| it.is_on).count());
    let n_words = move || Some(n_stops()).filter(|n| *n > 0).map(|n| [" ", n.to_string().as_str()].concat());
    let playing = session.transport.playing;
    let name = move || if playing.get() { "Pause" } else { "Play" };
    let invites = move || !session.transport.started.get();
    view! {
            <div class="keys" role="group" aria-label="Transport">
                <button
                    class="btn btn-play" class:btn-main=invites type="button" title="Play or pause (Space)"
                    on:click={move |_| session.toggle()}
                >{icon_when("i", playing, "#i-pause", "#i-play")}<span>{name}</span></button>
                <button
                    class="btn btn-bare" type="button" title="Previous event (←)" aria-label="Previous event"
                    on:click={move |_| session.step_back(StepBy::Event)}
                >{icon("i", "#i-back")}</button>
                <button
                    class="btn" type="button" title="Next event (→)" aria-label="Next event"
                    on:click={move |_| session.step_on(StepBy::Event)}
                >
    {icon("i", "#i-step")}<span aria-hidden="true">"Event"</span></button>
                <button
                    class="btn" type="button" title="Next act of a loop (Shift+→)" aria-label="Next act"
                    on:click={move |_| session.step_on(StepBy::Act)}
                >{icon("i", "#i-step-act")}<span aria-hidden="true">"Act"</span></button>
                <button
                    class="btn" type="button" title="Skip to the next change of any object (;)" aria-label="Skip to next change"
                    on:click={move |_| session.skip()}
                >{icon("i", "#i-skip")}<span aria-hidden="true">"Change"</span></button>
                <button
                    class="btn btn-bare" type="button" id="stops-open" title="Steps of all kinds, and what to stop at (B)" aria-controls="stops"
                    aria-expanded={move || yes(stops_open.get())} on:click={move |_| stops_open.put(!stops_open.get_untracked())}
                >{icon("i", "#i-stop")}<span>"Stop when"</span>{n_words}</button>
            </div>
        }
}

/// Where in time we are, and how much of it the last step left out.
fn time() -> View {
    let session = session();
    let transport = session.transport;
    // While it is the newest, there is no need to say of how many.
    let of = move || match session.past.is_past.get() {
        true => [" of ", session.lanes.n.get().to_string().as_str()].concat(),
        false => String::new(),
    };
    view! {
        <p class="clock">
            <span role="timer" aria-live="off" aria-label="Virtual time">{move || clock(transport.now_ms.get())}</span>
            <small>"event " {move || transport.seq.get()} {of}</small>
        </p>
        <p class="leap" hidden={move || transport.leap.with(String::is_empty)}>{move || transport.leap.get()}</p>
    }
}

/// Whether one is where time is made, or in what has been.
fn edge() -> View {
    let session = session();
    let past = session.past;
    let is_live = move || !past.is_past.get();
    let back = memo(move || past.end_ms.get().saturating_sub(session.transport.now_ms.get()) / 1_000);
    let words = move || match (past.seeking.get(), is_live()) {
        (Some(percent), _) => ["replaying, ", percent.to_string().as_str(), " %"].concat(),
        (_, true) => String::new(),
        _ => ["past, ", back.get().to_string().as_str(), " s back"].concat(),
    };
    view! {
        <div class="edge">
            <span class="sub" hidden={move || words().is_empty()}>{words}</span>
            <button
                class="btn btn-s" type="button" title="To the newest moment (End)" aria-pressed={move || yes(is_live())}
                on:click={move |_| session.seek_end()}
            ><i class="live-dot" aria-hidden="true"></i>"Live"</button>
        </div>
    }
}

fn speed() -> View {
    let session = session();
    let speed = session.transport.speed;
    let is_even = move || yes(speed.get() >= EVEN);
    view! {
        <label class="opt"><span>"speed"</span>{speed_choice()}</label>
        <span class="factor sub" title="Virtual time per real time">{move || session.transport.factor.get()}</span>
        <div class="modes">
            <button
                class="btn btn-s btn-quiet" type="button" title="Each event takes as long as any other, whatever lies between (S)"
                aria-pressed=is_even on:click={move |_| session.switch_even()}
            >"Even steps"</button>
            {when(move || !session.is_simple.get(), move || view! {
                <button
                    class="btn btn-s btn-quiet" type="button" title="Select loop and object of the newest act (F)"
                    aria-pressed={move || yes(session.transport.follow.get())} on:click={move |_| session.switch_follow()}
                >"Follow"</button>
            })}
        </div>
    }
}

pub fn speed_choice() -> View {
    let session = session();
    let speed = session.transport.speed;
    let option = move |index: usize| {
        let (name, _) = SPEEDS[index];
        view! { <option value={index.to_string()} prop:selected={move || speed.get() == index}>{name}</option> }
    };
    let change = move |event| {
        if let Ok(index) = event_target_value(&event).parse() {
            session.set_speed(index);
        }
    };
    view! {
        <span class="pick pick-s">
            <select aria-label="speed" title="Slower, faster ([, ]). Readable is real time, slowed down while loops act" on:change=change>
                <optgroup label="Real gaps">{(0..EVEN).map(option).collect::<View>()}</optgroup>
                <optgroup label="Even steps">{(EVEN..SPEEDS.len()).map(option).collect::<View>()}</optgroup>
            </select>
            {icon("i i12", "#i-down")}
        </span>
    }
}
