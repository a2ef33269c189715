//! A command and what it printed.

use loopscope_engine::kubectl::{Block, End, Piece, Stream};

use crate::atoms::{clock, icon, plural};
use crate::platform;
use crate::session::{BlockEntry, Tone, session};
use crate::ui::{Content, State, View, each, effect, view};

/// What is shown below each other: each part is drawn once and stays, so that it is read out once.
#[derive(Clone)]
enum Part {
    /// So many lines were printed before and are not kept.
    Cut(usize),
    Piece(Piece),
    /// So many lines are folded.
    Folded(usize),
    End(End),
}

fn parts(block: &Block, is_whole: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    if block.n_cut > 0 {
        parts.push(Part::Cut(block.n_cut));
    }
    let fold = block.fold().filter(|_| !is_whole);
    for piece in &block.pieces {
        match fold {
            Some((from, _, n)) if piece.number == from => parts.push(Part::Folded(n)),
            Some((from, to, _)) if (from..to).contains(&piece.number) => {}
            _ => parts.push(Part::Piece(piece.clone())),
        }
    }
    if !matches!(block.end, End::Open | End::Exit(0)) {
        parts.push(Part::End(block.end));
    }
    parts
}

fn key(part: &Part) -> String {
    match part {
        Part::Cut(_) => "cut".to_owned(),
        Part::Piece(piece) => piece.number.to_string(),
        Part::Folded(_) => "folded".to_owned(),
        Part::End(_) => "end".to_owned(),
    }
}

/// `printed` is called when something has been printed.
pub fn block_view(entry: BlockEntry, printed: impl Fn() + Copy + 'static) -> View {
    let session = session();
    let block: State<Block> = entry.block.into();
    let is_whole = State::new(false);
    let id = entry.id;
    effect(move || {
        block.track();
        printed();
    });
    let (line, at) = block.with_untracked(|it| (it.line.clone(), it.at.0));
    let copy_label = ["Copy the output of ", line.as_str()].concat();
    let copy = move |_| match platform::copy(&session.printed(id)) {
        true => session.toast("Copied", Tone::Notice),
        false => session.toast("This browser lets the page copy nothing: select the text instead", Tone::Error),
    };
    let is_silent = move || block.with(|it| it.pieces.is_empty());
    let has_failed = move || block.with(|it| matches!(it.end, End::Exit(exit) if exit != 0));
    view! {
        <li class="cmd" class:has-failed=has_failed>
            <div class="cmd-h">
                <span class="cmd-line"><span class="ps" aria-hidden="true">"$ "</span><code>{line}</code></span>
                <span class="at" title="Virtual time at which it began">{clock(at)}</span>
                <button class="btn btn-s btn-quiet" type="button" tabindex="-1" aria-label=copy_label hidden=is_silent on:click=copy>"Copy"</button>
            </div>
            {each(move || block.with(|it| parts(it, is_whole.get())), key, move |part| part_view(part, is_whole))}
        </li>
    }
}

fn part_view(part: Part, is_whole: State<bool>) -> View {
    match part {
        Part::Cut(n) => {
            view! { <p class="cmd-note">{[plural(n, "line", "lines").as_str(), " before this: too much to keep"].concat()}</p> }
        }
        Part::Piece(piece) if piece.stream == Stream::Out => view! { <pre class="out">{piece.text.to_string()}</pre> },
        Part::Piece(piece) => view! {
            <div class="err">{icon("i i12", "#i-warn")}<pre>{piece.text.to_string()}</pre></div>
        },
        Part::Folded(n) => {
            let words = ["Show ", plural(n, "more line", "more lines").as_str()].concat();
            view! {
                <p class="cmd-fold"><button class="link" type="button" tabindex="-1" on:click={move |_| is_whole.put(true)}>{words}</button></p>
            }
        }
        Part::End(End::Exit(exit)) => {
            view! { <p class="cmd-end">{icon("i i12 s-bad", "#i-error")}"exit code " {exit.unsigned_abs()}</p> }
        }
        Part::End(End::Stopped(why)) => view! { <p class="cmd-end">{icon("i i12", "#i-stop")}"Stopped: " {why}</p> },
        Part::End(End::Open) => "".content(),
    }
}
