//! Orders beside a wish: a script that people run, which starts as much again each time, and a Deployment, which says what
//! is to be.

use loopscope_engine::view::{COUNT, OrdersView, Run, RunState, WISH};
use loopscope_engine::world::{CONTROLLER_MANAGER, Command};

use super::inspector::plot::brief;
use crate::atoms::{icon, plural, yes};
use crate::session::{Part, Session, session};
use crate::ui::{State, View, memo, view};

const PEOPLE: [&str; 2] = ["Ana", "Bo"];
/// After how many requests; nothing for never.
const CRASHES: [(&str, Option<u32>); 3] = [("never", None), ("after 1", Some(1)), ("after 2", Some(2))];

pub fn orders_pane() -> View {
    let session = session();
    let is_open = move || session.focus.pane.get() == Part::Orders;
    let is_mid = move || session.focus.mid.get() == Part::Orders;
    let (by, crash) = (State::new(0_usize), State::new(0_usize));
    view! {
        <section class="pane pane-orders" class:is-open=is_open class:is-mid=is_mid aria-labelledby="h-orders">
            <div class="pane-h">
                <h2 class="h" id="h-orders">"Orders"</h2>
                <span class="sub">"start 3 more, or: let there be 3"</span>
            </div>
            <div class="orders">
                <div class="orders-set">{choice("by", "Run by", PEOPLE.to_vec(), by)}{choice("crash", "Crash", CRASHES.map(|it| it.0).to_vec(), crash)}</div>
                {script(session, by, crash)}
                {wish(session, crash)}
            </div>
        </section>
    }
}

fn choice(name: &'static str, label: &'static str, all: Vec<&'static str>, is: State<usize>) -> View {
    let one = |(index, word): (usize, &'static str)| {
        view! { <button type="button" aria-pressed={move || yes(is.get() == index)} on:click={move |_| is.put(index)}>{word}</button> }
    };
    let all = all.into_iter().enumerate().map(one).collect::<View>();
    view! { <span class="opt"><span aria-hidden="true">{name}</span><span class="seg" role="group" aria-label=label>{all}</span></span> }
}

fn script(session: Session, by: State<usize>, crash: State<usize>) -> View {
    let it = session.board.orders;
    let newest = memo(move || it.with(|it| it.runs.last().cloned()));
    let runs = memo(move || it.with(|it| (it.runs.clone(), it.n_runs)));
    let ordered = memo(move || it.with(|it| it.ordered));
    let run = move |_| {
        let crash_after = CRASHES[crash.get_untracked()].1;
        session.order(Command::RunScript { by: PEOPLE[by.get_untracked()].to_owned(), count: COUNT, crash_after });
    };
    let lines = move || newest.with(|newest| (1..=COUNT).map(|n| line(n, newest.as_ref())).collect::<View>());
    let list = move || runs.with(|(runs, _)| runs.iter().rev().map(run_line).collect::<View>());
    let again = move || if runs.with(|it| it.1) == 0 { "Run the script" } else { "Run it again" };
    view! {
        <section class="order" aria-labelledby="h-script">
            <div class="sec-h"><h3 id="h-script">"A script: start 3 more"</h3>{there(move || ordered.get(), "ordered")}</div>
            <ol class="script" aria-label="The script, as its newest run left it">{lines}</ol>
            <button class="btn btn-s" type="button" on:click=run>{icon("i i12", "#i-play")}{again}</button>
            <ol class="runs" aria-label="Runs, newest first">{list}</ol>
        </section>
    }
}

/// `5 there, meant 3`
fn there(n: impl Fn() -> usize + Copy + 'static, what: &'static str) -> View {
    let is_off = move || n() > COUNT as usize;
    let words = move || [n().to_string().as_str(), " there, meant ", &COUNT.to_string()].concat();
    view! { <b class="there" data-of=what class:s-bad=is_off>{words}</b> }
}

/// One line of the script, and whether the newest run came there.
fn line(n: u32, newest: Option<&Run>) -> View {
    let state = match newest {
        Some(run) if n <= run.started => ("is-done", "#i-check", "done"),
        Some(Run { state: RunState::Crashed, started, .. }) if n == started + 1 => {
            ("is-bad", "#m-error", "crashed before it")
        }
        Some(Run { state: RunState::Refused, started, .. }) if n == started + 1 => ("is-bad", "#m-error", "refused"),
        Some(Run { state: RunState::Running, .. }) => ("", "#ring-idle", "to come"),
        Some(_) => ("", "#ring-off", "never reached"),
        None => ("", "#ring-idle", ""),
    };
    let code = ["start pod ", &n.to_string(), " of ", &COUNT.to_string()].concat();
    view! { <li class={state.0}>{icon("i i12", state.1)}<code>{code}</code><span class="sub">{state.2}</span></li> }
}

fn run_line(run: &Run) -> View {
    let session = session();
    let index = run.index;
    let came = match run.state {
        RunState::Running => "runs",
        RunState::Done => "done",
        RunState::Crashed => "crashed",
        RunState::Refused => "was refused",
    };
    let words =
        [run.by.as_str(), ": started ", &run.started.to_string(), " of ", &run.count.to_string(), ", ", came].concat();
    view! { <li><button class="link" type="button" title="Go to this step" on:click={move |_| session.go_to_step(index)}>{brief(run.at_ms)}</button>" "<span>{words}</span></li> }
}

fn wish(session: Session, crash: State<usize>) -> View {
    let it = session.board.orders;
    let n_applied = memo(move || it.with(|it| it.n_applied));
    let declared = memo(move || it.with(|it: &OrdersView| it.declared));
    let apply = move |_| {
        if let Some(requests) = CRASHES[crash.get_untracked()].1 {
            session.meddle(Command::CrashAfter { process: CONTROLLER_MANAGER.to_owned(), requests });
        }
        session.order(Command::Apply { manifest: WISH.to_owned() });
    };
    let again = move || if n_applied.get() == 0 { "Apply the wish" } else { "Apply it again" };
    let times = move || match n_applied.get() {
        0 => "not applied yet".to_owned(),
        n => [
            "applied ",
            &plural(n, "time", "times"),
            ": it says what is to be, and its controller sees to it, also after a crash",
        ]
        .concat(),
    };
    view! {
        <section class="order" aria-labelledby="h-wish">
            <div class="sec-h"><h3 id="h-wish">"The same wish, declared"</h3>{there(move || declared.get(), "declared")}</div>
            <ol class="script"><li>{icon("i i12", "#ring-idle")}<code>"kubectl apply: replicas 3"</code></li></ol>
            <button class="btn btn-s" type="button" on:click=apply>{icon("i i12", "#i-play")}{again}</button>
            <p class="sub">{times}</p>
        </section>
    }
}
