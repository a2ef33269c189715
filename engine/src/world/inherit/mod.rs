//! A world that goes on from a cluster that somebody has brought along.
//!
//! Its objects are put into the store as they stood, without a write; what the dump leaves out because a controller would
//! make it anew (leases, revisions, slices) is made here as that controller makes it; machines run what the statuses say,
//! and kubelets remember what they would. So nobody finds anything to do that was not to be done there.

mod behaviors;
mod complete;
mod machines;

pub use behaviors::behaviors_of;

use super::process::ProcessKind;
use super::{Simulation, Target};
use crate::api::{Kind, Name, Object, ObjectKey, Uid, read_value};
use crate::client::AnyReconciler;
use crate::controllers::horizontal_pod_autoscaler::target_key;
use crate::controllers::kubelet::{Kubelet, PodMemory};
use crate::dump::Cluster;
use crate::environment::{Load, Plan, Shape};
use crate::sim::{Millis, Seq};

/// A node of the cluster, and what its kubelet remembers; nothing of one that is silent.
pub(super) struct TakenOver {
    node: Name,
    memory: Option<Vec<(Uid, PodMemory)>>,
    /// What is going to happen to what runs there.
    plan: Plan,
}

impl Simulation {
    /// Puts the objects of a cluster in place and its machines beside them. Returns what kubelets are to be started with.
    pub(super) fn inherit(&mut self, cluster: &Cluster, began: Seq) -> Vec<TakenOver> {
        if cluster.is_empty() {
            return Vec::new();
        }
        let mut deployments = Vec::new();
        let objects: Vec<Object> = cluster.objects().collect();
        self.make_surroundings(&objects, began);
        for object in objects {
            let is_deployment = object.kind() == Kind::Deployment;
            self.put(object, began);
            deployments.extend(is_deployment.then(|| self.api.version()));
        }
        self.stand_in_for_owners(began);
        let nodes: Vec<Name> = self.names_of(Kind::Node);
        let taken_over = nodes.into_iter().map(|node| self.take_over(node, began)).collect();
        self.complete(began);
        for version in deployments {
            self.uphold(version, crate::client::Author::You);
        }
        taken_over
    }

    fn names_of(&self, kind: Kind) -> Vec<Name> {
        self.api.objects().of_kind(kind).map(|it| it.meta().name.clone()).collect()
    }

    /// Puts an object into the store as it is, with a version of its own.
    fn put(&mut self, mut object: Object, began: Seq) -> u64 {
        let (key, now) = (object.key(), self.now());
        let version = self.api.version() + 1;
        object.meta_mut().resource_version = version;
        self.api.restore(object, false, now);
        self.origins.insert(key, [began; 2]);
        self.weigh(version);
        version
    }

    /// Starts the kubelets of nodes that were taken over, and the loads that autoscalers have seen.
    pub(super) fn go_on_with(&mut self, taken_over: Vec<TakenOver>, began: Seq) {
        let count = taken_over.len().max(1) as u64;
        for (index, TakenOver { node, memory, plan }) in taken_over.into_iter().enumerate() {
            let spread = 10_000 * index as u64 / count + self.random.below("heartbeats", 10_000 / count);
            let kind = ProcessKind::Kubelet(node.clone());
            let is_up = memory.is_some();
            let kubelet = Kubelet::at_work(node.clone(), memory.unwrap_or_default());
            let name = kind.loops().into_iter().next().map(|(name, ..)| name).unwrap_or_default();
            let process = self.add_process(kind, vec![(name, usize::MAX, AnyReconciler::new(kubelet))], is_up);
            if is_up {
                self.list(process, began);
                self.start_clocks(process, Millis(1_000 + spread % 9_000), began);
                self.plan_occurrences(process, plan, began);
            }
        }
        self.go_on_loading(began);
    }

    /// What autoscalers say that the pods of their targets use, these go on using.
    fn go_on_loading(&mut self, began: Seq) {
        let objects = self.api.objects();
        let mut loads = Vec::new();
        for it in objects.of_kind(Kind::HorizontalPodAutoscaler).filter_map(Object::as_autoscaler) {
            let average = it.status.current_metrics.iter().find_map(|metric| {
                let value = metric.extra.get("resource")?.pointer("/current/averageValue")?;
                read_value::<crate::api::Quantity>(value.clone()).ok().map(|it| it.milli())
            });
            let key = target_key(&it.spec.scale_target_ref, &it.metadata.namespace).ok();
            let (Some(average), Some(key)) = (average, key) else { continue };
            let used = self.used_by(&key, average);
            loads.push((key, used));
        }
        for (key, amount) in loads.into_iter().filter(|(_, amount)| *amount > 0) {
            let target = Target { kind: key.kind, namespace: key.namespace.to_string(), name: key.name.to_string() };
            let shape = Shape::Steady { amount: amount.min(Load::MOST) };
            let load = Load { shape, cost_micro: 0, capacity: None };
            // A target that is none has no load.
            let _ = self.set_load(&target, load, began);
        }
    }

    /// Thousandths of a CPU that the ready pods of a workload use together, beyond what idle programs do.
    fn used_by(&self, target: &ObjectKey, average: i64) -> u64 {
        let objects = self.api.objects();
        let Some(selector) = objects.get(target).and_then(|it| match it {
            Object::Deployment(it) => Some(&it.spec.selector),
            Object::ReplicaSet(it) => Some(&it.spec.selector),
            Object::StatefulSet(it) => Some(&it.spec.selector),
            _ => None,
        }) else {
            return 0;
        };
        let pods = objects.in_namespace(Kind::Pod, &target.namespace).filter_map(Object::as_pod);
        let ready = pods.filter(|it| it.is_ready() && !it.is_terminating() && selector.matches(&it.metadata.labels));
        let more = ready.map(|it| average.saturating_sub(it.spec.containers.len() as i64).max(0));
        u64::try_from(more.fold(0_i64, i64::saturating_add)).unwrap_or(0)
    }
}
