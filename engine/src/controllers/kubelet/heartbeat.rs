//! The kubelet's word about its node: a lease every 10 s, the status when it differs.
//!
//! Mirrors `pkg/kubelet/nodestatus` and `k8s.io/component-helpers/apimachinery/lease`, v1.36.

use std::rc::Rc;

use super::{MANAGER, RECORDER, Stage, Turn};
use crate::api::{Condition, Kind, MicroTime, Name, Node, Object, ObjectKey, Timestamp, condition, set_condition};
use crate::apiserver::{Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Step, Stepped};
use crate::note;

/// How often the node's status is written although nothing changed (`nodeStatusReportFrequency`), in seconds.
const REPORT_EVERY: i64 = 300;

/// The conditions of a healthy node, with the kubelet's reasons and messages.
pub const HEALTHY: [(&str, bool, &str, &str); 4] = [
    ("MemoryPressure", false, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", false, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", false, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", true, "KubeletReady", "kubelet is posting ready status"),
];

pub fn step(context: &Context<'_>, node: &Name, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
    let lease_key = ObjectKey::new(Kind::Lease, "kube-node-lease", node.clone());
    let object = context.cache.get(&ObjectKey::node(node.clone())).and_then(Object::as_node);
    let is_due = object.is_some_and(|node| status_is_due(node, context.wall));
    let is_news = object.is_some_and(|node| node.readiness() != "True");
    match turn.stage {
        Stage::Observe => {
            turn.stage = Stage::Run;
            let facts: Facts = if is_news {
                note!("the API says **{}** is not ready", node).into()
            } else {
                note!("**{}** is well", node).into()
            };
            Stepped { is_background: !is_news, ..Step::Observe(facts.with(note!("lease lasts 40 s"))).into() }
        }
        Stage::Diff | Stage::Run => {
            let Some(Object::Lease(lease)) = context.cache.get(&lease_key) else {
                return Step::Done(Next::AwaitChange).into();
            };
            turn.stage = Stage::Reported;
            let mut lease = Rc::clone(lease);
            let it = Rc::make_mut(&mut lease);
            it.metadata.resource_version = 0;
            it.spec.renew_time = Some(MicroTime(context.wall_millis));
            let mut request = Request::new(MANAGER, Verb::Update(Object::Lease(lease)));
            request.is_background = true;
            let mut actions = vec![Action::Api(request)];
            let mut events = Vec::new();
            if let Some(node) = object.filter(|_| is_due) {
                let mut request = Request::new(MANAGER, Verb::UpdateStatus(Object::Node(well(node, context.wall))));
                request.is_background = !is_news;
                actions.push(Action::Api(request));
                if is_news {
                    let name = &node.metadata.name;
                    let message = format!("Node {name} status is now: NodeReady");
                    events.push(RECORDER.normal(&ObjectKey::node(name.clone()), "NodeReady", message));
                }
            }
            let facts: Facts = if is_news {
                note!("renew the lease, report **Ready**").into()
            } else {
                note!("renew the lease").into()
            };
            let step = Step::Act(facts.with(note!("PUT leases/{}", node)), actions);
            Stepped { events, is_background: !is_news, step }
        }
        _ => {
            let refused = outcomes.into_iter().find_map(Result::err).filter(|error| error.code() != 404);
            let step = refused.map_or(Step::Done(Next::AwaitChange), |error| Step::Fail(error.message));
            Stepped { is_background: true, ..step.into() }
        }
    }
}

fn status_is_due(node: &Node, now: Timestamp) -> bool {
    let ready = condition(&node.status.conditions, "Ready");
    ready.is_none_or(|ready| {
        !ready.is_true() || ready.last_heartbeat_time.is_none_or(|last| now.0 - last.0 >= REPORT_EVERY)
    })
}

/// The node as its kubelet sees it: in good health.
fn well(node: &Rc<Node>, now: Timestamp) -> Rc<Node> {
    let mut node = Rc::clone(node);
    let it = Rc::make_mut(&mut node);
    it.metadata.resource_version = 0;
    report_well(it, now);
    node
}

/// Writes the conditions of a healthy node.
pub fn report_well(node: &mut Node, now: Timestamp) {
    for (kind, is_true, reason, message) in HEALTHY {
        let mut condition = Condition::new(kind, is_true).because(reason, message);
        condition.last_heartbeat_time = Some(now);
        set_condition(&mut node.status.conditions, condition, now);
    }
}
