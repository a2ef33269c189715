//! What people do with Git and with the agent.

use serde::{Deserialize, Serialize};

use super::faults::{done, invalid};
use super::process::ProcessKind;
use super::{Outcome, Simulation};
use crate::client::{LoopIndex, Note};
use crate::controllers::gitops::{NAME, application};
use crate::gitops::{Commit, Draft, Edit, Gitops, Settings, WEBHOOK_TAKES, Wish, short};
use crate::note;
use crate::sim::{Millis, Seq};

/// A command about Git or about the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "git")]
pub enum GitDeed {
    /// `git commit`
    Commit { author: String, message: String, edits: Vec<Edit> },
    /// `git revert`
    Revert { author: String, commit: String },
    /// Starts the agent, or sets it in another way.
    Set { settings: Settings },
    /// Lets the agent read Git now, rather than when its interval is over.
    Refresh,
    /// Asks for a sync to the newest commit.
    Sync { prune: bool },
    /// Asks for a sync to an earlier one.
    Rollback { commit: String },
}

/// The agent and what it reads.
#[derive(Clone, Default)]
pub(super) struct GitWorld {
    pub data: Gitops,
    pub process: Option<usize>,
    pub at: Option<LoopIndex>,
    /// The command that made the commit which the agent has just seen for the first time.
    pub fresh: Option<Seq>,
}

impl GitDeed {
    pub(super) fn note(&self) -> Note {
        match self {
            GitDeed::Commit { author, message, .. } => {
                note!("committed **{}** as {}", message.lines().next().unwrap_or_default().to_owned(), author.clone())
            }
            GitDeed::Revert { commit, .. } => note!("reverted commit **{}**", short(commit).to_owned()),
            GitDeed::Set { settings } => note!("set the GitOps agent: **{}**", settings.preset.word()),
            GitDeed::Refresh => note!("asked for a refresh"),
            GitDeed::Sync { prune: true } => note!("asked for a sync with prune"),
            GitDeed::Sync { .. } => note!("asked for a sync"),
            GitDeed::Rollback { commit } => note!("asked for a rollback to **{}**", short(commit).to_owned()),
        }
    }
}

impl Simulation {
    /// The repository, the agent's settings and what it last found.
    pub fn gitops(&self) -> &Gitops {
        &self.git.data
    }

    /// The agent's loop, once there is one.
    pub fn agent(&self) -> Option<LoopIndex> {
        self.git.at
    }

    pub(super) fn do_git(&mut self, deed: GitDeed, seq: Seq) -> Outcome {
        let at = self.now();
        match deed {
            GitDeed::Commit { author, message, edits } => {
                let draft = Draft { author: &author, message: &message, at, cause: seq };
                let made = self.git.data.repository.commit(&draft, &edits);
                self.committed(made, seq)
            }
            GitDeed::Revert { author, commit } => {
                let draft = Draft { author: &author, message: "", at, cause: seq };
                let made = self.git.data.repository.revert(&draft, &commit);
                self.committed(made, seq)
            }
            GitDeed::Set { settings } => self.set_agent(settings, seq),
            GitDeed::Refresh if self.git.data.settings.is_none() => invalid("there is no agent".into()),
            GitDeed::Refresh => {
                self.git.data.status.poll_at = at;
                self.wake_agent(Millis(0), seq);
                done("refresh requested".into())
            }
            GitDeed::Sync { prune } => {
                let head = self.git.data.repository.head().map(|it| it.id.clone());
                match head {
                    Some(head) => self.wish(head, prune, seq),
                    None => invalid("the repository has no commits".into()),
                }
            }
            GitDeed::Rollback { commit } => {
                let Some(found) = self.git.data.repository.find(&commit).map(|it| it.id.clone()) else {
                    return invalid(["fatal: bad revision '", &commit, "'"].concat());
                };
                match &self.git.data.settings {
                    // `server/application/application.go`
                    Some(it) if it.automated => {
                        invalid("rollback cannot be initiated when auto-sync is enabled".into())
                    }
                    _ => self.wish(found, false, seq),
                }
            }
        }
    }

    fn committed(&mut self, made: Result<std::rc::Rc<Commit>, String>, seq: Seq) -> Outcome {
        match made {
            Ok(commit) => {
                if self.git.data.settings.as_ref().is_some_and(|it| it.webhook) {
                    self.wake_agent(WEBHOOK_TAKES, seq);
                }
                done(["[main ", commit.short(), "] ", commit.title()].concat())
            }
            Err(why) => invalid(why),
        }
    }

    pub(super) fn wake_agent(&mut self, after: Millis, seq: Seq) {
        let is_up = self.git.process.and_then(|at| self.processes.get(at)).is_some_and(|it| it.is_up);
        if let Some(at) = self.git.at.filter(|_| is_up) {
            self.enqueue(at, application(), after, seq);
        }
    }

    fn wish(&mut self, revision: crate::api::Name, prune: bool, seq: Seq) -> Outcome {
        if self.git.data.settings.is_none() {
            return invalid("there is no agent".into());
        }
        let number = self.git.data.wish.as_ref().map_or(0, |it| it.number) + 1;
        let line = ["sync to ", short(&revision), " requested"].concat();
        self.git.data.wish = Some(Wish { number, revision, prune });
        self.wake_agent(Millis(0), seq);
        done(line)
    }

    fn set_agent(&mut self, settings: Settings, seq: Seq) -> Outcome {
        let preset = settings.preset;
        if let Some(old) = self.git.data.settings.as_ref().filter(|it| it.preset != preset) {
            return invalid(["the agent is ", old.preset.word(), ": one world has one"].concat());
        }
        let is_new = self.git.data.settings.replace(settings).is_none();
        if is_new {
            let process = self.processes.len();
            self.git.process = Some(process);
            self.start_process(ProcessKind::GitOps(preset), seq, Millis(0));
            self.git.at = self.processes.get(process).and_then(|it| it.loops.first().copied());
        }
        // What is set anew is looked at now; the poll comes when it would have come.
        self.wake_agent(Millis(0), seq);
        done([NAME, ": ", preset.word(), if is_new { " started" } else { " set" }].concat())
    }

    /// How far chance puts off the next poll, drawn as the agent's turn comes to it.
    pub(super) fn draw_jitter(&mut self) {
        let git = &mut self.git.data;
        let bound = git.settings.as_ref().map_or(0, Settings::jitter_ms);
        if bound > 0 && self.queue.now() >= git.status.poll_at {
            git.jitter = Millis(self.random.below("git poll", bound + 1));
        }
    }

    /// Keeps what the agent reports; a commit that it has seen for the first time is the cause of what it finds.
    pub(super) fn keep_report(&mut self, status: crate::gitops::Status) {
        let is_new = status.revision != self.git.data.status.revision;
        let commit = status.revision.as_ref().filter(|_| is_new).and_then(|id| self.git.data.repository.find(id));
        self.git.fresh = commit.map(|it| it.cause);
        self.git.data.status = status;
    }
}
