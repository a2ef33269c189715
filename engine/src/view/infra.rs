//! Infrastructure as code: what the configuration wants, what the state remembers and what the cloud has, and what the
//! tool has printed.

use serde::Serialize;
use serde_json::Value;

use crate::iac::{Attributes, CloudObject, Known, TYPES, Type, Wanted, read_config};
use crate::world::Simulation;

/// Lines of output that are shown: the newest.
const MOST_LINES: usize = 400;

/// One attribute of a resource, in the three places where it may stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttributeRow {
    pub name: &'static str,
    /// None where nobody says it.
    pub wanted: Option<String>,
    pub known: Option<String>,
    pub actual: Option<String>,
    pub is_number: bool,
    /// In `ignore_changes`.
    pub is_ignored: bool,
    /// The cloud has something else than the state remembers.
    pub has_drifted: bool,
    /// An apply would set it, if it ran now.
    pub is_to_change: bool,
}

/// What sets `desired_count` in the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloudScaler {
    pub min: i64,
    pub max: i64,
    pub want: i64,
}

/// A resource of the configuration, of the state or of the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceRow {
    /// Nothing where only the cloud knows of it.
    pub address: Option<String>,
    /// Nothing where it has not been made.
    pub id: Option<String>,
    pub kind: &'static str,
    pub is_wanted: bool,
    pub is_known: bool,
    pub is_there: bool,
    pub attributes: Vec<AttributeRow>,
    pub scaler: Option<CloudScaler>,
    /// Addresses of its type that the configuration has and the state has not: what it can be imported as.
    pub importable: Vec<String>,
}

/// Who holds the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockRow {
    pub id: String,
    pub who: String,
    pub created: String,
}

/// A line of the tool's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PrintedLine {
    pub text: String,
    pub mark: PrintedMark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PrintedMark {
    Plain,
    /// The command line itself.
    Typed,
    Added,
    Changed,
    Removed,
    Error,
}

/// Runs by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunView {
    pub every_ms: u64,
    pub applies: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InfraView {
    pub config: String,
    /// Why the configuration cannot be read.
    pub mistake: Option<String>,
    pub serial: u64,
    pub resources: Vec<ResourceRow>,
    pub lock: Option<LockRow>,
    /// An apply waits for yes or no.
    pub asks: bool,
    /// An apply changes the cloud.
    pub is_applying: bool,
    pub schedule: Option<RunView>,
    pub printed: Vec<PrintedLine>,
    /// Lines before these.
    pub n_before: usize,
}

/// Configuration, state, cloud and output.
pub fn infra(simulation: &Simulation) -> InfraView {
    let iac = simulation.iac();
    let read = read_config(&iac.config);
    let mistake = read.as_ref().err().cloned();
    let wanted = read.unwrap_or_default();
    let n_before = iac.output.len().saturating_sub(MOST_LINES);
    InfraView {
        config: iac.config.clone(),
        mistake,
        serial: iac.state.serial,
        resources: resources(simulation, &wanted),
        lock: iac.lock.as_ref().map(|it| LockRow {
            id: it.id.clone(),
            who: it.who.clone(),
            created: it.created.clone(),
        }),
        asks: iac.asks(),
        is_applying: iac.is_applying(),
        schedule: iac.schedule.map(|it| RunView { every_ms: it.every_ms, applies: it.applies }),
        printed: iac.output.iter().skip(n_before).flat_map(|it| it.split('\n')).map(printed).collect(),
        n_before,
    }
}

fn printed(text: &str) -> PrintedLine {
    let start = text.trim_start();
    let mark = match start.split(' ').next().unwrap_or_default() {
        "$" => PrintedMark::Typed,
        "+" => PrintedMark::Added,
        "~" => PrintedMark::Changed,
        "-" | "-/+" => PrintedMark::Removed,
        "Error:" => PrintedMark::Error,
        _ => PrintedMark::Plain,
    };
    PrintedLine { text: text.to_owned(), mark }
}

/// Those of the configuration and of the state by their addresses, then what nobody manages.
fn resources(simulation: &Simulation, wanted: &[Wanted]) -> Vec<ResourceRow> {
    let iac = simulation.iac();
    let mut addresses: Vec<_> = wanted.iter().map(|it| &it.address).collect();
    addresses.extend(iac.state.resources.iter().map(|it| &it.address));
    addresses.sort();
    addresses.dedup();
    let managed = addresses.into_iter().filter_map(|address| {
        let known = iac.state.get(address);
        let object = known.and_then(|it| iac.cloud.get(&it.id));
        row(simulation, wanted.iter().find(|it| it.address == *address), known, object)
    });
    let mut all: Vec<ResourceRow> = managed.collect();
    let is_managed = |it: &&CloudObject| iac.state.resources.iter().any(|known| known.id == it.id);
    let others = iac.cloud.objects().iter().filter(|it| !is_managed(it));
    for object in others {
        let Some(mut it) = row(simulation, None, None, Some(object)) else { continue };
        let free = wanted.iter().filter(|it| it.address.kind == object.kind && iac.state.get(&it.address).is_none());
        it.importable = free.map(|it| it.address.to_string()).collect();
        all.push(it);
    }
    all
}

fn row(
    simulation: &Simulation,
    wanted: Option<&Wanted>,
    known: Option<&Known>,
    object: Option<&CloudObject>,
) -> Option<ResourceRow> {
    let address = wanted.map(|it| &it.address).or(known.map(|it| &it.address));
    let kind = Type::find(address.map(|it| it.kind.as_str()).or(object.map(|it| it.kind))?)?;
    let value = |from: Option<&Attributes>, name: &str| from.and_then(|it| it.get(name)).map(text);
    let attribute = |it: &crate::iac::Attribute| {
        let [want, knew, is] = [
            value(wanted.map(|it| &it.attributes), it.name),
            value(known.map(|it| &it.attributes), it.name),
            value(object.map(|it| &it.attributes), it.name),
        ];
        let is_ignored = wanted.is_some_and(|w| w.ignore_changes.iter().any(|name| name == it.name));
        AttributeRow {
            name: it.name,
            is_number: it.is_number,
            is_ignored,
            has_drifted: known.is_some() && is != knew,
            is_to_change: wanted.is_some() && want != is && !(is_ignored && object.is_some()),
            wanted: want,
            known: knew,
            actual: is,
        }
    };
    let id = known.map(|it| it.id.clone()).or(object.map(|it| it.id.clone()));
    let scalers = &simulation.iac().cloud.autoscalers;
    let scaler = scalers.iter().find(|it| Some(&it.id) == id.as_ref());
    Some(ResourceRow {
        address: address.map(ToString::to_string),
        kind: kind.name,
        is_wanted: wanted.is_some(),
        is_known: known.is_some(),
        is_there: object.is_some(),
        attributes: kind.attributes.iter().map(attribute).collect(),
        scaler: scaler.map(|it| CloudScaler { min: it.min, max: it.max, want: it.want }),
        importable: Vec::new(),
        id,
    })
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The types of resources that the cloud has.
pub fn cloud_types() -> impl Iterator<Item = &'static str> {
    TYPES.iter().map(|it| it.name)
}
