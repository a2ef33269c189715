//! What GitOps is about, as plain data: a repository with its commits, how an agent is set, and what it last found.
//!
//! The agent itself is a loop like the others (`controllers/gitops`).

mod repository;
mod settings;
mod status;

pub use repository::*;
pub use settings::*;
pub use status::*;

use crate::api::Name;
use crate::sim::{Millis, Time};

/// How long after a commit a webhook has told the agent of it.
pub const WEBHOOK_TAKES: Millis = Millis(1_000);

/// What a person asks of the agent: a sync, or a rollback to an earlier commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Counts wishes: each is carried out once.
    pub number: u64,
    pub revision: Name,
    pub prune: bool,
}

/// All that an agent reads which is not in the API server.
#[derive(Clone, Debug, Default)]
pub struct Gitops {
    pub repository: Repository,
    /// Nothing where there is no agent.
    pub settings: Option<Settings>,
    pub status: Status,
    pub wish: Option<Wish>,
    /// What chance adds to the interval of this poll.
    pub jitter: Millis,
}

impl Gitops {
    /// Whether a webhook has told of a commit that the agent does not know.
    pub fn is_called(&self, now: Time) -> bool {
        let listens = self.settings.as_ref().is_some_and(|it| it.webhook);
        self.repository.head().is_some_and(|head| {
            listens && self.status.revision.as_ref() != Some(&head.id) && now >= head.at + WEBHOOK_TAKES
        })
    }

    /// A wish that has not been carried out.
    pub fn open_wish(&self) -> Option<&Wish> {
        self.wish.as_ref().filter(|it| it.number > self.status.wishes)
    }
}
