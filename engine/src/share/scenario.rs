//! Scenarios as plain values: what a YAML file of one holds.

use serde_json::{Map, Value};

use super::MOST_NODES;
use crate::api::Labels;
use crate::dump::{self, Cluster};
use crate::environment::{Behaviors, Pipeline};
use crate::world::{ClientLimit, Latency, NodeSetup, Scenario, read_behavior_flags, write_behavior_flags};

/// Wall clocks that a scenario may begin at: from 1970 to 2200, in ms.
const EPOCHS: std::ops::RangeInclusive<i64> = 0..=7_258_118_400_000;
/// A time between things, in ms.
const LATENCIES: std::ops::RangeInclusive<u64> = 1..=60_000;
const RESYNCS: std::ops::RangeInclusive<u64> = 1_000..=86_400_000;
/// What the metrics pipeline's clocks take, in ms; nothing for one that is not behind.
const PIPELINES: std::ops::RangeInclusive<u64> = 0..=600_000;
const RATES: std::ops::RangeInclusive<u64> = 1..=10_000;
const MOST_BEHAVIORS: usize = 1_000;
/// Characters of a name.
const LONGEST_NAME: usize = 253;

type Put<'a> = &'a mut dyn FnMut(&str, Value);

/// What of a scenario differs from another; all of it where there is no other.
pub(super) fn write(scenario: &Scenario, base: Option<&Scenario>) -> Map<String, Value> {
    let mut map = Map::new();
    let put: Put<'_> = &mut |name, value| drop(map.insert(name.to_owned(), value));
    let Scenario {
        name,
        seed,
        epoch_ms,
        nodes,
        manifest,
        cluster,
        behaviors,
        latency,
        max_pods,
        client_limit,
        resync_ms,
        metrics,
    } = scenario;
    let differs = |same: fn(&Scenario, &Scenario) -> bool| base.is_none_or(|base| !same(base, scenario));
    if differs(|a, b| a.name == b.name) {
        put("name", name.as_str().into());
    }
    if differs(|a, b| a.seed == b.seed) {
        // Numbers of a manifest end where Go's do.
        put("seed", i64::try_from(*seed).map_or_else(|_| seed.to_string().into(), Value::from));
    }
    if differs(|a, b| a.epoch_ms == b.epoch_ms) {
        put("epochMs", (*epoch_ms).into());
    }
    if differs(|a, b| a.nodes == b.nodes) {
        put("nodes", nodes.iter().map(node).collect());
    }
    if differs(|a, b| a.manifest == b.manifest) {
        put("manifest", manifest.as_str().into());
    }
    if !cluster.is_empty() {
        put("cluster", cluster.as_str().into());
    }
    if differs(|a, b| a.behaviors == b.behaviors) && (base.is_some() || !behaviors.0.is_empty()) {
        let flags = behaviors.0.iter().map(|(image, it)| (image.clone(), write_behavior_flags(image, it).into()));
        put("behaviors", Value::Object(flags.collect()));
    }
    if differs(|a, b| a.latency == b.latency) {
        let Latency { request, answer, watch, phase } = *latency;
        put("latency", numbers(&[("request", request), ("answer", answer), ("watch", watch), ("phase", phase)]));
    }
    if differs(|a, b| a.max_pods == b.max_pods)
        && let Some(most) = max_pods
    {
        put("maxPods", (*most as u64).into());
    }
    if let Some(ClientLimit { qps, burst }) = *client_limit {
        put("clientLimit", numbers(&[("qps", qps.into()), ("burst", burst.into())]));
    }
    if let Some(ms) = resync_ms {
        put("resyncMs", (*ms).into());
    }
    if *metrics != Pipeline::default() {
        put("metrics", numbers(&[("sample", metrics.sample), ("resolution", metrics.resolution)]));
    }
    map
}

fn numbers(all: &[(&str, u64)]) -> Value {
    Value::Object(all.iter().map(|(name, number)| ((*name).to_owned(), Value::from(*number))).collect())
}

fn node(setup: &NodeSetup) -> Value {
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
    put("name", setup.name.as_str().into());
    put("cpu", setup.cpu.as_str().into());
    put("memory", setup.memory.as_str().into());
    put("pods", setup.pods.into());
    if !setup.labels.is_empty() {
        let labels = setup.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
        put("labels", Value::Object(labels.collect()));
    }
    if let Some(ms) = setup.ready_ms {
        put("readyMs", ms.into());
    }
    Value::Object(map)
}

/// A place in a value, and what is there.
struct At<'a> {
    path: String,
    value: &'a Value,
}

/// What is wrong with a scenario, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The field: `nodes[0].cpu`.
    pub path: String,
    /// The whole sentence, without a full stop.
    pub words: String,
}

type Read<T> = Result<T, Wrong>;

impl<'a> At<'a> {
    fn wrong<T>(&self, wants: &str) -> Read<T> {
        self.fails(&[" must be ", wants])
    }

    fn fails<T>(&self, words: &[&str]) -> Read<T> {
        Err(Wrong { path: self.path.clone(), words: [self.path.as_str(), &words.concat()].concat() })
    }

    fn text(&self) -> Read<String> {
        // Somebody who writes by hand leaves out the quotes of `cpu: 4`.
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => self.wrong("a text"),
        }
    }

    fn number(&self, range: std::ops::RangeInclusive<u64>) -> Read<u64> {
        let written = self.value.as_u64().or_else(|| self.value.as_str()?.parse().ok());
        match written {
            Some(number) if range.contains(&number) => Ok(number),
            _ => {
                let (least, most) = (range.start().to_string(), range.end().to_string());
                self.wrong(&["a whole number from ", &least, " to ", &most].concat())
            }
        }
    }

    /// The fields of a mapping, which may have only these.
    fn fields(&self, known: &[&str]) -> Read<Vec<(&'a str, At<'a>)>> {
        let Value::Object(map) = self.value else { return self.wrong("a mapping") };
        let mut fields = Vec::new();
        for (name, value) in map {
            let path = if self.path.is_empty() { name.clone() } else { [self.path.as_str(), ".", name].concat() };
            if !known.is_empty() && !known.contains(&name.as_str()) {
                return Err(unknown(path));
            }
            fields.push((name.as_str(), At { path, value }));
        }
        Ok(fields)
    }

    fn items(&self, most: usize) -> Read<Vec<At<'a>>> {
        let Value::Array(items) = self.value else { return self.wrong("a list") };
        if items.len() > most {
            return self.wrong(&["a list of at most ", &most.to_string()].concat());
        }
        let place = |(at, value): (usize, &'a Value)| At {
            path: [self.path.as_str(), "[", &at.to_string(), "]"].concat(),
            value,
        };
        Ok(items.iter().enumerate().map(place).collect())
    }
}

fn unknown(path: String) -> Wrong {
    Wrong { words: ["the field ", &path, " is not known"].concat(), path }
}

/// A scenario of what is written; what is not is as in another.
///
/// # Errors
/// The field that is wrong, and what it must be.
pub fn read(value: &Map<String, Value>, base: Scenario) -> Read<Scenario> {
    let mut scenario = base;
    for (name, value) in value {
        let at = At { path: name.clone(), value };
        match name.as_str() {
            "name" => scenario.name = short_name(&at)?,
            "seed" => scenario.seed = at.number(0..=u64::MAX)?,
            "epochMs" => match value.as_i64() {
                Some(ms) if EPOCHS.contains(&ms) => scenario.epoch_ms = ms,
                _ => return at.wrong("a time from 1970 to 2200 in milliseconds"),
            },
            "nodes" => scenario.nodes = read_nodes(&at)?,
            "manifest" => scenario.manifest = at.text()?,
            "cluster" => scenario.cluster = read_cluster(&at)?,
            "behaviors" => scenario.behaviors = read_behaviors(&at)?,
            "latency" => read_latency(&at, &mut scenario.latency)?,
            "maxPods" => scenario.max_pods = Some(at.number(1..=Scenario::MAX_PODS as u64)? as usize),
            "clientLimit" => scenario.client_limit = Some(read_limit(&at)?),
            "resyncMs" => scenario.resync_ms = Some(at.number(RESYNCS)?),
            "metrics" => read_pipeline(&at, &mut scenario.metrics)?,
            _ => return Err(unknown(name.clone())),
        }
    }
    Ok(scenario)
}

fn short_name(at: &At<'_>) -> Read<String> {
    let name = at.text()?;
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return at.wrong("a name of one line");
    }
    Ok(name)
}

/// Whoever wrote it, values of the environment are dropped again.
fn read_cluster(at: &At<'_>) -> Read<Cluster> {
    let text = at.text()?;
    if text.trim().is_empty() {
        return Ok(Cluster::default());
    }
    match dump::read(&text) {
        Ok(dump) => Ok(dump.cluster),
        Err(error) => at.fails(&[": ", &error.to_string()]),
    }
}

fn read_nodes(at: &At<'_>) -> Read<Vec<NodeSetup>> {
    let mut nodes: Vec<NodeSetup> = Vec::new();
    for item in at.items(MOST_NODES)? {
        let node = read_node(&item)?;
        if nodes.iter().any(|it| it.name == node.name) {
            return item.fails(&[".name: there are two nodes ", &node.name]);
        }
        nodes.push(node);
    }
    Ok(nodes)
}

fn read_node(at: &At<'_>) -> Read<NodeSetup> {
    let mut node = NodeSetup::named("", "4", "8Gi");
    for (name, field) in at.fields(&["name", "cpu", "memory", "pods", "labels", "readyMs"])? {
        match name {
            "name" => node.name = short_name(&field)?,
            "cpu" => node.cpu = field.text()?,
            "memory" => node.memory = field.text()?,
            "pods" => node.pods = field.number(0..=u32::MAX.into())? as u32,
            "labels" => {
                let mut labels = Labels::new();
                for (key, value) in field.fields(&[])? {
                    labels.insert(key.to_owned(), value.text()?);
                }
                node.labels = labels;
            }
            _ => node.ready_ms = Some(field.number(0..=super::LONGEST_MS)?),
        }
    }
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if node.name.is_empty() || !node.name.chars().all(is_letter) {
        return at.fails(&[".name must be lower-case letters, digits and dashes"]);
    }
    match node.hardware() {
        Ok(_) => Ok(node),
        Err(error) => at.fails(&[": ", &error]),
    }
}

fn read_behaviors(at: &At<'_>) -> Read<Behaviors> {
    let mut behaviors = Behaviors::default();
    let fields = at.fields(&[])?;
    if fields.len() > MOST_BEHAVIORS {
        return at.wrong(&["a mapping of at most ", &MOST_BEHAVIORS.to_string()].concat());
    }
    for (image, field) in fields {
        let behavior = read_behavior_flags(image, &field.text()?);
        match behavior {
            Ok(behavior) => drop(behaviors.0.insert(image.to_owned(), behavior)),
            Err(error) => return field.fails(&[": ", &error]),
        }
    }
    Ok(behaviors)
}

fn read_latency(at: &At<'_>, latency: &mut Latency) -> Read<()> {
    for (name, field) in at.fields(&["request", "answer", "watch", "phase"])? {
        let ms = field.number(LATENCIES)?;
        match name {
            "request" => latency.request = ms,
            "answer" => latency.answer = ms,
            "watch" => latency.watch = ms,
            _ => latency.phase = ms,
        }
    }
    Ok(())
}

fn read_pipeline(at: &At<'_>, pipeline: &mut Pipeline) -> Read<()> {
    for (name, field) in at.fields(&["sample", "resolution"])? {
        let ms = field.number(PIPELINES)?;
        if name == "sample" { pipeline.sample = ms } else { pipeline.resolution = ms }
    }
    Ok(())
}

fn read_limit(at: &At<'_>) -> Read<ClientLimit> {
    let mut limit = ClientLimit::CONTROLLER_MANAGER;
    for (name, field) in at.fields(&["qps", "burst"])? {
        let number = field.number(RATES)? as u32;
        if name == "qps" { limit.qps = number } else { limit.burst = number }
    }
    Ok(limit)
}
