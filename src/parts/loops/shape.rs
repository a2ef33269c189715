//! Loops of five kinds laid over each other: the columns are the same. What is not in this world only says what it would
//! do.

use loopscope_engine::view::{LoopId, PhaseCell, ShapeCard};

use crate::atoms::{icon, icon_of, phrase};
use crate::session::{LoopEntry, session};
use crate::ui::{Content, Derived, State, View, each, memo, view};

const NAMES: [&str; 3] = ["Observe", "Diff", "Act"];
const ICONS: [[&str; 2]; 3] =
    [["#ph-observe", "#ph-observe-on"], ["#ph-diff", "#ph-diff-on"], ["#ph-act", "#ph-act-on"]];

pub fn shape() -> View {
    let shapes = session().board.shapes;
    let names = memo(move || shapes.with(|all| all.iter().map(|it| (it.name, it.id)).collect::<Vec<_>>()));
    let key = |(name, id): &(&'static str, Option<LoopId>)| match id {
        Some(id) => [*name, " ", id.0.to_string().as_str()].concat(),
        None => (*name).to_owned(),
    };
    let heads = [0, 1, 2].map(|at| view! { <span>{icon("i i12", ICONS[at][0])}{NAMES[at]}</span> });
    view! {
        <div class="shape">
            <div class="shape-heads" aria-hidden="true"><span>"Loop"</span>{heads}</div>
            <ol class="shapes" aria-label="Loops, laid over each other">
                {each(move || names.get(), key, move |(name, id)| card(name, id, shapes))}
            </ol>
        </div>
    }
}

fn card(name: &'static str, id: Option<LoopId>, shapes: State<Vec<ShapeCard>>) -> View {
    let board = session().board;
    let it = memo(move || shapes.with(|all| all.iter().find(|it| it.name == name).cloned()));
    let is_here = memo(move || it.with(|it| it.as_ref().is_some_and(|it| it.is_here)));
    let words = |all: &Vec<ShapeCard>| all.iter().find(|it| it.name == name).map(|it| (it.turns, it.phases));
    let (turns, phases) = shapes.with_untracked(words).unwrap_or_default();
    // The lights belong to its row among the loops.
    let entry = memo(move || board.loops.with(|rows| rows.iter().find(|row| Some(row.id) == id).cloned()));
    let lit = memo(move || {
        entry
            .with(|it| it.as_ref().map(|it: &LoopEntry| State::from(it.lit.clone())))
            .map_or([false; 3], |lit| lit.get())
    });
    let tag = move || if is_here.get() { "in this world" } else { "not in this world" };
    let icons = move |at: usize| icon_of(|| "i i12", move || ICONS[at][usize::from(lit.get()[at])]);
    let cell = move |at: usize| {
        let found = memo(move || it.with(|it| it.as_ref().and_then(|it| it.cells[at].clone())));
        let is_failed = move || found.with(|it| it.as_ref().is_some_and(|it| it.failed));
        let is_lit = move || lit.get()[at];
        view! {
            <li class="shape-cell" class:on=is_lit class:is-failed=is_failed aria-current={move || is_lit().then_some("step")}>
                <span class="shape-ph">{icons(at)}{NAMES[at]}</span>
                {move || content(&found, is_here)}
                <p class="sub shape-what">{phases[at]}</p>
            </li>
        }
    };
    view! {
        <li class="shape-card" class:is-elsewhere={move || !is_here.get()}>
            <div class="shape-id">
                <h3>{name}</h3><p class="sub">{turns}</p><p class="tag">{tag}</p>
            </div>
            <ol class="shape-cells" aria-label={["Turn of ", name].concat()}>{[0, 1, 2].map(cell)}</ol>
        </li>
    }
}

/// What the last turn found or did; nothing of a loop that is elsewhere.
fn content(found: &Derived<Option<PhaseCell>>, is_here: Derived<bool>) -> View {
    found.with(|it| match it {
        Some(cell) => {
            let detail = (!cell.detail.is_empty()).then(|| view! { <span class="sub">" "{cell.detail.clone()}</span> });
            view! { <p>{phrase(&cell.text)}{detail}</p> }
        }
        None if is_here.get() => view! { <p class="faint">"nothing in its last turn"</p> },
        None => "".content(),
    })
}
