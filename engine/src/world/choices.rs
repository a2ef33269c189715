//! What could happen next, had everything another latency: for tests that go through all orders (`tests/interleavings`).
//!
//! Messages of one channel keep their order. Between channels there is none, for a real cluster has none either: a watch
//! may be slow, a request overtake another, a worker stand still between two steps. Clocks go on together, so what only
//! passes by time stays in the order of time.

use super::Simulation;
use super::simulation::Happening;
use crate::client::LoopIndex;
use crate::sim::Time;

/// Within which order is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// What a process is told by its watch.
    Watch(usize),
    /// A request on its way; clients may send several at once.
    Request(u64),
    /// Its answer.
    Answer(u64),
    /// The next step of a turn.
    Turn(LoopIndex, u32),
    /// What the passing of time brings.
    Clock,
}

/// Whose state something reads and changes. It tells all others by messages alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Server,
    Process(usize),
}

/// The first of its channel.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where it is kept until it happens, also while others go before it.
    pub place: u32,
    pub due: Time,
    pub channel: Channel,
    pub at: Where,
    /// It looks at all that the API server has.
    pub lists: bool,
}

impl Simulation {
    fn choice(&self, due: Time, place: u32, happening: &Happening) -> Ready {
        let of = |at: LoopIndex| self.loops.get(at.0 as usize).map_or(Where::Server, |it| Where::Process(it.process));
        let sender = |number: u64| self.flights.get(number).map_or(Where::Server, |it| of(it.by));
        let (channel, at) = match happening {
            Happening::Arrive(number) => (Channel::Request(*number), Where::Server),
            Happening::Answer(number) => (Channel::Answer(*number), sender(*number)),
            Happening::Deliver { process, .. } => (Channel::Watch(*process), Where::Process(*process)),
            Happening::Continue { at, turn, .. } => (Channel::Turn(*at, *turn), of(*at)),
            Happening::Release { at, .. } | Happening::Tick { at, .. } => (Channel::Clock, of(*at)),
            Happening::Restart { process, .. }
            | Happening::Resync { process, .. }
            | Happening::Relist { process, .. }
            | Happening::Late { process, .. } => (Channel::Clock, Where::Process(*process)),
            Happening::Occur { kubelet, .. } => (Channel::Clock, Where::Process(*kubelet)),
            Happening::Route(_) | Happening::Provision | Happening::CloudClock => (Channel::Clock, Where::Server),
        };
        let lists = matches!(happening, Happening::Restart { .. } | Happening::Relist { .. });
        Ready { place, due, channel, at, lists }
    }

    /// What may happen next: of each channel the first, in the order in which they would come.
    pub fn ready(&self) -> Vec<Ready> {
        let mut ready: Vec<Ready> = Vec::new();
        for (due, place, happening) in self.queue.pending() {
            let choice = self.choice(due, place, happening);
            if ready.iter().all(|it| it.channel != choice.channel) {
                ready.push(choice);
            }
        }
        ready
    }

    /// The places of all that is going to happen, in order.
    pub fn under_way(&self) -> Vec<u32> {
        self.queue.pending().into_iter().map(|(_, place, _)| place).collect()
    }

    /// Lets one of them happen now; the clock moves for nothing but what time brings.
    pub fn choose(&mut self, choice: &Ready) {
        self.earlier = self.trace.last_seq();
        let at = if choice.channel == Channel::Clock { choice.due } else { self.now() };
        let happening = self.queue.pick(choice.place, at);
        self.let_happen(happening);
    }

    /// A choice in words.
    pub fn tell_choice(&self, choice: &Ready) -> String {
        let name = |at: Where| match at {
            Where::Server => "the API server".to_string(),
            Where::Process(process) => self.processes.get(process).map_or_else(String::new, |it| match it.node() {
                Some(node) => format!("kubelet of {node}"),
                None => it.kind.program().unwrap_or("a program").to_string(),
            }),
        };
        let key = |number: u64| self.flights.get(number).map(|it| (it.request.method(), it.request.key()));
        match choice.channel {
            Channel::Request(number) => key(number).map_or_else(String::new, |((method, sub), key)| {
                let sub = if sub.is_empty() { String::new() } else { format!("/{sub}") };
                format!("{method} {key}{sub} reaches the API server")
            }),
            Channel::Answer(number) => key(number).map_or_else(String::new, |((method, _), key)| {
                format!("{} hears the answer to {method} {key}", name(choice.at))
            }),
            Channel::Watch(process) => format!("{} hears {}", name(choice.at), self.first_news(process)),
            Channel::Turn(at, turn) => {
                let it = &self.loops[at.0 as usize];
                let phase = it.active.at(turn).and_then(|it| it.phase);
                let key = it.active.pair(turn).map(|(key, _)| key.to_string()).unwrap_or_default();
                format!(
                    "{} goes on with {key} after {}",
                    it.name,
                    phase.map_or("its start".into(), |it| format!("{it:?}"))
                )
            }
            Channel::Clock => format!("time comes to {} ms at {}", choice.due.0, name(choice.at)),
        }
    }

    fn first_news(&self, process: usize) -> String {
        let found = self.queue.pending().into_iter().find_map(|(_, _, it)| match it {
            Happening::Deliver { process: to, version } if *to == process => Some(*version),
            _ => None,
        });
        let change = found.and_then(|version| self.api.change(version));
        change.map_or_else(String::new, |it| format!("that {} is {:?} ({})", it.key, it.kind, it.version))
    }
}
