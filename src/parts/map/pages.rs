use web_sys::Event;

use crate::session::{PAGE, session};
use crate::ui::{View, view};

/// The pages of a crowd's table: which pods are shown, and the ways to others.
pub fn pages() -> View {
    let session = session();
    let board = session.board;
    let last = move || board.n_listed.get().saturating_sub(1) / PAGE;
    let shown = move || {
        let (first, n) = (board.page.get() * PAGE, board.n_listed.get());
        [
            "Pods ",
            (first + 1).min(n).to_string().as_str(),
            " to ",
            (first + PAGE).min(n).to_string().as_str(),
            " of ",
            n.to_string().as_str(),
        ]
        .concat()
    };
    let turn = move |label: &'static str, by: isize| {
        let to = move || board.page.get().checked_add_signed(by).filter(|page| *page <= last());
        view! {
            <button
                class="btn btn-s" type="button" disabled={move || to().is_none()}
                on:click={move |_: Event| to().into_iter().for_each(|page| session.turn_to(page))}
            >{label}</button>
        }
    };
    view! {
        <div class="pages" role="group" aria-label="Pages of the table">
            {turn("Previous page", -1)}
            <span class="sub" aria-live="polite">{shown}</span>
            {turn("Next page", 1)}
        </div>
    }
}
