//! What must hold at every instant, looked at after every single event of a run.

#![allow(dead_code)]

use loopscope_engine::api::{Kind, Object, Timestamp, Uid, path_text};
use loopscope_engine::apiserver::{Change, ChangeKind, Objects, owned_fields};
use loopscope_engine::client::{Author, What};
use loopscope_engine::sim::{Millis, Seq};
use loopscope_engine::world::Simulation;
use proptest::prelude::*;

pub struct Guard {
    version: u64,
    seq: Seq,
    /// Whether a rolling update must leave enough pods available: nobody can where pods are broken.
    has_floor: bool,
    /// Whether controllers do their best: not those that were told to forget, or that miss what happens.
    is_sane: bool,
}

impl Guard {
    pub fn new(has_floor: bool) -> Self {
        Self { version: 0, seq: Seq(0), has_floor, is_sane: true }
    }

    /// From now on only what holds whatever is wrong with controllers.
    pub fn expect_anything(&mut self) {
        self.is_sane = false;
    }

    /// Runs for so long, and looks after every event.
    pub fn run(&mut self, simulation: &mut Simulation, ms: u64) -> Result<(), TestCaseError> {
        match self.run_at_most(simulation, ms, 3_000_000)? {
            true => Ok(()),
            false => Err(TestCaseError::fail("events without end")),
        }
    }

    /// The same, for so many events at most. Returns whether they were enough.
    pub fn run_at_most(
        &mut self,
        simulation: &mut Simulation,
        ms: u64,
        most_events: usize,
    ) -> Result<bool, TestCaseError> {
        let until = simulation.now() + Millis(ms);
        self.look(simulation)?;
        for _ in 0..most_events {
            if simulation.run_until(until, 1) {
                return Ok(true);
            }
            self.look(simulation)?;
        }
        Ok(false)
    }

    pub fn look(&mut self, simulation: &Simulation) -> Result<(), TestCaseError> {
        let newest = simulation.api().version();
        if newest == self.version {
            return self.check_idle_writes(simulation);
        }
        let first = self.version + 1;
        self.version = newest;
        for version in first.max(newest.saturating_sub(4_000))..=newest {
            let Some(change) = simulation.api().change(version) else { continue };
            check_owners(simulation.api().objects(), change)?;
            check_fields(simulation, change)?;
        }
        self.check_limits(simulation)?;
        self.check_idle_writes(simulation)
    }

    /// No controller asks for a write that changes nothing.
    fn check_idle_writes(&mut self, simulation: &Simulation) -> Result<(), TestCaseError> {
        if !self.is_sane {
            return Ok(());
        }
        let last = simulation.trace().last_seq();
        for seq in self.seq.0 + 1..=last.0 {
            let Some(event) = simulation.trace().get(Seq(seq)) else { continue };
            if let What::Wrote { author: Author::Loop(by), key, method, effect, subresource, .. } = &event.what {
                let is_idle = *effect == loopscope_engine::apiserver::Effect::Unchanged;
                let by = &simulation.loops()[by.0 as usize].name;
                // Told once more to go: by another who had not heard of it, in a namespace's next pass over its content, by
                // a kubelet while a finalizer holds the pod. Nothing is written.
                if *method == "DELETE" {
                    continue;
                }
                prop_assert!(!is_idle, "{by}: {method} {key}/{subresource} at {} changes nothing", event.at.0);
            }
        }
        self.seq = last;
        Ok(())
    }

    /// Nobody creates a pod above the ceiling, or takes an available one away below the floor.
    fn check_limits(&self, simulation: &Simulation) -> Result<(), TestCaseError> {
        if !self.is_sane {
            return Ok(());
        }
        let known = simulation.invariants();
        for deployment in simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
            let Some(bounds) = known.bounds(deployment.metadata.uid) else { continue };
            let floor = bounds.floor.as_ref().filter(|_| self.has_floor);
            if let Some(breach) = bounds.ceiling.iter().chain(floor).next() {
                return Err(TestCaseError::fail(format!("{} at {}", breach.note, breach.at.0)));
            }
        }
        Ok(())
    }
}

/// At most one controller, and no object among its own owners.
pub fn check_owners(objects: &Objects, change: &Change) -> Result<(), TestCaseError> {
    let meta = change.object.meta();
    let key = change.object.key();
    let controllers = meta.owner_references.iter().filter(|owner| owner.controller).count();
    prop_assert!(controllers <= 1, "{key} has {controllers} controllers");
    let mut above: Vec<Uid> = meta.owner_references.iter().map(|owner| owner.uid).collect();
    for _ in 0..6 {
        prop_assert!(!above.contains(&meta.uid), "{key} is its own owner");
        let owners = above.iter().filter_map(|uid| objects.iter().find(|(_, it)| it.meta().uid == *uid));
        above = owners.flat_map(|(_, it)| it.meta().owner_references.iter().map(|owner| owner.uid)).collect();
    }
    prop_assert!(above.is_empty(), "{key}: owners of owners without end");
    Ok(())
}

/// Nobody changes a field without taking it: whoever owns it has just written. What a deletion adds is nobody's.
fn check_fields(simulation: &Simulation, change: &Change) -> Result<(), TestCaseError> {
    let (Some(old), new) = (&change.old, &change.object) else { return Ok(()) };
    let (a, b) = (old.meta(), new.meta());
    let is_asked = a.generation != b.generation || a.labels != b.labels || a.annotations != b.annotations;
    let is_told = !matches!(new.kind(), Kind::Pod | Kind::Lease | Kind::EndpointSlice);
    if change.kind != ChangeKind::Modified || !is_asked || !is_told {
        return Ok(());
    }
    let (before, after) = (owned_fields(&old.to_value()), owned_fields(&new.to_value()));
    for (path, value) in after.iter().filter(|(path, value)| before.get(*path) != Some(value)) {
        if path.starts_with(".metadata.finalizers") {
            continue;
        }
        let entries = b.managed.entries().iter();
        let mut owners = entries.filter(|it| it.fields.iter().any(|it| path_text(it) == path.as_str()));
        let now = Timestamp::from_millis(simulation.scenario().epoch_ms + change.at.0 as i64);
        let is_taken = owners.any(|it| it.time == Some(now) || it.by.subresource == "scale");
        prop_assert!(is_taken, "{} {path} became {value} at {now}, and nobody has taken it", new.key());
    }
    Ok(())
}
