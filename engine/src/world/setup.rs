//! What is there before anything happens.

use std::rc::Rc;

use super::process::{Loop, Process, ProcessKind};
use super::{NodeSetup, Simulation};
use crate::api::{Name, Namespace, Object, ObjectMeta, PriorityClass};
use crate::apiserver::{Request, Verb};
use crate::client::{AnyReconciler, Author, LoopIndex};
use crate::controllers::horizontal_pod_autoscaler::NAME as AUTOSCALER;
use crate::controllers::kubelet::{fresh_lease, register};
use crate::environment::Machine;
use crate::manifest;
use crate::sim::{Millis, OnWrite, Seq};

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The priorities that are there from the start (`pkg/apis/scheduling/v1/helpers.go`, v1.36).
const SYSTEM_CLASSES: [(&str, i32); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

impl Simulation {
    /// Creates namespaces and nodes, starts every process, and applies the scenario's manifest.
    pub(super) fn set_up(&mut self, began: Seq) {
        for name in NAMESPACES {
            let metadata = ObjectMeta { name: name.into(), ..ObjectMeta::default() };
            self.seed(began, Object::Namespace(Rc::new(Namespace { metadata, ..Namespace::default() })));
        }
        for (name, value) in SYSTEM_CLASSES {
            let metadata = ObjectMeta { name: name.into(), ..ObjectMeta::default() };
            let class = PriorityClass { metadata, value, ..PriorityClass::default() };
            self.seed(began, Object::PriorityClass(Rc::new(class)));
        }
        let scenario = Rc::clone(&self.scenario);
        for setup in &scenario.nodes {
            self.add_node(began, setup);
        }
        let taken_over = self.inherit(&scenario.cluster, began);
        self.start_process(ProcessKind::ControllerManager, began, Millis(5_000));
        self.start_process(ProcessKind::Scheduler, began, Millis(0));
        let count = scenario.nodes.len().max(1) as u64;
        for (index, setup) in scenario.nodes.iter().enumerate() {
            let spread = 10_000 * index as u64 / count + self.random.below("heartbeats", 10_000 / count);
            let kind = ProcessKind::Kubelet(setup.name.as_str().into());
            self.start_process(kind, began, Millis(1_000 + spread % 9_000));
        }
        self.go_on_with(taken_over, began);
        if !scenario.manifest.is_empty() {
            self.apply(manifest::read(&scenario.manifest), began);
        }
    }

    pub(super) fn seed(&mut self, began: Seq, object: Object) {
        let request = Request::new("loopscope", Verb::Create(object));
        // The world's own objects are valid; a refusal would show at once as a missing node.
        let _ = self.execute(&request, Author::You, began, true);
    }

    fn add_node(&mut self, began: Seq, setup: &NodeSetup) {
        let name = Name::from(setup.name.as_str());
        let mut machine = Machine::new();
        // A scenario's own machines are sound.
        machine.runtime.hardware = setup.hardware().unwrap_or_default();
        let node = register(&name, &machine.runtime.hardware, true, self.wall());
        self.seed(began, Object::Node(Rc::new(node)));
        self.seed(began, Object::Lease(Rc::new(fresh_lease(&name, self.wall_millis()))));
        self.machines.insert(name, OnWrite::new(machine));
    }

    /// Adds a process and starts it; its loops' own clocks come round for the first time after `first_tick`.
    pub(super) fn start_process(&mut self, kind: ProcessKind, cause: Seq, first_tick: Millis) {
        let loops = kind.loops();
        let index = self.add_process(kind, loops, true);
        self.list(index, cause);
        self.start_clocks(index, first_tick, cause);
    }

    /// Adds a process with its loops, which has heard of nothing yet.
    pub(super) fn add_process(
        &mut self,
        kind: ProcessKind,
        loops: Vec<(Name, usize, AnyReconciler)>,
        is_up: bool,
    ) -> usize {
        let index = self.processes.len();
        if let ProcessKind::Kubelet(node) = &kind {
            self.kubelets.insert(node.clone(), index);
        }
        let machine = match &kind {
            ProcessKind::Kubelet(node) => self.machines.slot(node),
            _ => None,
        };
        self.processes.push(OnWrite::new(Process {
            machine,
            cache: kind.cache(),
            kind,
            is_up,
            is_cut: false,
            expects: true,
            ails: super::Ailing::default(),
            version: 0,
            loops: Vec::new(),
            epoch: 0,
        }));
        for it in loops.into_iter().filter(|(name, ..)| name.as_str() != AUTOSCALER) {
            self.add_loop(index, it);
        }
        index
    }

    pub(super) fn add_loop(&mut self, process: usize, (name, workers, reconciler): (Name, usize, AnyReconciler)) {
        let at = LoopIndex(u32::try_from(self.loops.len()).unwrap_or(u32::MAX));
        self.loops.push(OnWrite::new(Loop::new(name, process, workers, reconciler)));
        self.processes[process].loops.push(at);
    }
}
