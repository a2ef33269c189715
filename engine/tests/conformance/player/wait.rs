//! Waiting as the recorder waited.

use loopscope_engine::api::{Kind, Object};
use serde_json::Value;

use super::super::recording::{Action, Until, Wait};
use super::{PATIENCE, Player, kind, text};

impl Player<'_> {
    /// Waits as the recorder did: for the same states where it waited for states, else as long.
    pub(super) fn wait(&mut self, action: &Action, last: u64, recorded_last: u64) -> Result<(), String> {
        let took = action.t - recorded_last;
        if !action.waited.iter().any(|wait| !matches!(wait, Wait::Ms(_))) {
            self.run_to(last + took);
            return Ok(());
        }
        let deadline = last + took + PATIENCE;
        for wait in &action.waited {
            match wait {
                Wait::Ms(ms) => self.run_to(self.now() + ms),
                Wait::Complete(name) => {
                    self.run_while(deadline, |it| !it.is_complete(name), || format!("{name} is not complete"))?
                }
                Wait::Until(until) => {
                    self.run_while(deadline, |it| !it.holds(until), || format!("{until:?} does not come"))?
                }
            }
        }
        // A run is faster than the recorder; what was done when counts for timestamps of whole seconds.
        self.run_to(action.t.max(self.now()));
        Ok(())
    }

    pub(super) fn run_while(
        &mut self,
        deadline: u64,
        goes_on: impl Fn(&Self) -> bool,
        told: impl Fn() -> String,
    ) -> Result<(), String> {
        while goes_on(self) {
            if !self.step(deadline) && self.now() >= deadline {
                return Err(format!("{} within {} s of what was recorded", told(), PATIENCE / 1000));
            }
            self.set_pod_behaviors();
            self.do_what_is_due();
        }
        Ok(())
    }

    pub(super) fn is_complete(&self, name: &str) -> bool {
        let Some(Object::Deployment(it)) = self.object(Kind::Deployment, name) else { return false };
        let (wanted, status) = (it.spec.wanted(), &it.status);
        let counts = [status.replicas, status.updated_replicas, status.available_replicas];
        status.observed_generation >= it.metadata.generation
            && counts == [wanted; 3]
            && status.terminating_replicas.unwrap_or(0) == 0
            && self.pods().count() == wanted as usize
            && self.pods().all(|pod| pod.meta().deletion_timestamp.is_none())
    }

    pub(super) fn holds(&self, until: &Until) -> bool {
        let Ok(kind) = kind(&until.kind) else { return false };
        if let Some(count) = until.count {
            let namespace = self.recording.namespace.as_str();
            let ours = |it: &&Object| !kind.is_namespaced() || it.meta().namespace.as_str() == namespace;
            let has = |it: &&Object| match (it, &until.phase) {
                (Object::Pod(pod), Some(phase)) => pod.status.phase.as_str() == phase,
                (_, phase) => phase.is_none(),
            };
            let found = self.simulation.api().objects().of_kind(kind).filter(ours).filter(has).count();
            // For pods to come up, or to be gone.
            return if until.phase.is_some() { found >= count } else { found == count };
        }
        let names = until.name.iter().chain(&until.names);
        names.into_iter().all(|name| {
            let name = self.our_name(&until.kind, name);
            let Some(it) = name.and_then(|name| self.fields(kind, &name)) else { return false };
            let conditions = it.get("conditions").or_else(|| it["status"].get("conditions"));
            let conditions = || conditions.and_then(Value::as_array).into_iter().flatten();
            let taints = || it["taints"].as_array().into_iter().flatten();
            let taint = |it: &Value| format!("{}:{}", text(&it["key"]), text(&it["effect"]));
            until.taint.as_ref().is_none_or(|wanted| taints().any(|it| taint(it).starts_with(wanted.as_str())))
                && until.ready.as_ref().is_none_or(|wanted| {
                    conditions().any(|it| it["type"] == "Ready" && it["status"] == wanted.as_str())
                })
                && until.reason.as_ref().is_none_or(|wanted| conditions().any(|it| it["reason"] == wanted.as_str()))
                && until.available_replicas.is_none_or(|wanted| it["status"]["availableReplicas"] == wanted)
        })
    }
}
