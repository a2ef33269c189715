//! Who owns the fields of an object, who has written them, and who fights over them.

use serde_json::Value;

use super::{FieldOwner, FieldRow, Fight, Fighter, Ownership, WriteMark};
use crate::api::{Kind, Managed, ManagerId, Name, ObjectKey, path_text};
use crate::apiserver::{Effect, FieldWrite, field_values};
use crate::client::What;
use crate::sim::{Millis, Seq, Set, sort_by};
use crate::world::Simulation;

/// Two writers that take turns on a field so often within [`WINDOW`] fight: twice may be somebody who mends a mistake.
const TURNS: usize = 3;
/// How long a fight is remembered after its last write.
const WINDOW: Millis = Millis(600_000);
/// Characters of a value.
const MOST_LETTERS: usize = 60;

/// A manager as `managedFields` tells it: `kubectl` through `scale`.
fn named(by: &ManagerId) -> String {
    match by.subresource {
        "" => by.manager.into(),
        part => [by.manager, " (", part, ")"].concat(),
    }
}

fn owners(simulation: &Simulation, managed: &Managed, path: &str, writes: &[WriteMark]) -> Vec<FieldOwner> {
    let virtual_ms = |seconds: i64| {
        let ms = seconds.saturating_mul(1_000) - simulation.scenario().epoch_ms;
        u64::try_from(ms.max(0)).ok()
    };
    let of = managed.owners(path);
    of.map(|it| {
        let manager = named(&it.by);
        let written = writes.iter().rfind(|it| it.manager == manager).map(|it| it.time_ms);
        FieldOwner {
            is_apply: it.by.is_apply(),
            since: it.time.map(|time| time.to_string()).unwrap_or_default(),
            since_ms: written.or_else(|| it.time.and_then(|time| virtual_ms(time.0))),
            manager,
        }
    })
    .collect()
}

fn text(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST_LETTERS) {
        Some((at, _)) => [text.get(..at).unwrap_or_default(), "…"].concat(),
        None => text,
    }
}

fn mark(write: &FieldWrite) -> WriteMark {
    WriteMark {
        time_ms: write.at.0,
        seq: write.seq.0,
        manager: named(&write.by),
        from: text(&write.from),
        to: text(&write.to),
    }
}

/// The fields that people ask for, with who owns each and who has written it of late; nothing for an object that is not
/// there.
pub fn ownership(simulation: &Simulation, key: &ObjectKey) -> Option<Ownership> {
    let object = simulation.api().objects().get(key)?;
    let managed = &object.meta().managed;
    let value = object.to_value();
    let mut lanes: Vec<String> = Vec::new();
    let fields = field_values(key.kind, &value)
        .into_iter()
        .map(|(path, value)| {
            let of_path = simulation.api().writes().iter().filter(|it| it.key == *key && it.path == path);
            let writes: Vec<WriteMark> = of_path.map(mark).collect();
            let owners = owners(simulation, managed, &path, &writes);
            for name in owners.iter().map(|it| &it.manager).chain(writes.iter().map(|it| &it.manager)) {
                if !lanes.contains(name) {
                    lanes.push(name.clone());
                }
            }
            FieldRow { path: path_text(&path), value: text(value), owners, writes }
        })
        .collect();
    Some(Ownership { fields, lanes })
}

/// A field with its writes, oldest first.
struct Field<'a> {
    key: &'a ObjectKey,
    path: &'a Name,
    writes: Vec<&'a FieldWrite>,
}

/// What one writer made of a field before another one wrote it.
struct Turn<'a> {
    by: &'a ManagerId,
    from: &'a Value,
    to: &'a Value,
}

impl Field<'_> {
    /// Its writes as turns: an autoscaler may climb in several steps before somebody else writes.
    fn taken(&self) -> Vec<Turn<'_>> {
        let mut turns: Vec<Turn<'_>> = Vec::new();
        for it in &self.writes {
            match turns.last_mut() {
                Some(turn) if *turn.by == it.by => turn.to = &it.to,
                _ => turns.push(Turn { by: &it.by, from: &it.from, to: &it.to }),
            }
        }
        turns
    }

    /// How often one writer undid what another had set.
    fn turns(&self) -> usize {
        self.taken().windows(2).filter(|pair| pair[0].to != pair[1].to).count()
    }

    /// Whether values come back, as in a fight, rather than go on, as when two programs hand a number on.
    fn comes_back(&self) -> bool {
        let taken = self.taken();
        taken.windows(3).any(|it| it[0].by == it[2].by && it[0].to == it[2].to)
            || taken.windows(2).any(|it| it[1].to == it[0].from)
    }
}

fn by_field(simulation: &Simulation) -> Vec<Field<'_>> {
    let from = simulation.now() - WINDOW;
    let mut fields: Vec<Field<'_>> = Vec::new();
    for write in simulation.api().writes().iter().filter(|it| it.at >= from) {
        match fields.iter_mut().find(|it| *it.key == write.key && *it.path == write.path) {
            Some(field) => field.writes.push(write),
            None => fields.push(Field { key: &write.key, path: &write.path, writes: vec![write] }),
        }
    }
    fields
}

/// The fields that several managers keep taking from each other, the liveliest first, with what it costs.
pub fn fights(simulation: &Simulation) -> Vec<Fight> {
    let fields = by_field(simulation).into_iter().filter(|it| it.turns() >= TURNS && it.comes_back());
    let mut all: Vec<Fight> = fields.map(|it| fight(simulation, &it)).collect();
    sort_by(&mut all, |a, b| b.turns.cmp(&a.turns));
    all
}

fn fight(simulation: &Simulation, field: &Field<'_>) -> Fight {
    let mut writers: Vec<Fighter> = Vec::new();
    for write in &field.writes {
        let manager = named(&write.by);
        match writers.iter_mut().find(|it| it.manager == manager) {
            Some(known) => (known.writes, known.value) = (known.writes + 1, text(&write.to)),
            None => writers.push(Fighter { manager, writes: 1, value: text(&write.to) }),
        }
    }
    let seqs: Vec<Seq> = field.writes.iter().map(|it| it.seq).collect();
    let (pods_created, pods_killed, is_whole) = cost(simulation, &seqs);
    let at = |write: Option<&&FieldWrite>| write.map_or(0, |it| it.at.0);
    Fight {
        key: field.key.clone(),
        path: path_text(field.path),
        turns: field.turns(),
        writes: field.writes.len(),
        first_ms: at(field.writes.first()),
        last_ms: at(field.writes.last()),
        values: field.writes.iter().map(|it| mark(it)).collect(),
        writers,
        pods_created,
        pods_killed,
        is_whole,
    }
}

/// The pods that were created and told to stop as a consequence of writes, and whether the trace still reaches back to
/// the first of them.
fn cost(simulation: &Simulation, writes: &[Seq]) -> (usize, usize, bool) {
    let trace = simulation.trace();
    let Some(first) = writes.first().copied() else { return (0, 0, true) };
    // In order, as all that follows from them comes after them.
    let mut followers: Vec<Seq> = writes.to_vec();
    let mut created = 0;
    // A pod that is told to stop goes later, too.
    let mut killed: Set<ObjectKey> = Set::default();
    for head in trace.heads_after(Seq(first.0.saturating_sub(1))) {
        if head.cause.is_none_or(|cause| followers.binary_search(&cause).is_err()) {
            continue;
        }
        if let Err(at) = followers.binary_search(&head.seq) {
            followers.insert(at, head.seq);
        }
        let Some(event) = trace.get(head.seq) else { continue };
        if let What::Wrote { key, effect, .. } = &event.what
            && key.kind == Kind::Pod
        {
            created += usize::from(*effect == Effect::Created);
            if matches!(effect, Effect::Deleting | Effect::Deleted) {
                killed.add(key.clone());
            }
        }
    }
    (created, killed.len(), trace.get(first).is_some())
}
