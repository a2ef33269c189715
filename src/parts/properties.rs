//! What must hold whatever happens, and whether it does. A broken one leads to the event that broke it.

use loopscope_engine::view::{InvariantRow, InvariantState, InvariantsView, Property};

use super::rove::rove_rows;
use crate::atoms::{clock, icon, phrase, plural};
use crate::session::{Part, session};
use crate::ui::{View, each, memo, view};

pub fn n_broken(view: &InvariantsView) -> usize {
    view.rows.iter().filter(|it| matches!(it.state, InvariantState::Broken { .. })).count()
}

pub fn properties_pane() -> View {
    let session = session();
    let properties = session.trouble.properties;
    let is_open = move || session.focus.pane.get() == Part::Properties;
    let is_last = move || session.focus.last.get() == Part::Properties;
    let converging = memo(move || properties.with(|it| (it.took_ms, it.under_way_ms.map(|ms| ms / 100 * 100))));
    let times = move || {
        let (took, under_way) = converging.get();
        let took = match (took, under_way) {
            (Some(ms), _) => seconds(ms),
            (None, Some(_)) => "not yet".to_owned(),
            (None, None) => "–".to_owned(),
        };
        let now = under_way.map_or_else(|| "as wanted".to_owned(), |ms| ["under way for ", &seconds(ms)].concat());
        view! {
            <dl class="props-time">
                <div><dt>"last change took"</dt><dd>{took}</dd></div><div><dt>"now"</dt><dd>{now}</dd></div>
            </dl>
        }
    };
    view! {
        <section class="pane pane-properties" class:is-open=is_open class:is-last=is_last aria-labelledby="h-props">
            <div class="pane-h">
                <h2 class="h" id="h-props" tabindex="-1">"Properties"</h2>
                <span class="sub">"what must hold, whatever happens"</span>
            </div>
            <div class="props">
                {times}
                <ul class="prop-list" tabindex="0" aria-label="Properties of this run" on:keydown=rove_rows>
                    {each(move || properties.with(|it| it.rows.clone()), key_of, row)}
                </ul>
            </div>
        </section>
    }
}

/// A row is drawn anew where its state is another one.
fn key_of(row: &InvariantRow) -> String {
    let about = row.about.as_ref().map_or_else(String::new, |key| [&*key.namespace, "/", &*key.name].concat());
    let state = match &row.state {
        InvariantState::NotApplicable => "none".to_owned(),
        InvariantState::Holds => "holds".to_owned(),
        InvariantState::Broken { seq, n, .. } => [seq.0.to_string().as_str(), " ", &n.to_string()].concat(),
    };
    [name(row.property)[0], " ", &about, " ", &state].concat()
}

fn name(property: Property) -> [&'static str; 2] {
    match property {
        Property::Surge => ["Surge bound", "never more pods than replicas and maxSurge allow"],
        Property::Availability => {
            ["Availability bound", "a rollout leaves as many pods available as maxUnavailable says"]
        }
        Property::OneController => ["One controller", "what has a controller has one, and that is there"],
        Property::Converges => ["Converges and stays", "as wanted within ten minutes, and so until somebody acts"],
        Property::OwnFields => ["Own fields only", "nobody writes a field that another manager owns"],
    }
}

fn row(row: InvariantRow) -> View {
    let session = session();
    let [name, means] = name(row.property);
    let about = row.about.as_ref().map(|key| view! { " "<span class="mono">{key.name.to_string()}</span> });
    let (shape, href, word) = match &row.state {
        InvariantState::NotApplicable => ("i i14", "#i-minus", "does not apply".to_owned()),
        InvariantState::Holds => ("i i14 s-ready", "#i-check", "holds".to_owned()),
        InvariantState::Broken { n, .. } => {
            ("i i14 s-bad", "#i-error", ["broken, ", &plural(*n as usize, "time", "times")].concat())
        }
    };
    let is_broken = matches!(row.state, InvariantState::Broken { .. });
    let breach = match &row.state {
        InvariantState::Broken { seq, at, text, .. } => {
            let (seq, text) = (seq.0, text.clone());
            let label = ["Go to the event that broke it, ", &clock(at.0)].concat();
            Some(view! {
                <button class="prop-go" type="button" tabindex="-1" title=label on:click={move |_| session.go_to_breach(seq)}>
                    <span>{phrase(&text)}</span><span class="sub">{clock(at.0)}" · go there, and why"</span>
                </button>
            })
        }
        _ => None,
    };
    view! {
        <li class="prop" class:is-broken=is_broken>
            {icon(shape, href)}
            <div>
                <p><b>{name}</b>{about}<span class="prop-word">{word}</span></p>
                <p class="sub">{means}</p>
                {breach}
            </div>
        </li>
    }
}

/// `3.4 s`, `2 min 5 s`
fn seconds(ms: u64) -> String {
    let (whole, tenth) = (ms / 1_000, ms / 100 % 10);
    match whole {
        0..60 => [whole.to_string().as_str(), ".", &tenth.to_string(), " s"].concat(),
        _ => [(whole / 60).to_string().as_str(), " min ", &(whole % 60).to_string(), " s"].concat(),
    }
}
