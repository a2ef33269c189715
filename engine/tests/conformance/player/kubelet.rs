//! Kubelets with the recording's delays.

use std::collections::BTreeSet;

use loopscope_engine::api::{Kind, Object};
use loopscope_engine::environment::Behavior;
use loopscope_engine::world::{Command, Subject};
use serde_json::Value;

use super::super::names::Names;
use super::super::recording::{Change, ChangeType, Delays, KubeletKind, Op, Recording, Target};
use super::{NEVER, Player};

/// All values of a key, anywhere inside.
fn values_of<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|it| values_of(it, key, found)),
        Value::Object(map) => {
            found.extend(map.get(key));
            map.values().for_each(|it| values_of(it, key, found));
        }
        _ => {}
    }
}

pub fn images(recording: &Recording) -> BTreeSet<String> {
    let mut found = Vec::new();
    recording.manifests.iter().for_each(|it| values_of(it, "image", &mut found));
    for action in &recording.actions {
        if let Op::Patch { patch, .. } = &action.op {
            values_of(patch, "image", &mut found);
        }
    }
    found.into_iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// `exec` probes of `ok-between A B`: the program is well from A to B ms after its start.
fn well_between(recording: &Recording, probe: &str) -> Option<(u64, u64)> {
    let mut found = Vec::new();
    recording.manifests.iter().for_each(|it| values_of(it, probe, &mut found));
    let command = found.first()?.pointer("/exec/command")?.as_array()?;
    let number = |at: usize| command.get(at)?.as_str()?.parse().ok();
    Some((number(1)?, number(2)?))
}

fn laid_over(base: Delays, more: &Delays) -> Delays {
    Delays {
        start: more.start.or(base.start),
        ready: more.ready.or(base.ready),
        term: more.term.or(base.term),
        exit_after_ms: more.exit_after_ms.or(base.exit_after_ms),
        exit_code: more.exit_code,
    }
}

fn behavior(recording: &Recording, delays: &Delays) -> Behavior {
    let ms = |delay: Option<Option<u64>>| delay.flatten();
    let plain = Behavior {
        pull_ms: 0,
        start_ms: if delays.start == Some(None) { NEVER } else { ms(delays.start).unwrap_or(0) },
        serve_ms: if delays.ready == Some(None) { None } else { Some(ms(delays.ready).unwrap_or(0)) },
        stop_ms: ms(delays.term).unwrap_or(0),
        exit: ms(delays.exit_after_ms).map(|after| (after, delays.exit_code)),
        tells_ready: recording.kubelet.kind == KubeletKind::Fake,
        ..Behavior::usual("")
    };
    let ready = well_between(recording, "readinessProbe");
    let lives = well_between(recording, "livenessProbe");
    Behavior {
        serve_ms: ready.map_or(plain.serve_ms, |(from, _)| Some(from)),
        lapse: ready.map(|(_, until)| (until, NEVER)),
        hang_ms: lives.map(|(_, until)| until),
        ..plain
    }
}

/// What our own kubelet needs beside its programs: writes, and an image that is there.
const OWN_MS: u64 = 10;

impl Player<'_> {
    /// How the programs of all images behave from now on.
    pub(super) fn set_behaviors(&mut self) -> Result<(), String> {
        for image in self.images.clone() {
            let tag = image.rsplit(':').next().unwrap_or_default();
            let by_tag = self.recording.kubelet.by_image_tag.get(tag).copied().unwrap_or_default();
            let behavior = behavior(self.recording, &laid_over(self.delays, &by_tag));
            self.command(Command::SetBehavior { subject: Subject::Image(image), behavior })?;
        }
        Ok(())
    }

    /// Each pod behaves as the one of the same number did in the recording, as soon as it is there.
    pub(super) fn set_pod_behaviors(&mut self) {
        let recording = self.recording;
        let new: Vec<String> = self.run.changes[self.behaved..]
            .iter()
            .filter(|it| it.kind == "Pod" && it.change == ChangeType::Added)
            .map(|it| it.name.clone())
            .collect();
        self.behaved = self.run.changes.len();
        if new.is_empty() {
            return;
        }
        let names = Names::of(&self.run.changes, &recording.namespace);
        for name in new {
            let called = names.object("Pod", &name);
            let Some(mut behavior) = self.behavior_of(&name) else { continue };
            let odd = recording.kubelet.by_pod.iter().find(|it| self.recorded.object("Pod", &it.name) == called);
            if let Some(odd) = odd {
                let own = Delays { start: odd.start, ready: odd.ready, term: odd.term, ..Delays::default() };
                behavior = self::behavior(recording, &laid_over(self.delays, &own));
            }
            match recording.kubelet.kind {
                KubeletKind::Fake => behavior.start_ms += self.lateness(),
                KubeletKind::Real => self.live_as_recorded(&called, &mut behavior),
            }
            let subject = Subject::Pod { namespace: recording.namespace.clone(), name };
            let _ = self.simulation.dispatch(Command::SetBehavior { subject, behavior });
        }
    }

    /// How the only container of a pod behaves by its image.
    pub(super) fn behavior_of(&self, pod: &str) -> Option<Behavior> {
        let Some(Object::Pod(pod)) = self.object(Kind::Pod, pod) else { return None };
        let spec = &pod.spec;
        let container =
            spec.containers.first().filter(|_| spec.containers.len() == 1 && spec.init_containers.is_empty());
        container.map(|it| self.simulation.behaviors().of(&it.image))
    }

    /// The recorder's kubelet ran a little late, not with all pods alike.
    pub(super) fn lateness(&mut self) -> u64 {
        self.n_pods += 1;
        let late = (self.n_pods * 7 + self.seed * 3) % 10 * self.recording.kubelet_late_ms / 9;
        late.saturating_sub(OWN_MS)
    }

    /// The recorded kubelets of kubemark may send five requests a second, so that what they say of a pod comes seconds
    /// late. Its containers come up and stop here when they were said to there.
    pub(super) fn live_as_recorded(&self, called: &str, behavior: &mut Behavior) {
        let first = |holds: &dyn Fn(&Change) -> bool| {
            let mut all = self.recording.trace.iter();
            let is_it = |it: &&Change| it.kind == "Pod" && self.recorded.object("Pod", &it.name) == called && holds(it);
            all.find(is_it).map(|it| it.t)
        };
        let state =
            |change: &Change, wanted: &str| change.fields.get("containers").is_some_and(|it| it[0]["state"] == wanted);
        let bound = first(&|it| it.fields.contains_key("nodeName"));
        if let (Some(bound), Some(running)) = (bound, first(&|it| state(it, "running"))) {
            behavior.start_ms = running - bound;
        }
        let told_to = first(&|it| it.fields.contains_key("deletionMs"));
        if let (Some(told_to), Some(ended)) = (told_to, first(&|it| state(it, "terminated"))) {
            behavior.stop_ms = ended.saturating_sub(told_to);
        }
    }

    pub(super) fn set_kubelet(
        &mut self,
        target: Option<&Target>,
        ready: Option<bool>,
        delays: Option<&Delays>,
    ) -> Result<(), String> {
        if let Some(delays) = delays {
            self.delays = laid_over(self.delays, delays);
            self.set_behaviors()?;
            // Whoever was told what to say keeps on saying it.
            let said = std::mem::take(&mut self.said);
            for (pod, ready) in &said {
                let _ = self.simulation.dispatch(self.set_ready(pod, *ready));
            }
            self.said = said;
            return Ok(());
        }
        let (Some(target), Some(ready)) = (target, ready) else { return Err("not understood: kubelet_set".into()) };
        let pod = self.target(target)?.name;
        self.command(self.set_ready(&pod, ready))?;
        self.said.insert(pod, ready);
        Ok(())
    }

    pub(super) fn set_ready(&self, pod: &str, ready: bool) -> Command {
        Command::SetReady { namespace: self.recording.namespace.clone(), pod: pod.into(), ready }
    }
}
