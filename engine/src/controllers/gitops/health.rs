//! Whether an object works, by its status (gitops-engine `pkg/health`).

use crate::api::{Object, condition};
use crate::gitops::Health;

/// The health of one object; kinds without a rule are healthy once they are there.
pub fn health(object: &Object) -> Health {
    match object {
        Object::Deployment(it) if it.spec.paused => Health::Suspended,
        Object::Deployment(it) => {
            let status = &it.status;
            let late = condition(&status.conditions, "Progressing");
            let wanted = it.spec.wanted();
            if it.metadata.generation > status.observed_generation {
                Health::Progressing
            } else if late.is_some_and(|it| &*it.reason == "ProgressDeadlineExceeded") {
                Health::Degraded
            } else if status.updated_replicas < wanted
                || status.replicas > status.updated_replicas
                || status.available_replicas < status.updated_replicas
            {
                Health::Progressing
            } else {
                Health::Healthy
            }
        }
        Object::Pod(it) => match it.is_ready() {
            true => Health::Healthy,
            false => Health::Progressing,
        },
        Object::HorizontalPodAutoscaler(it) => {
            let of = |kind| condition(&it.status.conditions, kind);
            let failed = ["FailedGetScale", "FailedUpdateScale", "InvalidSelector"];
            let is_failed = of("AbleToScale").is_some_and(|it| failed.contains(&&*it.reason));
            match (is_failed, it.status.conditions.is_empty()) {
                (true, _) => Health::Degraded,
                (_, true) => Health::Progressing,
                _ => Health::Healthy,
            }
        }
        _ => Health::Healthy,
    }
}
