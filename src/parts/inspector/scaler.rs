//! An autoscaler's reasoning: what it found, what follows from that, and the curve of it.

use loopscope_engine::api::Quantity;
use loopscope_engine::view::{AutoscalerView, MetricValue, PassLine};

use super::link;
use super::plot::{Axes, brief, plot};
use super::writers::closer;
use crate::session::session;
use crate::ui::{View, memo, view, when};

/// So many passes are listed, the newest ones.
const LISTED: usize = 12;
const UNKNOWN: &str = "<unknown>";

pub fn scaler() -> View {
    let session = session();
    let is_own = memo(move || {
        let key = session.focus.selected.get();
        session.focus.closer.with(|it| it.autoscaler.as_ref().is_some_and(|it| Some(&it.key) == key.as_ref()))
    });
    let other = closer(|it| it.autoscaler.as_ref().map(|it| it.key.clone()));
    let scaled_by = move || {
        let key = other.get().filter(|_| !is_own.get())?;
        Some(view! { <p class="insp-sec">"Scaled by HorizontalPodAutoscaler "{link(key)}</p> })
    };
    view! { {scaled_by}{when(move || is_own.get(), shown)} }
}

fn shown() -> View {
    let session = session();
    let it = closer(|it| it.autoscaler.clone());
    let now = memo(move || session.transport.now_ms.get() / 1_000 * 1_000);
    let content = move || {
        it.with(|it| it.as_ref().map(|it| view! { {facts(it, now.get())}{curves(it, now.get())}{decisions(&it.log)} }))
    };
    view! { <section class="insp-sec scaler" aria-label="Autoscaler">{content}</section> }
}

fn value_text(value: i64, is_percent: bool) -> String {
    match is_percent {
        true => [value.to_string().as_str(), "%"].concat(),
        false => Quantity::from_milli(value).to_string(),
    }
}

fn metric_text(value: Option<MetricValue>) -> String {
    match value {
        Some(it) => [&value_text(it.value, it.is_percent), "/", value_text(it.target, it.is_percent).as_str()].concat(),
        None => UNKNOWN.to_owned(),
    }
}

fn facts(it: &AutoscalerView, now: u64) -> View {
    let target = it.target.clone().map(|key| {
        let kind = key.kind.name();
        view! { <p>"Scales "{kind}" "{link(key)}</p> }
    });
    let figure = |words: &'static str, value: String| view! { <div><dt>{words}</dt><dd>{value}</dd></div> };
    let bounds = [it.min.to_string().as_str(), " to ", &it.max.to_string()].concat();
    let next = match it.next_pass {
        Some(at) => ["in ", &(at.0.saturating_sub(now) / 1_000).to_string(), " s"].concat(),
        None => "not planned".to_owned(),
    };
    let metric = it.log.last().map_or(UNKNOWN.to_owned(), |it| metric_text(it.value));
    view! {
        {target}
        <dl class="figures">
            {figure("now", it.current.to_string())}{figure("wanted", it.desired.to_string())}{figure("bounds", bounds)}
            {figure("metric / target", metric)}{figure("next pass", next)}
        </dl>
    }
}

/// The metric above, the sizes below, on one axis.
fn curves(it: &AutoscalerView, now: u64) -> Option<View> {
    let log = &it.log;
    let (from, to) = (log.first()?.at.0, now.max(log.last()?.at.0));
    let of = |read: &dyn Fn(&PassLine) -> Option<i64>| -> Vec<(u64, i64)> {
        log.iter().filter_map(|it| read(it).map(|value| (it.at.0, value))).collect()
    };
    let metric = of(&|it| it.value.map(|it| it.value));
    let metric = log.iter().rev().find_map(|it| it.value).map(|last| {
        let highest = metric.iter().map(|it| it.1).max().unwrap_or(0).max(last.target);
        let axes = Axes { from, to, low: 0, high: highest };
        let text = |value| value_text(value, last.is_percent);
        let words = ["Metric: ", &text(last.value), " now, at most ", &text(highest), ", target ", &text(last.target)];
        let lines = vec![("want", axes.level(last.target)), ("metric", axes.steps(&metric))];
        drawn(words.concat(), lines)
    });
    let (wanted, current) = (of(&|it| it.limited.map(i64::from)), of(&|it| it.current.map(i64::from)));
    let highest = wanted.iter().chain(&current).map(|it| it.1).max().unwrap_or(1);
    let axes = Axes { from, to, low: 0, high: highest.max(1) };
    let words = [
        "Replicas: ",
        &it.current.to_string(),
        " now, ",
        &it.desired.to_string(),
        " wanted, at most ",
        &highest.to_string(),
    ];
    let sizes = drawn(words.concat(), vec![("curve", axes.steps(&current)), ("want", axes.steps(&wanted))]);
    Some(view! {
        {metric}{sizes}
        <p class="ends sub"><span>{brief(from)}</span><span class="end">{brief(to)}</span></p>
    })
}

fn drawn(words: String, lines: Vec<(&'static str, String)>) -> View {
    view! { <figure class="drawn"><figcaption class="sub">{words.clone()}</figcaption>{plot(words, lines)}</figure> }
}

/// The log, newest first: metric → raw → stabilized → limited → written.
fn decisions(log: &[PassLine]) -> View {
    if log.is_empty() {
        return view! { <p class="sub">"No pass yet: the first comes within 15 s."</p> };
    }
    let rows = log.iter().rev().take(LISTED).map(decision).collect::<View>();
    view! {
        <h3>"Decisions, newest first"</h3>
        <table class="decisions">
            <caption class="sr">"Decisions of the autoscaler, newest first. A pass that found what the one before found is left out."</caption>
            <thead><tr>
                <th scope="col">"Time"</th><th scope="col">"Metric"</th><th scope="col">"Raw"</th>
                <th scope="col" title="Within the stabilization windows">"Stab."</th>
                <th scope="col" title="Within policies and bounds">"Lim."</th><th scope="col">"Wrote"</th>
            </tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
}

fn decision(it: &PassLine) -> View {
    let session = session();
    let seq = it.seq.0;
    let size = |n: Option<i32>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    let wrote = match it.written {
        Some((n, true)) => ["→ ", &n.to_string()].concat(),
        Some((n, false)) => [&n.to_string(), " refused"].concat(),
        None => "–".to_owned(),
    };
    let comma = if it.because.is_empty() || it.metric.is_empty() { "" } else { ". " };
    let why = [it.metric.as_str(), comma, &it.because].concat();
    view! {
        <tr>
            <th scope="row"><button class="ask" type="button" title="Why? Shows what made it so" on:click={move |_| session.select_event(seq)}>{brief(it.at.0)}</button></th>
            <td class:s-bad={it.value.is_none()}>{metric_text(it.value)}</td>
            <td>{size(it.raw)}</td><td>{size(it.stabilized)}</td><td>{size(it.limited)}</td><td><b>{wrote}</b></td>
        </tr>
        <tr class="reason"><td colspan="6">{why}</td></tr>
    }
}
