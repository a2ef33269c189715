//! The application that a GitOps agent looks after: its two statuses, its last sync, and Git against what is there.

use serde::Serialize;

use crate::api::ObjectKey;
use crate::controllers::gitops::{against, application};
use crate::gitops::{Difference, Health, Preset, Resource, Settings, SyncState, heal_delay};
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
    /// How long the next one waits after the sync before it.
    pub heal_delay_ms: u64,
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
        heal_delay_ms: heal_delay(status.heals).0,
        next_poll: status.poll_at,
        next_look,
        objects: status.resources.iter().map(object).collect(),
        settings,
    })
}

/// A file as it is after the newest commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GitFile {
    pub path: String,
    pub text: String,
}

/// One object: what the agent last found of it, and the newest commit against the cluster at this instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GitRow {
    pub key: ObjectKey,
    /// Nothing where the agent has not looked at it.
    pub found: Option<(SyncState, Health)>,
    /// It is there, and not in Git.
    pub is_extra: bool,
    /// It is in Git, and not there.
    pub is_missing: bool,
    pub fields: Vec<Difference>,
}

/// Everything about Git and its agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GitView {
    /// Newest first.
    pub commits: Vec<CommitRow>,
    pub files: Vec<GitFile>,
    pub app: Option<AppView>,
    pub rows: Vec<GitRow>,
    /// The first file of the newest commit that cannot be read, and why.
    pub mistake: Option<String>,
}

pub fn git(simulation: &Simulation) -> GitView {
    let git = simulation.gitops();
    let head = git.repository.head();
    let settings = git.settings.clone().unwrap_or_else(|| Settings::of(Preset::ArgoCd));
    let now = head.map_or(Ok(Vec::new()), |it| against(it, &settings, simulation.api().objects()));
    let mistake = now.as_ref().err().cloned();
    let mut rows: Vec<GitRow> =
        now.unwrap_or_default().into_iter().map(|it| now_row(it, &git.status.resources)).collect();
    for it in &git.status.resources {
        if !rows.iter().any(|row| row.key == it.key) && mistake.is_some() {
            let found = Some((it.sync, it.health));
            rows.push(GitRow { found, is_missing: false, fields: Vec::new(), ..now_row(it.clone(), &[]) });
        }
    }
    let files = head.iter().flat_map(|it| it.files.iter());
    GitView {
        commits: commits(simulation),
        files: files.map(|it| GitFile { path: it.path.to_string(), text: it.text.to_string() }).collect(),
        app: app(simulation),
        rows,
        mistake,
    }
}

fn now_row(it: Resource, known: &[Resource]) -> GitRow {
    let found = known.iter().find(|known| known.key == it.key).map(|it| (it.sync, it.health));
    GitRow {
        found,
        is_extra: it.is_extra,
        is_missing: it.health == Health::Missing && !it.is_extra,
        key: it.key,
        fields: it.differences,
    }
}

/// What the product calls itself.
pub fn product(preset: Preset) -> &'static str {
    match preset {
        Preset::ArgoCd => "Argo CD",
        Preset::Flux => "Flux",
    }
}
