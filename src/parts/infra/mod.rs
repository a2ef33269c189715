//! Infrastructure as code: what is wanted, what is remembered, what is there, and the tool between them.

mod cloud;
mod config;
mod resources;
mod terminal;

use loopscope_engine::view::InfraView;
use loopscope_engine::world::IacDeed;

use crate::session::{Part, session, you};
use crate::ui::{Derived, View, memo, view, when};

const SAMPLE: &str = include_str!("main.yaml");

pub fn infra_pane() -> View {
    let focus = session().focus;
    let is_open = move || focus.pane.get() == Part::Infra;
    let is_first = move || focus.first.get() == Part::Infra;
    let is_scheduled = infra(|it| it.schedule.is_some());
    view! {
        <section class="pane pane-desk pane-infra" class:is-open=is_open class:is-first=is_first aria-labelledby="h-infra">
            <div class="pane-h">
                <h2 class="h" id="h-infra">"Infrastructure"</h2>
                <span class="sub">{move || words(is_scheduled.get())}</span>
            </div>
            {when(move || is_open() || is_first(), desk)}
        </section>
    }
}

/// Whether anything runs by itself.
fn words(is_scheduled: bool) -> &'static str {
    match is_scheduled {
        true => "a loop: a clock runs it, see “Scheduled run” among the loops",
        false => "no loop: nothing looks at the cloud until somebody runs plan or apply",
    }
}

/// A part of what is shown, which tells only when it differs.
fn infra<T: PartialEq + Default + Send + Sync + 'static>(
    read: impl Fn(&InfraView) -> T + Copy + Send + Sync + 'static,
) -> Derived<T> {
    let desk = session().infra;
    memo(move || desk.view.with(|it| it.as_ref().map(read)).unwrap_or_default())
}

fn desk() -> View {
    let has_begun = infra(|it| !it.config.is_empty() || !it.resources.is_empty());
    let is_written = session().infra.is_changed;
    let has = move || has_begun.get() || is_written.get();
    let whole = || {
        view! { <div class="desk desk-3">{config::config()}{resources::resources()}{terminal::terminal()}</div> }
    };
    view! { {when(move || !has(), begin)}{when(has, whole)} }
}

/// Nothing is there yet: what it is, and how to begin.
fn begin() -> View {
    let session = session();
    let write = move |_| {
        session.write_config_text(SAMPLE.to_owned());
    };
    let drifted = move |_| {
        session.write_config_text(SAMPLE.to_owned());
        session.run_terraform(IacDeed::Apply { refresh_only: false, approved: true, who: you() });
    };
    view! {
        <div class="desk-none">
            <p>"Infrastructure as code: a configuration says what a cloud shall have, a state remembers what was made, and a plan compares the two with what is there. It works as Terraform does. It is no loop: nothing happens until somebody runs it, so what people change in the cloud stays unseen until then."</p>
            <div class="cures" role="group" aria-label="Begin with">
                <button class="btn btn-wrap" type="button" on:click=write><b>"A configuration"</b><span class="sub">"A service and a DNS record, written and not yet applied."</span></button>
                <button class="btn btn-wrap" type="button" on:click=drifted><b>"Configured and applied"</b><span class="sub">"The same, and terraform apply -auto-approve: two resources, 2 s each. Play to see it."</span></button>
            </div>
        </div>
    }
}
