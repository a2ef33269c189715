//! What was done, and what could have been: the commands of the current branch, and its other futures.

use leptos::prelude::event_target_value;
use web_sys::Event;

use super::rove::rove_rows;
use crate::atoms::{clock, icon, phrase, plural, yes};
use crate::platform;
use crate::session::{BranchRow, Part, StepRow, session};
use crate::ui::{State, View, each, memo, view};

pub fn history_pane() -> View {
    let session = session();
    let past = session.past;
    let is_open = move || session.focus.pane.get() == Part::History;
    let is_last = move || session.focus.last.get() == Part::History;
    let has_steps = move || past.steps.with(|steps| !steps.is_empty());
    view! {
        <section class="pane pane-history" class:is-open=is_open class:is-last=is_last aria-labelledby="h-hist">
            <div class="pane-h">
                <h2 class="h" id="h-hist">"History"</h2>
                <span class="sub">"what you did; press a step to go there"</span>
            </div>
            <div class="history">
                <h3 class="sr">"Branches"</h3>
                <ul class="branches" aria-label="Branches">
                    {each(move || past.branches.get(), key_of_branch, branch_row)}
                </ul>
                <h3 class="sr">"Steps"</h3>
                <p class="empty-s" hidden=has_steps>{move || if past.branches.with(Vec::len) > 1 { "Nothing was done in this branch." } else { "You have not done anything yet. What you do is kept here, and can be left out again." }}</p>
                <ol class="steps" tabindex="0" aria-label="What you did" hidden={move || !has_steps()} on:keydown=rove_rows>
                    {each(move || past.steps.with(|all| listed(all).to_vec()), key_of_step, step_row)}
                </ol>
                <p class="empty-s" hidden={move || past.steps.with(Vec::len) <= MOST_LISTED}>{move || past.steps.with(|all| rest(all))}</p>
            </div>
        </section>
    }
}

/// Of many steps those around the present one: a list of all would grow for as long as the page is open.
const MOST_LISTED: usize = 200;

fn listed(all: &[StepRow]) -> &[StepRow] {
    let done = all.iter().take_while(|it| !it.is_to_come).count();
    let from = done.saturating_sub(MOST_LISTED / 2).min(all.len().saturating_sub(MOST_LISTED));
    all.get(from..).map_or(all, |rest| rest.get(..MOST_LISTED).unwrap_or(rest))
}

/// `Steps 11 to 210 of 210: …`
fn rest(all: &[StepRow]) -> String {
    let (first, n) = (listed(all).first().map_or(0, |it| it.index + 1), listed(all).len());
    let [from, to, of] = [first, first + n.saturating_sub(1), all.len()].map(|it| it.to_string());
    [
        "Steps ",
        &from,
        " to ",
        &to,
        " of ",
        &of,
        ": those around the present one. Go back or on in time to see the others.",
    ]
    .concat()
}

fn key_of_step(row: &StepRow) -> String {
    let mut key = [row.index.to_string().as_str(), " ", &row.at_ms.to_string(), " ", &row.words.0].concat();
    key.push_str(if row.is_to_come { " to come" } else { "" });
    key
}

/// A row of a list in which rows come and go, but one of them changes all the time.
fn key_of_branch(row: &BranchRow) -> String {
    [row.id.0.to_string().as_str(), if row.is_current { " here" } else { "" }].concat()
}

fn branch_row(first: BranchRow) -> View {
    let session = session();
    let (id, is_here) = (first.id, first.is_current);
    let row = memo(move || session.past.branches.with(|all| all.iter().find(|it| it.id == id).cloned()));
    let name = move || row.with(|row| row.as_ref().map_or_else(String::new, BranchRow::title));
    let of = move |verb: &'static str| move || [verb, " ", &name()].concat();
    let facts = move || row.with(|row| row.as_ref().map_or_else(String::new, facts));
    let renaming = State::new(false);
    let rename = move |event: Event| {
        renaming.put(false);
        session.rename_branch(id, &event_target_value(&event));
    };
    let field = ["rename-", id.0.to_string().as_str()].concat();
    let field_id = field.clone();
    let begin = move |_| {
        renaming.put(!renaming.get_untracked());
        let field = field.clone();
        platform::next_frame(move || platform::select_all(&field));
    };
    let plain_name = move || row.with(|row| row.as_ref().map_or_else(String::new, |it| it.name.clone()));
    let is_beside = move || session.past.beside.get() == Some(id);
    let others = (!is_here).then(|| {
        view! {
            <button
                class="btn btn-s btn-quiet" type="button" aria-label={of("Compare with")} aria-pressed={move || yes(is_beside())}
                on:click={move |_| session.lay_beside((!is_beside()).then_some(id))}
            >"Compare"</button>
            <button
                class="btn btn-s btn-quiet btn-icon" type="button" aria-label={of("Forget")} title="Forget this branch"
                on:click={move |_| session.delete_branch(id)}
            >{icon("i i12", "#i-x")}</button>
        }
    });
    view! {
        <li class="branch" class:is-here=is_here>
            <button class="to" type="button" aria-current={is_here.then_some("true")} on:click={move |_| session.go_to_branch(id)}>
                {icon("i i12", if is_here { "#i-check" } else { "#i-fork" })}<b>{name}</b><span class="sub">{facts}</span>
            </button>
            <input
                class="field" type="text" maxlength="40" id=field_id aria-label={of("New name of")} prop:value=plain_name
                hidden={move || !renaming.get()} on:change=rename
            />
            <button
                class="btn btn-s btn-quiet" type="button" aria-label={of("Rename")} aria-expanded={move || yes(renaming.get())}
                on:click=begin
            >"Rename"</button>
            {others}
        </li>
    }
}

/// `from A at 00:10.000, 2 steps, up to 00:40.000`
fn facts(row: &BranchRow) -> String {
    let from = match &row.parted {
        Some((name, ms)) => ["from ", name.as_str(), " at ", clock(*ms).as_str(), ", "].concat(),
        None => String::new(),
    };
    [from.as_str(), plural(row.n_steps, "step", "steps").as_str(), ", up to ", clock(row.end_ms).as_str()].concat()
}

fn step_row(row: StepRow) -> View {
    let session = session();
    let index = row.index;
    let label = ["What if not? A branch without: ", row.words.plain().as_str()].concat();
    view! {
        <li class:is-to-come={row.is_to_come}>
            <button class="to" type="button" tabindex="-1" on:click={move |_| session.go_to_step(index)}>
                <span class="at">{clock(row.at_ms)}</span>
                {icon("i i12", "#m-you")}
                <span class="text">{phrase(&row.words)}</span>
                {row.is_to_come.then_some("to come")}
            </button>
            <button class="btn btn-s btn-quiet" type="button" tabindex="-1" aria-label=label title="A branch in which you did not do this" on:click={move |_| session.leave_out(index)}>
                "What if not?"
            </button>
        </li>
    }
}

/// In which course of events one is, where there are several.
pub fn branch_bar() -> View {
    let session = session();
    let past = session.past;
    let few = move || {
        past.branches
            .with(|all| if all.len() > 1 { all.iter().rev().take(MOST).rev().cloned().collect() } else { Vec::new() })
    };
    let button = move |row: BranchRow| {
        let id = row.id;
        view! {
            <button type="button" aria-pressed={yes(row.is_current)} on:click={move |_| session.go_to_branch(id)}>{row.name}</button>
        }
    };
    view! {
        <div class="opt branch-bar" hidden={move || few().is_empty()}>
            {icon("i i14", "#i-fork")}
            <div class="seg" role="group" aria-label="Branch">{each(few, |row| [key_of_branch(row).as_str(), " ", &row.name].concat(), button)}</div>
        </div>
    }
}

/// So many branches have a button of their own: the newest.
const MOST: usize = 4;
