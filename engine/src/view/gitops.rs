//! The application that a GitOps agent looks after: its two statuses, its last sync, and Git against what is there.

use serde::Serialize;

use crate::api::ObjectKey;
use crate::controllers::gitops::application;
use crate::gitops::{Difference, Health, Preset, Resource, Settings, SyncState};
use crate::sim::{Seq, Time};
use crate::world::Simulation;

/// A commit as the history lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitRow {
    pub id: String,
    /// The seven letters that people read.
    pub short: String,
    pub author: String,
    pub title: String,
    pub at: Time,
    /// The command that made it.
    pub cause: Seq,
    /// The agent has seen it, and compares with it.
    pub is_seen: bool,
    /// The last sync that went well was to it.
    pub is_deployed: bool,
}

/// What became of the last sync.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastSync {
    pub revision: String,
    pub succeeded: bool,
    pub message: String,
    pub finished: Time,
    pub by_itself: bool,
}

/// One object of the application, with the fields in which it differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppObject {
    pub key: ObjectKey,
    pub sync: SyncState,
    pub health: Health,
    /// In the cluster and no longer in Git.
    pub is_extra: bool,
    pub differences: Vec<Difference>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppView {
    pub settings: Settings,
    /// What the agent last found: whether the cluster is as Git says, and whether it works.
    pub sync: SyncState,
    pub health: Health,
    /// The commit that it compares with.
    pub revision: Option<String>,
    /// `SyncError: …`
    pub condition: Option<String>,
    pub last_sync: Option<LastSync>,
    /// Attempts at healing since the last commit.
    pub heals: u32,
    /// When it next reads Git by itself, and when it next looks at all, which may be sooner.
    pub next_poll: Time,
    pub next_look: Option<Time>,
    pub objects: Vec<AppObject>,
}

/// The history of the repository, newest first, as `git log` has it.
pub fn commits(simulation: &Simulation) -> Vec<CommitRow> {
    let git = simulation.gitops();
    let deployed = git.status.history.last().map(|(_, id)| id);
    let rows = git.repository.commits().iter().rev().map(|it| CommitRow {
        id: it.id.to_string(),
        short: it.short().to_owned(),
        author: it.author.to_string(),
        title: it.title().to_owned(),
        at: it.at,
        cause: it.cause,
        is_seen: git.status.revision.as_ref() == Some(&it.id),
        is_deployed: deployed == Some(&it.id),
    });
    rows.collect()
}

/// The application, where there is an agent.
pub fn app(simulation: &Simulation) -> Option<AppView> {
    let git = simulation.gitops();
    let (settings, status) = (git.settings.clone()?, &git.status);
    let at = simulation.agent().and_then(|at| simulation.loops().get(at.0 as usize));
    let next_look = at.and_then(|it| {
        let mut delayed = it.queue.delayed().filter(|(key, _)| **key == application());
        delayed.next().map(|(_, at)| at)
    });
    let object = |it: &Resource| AppObject {
        key: it.key.clone(),
        sync: it.sync,
        health: it.health,
        is_extra: it.is_extra,
        differences: it.differences.clone(),
    };
    Some(AppView {
        sync: status.sync,
        health: status.health,
        revision: status.revision.as_ref().map(ToString::to_string),
        condition: status.condition.as_ref().map(|(reason, why)| [reason, ": ", why].concat()),
        last_sync: status.operation.as_ref().map(|it| LastSync {
            revision: it.revision.to_string(),
            succeeded: it.succeeded,
            message: it.message.clone(),
            finished: it.finished,
            by_itself: it.by_itself,
        }),
        heals: status.heals,
        next_poll: status.poll_at,
        next_look,
        objects: status.resources.iter().map(object).collect(),
        settings,
    })
}

/// What the product calls itself.
pub fn product(preset: Preset) -> &'static str {
    match preset {
        Preset::ArgoCd => "Argo CD",
        Preset::Flux => "Flux",
    }
}
