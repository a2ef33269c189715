use std::rc::Rc;

use super::checkpoints::Checkpoints;
use crate::world::{Instant, JournalEntry, Record, Simulation};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchId(pub u32);

/// Characters of a name.
pub const NAME_LIMIT: usize = 40;

/// One course of events.
#[derive(Clone)]
pub struct Branch {
    pub id: BranchId,
    pub name: String,
    /// The branch it began in, and where; nothing for the first.
    pub parent: Option<(BranchId, Instant)>,
    /// All its commands, those before its beginning too.
    pub(super) steps: Vec<Rc<JournalEntry>>,
    /// How far it has been played.
    pub end: Instant,
    pub(super) checkpoints: Checkpoints,
    pub(super) record: Record,
    /// Up to where the record goes. What was planned when the branch began may lie further.
    pub(super) recorded: Instant,
}

impl Branch {
    pub(super) fn new(id: BranchId, name: String, parent: Option<(BranchId, Instant)>) -> Self {
        Self {
            id,
            name,
            parent,
            steps: Vec::new(),
            end: Instant::default(),
            checkpoints: Checkpoints::default(),
            record: Record::default(),
            recorded: Instant::default(),
        }
    }

    /// Takes over what the simulation has taken down, where that goes further.
    pub(super) fn note(&mut self, live: &mut Simulation) {
        let at = live.instant();
        self.end = self.end.max(at);
        if at >= self.recorded {
            (self.record, self.recorded) = (live.recorded().clone(), at);
        }
        self.checkpoints.add_if_due(live);
    }

    /// What a timeline shows of all of it, also of what lies after the cursor, as far as it has been played.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Up to where the record goes.
    pub fn recorded(&self) -> Instant {
        self.recorded
    }

    pub fn steps(&self) -> &[Rc<JournalEntry>] {
        &self.steps
    }
}

/// `A` to `Z`, then `AA`.
pub fn letters(number: u32) -> String {
    let last = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52].map(letters), ["A", "Z", "AA", "AZ", "BA"]);
    }
}
