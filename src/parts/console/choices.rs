//! What may come next on the line, to choose from.

use loopscope_engine::kubectl::{Candidate, Completion};

use web_sys::Event;

use crate::atoms::yes;
use crate::platform;
use crate::ui::{State, View, each, effect, view};

/// The candidates that are shown, and which of them is chosen.
#[derive(Clone, Copy)]
pub struct Choices {
    pub all: State<Vec<Candidate>>,
    at: State<Option<usize>>,
    has_more: State<bool>,
}

impl Choices {
    pub fn new() -> Self {
        Self { all: State::new(Vec::new()), at: State::new(None), has_more: State::new(false) }
    }

    pub fn is_open(self) -> bool {
        self.all.with_untracked(|all| !all.is_empty())
    }

    pub fn open(self, completion: Completion) {
        self.at.put(None);
        self.has_more.put(completion.has_more);
        self.all.put(completion.all);
    }

    pub fn close(self) {
        self.at.put(None);
        self.all.put(Vec::new());
    }

    /// To the next one, or the one before.
    pub fn shift(self, on: bool) {
        let n = self.all.with_untracked(Vec::len);
        let next = match (self.at.get_untracked(), on) {
            (None, true) => 0,
            (None, false) => n.saturating_sub(1),
            (Some(at), true) => (at + 1) % n.max(1),
            (Some(at), false) => (at + n.saturating_sub(1)) % n.max(1),
        };
        self.at.put(Some(next));
    }

    pub fn chosen(self) -> Option<Candidate> {
        let at = self.at.get_untracked()?;
        self.all.with_untracked(|all| all.get(at).cloned())
    }

    /// The id of the chosen one, for the field that it belongs to.
    pub fn active(self) -> Option<String> {
        self.at.get().map(id)
    }
}

fn id(at: usize) -> String {
    ["choice-", at.to_string().as_str()].concat()
}

pub fn choices_view(choices: Choices, choose: impl Fn(Candidate) + Copy + 'static) -> View {
    let is_closed = move || choices.all.with(Vec::is_empty);
    effect(move || {
        if let Some(id) = choices.active() {
            platform::show(&id);
        }
    });
    let numbered = move || choices.all.get().into_iter().enumerate().collect::<Vec<_>>();
    let row = move |(at, it): (usize, Candidate)| {
        let text = it.text.clone();
        view! {
            <li role="option" id={id(at)} aria-selected={move || yes(choices.at.get() == Some(at))} on:click={move |_| choose(it.clone())}>
                {text}
            </li>
        }
    };
    let words = move || match choices.all.with(Vec::len) {
        0 => String::new(),
        n => {
            let more = if choices.has_more.get() { " and more" } else { "" };
            [n.to_string().as_str(), more, " possible: Tab or arrows choose, Enter takes"].concat()
        }
    };
    view! {
        <div class="choices" hidden=is_closed>
            <ul
                role="listbox" id="choices" tabindex="0" aria-label="Completions" on:mousedown={|event: Event| event.prevent_default()}
            >{each(numbered, |(at, it)| [at.to_string().as_str(), " ", &it.text].concat(), row)}</ul>
            <p class="sub" role="status">{words}</p>
        </div>
    }
}
