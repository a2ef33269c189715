//! What can be broken on purpose, what of it is broken now, and since when.

use std::rc::Rc;

use serde::Serialize;

use super::programs::behavior;
use crate::api::{Kind, Name, Object, ObjectKey, PodSpec, fields};
use crate::environment::Behavior;
use crate::sim::sort_by;
use crate::world::{Ask, Command, JournalEntry, Process, Server, Simulation, Subject, Switch, Target};

/// Something that can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Fault {
    /// A program of the control plane crashes and is started again; it crashes after some requests; it stands still; it
    /// is stopped.
    Crash,
    CrashLater,
    Pause,
    Stop,
    /// Its watch brings nothing; its watch ends with 410 Gone.
    Stale,
    Gone,
    /// The API server.
    Down,
    Slow,
    Refusing,
    /// A node.
    Power,
    Cut,
    Network,
    /// The programs of an image.
    Missing,
    CrashLoop,
    SlowStart,
    /// No more pods in the namespace `default`.
    Quota,
}

/// The name of the quota that the switch makes.
pub const QUOTA: &str = "no-more-pods";
/// What the faults of the API server are about.
pub const SERVER: &str = "API server";
/// By how much a slow API server is slower, in ms.
const SLOWER_MS: u64 = 2_000;

impl Fault {
    pub const ALL: [Fault; 16] = [
        Fault::Crash,
        Fault::CrashLater,
        Fault::Pause,
        Fault::Stop,
        Fault::Stale,
        Fault::Gone,
        Fault::Down,
        Fault::Slow,
        Fault::Refusing,
        Fault::Power,
        Fault::Cut,
        Fault::Network,
        Fault::Missing,
        Fault::CrashLoop,
        Fault::SlowStart,
        Fault::Quota,
    ];

    /// What its target is meanwhile: `node-1 cut off`.
    pub fn word(self) -> &'static str {
        match self {
            Fault::Crash => "crashed",
            Fault::CrashLater => "about to crash",
            Fault::Pause => "paused",
            Fault::Stop => "stopped",
            Fault::Stale => "hears nothing",
            Fault::Gone => "relists",
            Fault::Down => "down",
            Fault::Slow => "slow",
            Fault::Refusing => "refuses",
            Fault::Power => "off",
            Fault::Cut => "cut off",
            Fault::Network => "broken",
            Fault::Missing => "missing",
            Fault::CrashLoop => "crashes",
            Fault::SlowStart => "starts slowly",
            Fault::Quota => "in force",
        }
    }

    /// It is over by itself: nobody has to mend it.
    pub fn is_brief(self) -> bool {
        matches!(self, Fault::Crash | Fault::Gone)
    }

    /// The way in which programs behave, as [`behavior`] numbers them.
    fn behaves(self) -> Option<usize> {
        match self {
            Fault::CrashLoop => Some(1),
            Fault::Missing => Some(8),
            Fault::SlowStart => Some(9),
            _ => None,
        }
    }
}

const OF_SERVER: [Fault; 3] = [Fault::Down, Fault::Slow, Fault::Refusing];
const OF_IMAGE: [Fault; 3] = [Fault::Missing, Fault::CrashLoop, Fault::SlowStart];
const OF_NODE: [Fault; 3] = [Fault::Power, Fault::Cut, Fault::Network];
/// What ends with the program.
const OF_RUN: [Fault; 3] = [Fault::CrashLater, Fault::Pause, Fault::Stale];

/// A stretch of a run in which something was broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    pub fault: Fault,
    /// The program, the node, the image or the quota.
    pub target: String,
    pub from_ms: u64,
    /// Nothing while it lasts.
    pub to_ms: Option<u64>,
}

/// A fault that is on, or that was used and is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultRow {
    pub fault: Fault,
    pub target: String,
    pub is_on: bool,
    /// Since when it is on, or when it was used; nothing where the scenario began so.
    pub at_ms: Option<u64>,
    /// After so many more requests the program crashes.
    pub left: Option<u32>,
}

/// What can be broken, and what is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultsView {
    pub programs: Vec<String>,
    pub nodes: Vec<String>,
    pub images: Vec<String>,
    /// All faults that are on; of those that are over by themselves also the last use.
    pub rows: Vec<FaultRow>,
}

impl FaultsView {
    pub fn row(&self, fault: Fault, target: &str) -> Option<&FaultRow> {
        self.rows.iter().find(|it| it.fault == fault && it.target == target)
    }

    pub fn n_on(&self) -> usize {
        self.rows.iter().filter(|it| it.is_on).count()
    }
}

/// What a command does to faults: each with whether it is on from then on.
fn changes(command: &Command) -> Vec<(Fault, String, bool)> {
    let one = |fault, target: &str, on| vec![(fault, target.to_owned(), on)];
    let ends = |faults: [Fault; 3], target: &str| -> Vec<(Fault, String, bool)> {
        faults.iter().map(|it| (*it, target.to_owned(), false)).collect()
    };
    match command {
        Command::StopNode { node } => one(Fault::Power, node, true),
        Command::StartNode { node } => one(Fault::Power, node, false),
        Command::CutNode { node } => one(Fault::Cut, node, true),
        Command::HealNode { node } => one(Fault::Cut, node, false),
        Command::BreakNode { node } => one(Fault::Network, node, true),
        Command::MendNode { node } => one(Fault::Network, node, false),
        Command::RemoveNode { node } => ends(OF_NODE, node),
        Command::StopController { process } => [ends(OF_RUN, process), one(Fault::Stop, process, true)].concat(),
        Command::CrashController { process } => ends(OF_RUN, process),
        Command::StartController { process } => one(Fault::Stop, process, false),
        Command::CrashAfter { process, requests } => one(Fault::CrashLater, process, *requests > 0),
        Command::BreakWatch { process } => one(Fault::Stale, process, false),
        Command::SetSwitch { process, switch: Switch::Paused, on } => one(Fault::Pause, process, *on),
        Command::SetSwitch { process, switch: Switch::WatchStalled, on } => one(Fault::Stale, process, *on),
        Command::SetServer { server } => {
            let mut all = ends(OF_SERVER, SERVER);
            all.extend(of_server(*server).map(|it| (it, SERVER.to_owned(), true)));
            all
        }
        Command::SetBehavior { subject: Subject::Image(image), behavior } => {
            let mut all = ends(OF_IMAGE, image);
            all.extend(of_behavior(image, behavior).map(|it| (it, image.clone(), true)));
            all
        }
        Command::RestoreBehavior { subject: Subject::Image(image) } => ends(OF_IMAGE, image),
        Command::Request { ask: ask @ (Ask::Create { .. } | Ask::Delete { .. }), .. } if is_quota(ask.target()) => {
            one(Fault::Quota, QUOTA, matches!(ask, Ask::Create { .. }))
        }
        Command::Delete { target, .. } if is_quota(Some(target.clone())) => one(Fault::Quota, QUOTA, false),
        _ => Vec::new(),
    }
}

fn of_server(server: Server) -> Option<Fault> {
    match server {
        Server::Up => None,
        Server::Down => Some(Fault::Down),
        Server::Slow(_) => Some(Fault::Slow),
        Server::Refusing => Some(Fault::Refusing),
    }
}

fn of_behavior(image: &str, now: &Behavior) -> Option<Fault> {
    OF_IMAGE.into_iter().find(|it| it.behaves().is_some_and(|index| behavior(image, index) == *now))
}

fn quota() -> ObjectKey {
    ObjectKey::new(Kind::ResourceQuota, "default", QUOTA)
}

fn is_quota(target: Option<Target>) -> bool {
    target.is_some_and(|it| it.key() == quota())
}

/// What the commands of a run broke, and mended again.
pub(super) fn broken(simulation: &Simulation, steps: &[Rc<JournalEntry>]) -> Vec<Broken> {
    let mut all: Vec<Broken> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let at = step.at.0;
        for (fault, target, on) in changes(&step.command) {
            let mut open = all.iter_mut().filter(|it| it.to_ms.is_none() && it.fault == fault && it.target == target);
            match open.next() {
                Some(it) if !on => it.to_ms = Some(at),
                None if on && exists(simulation, &steps[..index], fault, &target) => {
                    all.push(Broken { fault, target, from_ms: at, to_ms: None });
                }
                _ => {}
            }
        }
    }
    all
}

/// Whether there was something to break.
fn exists(simulation: &Simulation, before: &[Rc<JournalEntry>], fault: Fault, target: &str) -> bool {
    let is_added =
        |it: &Rc<JournalEntry>| matches!(&it.command, Command::AddNode { node: added } if added.name == target);
    match fault {
        Fault::Power | Fault::Cut | Fault::Network => {
            simulation.machines().get(target).is_some() || before.iter().any(is_added)
        }
        Fault::CrashLater | Fault::Pause | Fault::Stop | Fault::Stale => program(simulation, target).is_some(),
        _ => true,
    }
}

fn program<'a>(simulation: &'a Simulation, name: &str) -> Option<&'a Process> {
    simulation.processes().iter().map(|it| &**it).find(|it| it.kind.program() == Some(name))
}

/// Everything that can be broken, and how it stands with it.
pub fn faults(simulation: &Simulation) -> FaultsView {
    let spans = broken(simulation, simulation.journal());
    let since = |fault, target: &str| {
        let mut open = spans.iter().rev().filter(|it| it.to_ms.is_none());
        open.find(|it| it.fault == fault && it.target == target).map(|it| it.from_ms)
    };
    let mut view = FaultsView { images: images(simulation), ..FaultsView::default() };
    for it in simulation.processes() {
        if let Some(name) = it.kind.program() {
            view.programs.push(name.to_owned());
            view.rows.extend(of_program(simulation, it, name, &since));
        }
    }
    let mut on = |fault, target: &str| {
        let at_ms = since(fault, target);
        view.rows.push(FaultRow { fault, target: target.to_owned(), is_on: true, at_ms, left: None });
    };
    if let Some(fault) = of_server(simulation.server()) {
        on(fault, SERVER);
    }
    let cut: Vec<&Name> = simulation.processes().iter().filter(|it| it.is_cut).filter_map(|it| it.node()).collect();
    for (name, machine) in simulation.machines().iter() {
        let states = [
            (Fault::Power, !machine.is_on),
            (Fault::Cut, cut.contains(&name)),
            (Fault::Network, since(Fault::Network, name).is_some()),
        ];
        states.iter().filter(|(_, is_on)| *is_on).for_each(|(fault, _)| on(*fault, name));
    }
    for (image, now) in &simulation.behaviors().0 {
        of_behavior(image, now).into_iter().for_each(|fault| on(fault, image));
    }
    if simulation.api().objects().get(&quota()).is_some() {
        on(Fault::Quota, QUOTA);
    }
    view.nodes = simulation.machines().keys().map(ToString::to_string).collect();
    view
}

/// What is wrong with a program of the control plane.
fn of_program(
    simulation: &Simulation,
    it: &Process,
    name: &str,
    since: &dyn Fn(Fault, &str) -> Option<u64>,
) -> Vec<FaultRow> {
    let (ails, is_up) = (&it.ails, it.is_up);
    let is_asked = |fault| since(fault, name).is_some();
    let states = [
        (Fault::Crash, !is_up && !is_asked(Fault::Stop)),
        (Fault::CrashLater, ails.crashes_after().is_some()),
        (Fault::Pause, ails.is_paused),
        (Fault::Stop, !is_up && is_asked(Fault::Stop)),
        (Fault::Stale, ails.is_stalled && is_asked(Fault::Stale)),
        (Fault::Gone, ails.is_stalled && !is_asked(Fault::Stale)),
    ];
    let row = |(fault, is_on): (Fault, bool)| {
        let at_ms = match fault {
            Fault::Crash | Fault::Gone => last_use(simulation, fault, name),
            _ => since(fault, name).filter(|_| is_on),
        };
        let left = ails.crashes_after().filter(|_| fault == Fault::CrashLater);
        (is_on || at_ms.is_some()).then(|| FaultRow { fault, target: name.to_owned(), is_on, at_ms, left })
    };
    states.into_iter().filter_map(row).collect()
}

/// When a fault that is over by itself was last used.
fn last_use(simulation: &Simulation, fault: Fault, target: &str) -> Option<u64> {
    let is_it = |it: &&Rc<JournalEntry>| match &it.command {
        Command::CrashController { process } => fault == Fault::Crash && process == target,
        Command::BreakWatch { process } => fault == Fault::Gone && process == target,
        _ => false,
    };
    simulation.journal().iter().rev().find(is_it).map(|it| it.at.0)
}

/// The images that somebody wants to run, or whose programs are described.
fn images(simulation: &Simulation) -> Vec<String> {
    let objects = simulation.api().objects();
    let mut all: Vec<String> = Vec::new();
    let mut add = |spec: &PodSpec| {
        for it in spec.init_containers.iter().chain(&spec.containers) {
            if !all.iter().any(|image| image.as_str() == &*it.image) {
                all.push(it.image.to_string());
            }
        }
    };
    for object in crate::world::wanting(objects) {
        match object {
            Object::Deployment(it) => add(&it.spec.template.spec),
            Object::ReplicaSet(it) => add(&it.spec.template.spec),
            Object::StatefulSet(it) => add(&it.spec.template.spec),
            Object::DaemonSet(it) => add(&it.spec.template.spec),
            Object::Job(it) => add(&it.spec.template.spec),
            Object::Pod(it) => add(&it.spec),
            _ => {}
        }
    }
    let described = simulation.behaviors().0.iter().map(|(image, _)| image).filter(|it| !it.starts_with('@'));
    all.extend(described.cloned());
    sort_by(&mut all, Ord::cmp);
    all.dedup();
    all
}

/// The command that switches a fault on or off. Of a program that is to crash later, after so many requests.
pub fn fault_command(simulation: &Simulation, fault: Fault, target: &str, on: bool, requests: u32) -> Command {
    let (process, node, image) = (target.to_owned(), target.to_owned(), target.to_owned());
    let server = |server| Command::SetServer { server: if on { server } else { Server::Up } };
    match (fault, on) {
        (Fault::Crash, _) => Command::CrashController { process },
        (Fault::CrashLater, _) => Command::CrashAfter { process, requests: if on { requests.max(1) } else { 0 } },
        (Fault::Pause, _) => Command::SetSwitch { process, switch: Switch::Paused, on },
        (Fault::Stop, true) => Command::StopController { process },
        (Fault::Stop, false) => Command::StartController { process },
        (Fault::Stale, _) => Command::SetSwitch { process, switch: Switch::WatchStalled, on },
        (Fault::Gone, _) => Command::BreakWatch { process },
        (Fault::Down, _) => server(Server::Down),
        (Fault::Slow, _) => server(Server::Slow(SLOWER_MS)),
        (Fault::Refusing, _) => server(Server::Refusing),
        (Fault::Power, true) => Command::StopNode { node },
        (Fault::Power, false) => Command::StartNode { node },
        (Fault::Cut, true) => Command::CutNode { node },
        (Fault::Cut, false) => Command::HealNode { node },
        (Fault::Network, true) => Command::BreakNode { node },
        (Fault::Network, false) => Command::MendNode { node },
        (Fault::Missing | Fault::CrashLoop | Fault::SlowStart, true) => {
            let behavior = behavior(&image, fault.behaves().unwrap_or(0));
            Command::SetBehavior { subject: Subject::Image(image), behavior }
        }
        (Fault::Missing | Fault::CrashLoop | Fault::SlowStart, false) => {
            Command::RestoreBehavior { subject: Subject::Image(image) }
        }
        (Fault::Quota, true) => forbid_pods(simulation),
        (Fault::Quota, false) => Command::delete((&quota()).into()),
    }
}

/// As `kubectl create quota` does: as many pods as there are, and no more.
fn forbid_pods(simulation: &Simulation) -> Command {
    let is_counted =
        |it: &&Object| &*it.meta().namespace == "default" && it.as_pod().is_some_and(|pod| pod.is_active());
    let n = simulation.api().objects().of_kind(Kind::Pod).filter(is_counted).count();
    let object = fields([
        ("apiVersion", "v1".into()),
        ("kind", "ResourceQuota".into()),
        ("metadata", fields([("name", QUOTA.into()), ("namespace", "default".into())])),
        ("spec", fields([("hard", fields([("pods", n.to_string().into())]))])),
    ]);
    Command::Request { manager: "kubectl-create".into(), ask: Ask::Create { object } }
}

/// The commands that mend all that is broken.
pub fn mendings(simulation: &Simulation) -> Vec<Command> {
    let rows = faults(simulation).rows.into_iter().filter(|it| it.is_on && !it.fault.is_brief());
    rows.map(|it| fault_command(simulation, it.fault, &it.target, false, 0)).collect()
}
