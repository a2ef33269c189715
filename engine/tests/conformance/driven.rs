//! Driven runs: the engine's controllers run, and whatever is not theirs comes from the recording.
//!
//! The recording is gone through in the order of versions. What the user, the scheduler, the kubelets and the
//! heartbeats did is done to our API server as the same kind of request ([`feed`]). At a write that a controller of
//! the recording made and that was accepted, ours must make the same one ([`answer`]): same client, verb and object,
//! and the whole object afterwards equal to what the watch told then, as far as a recording tells of it ([`compare`]).
//! So the two API servers are alike after every step, and each decision is asked for in the very state of the real one.
//!
//! When a turn of a controller begins, and how far its informers had heard by then, is chance in the real thing and
//! not in the recording. Therefore a turn of ours may begin at any of the watch events shortly before its first write
//! ([`search`]): informers only go forward, each kind's by itself; a turn reads nothing after its beginning (but for a
//! DaemonSet's status, which the real one reads again as well); it begins after the end of the turn before it for the
//! same object, something must have woken it (a watch event of ours or a timer that is due), and it sends nothing
//! before the answers came that it waits for. Of the beginnings that are possible, the one is taken that answers most
//! of the following writes. Within that, everything is asked for literally: nothing is optional, status writes neither.
//!
//! Nothing else is written: whenever the recording has been still for [`works::STILL`] ms, every controller has heard
//! all there is to hear and gets all turns that it asks for, timers included, and none of them may want to write
//! ([`still`]). What a controller of ours writes too much, too early or with a wrong delay is found there; what it
//! writes too late, at the recording's own write.
//!
//! A write that was refused with 409 is none, since a cache was behind: it is not asked of ours. But where a turn of
//! ours is left with a request that the recording does not have, the API server must refuse it. What a quota refused
//! (403) ours must be refused as often ([`refused`]).
//!
//! Some loops are several in Kubernetes: a node's taints come from loops of their own, which may be before or after the
//! status of its pods. There ours may come up to [`works::PARALLEL`] ms later. And a slice's controller that failed
//! since its cache was behind its own writes waits for a second, which ours does not.
//!
//! Names of ReplicaSets and revisions end in a hash that is another here; they are mapped as they are created. Pods and
//! slices get the recorded letters, and all objects get the recorded identity, by which equals are told apart. Pods get
//! further letters, so that our lists, which are in the order of a hash, show equals in the order in which the
//! recording took them.

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
    search::run(recording)
}
