use std::rc::Rc;

use super::checkpoints::Checkpoints;
use crate::world::{Instant, JournalEntry};

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
}

impl Branch {
    pub(super) fn new(id: BranchId, name: String, parent: Option<(BranchId, Instant)>) -> Self {
        Self { id, name, parent, steps: Vec::new(), end: Instant::default(), checkpoints: Checkpoints::default() }
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
