//! The first thing a visitor sees: one loop, its code, the map, and three things to do.

use loopscope_engine::world::Command;

use super::loops::{loop_row, now};
use super::{map, outlook, stepper};
use crate::atoms::phrase;
use crate::session::{LoopEntry, Session, session};
use crate::ui::{Content, View, each, memo, view, when};

pub fn simple() -> View {
    let board = session().board;
    let shown = memo(move || {
        let of = board.simple.with(|it| it.of);
        board.loops.with(|rows| rows.iter().filter(|row| Some(row.id) == of).cloned().collect::<Vec<LoopEntry>>())
    });
    view! {
        <main class="stage">
            <section class="one" aria-labelledby="h-one">
                <div class="panel-h"><h2 class="sr" id="h-one">"One loop"</h2>{now()}</div>
                <div class="one-in">
                    <ol class="loop-list">
                        {each(move || shown.get(), |row| row.id.0.to_string(), move |entry| loop_row(entry, shown))}
                    </ol>
                    {code()}
                </div>
            </section>
            {map()}
            {deeds(session())}
        </main>
    }
}

/// The four lines of code, and the phase that each is part of.
const LINES: [(&str, usize); 4] =
    [("desired =", 0), ("actual  =", 0), ("if actual != desired", 1), ("    take one step", 2)];

/// The loop as code, with the values that its last turn put into each line.
pub fn code() -> View {
    let line = |index: usize| {
        let board = session().board;
        let (text, phase) = LINES[index];
        let line = memo(move || board.simple.with(|it| it.lines[index].clone()));
        let is_lit = move || board.code_lit.get()[phase];
        let value = move || {
            line.with(|it| match it.value.is_empty() && it.note.is_empty() {
                true => "…".content(),
                false => phrase(&it.value),
            })
        };
        view! {
            <li class:on=is_lit aria-current={move || is_lit().then_some("step")}>
                <code>{text}</code>
                <p>{value}</p>
                <p class="sub">{move || line.with(|it| it.note.clone())}</p>
            </li>
        }
    };
    view! {
        <section class="code" aria-labelledby="h-code">
            <h3 id="h-code">"The same as code"</h3>
            <ol>{[0, 1, 2, 3].map(line)}</ol>
        </section>
    }
}

/// What can be done to it.
pub fn deeds(session: Session) -> View {
    let simple = session.board.simple;
    let has_target = memo(move || simple.with(|it| it.target.is_some()));
    let has_none = memo(move || simple.with(|it| it.victim.is_none()));
    let replicas = memo(move || simple.with(|it| it.replicas));
    let delete = move |_| {
        if let Some(key) = simple.with_untracked(|it| it.victim.clone()) {
            session.delete(key);
        }
    };
    let words = move || {
        simple.with(|it| match it.is_broken {
            true => ["Restore ", it.node.as_str()].concat(),
            false => "Break a node".to_owned(),
        })
    };
    let switch = move |_| {
        session.meddle(simple.with_untracked(|it| match (it.is_broken, it.node.clone()) {
            (true, node) => Command::StartNode { node },
            (false, node) => Command::StopNode { node },
        }));
    };
    view! {
        <div class="deeds" role="group" aria-label="Actions">
            <button
                class="btn" type="button" title="Deletes the pod chosen on the map, or the first" disabled={move || has_none.get()}
                on:click=delete
            >"Delete a pod"</button>
            {when(move || has_target.get(), move || view! {
                <span class="opt"><span aria-hidden="true">"replicas"</span>{stepper(replicas, |session| session.board.simple.with_untracked(|it| it.target.clone()))}</span>
            })}
            <button class="btn" type="button" title="Cuts the power of a node that has pods" on:click=switch>{words}</button>
            {outlook()}
        </div>
    }
}
