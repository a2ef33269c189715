//! Level against edge: two worlds of one seed, to which everything is done alike, and that differ in one thing only.

use loopscope_engine::sim::Millis;
use loopscope_engine::view::{CauseLink, Missed, PodRow, TwinSide, Verdict};
use loopscope_engine::world::{Command, Mishap, Sample, Switch, Type};

use super::inspector::plot::{Axes, brief, plot};
use super::loops::loop_row;
use crate::atoms::{clock, icon, icon_of, plural, pod_icon, yes};
use crate::session::{LoopEntry, Session, session};
use crate::ui::{State, View, each, memo, view, when};

const NAMES: [&str; 2] = ["Level-triggered", "Edge-triggered"];
const WAYS: [&str; 2] = ["looks at what is there, each time", "counts the events that it hears"];
const SAME: &str = "Same cluster, same seed, same faults, same commands. Only the way of listening differs.";
const TEN_MINUTES: Millis = Millis(600_000);

pub fn twins() -> View {
    let session = session();
    view! {
        <main class="stage duo" id="map" tabindex="-1" aria-labelledby="h-duo">
            <div class="lead">
                <h2 id="h-duo">"Miss some events. Who still gets it right?"</h2>
                <p role="status">{move || if session.twins.is_behind.get() { "The other world is on its way to this moment…" } else { SAME }}</p>
                <button class="btn btn-s" type="button" on:click={move |_| session.show_twins(false)}>{icon("i i12", "#i-x")}"Close"</button>
            </div>
            {deeds()}
            <div class="duo-sides">{[0, 1].map(side)}</div>
            {course()}
        </main>
    }
}

fn side(index: usize) -> View {
    let session = session();
    let it = session.twins.sides[index];
    let verdict = memo(move || it.with(|it| (it.verdict, it.words.clone())));
    let number = move |read: fn(&TwinSide) -> i32| move || it.with(|it| read(it).to_string());
    let class = move || match verdict.with(|it| it.0) {
        Verdict::Converged => "i s-ready",
        Verdict::Stuck => "i s-bad",
        _ => "i",
    };
    let shape = move || match verdict.with(|it| it.0) {
        Verdict::Empty => "#ring-idle",
        Verdict::Converged => "#i-check",
        Verdict::Converging => "#ring-act",
        Verdict::Away => "#ring-off",
        Verdict::Stuck => "#i-error",
    };
    let is_stuck = move || verdict.with(|it| it.0 == Verdict::Stuck);
    let remembers = memo(move || it.with(|it| it.remembers.clone()));
    let why = session.twins.whys[index];
    let is_asked = move || yes(why.with(Option::is_some));
    let label = ["Why, ", NAMES[index]].concat();
    view! {
        <section class="box" class:is-stuck=is_stuck aria-label={NAMES[index]}>
            <div class="duo-h">
                <p class="n" aria-hidden="true">{number(|it| it.is)}<small>"/"{number(|it| it.want)}</small></p>
                <div><h3>{NAMES[index]}</h3><p class="sub">{WAYS[index]}</p></div>
                <p class="verdict">{icon_of(class, shape)}<span>{move || verdict.with(|it| it.1.clone())}</span></p>
            </div>
            <dl class="sr"><dt>"wants"</dt><dd>{number(|it| it.want)}</dd><dt>"ready"</dt><dd>{number(|it| it.is)}</dd></dl>
            {loop_of(index)}
            <dl class="card-lines">
                <div><dt>"Remembers"</dt><dd>{move || remembers.get()}</dd></div>
            </dl>
            <ul class="duo-pods" aria-label="Pods">{each(move || it.with(|it| it.pods.clone()), key_of_pod, pod)}</ul>
            {missed(index)}
            <div class="duo-why">
                <button class="btn btn-s" type="button" aria-label=label aria-expanded=is_asked on:click={move |_| session.ask_twin(index)}>"Why?"</button>
                {move || why.with(|why| why.as_ref().map(|why| view! {
                    <p>{why.sentence.clone()}</p>
                    <ol class="why" aria-label="Causes, the newest last">{why.links.iter().map(link).collect::<View>()}</ol>
                }))}
            </div>
        </section>
    }
}

/// The ReplicaSet controller's row, as among the loops.
fn loop_of(index: usize) -> View {
    let row = session().twins.rows[index];
    let shown = memo(move || row.with(|row| row.iter().cloned().collect::<Vec<LoopEntry>>()));
    let key = |entry: &LoopEntry| entry.id.0.to_string();
    view! {
        <div class="loops"><ol class="loop-list">{each(move || shown.get(), key, move |entry| loop_row(entry, shown))}</ol></div>
    }
}

fn key_of_pod(pod: &PodRow) -> String {
    [pod.uid.to_string().as_str(), " ", &pod.label].concat()
}

fn pod(pod: PodRow) -> View {
    let (class, href) = pod_icon(pod.class);
    let name = [pod.stem.as_str(), &pod.tail].concat();
    view! { <li class="slot-in">{icon(class, href)}<span class="mono">{name}</span><span class="pod-word">{pod.word}</span></li> }
}

/// The events that did not come as they happened.
fn missed(index: usize) -> View {
    let it = session().twins.sides[index];
    let missed = memo(move || it.with(|it| (it.missed.clone(), it.n_missed)));
    let title =
        move || [plural(missed.with(|it| it.1), "event", "events").as_str(), " not heard as it happened"].concat();
    let needs = if index == 0 { "Needs none of them: a list tells it all." } else { "Nobody tells it again." };
    let line = |it: &Missed| {
        let (word, sign) = if it.is_deletion { ("DELETED", "−1") } else { ("ADDED", "+1") };
        let how = if it.is_twice { "heard twice" } else { "never heard" };
        let seconds = brief(it.at_ms);
        view! {
            <li>{icon("i i12 s-bad", "#m-error")}<span>{seconds}</span><span class="mono">{word}</span><span class="mono clip">{it.pod.clone()}</span><span>{how}</span><span>{sign}</span></li>
        }
    };
    let list = move || {
        missed.with(|(list, _)| {
            (!list.is_empty()).then(|| {
                let lines = list.iter().map(line).collect::<View>();
                view! { <div class="lost"><h4>{title()}</h4><ol>{lines}</ol><p class="sub">{needs}</p></div> }
            })
        })
    };
    view! { {list} }
}

fn link(it: &CauseLink) -> View {
    let session = session();
    let (seq, at) = (it.number.map(|n| ["#", n.to_string().as_str()].concat()), it.at_ms);
    let hint = [it.text.as_str(), " (go to ", &clock(at), ")"].concat();
    view! {
        <li class:is-you={it.is_you} class:is-yours={it.is_yours}>
            <span class="no">{seq}</span>
            <button type="button" title=hint on:click={move |_| session.seek_ms(at)}>{it.text.clone()}</button>
            <span class="dt">{clock(at)}</span>
        </li>
    }
}

/// The ready pods of both over time.
fn course() -> View {
    let session = session();
    let curve = |index: usize| {
        let steps = session.twins.curves[index];
        let now = memo(move || session.transport.now_ms.get() / 1_000 * 1_000);
        move || steps.with(|steps| drawn(index, steps, now.get()))
    };
    let end = move || brief(session.transport.now_ms.get());
    view! {
        <section class="box" aria-labelledby="h-course">
            <div class="box-h"><h3 id="h-course">"The same time, twice"</h3><span class="sub">"ready pods; dashed: wanted"</span></div>
            <div class="duo-sides">{curve(0)}{curve(1)}</div>
            <p class="ends sub"><span>"00:00"</span><span class="end">{end}</span></p>
        </section>
    }
}

fn drawn(index: usize, steps: &[Sample], now: u64) -> View {
    let highest = steps.iter().map(|it| it.want.max(it.ready)).max().unwrap_or(1).max(1);
    let axes = Axes { from: 0, to: now.max(1_000), low: 0, high: highest.into() };
    let points = |read: fn(&Sample) -> i32| -> Vec<(u64, i64)> {
        steps.iter().map(|it| (it.at.0, i64::from(read(it)))).collect()
    };
    let last = steps.last().map_or(0, |it| it.ready);
    // Since it was first complete.
    let full = steps.iter().position(|it| it.want > 0 && it.ready >= it.want).unwrap_or(0);
    let least = steps[full.min(steps.len())..].iter().map(|it| it.ready).min().unwrap_or(0);
    let words = [NAMES[index], ": ", &last.to_string(), " ready now, at least ", &least.to_string(), " once complete"];
    let words = words.concat();
    let lines = vec![("want", axes.steps(&points(|it| it.want))), ("curve", axes.steps(&points(|it| it.ready)))];
    view! { <figure class="drawn"><figcaption class="sub">{words.clone()}</figcaption>{plot(words, lines)}</figure> }
}

/// What one can do to both.
fn deeds() -> View {
    let session = session();
    let is_up = memo(move || session.twins.sides[0].with(|it| it.switches.is_up));
    let words = move || if is_up.get() { "Stop both controllers" } else { "Start both controllers" };
    let power = move |_| {
        let is_up = is_up.get_untracked();
        session.to_both(|process| match is_up {
            true => Command::StopController { process },
            false => Command::StartController { process },
        });
    };
    view! {
        <section class="box try" aria-labelledby="h-deeds">
            <div class="box-h"><h3 id="h-deeds">"Try it"</h3><span class="sub">"both sides get the same command"</span></div>
            <div class="actions">
                <button class="btn" type="button" on:click=power>{icon("i i12", "#i-power")}{words}</button>
                <button class="btn" type="button" on:click={move |_| session.delete_first(1)}>"Delete a pod"</button>
                <button class="btn" type="button" on:click={move |_| session.delete_first(2)}>"Delete two pods"</button>
                <button class="btn" type="button" on:click={move |_| session.pass(TEN_MINUTES.0)}>"Let ten minutes pass"</button>
            </div>
            {watch(session)}
            {switches(session)}
        </section>
    }
}

const TYPES: [(&str, Option<Type>); 4] =
    [("any", None), ("deleted", Some(Type::Deleted)), ("added", Some(Type::Added)), ("modified", Some(Type::Modified))];

/// What becomes of the next event about a pod.
fn watch(session: Session) -> View {
    let of = State::new(0_usize);
    let choice = |(index, (name, _)): (usize, &(&'static str, Option<Type>))| {
        view! { <button type="button" aria-pressed={move || yes(of.get() == index)} on:click={move |_| of.put(index)}>{*name}</button> }
    };
    let act = move |(name, mishap): (&'static str, Mishap)| {
        let disturb = move |_| {
            let of = TYPES[of.get_untracked()].1;
            session.to_both(|process| Command::DisturbWatch { process, mishap, next: 1, of });
        };
        view! { <button class="btn btn-s" type="button" on:click=disturb>{name}</button> }
    };
    view! {
        <div class="actions" role="group" aria-label="The next event about a pod">
            <span class="opt"><span aria-hidden="true">"next pod event"</span><span class="seg" role="group" aria-label="Of this type">{TYPES.iter().enumerate().map(choice).collect::<View>()}</span></span>
            {[("Lose it", Mishap::Drop), ("Tell it twice", Mishap::Duplicate), ("Tell it late", Mishap::Reorder)].map(act)}
        </div>
    }
}

/// Switches of both programs: what they mean to one of the two alone is said.
fn switches(session: Session) -> View {
    let it = session.twins.sides[0];
    let switch = move |name: &'static str, read: fn(&TwinSide) -> bool, act: fn(String, bool) -> Command| {
        let is_on = memo(move || it.with(read));
        let press = move |_| session.to_both(|process| act(process, !is_on.get_untracked()));
        view! { <button class="btn btn-s switch" type="button" aria-pressed={move || yes(is_on.get())} on:click=press>{name}</button> }
    };
    view! {
        <div class="actions" role="group" aria-label="Switches of both controllers">
            {switch("Relist on restart (edge)", |it| it.switches.relists, |process, on| Command::SetSwitch { process, switch: Switch::Relists, on })}
            {switch("Expectations (level)", |it| it.switches.expects, |process, on| Command::SetExpectations { process, on })}
            {switch("Retries after a conflict", |it| it.switches.retries, |process, on| Command::SetSwitch { process, switch: Switch::RetriesConflicts, on })}
        </div>
    }
}

/// The way here, in the workspace.
pub fn twin_button() -> View {
    let session = session();
    let is_there = memo(move || session.board.room.with(Option::is_none));
    when(
        move || is_there.get(),
        move || {
            view! { <button class="btn btn-s btn-quiet" type="button" title="This world beside one whose ReplicaSet controller counts events" on:click={move |_| session.show_twins(true)}>"Level against edge"</button> }
        },
    )
}
