use loopscope_engine::api::Kind;
use loopscope_engine::view::{CauseLink, Effect, Effects};

use super::part;
use crate::atoms::{clock, icon, mark_icon, yes};
use crate::session::{Chain, Origin, session};
use crate::ui::{Derived, State, View, memo, view};

/// A walk along causes, newest last: of what is asked about, else of the object's state. Each link leads to its moment.
pub fn why() -> View {
    let session = session();
    let chain = session.focus.chain;
    let of_object = part(session, |it| it.why.clone());
    let is_pod = part(session, |it| it.key.kind == Kind::Pod);
    let is_off = part(session, |it| it.rows.iter().any(|row| row.is_off));
    let is_gone = part(session, |it| it.gone.as_ref().is_some_and(|gone| gone.seq > 0));
    let title = memo(move || match chain.with(|chain| chain.as_ref().map(|it| it.title.clone())) {
        Some(title) => title,
        None if is_gone.get() => "Why is it gone?".to_owned(),
        None if is_pod.get() => "Why is it so?".to_owned(),
        None if is_off.get() => "Why is this happening?".to_owned(),
        None => "How did it come to this?".to_owned(),
    });
    let links =
        memo(move || chain.with(|chain| chain.as_ref().map(|it| it.links.clone())).unwrap_or_else(|| of_object.get()));
    let whole = State::new(false);
    let list = move || links.with(|links| causes(links, whole, title));
    view! {
        <section class="insp-sec" hidden={move || links.with(Vec::is_empty)} aria-labelledby="h-why">
            <div class="sec-h">
                <h3 id="h-why">{move || title.get()}</h3>
                {way_back()}
                <button
                    class="btn btn-s btn-quiet" type="button" hidden={move || chain.with(Option::is_none)}
                    on:click={move |_| session.close_chain()}
                >{icon("i i12", "#i-x")}"Close"</button>
            </div>
            <ol class="why">{list}</ol>
            {led_to(title)}
        </section>
    }
}

/// `Back to 00:12.400`, once one has followed a link.
fn way_back() -> View {
    let session = session();
    let words = memo(move || session.focus.origin.with(|it| it.as_ref().map(Origin::words)));
    view! {
        <button
            class="btn btn-s" type="button" id="way-back" hidden={move || words.with(Option::is_none)} title="To the moment you came from (Backspace)"
            on:click={move |_| session.go_back()}
        >{icon("i i12", "#i-undo")}{move || words.get()}</button>
    }
}

/// So many links are shown of a long chain: the first and the last ones.
const SHORT: usize = 8;

fn causes(links: &[CauseLink], whole: State<bool>, title: Derived<String>) -> View {
    let last = links.last().map(|link| link.seq);
    let link = |it: &CauseLink| {
        let delay = it.after_ms.map(|ms| ["+", duration(ms).as_str()].concat());
        let gap = it.is_gap_after.then(|| view! { <li class="between"><span class="no">"…"</span><span class="sub">"what came between is no longer kept"</span></li> });
        view! {
            <li class:is-you={it.is_you} class:is-yours={it.is_yours}>
                <span class="no">{it.number.map(|number| ["#", number.to_string().as_str()].concat())}</span>
                {moment(it.seq, it.at_ms, &it.text, Some(it.seq) == last, title)}
                <span class="dt">{delay}</span>
            </li>
            {gap}
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

/// An event in a sentence, and the way to its moment.
fn moment(seq: u64, at_ms: u64, text: &str, is_last: bool, title: Derived<String>) -> View {
    let session = session();
    let is_here = move || session.focus.followed.get() == Some(seq) && session.transport.now_ms.get() == at_ms;
    let hint = [text, " (go to ", &clock(at_ms), ")"].concat();
    view! {
        <button
            type="button" class:last=is_last class:here=is_here aria-current={move || is_here().then_some("true")} title=hint
            on:click={move |_| session.follow_link(seq, title.get_untracked())}
        >{text.to_owned()}</button>
    }
}

/// What the last link led to, once that is asked.
fn led_to(title: Derived<String>) -> View {
    let session = session();
    let effects =
        memo(move || session.focus.chain.with(|it: &Option<Chain>| it.as_ref().and_then(|it| it.effects.clone())));
    let is_open = move || effects.with(Option::is_some);
    let list = move || effects.with(|it| it.as_ref().map(|it| effects_view(it, title)));
    // Of a link that was followed, its number; of the last one there is no need to say which.
    let of = move || {
        let followed = session.focus.followed.get();
        let number = session.focus.chain.with(|it| {
            let it = it.as_ref().filter(|it| it.subject(followed) != it.seq)?;
            it.links.iter().find(|link| Some(link.seq) == followed)?.number
        });
        number.map_or_else(|| "it".to_owned(), |number| ["#", number.to_string().as_str()].concat())
    };
    view! {
        <button
            class="btn btn-s" type="button" id="led-to-open" aria-controls="led-to" aria-expanded={move || yes(is_open())}
            on:click={move |_| session.switch_effects(title.get_untracked())}
        >"What did " {of} " lead to?"</button>
        <div id="led-to" hidden={move || !is_open()}>{list}</div>
    }
}

fn effects_view(effects: &Effects, title: Derived<String>) -> View {
    if effects.links.is_empty() {
        return view! { <p class="sub">"To nothing, so far."</p> };
    }
    let line = |text: &String| view! { <li>{text.clone()}</li> };
    let link = |it: &Effect| {
        let (class, shape) = mark_icon(it.mark);
        view! {
            <li data-depth={it.depth.min(4).to_string()}>
                {icon(class, shape)}
                {moment(it.seq, it.at_ms, &it.text, false, title)}
                <span class="dt">"+" {duration(it.after_ms)}</span>
            </li>
        }
    };
    let more = (effects.more > 0).then(|| {
        let text = ["and ", effects.more.to_string().as_str(), " more, further away"].concat();
        view! { <p class="sub">{text}</p> }
    });
    view! {
        <ul class="sums" aria-label="In numbers">{effects.summary.iter().map(line).collect::<View>()}</ul>
        <ol class="led" aria-label="One by one">{effects.links.iter().map(link).collect::<View>()}</ol>
        {more}
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
