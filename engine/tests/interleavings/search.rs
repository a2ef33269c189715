//! Goes through the orders in which things can happen, depth first, and looks at the rules after each.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Channel, Ready, Simulation};

use super::past::{Past, mix};
use super::rules::{Rules, unfinished};
use super::worlds::World;

/// So long a message may stay on its way while clocks come round.
pub const PATIENCE: Millis = Millis(1_000);
/// By then a world left alone must be as it is wanted.
const CONVERGES: Millis = Millis(180_000);
/// A course that comes to no end by itself, as with a node that stays away, is followed for so long.
const FOLLOWED: Millis = Millis(30_000);
/// Of those that are found, so many are told.
const MOST_TOLD: usize = 3;

/// Which orders.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// All, so many steps far.
    Depth(usize),
    /// The usual one, but for so many times at which what should come next is held up or hurried, to the end.
    Deviations(usize),
}

/// One step of an order: which of those that are ready, or what a person does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Take(usize),
    Deed,
}

/// As `cargo xtask explore --order` takes it.
pub fn write_order(order: &[Step]) -> String {
    let word = |step: &Step| match step {
        Step::Take(n) => n.to_string(),
        Step::Deed => "d".to_string(),
    };
    order.iter().map(word).collect::<Vec<_>>().join(",")
}

pub fn read_order(text: &str) -> Option<Vec<Step>> {
    let step = |word: &str| match word {
        "d" => Some(Step::Deed),
        word => word.parse().ok().map(Step::Take),
    };
    text.split(',').map(|word| step(word.trim())).collect()
}

#[derive(Clone, Debug)]
pub struct Violation {
    pub order: Vec<Step>,
    pub what: String,
}

#[derive(Clone, Debug, Default)]
pub struct Found {
    pub states: usize,
    pub transitions: usize,
    pub known: usize,
    pub deepest: usize,
    pub leaves: usize,
    /// Leaves that were left alone, to see whether they converge.
    pub left_alone: usize,
    pub guilty: usize,
    pub violations: Vec<Violation>,
    pub is_cut_short: bool,
}

impl Found {
    pub fn add(&mut self, other: Found) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.known += other.known;
        self.deepest = self.deepest.max(other.deepest);
        self.leaves += other.leaves;
        self.left_alone += other.left_alone;
        self.guilty += other.guilty;
        self.is_cut_short |= other.is_cut_short;
        self.violations.extend(other.violations);
        self.violations.truncate(MOST_TOLD);
    }
}

/// A channel that is held up.
#[derive(Clone, Copy)]
struct Held {
    channel: Channel,
    number: u64,
    /// Clocks may come round meanwhile.
    is_long: bool,
}

#[derive(Clone)]
pub struct Node {
    pub simulation: Simulation,
    past: Past,
    rules: Rules,
    /// What a person is still to do.
    deeds: usize,
    held: Vec<Held>,
    /// Deviations that are left.
    left: usize,
    order: Vec<Step>,
    began: Time,
}

/// What a search tries at a node.
#[derive(Clone, Copy, PartialEq)]
enum Move {
    Step(Step),
    /// The first is held up.
    Hold {
        is_long: bool,
    },
    /// The nth that is held up goes on.
    Free(usize),
}

impl Node {
    pub fn new(world: &World) -> Self {
        let simulation = (world.begin)();
        let (past, rules) = (Past::new(&simulation), Rules::new(&simulation));
        let began = simulation.now();
        Self { simulation, past, rules, deeds: 0, held: Vec::new(), left: 0, order: Vec::new(), began }
    }

    /// As if it were the beginning of everything.
    fn rooted(&self, left: usize) -> Self {
        Self { past: Past::new(&self.simulation), left, held: Vec::new(), ..self.clone() }
    }

    /// Nothing is on its way, and nothing is left to be done or has been for too long.
    fn is_over(&self, ready: &[Ready]) -> bool {
        let is_quiet = ready.iter().all(|it| it.channel == Channel::Clock);
        is_quiet && (self.simulation.now() > self.began + FOLLOWED || unfinished(&self.simulation).is_none())
    }

    /// Whether a clock may come round before a message that is on its way.
    fn may_pass(&self, clock: &Ready, ready: &[Ready]) -> bool {
        let messages = ready.iter().filter(|it| it.channel != Channel::Clock);
        messages.map(|it| self.past.sent(it).since).min().is_none_or(|since| clock.due <= since + PATIENCE)
    }

    /// Of those that are ready the one that comes next if nothing is out of the ordinary.
    fn usual(&self, ready: &[Ready]) -> Option<usize> {
        let is_held = |it: &Ready| self.held.iter().any(|held| held.channel == it.channel);
        let clock = ready.iter().position(|it| it.channel == Channel::Clock);
        let free = ready.iter().position(|it| it.channel != Channel::Clock && !is_held(it));
        let message = ready.iter().position(|it| it.channel != Channel::Clock);
        let is_long = self.held.iter().any(|held| held.is_long);
        let passes = clock.filter(|at| message.is_none() || (is_long && self.may_pass(&ready[*at], ready)));
        free.or(passes).or(message).or(clock)
    }

    /// Who is held up and what is left are a part of a state. What happens is no longer held up.
    fn number_with(&self, state: u64, happens: Option<Channel>) -> u64 {
        let held = self.held.iter().filter(|it| Some(it.channel) != happens);
        let held = held.fold(0, |sum, it| mix(sum, it.number + u64::from(it.is_long)));
        mix(mix(state, self.deeds as u64), mix(held, self.left as u64))
    }

    /// The number of the state that a step would lead to; none where only taking it tells.
    fn foresee(&self, step: Step, ready: &[Ready]) -> Option<u64> {
        let Step::Take(n) = step else { return None };
        let it = &ready[n];
        let now = if it.channel == Channel::Clock { it.due.max(self.simulation.now()) } else { self.simulation.now() };
        Some(self.number_with(self.past.foresee(it, now), Some(it.channel)))
    }

    pub fn take(&mut self, world: &World, step: Step) -> Result<(), String> {
        self.order.push(step);
        match step {
            Step::Take(n) => {
                let ready = self.simulation.ready();
                let Some(it) = ready.get(n) else { return Err(format!("nothing is ready at {n}")) };
                let now = if it.channel == Channel::Clock {
                    it.due.max(self.simulation.now())
                } else {
                    self.simulation.now()
                };
                let before = Rules::before(&self.simulation, Some(it));
                self.past.choose(&mut self.simulation, it, now);
                self.held.retain(|held| held.channel != it.channel);
                self.rules.check(&self.simulation, Some(it), &before)
            }
            Step::Deed => {
                let Some(deed) = world.deeds.get(self.deeds) else { return Err("nothing is left to do".into()) };
                self.deeds += 1;
                let before = Rules::before(&self.simulation, None);
                self.past.interfere(&mut self.simulation, deed);
                self.rules.check(&self.simulation, None, &before)
            }
        }
    }

    /// Left alone, all comes to be as it is wanted.
    fn converges(mut self, world: &World) -> Result<(), String> {
        for deed in &world.deeds[self.deeds..] {
            deed(&mut self.simulation);
        }
        (world.mend)(&mut self.simulation);
        let end = self.simulation.now() + CONVERGES;
        let mut why = None;
        while self.simulation.now() < end {
            let until = self.simulation.now() + Millis(2_000);
            if !self.simulation.run_until(until, 200_000) {
                return Err("events without end".into());
            }
            why = unfinished(&self.simulation);
            if why.is_none() {
                return Ok(());
            }
        }
        Err(format!("does not converge: {}", why.unwrap_or_default()))
    }
}

struct Frame {
    /// None once its last move has taken it along.
    node: Option<Box<Node>>,
    moves: Vec<Move>,
}

pub struct Search<'a> {
    world: &'a World,
    bound: Bound,
    seen: HashSet<u64>,
    found: Found,
    until: Instant,
    /// Of so many leaves one is left alone, to see whether it converges.
    one_of: usize,
    /// From one beginning in the usual course to the next, in depths.
    stride: usize,
    /// One violation is enough.
    stops: bool,
}

impl<'a> Search<'a> {
    pub fn new(world: &'a World, bound: Bound, within: Duration) -> Self {
        let until = Instant::now() + within;
        Self { world, bound, seen: HashSet::new(), found: Found::default(), until, one_of: 1, stride: 1, stops: false }
    }

    /// Not all of it: of so many places of the usual course one, and of so many leaves one is left alone.
    pub fn sample(self, stride: usize, one_of: usize) -> Self {
        Self { stride, one_of, ..self }
    }

    pub fn up_to_the_first(self) -> Self {
        Self { stops: true, ..self }
    }

    /// From the beginning, and, where the bound is a depth, from each place of the usual course that is as many
    /// steps further on, until nothing happens any more.
    pub fn run(mut self) -> Found {
        let mut root = Node::new(self.world);
        match self.bound {
            Bound::Deviations(n) => self.explore(root.rooted(n)),
            Bound::Depth(depth) => loop {
                self.seen.clear();
                self.explore(root.rooted(0));
                let is_over = (0..self.stride * depth.max(1)).any(|_| self.go_on(&mut root).is_none());
                if is_over || self.is_late() {
                    break;
                }
            },
        }
        self.found
    }

    /// One usual step; none where all is done.
    fn go_on(&mut self, root: &mut Node) -> Option<()> {
        let ready = root.simulation.ready();
        let is_over = root.is_over(&ready);
        if is_over && root.deeds == self.world.deeds.len() {
            return None;
        }
        let step = if is_over { Step::Deed } else { Step::Take(root.usual(&ready)?) };
        root.take(self.world, step).err().map(|what| self.blame(&root.order, what)).map_or(Some(()), |()| None)
    }

    fn is_late(&mut self) -> bool {
        self.found.is_cut_short |= Instant::now() > self.until;
        self.found.is_cut_short || (self.stops && self.found.guilty > 0)
    }

    fn blame(&mut self, order: &[Step], what: String) {
        self.found.guilty += 1;
        if self.found.violations.len() < MOST_TOLD {
            self.found.violations.push(Violation { order: order.to_vec(), what });
        }
    }

    fn explore(&mut self, root: Node) {
        let start = root.order.len();
        let mut stack = Vec::new();
        self.enter(Box::new(root), start, &mut stack);
        while let Some(frame) = stack.last_mut() {
            let Some(next) = frame.moves.pop() else {
                stack.pop();
                continue;
            };
            if self.is_late() {
                return;
            }
            if let Some(node) = self.follow(frame, next) {
                self.enter(node, start, &mut stack);
            }
        }
    }

    /// The node that a move leads to, where that is a new one.
    fn follow(&mut self, frame: &mut Frame, next: Move) -> Option<Box<Node>> {
        let node = frame.node.as_ref()?;
        let ready = node.simulation.ready();
        self.found.transitions += 1;
        if let Move::Step(step) = next
            && let Some(number) = node.foresee(step, &ready)
            && self.seen.contains(&number)
        {
            self.found.known += 1;
            return None;
        }
        // The last move of a node needs no copy of it.
        let mut node = if frame.moves.is_empty() { frame.node.take()? } else { node.clone() };
        match next {
            Move::Hold { is_long } => {
                let it = &ready[node.usual(&ready)?];
                let held = Held { channel: it.channel, number: node.past.sent(it).number, is_long };
                node.held.push(held);
                node.left -= 1;
            }
            Move::Free(n) => {
                node.held.remove(n);
                node.left -= 1;
            }
            Move::Step(step) => {
                if let Err(what) = node.take(self.world, step) {
                    self.blame(&node.order, what);
                    return None;
                }
            }
        }
        let number = node.number_with(node.past.number(node.simulation.now()), None);
        if !self.seen.insert(number) {
            self.found.known += 1;
            return None;
        }
        Some(node)
    }

    /// Takes a new state in: what can come next, or that it is a leaf.
    fn enter(&mut self, node: Box<Node>, start: usize, stack: &mut Vec<Frame>) {
        let depth = node.order.len() - start;
        self.found.states += 1;
        self.found.deepest = self.found.deepest.max(depth);
        let ready = node.simulation.ready();
        let mut moves = match self.bound {
            Bound::Depth(most) if depth >= most => Vec::new(),
            Bound::Depth(_) => self.all_moves(&node, &ready),
            Bound::Deviations(_) => self.few_moves(&node, &ready),
        };
        if moves.is_empty() {
            self.found.leaves += 1;
            if !(self.found.leaves - 1).is_multiple_of(self.one_of) {
                return;
            }
            self.found.left_alone += 1;
            let order = node.order.clone();
            if let Err(what) = node.converges(self.world) {
                self.blame(&order, what);
            }
            return;
        }
        // The usual one is tried first.
        moves.reverse();
        stack.push(Frame { node: Some(node), moves });
    }

    fn all_moves(&self, node: &Node, ready: &[Ready]) -> Vec<Move> {
        let is_free = |it: &Ready| it.channel != Channel::Clock || node.may_pass(it, ready);
        let steps = ready.iter().enumerate().filter(|(_, it)| is_free(it)).map(|(n, _)| Step::Take(n));
        let deed = (node.deeds < self.world.deeds.len()).then_some(Step::Deed);
        steps.chain(deed).map(Move::Step).collect()
    }

    fn few_moves(&self, node: &Node, ready: &[Ready]) -> Vec<Move> {
        let Some(usual) = node.usual(ready) else { return Vec::new() };
        let all_done = node.deeds == self.world.deeds.len();
        // Nothing more comes by itself: what a person does, comes now.
        match (node.is_over(ready), all_done) {
            (true, true) => return Vec::new(),
            (true, false) => return vec![Move::Step(Step::Deed)],
            _ => {}
        }
        let mut moves = vec![Move::Step(Step::Take(usual))];
        if !all_done {
            moves.push(Move::Step(Step::Deed));
        }
        let is_message = ready[usual].channel != Channel::Clock;
        let is_held = node.held.iter().any(|it| it.channel == ready[usual].channel);
        if node.left > 0 && is_message && !is_held && ready.len() > 1 {
            moves.extend([Move::Hold { is_long: false }, Move::Hold { is_long: true }]);
        }
        if node.left > 0 {
            moves.extend((0..node.held.len()).map(Move::Free));
        }
        moves
    }
}
