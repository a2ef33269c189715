use super::{link, part};
use crate::session::session;
use crate::ui::{View, view, when};

/// What there is to say of an object that no longer exists, and where to go from it.
pub fn gone() -> View {
    let gone = part(session(), |it| it.gone.clone());
    when(
        move || gone.with(Option::is_some),
        move || {
            let words = move || {
                let since = gone.with(|it| it.as_ref().map(|it| it.since.clone())).unwrap_or_default();
                if since.is_empty() { "Not there at this moment".to_owned() } else { ["Gone for ", &since].concat() }
            };
            let replaced = move || gone.with(|it| it.as_ref().map(|it| it.replaced_by.clone())).unwrap_or_default();
            let owner = move || gone.with(|it| it.as_ref().and_then(|it| it.owner.clone()));
            let heirs = move || {
                let all = replaced();
                (!all.is_empty()).then(|| view! { <p>"Replaced by "{all.into_iter().map(link).collect::<View>()}</p> })
            };
            let above = move || {
                owner().map(|key| {
                    let kind = key.kind.name();
                    view! { <p>"Owner: "{kind}" "{link(key)}</p> }
                })
            };
            view! {
                <div class="insp-sec gone">
                    <p><b>{words}</b>". This is its last known state."</p>
                    {heirs}{above}
                </div>
            }
        },
    )
}
