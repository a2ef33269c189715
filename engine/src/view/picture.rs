//! All loops as one picture: the API server in the middle, its clients around it, and what is on its way between them.

use serde::Serialize;

use super::LoopId;
use super::loops::{is_extra, seconds};
use super::words::short;
use crate::api::ObjectKey;
use crate::apiserver::ChangeKind;
use crate::client::LoopIndex;
use crate::sim::Time;
use crate::world::{Journey, Leg, ProcessKind, Simulation};

/// More kubelets than this are drawn as one.
const MAX_KUBELETS: usize = 4;
/// So many marks are drawn on all wires together.
const MAX_TRAVELS: usize = 60;

/// A client of the API server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Station {
    /// `ReplicaSet`, `40 kubelets`
    pub name: String,
    /// Its loop; none for many kubelets together, and for the controller manager, whose loops come after it.
    pub of: Option<LoopId>,
    /// It is on the side of the controllers, else on that of scheduler and kubelets.
    pub is_controller: bool,
    pub is_down: bool,
    /// Watch events arrive here. The loops of the controller manager share one cache.
    pub hears: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TravelKind {
    Request,
    Answer,
    /// Refused, and the answer is on its way.
    Refusal,
    /// It got nowhere, and its sender does not know yet.
    Lost,
    Watch,
}

impl TravelKind {
    /// Towards the API server.
    pub fn is_outward(self) -> bool {
        matches!(self, Self::Request | Self::Lost)
    }
}

/// Something on its way; what left one station for one place at the same time is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Travel {
    /// The same for as long as it is on its way.
    pub id: String,
    /// Index into the stations.
    pub station: usize,
    pub kind: TravelKind,
    /// How much of its time has passed, in percent.
    pub percent: u8,
    /// `POST pods/web-6d4cf56db6-qk5ms/binding`, `pod qk5ms is new`
    pub text: String,
    pub count: usize,
    /// A heartbeat, or what follows from one.
    pub is_background: bool,
}

impl Travel {
    /// The whole sentence.
    pub fn sentence(&self, stations: &[Station]) -> String {
        let name = stations.get(self.station).map_or("", |station| station.name.as_str());
        let text = self.text.as_str();
        let more = if self.count > 1 { format!(" and {} more", self.count - 1) } else { String::new() };
        let percent = self.percent;
        match self.kind {
            TravelKind::Request => format!("{name} asks: {text}{more}, {percent}% of the way"),
            TravelKind::Answer => format!("Answer to {name}: {text}{more}, {percent}% of the way"),
            TravelKind::Refusal => format!("Refusal to {name}: {text}{more}, {percent}% of the way"),
            TravelKind::Lost => format!("Lost: {text}{more}; {name} waits until it gives up"),
            TravelKind::Watch => format!("Watch tells {name}: {text}{more}, {percent}% of the way"),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// Controllers first, in the order in which they are drawn on each side.
    pub stations: Vec<Station>,
    pub travels: Vec<Travel>,
    /// Travels left out.
    pub more: usize,
    /// What is on its way, or what everybody waits for.
    pub said: String,
}

/// What is on its way at the present instant, and between whom.
pub fn picture(simulation: &Simulation) -> Picture {
    let stations = stations(simulation);
    let mut travels: Vec<Travel> = Vec::new();
    let mut more = 0;
    let mut add = |travel: Option<Travel>| {
        let Some(travel) = travel else { return };
        let place = |it: &Travel| (it.station, it.kind, it.percent, it.is_background);
        match travels.iter().position(|it| place(it) == place(&travel)) {
            Some(at) => travels[at].count += 1,
            None if travels.len() == MAX_TRAVELS => more += 1,
            None => travels.push(travel),
        }
    };
    for journey in simulation.journeys() {
        add(of_journey(simulation, &stations, &journey));
    }
    let lag = simulation.watch_lag();
    for (process, change) in simulation.deliveries() {
        let loops = &simulation.processes()[process].loops;
        let station = match &simulation.processes()[process].kind {
            ProcessKind::ControllerManager => Some(0),
            _ => loops.first().and_then(|at| station_of(&stations, *at)),
        };
        add(station.map(|station| Travel {
            id: format!("w{process}-{}", change.version),
            station,
            kind: TravelKind::Watch,
            percent: percent(simulation.now(), change.at, change.at + lag),
            text: news(&change.key, change.kind),
            count: 1,
            is_background: simulation.is_background(change.cause),
        }));
    }
    let said = said(simulation, &travels);
    Picture { stations, travels, more, said }
}

fn stations(simulation: &Simulation) -> Vec<Station> {
    let processes = simulation.processes();
    let kubelets = processes.iter().filter(|it| it.node().is_some()).count();
    let is_many = kubelets > MAX_KUBELETS;
    let manager = processes.iter().find(|it| it.kind == ProcessKind::ControllerManager);
    let mut all = vec![Station {
        name: "Controller manager".into(),
        of: None,
        is_controller: true,
        is_down: manager.is_some_and(|it| !it.is_up),
        hears: true,
    }];
    for (index, it) in simulation.loops().iter().enumerate() {
        let process = &processes[it.process];
        let is_idle = is_extra(&it.name) && it.turns == 0 && it.active.is_empty();
        if is_idle || (is_many && process.node().is_some()) {
            continue;
        }
        let is_controller = process.kind == ProcessKind::ControllerManager;
        all.push(Station {
            name: it.name.to_string(),
            of: u32::try_from(index).ok().map(LoopId),
            is_controller,
            is_down: !process.is_up,
            hears: !is_controller,
        });
    }
    if is_many {
        let is_down = processes.iter().all(|it| it.node().is_none() || !it.is_up);
        all.push(Station {
            name: format!("{kubelets} kubelets"),
            of: None,
            is_controller: false,
            is_down,
            hears: true,
        });
    }
    all
}

/// Where a loop is drawn: as itself, or with the other kubelets.
fn station_of(stations: &[Station], at: LoopIndex) -> Option<usize> {
    let own = stations.iter().position(|it| it.of == Some(LoopId(at.0)));
    own.or_else(|| stations.iter().rposition(|it| it.of.is_none() && !it.is_controller))
}

fn of_journey(simulation: &Simulation, stations: &[Station], journey: &Journey) -> Option<Travel> {
    let (method, subresource) = journey.request.method();
    let key = journey.request.key();
    let mut text = format!("{method} {}", key.kind.plural());
    for part in [&*key.name, subresource] {
        if !part.is_empty() {
            text.push('/');
            text.push_str(part);
        }
    }
    let kind = match (journey.leg, journey.is_refused) {
        (Leg::Request, _) => TravelKind::Request,
        (Leg::Answer, false) => TravelKind::Answer,
        (Leg::Answer, true) => TravelKind::Refusal,
        (Leg::Lost, _) => TravelKind::Lost,
    };
    let side = if kind.is_outward() { 'r' } else { 'a' };
    Some(Travel {
        id: format!("{side}{}", journey.number),
        station: station_of(stations, journey.by)?,
        kind,
        percent: match kind {
            TravelKind::Lost => 50,
            _ => percent(simulation.now(), journey.sent, journey.due),
        },
        text,
        count: 1,
        is_background: journey.request.is_background,
    })
}

fn percent(now: Time, sent: Time, due: Time) -> u8 {
    let passed = now.since(sent).0.min(due.since(sent).0) * 100;
    passed.checked_div(due.since(sent).0).map_or(100, |percent| percent as u8)
}

fn news(key: &ObjectKey, change: ChangeKind) -> String {
    let happened = match change {
        ChangeKind::Added => "is new",
        ChangeKind::Modified => "has changed",
        ChangeKind::Deleted => "is gone",
    };
    format!("{} {} {happened}", key.kind.name(), short(key))
}

fn said(simulation: &Simulation, travels: &[Travel]) -> String {
    let count =
        |is: fn(TravelKind) -> bool| -> usize { travels.iter().filter(|it| is(it.kind)).map(|it| it.count).sum() };
    let parts = [
        (count(|kind| kind == TravelKind::Request), "request", "requests"),
        (count(|kind| matches!(kind, TravelKind::Answer | TravelKind::Refusal)), "answer", "answers"),
        (count(|kind| kind == TravelKind::Watch), "watch event", "watch events"),
        (count(|kind| kind == TravelKind::Lost), "lost request", "lost requests"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many }))
        .collect();
    if words.is_empty() { waits(simulation) } else { format!("On their way: {}", words.join(", ")) }
}

/// What everybody waits for while nothing is on its way.
fn waits(simulation: &Simulation) -> String {
    let now = simulation.now();
    let busy = simulation.loops().iter().find_map(|it| {
        let (key, _) = it.active.iter().find(|(_, turn)| !turn.is_background && turn.phase.is_some())?;
        Some(format!("Nothing is on its way: {} works on {}", it.name, short(key)))
    });
    if let Some(busy) = busy {
        return busy;
    }
    let waking =
        simulation.loops().iter().filter_map(|it| Some((it.queue.delayed().map(|(_, at)| at).min()?, &it.name)));
    let first = waking.reduce(|a, b| if b.0 < a.0 { b } else { a });
    let wakes = first.map(|(at, name)| format!(" First to wake: {name}, in {}.", seconds(at.since(now).0)));
    let next = simulation.next_at().map(|at| at.since(now).0);
    let next = match next {
        Some(ms) if wakes.is_none() => format!(" The next clock or heartbeat comes in {}.", seconds(ms)),
        _ => String::new(),
    };
    format!("Nothing is on its way: every loop waits for its watch.{}{next}", wakes.unwrap_or_default())
}
