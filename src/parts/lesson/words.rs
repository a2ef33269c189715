//! What a lesson says: text with words that light up a part of the page.

use loopscope_engine::lesson::{Part as Named, Piece, Prose, read_key};

use crate::atoms::yes;
use crate::platform::{self, LitPart};
use crate::session::{Part, Session, session};
use crate::ui::{Content, State, View, view};

/// Paragraphs.
pub fn prose(prose: &Prose, lit: State<String>) -> View {
    let paragraph = |pieces: &Vec<Piece>| {
        let pieces = pieces.iter().map(|it| piece(it, lit)).collect::<View>();
        view! { <p>{pieces}</p> }
    };
    prose.0.iter().map(paragraph).collect()
}

/// A sentence without paragraphs of its own.
pub fn sentence(prose: &Prose, lit: State<String>) -> View {
    prose.0.iter().flatten().map(|it| piece(it, lit)).collect()
}

fn piece(piece: &Piece, lit: State<String>) -> View {
    match piece {
        Piece::Plain(text) => text.clone().content(),
        Piece::Code(text) => view! { <code>{text.clone()}</code> },
        Piece::Bold(text) => view! { <b>{text.clone()}</b> },
        Piece::Lights(text, part) => word(text, part, lit),
    }
}

/// Words that light up a part while they are pressed.
fn word(text: &str, part: &Named, lit: State<String>) -> View {
    let session = session();
    let name = [part.what.as_str(), "/", &part.which].concat();
    let (part, mine) = (part.clone(), name.clone());
    let is_lit = move || yes(lit.with(|it| *it == mine));
    let switch = move |_| {
        let was_lit = lit.with_untracked(|it| *it == name);
        platform::unlight();
        lit.put(String::new());
        if !was_lit {
            lit.put(name.clone());
            show(session, part.clone());
        }
    };
    view! {
        <button class="word" type="button" aria-pressed=is_lit title="Show where that is" on:click=switch>{text.to_owned()}</button>
    }
}

/// Brings the part to where it can be seen, and lights it up.
fn show(session: Session, part: Named) {
    let which = part.which.to_ascii_lowercase();
    let lit = |selector: &'static str, words_in: &'static str, words: &str| LitPart {
        selector,
        words_in,
        words: words.to_owned(),
    };
    let node = which.strip_prefix("node/").map(str::to_owned);
    let (place, found) = match part.what.as_str() {
        "loop" => {
            session.board.all_loops.put(true);
            (Part::Loops, lit(".loop", "h3", &which))
        }
        "phase" => {
            let selector = match which.as_str() {
                "observe" => ".phase:nth-child(1)",
                "diff" => ".phase:nth-child(2)",
                _ => ".phase:nth-child(3)",
            };
            (Part::Loops, lit(selector, "", ""))
        }
        "process" => (Part::Loops, lit(".store", "", "")),
        "server" => (Part::Loops, lit(".store", "", "")),
        "room" => (Part::Loops, lit(".room", "", "")),
        "field" => {
            let field = which.rsplit('.').next().unwrap_or_default();
            (Part::Inspect, lit(".cmp tr", "th", field))
        }
        "object" => match node {
            Some(name) => (Part::Map, lit(".node", "h3", &name)),
            None => {
                if let Some(key) = read_key(&part.which) {
                    session.select(key);
                }
                (Part::Inspect, lit(".inspector", "", ""))
            }
        },
        _ => view_named(&which),
    };
    if platform::is_shown(".jump") {
        session.open(place);
    }
    if matches!(place, Part::Console) {
        session.open(place);
    }
    // Once what has changed is drawn.
    platform::next_frame(move || {
        if !platform::light(&found) {
            session.say("That part of the page is not shown now");
        }
    });
}

fn view_named(which: &str) -> (Part, LitPart) {
    let (place, selector) = match which {
        "loop" | "code" => (Part::Loops, "#loops"),
        "map" => (Part::Map, "#map"),
        "diff" => (Part::Inspect, ".inspector"),
        "timeline" => (Part::Learn, ".timeline"),
        _ => (Part::Console, ".pane-console"),
    };
    (place, LitPart { selector, words_in: "", words: String::new() })
}
