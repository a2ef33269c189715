//! The lesson beside the workspace: what a step says, the bet, what may be done, and what came of it.

mod bet;
mod goal;
mod list;
mod words;

use std::rc::Rc;

use leptos::prelude::{GetValue, SetValue, StoredValue, WithValue};
use loopscope_engine::lesson::{Deed, Step};

use crate::atoms::{icon, icon_of, yes};
use crate::parts::deeds::Sheets;
use crate::platform;
use crate::session::{Learning, Script, Session, Stand, StepMark, session};
use crate::ui::{State, View, each, effect, memo, view, when};
use bet::bet;
use goal::{came, stand};
pub use list::lessons_dialog;
use list::open_after;
use words::prose;

/// The open lesson; nothing where there is none.
pub fn lesson(sheets: Sheets) -> View {
    let session = session();
    let Some(learning) = session.learning() else { return View::List(Vec::new()) };
    when(move || !learning.is_over.get(), move || rail(session, learning, sheets))
}

fn rail(session: Session, learning: Learning, sheets: Sheets) -> View {
    let script = learning.script.get_value();
    let n = script.course.steps.len();
    let what = if script.course.is_free { "Challenge " } else { "Step " };
    let place = move || [what, &(learning.at.get() + 1).to_string(), " of ", &n.to_string()].concat();
    let steps = script.clone();
    // Another step may begin only after a way to where it does.
    let was_at = StoredValue::new(learning.at.get_untracked());
    effect(move || {
        let at = learning.at.get();
        if was_at.get_value() != at {
            was_at.set_value(at);
            read();
        }
    });
    view! {
        <section class="lesson" id="learn" aria-labelledby="h-lesson">
            <div class="panel-h">
                <h2 class="h grow" id="h-lesson">{script.title.clone()}</h2><span class="sub">{place}</span>
                <button class="btn btn-s btn-icon btn-quiet" type="button" aria-label="Leave the lesson" title="Leave the lesson; the world stays" on:click={move |_| leave(session)}>
                    {icon("i i12", "#i-x")}
                </button>
            </div>
            <div class="lesson-body">
                <ol class="lesson-steps" aria-label="Steps of the lesson">
                    {(0..n).map(|index| step_row(session, learning, &steps, index)).collect::<View>()}
                </ol>
                {each(move || vec![learning.at.get()], |at| at.to_string(), move |at| step_view(session, learning, sheets, at))}
            </div>
        </section>
    }
}

/// The name of a step, or its number.
fn name_of(script: &Script, index: usize) -> String {
    let title = script.course.steps.get(index).map(|it| it.title.clone()).unwrap_or_default();
    if title.is_empty() { ["Step ", (index + 1).to_string().as_str()].concat() } else { title }
}

fn step_row(session: Session, learning: Learning, script: &Rc<Script>, index: usize) -> View {
    let name = name_of(script, index);
    let mark = memo(move || learning.marks.with(|it| it.get(index).copied().unwrap_or(StepMark::Ahead)));
    let is_here = move || learning.at.get() == index;
    let shape = move || match mark.get() {
        StepMark::Done => "#i-check",
        _ if is_here() => "#i-right",
        StepMark::Begun => "#ring-observe",
        StepMark::Ahead => "#ring-idle",
    };
    let note = move || if mark.get() == StepMark::Done { ", done" } else { "" };
    view! {
        <li>
            <button type="button" aria-current={move || is_here().then_some("step")} on:click={move |_| go_to(session, index)}>
                {icon_of(|| "i i12", shape)}<span>{name}</span><span class="sr">{note}</span>
            </button>
        </li>
    }
}

/// Goes to a step, and begins to read it.
pub fn go_to(session: Session, index: usize) {
    session.take_step(index);
    read();
}

/// Puts the focus to the beginning of the step.
fn read() {
    platform::next_frame(|| platform::focus_by_id("h-step"));
}

fn step_view(session: Session, learning: Learning, sheets: Sheets, at: usize) -> View {
    let script = learning.script.get_value();
    let Some(step) = script.course.steps.get(at) else { return View::List(Vec::new()) };
    let lit = State::new(String::new());
    let told = {
        let script = script.clone();
        move || script.course.steps.get(at).map_or_else(|| View::List(Vec::new()), |step| solution(session, step))
    };
    let goal = step.goal.is_some();
    let (deeds, outcome) =
        (deeds(session, learning, &step.deeds), came(session, learning, sheets, script.clone(), at, lit));
    view! {
        <div class="lesson-text">
            <h3 id="h-step" tabindex="-1">{name_of(&script, at)}</h3>
            <div class="prose">{prose(&step.text, lit)}</div>
        </div>
        {skipped(session, learning, at)}
        <div class="lesson-act">
            {step.prediction.as_ref().map(|it| bet(session, learning, it, lit))}
            {deeds}
            {goal.then(|| run(session, learning))}
            {goal.then(|| stand(learning))}
        </div>
        <div class="lesson-out" aria-live="polite">
            {when(move || learning.is_told.get(), told)}
            {outcome}
        </div>
        {foot(session, learning, script.course.steps.len(), goal)}
    }
}

/// Leaves the lesson; the focus goes to what it was about.
fn leave(session: Session) {
    session.leave_lesson();
    platform::next_frame(|| platform::focus_by_id("map"));
}

/// A step builds on what was done in those before it.
fn skipped(session: Session, learning: Learning, at: usize) -> Option<View> {
    if learning.script.with_value(|it| it.course.is_free) {
        return None;
    }
    let has_goal = move |index: usize| {
        learning.script.with_value(|it| it.course.steps.get(index).is_some_and(|step| step.goal.is_some()))
    };
    let first = memo(move || {
        learning.marks.with(|all| {
            let mut before = all.iter().take(at).enumerate();
            before.find(|(index, mark)| has_goal(*index) && **mark != StepMark::Done).map(|(index, _)| index)
        })
    });
    let words = move || first.get().map_or_else(String::new, |it| ["Go to step ", &(it + 1).to_string()].concat());
    let go = move |_| {
        if let Some(index) = first.get_untracked() {
            go_to(session, index);
        }
    };
    let note = move || {
        view! {
            <p class="lesson-skipped">"A step before this one is not done. What this one asks for may be out of reach. "
                <button class="link" type="button" on:click=go>{words}</button>
            </p>
        }
    };
    Some(when(move || first.get().is_some(), note))
}

/// What is proposed to be done.
fn deeds(session: Session, learning: Learning, deeds: &[Deed]) -> Option<View> {
    let button = |(index, deed): (usize, &Deed)| {
        let label = if deed.label.is_empty() { deed.run.clone() } else { deed.label.clone() };
        let is_short = deed.run.lines().count() == 1 && !deed.label.is_empty();
        let text = memo(move || learning.lines.with(|it| it.get(index).cloned().flatten().unwrap_or_default()));
        let line = is_short.then(|| view! { <code class="lesson-run">{move || text.get()}</code> });
        view! { <li><button class="btn btn-wrap" type="button" on:click={move |_| session.do_deed(index)}>{label}</button>{line}</li> }
    };
    let all = deeds.iter().enumerate().map(button).collect::<View>();
    (!deeds.is_empty()).then(|| view! { <ul class="lesson-do" aria-label="What to do">{all}</ul> })
}

/// Lets time pass, at the chosen speed or as fast as can be.
fn run(session: Session, learning: Learning) -> View {
    let is_met = move || learning.stand.get() == Stand::Met;
    let playing = session.transport.playing;
    let words = move || match (learning.skipping.get(), playing.get()) {
        (false, false) => "Let it run",
        _ => "Pause",
    };
    let shape = move || if words() == "Let it run" { "#i-play" } else { "#i-pause" };
    let switch = move |_| match learning.skipping.get_untracked() || playing.get_untracked() {
        true => session.pause(),
        false => session.play(),
    };
    view! {
        <p class="lesson-go">
            <button class="btn" class:btn-main={move || !is_met()} type="button" on:click=switch>{icon_of(|| "i", shape)}<span>{words}</span></button>
            <button
                class="btn" type="button" title="As fast as this machine can, to where the goal is met"
                aria-disabled={move || yes(is_met() && learning.n_due.get() == 0)} on:click={move |_| session.skip_to_goal()}
            >{icon("i", "#i-skip")}<span>"Skip to goal"</span></button>
        </p>
    }
}

/// The commands that reach the goal.
fn solution(session: Session, step: &Step) -> View {
    let line = move |deed: &Deed| {
        let at = match deed.at.0 {
            0 => String::new(),
            ms => ["after ", (ms / 1_000).to_string().as_str(), " s: "].concat(),
        };
        view! { <li><span class="sub">{at}</span><code class="lesson-run">{session.filled(&deed.run)}</code></li> }
    };
    if step.solution.is_empty() {
        return view! { <p class="sub">"Waiting is all it takes: let it run, or skip to the goal."</p> };
    }
    view! {
        <div class="lesson-told">
            <ol aria-label="What reaches the goal">{step.solution.iter().map(line).collect::<View>()}</ol>
            <button class="btn btn-s" type="button" on:click={move |_| session.do_solution()}>"Do this for me"</button>
        </div>
    }
}

/// The ways on, back and around.
fn foot(session: Session, learning: Learning, n: usize, has_goal: bool) -> View {
    let is_last = move || learning.at.get() + 1 >= n;
    let is_free = learning.script.with_value(|it| it.course.is_free);
    let is_open = move || matches!(learning.stand.get(), Stand::Met | Stand::Reading);
    // What was reached while one looked on should not need a search for it.
    let was_there = StoredValue::new(learning.came.with_untracked(Option::is_some));
    effect(move || {
        let is_there = learning.came.with(Option::is_some);
        if is_there && !was_there.get_value() {
            platform::next_frame(|| platform::bring_into("lesson-came"));
        }
        was_there.set_value(is_there);
    });
    let tell = has_goal.then(|| {
        view! {
            <button class="btn btn-s" type="button" aria-expanded={move || yes(learning.is_told.get())} on:click={move |_| session.tell_solution()}>
                {move || if learning.is_told.get() { "Hide it" } else { "Show me" }}
            </button>
        }
    });
    view! {
        <div class="lesson-foot">
            <button class="btn btn-s" type="button" title="Back to where this step began" on:click={move |_| session.replay_step()}>
                {icon("i i12", "#i-restart")}"Replay step"
            </button>
            {tell}
            <button
                class="btn btn-s" class:btn-main=is_open type="button" hidden=is_last disabled={move || !is_open() && !is_free} on:click={move |_| session.next_step(true)}
            >"Next"</button>
        </div>
    }
}
