//! Driven runs: the engine's controllers run, and whatever is not theirs comes from the recording.
//!
//! The recording is gone through in the order of versions. What the user, the scheduler, the kubelets and the
//! heartbeats did is done to our API server as the same kind of request ([`feed`]). At a write that a controller of
//! the recording made and that was accepted, ours must make the same one ([`answer`]): same client, verb and object,
//! and the whole object afterwards equal to what the watch told then, as far as a recording tells of it ([`compare`]).
//! So the two API servers are alike after every step, and each decision is asked for in the very state of the real one.
//!
//! When a turn of a controller begins, and how far its informers had heard by then, is chance in the real thing and
//! not in the recording. Therefore a turn of ours may begin at any of the watch events between the end of the turn
//! before it for the same object and the write; informers only go forward; a turn reads nothing after its
//! beginning; and something must have woken it (a watch event of ours or a timer that is due). Of the beginnings that
//! are possible, the one is taken that answers most of the following writes of this turn. Within that, everything is
//! asked for literally: nothing is optional, status writes neither.
//!
//! Nothing else is written: whenever the recording has been still for [`works::STILL`] ms, every controller has heard all there is
//! to hear and gets all turns that it asks for, timers included, and none of them may want to write. What a
//! controller of ours writes too much, too early or with a wrong delay is found there.
//!
//! A refused write (409 of a stale cache) is no write. It is not asked of ours; but where a turn of ours is left with a
//! request that the recording does not have, the API server must refuse it.
//!
//! Names of ReplicaSets and revisions end in a hash that is another here; they are mapped as they are created, pods and
//! slices get the recorded letters, and all objects get the recorded identity, by which equals are told apart.

mod answer;
mod compare;
mod course;
mod events;
mod feed;
mod lane;
mod names;
mod quiet;
mod refused;
mod requests;
mod search;
mod still;
mod works;

use super::recording::Recording;

/// Says what differs first, in one line.
pub fn run(recording: &Recording) -> Result<(), String> {
    works::Works::new(recording)?.run()
}
