use gloo_timers::callback::Timeout;
use loopscope_engine::api::ObjectKey;
use loopscope_engine::view::{self, Inspection};

use super::{Core, InspectTab, Part, Session};
use crate::platform::is_shown;

/// The object and the event list are derived at most this often while playing, in wall ms.
const DETAILS_EVERY_MS: f64 = 100.0;
/// The same when time runs faster than real.
const DETAILS_FAST_EVERY_MS: f64 = 200.0;
/// When more events come than are listed, which nobody can read, the list changes this often, in wall ms.
const FLOOD_EVERY_MS: f64 = 1_000.0;
/// So many events are listed, and in such a flood.
pub const LISTED_EVENTS: usize = 120;
const FLOOD_LISTED: usize = 30;
/// The announcer speaks at most this often while playing, in wall ms; seldom when time runs fast.
const SPEAK_EVERY_MS: u32 = 3_000;
const SPEAK_FAST_EVERY_MS: u32 = 8_000;

impl Core {
    /// Derives what is shown of the selected object, and the newest events.
    pub fn show_details(&mut self, session: Session, wall: f64, at_once: bool) {
        // No frame has everything to do while time runs fast: loops, object and events take turns.
        let is_fast = session.is_fast();
        if !at_once && is_fast && self.loops_at == wall {
            return;
        }
        let focus = &session.focus;
        let every = if is_fast { DETAILS_FAST_EVERY_MS } else { DETAILS_EVERY_MS };
        if at_once || wall - self.details_at >= every {
            self.details_at = wall;
            focus.inspection.put(self.inspect(session));
            focus.objects.put(view::objects(self.sim()));
            if !session.is_simple.get_untracked() {
                focus.closer.put(self.look_closer(session));
                self.show_desks(session);
                self.show_orders(session);
                self.show_trouble(session);
            }
            if is_fast && !at_once {
                return;
            }
        }
        let seq = session.transport.seq.get_untracked();
        let is_flood = seq.saturating_sub(self.details_seq) > LISTED_EVENTS as u64;
        let every = if is_flood { FLOOD_EVERY_MS } else { every };
        if at_once || (seq != self.details_seq && wall - self.events_at >= every) {
            (self.details_seq, self.events_at) = (seq, wall);
            // In a flood nobody can go back: what is left out comes with the pause.
            let n = if is_flood && !at_once { FLOOD_LISTED } else { LISTED_EVENTS };
            focus.events.put(view::events(self.sim(), n));
        }
    }

    /// The selected object; of one that is gone, its last state.
    fn inspect(&self, session: Session) -> Option<Inspection> {
        let focus = &session.focus;
        let key = focus.selected.get_untracked()?;
        let Some(mut found) = view::inspect(self.sim(), &key) else {
            let last = focus.inspection.get_untracked().filter(|last| last.key == key)?;
            return Some(view::gone(self.sim(), last));
        };
        if focus.managed.get_untracked() && focus.tab.get_untracked() == InspectTab::Yaml {
            found.yaml = view::yaml(self.sim(), &key, true).unwrap_or_default();
        }
        Some(found)
    }

    /// Says what happened after a while, unless something waits to be said.
    pub fn announce_later(&mut self, session: Session) {
        let seq = session.transport.seq.get_untracked();
        if self.announcer.is_some() || seq == self.announced_seq {
            return;
        }
        let delay = if session.is_fast() { SPEAK_FAST_EVERY_MS } else { SPEAK_EVERY_MS };
        self.announcer = Some(Timeout::new(delay, move || {
            session.with_core(|core| {
                core.announcer = None;
                core.announce(session);
            });
        }));
    }

    pub fn announce(&mut self, session: Session) {
        self.announcer = None;
        self.announced_seq = session.transport.seq.get_untracked();
        let leap = session.transport.leap.get_untracked();
        let stop = if leap.is_empty() { "" } else { ". " };
        session.announcement.put([leap.as_str(), stop, view::announce(self.sim()).as_str()].concat());
    }
}

impl Session {
    /// Shows an object in the inspector.
    pub fn select(self, key: ObjectKey) {
        self.transport.follow.put(false);
        self.focus.selected.put(Some(key));
        self.focus.chain.put(None);
        self.refresh();
        self.show_inspector();
    }

    /// Shows another side of the inspected object.
    pub fn inspect(self, tab: InspectTab) {
        self.focus.tab.put(tab);
        self.refresh();
    }

    pub fn show_managed(self, on: bool) {
        self.focus.managed.put(on);
        self.refresh();
    }

    /// On a narrow screen the inspector is behind a tab.
    pub(super) fn show_inspector(self) {
        if is_shown(".jump") {
            self.focus.part.put(Part::Inspect);
        }
    }

    /// Says a sentence at once.
    pub fn say(self, text: impl Into<String>) {
        self.with_core(|core| core.announcer = None);
        self.announcement.set(text.into());
    }
}
