//! Whether an agent syncs (argo-cd `controller/appcontroller.go`, `autoSync`).

use super::compare::Target;
use super::state;
use crate::api::Name;
use crate::client::{Context, Facts};
use crate::gitops::{Gitops, Preset, Settings, Status, SyncState, heal_delay, short};
use crate::note;
use crate::sim::Millis;

/// A sync that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub revision: Name,
    pub prune: bool,
    /// Only what differs, as a healing does.
    pub only_differing: bool,
    pub by_itself: bool,
    why: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing is done, and why where that is worth a word.
    Rest(&'static str),
    /// Healing waits.
    Wait(Millis, u32),
    Sync(Plan),
}

/// Why the same commit is not tried again.
pub fn failed(revision: &str, message: &str) -> String {
    ["Failed last sync attempt to [", short(revision), "]: ", message].concat()
}

const NEW_COMMIT: &str = "a new commit";
const DRIFT: &str = "the cluster has drifted";
const BY_HAND: &str = "somebody asked for it";
const INTERVAL: &str = "the interval is over";

pub fn decide(
    git: &Gitops,
    settings: &Settings,
    status: &mut Status,
    targets: &[Target],
    context: &Context<'_>,
) -> Decision {
    if let Some(wish) = git.open_wish() {
        status.wishes = wish.number;
        status.heals = 0;
        let (revision, prune) = (wish.revision.clone(), wish.prune);
        return Decision::Sync(Plan { revision, prune, only_differing: false, by_itself: false, why: BY_HAND });
    }
    let Some(revision) = status.revision.clone().filter(|_| settings.automated) else { return Decision::Rest("") };
    let is_unreadable = status.sync == SyncState::Unknown;
    let prune = settings.prune;
    if is_unreadable {
        return Decision::Rest("");
    }
    let wipes = prune && targets.is_empty() && !status.resources.is_empty() && !settings.allow_empty;
    if settings.preset == Preset::Flux {
        if wipes || targets.is_empty() {
            status.condition = Some(("BuildFailed", "kustomize build failed: kustomization.yaml is empty".into()));
            return Decision::Rest("");
        }
        return Decision::Sync(Plan { revision, prune, only_differing: false, by_itself: true, why: INTERVAL });
    }
    if status.sync == SyncState::Synced {
        return Decision::Rest("");
    }
    let mut out = status.resources.iter().filter(|it| it.sync == SyncState::OutOfSync);
    if !prune && out.all(|it| it.is_extra) {
        return Decision::Rest("need to prune extra resources only but automated prune is disabled");
    }
    let last = status.operation.as_ref().filter(|it| it.revision == revision);
    if let Some(last) = last {
        if !last.succeeded {
            status.condition = Some(("SyncError", failed(&revision, &last.message)));
            return Decision::Rest("the last sync to this commit failed, and it is not tried again");
        }
        if !settings.self_heal {
            return Decision::Rest("the last sync was to this commit already");
        }
    }
    if wipes {
        let why = ["Skipping sync attempt to ", short(&revision), ": auto-sync will wipe out all resources"].concat();
        status.condition = Some(("SyncError", why));
        return Decision::Rest("");
    }
    let Some(last) = last else {
        status.heals = 0;
        return Decision::Sync(Plan { revision, prune, only_differing: false, by_itself: true, why: NEW_COMMIT });
    };
    let due = last.finished + heal_delay(status.heals);
    if due > context.now {
        return Decision::Wait(due.since(context.now), status.heals);
    }
    status.heals += 1;
    Decision::Sync(Plan { revision, prune, only_differing: true, by_itself: true, why: DRIFT })
}

impl Decision {
    /// Part of the steady hum.
    pub fn is_quiet(&self, status: &Status) -> bool {
        match self {
            Decision::Rest(_) => true,
            Decision::Wait(..) => false,
            // Flux applies all of it whether or not anything differs.
            Decision::Sync(plan) => plan.why == INTERVAL && status.sync == SyncState::Synced,
        }
    }

    pub fn facts(&self, status: &Status) -> Facts {
        let facts = Facts::from(state(status));
        match self {
            Decision::Rest("") => facts,
            Decision::Rest(why) => facts.with(note!("no sync: {}", *why)),
            Decision::Wait(ms, n) => {
                let wait = crate::client::Arg::Millis(ms.0);
                facts.with(note!("heals in {}, after {} attempts", wait, u64::from(*n)))
            }
            Decision::Sync(plan) => facts.with(note!("syncs, since {}", plan.why)),
        }
    }
}
