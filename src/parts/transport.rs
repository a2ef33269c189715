use leptos::prelude::*;

use super::curve_view;
use crate::atoms::{clock, icon, icon_when};
use crate::session::{SPEEDS, session};
use crate::ui::{View, view};

/// Play, step, skip, speed, and where in time we are.
pub fn transport_bar() -> View {
    view! {
        <section class="timeline" aria-label="Time">
            <div class="transport">{transport_keys()}{time()}{speed()}{curve_view()}</div>
        </section>
    }
}

fn transport_keys() -> View {
    let session = session();
    let playing = session.transport.playing;
    let name = move || if playing.get() { "Pause" } else { "Play" };
    let invites = move || !session.transport.started.get();
    view! {
        <div class="keys" role="group" aria-label="Transport">
            <button
                class="btn btn-play" class:btn-main=invites type="button" title="Play or pause (Space)"
                on:click={move |_| session.toggle()}
            >{icon_when("i", playing, "#i-pause", "#i-play")}<span>{name}</span></button>
            <button class="btn" type="button" title="Next event (→)" aria-label="Next event" on:click={move |_| session.step()}>
                {icon("i", "#i-step")}<span aria-hidden="true">"Event"</span>
            </button>
            <button
                class="btn" type="button" title="Next act of a loop (Shift+→)" aria-label="Next act"
                on:click={move |_| session.step_to_act()}
            >{icon("i", "#i-step-act")}<span aria-hidden="true">"Act"</span></button>
            <button
                class="btn" type="button" title="Skip to the next change of any object (;)" aria-label="Skip to next change"
                on:click={move |_| session.skip()}
            >{icon("i", "#i-skip")}<span aria-hidden="true">"Change"</span></button>
        </div>
    }
}

fn time() -> View {
    let transport = session().transport;
    view! {
        <p class="clock">
            <span role="timer" aria-live="off" aria-label="Virtual time">{move || clock(transport.now_ms.get())}</span>
            <small>"event " {move || transport.seq.get()}</small>
        </p>
    }
}

fn speed() -> View {
    let session = session();
    let speed = session.transport.speed;
    let options = SPEEDS
        .iter()
        .enumerate()
        .map(|(index, (name, _))| view! { <option value={index.to_string()} prop:selected={move || speed.get() == index}>{*name}</option> })
        .collect::<View>();
    let change = move |event| {
        if let Ok(index) = event_target_value(&event).parse() {
            session.set_speed(index);
        }
    };
    view! {
        <label class="opt">
            <span>"speed"</span>
            <span class="pick pick-s">
                <select title="Slower, faster ([, ]). Readable is real time, slowed down while loops act" on:change=change>{options}</select>
                {icon("i i12", "#i-down")}
            </span>
        </label>
        <span class="sub behind" hidden={move || !session.transport.behind.get()}>"as fast as this machine can"</span>
    }
}
