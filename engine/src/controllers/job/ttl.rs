//! Finished Jobs that say how long they want to be kept are deleted when that time is over.
//!
//! Mirrors `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go`, v1.36.

use super::finished_at;
use crate::api::{Object, ObjectKey};
use crate::apiserver::{Change, ChangeKind, DeleteOptions, Objects, Verb};
use crate::client::{Arg, Context, Facts, Wakeup};
use crate::controllers::Recorder;
use crate::controllers::pods::request;
use crate::controllers::script::{Purpose, Script, Scripted};
use crate::note;
use crate::sim::{Millis, Time};

/// Deletes Jobs after `ttlSecondsAfterFinished`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TtlAfterFinished;

impl Scripted for TtlAfterFinished {
    fn recorder(&self) -> Recorder {
        Recorder("ttl-after-finished-controller")
    }

    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let Object::Job(job) = &change.object else { return Vec::new() };
        let waits = job.spec.ttl_seconds_after_finished.is_some() && finished_at(job).is_some();
        if waits && change.kind != ChangeKind::Deleted { vec![(change.key.clone(), Millis(0))] } else { Vec::new() }
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        let job = context.cache.get(key)?.as_job().filter(|job| job.metadata.deletion_timestamp.is_none())?;
        let until = finished_at(job)?.0 + i64::from(job.spec.ttl_seconds_after_finished?);
        let left = u64::try_from(until * 1000 - context.wall_millis).unwrap_or(0);
        let facts: Facts = note!("Job **{}** has finished", &key.name).into();
        if left > 0 {
            let mut script = Script::new(facts, note!("is kept **{}** more", Arg::Millis(left)).into());
            script.look_again(Millis(left));
            return Some(script);
        }
        let mut script = Script::new(facts, note!("its time is over").into());
        let options = DeleteOptions { uid: Some(job.metadata.uid), ..DeleteOptions::default() };
        let action = request(Verb::Delete(key.clone(), options));
        let facts: Facts = note!("delete Job **{}**", &key.name).into();
        script.send(facts.with(note!("DELETE jobs")), vec![(action, Purpose::Plain)]);
        Some(script)
    }
}
