//! Why things are as they are, and what came of what: chains of events, each of which leads to its moment.

use loopscope_engine::api::ObjectKey;
use loopscope_engine::history::BranchId;
use loopscope_engine::sim::Seq;
use loopscope_engine::view::{self, Asked, CauseLink, Effects};
use loopscope_engine::world::Instant;

use super::{InspectTab, Session, Tone};
use crate::atoms::clock;

/// Why something happened or is so. It stays as it was found, wherever in time one goes from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The event that is asked about.
    pub seq: u64,
    pub title: String,
    pub links: Vec<CauseLink>,
    /// What it led to, once that is asked.
    pub effects: Option<Effects>,
}

impl Chain {
    /// The event of which one asks what it led to: the link that was followed, else the last one.
    pub fn subject(&self, followed: Option<u64>) -> u64 {
        let is_link = |seq: &u64| self.links.iter().any(|it| it.seq == *seq);
        followed.filter(is_link).unwrap_or(self.seq)
    }
}

/// Where one came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    branch: BranchId,
    at: Instant,
}

impl Origin {
    /// `Back to 00:12.400`
    pub fn words(&self) -> String {
        ["Back to ", clock(self.at.at.0).as_str()].concat()
    }
}

impl Session {
    /// Shows why an event happened.
    pub fn select_event(self, seq: u64) {
        let links = self.with_core(|core| view::why(core.history.keeping(Seq(seq)), seq)).unwrap_or_default();
        let title = match links.last().and_then(|it| it.number) {
            Some(number) => ["Why event ", number.to_string().as_str(), "?"].concat(),
            None => "Why this event?".to_owned(),
        };
        self.show_chain(Chain { seq, title, links, effects: None });
    }

    /// Shows why a value of an object is what it is.
    pub fn ask(self, key: &ObjectKey, asked: &Asked, title: String) {
        let found = self.with_core(|core| {
            let seq = view::source(core.sim(), key, asked)?;
            Some((seq.0, view::why(core.history.keeping(seq), seq.0)))
        });
        match found.flatten().filter(|(_, links)| !links.is_empty()) {
            Some((seq, links)) => self.show_chain(Chain { seq, title, links, effects: None }),
            None => self.toast("What made it so is no longer kept", Tone::Notice),
        }
    }

    /// Shows why the only workload has as many replicas as it has.
    pub fn ask_first(self, asked: &Asked, title: String) {
        if let Some(key) = self.with_core(|core| view::first_key(core.sim())).flatten() {
            self.focus.selected.put(Some(key.clone()));
            self.ask(&key, asked, title);
            self.refresh();
        }
    }

    pub(super) fn show_chain(self, chain: Chain) {
        self.transport.follow.put(false);
        self.focus.chain.put(Some(chain));
        if self.focus.tab.get_untracked() == InspectTab::Yaml {
            self.focus.tab.put(InspectTab::Compare);
        }
        self.show_inspector();
    }

    /// Holds the chain of the inspected object as it is now: that of an earlier moment is another one.
    fn hold_chain(self, title: String) {
        if self.focus.chain.with_untracked(Option::is_some) {
            return;
        }
        let links = self.focus.inspection.with_untracked(|it| it.as_ref().map(|it| it.why.clone())).unwrap_or_default();
        if let Some(seq) = links.last().map(|it| it.seq) {
            self.focus.chain.put(Some(Chain { seq, title, links, effects: None }));
        }
    }

    /// Shows what the event that is asked about led to, or hides it again. The title is that of the chain shown.
    pub fn switch_effects(self, title: String) {
        self.hold_chain(title);
        let Some(mut chain) = self.focus.chain.get_untracked() else { return };
        chain.effects = match chain.effects {
            Some(_) => None,
            None => {
                let seq = chain.subject(self.focus.followed.get_untracked());
                // The world that one came from knows more of what followed than an earlier one.
                self.with_core(|core| view::led_to(core.later.as_ref().unwrap_or(core.sim()), seq))
            }
        };
        self.focus.chain.put(Some(chain));
    }

    /// Goes to the moment of a link of a chain, paused. The chain stays, and so does the way back.
    pub fn follow_link(self, seq: u64, title: String) {
        self.hold_chain(title);
        self.pause();
        if self.focus.origin.with_untracked(Option::is_none) {
            let from = self.with_core(|core| {
                core.later = Some(core.sim().clone());
                Origin { branch: core.history.current(), at: core.sim().instant() }
            });
            self.focus.origin.put(from);
        }
        self.focus.followed.put(Some(seq));
        self.seek_event(seq);
    }

    /// Back to where one was before following links.
    pub fn go_back(self) {
        let Some(origin) = self.focus.origin.get_untracked() else {
            return self.toast("You have not followed a link", Tone::Notice);
        };
        self.forget_origin();
        self.go(String::new(), |core| Some((origin.branch, core.history.way_to(origin.branch, origin.at)?)));
    }

    pub fn close_chain(self) {
        self.focus.chain.put(None);
        self.forget_origin();
    }

    fn forget_origin(self) {
        self.focus.origin.put(None);
        self.focus.followed.put(None);
        self.with_core(|core| core.later = None);
    }
}
