use std::rc::Rc;

use super::Ailing;
use crate::api::{Kind, Name, Object, ObjectKey, Pod};
use crate::apiserver::{Change, ChangeKind, Indexes, Objects};
use crate::client::{AnyReconciler, Facts, LoopIndex, Outcome, TokenBucket, TurnPhase, WorkQueue};
use crate::controllers::daemonset::DaemonSetController;
use crate::controllers::deployment::DeploymentController;
use crate::controllers::disruption::DisruptionController;
use crate::controllers::endpointslice::EndpointSliceController;
use crate::controllers::garbage_collector::GarbageCollector;
use crate::controllers::gitops::{Agent, NAME as AGENT};
use crate::controllers::horizontal_pod_autoscaler::{HorizontalPodAutoscalerController, NAME as AUTOSCALER};
use crate::controllers::job::{JobController, TtlAfterFinished};
use crate::controllers::kubelet::Kubelet;
use crate::controllers::namespace::NamespaceController;
use crate::controllers::node_lifecycle::NodeLifecycle;
use crate::controllers::orders::Orders;
use crate::controllers::pod_collector::PodCollector;
use crate::controllers::replicaset::ReplicaSetController;
use crate::controllers::resource_quota::ResourceQuotaController;
use crate::controllers::scheduled_run::{NAME as RUN, ScheduledRun};
use crate::controllers::scheduler::Scheduler;
use crate::controllers::statefulset::StatefulSetController;
use crate::controllers::taint_eviction::TaintEviction;
use crate::controllers::thermostat::{NAME as THERMOSTAT, Thermostat, room_key};
use crate::controllers::{CONTROLLER_MANAGER, Scripts};
use crate::gitops::Preset;
use crate::sim::{Map, Millis, Seq, Time, sort_by};

/// A program that runs loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    ControllerManager,
    Scheduler,
    Kubelet(Name),
    /// Of a room: see [`thermostat`](crate::controllers::thermostat).
    Thermostat,
    /// Of a person: see [`orders`](crate::controllers::orders).
    Script(Name),
    /// The agent that keeps the cluster as Git says.
    GitOps(Preset),
    /// What runs infrastructure as code by the clock.
    Runner {
        every_ms: u64,
        applies: bool,
    },
}

impl ProcessKind {
    /// Whether this process watches an object; kubelets watch only what concerns their node.
    pub fn watches(&self, object: &Object) -> bool {
        match self {
            ProcessKind::ControllerManager => true,
            ProcessKind::GitOps(_) => !matches!(object.kind(), Kind::Node | Kind::Lease | Kind::EndpointSlice),
            ProcessKind::Scheduler => matches!(
                object.kind(),
                Kind::Pod
                    | Kind::Node
                    | Kind::Namespace
                    | Kind::Service
                    | Kind::ReplicaSet
                    | Kind::StatefulSet
                    | Kind::PodDisruptionBudget
            ),
            ProcessKind::Script(_) | ProcessKind::Runner { .. } => false,
            ProcessKind::Thermostat => object.kind() == Kind::ConfigMap && object.key() == room_key(),
            ProcessKind::Kubelet(node) => match object {
                Object::Pod(pod) => pod.spec.node_name == *node,
                Object::Node(_) | Object::Lease(_) => object.meta().name == *node,
                _ => false,
            },
        }
    }

    /// What it is called in commands, where a person can do something to it.
    pub fn program(&self) -> Option<&'static str> {
        match self {
            ProcessKind::ControllerManager => Some(CONTROLLER_MANAGER),
            ProcessKind::Scheduler => Some("kube-scheduler"),
            ProcessKind::Thermostat => Some("thermostat"),
            ProcessKind::GitOps(preset) => Some(preset.program()),
            ProcessKind::Kubelet(_) | ProcessKind::Script(_) | ProcessKind::Runner { .. } => None,
        }
    }

    /// Its cache before it has heard of anything.
    pub fn cache(&self) -> Objects {
        Objects::indexed(match self {
            ProcessKind::ControllerManager => Indexes::All,
            _ => Indexes::Nodes,
        })
    }

    /// Its loops as they are after a fresh start: name, turns at a time, reconciler.
    pub fn loops(&self) -> Vec<(Name, usize, AnyReconciler)> {
        match self {
            ProcessKind::ControllerManager => vec![
                ("Deployment".into(), 5, AnyReconciler::new(DeploymentController)),
                ("ReplicaSet".into(), 5, AnyReconciler::new(ReplicaSetController::default())),
                ("Node lifecycle".into(), 8, AnyReconciler::new(Scripts(NodeLifecycle::default()))),
                ("Taint eviction".into(), 8, AnyReconciler::new(TaintEviction::default())),
                ("Garbage collector".into(), 20, AnyReconciler::new(GarbageCollector)),
                ("Namespaces".into(), 10, AnyReconciler::new(NamespaceController)),
                ("Disruption budgets".into(), 1, AnyReconciler::new(DisruptionController::default())),
                ("Resource quotas".into(), 5, AnyReconciler::new(ResourceQuotaController::default())),
                ("StatefulSet".into(), 5, AnyReconciler::new(Scripts(StatefulSetController::default()))),
                ("DaemonSet".into(), 2, AnyReconciler::new(Scripts(DaemonSetController::default()))),
                ("Job".into(), 5, AnyReconciler::new(Scripts(JobController::default()))),
                ("Finished Jobs".into(), 5, AnyReconciler::new(Scripts(TtlAfterFinished))),
                ("EndpointSlice".into(), 5, AnyReconciler::new(Scripts(EndpointSliceController))),
                ("Pod collector".into(), 1, AnyReconciler::new(Scripts(PodCollector::default()))),
                // Of those that are started at need the last: see `Simulation::summon`.
                (AUTOSCALER.into(), 5, AnyReconciler::new(Scripts(HorizontalPodAutoscalerController::default()))),
            ],
            ProcessKind::Scheduler => vec![("Scheduler".into(), 1, AnyReconciler::new(Scheduler::default()))],
            ProcessKind::Script(by) => {
                vec![(format!("Script of {by}").into(), usize::MAX, AnyReconciler::new(Orders))]
            }
            ProcessKind::Thermostat => vec![(THERMOSTAT.into(), 1, AnyReconciler::new(Scripts(Thermostat::default())))],
            ProcessKind::Runner { every_ms, applies } => {
                let run = ScheduledRun { every: Millis(*every_ms), applies: *applies };
                vec![(RUN.into(), 1, AnyReconciler::new(run))]
            }
            ProcessKind::GitOps(preset) => vec![(AGENT.into(), 1, AnyReconciler::new(Agent(*preset)))],
            ProcessKind::Kubelet(node) => {
                let name = format!("Kubelet {node}");
                vec![(name.into(), usize::MAX, AnyReconciler::new(Kubelet::new(node.clone())))]
            }
        }
    }
}

/// A process: a cache kept by watching, and loops that read it.
#[derive(Clone)]
pub struct Process {
    pub kind: ProcessKind,
    pub is_up: bool,
    /// Nothing reaches it, and nothing of it reaches the API server.
    pub is_cut: bool,
    /// Whether its controllers wait until their cache shows their own writes.
    pub expects: bool,
    pub ails: Ailing,
    pub cache: Objects,
    /// The version up to which the cache has heard.
    pub version: u64,
    pub loops: Vec<LoopIndex>,
    /// Counts starts: what was under way before a crash does not go on after it.
    pub epoch: u32,
    /// Where a kubelet's machine is among the machines.
    pub machine: Option<u32>,
}

impl Process {
    /// It runs, and does not stand still.
    pub fn works(&self) -> bool {
        self.is_up && !self.ails.is_paused
    }

    pub fn is_manager(&self) -> bool {
        self.kind == ProcessKind::ControllerManager
    }

    /// The node that it is the kubelet of.
    pub fn node(&self) -> Option<&Name> {
        match &self.kind {
            ProcessKind::Kubelet(node) => Some(node),
            _ => None,
        }
    }

    /// The objects that it watches, in order. A kubelet need not look at those of all others.
    pub fn watched<'a>(&'a self, objects: &'a Objects) -> Box<dyn Iterator<Item = (&'a ObjectKey, &'a Object)> + 'a> {
        let Some(node) = self.node() else {
            return Box::new(objects.iter().filter(|(_, object)| self.kind.watches(object)));
        };
        let lease = ObjectKey::new(Kind::Lease, "kube-node-lease", node.clone());
        let key_of =
            |pod: &Rc<Pod>| ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
        let own = [ObjectKey::node(node.clone()), lease].into_iter().chain(objects.pods_on(node).map(key_of));
        let mut all: Vec<(&ObjectKey, &Object)> = own.filter_map(|key| objects.entry(&key)).collect();
        sort_by(&mut all, |a, b| a.0.cmp(b.0));
        Box::new(all.into_iter())
    }

    /// Takes a change, which may come late, into the cache. Whether the cache had the object.
    pub fn hear(&mut self, change: &Change) -> bool {
        self.version = self.version.max(change.version);
        let old = match change.kind {
            ChangeKind::Deleted => self.cache.remove(&change.key),
            _ => self.cache.put(change.key.clone(), change.object.clone()),
        };
        old.is_some()
    }
}

/// What a loop last found or did in one phase.
#[derive(Clone, Debug)]
pub struct Cell {
    pub seq: Seq,
    pub facts: Rc<Facts>,
    pub answer: Option<CellAnswer>,
}

/// How the API server answered the requests of an Act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellAnswer {
    pub code: u16,
    pub version: u64,
    pub failed: bool,
}

/// A turn under way.
#[derive(Clone)]
pub struct ActiveTurn {
    /// The newest trace event of the turn.
    pub last: Seq,
    pub phase: Option<TurnPhase>,
    pub awaiting: usize,
    pub outcomes: Vec<Option<Outcome>>,
    pub is_background: bool,
    /// The reconciler's number for it.
    pub number: u32,
}

/// One loop: its queue, its turns, and what its last turn showed.
#[derive(Clone)]
pub struct Loop {
    pub name: Name,
    pub process: usize,
    pub workers: usize,
    pub queue: WorkQueue,
    pub reconciler: AnyReconciler,
    pub active: Map<ObjectKey, ActiveTurn>,
    /// Observe, Diff, Act of the newest turn that was no background.
    pub cells: [Option<Cell>; 3],
    /// The key of that turn.
    pub shown: Option<ObjectKey>,
    pub turns: u64,
    pub retries: u64,
    pub last_active: Option<Time>,
    /// What its client may send before it must wait, where clients are limited.
    pub client: TokenBucket,
}

impl Loop {
    pub fn new(name: Name, process: usize, workers: usize, reconciler: AnyReconciler) -> Self {
        Self {
            name,
            process,
            workers,
            queue: WorkQueue::default(),
            reconciler,
            active: Map::default(),
            cells: [None, None, None],
            shown: None,
            turns: 0,
            retries: 0,
            last_active: None,
            client: TokenBucket::default(),
        }
    }

    /// Takes a turn out, here and at the reconciler.
    pub fn end_turn(&mut self, key: &ObjectKey) -> Option<ActiveTurn> {
        let turn = self.active.remove(key)?;
        self.active.tidy();
        self.reconciler.end(turn.number);
        Some(turn)
    }

    /// Shows a phase; a new turn clears what the one before left in later phases.
    pub fn show(&mut self, key: &ObjectKey, phase: TurnPhase, cell: Cell, now: Time) {
        if phase == TurnPhase::Observe {
            self.cells = [None, None, None];
            self.shown = Some(key.clone());
        }
        if self.shown.as_ref() == Some(key) {
            self.cells[phase as usize] = Some(cell);
        }
        self.last_active = Some(now);
    }
}
