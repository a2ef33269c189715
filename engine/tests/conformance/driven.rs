//! Driven runs: what is not the controllers' own is fed from the recording.

use super::recording::Recording;

/// Says what differs first, in one line.
pub fn run(_recording: &Recording) -> Result<(), String> {
    Err("not driven yet".into())
}
