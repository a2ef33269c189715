//! The console: kubectl's lines, and what they answer.

mod block;
mod choices;
mod prompt;

use leptos::prelude::*;
use web_sys::HtmlElement;

use super::rove::rove_rows;
use crate::atoms::{icon, plural, yes};
use crate::platform;
use crate::session::{BlockEntry, Hold, Part, Session, session};
use crate::ui::{At, View, each, effect, view, when};
use block::block_view;
use prompt::prompt;

pub fn console_pane() -> View {
    let session = session();
    let typing = session.typing;
    let list = At::<HtmlElement>::new();
    // Follows what is printed unless the person has scrolled up.
    let follows = StoredValue::new(true);
    let scrolled = move |_| {
        let at_end = list.get_untracked().is_none_or(|list| platform::is_near_end(&list, 48));
        follows.set_value(at_end);
    };
    let to_end = move || {
        if let Some(list) = list.get_untracked().filter(|_| follows.get_value()) {
            platform::next_frame(move || list.set_scroll_top(list.scroll_height()));
        }
    };
    effect(move || {
        // A line that was just entered is always looked at.
        typing.blocks.track();
        typing.hold.track();
        follows.set_value(true);
        to_end();
    });
    let is_open = move || session.focus.pane.get() == Part::Console;
    let is_first = move || session.focus.first.get() == Part::Console;
    // While lines come as time passes, they are read out once the command has ended or time stands still.
    let is_busy = move || yes(typing.hold.get() == Hold::Time && session.transport.playing.get());
    let row = move |entry: BlockEntry| block_view(entry, to_end);
    view! {
        <section class="pane pane-console" class:is-open=is_open class:is-first=is_first aria-labelledby="h-con">
            <div class="pane-h">
                <h2 class="h" id="h-con">"Console"</h2>
                <span class="sub" id="prompt-hint">"Enter runs, Tab completes, Esc then Tab leaves"</span>
            </div>
            <div
                class="term" tabindex="0" role="log" aria-live="polite" aria-busy=is_busy aria-labelledby="h-con" at=list
                on:scroll=scrolled on:keydown=rove_rows
            >
                {when(move || typing.blocks.with(Vec::is_empty), offers)}
                <ol>{each(move || typing.blocks.get(), |entry| entry.id.to_string(), row)}</ol>
            </div>
            {waiting()}
            {prompt()}
        </section>
    }
}

/// A command that a text offers to run in the console.
pub fn line_button(line: String) -> View {
    let session = session();
    let label = ["Run in the console: ", line.as_str()].concat();
    let shown = line.clone();
    view! {
        <button class="line" type="button" aria-label=label on:click={move |_| session.run_line(&line)}><code>{shown}</code></button>
    }
}

/// What one may begin with.
fn offers() -> View {
    let mut lines = vec!["kubectl get pods".to_owned()];
    if let Some(name) = session().first_deployment() {
        lines.push(["kubectl scale deployment ", &name, " --replicas=5"].concat());
        let restart = ["kubectl rollout restart deployment ", &name, " && kubectl rollout status deployment ", &name];
        lines.push(restart.concat());
    }
    lines.push("kubectl describe node node-1".to_owned());
    view! {
        <div class="offers">
            <p>"Type kubectl as in a terminal, or paste several lines. Press one to try it:"</p>
            <ul>{lines.into_iter().map(|line| view! { <li>{line_button(line)}</li> }).collect::<View>()}</ul>
        </div>
    }
}

/// What the command under way waits for, and what one can do about it.
fn waiting() -> View {
    let session = session();
    let typing = session.typing;
    let playing = session.transport.playing;
    let words = move || match (typing.hold.get(), playing.get()) {
        (Hold::Free, _) => "",
        (Hold::Editor, _) => "Waits for the editor: Apply writes the object, Cancel leaves it.",
        (Hold::Time, true) => "Goes on as time passes.",
        (Hold::Time, false) => "Waits, and virtual time is paused: nothing happens until you play.",
    };
    let queued = move || match typing.n_queued.get() {
        0 => String::new(),
        n => [" ", plural(n, "text waits", "texts wait").as_str(), " for its end."].concat(),
    };
    let is_free = move || typing.hold.get() == Hold::Free;
    let can_play = move || typing.hold.get() == Hold::Time && !playing.get();
    view! {
        <div class="wait" hidden=is_free>
            <span role="status">{words}{queued}</span>
            {when(can_play, move || view! {
                <button class="btn btn-s" type="button" title="Play (Enter in the empty prompt)" on:click={move |_| session.play()}>
                    {icon("i i14", "#i-play")}"Play"
                </button>
            })}
            {when(move || typing.hold.get() == Hold::Editor, move || view! {
                <button class="btn btn-s" type="button" on:click={move |_| to_editor(session)}>"Go to the editor"</button>
            })}
            <button class="btn btn-s" type="button" title="Stop the command (Ctrl+C in the prompt)" on:click={move |_| session.stop_line("you stopped it")}>
                {icon("i i14", "#i-stop")}"Stop"
            </button>
        </div>
    }
}

fn to_editor(session: Session) {
    session.open(Part::Manifest);
    platform::next_frame(|| platform::focus_by_id("editor"));
}
