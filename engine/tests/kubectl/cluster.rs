//! A cluster that is as a recording says: the real API server's rules over recorded objects.

use loopscope_engine::api::{Kind, Object, Timestamp};
use loopscope_engine::apiserver::{Answer, ApiError, ApiServer, Moment, Request};
use loopscope_engine::kubectl::Cluster;
use loopscope_engine::sim::{Random, Seq, Time};
use serde_json::Value;

use super::recording::{Change, Recording};

#[derive(Clone)]
pub struct Recorded {
    api: ApiServer,
    /// In milliseconds since 1970.
    pub wall: i64,
    began: i64,
    n_requests: u64,
    metrics: Option<(Vec<Value>, Vec<Value>)>,
}

/// Kinds that a recording tells of, beside Nodes, in the namespace `default`.
const KINDS: [Kind; 13] = [
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::Pod,
    Kind::Service,
    Kind::EndpointSlice,
    Kind::HorizontalPodAutoscaler,
    Kind::PodDisruptionBudget,
    Kind::ResourceQuota,
    Kind::Event,
    Kind::Node,
];

fn object(value: &Value) -> Option<Object> {
    let (version, kind) = (value["apiVersion"].as_str()?, value["kind"].as_str()?);
    let kind = Kind::find(version, kind)?;
    Some(
        Object::from_value(kind, value.clone())
            .unwrap_or_else(|error| panic!("{}: {}: {value}", error.path, error.message)),
    )
}

impl Recorded {
    pub fn new(recording: &Recording) -> Self {
        let began = recording.steps.first().map_or(0, |it| it.clock) - 10_000_000;
        let metrics = recording.metrics.as_ref().map(|it| metrics(recording, it));
        let mut cluster = Self { api: ApiServer::new(), wall: began, began, n_requests: 0, metrics };
        for other in recording.others.iter().filter_map(object) {
            cluster.api.restore(other, false, Time(0));
        }
        cluster
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.wall - self.began).unwrap_or(0))
    }

    /// Puts the recorded kinds in place as they were when a step began.
    pub fn place(&mut self, recording: &Recording, index: usize, clock: i64) {
        self.wall = clock;
        let wanted: Vec<Object> = recording.at(clock).filter_map(object).collect();
        let now = self.now();
        for kind in KINDS {
            if kind == Kind::ResourceQuota && !recording.has_quotas() {
                continue;
            }
            let known: Vec<Object> = self.api.objects().of_kind(kind).cloned().collect();
            for old in known {
                let is_recorded = kind == Kind::Node || &*old.meta().namespace == "default";
                if is_recorded && !wanted.iter().any(|it| it.key() == old.key()) {
                    self.api.restore(old, true, now);
                }
            }
        }
        for new in wanted {
            if self.api.objects().get(&new.key()) != Some(&new) {
                self.api.restore(new, false, now);
            }
        }
        self.place_leases(recording, index);
        self.count_quotas(now);
    }

    /// What the quota controller says of a quota that was just made, where quotas were not recorded.
    fn count_quotas(&mut self, now: Time) {
        let quotas: Vec<Object> = self.api.objects().of_kind(Kind::ResourceQuota).cloned().collect();
        for quota in quotas {
            let mut value = quota.to_value();
            if value.get("status").is_none() {
                let hard = value["spec"]["hard"].clone();
                let used: serde_json::Map<String, Value> =
                    hard.as_object().into_iter().flatten().map(|(name, _)| (name.clone(), "0".into())).collect();
                value["status"] = serde_json::json!({"hard": hard, "used": used});
                let quota = Object::from_value(Kind::ResourceQuota, value).expect("a quota");
                self.api.restore(quota, false, now);
            }
        }
    }

    /// Leases are in none of the recorded namespaces: what a description says of them is all that is known of them.
    fn place_leases(&mut self, recording: &Recording, index: usize) {
        let mut name = "";
        for line in recording.steps[index].stdout.lines() {
            if let Some(rest) = line.strip_prefix("Name:") {
                name = rest.trim();
            }
            let Some(rest) = line.trim().strip_prefix("RenewTime:") else { continue };
            let at = date(rest.trim());
            let spec = serde_json::json!({"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": at});
            let lease = serde_json::json!({"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": spec});
            let lease = Object::from_value(Kind::Lease, lease).expect("a lease");
            let now = self.now();
            self.api.restore(lease, false, now);
        }
    }

    /// Takes in a recorded change.
    pub fn take(&mut self, change: &Change) {
        let now = self.now();
        if let Some(object) = object(&change.object) {
            self.api.restore(object, change.is_gone, now);
        }
    }

    fn moment<'a>(&self, random: &'a mut Random) -> Moment<'a> {
        Moment { now: self.now(), wall: Timestamp::from_millis(self.wall), cause: Seq(0), random, uid: None }
    }
}

/// `Mon, 30 Nov 2026 04:40:58 +0000` as the API writes it.
fn date(text: &str) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let parts: Vec<&str> = text.split_whitespace().collect();
    let month = MONTHS.iter().position(|it| *it == parts[2]).expect("a month") + 1;
    format!("{}-{month:02}-{}T{}.000000Z", parts[3], parts[1], parts[4])
}

/// The metrics of pods are in the first step's output, those of nodes beside the steps.
fn metrics(recording: &Recording, value: &Value) -> (Vec<Value>, Vec<Value>) {
    let pods =
        recording.steps.iter().find(|it| it.cmd.contains("--raw")).map(|it| it.stdout.clone()).unwrap_or_default();
    let pods: Value = serde_json::from_str(&pods).unwrap_or_default();
    let nodes = value["nodes"].as_object().into_iter().flatten().map(|(name, amounts)| {
        serde_json::json!({"metadata": {"name": name}, "usage": {"cpu": amounts[0], "memory": amounts[1]}})
    });
    (pods["items"].as_array().cloned().unwrap_or_default(), nodes.collect())
}

impl Cluster for Recorded {
    fn api(&self) -> &ApiServer {
        &self.api
    }

    fn wall_millis(&self) -> i64 {
        self.wall
    }

    fn wall_of(&self, at: Time) -> i64 {
        self.began + i64::try_from(at.0).unwrap_or(0)
    }

    fn ask(&mut self, request: Request) -> Result<Answer, ApiError> {
        self.n_requests += 1;
        let mut random = Random::new(self.n_requests);
        let mut moment = Moment {
            now: self.now(),
            wall: Timestamp::from_millis(self.wall),
            cause: Seq(0),
            random: &mut random,
            uid: None,
        };
        self.api.execute(&request, &mut moment)
    }

    fn try_out(&self, request: &Request) -> Result<Answer, ApiError> {
        let mut api = self.api.clone();
        api.execute(request, &mut self.moment(&mut Random::new(0)))
    }

    fn events(&self) -> Vec<Value> {
        Vec::new()
    }

    fn metrics(&self, of_nodes: bool) -> Option<Vec<Value>> {
        let (pods, nodes) = self.metrics.clone()?;
        Some(if of_nodes { nodes } else { pods })
    }
}
