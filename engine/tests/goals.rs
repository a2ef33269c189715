//! Goals of lessons: what each predicate and each measure says of a world, both ways.

use loopscope_engine::lesson::{self, Lesson, Memory, Step};
use loopscope_engine::sim::Time;
use loopscope_engine::world::Simulation;

const WEB: &str = "manifest: |
  apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {selector: {app: web}, ports: [{port: 80}]}
  ---
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 3
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec:
        containers:
        - name: app
          image: app:v1
          readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1}
behaviors:
  app:v1: --pull=10ms --start=300ms --ready-after=100ms --stop=1s
  app:crash: --exit=1@1s
show: {at: 20s}
";

fn read(world: &str, goal: &str) -> Lesson {
    let text = format!(
        "# Loopscope scenario 1\ntitle: Test\n{world}lesson:\n  concept: [the-loop]\n  misconception: None.\n  minutes: 2\n  \
         backed-by: []\n  steps:\n    - text: Do it.\n      solution: []\n      goal: {goal}\n"
    );
    lesson::read(&text).unwrap_or_else(|mistakes| panic!("{goal}: {mistakes:#?}"))
}

fn step(goal: &str) -> Step {
    read("", goal).course.steps.remove(0)
}

/// A world, and a step that begins now.
struct World(Simulation, Memory);

impl World {
    fn new(world: &str) -> Self {
        let simulation = lesson::open(&read(world, "{converged: true}")).expect("it opens");
        let memory = Memory::from_now(&simulation);
        Self(simulation, memory)
    }

    fn tell(&mut self, text: &str) {
        let line = lesson::fill(text, &self.0).expect("there is such a pod");
        let outcome = self.0.dispatch(line.parse().expect("a command"));
        assert!(outcome.is_ok(), "{line}: {outcome:?}");
    }

    fn run(&mut self, seconds: u64) {
        let until = Time(self.0.now().0 + seconds * 1_000);
        assert!(self.0.run_until(until, 10_000_000));
    }

    #[track_caller]
    fn is(&self, goal: &str) {
        let is_met = step(goal).goal.expect("a goal").is_met(&self.0, &mut self.1.clone());
        assert!(is_met, "it is not so: {goal}");
        let not = format!("{{not: {goal}}}");
        assert!(!step(&not).goal.expect("a goal").is_met(&self.0, &mut self.1.clone()), "{not}");
    }

    #[track_caller]
    fn is_not(&self, goal: &str) {
        self.is(&format!("{{not: {goal}}}"));
    }
}

#[test]
fn pods_and_objects_are_counted() {
    let mut world = World::new(WEB);
    world.is("{ready: {deployment: web, is: 3}}");
    world.is("{ready: {all: true, least: 3, most: 3}}");
    world.is_not("{ready: {deployment: web, least: 4}}");
    world.is_not("{ready: {deployment: api, least: 1}}");
    world.is("{pods: {selector: app=web, is: 3}}");
    world.is("{pods: {selector: 'app=web,tier=none', is: 0}}");
    world.is("{pods: {image: 'app:v1', state: ready, is: 3}}");
    world.is("{objects: {kind: service, is: 1}}");
    world.is("{objects: {kind: rs, is: 1}}");
    world.is("{exists: {object: svc/web}}");
    world.is_not("{exists: {object: svc/api}}");
    world.is("{converged: true}");
    world.is_not("{converged: false}");
    world.tell("pod {pod app=web} unready");
    world.tell("kubectl scale deployment/web --replicas=4");
    world.run(10);
    world.is("{pods: {selector: app=web, state: not-ready, is: 1}}");
    world.is("{pods: {state: any, is: 4}}");
    world.is("{converged: false}");
    world.tell("kubectl delete pod/{pod app=web}");
    world.is("{pods: {state: terminating, is: 1}}");
    world.is("{pods: {is: 3}}");
    world.run(10);
    world.is("{peak: {name: web-, is: 5}}");
    world.is("{peak: {name: web-, active: true, is: 4}}");
    world.is("{peak: {name: api-, is: 0}}");
    world.is("{lowest-ready: {is: 2}}");
    world.tell("kubectl cordon node-1");
    world.tell("kubectl cordon node-2");
    world.tell("kubectl cordon node-3");
    world.tell("kubectl scale deployment/web --replicas=6");
    world.run(5);
    world.is("{pods: {state: pending, is: 2}}");
}

#[test]
fn objects_are_read_by_their_fields_conditions_and_owners() {
    let mut world = World::new(WEB);
    world.is("{field: {object: deployment/web, path: status.readyReplicas, is: 3}}");
    world.is("{field: {object: deployment/web, path: 'spec.template.spec.containers[0].image', is: 'app:v1'}}");
    world.is("{field: {object: deployment/web, path: spec.paused, is: false}}");
    world.is("{field: {object: deployment/web, path: status.unavailableReplicas, is: 0}}");
    world.is_not("{field: {object: deployment/web, path: spec.replicas, is: '4'}}");
    world.is("{field: {object: deployment/web, path: status.nothing, is: ''}}");
    world.is("{condition: {object: deployment/web, type: Available, status: 'True'}}");
    world.is_not("{condition: {object: deployment/web, type: Available, status: 'True', reason: Other}}");
    world.is_not("{condition: {object: deployment/api, type: Available, status: 'True'}}");
    world.is("{owner: {object: deployment/web, path: spec.replicas, manager: kubectl-client-side-apply}}");
    world.is("{observed: {object: deployment/web}}");
    world.is("{rolled-out: {object: deployment/web}}");
    world.tell("kubectl scale deployment/web --replicas=4");
    world.is("{owner: {object: deployment/web, path: .spec.replicas, manager: kubectl}}");
    world.is_not("{observed: {object: deployment/web}}");
    world.is_not("{rolled-out: {object: deployment/web}}");
    world.run(10);
    world.is("{all: [{observed: {object: deployment/web}}, {rolled-out: {object: deployment/web}}]}");
    world.is("{any: [{ready: {deployment: web, is: 9}}, {ready: {deployment: web, is: 4}}]}");
    world.is_not("{all: [{ready: {deployment: web, is: 9}}, {ready: {deployment: web, is: 4}}]}");
}

#[test]
fn the_trace_is_asked_from_the_beginning_of_the_step_on() {
    let mut world = World::new(WEB);
    world.is("{trace: {kind: create, is: 0}}");
    world.is_not("{event: {reason: Started}}");
    world.tell("kubectl delete pod/{pod app=web}");
    world.run(10);
    world.is("{trace: {kind: create, by: replicaset, object: pod, is: 1}}");
    world.is("{trace: {kind: create, by: Scheduler, is: 0}}");
    world.is("{trace: {kind: command, by: you, is: 1}}");
    world.is("{trace: {kind: diff, by: ReplicaSet, text: '3 − 2 = +1', least: 1}}");
    world.is("{trace: {kind: delete, object: deployment, is: 0}}");
    world.is("{event: {reason: Started}}");
    world.is_not("{event: {reason: SuccessfulCreate, object: rs/api}}");
    world.is_not("{event: {reason: Started, text: something else}}");
    world.is("{between: {from: {kind: command}, to: {kind: create, object: pod}, least: 0.001, most: 1}}");
    world.is("{between: {from: {kind: create, object: pod}, to: {kind: command}, is: 0}}");
    world.is("{elapsed: {is: 10}}");
    // An event is counted once, however often one looks.
    let goal = step("{trace: {kind: create, object: pod, is: 1}}").goal.expect("a goal");
    let mut memory = world.1.clone();
    assert!(goal.is_met(&world.0, &mut memory) && goal.is_met(&world.0, &mut memory));
    world.tell("kubectl delete pod/{pod app=web}");
    world.run(5);
    assert!(!goal.is_met(&world.0, &mut memory), "two now");
    // Or from the newest of other events on.
    world.is("{trace: {kind: create, object: pod, is: 1, since: {kind: command}}}");
    let goal =
        step("{trace: {kind: create, object: pod, is: 0, since: {kind: command, text: deleted}}}").goal.expect("one");
    let mut memory = world.1.clone();
    assert!(!goal.is_met(&world.0, &mut memory));
    world.tell("kubectl delete pod/{pod app=web}");
    assert!(goal.is_met(&world.0, &mut memory), "begun anew");
    world.run(5);
    assert!(!goal.is_met(&world.0, &mut memory));
}

#[test]
fn programs_rooms_git_clouds_and_loads_are_asked_too() {
    let mut world = World::new(WEB);
    world.is("{up: {process: kube-scheduler}}");
    world.is_not("{up: {process: kube-scheduler, is: false}}");
    world.is_not("{any: [{up: {process: nobody}}, {up: {process: nobody, is: false}}]}");
    world.tell("controller stop kube-scheduler");
    world.tell("node stop node-1");
    world.is("{up: {process: kube-scheduler, is: false}}");
    world.is("{up: {process: kubelet/node-1, is: false}}");
    world.is("{room: {of: temperature, is: 0}}");
    world.is("{traffic: {to: svc/web, of: load, is: 0}}");
    world.tell("load service/web --steady=50 --capacity=10");
    world.run(100);
    world.is("{traffic: {to: svc/web, of: load, is: 50}}");
    world.is("{traffic: {to: svc/web, of: sent, least: 4900, most: 5000}}");
    world.is("{traffic: {to: svc/web, of: success, least: 30, most: 60}}");
    world.is("{traffic: {to: svc/web, of: lost-in-all, least: 2000, most: 4000}}");
    world.is("{git: {sync: Unknown}}");
    world.is_not("{git: {sync: Synced}}");
    world.is("{plan: {is: 0}}");
    world.tell("terraform write 'resources: {cloud_service.web: {desired_count: 3, image: a}}'");
    world.is("{plan: {is: 1}}");
    world.tell("terraform apply -auto-approve");
    world.run(10);
    world.is("{all: [{plan: {is: 0}}, {cloud: {id: svc-1, attribute: image, is: a}}, {fights: {is: 0}}]}");
    world.is_not("{cloud: {id: svc-9, attribute: image, is: a}}");
    let room = World::new(
        "nodes: []\nmanifest: \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: room}\\ndata: {desired: '21.0', hysteresis: '0.5', step: '2'}\\n\"\nshow: {at: 2h}\n",
    );
    room.is("{room: {of: desired, is: 21}}");
    room.is("{room: {of: off-by, most: 0.5}}");
    room.is("{room: {of: hysteresis, is: 0.5}}");
    room.is("{room: {of: overshoot, least: 1, most: 3}}");
    room.is("{room: {of: heater, least: 40, most: 60}}");
    room.is("{field: {object: configmap/room, path: data.desired, is: 21}}");
}

#[test]
fn what_stays_has_to_stay() {
    let mut world = World::new(WEB);
    let goal = step("{stays: {for: 10s, that: {ready: {deployment: web, is: 3}}}}").goal.expect("a goal");
    let mut memory = world.1.clone();
    let mut look = |world: &World| goal.is_met(&world.0, &mut memory);
    assert!(!look(&world));
    world.run(9);
    assert!(!look(&world));
    world.tell("kubectl delete pod/{pod app=web}");
    assert!(!look(&world), "it is broken");
    world.run(5);
    assert!(!look(&world), "and begins anew");
    world.run(9);
    assert!(!look(&world));
    world.run(1);
    assert!(look(&world));
}
