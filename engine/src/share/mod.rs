//! What is handed on: a scenario, a journal, a whole moment, as text and as a link.
//!
//! What comes back was written by anybody. So everything that is read has limits, and whatever is wrong with it comes out
//! as [`Bad`], in words, with what can still be used of it.

mod bad;
mod file;
mod link;
mod moment;
mod scenario;

pub use bad::{Bad, Fault};
pub use file::{Handed, MARK, most_bytes, read_file, write_journal_file, write_moment_file, write_scenario_file};
pub use link::{LONG_LINK, LONGEST_LINK, MOST_IN_LINK, is_link, pack, packed, unpack};
pub use moment::{Moment, read_moment, state_words, write_moment};
pub use scenario::{Wrong, read as read_scenario};

/// Version of everything that is written here. What an older one has written can be read.
pub const VERSION: u32 = 1;
/// Bytes that a text may have.
pub const MOST_BYTES: usize = 2 * 1024 * 1024;
/// Commands of a journal.
pub const MOST_COMMANDS: usize = 5_000;
/// How far a moment may lie from the beginning, in ms: a week.
pub const LONGEST_MS: u64 = 7 * 24 * 3_600_000;
/// Nodes of a scenario.
pub const MOST_NODES: usize = 1_000;
