use loopscope_engine::view::{Listing, MapLook};

use super::Session;
use crate::platform::{choose, chosen};

/// The address, or what is remembered, says so.
pub fn is_chosen(name: &str, value: &str) -> bool {
    chosen(name).as_deref() == Some(value)
}

impl Session {
    /// How the map is drawn. The simple view has no switch for that, and needs none.
    pub fn look(self) -> MapLook {
        match self.is_simple.get_untracked() {
            true => MapLook::default(),
            false => MapLook { by_owner: self.board.by_owner.get_untracked(), truth: self.board.truth.get_untracked() },
        }
    }

    /// Which pods the table has, and in which order.
    pub fn listing(self) -> Listing {
        Listing { order: self.board.order.get_untracked(), filter: self.board.filter.get_untracked() }
    }

    /// Shows the table from its beginning, once it lists others than before.
    pub fn list_anew(self) {
        self.board.page.put(0);
        if self.board.is_crowd.get_untracked() {
            self.refresh();
        }
    }

    /// A card for each workload, or for each node.
    pub fn group_by_owner(self, by_owner: bool) {
        choose("group", if by_owner { "owner" } else { "node" });
        self.board.by_owner.put(by_owner);
        self.refresh();
    }

    /// What there really is on the machines, or what is reported.
    pub fn show_truth(self, truth: bool) {
        choose("show", if truth { "truth" } else { "reported" });
        self.board.truth.put(truth);
        self.refresh();
    }
}
