use serde::{Deserialize, Serialize};

use crate::api::Labels;
use crate::dump::{Cluster, Dump};
use crate::environment::{Behaviors, Pipeline};

/// One node at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSetup {
    pub name: String,
    /// Such as `2` or `1500m`.
    pub cpu: String,
    /// Such as `4Gi`.
    pub memory: String,
    pub pods: u32,
    #[serde(default)]
    pub labels: Labels,
    /// Of a machine that joins: how long after it was switched on it is ready, in ms; 5 s where nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_ms: Option<u64>,
}

impl NodeSetup {
    pub fn named(name: impl Into<String>, cpu: &str, memory: &str) -> Self {
        Self {
            name: name.into(),
            cpu: cpu.into(),
            memory: memory.into(),
            pods: 110,
            labels: Labels::new(),
            ready_ms: None,
        }
    }
}

/// How long things take that a person does not choose, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Latency {
    /// From a client to the API server.
    pub request: u64,
    /// And back.
    pub answer: u64,
    /// From a write until a watcher hears of it.
    pub watch: u64,
    /// From one phase of a turn to the next.
    pub phase: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Self { request: 2, answer: 2, watch: 3, phase: 2 }
    }
}

/// How many requests each controller's client may send: so many a second, so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientLimit {
    pub qps: u32,
    pub burst: u32,
}

impl ClientLimit {
    /// `--kube-api-qps` and `--kube-api-burst` of the controller manager (v1.36).
    pub const CONTROLLER_MANAGER: Self = Self { qps: 20, burst: 30 };
}

/// A scenario of the list that the page offers.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// What an address calls it.
    pub id: &'static str,
    pub name: &'static str,
    pub begin: fn() -> Scenario,
}

/// How a world begins. With the journal of commands it decides everything that follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scenario {
    pub name: String,
    pub seed: u64,
    /// Wall clock at the start, in ms since 1970-01-01 UTC.
    pub epoch_ms: i64,
    pub nodes: Vec<NodeSetup>,
    /// Applied at the start.
    pub manifest: String,
    /// The cluster that the world goes on from, where one was brought along: its nodes are there beside the others.
    #[serde(default)]
    pub cluster: Cluster,
    #[serde(default)]
    pub behaviors: Behaviors,
    #[serde(default)]
    pub latency: Latency,
    /// More pods than this in one workload are refused, and more than twice as many in all.
    #[serde(default)]
    pub max_pods: Option<usize>,
    /// Limits the client of each controller in the controller manager, as a real one is.
    #[serde(default)]
    pub client_limit: Option<ClientLimit>,
    /// How often informers tell again of everything in their caches, in ms; never where nothing is given.
    #[serde(default)]
    pub resync_ms: Option<u64>,
    /// The clocks of the metrics pipeline.
    #[serde(default)]
    pub metrics: Pipeline,
}

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: nginx
        image: nginx:1.27.3
        ports:
        - containerPort: 80
        readinessProbe:
          httpGet:
            path: /
            port: 80
          periodSeconds: 2
        resources:
          requests:
            cpu: 250m
            memory: 128Mi
";

/// Temperatures in °C, heater and step in percent.
const ROOM: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: room
data:
  desired: '21.0'
  hysteresis: '0.5'
  step: '2'
";

impl Scenario {
    /// 2026-11-30 08:00 UTC.
    pub const EPOCH_MS: i64 = 1_796_025_600_000;
    /// What a browser page takes without losing its breath.
    pub const MAX_PODS: usize = 10_000;

    /// Three nodes and nothing on them.
    pub fn empty(seed: u64) -> Self {
        Self {
            name: "Empty cluster".into(),
            seed,
            epoch_ms: Self::EPOCH_MS,
            nodes: (1..=3).map(|n| NodeSetup::named(format!("node-{n}"), "4", "8Gi")).collect(),
            manifest: String::new(),
            cluster: Cluster::default(),
            behaviors: Behaviors::default(),
            latency: Latency::default(),
            max_pods: Some(Self::MAX_PODS),
            client_limit: None,
            resync_ms: None,
            metrics: Pipeline::default(),
        }
    }

    /// The first thing a visitor sees: a Deployment of three that nothing has acted on yet.
    pub fn self_healing() -> Self {
        Self { name: "Self-healing".into(), manifest: WEB.into(), ..Self::empty(1) }
    }

    /// The smallest loop: a cold room and its thermostat, and no nodes.
    pub fn thermostat() -> Self {
        Self { name: "Thermostat".into(), manifest: ROOM.into(), nodes: Vec::new(), ..Self::empty(1) }
    }

    /// Those that need no description.
    pub const CATALOG: [Listed; 3] = [
        Listed { id: "self-healing", name: "Self-healing", begin: Self::self_healing },
        Listed { id: "empty", name: "Empty cluster", begin: || Self::empty(1) },
        Listed { id: "thermostat", name: "Thermostat", begin: Self::thermostat },
    ];

    /// One of them, by its name.
    pub fn built_in(name: &str) -> Option<Self> {
        Self::CATALOG.iter().find(|it| it.name == name).map(|it| (it.begin)())
    }

    /// One of them, as an address calls it.
    pub fn called(id: &str) -> Option<Self> {
        Self::CATALOG.iter().find(|it| it.id == id).map(|it| (it.begin)())
    }

    /// Where a cluster stood when it was dumped. The clock begins at the newest time that the dump names, so that all is
    /// as old as it was.
    pub fn of_dump(dump: &Dump) -> Self {
        Self {
            name: "Your cluster".into(),
            epoch_ms: dump.taken_ms.unwrap_or(Self::EPOCH_MS),
            nodes: Vec::new(),
            behaviors: super::inherit::behaviors_of(&dump.cluster),
            cluster: dump.cluster.clone(),
            ..Self::empty(1)
        }
    }

    /// As [`Scenario::empty`], with so many equal nodes.
    pub fn with_nodes(seed: u64, count: usize, cpu: &str, memory: &str) -> Self {
        let nodes = (1..=count).map(|n| NodeSetup::named(format!("node-{n}"), cpu, memory)).collect();
        Self { nodes, ..Self::empty(seed) }
    }
}
