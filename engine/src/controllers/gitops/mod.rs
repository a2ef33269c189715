//! The agent that keeps the cluster as Git says.
//!
//! One application, whose key is the namespace that it goes to. What the agent remembers is not here but in the status
//! that it reports, so that it survives a crash as the product's own objects do.

mod compare;
mod decide;
mod health;
mod sync;

use compare::{Target, compare, is_tracked, targets};
use decide::{Decision, decide};

use crate::api::{Kind, Name, ObjectKey};
use crate::apiserver::{Change, Objects};
use crate::client::{Context, Facts, Next, Note, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::gitops::{Commit, Gitops, Health, Operation, Preset, Resource, Settings, Status, SyncState, short};
use crate::note;
use crate::sim::{Millis, Time};

/// The loop's name.
pub const NAME: &str = "GitOps agent";
/// Syncs that are remembered (`revisionHistoryLimit`).
const HISTORY: usize = 10;
/// How soon it looks again while it has not heard of its own writes.
const STALE: Millis = Millis(5);

/// The key of the one application.
pub fn application() -> ObjectKey {
    ObjectKey::new(Kind::Namespace, "", "default")
}

#[derive(Clone, Debug)]
pub struct Agent(pub Preset);

/// A sync under way.
#[derive(Clone, Debug)]
struct Sync {
    revision: Name,
    batches: std::collections::VecDeque<sync::Batch>,
    by_itself: bool,
    failure: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: u8,
    differs: Option<Facts>,
    is_quiet: bool,
    wait: Option<Millis>,
    sync: Option<Sync>,
}

impl Reconciler for Agent {
    type State = Turn;

    /// Flux hears of nothing: it looks when its interval is over.
    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let is_its = |object| is_tracked(self.0, &change.key, object);
        if self.0 == Preset::ArgoCd && (is_its(&change.object) || change.old.as_ref().is_some_and(is_its)) {
            return vec![(application(), Millis(0))];
        }
        Vec::new()
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, _key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        let Some((git, settings)) = context.git.and_then(|git| Some((git, git.settings.as_ref()?))) else {
            return Step::Done(Next::AwaitChange).into();
        };
        turn.stage += 1;
        match turn.stage {
            1 => observe(context, git, settings, turn),
            2 => {
                let differs = turn.differs.take().unwrap_or_else(|| note!("nothing differs").into());
                Stepped { is_background: turn.is_quiet, ..Step::Diff(differs).into() }
            }
            _ => act(context, git, settings, turn, outcomes),
        }
    }
}

/// Reads Git where that is due, and compares.
fn observe(context: &Context<'_>, git: &Gitops, settings: &Settings, turn: &mut Turn) -> Stepped {
    let (old, now) = (&git.status, context.now);
    if context.version < old.wrote {
        return Step::Done(Next::After(STALE)).into();
    }
    let mut status = old.clone();
    let (is_due, is_called) = (now >= old.poll_at, git.is_called(now));
    if settings.preset == Preset::Flux && !is_due && !is_called && git.open_wish().is_none() {
        return Step::Done(Next::After(old.poll_at.since(now))).into();
    }
    if is_due {
        status.poll_at = now + Millis(settings.interval_ms) + git.jitter;
    }
    let head = git.repository.head();
    if is_due || is_called {
        status.revision = head.map(|it| it.id.clone());
    }
    let known = status.revision.as_ref().and_then(|id| git.repository.find(id));
    let Some(commit) = known else {
        turn.is_quiet = true;
        let facts = note!("no commits yet");
        return Stepped { is_background: true, ..report(Step::Observe(facts.into()).into(), status) };
    };
    let found = targets(commit, settings.preset);
    let facts = match &found {
        Ok(targets) => read(commit, targets, settings, context.cache, &mut status),
        Err(why) => unreadable(commit, settings.preset, why, &mut status),
    };
    let decision = decide(git, settings, &mut status, found.as_deref().unwrap_or_default(), context);
    let is_same = (status.sync, status.health) == (old.sync, old.health)
        && (&status.revision, &status.condition) == (&old.revision, &old.condition);
    turn.is_quiet = is_same && decision.is_quiet(&status);
    turn.differs = Some(decision.facts(&status));
    if let Decision::Wait(wait, _) = &decision {
        turn.wait = Some(*wait);
    }
    if let Decision::Sync(plan) = decision {
        let targets = match git.repository.find(&plan.revision).filter(|it| it.id != commit.id) {
            Some(other) => targets_of(other, settings.preset),
            None => found.unwrap_or_default(),
        };
        let batches = sync::batches(settings, &plan, &targets, &status, context.cache);
        turn.sync =
            Some(Sync { revision: plan.revision, batches: batches.into(), by_itself: plan.by_itself, failure: None });
    }
    Stepped { is_background: turn.is_quiet, ..report(Step::Observe(facts).into(), status) }
}

fn targets_of(commit: &Commit, preset: Preset) -> Vec<Target> {
    targets(commit, preset).unwrap_or_default()
}

/// A commit against what is there, as the agent would find it if it looked now.
///
/// # Errors
/// The file that cannot be read, and why.
pub fn against(commit: &Commit, settings: &Settings, objects: &Objects) -> Result<Vec<Resource>, String> {
    targets(commit, settings.preset).map(|targets| compare(settings, &targets, objects))
}

fn report(stepped: Stepped, status: Status) -> Stepped {
    Stepped { report: Some(Box::new(status)), ..stepped }
}

fn read(commit: &Commit, targets: &[Target], settings: &Settings, cache: &Objects, status: &mut Status) -> Facts {
    status.resources = compare(settings, targets, cache);
    let count = |which: SyncState| status.resources.iter().filter(|it| it.sync == which).count();
    let n_out = count(SyncState::OutOfSync);
    status.sync = if n_out == 0 { SyncState::Synced } else { SyncState::OutOfSync };
    status.health = status.resources.iter().map(|it| it.health).max().unwrap_or_default();
    if matches!(status.condition, Some(("ComparisonError", _))) || n_out == 0 {
        status.condition = None;
    }
    let facts: Facts = note!("commit **{}**: {} objects in Git", commit.short().to_owned(), targets.len()).into();
    facts.with(note!("{} by {}", commit.title().to_owned(), commit.author.to_string()))
}

fn unreadable(commit: &Commit, preset: Preset, why: &str, status: &mut Status) -> Facts {
    status.sync = SyncState::Unknown;
    let message = match preset {
        Preset::ArgoCd => ["Failed to load target state: ", why].concat(),
        Preset::Flux => ["kustomize build failed: ", why].concat(),
    };
    let reason = if preset == Preset::ArgoCd { "ComparisonError" } else { "BuildFailed" };
    let facts: Facts = note!("commit **{}** cannot be read", commit.short().to_owned()).into();
    let facts = facts.with(note!("{}", message.clone()));
    status.condition = Some((reason, message));
    facts
}

/// Sends what is left of a sync, and reports once all is answered.
fn act(context: &Context<'_>, git: &Gitops, settings: &Settings, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
    let mut status = git.status.clone();
    let until = |at: Time| if at > context.now { at.since(context.now) } else { Millis(1) };
    let rest = until(status.poll_at);
    let Some(sync) = &mut turn.sync else {
        let wait = turn.wait.map_or(rest, |it| it.min(rest));
        return Stepped { is_background: turn.is_quiet, ..Step::Done(Next::After(wait)).into() };
    };
    for outcome in outcomes {
        match outcome {
            Ok(Some(answer)) => status.wrote = status.wrote.max(sync::heard_at(&answer)),
            Ok(None) => {}
            Err(error) if error.code() == 404 && settings.prune => {}
            Err(error) => drop(sync.failure.get_or_insert(error.message)),
        }
    }
    if let Some(batch) = sync.batches.pop_front().filter(|_| sync.failure.is_none()) {
        let step = Step::Act(batch.facts.into(), batch.actions);
        return Stepped { is_background: turn.is_quiet, ..report(step.into(), status) };
    }
    conclude(context, settings, sync, &mut status);
    report(Step::Done(Next::After(rest)).into(), status)
}

fn conclude(context: &Context<'_>, settings: &Settings, sync: &mut Sync, status: &mut Status) {
    let succeeded = sync.failure.is_none();
    let message = match (&sync.failure, settings.preset) {
        (None, Preset::ArgoCd) => "successfully synced (all tasks run)".to_owned(),
        (None, Preset::Flux) => ["Applied revision: main@sha1:", short(&sync.revision)].concat(),
        (Some(why), Preset::ArgoCd) => ["one or more objects failed to apply, reason: ", why].concat(),
        (Some(why), Preset::Flux) => ["apply failed: ", why].concat(),
    };
    status.condition = (!succeeded).then(|| match settings.preset {
        Preset::ArgoCd => ("SyncError", decide::failed(&sync.revision, &message)),
        Preset::Flux => ("ReconciliationFailed", message.clone()),
    });
    if succeeded && status.history.last().is_none_or(|(_, id)| *id != sync.revision) {
        status.history.push((context.now, sync.revision.clone()));
        let surplus = status.history.len().saturating_sub(HISTORY);
        status.history.drain(..surplus);
    }
    let (revision, by_itself, finished) = (sync.revision.clone(), sync.by_itself, context.now);
    status.operation = Some(Operation { revision, succeeded, message, finished, by_itself });
    if settings.preset == Preset::Flux && succeeded {
        status.sync = SyncState::Synced;
        status.resources.retain(|it| !it.is_extra || !settings.prune);
        for it in status.resources.iter_mut().filter(|it| !it.is_extra) {
            it.sync = SyncState::Synced;
            it.differences.clear();
        }
    }
}

/// What is wrong or right with the whole, for people.
fn state(status: &Status) -> Note {
    let n_out = status.resources.iter().filter(|it| it.sync == SyncState::OutOfSync).count();
    match (&status.condition, n_out) {
        (Some((reason, why)), _) => note!("{}: {}", *reason, why.clone()),
        (None, 0) => note!("**{}**, {}", status.sync.word(), status.health.word()),
        (None, _) => note!("**{}**: {}", status.sync.word(), first_difference(status)),
    }
}

/// `Deployment/default/web spec.replicas: Git 1, live 2`
fn first_difference(status: &Status) -> String {
    let Some(it) = status.resources.iter().find(|it| it.sync == SyncState::OutOfSync) else { return String::new() };
    let key = it.key.to_string();
    match it.differences.first() {
        Some(field) => [&key, " ", &field.path, ": Git ", &field.git, ", live ", &field.live].concat(),
        None if it.is_extra => [&key, " is not in Git"].concat(),
        None if it.health == Health::Missing => [&key, " is not there"].concat(),
        None => key,
    }
}
