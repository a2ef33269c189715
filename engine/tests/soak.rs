//! Virtual hours of random operations, as somebody who leaves the page open and comes back to it: no panic, what must hold
//! holds, and what is kept does not grow.
//!
//! `cargo xtask soak` runs 24 hours; the tests run a part of one.

#[path = "common/deeds.rs"]
mod deeds;
#[path = "common/guard.rs"]
mod guard;

use deeds::{calm_commands, command, deed, manifest, scenario, uncordon_commands};
use guard::check_owners;
use loopscope_engine::api::{Kind, Object};
use loopscope_engine::history::History;
use loopscope_engine::sim::{Millis, Random, Time};
use loopscope_engine::world::{Command, Instant, Latency, Scenario, Simulation, Standing};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const HOUR: u64 = 3_600_000;
/// At the end of each hour all is mended, and so long nothing is done.
const REST: u64 = 1_500_000;
/// A branch that nobody needs is thrown away, beyond so many.
const MOST_BRANCHES: usize = 4;

const AUTOSCALED: &str = "\
apiVersion: v1
kind: Service
metadata: {name: shop}
spec: {selector: {app: shop}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - {name: app, image: 'shop:v1', readinessProbe: {tcpSocket: {port: 80}}, resources: {requests: {cpu: 100m}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
  minReplicas: 2
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
";

/// What people type besides: faults of the control plane, loads, Git. What is begun may be ended by a later one.
const LINES: &[&str] = &[
    "controller pause kube-controller-manager",
    "controller resume kube-controller-manager",
    "controller watch-stall kube-controller-manager",
    "controller watch-resume kube-controller-manager",
    "controller watch-break kube-scheduler",
    "controller crash kube-controller-manager --after=2",
    "controller expectations-off kube-controller-manager",
    "controller expectations-on kube-controller-manager",
    "controller edge-triggered kube-controller-manager",
    "controller level-triggered kube-controller-manager",
    "server slow --by=400ms",
    "server refuse",
    "server down",
    "server up",
    "node break node-2",
    "node mend node-2",
    "load service/shop --ramp=10..120 --over=60s --cost=3m --capacity=30",
    "load service/shop --steady=20 --cost=3m",
    "load service/shop stop",
    "git revert HEAD",
    "gitops argocd --self-heal=on --prune=on",
    "gitops flux",
    "gitops sync",
    "kubectl rollout restart deployment/shop",
];

/// All of it is mended by these, and by `calm`.
const MENDED: &[&str] = &[
    "server up",
    "controller resume kube-controller-manager",
    "controller watch-resume kube-controller-manager",
    "controller level-triggered kube-controller-manager",
    "controller expectations-on kube-controller-manager",
    "controller crash kube-controller-manager --after=never",
    "node mend node-2",
];

struct Soak {
    history: History,
    random: Random,
    deeds: TestRunner,
    version: u64,
    n_done: u64,
    pushes: u64,
}

/// What is kept of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    rss_kb: u64,
    trace: usize,
    events: usize,
    checkpoints: usize,
    objects: usize,
    journal: usize,
}

impl Soak {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut history = History::new(scenario(seed));
        for text in [manifest(0), manifest(1), AUTOSCALED.to_string()] {
            history.dispatch(Command::Apply { manifest: text });
        }
        let deeds = TestRunner::new_with_rng(Config::default(), rng);
        Self { history, random: Random::new(seed), deeds, version: 0, n_done: 0, pushes: 0 }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below("soak", bound)
    }

    fn simulation(&self) -> &Simulation {
        self.history.simulation()
    }

    fn run_for(&mut self, ms: u64) {
        let until = self.simulation().now() + Millis(ms);
        let mut chunks = 0;
        while !self.history.run_until(until, 500) {
            self.look();
            chunks += 1;
            assert!(chunks < 20_000, "events without end at {}", self.simulation().now().0);
        }
        self.look();
    }

    /// What must hold whatever is broken.
    fn look(&mut self) {
        let simulation = self.history.simulation();
        let (newest, objects) = (simulation.api().version(), simulation.api().objects());
        for version in self.version.max(newest.saturating_sub(2_000)) + 1..=newest {
            let Some(change) = simulation.api().change(version) else { continue };
            if let Err(error) = check_owners(objects, change) {
                panic!("{error} at {}", simulation.now().0);
            }
        }
        self.version = newest;
        assert!(objects.n_pods() < 400, "{} pods at {}", objects.n_pods(), simulation.now().0);
    }

    fn type_line(&mut self, line: &str) {
        match line.parse::<Command>() {
            Ok(command) => drop(self.history.dispatch(command)),
            Err(error) => panic!("`{line}` cannot be read: {error:?}"),
        }
    }

    fn push(&mut self) {
        self.pushes += 1;
        let replicas = self.below(5);
        let text = manifest(0)
            .replace("app-0", "pushed")
            .replace("a0", "pushed")
            .replace("replicas: 3", &format!("replicas: {replicas}"));
        self.type_line(&format!("git commit -m 'push {}' --file='pushed.yaml={text}'", self.pushes));
    }

    fn operate(&mut self) {
        self.n_done += 1;
        match self.below(20) {
            0..=12 => {
                let deed = deed().new_tree(&mut self.deeds).expect("a deed").current();
                if let Some(command) = command(self.simulation(), &deed) {
                    self.history.dispatch(command);
                }
            }
            13..=16 => {
                let line = LINES[self.below(LINES.len() as u64) as usize];
                self.type_line(line);
            }
            17 => self.push(),
            18 => self.travel(),
            _ => drop(self.history.undo()),
        }
    }

    /// Back by up to ten minutes, and either on from there in another branch, or to the newest instant again. More would
    /// take away as much time as passes.
    fn travel(&mut self) {
        let (now, back) = (self.simulation().now(), self.below(HOUR / 6));
        let end = self.history.end();
        self.history.seek(Instant::end_of(Time(now.0.saturating_sub(back))));
        if self.below(4) == 0 {
            self.history.fork();
            self.history.dispatch(Command::Apply { manifest: manifest(0) });
        } else {
            self.history.seek(end);
        }
        self.version = 0;
        while self.history.branches().len() > MOST_BRANCHES {
            let current = self.history.current();
            let Some(old) = self.history.branches().iter().map(|it| it.id).find(|id| *id != current) else { break };
            assert!(self.history.delete(old));
        }
    }

    /// An hour: operations 20 s from each other on average, then all is mended and comes to rest.
    fn hour(&mut self) {
        let end = self.simulation().now().0 + HOUR - REST;
        while self.simulation().now().0 < end {
            self.operate();
            let pause = self.below(40_000);
            self.run_for(pause);
        }
        MENDED.iter().for_each(|line| self.type_line(line));
        for command in calm_commands(self.history.simulation()) {
            self.history.dispatch(command);
        }
        self.run_for(1_000);
        for command in uncordon_commands() {
            self.history.dispatch(command);
        }
        self.run_for(REST);
        self.check_rest();
    }

    /// With all mended, what nobody fights over is as it is wanted.
    fn check_rest(&self) {
        let simulation = self.simulation();
        for it in simulation.api().objects().of_kind(Kind::Deployment).filter_map(Object::as_deployment) {
            if it.metadata.name.starts_with("app-") && !it.spec.paused {
                let (want, got) = (it.spec.wanted(), (it.status.replicas, it.status.available_replicas));
                assert_eq!(got, (want, want), "{} at {}: {:?}", it.metadata.name, simulation.now().0, it.status);
            }
        }
        assert!(!matches!(simulation.one_controller(), Standing::Broken(_)), "{:?}", simulation.one_controller());
    }

    fn kept(&self) -> Kept {
        let simulation = self.simulation();
        Kept {
            rss_kb: rss_kb(),
            trace: simulation.trace().all_events().count(),
            events: simulation.api().events.iter().count(),
            checkpoints: self.history.n_checkpoints(),
            objects: simulation.api().objects().len(),
            journal: simulation.journal().len(),
        }
    }
}

/// What the process holds in memory, where the system tells.
fn rss_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|it| it.split_whitespace().next()).and_then(|it| it.parse().ok()).unwrap_or(0)
}

fn check_limits(kept: &Kept) {
    assert!(kept.trace <= 22_000 && kept.events <= 5_000 && kept.checkpoints <= 96 * MOST_BRANCHES, "{kept:?}");
}

#[test]
fn every_line_can_be_read() {
    for line in LINES.iter().chain(MENDED) {
        assert!(line.parse::<Command>().is_ok(), "{line}");
    }
}

#[test]
fn half_an_hour_of_anything_ends_at_rest() {
    for seed in [1, 2] {
        let mut soak = Soak::new(seed);
        soak.hour();
        check_limits(&soak.kept());
    }
}

const SET: &str = "\
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: 'app:v1'}]}
";

/// Without expectations, and with a cache that is 2 s behind, each look before the cache has heard makes what is missing once
/// more, and each pod too many brings more looks. That is real, and what expectations are there for; how far it goes is
/// bounded, and with expectations it is over.
#[test]
fn what_runs_away_without_expectations_has_a_bound_and_comes_back_with_them() {
    let latency = Latency { watch: 2_000, ..Latency::default() };
    let max_pods = Some(20);
    let mut simulation = Simulation::new(Scenario { latency, max_pods, resync_ms: Some(3_500), ..Scenario::empty(1) });
    let say = |simulation: &mut Simulation, line: &str| simulation.dispatch(line.parse().expect("a command"));
    let run = |simulation: &mut Simulation, ms| {
        let (until, mut most) = (simulation.now() + Millis(ms), 0);
        while !simulation.run_until(until, 10) {
            most = most.max(simulation.api().objects().n_pods());
        }
        most
    };
    say(&mut simulation, "controller expectations-off kube-controller-manager");
    simulation.dispatch(Command::Apply { manifest: SET.into() });
    assert_eq!(run(&mut simulation, 120_000), 40);
    say(&mut simulation, "controller expectations-on kube-controller-manager");
    run(&mut simulation, 120_000);
    assert_eq!(simulation.api().objects().n_pods(), 3);
}

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// What `cargo xtask soak` runs.
#[test]
#[ignore = "takes minutes: cargo xtask soak"]
fn soak() {
    let hours = asked("SOAK_HOURS").unwrap_or(24);
    let seed = asked("SOAK_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("{hours} virtual hours from seed {seed} (SOAK_SEED={seed} plays the same again)");
    println!("hour, operations, RSS MB, trace, Events, checkpoints, objects, journal, s");
    let start = std::time::Instant::now();
    let mut soak = Soak::new(seed);
    let mut all = Vec::new();
    for hour in 1..=hours {
        soak.hour();
        let kept = soak.kept();
        let Kept { rss_kb, trace, events, checkpoints, objects, journal } = kept;
        println!(
            "{hour}, {}, {}, {trace}, {events}, {checkpoints}, {objects}, {journal}, {:.0}",
            soak.n_done,
            rss_kb / 1024,
            start.elapsed().as_secs_f64()
        );
        check_limits(&kept);
        all.push(rss_kb);
    }
    // Checkpoints fill up in the first hours; from then on nothing grows but the journal.
    let third = all.len() / 3;
    if third > 1 {
        let most = |part: &[u64]| part.iter().copied().max().unwrap_or(0);
        let (early, late) = (most(&all[third..2 * third]), most(&all[2 * third..]));
        println!("the most memory in the second third {} MB, in the last {} MB", early / 1024, late / 1024);
        assert!(late < early + early / 4 + 16_384, "memory grows");
    }
}
