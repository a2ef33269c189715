//! How many pods a metric asks for (`pkg/controller/podautoscaler/replica_calculator.go`, v1.36).

use super::ratio::{Ratio, Tolerances, share, shares};
use crate::api::{Container, Name, Pod, condition};
use crate::sim::{Map, Set};

/// What was measured of one pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Thousandths of the metric's unit.
    pub value: i64,
    /// The end of the window, in ms since 1970, and how long it was, in ms.
    pub at_ms: i64,
    pub window_ms: i64,
}

pub type Readings = Map<Name, Reading>;

/// How long pods that have just started are not trusted, in ms.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// `--horizontal-pod-autoscaler-cpu-initialization-period`
    pub cpu_initialization: i64,
    /// `--horizontal-pod-autoscaler-initial-readiness-delay`
    pub readiness_delay: i64,
}

impl Patience {
    /// Kubernetes' defaults (`podautoscaler/config/v1alpha1/defaults.go`, v1.36).
    pub const USUAL: Self = Self { cpu_initialization: 300_000, readiness_delay: 30_000 };
}

/// All that a metric's replicas are worked out from, besides the metric itself.
pub struct Scene<'a> {
    /// The pods that the target's selector selects.
    pub pods: &'a [&'a Pod],
    /// The replicas that the target asks for, and those that its status tells of.
    pub wanted: i32,
    pub reported: i32,
    pub tolerances: Tolerances,
    pub patience: Patience,
    /// In ms since 1970.
    pub now_ms: i64,
}

/// What a metric asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub replicas: i32,
    /// Percent of what is requested, where the target is one.
    pub utilization: Option<i32>,
    /// Thousandths, on average or in all, as the target is.
    pub value: i64,
}

/// The pods behind a metric, sorted by whether they can be judged by it.
#[derive(Debug, Default)]
pub struct Groups {
    pub ready: i64,
    pub unready: Set<Name>,
    pub missing: Set<Name>,
    /// Failed or on their way out.
    pub ignored: Set<Name>,
}

impl Scene<'_> {
    /// `groupPods`
    pub fn group(&self, readings: &Readings, is_cpu: bool) -> Groups {
        let mut groups = Groups::default();
        for pod in self.pods {
            let name = &pod.metadata.name;
            if pod.metadata.deletion_timestamp.is_some() || pod.status.phase == "Failed" {
                groups.ignored.add(name.clone());
            } else if pod.status.phase == "Pending" {
                groups.unready.add(name.clone());
            } else {
                match readings.get(name) {
                    None => drop(groups.missing.add(name.clone())),
                    Some(reading) if is_cpu && self.is_unready(pod, reading) => {
                        groups.unready.add(name.clone());
                    }
                    Some(_) => groups.ready += 1,
                }
            }
        }
        groups
    }

    /// Whether what a pod's CPU shows may still be its start.
    fn is_unready(&self, pod: &Pod, reading: &Reading) -> bool {
        let (Some(ready), Some(started)) = (condition(&pod.status.conditions, "Ready"), pod.status.start_time) else {
            return true;
        };
        let changed = ready.last_transition_time.map_or(i64::MIN / 2, |it| it.millis());
        let is_false = ready.status == "False";
        if started.millis() + self.patience.cpu_initialization > self.now_ms {
            is_false || reading.at_ms < changed.saturating_add(reading.window_ms)
        } else {
            is_false && started.millis() + self.patience.readiness_delay > changed
        }
    }

    fn none_selected(&self) -> Result<(), String> {
        if self.pods.is_empty() {
            return Err("no pods returned by selector while calculating replica count".into());
        }
        Ok(())
    }

    /// A resource in percent of what its pods request (`GetResourceReplicas`).
    ///
    /// # Errors
    /// Why nothing can be said, in Kubernetes' words.
    pub fn of_utilization(
        &self,
        mut readings: Readings,
        (resource, container): (&str, &str),
        target: i32,
    ) -> Result<Proposal, String> {
        self.none_selected()?;
        let groups = self.group(&readings, resource == "cpu");
        forget(&mut readings, &groups)?;
        let requests = requests(self.pods, container, resource)?;
        let (ratio, percent, raw) = utilization(&readings, &requests, target)?;
        let proposal = |replicas: i32| Proposal { replicas, utilization: Some(percent), value: raw };
        let scales_up_with_unready = !groups.unready.is_empty() && ratio.is_above();
        if !scales_up_with_unready && groups.missing.is_empty() {
            let replicas = if self.tolerances.holds(ratio) { self.wanted } else { ratio.times(groups.ready) };
            return Ok(proposal(replicas));
        }
        // Before a scale-down the missing are taken to use all they request, before a scale-up nothing.
        let fallback = i64::from(target.max(100));
        let assumed = |name: &Name| requests.get(name).copied().unwrap_or(0) * fallback / 100;
        assume(&mut readings, &groups, ratio, scales_up_with_unready, assumed);
        let (again, ..) = utilization(&readings, &requests, target)?;
        Ok(proposal(self.settled(ratio, again, readings.len() as i64)))
    }

    /// A metric of each pod against an amount for each (`calcPlainMetricReplicas`).
    ///
    /// # Errors
    /// As [`Scene::of_utilization`].
    pub fn of_average(&self, mut readings: Readings, is_cpu: bool, target: i64) -> Result<Proposal, String> {
        self.none_selected()?;
        let groups = self.group(&readings, is_cpu);
        forget(&mut readings, &groups)?;
        let (ratio, value) = average(&readings, target);
        let proposal = |replicas: i32| Proposal { replicas, utilization: None, value };
        let scales_up_with_unready = !groups.unready.is_empty() && ratio.is_above();
        if !scales_up_with_unready && groups.missing.is_empty() {
            let replicas = if self.tolerances.holds(ratio) { self.wanted } else { ratio.times(groups.ready) };
            return Ok(proposal(replicas));
        }
        assume(&mut readings, &groups, ratio, scales_up_with_unready, |_| target);
        let (again, _) = average(&readings, target);
        Ok(proposal(self.settled(ratio, again, readings.len() as i64)))
    }

    /// What comes of a ratio that was worked out again: nothing where that would turn the direction round.
    fn settled(&self, first: Ratio, again: Ratio, count: i64) -> i32 {
        let turns = first.is_below() && again.is_above() || first.is_above() && again.is_below();
        if self.tolerances.holds(again) || turns {
            return self.wanted;
        }
        let replicas = again.times(count);
        let turns = again.is_below() && replicas > self.wanted || again.is_above() && replicas < self.wanted;
        if turns { self.wanted } else { replicas }
    }

    /// One value for the target as a whole (`GetObjectMetricReplicas`, `GetExternalMetricReplicas`).
    ///
    /// # Errors
    /// As [`Scene::of_utilization`].
    pub fn of_value(&self, value: i64, target: i64) -> Result<Proposal, String> {
        let ratio = Ratio::of(value, target);
        let replicas = if self.wanted == 0 {
            ratio.times(1)
        } else if self.tolerances.holds(ratio) {
            self.wanted
        } else {
            self.none_selected().map_err(|error| ["unable to calculate ready pods: ", &error].concat())?;
            let ready = self.pods.iter().filter(|pod| pod.status.phase == "Running" && pod.is_ready()).count();
            ratio.times(ready as i64)
        };
        Ok(Proposal { replicas, utilization: None, value })
    }

    /// One value that the pods share, against an amount for each (`GetExternalPerPodMetricReplicas`).
    pub fn of_share(&self, value: i64, target: i64) -> Proposal {
        let ratio = Ratio::of_each(value, target, self.reported);
        let replicas = if self.tolerances.holds(ratio) { self.reported } else { shares(value, target) };
        Proposal { replicas, utilization: None, value: share(value, self.reported) }
    }
}

/// Leaves out what cannot be judged.
fn forget(readings: &mut Readings, groups: &Groups) -> Result<(), String> {
    for name in groups.ignored.keys().chain(groups.unready.keys()) {
        readings.remove(name);
    }
    if readings.is_empty() {
        return Err("did not receive metrics for targeted pods (pods might be unready)".into());
    }
    Ok(())
}

fn assume(readings: &mut Readings, groups: &Groups, ratio: Ratio, with_unready: bool, assumed: impl Fn(&Name) -> i64) {
    let of = |value: i64| Reading { value, ..Reading::default() };
    for name in groups.missing.keys().filter(|_| ratio.is_below() || ratio.is_above()) {
        readings.insert(name.clone(), of(if ratio.is_below() { assumed(name) } else { 0 }));
    }
    for name in groups.unready.keys().filter(|_| with_unready) {
        readings.insert(name.clone(), of(0));
    }
}

/// The ratio, the percentage of the requests that is used, and what is used on average (`GetResourceUtilizationRatio`).
fn utilization(readings: &Readings, requests: &Map<Name, i64>, target: i32) -> Result<(Ratio, i32, i64), String> {
    let (mut used, mut requested, mut count) = (0_i64, 0_i64, 0_i64);
    for (name, reading) in readings.iter() {
        let Some(request) = requests.get(name) else { continue };
        used = used.saturating_add(reading.value);
        requested = requested.saturating_add(*request);
        count += 1;
    }
    if requested == 0 {
        return Err("no metrics returned matched known pods".into());
    }
    let percent = (used.saturating_mul(100) / requested) as i32;
    Ok((Ratio::of(percent.into(), target.into()), percent, used / count))
}

fn average(readings: &Readings, target: i64) -> (Ratio, i64) {
    let sum = readings.values().fold(0_i64, |sum, it| sum.saturating_add(it.value));
    let average = sum / readings.len() as i64;
    (Ratio::of(average, target), average)
}

/// What each pod requests of a resource, in thousandths: all of its containers, or one (`calculateRequests`).
pub fn requests(pods: &[&Pod], container: &str, resource: &str) -> Result<Map<Name, i64>, String> {
    let mut all = Map::default();
    for pod in pods {
        all.insert(pod.metadata.name.clone(), request(pod, container, resource)?);
    }
    Ok(all)
}

fn request(pod: &Pod, container: &str, resource: &str) -> Result<i64, String> {
    let name = &pod.metadata.name;
    let of_pod = pod.spec.extra.get("resources").and_then(|it| it.get("requests")?.as_object());
    if let Some(of_pod) = of_pod.filter(|it| !it.is_empty() && container.is_empty()) {
        let amount = of_pod.get(resource).and_then(|it| crate::api::read_value(it.clone()).ok());
        return amount
            .map(crate::api::Quantity::milli)
            .ok_or_else(|| format!("missing pod-level request for {resource} in Pod {name}"));
    }
    let sidecars = pod.spec.init_containers.iter().filter(|it| it.is_sidecar());
    let meant = |it: &&Container| container.is_empty() || *it.name == *container;
    let (mut sum, mut is_found) = (0, container.is_empty());
    for it in pod.spec.containers.iter().chain(sidecars).filter(meant) {
        let Some(amount) = it.resources.requests.get(resource) else {
            return Err(format!("missing request for {resource} in container {} of Pod {name}", it.name));
        };
        (sum, is_found) = (sum + amount.milli(), true);
    }
    if is_found { Ok(sum) } else { Err(format!("container {container} not found in Pod {name}")) }
}
