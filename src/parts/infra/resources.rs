//! What is wanted, remembered and there, attribute by attribute; the cloud can be changed by hand.

use loopscope_engine::view::{AttributeRow, ResourceRow};
use loopscope_engine::world::IacDeed;

use super::{cloud, infra};
use crate::atoms::{icon, plural};
use crate::session::session;
use crate::ui::{View, each, memo, view};

pub fn resources() -> View {
    let session = session();
    let desk = session.infra;
    let serial = infra(|it| it.serial.to_string());
    let rows = infra(|it| it.resources.clone());
    // One row stays while its values change, so that nobody's typing is lost.
    let ids = memo(move || rows.with(|all| all.iter().map(key).collect::<Vec<_>>()));
    let one = move |id: String| {
        let row = memo(move || desk.view.with(|it| it.as_ref()?.resources.iter().find(|it| key(it) == id).cloned()));
        view! { <li>{move || row.with(|it| it.as_ref().map(resource))}{cloud::hand(row)}</li> }
    };
    view! {
        <section class="desk-part" aria-label="Resources">
            <div class="sec-h"><h3>"Configuration | state | cloud"</h3><span class="sub">"state serial "{move || serial.get()}</span></div>
            <ul class="synced">{each(move || ids.get(), String::clone, one)}</ul>
            {cloud::make()}
        </section>
    }
}

/// What a row is known by as long as it is the same thing.
fn key(it: &ResourceRow) -> String {
    [it.address.as_deref().unwrap_or_default(), " ", it.id.as_deref().unwrap_or_default()].concat()
}

/// What stands between the three.
fn state(it: &ResourceRow) -> (&'static str, &'static str, String) {
    let drift = it.attributes.iter().filter(|it| it.has_drifted && !it.is_ignored).count();
    let change = it.attributes.iter().filter(|it| it.is_to_change).count();
    match (it.is_wanted, it.is_known, it.is_there) {
        (_, false, true) => {
            ("i i14 s-unknown", "#pod-unknown", "not in the state: Terraform does not know it".to_owned())
        }
        (_, true, false) => ("i i14 s-bad", "#i-error", "gone from the cloud; the state still has it".to_owned()),
        (true, false, false) => ("i i14 s-creating", "#i-plus", "not made yet".to_owned()),
        (false, true, true) => {
            ("i i14 s-notready", "#i-warn", "not in the configuration: the next apply destroys it".to_owned())
        }
        _ if drift > 0 => {
            let n = plural(drift, "attribute has", "attributes have");
            ("i i14 s-notready", "#i-warn", ["drift: ", &n, " changed since the state was written"].concat())
        }
        _ if change > 0 => {
            ("i i14 s-creating", "#i-warn", ["to change: ", &plural(change, "attribute", "attributes")].concat())
        }
        _ => ("i i14 s-ready", "#i-check", "no difference".to_owned()),
    }
}

fn resource(it: &ResourceRow) -> View {
    let session = session();
    let name = it.address.clone().unwrap_or_else(|| it.kind.to_owned());
    let (class, shape, words) = state(it);
    let id = it.id.clone().map(|id| view! { <span class="sub mono">{id}</span> });
    let import = it.importable.first().zip(it.id.clone()).map(|(address, id)| {
        let (address, words) = (address.clone(), ["Import as ", address].concat());
        let import = move |_| session.run_terraform(IacDeed::Import { address: address.clone(), id: id.clone() });
        view! { <button class="btn btn-s" type="button" on:click=import>{words}</button> }
    });
    let label = ["Attributes of ", &name].concat();
    let shown = it.attributes.iter().filter(|it| it.wanted.is_some() || it.known.is_some() || it.actual.is_some());
    view! {
        <div class="synced-h"><b class="mono">{name}</b>{id}<span class="tag end">{icon(class, shape)}{words}</span></div>
        <table class="sides-of mono" aria-label=label>
            <thead><tr><th scope="col">"Attribute"</th><th scope="col">"Config"</th><th scope="col">"State"</th><th scope="col">"Cloud"</th></tr></thead>
            <tbody>{shown.map(attribute).collect::<View>()}</tbody>
        </table>
        {import}
    }
}

fn attribute(it: &AttributeRow) -> View {
    let value = |text: &Option<String>| match text {
        Some(text) => view! { <span>{text.clone()}</span> },
        None => view! { <span class="sub">"none"</span> },
    };
    let mark = it.has_drifted.then(|| view! { <b class="delta">" drift"</b> });
    let ignored = it.is_ignored.then(|| view! { <span class="sub">" ignored"</span> });
    view! {
        <tr><th scope="row">{it.name}</th><td>{value(&it.wanted)}{ignored}</td><td>{value(&it.known)}</td><td>{value(&it.actual)}{mark}</td></tr>
    }
}
