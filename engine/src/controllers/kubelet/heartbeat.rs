//! The kubelet's word about its node: its registration, a lease every 10 s, the status when it differs.
//!
//! Mirrors `pkg/kubelet/{kubelet_node_status.go,nodestatus}` and `k8s.io/component-helpers/apimachinery/lease`, v1.36.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{MANAGER, RECORDER, Stage, Turn};
use crate::api::{
    Condition, Kind, Lease, LeaseSpec, MicroTime, Name, Node, NodeSpec, NodeStatus, Object, ObjectKey, ObjectMeta,
    Quantity, Taint, Timestamp, VERSION, condition, set_condition,
};
use crate::apiserver::{Request, Verb};
use crate::client::{Action, Context, Facts, Hardware, Next, Outcome, Step, Stepped};
use crate::note;
use crate::sim::Millis;

/// How often the node's status is written although nothing changed (`nodeStatusReportFrequency`), in seconds.
const REPORT_EVERY: i64 = 300;

/// How long to wait before the lease is tried again: this, then twice the last, up to the other (`backoffEnsureLease`).
pub const BACKOFF: (Millis, Millis) = (Millis(200), Millis(7_000));

/// The conditions of a healthy node, with the kubelet's reasons and messages.
pub const HEALTHY: [(&str, bool, &str, &str); 4] = [
    ("MemoryPressure", false, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", true, "KubeletReady", "kubelet is posting ready status"),
];

const NO_NETWORK: &str = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";

pub fn step(
    context: &Context<'_>,
    (key, lease): (&ObjectKey, &ObjectKey),
    is_registered: &mut bool,
    turn: &mut Turn,
    outcomes: Vec<Outcome>,
) -> Stepped {
    let node = &key.name;
    let object = context.cache.get(key).and_then(Object::as_node);
    let ready_from = context.runtime.map(|runtime| runtime.ready_from).unwrap_or_default();
    let can_run = ready_from <= context.now;
    let is_due = object.is_some_and(|node| status_is_due(node, can_run, context.wall));
    let is_news = object.is_some_and(|node| (node.readiness() == "True") != can_run);
    match turn.stage {
        Stage::Observe if object.is_none() && *is_registered => Step::Done(Next::AwaitChange).into(),
        Stage::Observe => {
            turn.stage = Stage::Run;
            let (facts, is_background): (Facts, bool) = match object {
                None => (note!("the API does not know **{}**", node).into(), false),
                Some(_) if is_news => (note!("the API says **{}** is not ready", node).into(), false),
                Some(_) => (note!("**{}** is well", node).into(), true),
            };
            Stepped { is_background, ..Step::Observe(facts.with(note!("lease lasts 40 s"))).into() }
        }
        Stage::Diff | Stage::Run => {
            turn.stage = Stage::Reported;
            *is_registered = true;
            match object {
                Some(object) => renew(context, (node, lease), object, is_due.then_some(can_run), is_news),
                None => join(context, node, can_run),
            }
        }
        _ => {
            let refused = outcomes.into_iter().find_map(Result::err).filter(|error| !matches!(error.code(), 404 | 409));
            let wait = ready_from.since(context.now);
            let next = if can_run { Next::AwaitChange } else { Next::After(wait) };
            let step = refused.map_or(Step::Done(next), |error| Step::Fail(error.message));
            Stepped { is_background: true, ..step.into() }
        }
    }
}

pub(super) fn lease_of(node: &Name) -> ObjectKey {
    ObjectKey::new(Kind::Lease, "kube-node-lease", node.clone())
}

/// Renews the lease, and writes the status where it is due.
fn renew(
    context: &Context<'_>,
    (node, lease): (&Name, &ObjectKey),
    object: &Rc<Node>,
    due: Option<bool>,
    is_news: bool,
) -> Stepped {
    let verb = match context.cache.get(lease) {
        Some(Object::Lease(lease)) => {
            let mut lease = Rc::clone(lease);
            let it = Rc::make_mut(&mut lease);
            it.metadata.resource_version = 0;
            it.spec.renew_time = Some(MicroTime(context.wall_millis));
            Verb::Update(Object::Lease(lease))
        }
        _ => Verb::Create(Object::Lease(Rc::new(fresh_lease(node, context.wall_millis)))),
    };
    let mut request = Request::new(MANAGER, verb);
    request.is_background = true;
    let mut actions = vec![Action::Api(request)];
    let mut events = Vec::new();
    if let Some(can_run) = due {
        let mut node = Rc::clone(object);
        let it = Rc::make_mut(&mut node);
        it.metadata.resource_version = 0;
        report(it, can_run, context.wall);
        let name = it.metadata.name.clone();
        let mut request = Request::new(MANAGER, Verb::UpdateStatus(Object::Node(node)));
        request.is_background = !is_news;
        actions.push(Action::Api(request));
        if is_news && can_run {
            let message = format!("Node {name} status is now: NodeReady");
            events.push(RECORDER.normal(&ObjectKey::node(name), "NodeReady", message));
        }
    }
    let facts: Facts =
        if is_news { note!("renew the lease, report **Ready**").into() } else { note!("renew the lease").into() };
    let step = Step::Act(facts.with(note!("PUT leases/{}", node)), actions);
    Stepped { events, is_background: !is_news, step, report: None }
}

/// Makes the node known.
fn join(context: &Context<'_>, node: &Name, can_run: bool) -> Stepped {
    let blank = Hardware::default();
    let hardware = context.runtime.map_or(&blank, |runtime| &runtime.hardware);
    let object = register(node, hardware, can_run, context.wall);
    let lease = fresh_lease(node, context.wall_millis);
    let mut renewal = Request::new(MANAGER, Verb::Create(Object::Lease(Rc::new(lease))));
    renewal.is_background = true;
    let create = Request::new(MANAGER, Verb::Create(Object::Node(Rc::new(object))));
    let facts: Facts = note!("make **{}** known", node).into();
    let step = Step::Act(facts.with(note!("POST nodes")), vec![Action::Api(create), Action::Api(renewal)]);
    let starting = RECORDER.normal(&ObjectKey::node(node.clone()), "Starting", "Starting kubelet.".into());
    Stepped { events: vec![starting], ..step.into() }
}

/// The Node object with which a machine makes itself known. A node that cannot run pods yet brings its taint along;
/// in Kubernetes the admission plugin TaintNodesByCondition adds it.
pub fn register(name: &Name, hardware: &Hardware, can_run: bool, now: Timestamp) -> Node {
    let mut labels = hardware.labels.clone();
    for (key, value) in [
        ("beta.kubernetes.io/arch", "amd64"),
        ("beta.kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/hostname", name.as_str()),
        ("kubernetes.io/os", "linux"),
    ] {
        labels.or_insert_with(key, || value.to_string());
    }
    let mut status = NodeStatus::default();
    for (resource, amount) in
        [("cpu", hardware.cpu), ("memory", hardware.memory), ("pods", Quantity::from_units(hardware.pods.into()))]
    {
        status.allocatable.insert(resource.into(), amount);
        status.capacity.insert(resource.into(), amount);
    }
    status.extra.insert("nodeInfo".into(), node_info());
    let metadata = ObjectMeta { name: name.clone(), labels, ..ObjectMeta::default() };
    let mut spec = NodeSpec::default();
    if !can_run {
        let key = "node.kubernetes.io/not-ready".into();
        let effect = "NoSchedule".into();
        spec.taints.push(Taint { key, effect, time_added: None, value: String::new() });
    }
    let mut node = Node { metadata, spec, status, ..Node::default() };
    report(&mut node, can_run, now);
    node
}

/// What a machine says of itself; of what is not simulated, that it is not.
fn node_info() -> Value {
    json!({
        "architecture": "amd64",
        "bootID": "",
        "containerRuntimeVersion": "simulated://1",
        "kernelVersion": "simulated",
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": "simulated",
        "systemUUID": "",
    })
}

/// A lease that was renewed just now.
pub fn fresh_lease(node: &Name, wall_millis: i64) -> Lease {
    let metadata = ObjectMeta { name: node.clone(), namespace: "kube-node-lease".into(), ..ObjectMeta::default() };
    let spec = LeaseSpec {
        holder_identity: node.to_string(),
        lease_duration_seconds: 40,
        renew_time: Some(MicroTime(wall_millis)),
        ..LeaseSpec::default()
    };
    Lease { metadata, spec, ..Lease::default() }
}

fn status_is_due(node: &Node, can_run: bool, now: Timestamp) -> bool {
    let ready = condition(&node.status.conditions, "Ready");
    ready.is_none_or(|ready| {
        ready.is_true() != can_run || ready.last_heartbeat_time.is_none_or(|last| now.0 - last.0 >= REPORT_EVERY)
    })
}

/// Writes the conditions of a node: a healthy one, or one whose network is not set up yet.
fn report(node: &mut Node, can_run: bool, now: Timestamp) {
    for (kind, is_true, reason, message) in HEALTHY {
        let mut condition = match kind {
            "Ready" if !can_run => Condition::new(kind, false).because("KubeletNotReady", NO_NETWORK),
            _ => Condition::new(kind, is_true).because(reason, message),
        };
        condition.last_heartbeat_time = Some(now);
        set_condition(&mut node.status.conditions, condition, now);
    }
}
