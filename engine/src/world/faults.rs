//! What a person does to machines, processes and programs.

use super::process::ProcessKind;
use super::simulation::{Happening, refused};
use super::{Command, NodeSetup, Outcome, Server, Simulation, Subject};
use crate::api::{Kind, Name, ObjectKey};
use crate::apiserver::{ApiError, DeleteOptions, Reason, Request, Verb};
use crate::client::{Author, What};
use crate::environment::{Behavior, Behaviors, Occurrence, Plan};
use crate::sim::{Millis, OnWrite, Seq, Time};

/// From a crash until whoever watches over the process has started it again.
const RESTART_TAKES: Millis = Millis(1_000);
/// From switching a machine on until its kubelet says its first word.
const FIRST_WORD: Millis = Millis(200);
/// From a kubelet's first word until its node's network is set up.
const NETWORK_TAKES: Millis = Millis(5_000);

/// When a network plugin that is broken will be set up.
pub(super) const NEVER: Time = Time(u64::MAX / 4);

pub(super) fn done(line: String) -> Outcome {
    Outcome { lines: vec![line], problems: Vec::new() }
}

pub(super) fn invalid(message: String) -> Outcome {
    refused(&ApiError::new(Reason::BadRequest, message))
}

impl Simulation {
    /// Does one of the things that no request to the API server does.
    pub(super) fn disturb(&mut self, command: Command, seq: Seq) -> Outcome {
        // What loads come to is summed up before it can turn out otherwise.
        self.settle();
        match command {
            Command::SetLoad { target, load } => self.set_load(&target, load, seq),
            Command::StopLoad { target } => self.stop_load(&target),
            Command::SetBehavior { subject, behavior } => self.behave(&subject, Some(behavior), seq),
            Command::RestoreBehavior { subject } => self.behave(&subject, None, seq),
            Command::SetReady { namespace, pod, ready } => self.set_ready(&pod_key(namespace, pod), ready, seq),
            Command::CrashContainer { namespace, pod, container, code } => {
                self.crash_container(&pod_key(namespace, pod), &container, code, seq)
            }
            Command::StopNode { node } => self.switch(&node, false, seq),
            Command::StartNode { node } => self.switch(&node, true, seq),
            Command::CutNode { node } => self.cut(&node, true, seq),
            Command::HealNode { node } => self.cut(&node, false, seq),
            Command::BreakNode { node } => self.break_network(&node, true, seq),
            Command::MendNode { node } => self.break_network(&node, false, seq),
            Command::AddNode { node } => self.join(&node, seq),
            Command::RemoveNode { node } => self.remove_node(&node, seq),
            Command::StopController { process } => self.set_process(&process, false, seq),
            Command::StartController { process } => self.set_process(&process, true, seq),
            Command::CrashController { process } => self.crash_by_name(&process),
            Command::SetExpectations { process, on } => self.set_expectations(&process, on),
            Command::SetSwitch { process, switch, on } => self.set_switch(&process, switch, on, seq),
            Command::DisturbWatch { process, mishap, next, of } => self.disturb_watch(&process, mishap, next, of),
            Command::BreakWatch { process } => self.break_watch(&process, seq),
            Command::CrashAfter { process, requests } => self.crash_after(&process, requests),
            Command::RunScript { by, count, crash_after } => self.run_script(&by, count, crash_after, seq),
            Command::SetRoom { setting } => self.set_room(setting, seq),
            Command::SetServer { server } => self.set_server(server),
            _ => Outcome::default(),
        }
    }

    fn behave(&mut self, subject: &Subject, behavior: Option<Behavior>, seq: Seq) -> Outcome {
        let entry = match subject {
            Subject::Image(image) => image.clone(),
            Subject::Pod { namespace, name } => Behaviors::pod(&pod_key(namespace.clone(), name.clone())),
        };
        let has_changed = match behavior {
            Some(new) => self.behaviors.0.insert(entry.clone(), new) != Some(new),
            None => self.behaviors.0.remove(&entry).is_some(),
        };
        let word = if behavior.is_some() { "set" } else { "restored" };
        if !has_changed {
            return done(format!("behavior of {subject} unchanged"));
        }
        let now = self.now();
        let concerns = |pod: &ObjectKey, image: &Name| match subject {
            Subject::Image(it) => it.as_str() == image.as_str(),
            Subject::Pod { .. } => Behaviors::pod(pod) == entry,
        };
        let kubelets: Vec<usize> = self.kubelets.values().copied().collect();
        for kubelet in kubelets {
            let slot = self.processes.get(kubelet).and_then(|it| it.machine);
            let machine = slot.and_then(|slot| self.machines.at_mut(slot));
            let Some(machine) = machine.filter(|machine| machine.is_on) else { continue };
            let (happened, plan) = machine.reconsider(&self.behaviors, concerns, now);
            self.report_happenings(kubelet, happened, plan, seq);
        }
        done(format!("behavior of {subject} {word}"))
    }

    /// The kubelet of the node on which a pod's containers are, if they run anywhere.
    fn place_of(&self, pod: &ObjectKey) -> Option<usize> {
        let mut found = self.machines.iter().filter(|(_, machine)| machine.is_on);
        let (node, _) = found.find(|(_, machine)| machine.runtime.pods.values().any(|record| record.key == *pod))?;
        self.kubelets.get(node).copied()
    }

    fn machine_of(&mut self, kubelet: usize) -> Option<&mut crate::environment::Machine> {
        let slot = self.processes.get(kubelet)?.machine?;
        self.machines.at_mut(slot).map(|machine| &mut **machine)
    }

    fn set_ready(&mut self, pod: &ObjectKey, ready: bool, seq: Seq) -> Outcome {
        let now = self.now();
        let Some(kubelet) = self.place_of(pod) else { return refused(&ApiError::not_found(pod)) };
        let Some(machine) = self.machine_of(kubelet) else { return refused(&ApiError::not_found(pod)) };
        let happened = machine.force(pod, ready, now);
        if happened.is_empty() {
            return invalid(format!("no container of pod {} runs", pod.name));
        }
        self.report_happenings(kubelet, happened, Plan::new(), seq);
        done(format!("pod/{} answers {}", pod.name, if ready { "ready" } else { "not ready" }))
    }

    fn crash_container(&mut self, pod: &ObjectKey, container: &str, code: i32, seq: Seq) -> Outcome {
        let now = self.now();
        let Some(kubelet) = self.place_of(pod) else { return refused(&ApiError::not_found(pod)) };
        let Some(machine) = self.machine_of(kubelet) else { return refused(&ApiError::not_found(pod)) };
        let happened = machine.crash(pod, &container.into(), code, now);
        if happened.is_empty() {
            return invalid(format!("container {container} of pod {} does not run", pod.name));
        }
        self.report_happenings(kubelet, happened, Plan::new(), seq);
        done(format!("container {container} of pod/{} ended", pod.name))
    }

    fn switch(&mut self, node: &str, on: bool, seq: Seq) -> Outcome {
        let name = Name::from(node);
        let (Some(machine), Some(process)) = (self.machines.get_mut(&name), self.kubelets.get(&name).copied()) else {
            return refused(&ApiError::not_found(&ObjectKey::node(name)));
        };
        if machine.is_on == on {
            let state = if on { "running" } else { "stopped" };
            return done(format!("node/{node} is already {state}"));
        }
        self.faults.insert(name, seq);
        if on {
            machine.power_on();
            self.start(process, seq);
        } else {
            machine.power_off(self.queue.now());
            self.crash(process);
        }
        done(format!("node/{node} {}", if on { "started" } else { "stopped" }))
    }

    /// Cuts a node off from the API server, or heals that. Its containers and its kubelet go on.
    fn cut(&mut self, node: &str, cut: bool, seq: Seq) -> Outcome {
        let name = Name::from(node);
        let Some(process) = self.kubelets.get(&name).copied() else {
            return refused(&ApiError::not_found(&ObjectKey::node(name)));
        };
        let Some(it) = self.processes.get_mut(process) else { return Outcome::default() };
        if it.is_cut == cut {
            let state = if cut { "cut off" } else { "connected" };
            return done(format!("node/{node} is already {state}"));
        }
        it.is_cut = cut;
        self.faults.insert(name, seq);
        if !cut && it.is_up {
            // The watch was dead: the kubelet lists again, and finds what it has missed.
            self.list(process, seq);
            self.hurry(process, seq);
            // And says at once that it is there, as one that kept trying would: what it still waits for is reset.
            let loops = self.processes.get(process).map(|it| it.loops.clone()).unwrap_or_default();
            for number in self.flights.lost(&loops) {
                self.queue.after(Millis(0), Happening::Answer(number));
            }
            self.speak(process, seq);
        }
        done(format!("node/{node} {}", if cut { "cut off" } else { "connected" }))
    }

    /// Breaks a node's network plugin, or mends it; its kubelet says so at once.
    fn break_network(&mut self, node: &str, broken: bool, seq: Seq) -> Outcome {
        let (name, now) = (Name::from(node), self.now());
        let (Some(machine), Some(process)) = (self.machines.get_mut(&name), self.kubelets.get(&name).copied()) else {
            return refused(&ApiError::not_found(&ObjectKey::node(name)));
        };
        let state = if broken { "broken" } else { "sound" };
        if (machine.runtime.ready_from == NEVER) == broken {
            return done(format!("network plugin of node/{node} is already {state}"));
        }
        machine.runtime.ready_from = if broken { NEVER } else { now };
        self.faults.insert(name, seq);
        self.hurry(process, seq);
        self.speak(process, seq);
        done(format!("network plugin of node/{node} is {state}"))
    }

    /// A process's own clocks come round now.
    fn speak(&mut self, process: usize, seq: Seq) {
        for at in self.processes.get(process).map(|it| it.loops.clone()).unwrap_or_default() {
            let tick = self.loops.get_mut(at.0 as usize).and_then(|it| it.reconciler.tick());
            if let Some((key, _)) = tick {
                self.enqueue(at, key, Millis(0), seq);
            }
        }
    }

    /// What a process puts off, it does now.
    fn hurry(&mut self, process: usize, seq: Seq) {
        let loops = self.processes.get(process).map(|it| it.loops.clone()).unwrap_or_default();
        for at in loops {
            let keys: Vec<ObjectKey> = self
                .loops
                .get(at.0 as usize)
                .into_iter()
                .flat_map(|it| it.queue.delayed())
                .map(|(key, _)| key.clone())
                .collect();
            for key in keys {
                self.enqueue(at, key, Millis(0), seq);
            }
        }
    }

    /// A new machine is switched on; its kubelet makes itself known.
    fn join(&mut self, setup: &NodeSetup, seq: Seq) -> Outcome {
        let name = Name::from(setup.name.as_str());
        let hardware = match setup.hardware() {
            Ok(hardware) => hardware,
            Err(message) => return invalid(message),
        };
        let is_known = self.machines.contains_key(&name);
        if is_known || self.api.objects().get(&ObjectKey::node(name.clone())).is_some() {
            return refused(&ApiError::already_exists(&ObjectKey::node(name)));
        }
        let mut machine = crate::environment::Machine::new();
        machine.runtime.hardware = hardware;
        let takes = setup.ready_ms.map_or(NETWORK_TAKES, Millis);
        machine.runtime.ready_from = self.now() + takes;
        self.machines.insert(name.clone(), OnWrite::new(machine));
        self.start_process(ProcessKind::Kubelet(name), seq, Millis((takes.0 / 2).min(FIRST_WORD.0)));
        done(format!("node/{} added", setup.name))
    }

    /// Switches a machine off and deletes its Node object, as one does with a machine that is gone for good.
    fn remove_node(&mut self, node: &str, seq: Seq) -> Outcome {
        let key = ObjectKey::node(node);
        if self.machines.get(&key.name).is_some_and(|machine| machine.is_on) {
            self.switch(node, false, seq);
        }
        let lease = ObjectKey::new(Kind::Lease, "kube-node-lease", node);
        // The lease is owned by its node; it may be gone already.
        let _ = self.execute(
            &Request::new("kubectl", Verb::Delete(lease, DeleteOptions::default())),
            Author::You,
            seq,
            true,
        );
        let request = Request::new("kubectl", Verb::Delete(key, DeleteOptions::default()));
        match self.execute(&request, Author::You, seq, false) {
            Ok(_) => done(format!("node \"{node}\" deleted")),
            Err(error) => refused(&error),
        }
    }

    /// The controller manager or the scheduler by its program's name.
    pub(super) fn central(&self, program: &str) -> Result<usize, Outcome> {
        if self.git.data.settings.as_ref().is_some_and(|it| it.preset.program() == program) {
            return self.git.process.ok_or_else(Outcome::default);
        }
        let mut known = [ProcessKind::ControllerManager, ProcessKind::Scheduler, ProcessKind::Thermostat].into_iter();
        let Some(kind) = known.find(|it| it.program() == Some(program)) else {
            return Err(invalid(format!("no process \"{program}\": kube-controller-manager or kube-scheduler")));
        };
        let found = self.processes.iter().position(|process| process.kind == kind);
        found.ok_or_else(|| invalid(format!("{program} was never started")))
    }

    fn set_process(&mut self, program: &str, up: bool, seq: Seq) -> Outcome {
        let process = match self.central(program) {
            Ok(process) => process,
            Err(outcome) => return outcome,
        };
        if self.processes.get(process).is_some_and(|it| it.is_up == up) {
            return done(format!("{program} is already {}", if up { "running" } else { "stopped" }));
        }
        if up {
            self.start(process, seq)
        } else {
            self.crash(process)
        }
        done(format!("{program} {}", if up { "started" } else { "stopped" }))
    }

    fn set_expectations(&mut self, program: &str, on: bool) -> Outcome {
        let process = match self.central(program) {
            Ok(process) => self.processes.get_mut(process),
            Err(outcome) => return outcome,
        };
        let Some(process) = process.filter(|it| it.kind == ProcessKind::ControllerManager) else {
            return invalid(format!("{program} keeps no expectations"));
        };
        process.expects = on;
        done(format!("expectations of {program} {}", if on { "on" } else { "off" }))
    }

    /// Crashes a process that is soon started again.
    fn crash_by_name(&mut self, program: &str) -> Outcome {
        let process = match self.central(program) {
            Ok(process) => process,
            Err(outcome) => return outcome,
        };
        if self.processes.get(process).is_some_and(|it| !it.is_up) {
            return done(format!("{program} is already stopped"));
        }
        self.crash_for_a_moment(process, self.trace.last_seq());
        done(format!("{program} crashed"))
    }

    pub(super) fn crash_for_a_moment(&mut self, process: usize, cause: Seq) {
        self.crash(process);
        let epoch = self.processes.get(process).map_or(0, |it| it.epoch);
        self.queue.after(RESTART_TAKES, Happening::Restart { process, epoch, cause });
    }

    /// How the API server answers now.
    pub fn server(&self) -> Server {
        self.server
    }

    fn set_server(&mut self, server: Server) -> Outcome {
        if std::mem::replace(&mut self.server, server) == server {
            return done("the API server is already so".into());
        }
        let words = match server {
            Server::Up => "answers",
            Server::Down => "is down",
            Server::Slow(_) => "is slow",
            Server::Refusing => "refuses",
        };
        done(["the API server ", words].concat())
    }

    /// Whoever watches over a process starts it again, unless somebody else has.
    pub(super) fn restart(&mut self, process: usize, epoch: u32, cause: Seq) {
        if self.processes.get(process).is_some_and(|it| !it.is_up && it.epoch == epoch) {
            self.start(process, cause);
        }
    }

    /// Lets something happen inside a machine, unless its power was cut meanwhile.
    pub(super) fn occur(&mut self, kubelet: usize, boot: u32, occurrence: &Occurrence, cause: Seq) {
        self.settle();
        let now = self.queue.now();
        let slot = self.processes.get(kubelet).and_then(|it| it.machine);
        let machine = slot.and_then(|slot| self.machines.at_mut(slot));
        let Some(machine) = machine.filter(|machine| machine.is_on && machine.boot == boot) else {
            return;
        };
        let (happened, planned) = machine.occur(occurrence, &self.behaviors, now);
        self.report_happenings(kubelet, happened, planned, cause);
    }

    pub(super) fn plan_occurrences(&mut self, kubelet: usize, planned: Vec<(Time, Occurrence)>, cause: Seq) {
        let slot = self.processes.get(kubelet).and_then(|it| it.machine);
        let boot = slot.and_then(|slot| self.machines.at(slot)).map_or(0, |machine| machine.boot);
        for (at, occurrence) in planned {
            self.queue.at(at, Happening::Occur { kubelet, boot, occurrence, cause });
        }
    }

    /// Records what happened inside a machine; its kubelet takes notice.
    pub(super) fn report_happenings(
        &mut self,
        kubelet: usize,
        happened: Vec<crate::environment::Happening>,
        plan: Plan,
        cause: Seq,
    ) {
        let mut last = cause;
        let process = self.processes.get(kubelet);
        let Some((node, at)) = process.and_then(|it| Some((it.node()?.clone(), it.loops.first().copied()?))) else {
            return;
        };
        for (pod, note) in happened {
            let what = What::Happened { node: node.clone(), pod: pod.clone(), note };
            last = self.record(Some(cause), false, what);
            self.enqueue(at, pod, Millis(0), last);
        }
        self.plan_occurrences(kubelet, plan, last);
    }
}

fn pod_key(namespace: String, name: String) -> ObjectKey {
    let namespace = if namespace.is_empty() { super::default_namespace() } else { namespace.into() };
    ObjectKey::new(Kind::Pod, namespace, name)
}

/// The machine that is asked for; what is wrong with it where it cannot be.
impl NodeSetup {
    /// What it says of its machine.
    ///
    /// # Errors
    /// The quantity that is none, or not more than nothing.
    pub fn hardware(&self) -> Result<crate::client::Hardware, String> {
        let quantity = |what: &str, text: &str| match text.parse::<crate::api::Quantity>() {
            Ok(amount) if amount.milli() > 0 => Ok(amount),
            _ => Err(format!("{what} \"{text}\" of node \"{}\" must be a positive quantity", self.name)),
        };
        Ok(crate::client::Hardware {
            cpu: quantity("cpu", &self.cpu)?,
            memory: quantity("memory", &self.memory)?,
            pods: self.pods,
            labels: self.labels.clone(),
        })
    }
}
