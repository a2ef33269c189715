//! What is broken on purpose, how it stands with the properties of the run, and requests on their way.

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::view::{self, Fault, FaultsView, InvariantsView, LoadView};

use super::{Core, Pace, Session, Tone};
use crate::atoms::plural;
use crate::ui::State;

/// Faster than this nobody can follow single marks on the wires.
const FASTEST: f64 = 4.0;

#[derive(Clone, Copy)]
pub struct Trouble {
    pub faults: State<FaultsView>,
    /// The program, the node and the image that switches are about, where they were chosen.
    pub program: State<Option<String>>,
    pub node: State<Option<String>>,
    pub image: State<Option<String>>,
    /// After so many requests a program is to crash.
    pub requests: State<u32>,
    pub properties: State<InvariantsView>,
    /// The load on the inspected Service, as often as the page is drawn; nothing while that would be too fast to see.
    pub flow: State<Option<LoadView>>,
}

impl Trouble {
    pub(super) fn new() -> Self {
        Self {
            faults: State::new(FaultsView::default()),
            program: State::new(None),
            node: State::new(None),
            image: State::new(None),
            requests: State::new(2),
            properties: State::new(InvariantsView::default()),
            flow: State::new(None),
        }
    }
}

impl Core {
    /// Derives faults and properties. The workspace alone shows them.
    pub(super) fn show_trouble(&self, session: Session) {
        session.trouble.faults.put(view::faults(self.sim()));
        session.trouble.properties.put(view::invariants(self.sim()));
    }

    /// Derives the requests to the inspected Service, where single ones can be followed.
    pub(super) fn show_flow(&self, session: Session) {
        let is_fast = matches!(session.pace(), Pace::Times(factor) if factor > FASTEST);
        let is_slow = !is_fast || !session.transport.playing.get_untracked();
        let is_fit = is_slow && !session.board.is_crowd.get_untracked();
        let key = session.focus.selected.get_untracked().filter(|key| is_fit && key.kind == Kind::Service);
        session.trouble.flow.put(key.and_then(|key| view::load_on(self.sim(), &key)));
    }
}

impl Session {
    /// Breaks something, or mends it again.
    pub fn switch_fault(self, fault: Fault, target: &str, on: bool) {
        let requests = self.trouble.requests.get_untracked();
        let command = self.with_core(|core| view::fault_command(core.sim(), fault, target, on, requests));
        if let Some(command) = command {
            self.board.meddled.put(true);
            self.act(command);
            self.refresh();
        }
    }

    /// Mends all that is broken on purpose, each by its own command.
    pub fn mend_all(self) {
        let commands = self.with_core(|core| view::mendings(core.sim())).unwrap_or_default();
        let n = commands.len();
        for command in commands {
            self.dispatch(command);
        }
        self.refresh();
        let words = match n {
            0 => "Nothing is broken".to_owned(),
            _ => [plural(n, "fault", "faults").as_str(), " mended"].concat(),
        };
        self.toast(words, Tone::Answer);
    }

    /// Shows the first Service in the inspector: a load can be put on it there.
    pub fn select_service(self) {
        let is_service = |key: &&ObjectKey| key.kind == Kind::Service;
        let first = self.focus.objects.with_untracked(|all| all.iter().find(is_service).cloned());
        match first {
            Some(key) => self.select(key),
            None => self.toast("There is no Service: a sample has one", Tone::Notice),
        }
    }

    /// Goes to the moment of an event, paused, and shows why it happened. There is a way back.
    pub fn go_to_breach(self, seq: u64) {
        self.select_event(seq);
        self.follow_link(seq, String::new());
    }
}
