use loopscope_engine::view::{Chip, ChipState, LoopId, LoopRow, PhaseCell};

use crate::atoms::{dial, icon, icon_of, phrase, plural, yes};
use crate::session::{LoopEntry, LoopsView, session};
use crate::ui::{Content, Derived, State, View, memo, view, when};

const NAMES: [&str; 3] = ["Observe", "Diff", "Act"];
const ICONS: [[&str; 2]; 3] =
    [["#ph-observe", "#ph-observe-on"], ["#ph-diff", "#ph-diff-on"], ["#ph-act", "#ph-act-on"]];
const RINGS: [&str; 3] = ["#ring-observe", "#ring-diff", "#ring-act"];

/// One loop: queue, and what its last turn observed, found different and did.
pub fn loop_row(entry: LoopEntry, shown: Derived<Vec<LoopEntry>>) -> View {
    let LoopEntry { id, row, lit, .. } = entry;
    let row = State::from(row);
    let lit = State::from(lit);
    let is_current = move || row.with(|row| row.is_current);
    let is_lit = move || lit.get().contains(&true);
    let label = move |what: &'static str| move || row.with(|row| [what, row.name.as_str()].concat());
    let board = session().board;
    let store = board.store;
    let is_open = memo(move || board.loops_view.get() == LoopsView::Cards || board.open_loop.get() == Some(id));
    let sender = memo(move || {
        let from = store.with(|store| store.in_flight.as_ref().map(|(from, _)| *from));
        shown.with(|rows| {
            let place = |id| rows.iter().position(|row| row.id == id);
            from.and_then(place).zip(place(id))
        })
    });
    let is_quiet = memo(move || {
        let is_active = shown.with(|rows| rows.iter().any(|row| row.id == id && row.is_active));
        !is_active && row.with(|row| row.cells.iter().all(Option::is_none))
    });
    let sends = move || sender.get().is_some_and(|(from, here)| from == here);
    let passes = move || sender.get().is_some_and(|(from, here)| from < here);
    view! {
        <li class="loop" class:is-acting=is_current class:is-lit=is_lit class:is-quiet={move || is_quiet.get() && !is_open.get()} class:is-open={move || is_open.get()}>
            {identity(id, is_open, row, lit)}
            <span class="wire wire-in" aria-hidden="true"><span class="tip"></span></span>
            {chips(row)}
            <ol class="phases" aria-label={label("Last turn of ")}>
                {[0, 1, 2].map(|index| phase_view(row, lit, index))}
            </ol>
            <span class="wire wire-out" class:from=sends class:pass=passes aria-hidden="true">
                {when(sends, || view! { <span class="half"></span><span class="dot"></span> })}
            </span>
            {when(move || is_open.get(), move || more(row))}
        </li>
    }
}

/// What a row has no room for: what the loop hears of, how old its cache is, how often it ran, what it waits for.
fn more(row: State<LoopRow>) -> View {
    let part = move |read: fn(&LoopRow) -> String| memo(move || row.with(read));
    let cache = part(|row| {
        let lag = row.cache;
        let (seen, store) = (lag.seen.to_string(), lag.store.to_string());
        let behind = plural(lag.behind, "change on its way", "changes on their way");
        let note = match (lag.is_cut, lag.behind) {
            (true, _) => ", cut off",
            (_, 0) => ", current",
            _ => return ["rv ", &seen, " of ", &store, ", ", &behind].concat(),
        };
        ["rv ", &seen, " of ", &store, note].concat()
    });
    let handled = part(turns);
    let is_behind = move || row.with(|row| row.cache.is_cut || row.cache.behind > 0);
    view! {
        <dl class="loop-more">
            <div><dt>"watches"</dt><dd>{move || row.with(|row| row.watches)}</dd></div>
            <div class:is-behind=is_behind><dt>"cache"</dt><dd>{move || cache.get()}</dd></div>
            <div><dt>"handled"</dt><dd>{move || handled.get()}</dd></div>
            <div><dt>"next"</dt><dd>{move || row.with(|row| row.waits.clone())}</dd></div>
        </dl>
    }
}

fn turns(row: &LoopRow) -> String {
    let mut text = plural(row.turns as usize, "turn", "turns");
    if row.retries > 0 {
        text.push_str(", ");
        text.push_str(&row.retries.to_string());
        text.push_str(" tried again");
    }
    text
}

fn identity(id: LoopId, is_open: Derived<bool>, row: State<LoopRow>, lit: State<[bool; 3]>) -> View {
    let session = session();
    let open = session.board.open_loop;
    let ring = move || match row.with(|row| row.is_down) {
        true => "#ring-off",
        false => match latest(&lit.get(), row) {
            Some(index) => RINGS[index],
            None => "#ring-idle",
        },
    };
    let name = move || row.with(|row| row.name.clone());
    let switch = move |_| {
        open.put((open.get_untracked() != Some(id)).then_some(id));
    };
    let is_cards = move || yes(session.board.loops_view.get() == LoopsView::Cards);
    // The simple view has room for one row.
    let heading = match session.is_simple.get_untracked() {
        true => name.content(),
        false => view! {
            <button
                class="loop-open" type="button" tabindex="-1" title="Show as a card" aria-expanded={move || yes(is_open.get())}
                aria-disabled=is_cards on:click=switch
            >{name}</button>
        },
    };
    view! {
        <div class="loop-id">
            {icon_of(|| "i", ring)}
            <h3>{heading}</h3>
            <p class="sub">{move || row.with(|row| row.waits.clone())}</p>
        </div>
    }
}

/// The phase to draw in the ring: the one under way, else the lit one that ran last.
fn latest(lit: &[bool; 3], row: State<LoopRow>) -> Option<usize> {
    row.with(|row| {
        row.lit.map(|phase| phase as usize).or_else(|| {
            (0..3).filter(|index| lit[*index]).max_by_key(|index| row.cells[*index].as_ref().map_or(0, |cell| cell.seq))
        })
    })
}

fn chips(row: State<LoopRow>) -> View {
    let queue = memo(move || row.with(|row| (row.queue.clone(), row.more)));
    let label = move || row.with(|row| ["Queue of ", row.name.as_str()].concat());
    let list = move || {
        queue.with(|(chips, more)| {
            if chips.is_empty() {
                return view! { <li class="faint">"empty"</li> };
            }
            let more = (*more > 0).then(|| view! { <li class="sub more">"+" {*more}</li> });
            view! { {chips.iter().map(chip_view).collect::<View>()} {more} }
        })
    };
    view! { <ul class="queue" aria-label=label>{list}</ul> }
}

/// A key; one that waits for its time with how long still.
fn chip_view(chip: &Chip) -> View {
    let (class, means) = chip_words(chip.state);
    let left = chip.left;
    let wait = left.map(|_| view! { {dial(move || left, || "dial")}<span class="chip-t">{chip.wait.clone()}</span> });
    view! {
        <li><span class=class title={chip.text.clone()}><span class="clip">{chip.text.clone()}</span>{wait}</span><span class="sr">{means}</span></li>
    }
}

fn chip_words(state: ChipState) -> (&'static str, &'static str) {
    match state {
        ChipState::Running => ("chip chip-run", " being handled"),
        ChipState::InFlight => ("chip chip-fly", " waits for the API server's answer"),
        ChipState::Waiting => ("chip", " waits its turn"),
        ChipState::Dirty => ("chip chip-dirty", " changed while running, queued again"),
        ChipState::Delayed => ("chip chip-wait", " waits for its time"),
        ChipState::BackOff => ("chip chip-back", " failed, waits to be tried again"),
    }
}

fn phase_view(row: State<LoopRow>, lit: State<[bool; 3]>, index: usize) -> View {
    let cell = memo(move || row.with(|row| row.cells[index].clone()));
    let is_lit = move || lit.get()[index];
    let is_step = move || (latest(&lit.get(), row) == Some(index)).then_some("step");
    let is_failed = move || cell.with(|cell| cell.as_ref().is_some_and(|cell| cell.failed));
    let text = move |read: fn(&PhaseCell) -> View| cell.with(|cell| cell.as_ref().map(read));
    view! {
        <li class="phase" class:on=is_lit class:is-failed=is_failed aria-current=is_step>
            <span class="ph-name">
                {icon_of(|| "i i12", move || ICONS[index][usize::from(is_lit())])}{NAMES[index]}
            </span>
            <p>{move || text(|cell| phrase(&cell.text))}</p>
            <p class="sub">{move || text(|cell| cell.detail.clone().content())}</p>
            <span class="phase-mark" aria-hidden="true">
                {when(is_lit, move || icon("i i14", ICONS[index][1]))}
                {when(move || is_failed() && !is_lit(), || icon("i i14 s-bad", "#m-error"))}
            </span>
        </li>
    }
}
