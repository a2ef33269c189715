//! What tells one state from another: not its bytes but what led to it, up to what has no order.
//!
//! A process, and the API server, are functions of what reached them, in which order and when: they share nothing but
//! messages. So each has a number made of all that, a message has one made of its sender's and its place among what was
//! sent, and all these numbers together are the state. Two orders that differ only in what happened at two places
//! without a message between them get the same number; whatever else differs is another state. Nothing is lost by
//! leaving out a state whose number has been seen. The random numbers that the worlds draw (names and UIDs) are drawn by
//! the API server, so they are a part of this.

use std::collections::BTreeMap;

use loopscope_engine::sim::Time;
use loopscope_engine::world::{Ready, Simulation, Where};

pub fn mix(a: u64, b: u64) -> u64 {
    let x = (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 29
}

/// A message's number, and since when it is on its way.
#[derive(Clone, Copy)]
pub struct Sent {
    pub number: u64,
    pub since: Time,
}

#[derive(Clone)]
pub struct Past {
    server: u64,
    processes: Vec<u64>,
    sent: BTreeMap<u32, Sent>,
}

/// Who runs, who was started how often, and who is reached.
fn lives(simulation: &Simulation) -> Vec<(bool, bool, u32)> {
    simulation.processes().iter().map(|it| (it.is_up, it.is_cut, it.epoch)).collect()
}

impl Past {
    /// At the root all that is on its way differs.
    pub fn new(simulation: &Simulation) -> Self {
        let (server, processes) = (1, (0..simulation.processes().len() as u64).map(|n| mix(2, n)).collect());
        let sent = simulation.under_way().into_iter().zip(1..).map(|(place, n)| {
            let sent = Sent { number: mix(3, n), since: simulation.now() };
            (place, sent)
        });
        Self { server, processes, sent: sent.collect() }
    }

    pub fn sent(&self, ready: &Ready) -> Sent {
        self.sent.get(&ready.place).copied().unwrap_or(Sent { number: 0, since: Time(0) })
    }

    fn own(&mut self, at: Where) -> &mut u64 {
        match at {
            Where::Server => &mut self.server,
            Where::Process(process) => &mut self.processes[process],
        }
    }

    fn after(&self, ready: &Ready, now: Time) -> u64 {
        let own = match ready.at {
            Where::Server => self.server,
            Where::Process(process) => self.processes[process],
        };
        let own = mix(mix(own, self.sent(ready).number), now.0);
        if ready.lists { mix(own, self.server) } else { own }
    }

    /// The number of the state.
    pub fn number(&self, now: Time) -> u64 {
        self.processes.iter().fold(mix(self.server, now.0), |sum, it| mix(sum, *it))
    }

    /// The number of the state that a choice leads to.
    pub fn foresee(&self, ready: &Ready, now: Time) -> u64 {
        let own = self.after(ready, now);
        let server = if ready.at == Where::Server { own } else { self.server };
        let each = |(n, it): (usize, &u64)| if ready.at == Where::Process(n) { own } else { *it };
        self.processes.iter().enumerate().map(each).fold(mix(server, now.0), mix)
    }

    /// All of it depends on all that came before.
    fn join(&mut self, now: Time) {
        let all = self.number(now);
        self.server = mix(self.server, all);
        self.processes.iter_mut().for_each(|it| *it = mix(*it, all));
    }

    fn note_sent(&mut self, simulation: &Simulation, by: u64) {
        let now = simulation.now();
        let all = simulation.under_way();
        self.sent.retain(|place, _| all.contains(place));
        for (place, n) in all.into_iter().zip(0..) {
            let fresh = Sent { number: mix(by, n), since: now };
            self.sent.entry(place).or_insert(fresh);
        }
    }

    /// Lets a choice happen.
    pub fn choose(&mut self, simulation: &mut Simulation, ready: &Ready, now: Time) {
        let own = self.after(ready, now);
        *self.own(ready.at) = own;
        self.sent.remove(&ready.place);
        let before = lives(simulation);
        simulation.choose(ready);
        if lives(simulation) != before {
            self.join(now);
        }
        self.note_sent(simulation, own);
    }

    /// Lets a person do something: all others may depend on it.
    pub fn interfere(&mut self, simulation: &mut Simulation, act: impl FnOnce(&mut Simulation)) {
        act(simulation);
        let now = simulation.now();
        self.server = mix(self.server, 5);
        self.join(now);
        let by = self.server;
        self.note_sent(simulation, by);
    }
}
