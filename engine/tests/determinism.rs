//! Same scenario, seed and commands: the same trace, byte for byte, in a run for each controller.
//!
//! `tests/data/trace.digest` holds the run's digests; the page's browser tests compare the same file in WebAssembly.
//! After a change that is meant to alter the course of events: `UPDATE_GOLDEN=1 cargo test -p loopscope-engine`.

#[path = "common/script.rs"]
mod script;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/trace.digest");

#[test]
fn two_runs_leave_the_same_trace() {
    assert_eq!(script::run(), script::run());
}

#[test]
fn the_trace_is_the_recorded_one() {
    let digests = script::run();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &digests).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    assert_eq!(digests, golden, "if the change is meant, set UPDATE_GOLDEN=1");
}

#[test]
fn going_back_and_through_a_file_leads_to_the_same_states() {
    let golden = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    let travelled = script::travel();
    assert!(travelled.lines().count() > 60 && golden.ends_with(&travelled), "{travelled}");
}

/// The journals would prove little if the controllers they are named for had nothing to do in them.
#[test]
fn every_controller_acts_in_its_journal() {
    use loopscope_engine::client::{TurnPhase, What};
    for (journal, name, reasons) in [
        ("deployment", "Deployment", &["ScalingReplicaSet"][..]),
        ("recreate", "Deployment", &["ScalingReplicaSet"]),
        ("replicaset", "ReplicaSet", &["SuccessfulCreate", "SuccessfulDelete"]),
        ("scheduler", "Scheduler", &["Scheduled", "FailedScheduling", "Preempted"]),
        ("kubelet", "Kubelet node-1", &["Pulled", "BackOff", "Unhealthy", "Killing", "Failed"]),
        ("nodes", "Node lifecycle", &["NodeNotReady"]),
        ("nodes", "Taint eviction", &["TaintManagerEviction"]),
        ("pod-collector", "Pod collector", &[]),
        ("garbage-collector", "Garbage collector", &[]),
        ("endpointslice", "EndpointSlice", &[]),
        ("disruption", "Disruption budgets", &[]),
        ("namespaces", "Namespaces", &[]),
        ("quota", "Resource quotas", &["FailedCreate"]),
        ("job", "Job", &["Completed", "BackoffLimitExceeded", "Suspended", "Resumed"]),
        ("job", "Finished Jobs", &[]),
        ("statefulset", "StatefulSet", &["SuccessfulCreate", "SuccessfulDelete"]),
        ("daemonset", "DaemonSet", &["SuccessfulCreate", "SuccessfulDelete"]),
        ("processes", "Deployment", &["ScalingReplicaSet"]),
        (
            "autoscaler",
            "Horizontal pod autoscaler",
            &["SuccessfulRescale", "FailedGetScale", "FailedGetResourceMetric"],
        ),
        ("level-edge", "ReplicaSet", &["SuccessfulCreate", "SuccessfulDelete"]),
        ("thermostat", "Thermostat", &[]),
        ("imperative", "Script of ana", &[]),
        ("faults", "ReplicaSet", &["SuccessfulCreate", "FailedCreate"]),
        ("gitops", "GitOps agent", &["ScalingReplicaSet"]),
    ] {
        let simulation = script::end_of(journal);
        let acts = simulation.trace().events().filter(|event| match &event.what {
            What::Reached { by, phase: TurnPhase::Act, .. } => &*simulation.loops()[by.0 as usize].name == name,
            _ => false,
        });
        assert!(acts.count() > 0, "{name} does nothing in {journal}");
        let events: Vec<_> = simulation.api().events.iter().map(|event| event.draft.reason).collect();
        for reason in reasons {
            assert!(events.contains(reason), "{journal} has no {reason}");
        }
    }
}

#[test]
fn a_run_does_not_depend_on_how_it_is_cut_into_calls() {
    let digest = script::digest_in_small_steps(20_000, 20_000);
    assert_eq!(script::digest_in_small_steps(1, 20_000), digest);
    assert_eq!(script::digest_in_small_steps(17, 20_000), digest);
}

#[test]
fn another_seed_leaves_another_trace() {
    use loopscope_engine::sim::Time;
    use loopscope_engine::world::{Scenario, Simulation};
    let digest = |seed| {
        let mut simulation = Simulation::new(Scenario { seed, ..Scenario::self_healing() });
        simulation.run_until(Time(10_000), usize::MAX);
        simulation.trace().digest()
    };
    assert_ne!(digest(1), digest(2));
}

#[test]
fn a_checkpoint_goes_on_like_the_original() {
    use loopscope_engine::sim::Time;
    use loopscope_engine::world::{Scenario, Simulation};
    let mut original = Simulation::new(Scenario::self_healing());
    original.run_until(Time(1_700), usize::MAX);
    let mut copy = original.clone();
    original.run_until(Time(30_000), usize::MAX);
    copy.run_until(Time(30_000), usize::MAX);
    assert_eq!(original.trace().digest(), copy.trace().digest());
}
