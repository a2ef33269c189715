//! What is shown of a thermostat's room, and of the orders beside a wish.

use loopscope_engine::api::{Kind, ObjectKey};
use loopscope_engine::view;
use loopscope_engine::world::{Command, RoomSetting};

use super::why::Chain;
use super::{Core, Part, Session, Tone};

/// While playing, its curve is drawn this often, in wall ms.
const EVERY_MS: f64 = 100.0;

impl Core {
    pub(super) fn show_room(&mut self, session: Session, wall: f64, playing: bool) {
        if !playing || wall - self.room_at >= EVERY_MS {
            self.room_at = wall;
            session.board.room.put(view::room(self.sim()));
        }
    }

    /// The orders, while they are looked at.
    pub(super) fn show_orders(&mut self, session: Session) {
        if session.focus.shows(Part::Orders) {
            session.board.orders.put(view::orders(self.sim()));
        }
    }
}

impl Session {
    pub fn set_room(self, setting: RoomSetting) {
        self.meddle(Command::SetRoom { setting });
        self.refresh();
    }

    /// Runs a script, or applies the wish beside it.
    pub fn order(self, command: Command) {
        self.act(command);
        self.refresh();
    }

    /// Shows in the inspector why the heater stands as it does.
    pub fn ask_room(self) {
        let key = ObjectKey::new(Kind::ConfigMap, "default", "room");
        let found = self.with_core(|core| {
            let seq = core.sim().origin(&key)?;
            let heater = view::room(core.sim())?.heater;
            Some((seq, heater, view::why(core.history.keeping(seq), seq.0)))
        });
        let Some((seq, heater, links)) = found.flatten() else {
            return self.toast("What made it so is no longer kept", Tone::Notice);
        };
        let title = ["Why is the heater at ", &heater.to_string(), " %?"].concat();
        self.open(Part::Inspect);
        self.select(key);
        self.show_chain(Chain { seq: seq.0, title, links, effects: None });
    }
}
