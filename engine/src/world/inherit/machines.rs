//! The machines of a cluster that was brought along, with what runs on them.

use std::rc::Rc;

use super::super::Simulation;
use super::super::faults::NEVER;
use super::TakenOver;
use crate::api::{Kind, MicroTime, Name, Node, Object, ObjectKey, Pod, Timestamp, Uid, condition};
use crate::client::{ContainerPhase, Context, Hardware, PodRecord};
use crate::controllers::kubelet::{BEFORE, PodMemory, adopt, fresh_lease, report};
use crate::environment::{Behaviors, Machine, Occurrence, Plan};
use crate::sim::{Millis, OnWrite, Seq, Time};

/// What a kubelet tells of its node.
const TOLD: [&str; 4] = ["DiskPressure", "MemoryPressure", "PIDPressure", "Ready"];
/// A program that is to end by itself does so no sooner than this after the world begins, in ms.
const SOONEST: u64 = 1_000;

impl Simulation {
    /// Takes over a node: its machine, the pods on it, and its lease.
    pub(super) fn take_over(&mut self, name: Name, began: Seq) -> TakenOver {
        let found = self.api.objects().get(&ObjectKey::node(name.clone())).and_then(Object::as_node).cloned();
        let Some(node) = found else { return TakenOver { node: name, memory: None, plan: Plan::new() } };
        let (now, wall, wall_millis) = (self.now(), self.wall(), self.wall_millis());
        let is_silent = node.readiness() == "Unknown";
        let mut machine = Machine::new();
        machine.runtime.hardware = hardware(&node);
        machine.runtime.ready_from = if node.readiness() == "False" { NEVER } else { BEFORE };
        let (mut memories, mut plan) = (Vec::new(), Plan::new());
        for pod in self.api.objects().pods_on(&name).cloned().collect::<Vec<_>>() {
            let Some((mut record, memory)) = adopt(&pod, wall_millis) else { continue };
            let uid = pod.metadata.uid;
            for container in record.containers.iter().filter(|it| it.exit().is_some() || it.since().is_some()) {
                machine.runtime.images.add(container.image.clone());
            }
            plan.extend(ends(&pod, &mut record, &self.behaviors, wall_millis));
            machine.runtime.pods.insert(uid, OnWrite::new(record));
            memories.push((uid, memory, pod));
        }
        if is_silent {
            machine.power_off(now);
            plan.clear();
        }
        let mut lease = fresh_lease(&name, wall_millis);
        if is_silent {
            let heard = condition(&node.status.conditions, "Ready").and_then(|it| it.last_heartbeat_time);
            lease.spec.renew_time = heard.map(|it| MicroTime(it.millis()));
        }
        self.seed(began, Object::Lease(Rc::new(lease)));
        let memory = (!is_silent).then(|| self.tell_statuses(&machine, memories, began));
        if !is_silent {
            self.put(Object::Node(heard(node, wall)), began);
        }
        self.machines.insert(name.clone(), OnWrite::new(machine));
        TakenOver { node: name, memory, plan }
    }

    /// Writes down each status as the kubelet words it: versions differ in what they tell.
    fn tell_statuses(
        &mut self,
        machine: &Machine,
        memories: Vec<(Uid, PodMemory, Rc<Pod>)>,
        began: Seq,
    ) -> Vec<(Uid, PodMemory)> {
        let mut all = Vec::new();
        for (uid, mut memory, mut pod) in memories {
            let context = Context {
                cache: self.api.objects(),
                version: self.api.version(),
                now: self.now(),
                wall: self.wall(),
                wall_millis: self.wall_millis(),
                expects: true,
                runtime: Some(&machine.runtime),
                metrics: None,
                room: None,
                git: None,
                infrastructure: None,
            };
            let record = machine.runtime.pods.get(&uid);
            let status = record.and_then(|record| report(&pod, record, &memory, &context));
            memory.version = pod.metadata.resource_version;
            // Of what is on its way something is still to be told.
            if let Some(status) = status.filter(|it| it.phase == pod.status.phase) {
                Rc::make_mut(&mut pod).status = status;
                memory.version = self.put(Object::Pod(pod), began);
            }
            all.push((uid, memory));
        }
        all
    }
}

fn hardware(node: &Node) -> Hardware {
    let of = |resource: &str| {
        let whole = node.status.capacity.get(resource).copied();
        whole.unwrap_or_else(|| node.allocatable(resource))
    };
    let pods = u32::try_from(of("pods").units()).unwrap_or(0);
    Hardware { cpu: of("cpu"), memory: of("memory"), pods, labels: node.metadata.labels.clone() }
}

/// A node that was heard of just now.
fn heard(mut node: Rc<Node>, wall: Timestamp) -> Rc<Node> {
    let it = Rc::make_mut(&mut node);
    for condition in it.status.conditions.iter_mut().filter(|it| TOLD.contains(&it.kind.as_str())) {
        condition.last_heartbeat_time = Some(wall);
    }
    node
}

/// When programs that keep ending will do so again.
fn ends(pod: &Pod, record: &mut PodRecord, behaviors: &Behaviors, wall_millis: i64) -> Plan {
    let key = ObjectKey::new(Kind::Pod, pod.metadata.namespace.clone(), pod.metadata.name.clone());
    let mut plan = Plan::new();
    for container in &mut record.containers {
        let is_up = matches!(container.phase, ContainerPhase::Running { .. });
        if !is_up || !behaviors.describes(&key, &container.image) {
            continue;
        }
        let behavior = behaviors.within(&key, &container.image);
        let Some((after, code)) = behavior.end_of(container.restarts) else { continue };
        let since = pod.statuses().find(|it| it.name == container.name).and_then(|it| match &it.state {
            crate::api::ContainerState::Running(it) => Some(it.started_at),
            _ => None,
        });
        let ran = since.and_then(|it| u64::try_from(wall_millis - it.millis()).ok()).unwrap_or(0);
        container.plan += 1;
        let (name, number) = (container.name.clone(), container.plan);
        let at = Time(0) + Millis(after.saturating_sub(ran).max(SOONEST));
        let (pod, is_oom) = (pod.metadata.uid, behavior.is_oom);
        plan.push((at, Occurrence::Ended { pod, container: name, code, plan: number, is_oom }));
    }
    plan
}
