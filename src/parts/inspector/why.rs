use loopscope_engine::api::Kind;
use loopscope_engine::view::CauseLink;

use super::part;
use crate::atoms::icon;
use crate::session::session;
use crate::ui::{State, View, memo, view};

/// A walk along causes, newest last: of the pressed event, else of the object's state.
pub fn why() -> View {
    let session = session();
    let event = session.focus.event;
    let of_object = part(session, |it| it.why.clone());
    let is_pod = part(session, |it| it.key.kind == Kind::Pod);
    let is_off = part(session, |it| it.rows.iter().any(|row| row.is_off));
    let is_gone = part(session, |it| it.gone.is_some());
    let number = move || event.with(|event| event.as_ref().map(|(_, links)| links.last().and_then(|link| link.number)));
    let title = move || match number() {
        Some(Some(number)) => ["Why event ", number.to_string().as_str(), "?"].concat(),
        Some(None) => "Why this event?".to_owned(),
        None if is_gone.get() => "Why is it gone?".to_owned(),
        None if is_pod.get() => "Why is it so?".to_owned(),
        None if is_off.get() => "Why is this happening?".to_owned(),
        None => "How did it come to this?".to_owned(),
    };
    let links = memo(move || {
        event.with(|event| event.as_ref().map(|(_, links)| links.clone())).unwrap_or_else(|| of_object.get())
    });
    let whole = State::new(false);
    let chain = move || links.with(|links| chain(links, whole));
    view! {
        <section class="insp-sec" hidden={move || links.with(Vec::is_empty)} aria-labelledby="h-why">
            <div class="sec-h">
                <h3 id="h-why">{title}</h3>
                <button
                    class="btn btn-s btn-quiet" type="button" hidden={move || event.with(Option::is_none)}
                    on:click={move |_| session.close_event()}
                >{icon("i i12", "#i-x")}"Close"</button>
            </div>
            <ol class="why">{chain}</ol>
        </section>
    }
}

/// So many links are shown of a long chain: the first and the last ones.
const SHORT: usize = 8;

fn chain(links: &[CauseLink], whole: State<bool>) -> View {
    let session = session();
    let last = links.last().map(|link| link.seq);
    let link = |link: &CauseLink| {
        let seq = link.seq;
        let is_last = Some(seq) == last;
        let delay = link.after_ms.map(|ms| ["+", duration(ms).as_str()].concat());
        view! {
            <li class:is-you={link.is_you} class:is-yours={link.is_yours}>
                <span class="no">{link.number.map(|number| ["#", number.to_string().as_str()].concat())}</span>
                <button
                    type="button" class:here=is_last aria-current={is_last.then_some("true")} title={link.text.clone()}
                    on:click={move |_| session.select_event(seq)}
                >{link.text.clone()}</button>
                <span class="dt">{delay}</span>
            </li>
        }
    };
    let n_hidden = if whole.get() { 0 } else { links.len().saturating_sub(SHORT) };
    if n_hidden < 2 {
        return links.iter().map(link).collect();
    }
    let (head, tail) = links.split_at(1);
    let is_yours = head.iter().any(|link| link.is_yours);
    let text = [n_hidden.to_string().as_str(), " more between"].concat();
    view! {
        {head.iter().map(link).collect::<View>()}
        <li class="between" class:is-yours=is_yours>
            <span class="no">"…"</span>
            <button type="button" class="sub" on:click={move |_| whole.set(true)}>{text}</button>
        </li>
        {tail.iter().skip(n_hidden).map(link).collect::<View>()}
    }
}

/// `12 ms`, `3.4 s`, `5 min`
fn duration(ms: u64) -> String {
    let n = |n: u64| n.to_string();
    match ms {
        0..1_000 => [n(ms).as_str(), " ms"].concat(),
        1_000..10_000 => [n(ms / 1_000).as_str(), ".", n(ms / 100 % 10).as_str(), " s"].concat(),
        10_000..600_000 => [n(ms / 1_000).as_str(), " s"].concat(),
        _ => [n(ms / 60_000).as_str(), " min"].concat(),
    }
}
