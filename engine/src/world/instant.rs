use crate::sim::Time;

use super::JournalEntry;

/// A place in a run: so much virtual time, so many commands given, and so many of the things that happen at just that
/// time. Along one run all three only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    pub at: Time,
    pub commands: u32,
    pub nth: u32,
}

impl Instant {
    /// After all that happens, and all that is commanded, at a time.
    pub fn end_of(at: Time) -> Self {
        Self { at, commands: u32::MAX, nth: u32::MAX }
    }

    /// Just before a command, given with its index.
    pub fn before(index: usize, command: &JournalEntry) -> Self {
        Self { at: command.at, commands: index as u32, nth: command.nth.unwrap_or(u32::MAX) }
    }

    /// Just after a command, given with its index.
    pub fn after(index: usize, command: &JournalEntry) -> Self {
        Self { commands: index as u32 + 1, ..Self::before(index, command) }
    }

    /// Whether a command, given with its index, is among those before this instant.
    pub fn includes(self, index: usize, command: &JournalEntry) -> bool {
        index < self.commands as usize && command.at <= self.at
    }
}
