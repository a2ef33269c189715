//! Cases of Git as the source of truth, by their ids.

use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::client::{Author, What};
use loopscope_engine::gitops::{Health, SyncState};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Scenario, Simulation};

const HPA: &str = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec:\n  \
    scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  minReplicas: 2\n  maxReplicas: 5\n  \
    metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]\n";
const SERVICE: &str =
    "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n";

fn web(image: &str, replicas: Option<i32>) -> String {
    let replicas = replicas.map(|it| format!("  replicas: {it}\n")).unwrap_or_default();
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n{replicas}  \
         selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    \
         spec: {{containers: [{{name: app, image: \"{image}\", resources: {{requests: {{cpu: 100m}}}}}}]}}\n"
    )
}

struct World(Simulation);

impl World {
    fn new() -> Self {
        Self(Simulation::new(Scenario::empty(5)))
    }

    #[track_caller]
    fn tell(&mut self, text: &str) -> String {
        super::command(&mut self.0, text).join("\n")
    }

    #[track_caller]
    fn refused(&mut self, text: &str) -> String {
        super::refusal(&mut self.0, text.parse().expect("a command"))
    }

    #[track_caller]
    fn commit(&mut self, message: &str, files: &[(&str, &str)]) {
        let files: String = files.iter().map(|(path, text)| format!(" --file='{path}={text}'")).collect();
        self.tell(&format!("git commit -m '{message}'{files}"));
    }

    /// A world in which the agent has brought `web` to be.
    fn running(agent: &str, replicas: Option<i32>) -> Self {
        let mut world = Self::new();
        world.commit("add web", &[("web.yaml", &web("app:v1", replicas))]);
        world.tell(agent);
        world.run(30);
        world
    }

    fn run(&mut self, seconds: u64) {
        let until = self.0.now() + Millis::from_secs(seconds);
        assert!(self.0.run_until(until, 10_000_000));
    }

    fn has(&self, kind: Kind, name: &str) -> bool {
        self.0.api().objects().get(&ObjectKey::new(kind, "default", name)).is_some()
    }

    fn size(&self) -> i32 {
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        self.0.api().objects().get(&key).and_then(Object::as_deployment).expect("web").spec.wanted()
    }

    fn image(&self) -> String {
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        let it = self.0.api().objects().get(&key).and_then(Object::as_deployment).expect("web");
        it.spec.template.spec.containers[0].image.to_string()
    }

    fn states(&self) -> (SyncState, Health) {
        let status = &self.0.gitops().status;
        (status.sync, status.health)
    }

    fn condition(&self) -> String {
        let found = self.0.gitops().status.condition.as_ref();
        found.map(|(reason, why)| format!("{reason}: {why}")).unwrap_or_default()
    }

    /// Runs until something holds, and returns the seconds that took.
    #[track_caller]
    fn until(&mut self, most: u64, holds: impl Fn(&Self) -> bool) -> u64 {
        let began = self.0.now();
        while !holds(self) {
            let at = self.0.next_at().expect("more to happen");
            assert!(at.since(began).0 <= most * 1_000, "not within {most} s: {}", self.condition());
            self.0.run_until(at, 1_000_000);
        }
        self.0.now().since(began).0 / 1_000
    }

    /// When a writer has changed the Deployment, in ms.
    fn writes(&self, by: &str) -> Vec<u64> {
        let is_by = |author: &Author| match author {
            Author::Loop(at) => &*self.0.loops()[at.0 as usize].name == by,
            Author::You => false,
        };
        let events = self.0.trace().events().filter(|it| match &it.what {
            What::Wrote { author, key, changed, .. } => {
                is_by(author) && key.kind == Kind::Deployment && !changed.is_empty()
            }
            _ => false,
        });
        events.map(|it| it.at.0).collect()
    }
}

/// The HPA lifts to its minimum without metrics, Argo CD resets at once, and the attempts at that are put off more and
/// more. A pod is created and killed each time. Without `replicas` in Git it is over.
#[test]
fn g1_the_autoscaler_and_git_take_turns() {
    let mut world = World::running("gitops argocd --self-heal=on", Some(1));
    assert_eq!(world.states(), (SyncState::Synced, Health::Healthy));
    world.tell(&format!("kubectl apply -f - <<'EOF'\n{HPA}EOF"));
    assert!(world.until(16, |it| it.size() == 2) <= 15, "below Spec.MinReplicas");
    let lifted = world.0.now();
    world.until(1, |it| it.size() == 1);
    assert!(world.0.now().since(lifted).0 < 1_000, "the first attempt waits for nothing");
    world.run(120);
    let fights = loopscope_engine::view::fights(&world.0);
    let fight = fights.iter().find(|it| it.path == ".spec.replicas").expect("a fight");
    let writers: Vec<&str> = fight.writers.iter().map(|it| it.manager.as_str()).collect();
    assert!(writers.iter().any(|it| it.contains("argocd-controller")), "{writers:?}");
    assert!(fight.pods_created >= 3 && fight.pods_killed >= 3, "{fight:?}");
    world.run(1_380);
    let heals: Vec<u64> = world.writes("GitOps agent");
    let between: Vec<u64> = heals.windows(2).map(|it| (it[1] - it[0]) / 1_000).collect();
    for (gap, least) in between.iter().zip([2, 6, 18, 54, 162, 300, 300]) {
        // The autoscaler's own clock comes round every 15 s.
        assert!((least..=least + 16).contains(gap), "{between:?}");
    }
    assert!(between.len() >= 6, "{between:?}");
    let pods = world.0.api().objects().of_kind(Kind::Pod).count();
    assert!(pods <= 3);
    world.commit("drop replicas", &[("web.yaml", &web("app:v1", None))]);
    world.run(220);
    let settled = world.writes("GitOps agent").len();
    world.run(900);
    assert_eq!((world.writes("GitOps agent").len(), world.size()), (settled, 2), "flat");
    assert_eq!(world.states().0, SyncState::Synced);
}

/// Somebody who undoes each healing at once meets the delays themselves.
#[test]
fn g1_attempts_wait_0_2_6_18_54_162_300_seconds() {
    let mut world = World::running("gitops argocd --self-heal=on", Some(1));
    let mut waits = Vec::new();
    for _ in 0..8 {
        let healed = world.0.gitops().status.operation.as_ref().expect("a sync").finished;
        world.tell("kubectl scale deployment/web --replicas=2");
        world.until(400, |it| it.size() == 1);
        waits.push(world.0.now().since(healed).0 / 1_000);
        world.until(1, |it| it.0.gitops().status.operation.as_ref().is_some_and(|it| it.finished > healed));
    }
    // The first one was long after the sync.
    assert_eq!(waits[1..], [2, 6, 18, 54, 162, 300, 300]);
}

/// The other cure: a difference that is ignored, also where a commit is synced.
#[test]
fn g1_ignored_differences_end_it_too() {
    let ignore = "gitops argocd --self-heal=on --ignore=Deployment:/spec/replicas";
    let mut world = World::running(ignore, Some(1));
    world.tell("kubectl scale deployment/web --replicas=4");
    world.run(600);
    assert_eq!((world.size(), world.states().0), (4, SyncState::Synced));
    world.commit("new image", &[("web.yaml", &web("app:v2", Some(1)))]);
    world.until(181, |it| it.image() == "app:v2");
    assert_eq!(world.size(), 1, "a sync writes all of Git");
    world.tell(&format!("{ignore} --respect-ignored=on"));
    world.tell("kubectl scale deployment/web --replicas=4");
    world.commit("third image", &[("web.yaml", &web("app:v3", Some(1)))]);
    world.until(181, |it| it.image() == "app:v3");
    assert_eq!(world.size(), 4, "RespectIgnoreDifferences");
}

/// Flux resets every interval, and the autoscaler repairs that within 15 s.
#[test]
fn g2_flux_resets_every_interval() {
    let mut world = World::running("gitops flux", Some(1));
    world.tell(&format!("kubectl apply -f - <<'EOF'\n{HPA}EOF"));
    world.until(16, |it| it.size() == 2);
    for _ in 0..2 {
        let rest = world.until(600, |it| it.size() == 1);
        assert!(rest >= 500, "it is left alone until the interval is over: {rest} s");
        assert!(world.until(16, |it| it.size() == 2) <= 15);
    }
    let writes = world.writes("GitOps agent");
    let gaps: Vec<u64> = writes.windows(2).map(|it| (it[1] - it[0]) / 1_000).collect();
    assert_eq!(gaps, [600]);
}

/// A field that is no longer in the manifest is removed and defaulted: one replica until the autoscaler comes.
#[test]
fn g4_without_replicas_in_git_there_is_one_until_the_autoscaler_comes() {
    let mut world = World::running("gitops argocd --webhook=on", Some(4));
    world.tell(&format!("kubectl apply -f - <<'EOF'\n{HPA}EOF"));
    world.run(60);
    assert_eq!(world.size(), 4);
    world.commit("drop replicas", &[("web.yaml", &web("app:v1", None))]);
    world.until(3, |it| it.size() == 1);
    assert!(world.until(16, |it| it.size() == 2) <= 15);
    world.run(600);
    assert_eq!(world.size(), 2);
}

/// Who applies by the server without force is refused instead of fighting.
#[test]
fn g5_a_conflict_instead_of_a_fight() {
    let mut world = World::running("gitops argocd", None);
    world.tell(&format!("kubectl apply -f - <<'EOF'\n{HPA}EOF"));
    world.until(16, |it| it.size() == 2);
    let object = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1}}"#;
    let apply = |force| {
        format!(
            r#"request helm '{{"verb":"serverSideApply","namespace":"default","object":{object},"force":{force}}}'"#
        )
    };
    let why = world.refused(&apply(false));
    assert!(
        why.starts_with(
            "Apply failed with 1 conflict: conflict with \"kube-controller-manager\" with subresource \"scale\""
        ),
        "{why}"
    );
    assert!(why.contains(".spec.replicas"), "{why}");
    world.tell(&apply(true));
    assert_eq!(world.size(), 1);
    assert!(world.until(16, |it| it.size() == 2) <= 15, "forced, it is a fight again");
}

/// A fix made by hand: undone within seconds, at the next interval, or by the next commit.
#[test]
fn g6_a_manual_fix_is_undone() {
    let fix = "kubectl set image deployment/web app=fix:v1";
    let mut world = World::running("gitops argocd --self-heal=on", Some(1));
    world.tell(fix);
    assert!(world.until(5, |it| it.image() == "app:v1") <= 2);

    let mut world = World::running("gitops flux", Some(1));
    world.tell(fix);
    let after = world.until(601, |it| it.image() == "app:v1");
    assert!((560..=600).contains(&after), "{after} s");

    let mut world = World::running("gitops argocd", Some(1));
    world.tell(fix);
    world.run(3_600);
    assert_eq!((world.image().as_str(), world.states().0), ("fix:v1", SyncState::OutOfSync));
    let app = loopscope_engine::view::app(&world.0).expect("an agent");
    assert_eq!(app.last_sync.expect("a sync").message, "successfully synced (all tasks run)");
    let field = &app.objects[0].differences[0];
    assert_eq!(
        (field.path.as_str(), field.git.as_str(), field.live.as_str()),
        ("spec.template.spec.containers[name=\"app\"].image", "app:v1", "fix:v1")
    );
    world.commit("three replicas", &[("web.yaml", &web("app:v1", Some(3)))]);
    world.until(181, |it| it.size() == 3);
    assert_eq!(world.image(), "app:v1", "overwritten without a word");
}

/// `kubectl rollout restart` writes an annotation that is not in Git: Flux takes it away, which is a second rollout.
#[test]
fn g7_a_restart_under_flux_is_two_rollouts() {
    let mut world = World::running("gitops flux", Some(1));
    let replica_sets = |it: &World| it.0.api().objects().of_kind(Kind::ReplicaSet).count();
    assert_eq!(replica_sets(&world), 1);
    world.tell("kubectl rollout restart deployment/web");
    let restarted = |it: &World| {
        let key = ObjectKey::new(Kind::Deployment, "default", "web");
        let it = it.0.api().objects().get(&key).and_then(Object::as_deployment).expect("web").clone();
        it.spec.template.metadata.annotations.get("kubectl.kubernetes.io/restartedAt").is_some()
    };
    assert!(restarted(&world));
    world.run(60);
    let began = super::uids(&world.0);
    assert_eq!(replica_sets(&world), 2);
    world.until(600, |it| !restarted(it));
    world.run(60);
    assert_ne!(super::uids(&world.0), began, "a second rollout");
    assert_eq!(replica_sets(&world), 2, "back to the first template");
}

/// A rollback is refused while syncs are automated; `git revert` is seen at the next poll, or at once with a webhook.
#[test]
fn g9_rolling_back_is_a_commit() {
    let mut world = World::running("gitops argocd --self-heal=on", Some(1));
    world.commit("break it", &[("web.yaml", &web("broken:v2", Some(1)))]);
    world.until(181, |it| it.image() == "broken:v2");
    assert_eq!(world.refused("gitops rollback HEAD~1"), "rollback cannot be initiated when auto-sync is enabled");
    world.run(5);
    world.tell("kubectl rollout undo deployment/web");
    assert!(world.until(5, |it| it.image() == "broken:v2") <= 3, "that is drift itself");
    // Right after a poll, so that the whole interval is to come.
    let poll = world.0.gitops().status.poll_at;
    world.0.run_until(poll + Millis(1_000), 10_000_000);
    let line = world.tell("git revert HEAD");
    assert!(line.ends_with("Revert \"break it\""), "{line}");
    let commits = loopscope_engine::view::commits(&world.0);
    let titles: Vec<_> = commits.iter().map(|it| (it.title.as_str(), it.is_seen)).collect();
    assert_eq!(titles, [("Revert \"break it\"", false), ("break it", true), ("add web", false)]);
    let after = world.until(181, |it| it.image() == "app:v1");
    assert!((118..=180).contains(&after), "{after} s");
    world.tell("gitops argocd --self-heal=on --webhook=on");
    world.tell("git revert HEAD");
    assert!(world.until(5, |it| it.image() == "broken:v2") <= 2);
    world.tell("gitops argocd --auto-sync=off");
    world.tell("gitops rollback HEAD~1");
    world.until(2, |it| it.image() == "app:v1");
    world.run(300);
    assert_eq!((world.image().as_str(), world.states().0), ("app:v1", SyncState::OutOfSync));
}

/// What leaves Git stays in the cluster without prune; an empty repository deletes nothing.
#[test]
fn g10_without_prune_nothing_goes() {
    let mut world = World::new();
    world.commit("all", &[("web.yaml", &web("app:v1", Some(1))), ("service.yaml", SERVICE)]);
    world.tell("gitops argocd --webhook=on");
    world.run(30);
    assert!(world.has(Kind::Service, "web"));
    world.tell("git commit -m 'no service' --remove=service.yaml");
    world.run(600);
    assert!(world.has(Kind::Service, "web"));
    assert_eq!(world.states().0, SyncState::OutOfSync);
    assert!(world.0.gitops().status.resources.iter().any(|it| it.is_extra));
    world.tell("gitops sync --prune");
    world.run(5);
    assert!(!world.has(Kind::Service, "web"));
    assert_eq!(world.states().0, SyncState::Synced);
    world.tell("gitops argocd --webhook=on --prune=on");
    world.tell("git commit -m 'empty' --remove=web.yaml");
    world.run(600);
    assert!(world.has(Kind::Deployment, "web"));
    assert!(world.condition().contains("auto-sync will wipe out all resources"), "{}", world.condition());
    world.tell("gitops argocd --webhook=on --prune=on --allow-empty=on");
    world.run(10);
    assert!(!world.has(Kind::Deployment, "web"));
}

/// A commit whose sync failed is not tried again; the next commit is.
#[test]
fn g12_a_failed_sync_is_not_tried_again() {
    let mut world = World::running("gitops argocd --self-heal=on --webhook=on", Some(1));
    let wrong = web("app:v1", Some(-1));
    world.commit("negative", &[("web.yaml", &wrong)]);
    world.run(5);
    assert!(world.condition().starts_with("SyncError: Failed last sync attempt to ["), "{}", world.condition());
    assert!(world.condition().contains("spec.replicas"), "{}", world.condition());
    let refused = |it: &World| {
        let is_refusal =
            |what: &What| matches!(what, What::Refused { author: Author::Loop(at), .. } if Some(*at) == it.0.agent());
        it.0.trace().events().filter(|it| is_refusal(&it.what)).count()
    };
    let before = refused(&world);
    assert_eq!(before, 1);
    world.run(3_600);
    assert_eq!((refused(&world), world.size()), (before, 1));
    world.commit("two", &[("web.yaml", &web("app:v1", Some(2)))]);
    world.until(5, |it| it.size() == 2);
    world.run(1);
    assert_eq!((world.condition().as_str(), world.states().0), ("", SyncState::Synced));
}

/// A manifest that cannot be read: the message, and the cluster is left as it is.
#[test]
fn a_manifest_that_does_not_parse_changes_nothing() {
    for agent in ["gitops argocd --webhook=on --prune=on --self-heal=on", "gitops flux --webhook=on"] {
        let mut world = World::running(agent, Some(2));
        world.commit("oops", &[("web.yaml", "kind: Deployment\n  bad: [")]);
        world.run(700);
        assert!(world.condition().contains("web.yaml:"), "{}", world.condition());
        assert_eq!((world.states().0, world.size()), (SyncState::Unknown, 2));
        world.tell("git revert HEAD");
        world.run(5);
        assert_eq!((world.states().0, world.condition()), (SyncState::Synced, String::new()));
    }
}
