//! Where the tool is run, and what it prints.

use loopscope_engine::view::{PrintedLine, PrintedMark, RunView};
use loopscope_engine::world::IacDeed;
use web_sys::Event;

use super::infra;
use crate::atoms::{icon, yes};
use crate::session::{session, you};
use crate::ui::{View, each, effect, view, when};

const EVERY_MS: u64 = 600_000;

pub fn terminal() -> View {
    let session = session();
    let asks = infra(|it| it.asks);
    let run = move |deed: IacDeed| move |_: Event| session.run_terraform(deed.clone());
    let apply =
        |refresh_only: bool, approved: bool, who: &str| IacDeed::Apply { refresh_only, approved, who: who.into() };
    let buttons = [
        ("plan", "Looks and compares; changes nothing", IacDeed::Plan { refresh_only: false }),
        ("apply", "Plans, and asks", apply(false, false, &you())),
        ("apply -auto-approve", "Does not ask", apply(false, true, &you())),
        ("plan -refresh-only", "Only what others have changed", IacDeed::Plan { refresh_only: true }),
        ("apply -refresh-only", "Takes it into the state, and asks", apply(true, false, &you())),
    ];
    let button = |(name, title, deed): (&'static str, &'static str, IacDeed)| {
        view! { <button class="btn btn-s" type="button" title=title on:click={run(deed)}>{name}</button> }
    };
    view! {
        <section class="desk-part desk-term" aria-label="Terraform">
            <div class="sec-h"><h3>"Terraform"</h3></div>
            <div class="desk-do" role="group" aria-label="Run terraform">
                {buttons.map(button)}
                <button class="btn btn-s btn-quiet" type="button" title="The state lets one work at a time" on:click={run(apply(false, false, "Ada"))}>"apply, as Ada"</button>
            </div>
            {schedule()}
            {lock()}
            {output()}
            {when(move || asks.get(), question)}
        </section>
    }
}

/// What makes a loop of it: a clock that runs the tool.
fn schedule() -> View {
    let session = session();
    let schedule = infra(|it| it.schedule);
    let choice = |(name, wanted): (&'static str, Option<RunView>)| {
        let pressed = move || yes(schedule.get() == wanted);
        let set = move |_| {
            session.cloud_do(match wanted {
                Some(RunView { every_ms, applies }) => IacDeed::Schedule { every_ms, applies },
                None => IacDeed::Unschedule,
            });
        };
        view! { <button type="button" aria-pressed=pressed on:click=set>{name}</button> }
    };
    let every = |applies| Some(RunView { every_ms: EVERY_MS, applies });
    let choices = [("off", None), ("plan each 10 min", every(false)), ("apply each 10 min", every(true))];
    view! {
        <div class="desk-do desk-clock">
            <span class="sub" id="clock-h">"Scheduled run"</span>
            <div class="seg" role="group" aria-labelledby="clock-h">{choices.map(choice)}</div>
        </div>
    }
}

fn question() -> View {
    let session = session();
    let answer = move |yes: bool| move |_: Event| session.run_terraform(IacDeed::Answer { yes });
    view! {
        <div class="desk-ask" role="group" aria-label="Answer">
            <span>"Only “yes” is accepted to approve."</span>
            <button class="btn btn-s btn-main" type="button" on:click={answer(true)}>"yes"</button>
            <button class="btn btn-s" type="button" on:click={answer(false)}>"no"</button>
        </div>
    }
}

/// Who holds the state.
fn lock() -> View {
    let session = session();
    let lock = infra(|it| it.lock.clone());
    let is_applying = infra(|it| it.is_applying);
    let shown = move || {
        let it = lock.get()?;
        let words = match is_applying.get() {
            true => "applies: 2 s a change, while time passes",
            false => "is asked whether to go on",
        };
        let id = it.id.clone();
        let unlock = move |_| session.run_terraform(IacDeed::ForceUnlock { id: id.clone() });
        Some(view! {
            <p class="desk-lock">
                {icon("i i14", "#i-info")}<span>"State locked by "<b>{it.who}</b>", who "{words}". ID "<code>{it.id}</code></span>
                <button class="btn btn-s btn-quiet" type="button" on:click=unlock>"force-unlock"</button>
            </p>
        })
    };
    view! { {shown} }
}

fn output() -> View {
    let printed = infra(|it| it.printed.clone());
    let n_before = infra(|it| it.n_before);
    let at = crate::ui::At::<web_sys::Element>::new();
    effect(move || {
        printed.with(Vec::len);
        crate::platform::next_frame(move || {
            if let Some(it) = at.get_untracked() {
                it.set_scroll_top(it.scroll_height());
            }
        });
    });
    let lines = move || {
        let first = n_before.get();
        printed.with(|all| all.iter().cloned().enumerate().map(|(n, it)| (n + first, it)).collect::<Vec<_>>())
    };
    let key = |(n, it): &(usize, PrintedLine)| [n.to_string().as_str(), &it.text].concat();
    let is_empty = move || printed.with(Vec::is_empty);
    view! {
        <div class="printed" role="log" aria-label="Output of terraform" tabindex="0" at=at>
            <p class="sub" hidden={move || !is_empty()}>"Nothing has run yet."</p>
            <ol>{each(lines, key, |(_, it)| line(it))}</ol>
        </div>
    }
}

fn line(it: PrintedLine) -> View {
    let class = match it.mark {
        PrintedMark::Plain => "",
        PrintedMark::Typed => "p-typed",
        PrintedMark::Added => "p-add",
        PrintedMark::Changed => "p-mod",
        PrintedMark::Removed => "p-del",
        PrintedMark::Error => "p-bad",
    };
    view! { <li class=class>{it.text}</li> }
}
