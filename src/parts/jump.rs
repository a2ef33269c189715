use crate::session::{Part, session};
use crate::ui::{View, view, when};

/// On a narrow screen: which part is shown.
pub fn jump() -> View {
    let session = session();
    let focus = session.focus;
    let tab = move |part: Part| {
        let current = move || (focus.part.get() == part).then_some("true");
        view! {
            <button type="button" aria-current=current on:click={move |_| session.open(part)}>{part.name()}</button>
        }
    };
    view! {
        <nav class="jump" aria-label="Parts">{when(move || session.is_taught(), move || tab(Part::Learn))}{Part::all().map(tab).collect::<View>()}</nav>
    }
}
