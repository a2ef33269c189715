//! What is on its way between the API server and its clients at one instant.

use super::Simulation;
use crate::api::{Name, Object};
use crate::apiserver::{Change, Request};
use crate::client::LoopIndex;
use crate::sim::{Millis, Seq, Time};

/// Which way something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// From a loop to the API server.
    Request,
    /// From the API server to the loop that asked.
    Answer,
    /// It got nowhere: the loop that asked waits until it gives up.
    Lost,
}

/// A request, or its answer, on its way.
#[derive(Clone, Copy)]
pub struct Journey<'a> {
    /// The request's number, the same for its answer.
    pub number: u64,
    pub by: LoopIndex,
    pub request: &'a Request,
    pub leg: Leg,
    pub is_refused: bool,
    pub sent: Time,
    pub due: Time,
}

impl Simulation {
    /// Whether a node is cut off from the API server.
    pub fn is_cut(&self, node: &Name) -> bool {
        self.kubelets.get(node).and_then(|it| self.processes.get(*it)).is_some_and(|it| it.is_cut)
    }

    /// The requests under way, with the loops they come from.
    pub fn requests_in_flight(&self) -> impl Iterator<Item = (LoopIndex, &Request)> {
        self.flights.iter().map(|flight| (flight.by, &*flight.request))
    }

    /// Requests and answers on their way, in the order in which they were sent.
    pub fn journeys(&self) -> impl Iterator<Item = Journey<'_>> {
        self.flights.numbered().map(|(number, flight)| Journey {
            number,
            by: flight.by,
            request: &flight.request,
            leg: match (&flight.outcome, flight.is_lost) {
                (_, true) => Leg::Lost,
                (None, _) => Leg::Request,
                (Some(_), _) => Leg::Answer,
            },
            is_refused: matches!(flight.outcome, Some(Err(_))),
            sent: flight.sent,
            due: flight.due,
        })
    }

    /// How long a write takes to reach a watcher.
    pub fn watch_lag(&self) -> Millis {
        Millis(self.scenario.latency.watch)
    }

    /// Changes that processes have not heard of yet, the newest first, with the process's number.
    pub fn deliveries(&self) -> impl Iterator<Item = (usize, &Change)> {
        let (now, lag) = (self.now(), self.watch_lag());
        let newest = self.api.version();
        let versions = (1..=newest).rev().map_while(move |version| self.api.change(version));
        let recent = versions.take_while(move |change| change.at + lag >= now);
        recent.flat_map(move |change| {
            let node = match &change.object {
                Object::Pod(pod) => &pod.spec.node_name,
                object => &object.meta().name,
            };
            let kubelet = self.kubelets.get(node).copied();
            // The processes without a node come first.
            let central = self.processes.iter().take_while(|it| it.node().is_none()).count();
            let receivers = (0..central).chain(kubelet);
            receivers.filter(move |at| self.is_due(*at, change)).map(move |at| (at, &**change))
        })
    }

    fn is_due(&self, process: usize, change: &Change) -> bool {
        self.processes.get(process).is_some_and(|it| {
            let watches = |object: &Object| it.kind.watches(object);
            let is_for = watches(&change.object) || change.old.as_ref().is_some_and(watches);
            it.is_up && !it.is_cut && it.version < change.version && is_for
        })
    }

    /// Whether an event is heartbeat, or follows from one.
    pub fn is_background(&self, seq: Seq) -> bool {
        self.trace.get(seq).is_some_and(|event| event.is_background)
    }
}
