//! The HorizontalPodAutoscaler: replicas by metrics, windows, limits, and whole passes.

use loopscope_engine::api::{
    Condition, HorizontalPodAutoscaler, Name, Pod, ScalingBehavior, ScalingRules, Timestamp, read_value,
};
use loopscope_engine::controllers::horizontal_pod_autoscaler::calculator::{
    Patience, Proposal, Reading, Readings, Scene,
};
use loopscope_engine::controllers::horizontal_pod_autoscaler::decide::{Pass, Scale, Selecting, decide};
use loopscope_engine::controllers::horizontal_pod_autoscaler::limits::Bounds;
use loopscope_engine::controllers::horizontal_pod_autoscaler::memory::{
    Memory, Recommendation, ScaleEvent, changed_within,
};
use loopscope_engine::controllers::horizontal_pod_autoscaler::metrics::Source;
use loopscope_engine::controllers::horizontal_pod_autoscaler::ratio::Tolerances;
use serde_json::{Map, Value, json};

use super::{Held, NOW, Table, int, list, same, text};

pub const TABLES: &[Table] = &[
    Table { file: "hpa_replica_calculator", part: "cases", check: calculator },
    Table { file: "hpa_controller", part: "cases", check: controller },
    Table { file: "hpa_behavior", part: "rateLimitedByRules", check: rate_limited },
    Table { file: "hpa_behavior", part: "stabilizationWithBehavior", check: stabilized_within },
    Table { file: "hpa_behavior", part: "stabilizationDefault", check: stabilized },
    Table { file: "hpa_behavior", part: "clampWithoutBehavior", check: clamped },
    Table { file: "hpa_behavior", part: "scaleEventLog", check: event_log },
];

const NOW_MS: i64 = NOW * 1_000;
/// What upstream's tests set for `defaultTestingCPUInitializationPeriod` and `…DelayOfInitialReadinessStatus`.
const PATIENCE: Patience = Patience { cpu_initialization: 120_000, readiness_delay: 10_000 };
/// Pods whose start a row does not tell of have run for so many seconds, longer than the initialization period.
const COOL: i64 = 180;
/// How long upstream's tests measure.
const WINDOW_MS: i64 = 60_000;

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("a number: {value}"))
}

fn numbers(value: &Value) -> Vec<i64> {
    list(value).iter().map(number).collect()
}

fn name(index: usize) -> String {
    format!("pod-{index}")
}

/// What a row tells of one pod.
struct PodRow<'a> {
    phase: &'a str,
    ready: &'a str,
    is_deleted: bool,
    started_ago: i64,
    /// Requests of its containers, in thousandths; none where there is none.
    request: Option<i64>,
}

fn pod(index: usize, row: &PodRow<'_>, containers: &[&str], resource: &str) -> Pod {
    let stamp = |ago: i64| Timestamp(NOW - ago).to_string();
    let requests = row.request.map_or_else(|| json!({}), |it| json!({resource: format!("{it}m")}));
    let containers: Vec<Value> =
        containers.iter().map(|name| json!({"name": name, "resources": {"requests": requests}})).collect();
    let mut value = json!({
        "metadata": {"name": name(index), "labels": {"name": "test-pod"}},
        "spec": {"containers": containers},
        "status": {"phase": row.phase, "startTime": stamp(row.started_ago), "conditions": [
            {"type": "Ready", "status": row.ready, "lastTransitionTime": stamp(row.started_ago)}]},
    });
    if row.is_deleted {
        value["metadata"]["deletionTimestamp"] = stamp(0).into();
    }
    read_value(value).expect("a pod")
}

fn readings(values: impl IntoIterator<Item = (String, i64)>) -> Readings {
    let mut all = Readings::default();
    for (name, value) in values {
        all.insert(Name::from(name.as_str()), Reading { value, at_ms: NOW_MS, window_ms: WINDOW_MS });
    }
    all
}

/// The table lost how long ago pods started where that was counted from a metric without a time; upstream's names tell
/// which of them had just started.
fn hot(case: &str, count: usize) -> Vec<bool> {
    let is_last = case.contains("ScaleDown") || case.contains("HotCpuNoScale");
    let first_cool = if is_last { count.saturating_sub(2) } else { 0 };
    (0..count).map(|index| if is_last { index >= first_cool } else { index == 0 }).collect()
}

fn pod_rows<'a>(row: &'a Value, count: usize, requests: &'a [Value], started: Vec<i64>) -> Vec<PodRow<'a>> {
    let word = |field: &str, index: usize, usual: &'a str| row[field].get(index).map_or(usual, text);
    let one = |index: usize| PodRow {
        phase: word("podPhase", index, "Running"),
        ready: word("podReady", index, "True"),
        is_deleted: row["podBeingDeleted"].get(index) == Some(&Value::Bool(true)),
        started_ago: started.get(index).copied().unwrap_or(COOL),
        request: requests.get(index).map(number),
    };
    (0..count).map(one).collect()
}

fn calculator(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let current = int(&row["currentReplicas"]);
    let container = row["container"].as_str().unwrap_or_default();
    let (resource, metric) = (&row["resource"], &row["metric"]);
    let lengths = ["podReady", "podPhase"].map(|field| list(&row[field]).len());
    let count = lengths.into_iter().max().filter(|it| *it > 0).unwrap_or(current as usize);
    let started = match list(&row["podStartedSecondsBeforeMetric"]).len() {
        0 => Vec::new(),
        n => hot(text(&row["case"]), n).into_iter().map(|hot| if hot { 0 } else { COOL }).collect(),
    };
    let requests = list(&resource["requestMilliPerContainer"]);
    let resource_name = resource["name"].as_str().unwrap_or("cpu");
    let rows_of_pods = pod_rows(row, count, requests, started);
    let pods: Vec<Pod> = rows_of_pods
        .iter()
        .enumerate()
        .map(|(index, it)| pod(index, it, &["container1", "container2"], resource_name))
        .collect();
    let tolerance = |field: &str| row["tolerance"][field].as_f64().unwrap_or(Tolerances::DEFAULT);
    let scene = Scene {
        pods: &pods.iter().collect::<Vec<_>>(),
        wanted: current,
        reported: current,
        tolerances: Tolerances { down: tolerance("scaleDown"), up: tolerance("scaleUp") },
        patience: PATIENCE,
        now_ms: NOW_MS,
    };
    let (result, value) = if resource.is_object() {
        (of_resource(&scene, resource, container), &resource["expectedRawMilli"])
    } else {
        (of_metric(&scene, metric), &metric["expectedUsageMilli"])
    };
    match (result, row["expectedErrorContains"].as_str()) {
        (Err(error), Some(part)) if error.contains(part) => Ok(()),
        (Ok(_), Some(part)) => Err(format!("no error with {part:?}")),
        (Err(error), _) => Err(error),
        (Ok(it), None) => {
            same(it.replicas, int(&row["expectedReplicas"]))?;
            same(it.value, number(value))?;
            let percent = resource["expectedUtilizationPercent"].as_i64().filter(|it| *it > 0);
            same(it.utilization.map(i64::from), percent)
        }
    }
}

fn of_resource(scene: &Scene<'_>, resource: &Value, container: &str) -> Result<Proposal, String> {
    let usages = list(&resource["usageMilliPerPodPerContainer"]);
    if usages.is_empty() {
        return Err("unable to get metrics for resource cpu: no metrics returned from resource metrics API".into());
    }
    let names: Vec<&str> = list(&resource["metricsForPods"]).iter().map(text).collect();
    let values = usages.iter().enumerate().filter_map(|(index, containers)| {
        let containers = numbers(containers);
        let value = match container {
            "" => containers.iter().sum(),
            "container1" => *containers.first()?,
            _ => *containers.get(1)?,
        };
        Some((names.get(index).map_or_else(|| name(index), |it| (*it).to_string()), value))
    });
    let readings = readings(values);
    let resource_name = text(&resource["name"]);
    match (resource["targetUtilizationPercent"].as_i64(), resource["targetRawMilli"].as_i64()) {
        (Some(percent), _) if percent > 0 => {
            scene.of_utilization(readings, (resource_name, container), i32::try_from(percent).expect("a percentage"))
        }
        (_, Some(raw)) => scene.of_average(readings, resource_name == "cpu", raw),
        _ => Err("not understood: no target".into()),
    }
}

fn of_metric(scene: &Scene<'_>, metric: &Value) -> Result<Proposal, String> {
    let levels = numbers(&metric["levelsMilli"]);
    let sum = levels.iter().fold(0_i64, |sum, it| sum.saturating_add(*it));
    let (target, per_pod) = (number(&metric["targetMilli"]), number(&metric["perPodTargetMilli"]));
    match text(&metric["kind"]) {
        "pods" => {
            let readings = readings(levels.iter().enumerate().map(|(index, value)| (name(index), *value)));
            scene.of_average(readings, false, target)
        }
        "object" | "external" => scene.of_value(sum, target),
        "objectPerPod" | "externalPerPod" => Ok(scene.of_share(sum, per_pod)),
        other => Err(format!("not understood: {other}")),
    }
}

/// Metrics as a row of a whole pass tells of them.
struct Told<'a> {
    case: &'a str,
    usage: Vec<i64>,
}

impl Told<'_> {
    fn of_pods(&self) -> Readings {
        readings(self.usage.iter().enumerate().map(|(index, value)| (name(index), *value)))
    }
}

impl Source for Told<'_> {
    fn resource(&self, _name: &str, _container: &str) -> Result<Readings, String> {
        if self.case == "TestConditionFailedGetMetrics" {
            return Err("unable to fetch metrics from resource metrics API: something went wrong".into());
        }
        if self.usage.is_empty() {
            return Err("no metrics returned from resource metrics API".into());
        }
        Ok(self.of_pods())
    }

    fn pods(&self, _name: &str) -> Result<Readings, String> {
        Ok(self.of_pods())
    }

    fn object(&self, _name: &str) -> Result<i64, String> {
        self.usage.first().copied().ok_or_else(|| "no metrics returned from custom metrics API".into())
    }

    fn external(&self, _name: &str) -> Result<Vec<i64>, String> {
        if self.case.contains("OneMetricEmpty") {
            return Err("no metrics returned from external metrics API".into());
        }
        Ok(self.usage.clone())
    }
}

fn autoscaler(row: &Value) -> HorizontalPodAutoscaler {
    let case = text(&row["case"]);
    let mut metrics = Vec::new();
    if let Some(percent) = row["cpuTargetPercent"].as_i64().filter(|it| *it > 0) {
        metrics.push(json!({"type": "Resource", "resource": {"name": "cpu", "target": {
            "type": "Utilization", "averageUtilization": percent}}}));
    }
    metrics.extend(list(&row["metrics"]).iter().cloned());
    let mut spec = json!({"minReplicas": row["minReplicas"], "maxReplicas": row["maxReplicas"], "metrics": metrics,
        "scaleTargetRef": {"kind": "ReplicationController", "name": "test-rc", "apiVersion": "v1"}});
    if row["scaleUpRules"].is_object() || row["scaleDownRules"].is_object() {
        let mut behavior = Map::new();
        for (field, rules) in [("scaleUp", &row["scaleUpRules"]), ("scaleDown", &row["scaleDownRules"])] {
            let mut rules = rules.clone();
            // With its feature gate off the API server drops the field.
            if case.contains("feature_gate_is_disabled") {
                rules.as_object_mut().map(|it| it.remove("tolerance"));
            }
            if rules.is_object() {
                behavior.insert(field.into(), rules);
            }
        }
        spec["behavior"] = Value::Object(behavior);
    }
    let mut it: HorizontalPodAutoscaler =
        read_value(json!({"metadata": {"name": "test-hpa", "namespace": "test-namespace"}, "spec": spec}))
            .expect("an autoscaler");
    defaulted(it.spec.behavior.as_mut());
    // What a pass sets first was there before: upstream keeps conditions in their order.
    if row["expectedConditions"][0][0] == "ScaledToZero" {
        it.status.conditions.push(Condition::new("ScaledToZero", true));
    }
    it
}

/// As the API server completes a behavior (`pkg/apis/autoscaling/v2/defaults.go`).
fn defaulted(behavior: Option<&mut ScalingBehavior>) {
    let Some(behavior) = behavior else { return };
    let given = json!({"metadata": {"name": "it", "namespace": "default"}, "spec": {
        "maxReplicas": 1, "scaleTargetRef": {"kind": "Deployment", "name": "it"}}});
    let mut given: HorizontalPodAutoscaler = read_value(given).expect("an autoscaler");
    given.spec.behavior = Some(behavior.clone());
    let mut object = loopscope_engine::api::Object::HorizontalPodAutoscaler(given.into());
    loopscope_engine::apiserver::apply_defaults(&mut object);
    *behavior = object.as_autoscaler().and_then(|it| it.spec.behavior.clone()).expect("a behavior");
}

fn selecting(case: &str) -> Selecting {
    let others = match case {
        "TestConditionInvalidSelectorMissing" => return Selecting::Missing,
        "TestConditionInvalidSelectorUnparsable" => {
            return Selecting::Unreadable("unable to parse requirement".into());
        }
        _ if case.starts_with("TestConditionAmbiguousSelector") => vec!["{other test-namespace}".to_string()],
        _ => Vec::new(),
    };
    let autoscalers = [vec!["{test-hpa test-namespace}".to_string()], others].concat();
    Selecting::By { selector: "name=test-pod".into(), autoscalers }
}

fn controller(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let case = text(&row["case"]);
    let autoscaler = autoscaler(row);
    let requests = list(&row["requestMilliPerPod"]);
    let (wanted, reported) = (int(&row["specReplicas"]), int(&row["statusReplicas"]));
    let started = numbers(&row["podStartedSecondsAgo"]);
    // Upstream makes a pod for each request, or for each replica.
    let count = if requests.is_empty() { reported as usize } else { requests.len() };
    let containers = ["container1", "container2"];
    let pods: Vec<Pod> = pod_rows(row, count, requests, started)
        .iter()
        .enumerate()
        .map(|(index, it)| {
            pod(index, it, &containers[..if row["metrics"][0]["type"] == "ContainerResource" { 2 } else { 1 }], "cpu")
        })
        .collect();
    let pods: Vec<&Pod> = pods.iter().collect();
    let source = Told { case, usage: numbers(&row["usageMilliPerPod"]) };
    let scale = match case {
        "TestConditionFailedGetScale" => Err("something went wrong".to_string()),
        _ => Ok(Scale { wanted, reported, selecting: selecting(case) }),
    };
    let mut memory = Memory::default();
    if row["earlierRecommendations"].is_array() {
        let one = |it: &Value| Recommendation {
            replicas: int(&it["replicas"]),
            at_ms: NOW_MS - number(&it["secondsAgo"]) * 1_000,
        };
        memory.recommendations = list(&row["earlierRecommendations"]).iter().map(one).collect();
        // An empty list is there all the same: the first size is no recommendation then.
        if memory.recommendations.is_empty() {
            memory.recommendations.push(Recommendation { replicas: 0, at_ms: NOW_MS });
        }
    }
    let scales_to_zero = case.ends_with("HPAScaleToZero=true");
    let patience = PATIENCE;
    let pass =
        Pass { autoscaler: &autoscaler, scale, pods: &pods, source: &source, patience, now_ms: NOW_MS, scales_to_zero };
    let decision = decide(&pass, &mut memory);
    let is_refused = case == "TestConditionFailedUpdateScale";
    let status = if is_refused { decision.status_refused("something went wrong") } else { decision.status.clone() };
    let size = decision.rescale.as_ref().filter(|_| !is_refused).map_or(wanted, |it| it.to);
    same(size, int(&row["expectedDesiredReplicas"]))?;
    if row["expectedConditions"].is_array() {
        let told: Vec<Vec<&str>> =
            status.conditions.iter().map(|it| vec![it.kind.as_str(), it.status.as_str(), it.reason.as_str()]).collect();
        let expected: Vec<Vec<&str>> =
            list(&row["expectedConditions"]).iter().map(|it| list(it).iter().map(text).collect()).collect();
        same(told, expected)?;
    }
    Ok(())
}

fn rules(row: &Value) -> ScalingRules {
    let mut policies = Vec::new();
    for (field, kind) in [("pods", "Pods"), ("percent", "Percent")] {
        if let Some(value) = row[field].as_i64().filter(|it| *it != 0) {
            policies.push(json!({"type": kind, "value": value, "periodSeconds": row[format!("{field}PeriodSeconds")]}));
        }
    }
    let window = row["stabilizationWindowSeconds"].clone();
    read_value(json!({"policies": policies, "stabilizationWindowSeconds": window, "selectPolicy": "Max"}))
        .expect("rules")
}

/// The rules of a row; those of the API server where it has none.
fn both(row: &Value) -> [ScalingRules; 2] {
    let mut behavior = ScalingBehavior {
        scale_up: row["upRules"].is_object().then(|| rules(&row["upRules"])),
        scale_down: row["downRules"].is_object().then(|| rules(&row["downRules"])),
    };
    defaulted(Some(&mut behavior));
    [behavior.scale_up.expect("rules"), behavior.scale_down.expect("rules")]
}

/// Upstream spreads a history over its time, the oldest at its beginning.
fn history(row: &Value) -> Vec<ScaleEvent> {
    let changes = numbers(&row["changes"]);
    let spread = row["spreadOverSeconds"].as_i64().unwrap_or(0) * 1_000;
    let step = spread / changes.len().max(1) as i64;
    let one = |(index, change): (usize, &i64)| ScaleEvent {
        change: i32::try_from(*change).expect("a change"),
        at_ms: NOW_MS - spread + 1 + step * index as i64,
        is_outdated: false,
    };
    changes.iter().enumerate().map(one).collect()
}

fn bounds(row: &Value) -> Bounds {
    Bounds { min: int(&row["min"]), max: int(&row["max"]), current: int(&row["current"]) }
}

fn rate_limited(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let memory = Memory { ups: history(&row["earlierUps"]), downs: history(&row["earlierDowns"]), ..Memory::default() };
    let [up, down] = both(row);
    let (result, because) = bounds(row).limit_by(int(&row["wanted"]), (&up, &down), &memory, NOW_MS);
    same((result, because.0), (int(&row["result"]), text(&row["reason"])))
}

fn clamped(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let (result, because) = bounds(row).limit(int(&row["wanted"]));
    // One row names the function whose result it is instead: twice as many, or four.
    let expected = match &row["result"] {
        Value::Object(_) => (2 * int(&row["current"])).max(4),
        number => int(number),
    };
    same((result, because.0), (expected, text(&row["reason"])))
}

fn earlier(row: &Value) -> Memory {
    let one = |it: &Value| Recommendation {
        replicas: int(&it["replicas"]),
        at_ms: NOW_MS - number(&it["secondsAgo"]) * 1_000,
    };
    Memory { recommendations: list(&row["earlier"]).iter().map(one).collect(), ..Memory::default() }
}

fn stabilized(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut memory = earlier(row);
    same(memory.stabilize(int(&row["wanted"]), 300_000, NOW_MS), int(&row["result"]))?;
    same(memory.recommendations.len() as i64, number(&row["storedCount"]))
}

fn stabilized_within(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let mut memory = earlier(row);
    let windows = (number(&row["upWindowSeconds"]) * 1_000, number(&row["downWindowSeconds"]) * 1_000);
    let (result, _) = memory.stabilize_within(int(&row["wanted"]), int(&row["current"]), windows, NOW_MS);
    same(result, int(&row["result"]))?;
    let stored: Vec<i64> = memory.recommendations.iter().map(|it| it.replicas.into()).collect();
    // Where upstream did not look at what is kept, the row has nothing.
    let expected = numbers(&row["storedReplicasAfter"]);
    if expected.is_empty() { Ok(()) } else { same(stored, expected) }
}

fn event_log(rows: &[Value], at: usize) -> Held {
    let row = &rows[at];
    let one = |it: &Value| ScaleEvent {
        change: int(&it["change"]),
        at_ms: NOW_MS - it["secondsAgo"].as_i64().unwrap_or(0) * 1_000,
        is_outdated: it["outdated"] == true,
    };
    let mut memory = Memory { ups: list(&row["before"]).iter().map(one).collect(), ..Memory::default() };
    let behavior = row["rules"]
        .is_object()
        .then(|| ScalingBehavior { scale_up: Some(rules(&row["rules"])), scale_down: Some(rules(&row["rules"])) });
    let longest =
        behavior.as_ref().and_then(|it| it.scale_up.as_ref()?.policies.iter().map(|it| it.period_seconds).max());
    if let Some(longest) = longest {
        same(changed_within(&memory.ups, longest, NOW_MS), int(&row["countedChangeInPeriod"]))?;
    }
    memory.scaled(behavior.as_ref(), 10, 10 + int(&row["change"]), NOW_MS);
    let after: Vec<(i32, bool)> = memory.ups.iter().map(|it| (it.change, it.is_outdated)).collect();
    let expected: Vec<(i32, bool)> =
        list(&row["after"]).iter().map(|it| (int(&it["change"]), it["outdated"] == true)).collect();
    same(after, expected)
}
