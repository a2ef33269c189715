//! What is done between the actions: kubectl's calls, evictions tried again, pods of other namespaces that come and go.

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::environment::Behavior;
use loopscope_engine::world::{Command, Subject, Target as Ours};
use serde_json::{Value, json};

use super::super::recording::Call;
use super::{ELSEWHERE, Player};

#[derive(Clone, Debug)]
pub enum Later {
    Evict {
        pod: String,
        every: u64,
    },
    Come {
        manifest: String,
    },
    Go {
        pod: String,
    },
    Start {
        process: String,
    },
    /// A node that has just joined.
    Mark {
        node: Value,
    },
}

impl Player<'_> {
    /// Pods of other namespaces that take room on the nodes for a while.
    pub(super) fn plan_foreign_load(&mut self) -> Result<(), String> {
        let here = |name: &str| self.recording.initial_objects.iter().any(|it| it["metadata"]["name"] == name);
        let all = self.recording.foreign_load.iter().enumerate();
        let all: Vec<_> = all.filter(|(_, load)| here(&load.node)).collect();
        let image = "elsewhere:v1".to_string();
        let behavior = Behavior { pull_ms: 0, start_ms: 0, stop_ms: 0, ..Behavior::usual("") };
        self.command(Command::SetBehavior { subject: Subject::Image(image.clone()), behavior })?;
        for (number, load) in all {
            let pod = format!("load-{number}");
            let requests = json!({"cpu": format!("{}m", load.cpu_milli), "memory": format!("{}Mi", load.mem_mi)});
            let container = json!({"name": "load", "image": image, "resources": {"requests": requests}});
            let manifest = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": ELSEWHERE},
                "spec": {"nodeName": load.node, "terminationGracePeriodSeconds": 0, "containers": [container],
                    "tolerations": [{"operator": "Exists"}]}})
            .to_string();
            match load.from_ms {
                0 => self.command(Command::Apply { manifest })?,
                from => self.later.push((from, Later::Come { manifest })),
            }
            self.later.extend(load.to_ms.map(|to| (to, Later::Go { pod })));
        }
        Ok(())
    }

    /// kubectl takes a moment to start; its own call tells how long.
    pub(super) fn start_kubectl(&mut self, calls: &[Call]) {
        let action = self.recording.actions.get(self.run.actions.len().saturating_sub(1)).map_or(0, |it| it.t);
        if let Some(call) = calls.first() {
            self.run_to(self.now() + call.t.saturating_sub(action));
        }
    }

    pub(super) fn cordon(&mut self, node: &str, on: bool, calls: &[Call]) -> Result<(), String> {
        self.start_kubectl(calls);
        self.command(Command::Cordon { node: node.into(), on })
    }

    pub(super) fn drain(&mut self, node: &str, calls: &[Call], retry_ms: u64) -> Result<(), String> {
        self.start_kubectl(calls);
        self.command(Command::Cordon { node: node.into(), on: true })?;
        let is_to_go = |it: &&Object| {
            let Object::Pod(pod) = it else { return false };
            let is_daemon = pod.metadata.controller().is_some_and(|owner| owner.kind == "DaemonSet");
            pod.spec.node_name.as_str() == node && !is_daemon
        };
        let here: Vec<String> = self.pods().filter(is_to_go).map(|it| it.meta().name.to_string()).collect();
        let now = self.now();
        self.later.extend(here.into_iter().map(|pod| (now, Later::Evict { pod, every: retry_ms })));
        self.do_what_is_due();
        Ok(())
    }

    pub(super) fn do_what_is_due(&mut self) {
        let now = self.now();
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.later).into_iter().partition(|(at, _)| *at <= now);
        self.later = later;
        for (at, what) in due {
            let pod =
                |namespace: &str, name: &str| Ours { kind: Kind::Pod, namespace: namespace.into(), name: name.into() };
            let again = match &what {
                Later::Evict { pod: name, every } => {
                    let target = pod(&self.recording.namespace, name);
                    self.command(Command::Evict { target }).is_err().then_some(at + every)
                }
                Later::Come { manifest } => {
                    let _ = self.command(Command::Apply { manifest: manifest.clone() });
                    None
                }
                Later::Go { pod: name } => {
                    let target = pod(ELSEWHERE, name);
                    let _ = self.command(Command::Delete { target, propagation: None, grace: Some(0) });
                    None
                }
                Later::Mark { node } => {
                    let _ = self.mark_node(node);
                    None
                }
                Later::Start { process } => {
                    let _ = self.command(Command::StartController { process: process.clone() });
                    None
                }
            };
            self.later.extend(again.map(|at| (at, what)));
        }
        self.take_notes();
    }
}
