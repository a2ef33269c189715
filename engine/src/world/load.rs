//! Loads on Services and workloads: who gets which share, and when what was sent is summed up.

use std::rc::Rc;

use super::faults::invalid;
use super::simulation::{Happening, refused};
use super::{Outcome, Simulation, Target};
use crate::api::{Kind, Labels, Name, Object, ObjectKey, Pod};
use crate::apiserver::{ApiError, Change, ChangeKind, Objects};
use crate::client::{ContainerRecord, ContainerUsage, Metrics, PodUsage};
use crate::environment::{Backend, Flow, Load, Machine, PROXY_SYNC, Pipeline, Traffic, World};
use crate::sim::{Digest, Map, Millis, OnWrite, Seq, Time};

/// The label by which a slice names its Service.
const SERVICE_LABEL: &str = "kubernetes.io/service-name";
const MIB: u64 = 1024 * 1024;

impl Simulation {
    /// The loads that there are.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// All loads with what has come of them up to now. Changes nothing.
    pub fn traffic_now(&self) -> Traffic {
        let mut traffic = self.traffic.clone();
        let is_cut = |node: &Name| self.is_cut(node);
        traffic.settle(&World { machines: &self.machines, is_cut: &is_cut }, self.now());
        traffic
    }

    /// Asks for what is known of the world that requests go to.
    pub fn with_world<T>(&self, ask: impl FnOnce(&World<'_>) -> T) -> T {
        let is_cut = |node: &Name| self.is_cut(node);
        ask(&World { machines: &self.machines, is_cut: &is_cut })
    }

    /// The metrics API as it answers now, of loads that are summed up.
    pub fn readings<'a>(&'a self, traffic: &'a Traffic) -> Readings<'a> {
        let (now, epoch_ms, cut) = (self.now(), self.scenario.epoch_ms, self.cut_nodes());
        Readings { traffic, machines: &self.machines, now, epoch_ms, cut }
    }

    pub(super) fn cut_nodes(&self) -> Vec<Name> {
        self.processes.iter().filter(|it| it.is_cut).filter_map(|it| it.node().cloned()).collect()
    }

    /// Sums up what all loads have come to, before something changes that they depend on.
    pub(super) fn settle(&mut self) {
        if self.traffic.flows.is_empty() {
            return;
        }
        let now = self.queue.now();
        let (kubelets, processes) = (&self.kubelets, &self.processes);
        let is_cut = |node: &Name| kubelets.get(node).and_then(|it| processes.get(*it)).is_some_and(|it| it.is_cut);
        self.traffic.settle(&World { machines: &self.machines, is_cut: &is_cut }, now);
    }

    pub(super) fn set_load(&mut self, target: &Target, load: Load, seq: Seq) -> Outcome {
        let key = target.key();
        if let Err(why) = load.check() {
            return invalid(why);
        }
        let is_work = match key.kind {
            Kind::Service => false,
            Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet => true,
            other => {
                return invalid(format!(
                    "a load goes to a Service, a Deployment, a ReplicaSet or a StatefulSet, not to a {}",
                    other.name()
                ));
            }
        };
        if self.api.objects().get(&key).is_none() {
            return refused(&ApiError::not_found(&key));
        }
        self.settle();
        let now = self.now();
        let mut flow = Flow::new(load, seq, now, is_work);
        // What was counted before stays counted: only the load is another.
        if let Some(before) = self.traffic.flows.get_mut(&key) {
            (flow.total, flow.each) = (before.total, std::mem::take(&mut before.each));
            (flow.synced, flow.is_behind) = (before.synced, before.is_behind);
        }
        flow.backends = backends(&key, &flow, self.api.objects());
        self.traffic.flows.insert(key, flow);
        Outcome {
            lines: vec![format!("load on {} set", crate::kubectl::reference(&target.key()))],
            problems: Vec::new(),
        }
    }

    pub(super) fn stop_load(&mut self, target: &Target) -> Outcome {
        self.settle();
        let reference = crate::kubectl::reference(&target.key());
        let line = match self.traffic.flows.remove(&target.key()) {
            Some(_) => format!("load on {reference} stopped"),
            None => format!("there is no load on {reference}"),
        };
        Outcome { lines: vec![line], problems: Vec::new() }
    }

    /// Lets proxies and pods hear of a write that may send a load elsewhere.
    pub(super) fn reroute(&mut self, version: u64) {
        if self.traffic.flows.is_empty() {
            return;
        }
        let Some(change) = self.api.change(version).map(Rc::clone) else { return };
        let now = self.now();
        match &change.object {
            Object::EndpointSlice(slice) => {
                let Some(name) = slice.metadata.labels.get(SERVICE_LABEL) else { return };
                let key = ObjectKey::new(Kind::Service, change.key.namespace.clone(), name.as_str());
                let lag = Millis(self.scenario.latency.watch);
                if let Some(flow) = self.traffic.flows.get_mut(&key).filter(|flow| !flow.is_behind) {
                    flow.is_behind = true;
                    let due = (now + lag).max(flow.synced + PROXY_SYNC);
                    self.queue.at(due, Happening::Route(key));
                }
            }
            Object::Pod(pod) if moves(&change, pod) => {
                let is_of = |key: &ObjectKey| key.namespace == change.key.namespace && key.kind != Kind::Service;
                if self.traffic.flows.keys().any(is_of) {
                    self.settle();
                    let objects = self.api.objects();
                    self.traffic.flows.each(|key, flow| {
                        if is_of(key) {
                            flow.backends = backends(key, flow, objects);
                        }
                    });
                }
            }
            _ => {}
        }
    }

    /// The proxies take in the endpoints of a Service as they are now.
    pub(super) fn route(&mut self, service: &ObjectKey) {
        self.settle();
        let (now, objects) = (self.queue.now(), self.api.objects());
        if let Some(flow) = self.traffic.flows.get_mut(service) {
            (flow.is_behind, flow.synced) = (false, now);
            flow.backends = backends(service, flow, objects);
        }
    }

    /// The command that set the newest load, as the cause of what the autoscaler finds.
    pub(super) fn load_behind(&self) -> Option<Seq> {
        self.traffic.flows.values().map(|flow| flow.cause).max()
    }
}

/// Whether a pod's change may make it take part, or no longer.
fn moves(change: &Change, pod: &Pod) -> bool {
    let Some(old) = change.old.as_ref().and_then(Object::as_pod) else { return true };
    change.kind != ChangeKind::Modified
        || old.is_ready() != pod.is_ready()
        || old.is_terminating() != pod.is_terminating()
        || old.metadata.labels != pod.metadata.labels
}

/// Who gets a share of a load.
fn backends(target: &ObjectKey, flow: &Flow, objects: &Objects) -> Vec<Backend> {
    match objects.get(target) {
        Some(Object::Service(service)) => {
            let slices = objects.owned(service.metadata.uid, Kind::EndpointSlice).filter_map(Object::as_endpoint_slice);
            let all: Vec<_> = slices.flat_map(|it| it.endpoints.iter().map(|endpoint| (endpoint, &it.ports))).collect();
            let is_any_ready = all.iter().any(|(it, _)| it.conditions.ready);
            // Without a ready one, proxies send to those that terminate and still serve (`pkg/proxy/topology.go`).
            let takes = |it: &crate::api::EndpointConditions| it.ready || !is_any_ready && it.serving && it.terminating;
            let meant = all.into_iter().filter(|(it, _)| takes(&it.conditions));
            meant
                .filter_map(|(endpoint, ports)| {
                    let reference = endpoint.target_ref.as_ref()?;
                    let key = ObjectKey::new(Kind::Pod, reference.namespace.clone(), reference.name.clone());
                    let pod = objects.pod(&key)?;
                    let port = ports.first().map(|it| it.port);
                    Some(backend(pod, key, port, &flow.load))
                })
                .collect()
        }
        Some(object) => {
            let Some(takes) = selector(object) else { return Vec::new() };
            let pods = objects.in_namespace(Kind::Pod, &target.namespace).filter_map(Object::as_pod);
            let meant = pods.filter(|pod| pod.is_ready() && !pod.is_terminating() && takes(&pod.metadata.labels));
            meant.map(|pod| backend(pod, Object::Pod(Rc::clone(pod)).key(), None, &flow.load)).collect()
        }
        None => Vec::new(),
    }
}

fn selector(object: &Object) -> Option<impl Fn(&Labels) -> bool + '_> {
    let selector = match object {
        Object::Deployment(it) => &it.spec.selector,
        Object::ReplicaSet(it) => &it.spec.selector,
        Object::StatefulSet(it) => &it.spec.selector,
        _ => return None,
    };
    Some(|labels: &Labels| selector.matches(labels))
}

/// A pod as a place that requests go to: the container that has the port, or the first one.
fn backend(pod: &Pod, key: ObjectKey, port: Option<i32>, load: &Load) -> Backend {
    let has_port = |it: &&crate::api::Container| {
        let ports = it.extra.get("ports").and_then(serde_json::Value::as_array).into_iter().flatten();
        let mut numbers = ports.filter_map(|it| it.get("containerPort")?.as_i64());
        port.is_some_and(|port| numbers.any(|it| it == i64::from(port)))
    };
    let containers = &pod.spec.containers;
    let container = containers.iter().find(has_port).or(containers.first());
    let limit = container.and_then(|it| it.resources.limits.get("cpu")).map(|it| it.milli());
    // Thousandths of a CPU by millionths of a CPU second for each request.
    let affords = limit.and_then(|milli| {
        let micro = u64::try_from(milli).ok()?.saturating_mul(1_000_000);
        micro.checked_div(load.cost_micro)
    });
    Backend {
        pod: key,
        uid: pod.metadata.uid,
        node: pod.spec.node_name.clone(),
        container: container.map(|it| it.name.clone()).unwrap_or_default(),
        capacity: load.capacity.or(affords),
    }
}

/// The metrics API as it answers at an instant.
pub struct Readings<'a> {
    pub(super) traffic: &'a Traffic,
    pub(super) machines: &'a Map<Name, OnWrite<Machine>>,
    pub(super) now: Time,
    pub(super) epoch_ms: i64,
    pub(super) cut: Vec<Name>,
}

impl Readings<'_> {
    /// Without a pipeline: what each ready pod uses just now.
    fn at_once(&self, pod: &Pod) -> Option<PodUsage> {
        if !pod.is_ready() || pod.is_terminating() {
            return None;
        }
        let is_cut = |node: &Name| self.cut.contains(node);
        let world = World { machines: self.machines, is_cut: &is_cut };
        let mut nano = 0;
        for flow in self.traffic.flows.values() {
            let count = flow.backends.len() as u64;
            let Some(index) = flow.backends.iter().position(|it| it.uid == pod.metadata.uid) else { continue };
            nano += if flow.is_work {
                flow.amount(self.now) * 1_000_000 / count
            } else {
                let (_, each) = flow.rates(&world, self.now);
                each.get(index).map_or(0, |it| it.served * flow.load.cost_micro)
            };
        }
        let of = |(index, it): (usize, &crate::api::Container)| ContainerUsage {
            name: it.name.clone(),
            cpu_nano: if index == 0 { nano } else { 0 },
            memory: memory(&it.image),
        };
        let containers = pod.spec.containers.iter().enumerate().map(of).collect();
        Some(PodUsage { at_ms: self.epoch_ms + self.now.0 as i64, window: Pipeline::WINDOW, containers })
    }
}

impl Metrics for Readings<'_> {
    fn of(&self, pod: &Pod) -> Option<PodUsage> {
        let node = &pod.spec.node_name;
        let machine = self.machines.get(node).filter(|it| it.is_on && !self.cut.contains(node))?;
        let pipeline = self.traffic.spending.pipeline();
        if pipeline == Pipeline::NONE {
            return self.at_once(pod);
        }
        let record = machine.runtime.pods.get(&pod.metadata.uid)?;
        let (mut containers, mut newest, mut longest) = (Vec::new(), Time(u64::MAX), 0);
        for it in record.containers.iter().filter(|it| it.is_up()) {
            let since = it.since()?;
            let (cpu_nano, at, window) = self.traffic.spending.usage(pod.metadata.uid, &it.name, since, self.now)?;
            (newest, longest) = (newest.min(at), longest.max(window));
            containers.push(usage(it, cpu_nano));
        }
        let at_ms = self.epoch_ms + newest.0 as i64;
        (!containers.is_empty()).then_some(PodUsage { at_ms, window: Millis(longest), containers })
    }
}

fn usage(container: &ContainerRecord, cpu_nano: u64) -> ContainerUsage {
    ContainerUsage { name: container.name.clone(), cpu_nano, memory: memory(&container.image) }
}

/// Nobody describes what memory programs take: always the same for the same image, 12 to 75 MiB.
fn memory(image: &str) -> u64 {
    let mut digest = Digest::default();
    digest.bytes(image.as_bytes());
    (12 + digest.value() % 64) * MIB
}
