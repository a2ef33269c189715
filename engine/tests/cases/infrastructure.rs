//! Cases of infrastructure as code, by their ids, with the tool's own output as golden texts.

use loopscope_engine::client::What;
use loopscope_engine::sim::Millis;
use loopscope_engine::world::{Scenario, Simulation};

const WEB: &str = "resources:\n  cloud_service.web:\n    desired_count: 3\n    image: app:v1\n";
const IGNORING: &str = "resources:\n  cloud_service.web:\n    desired_count: 20\n    image: app:v1\n    lifecycle:\n      ignore_changes: [desired_count]\n";

struct World(Simulation);

impl World {
    fn new(config: &str) -> Self {
        let mut world = Self(Simulation::new(Scenario::empty(5)));
        world.write(config);
        world
    }

    /// As the last apply left it.
    fn applied(config: &str) -> Self {
        let mut world = Self::new(config);
        world.apply();
        world
    }

    #[track_caller]
    fn tell(&mut self, text: &str) -> String {
        super::command(&mut self.0, text).join("\n")
    }

    #[track_caller]
    fn refused(&mut self, text: &str) -> String {
        super::refusal(&mut self.0, text.parse().expect("a command"))
    }

    fn write(&mut self, config: &str) {
        self.tell(&format!("terraform write '{config}'"));
    }

    fn apply(&mut self) {
        self.tell("terraform apply -auto-approve");
        self.run(60);
    }

    fn run(&mut self, seconds: u64) {
        let until = self.0.now() + Millis::from_secs(seconds);
        assert!(self.0.run_until(until, 10_000_000));
    }

    fn count(&self, id: &str) -> i64 {
        self.0.iac().cloud.get(id).expect("the object").attributes["desired_count"].as_i64().expect("a number")
    }

    /// Writes of tool and cloud that are in the trace.
    fn outside(&self) -> Vec<String> {
        let events = self.0.trace().events().filter_map(|it| match &it.what {
            What::Outside { place, note } => Some(format!("{place}: {note}")),
            _ => None,
        });
        events.collect()
    }
}

/// The autoscaler takes 3 to 10, nothing happens for hours, and the next apply plans 10 → 3.
#[test]
fn t1_nothing_happens_until_somebody_runs_it() {
    let mut world = World::applied(WEB);
    world.tell("cloud autoscale svc-1 --min=2 --max=10 --want=12");
    world.run(60);
    assert_eq!(world.count("svc-1"), 10);
    let quiet = world.outside().len();
    world.run(2 * 3_600);
    assert_eq!((world.count("svc-1"), world.outside().len()), (10, quiet), "no loop");
    let plan = world.tell("terraform plan");
    assert!(plan.contains("      ~ desired_count = 10 -> 3\n"), "{plan}");
    assert!(plan.ends_with("Plan: 0 to add, 1 to change, 0 to destroy."), "{plan}");
    world.tell("terraform apply -auto-approve");
    world.run(2);
    assert_eq!(world.count("svc-1"), 3, "seven are gone");
    world.run(60);
    assert_eq!(world.count("svc-1"), 10, "the fight goes on");
    let told = world.outside();
    assert!(told.contains(&"cloud: the autoscaler set **desired_count 10** of svc-1, from 3".to_string()), "{told:?}");
}

/// `ignore_changes` ends it, and its price is that the configuration never sets the field again.
#[test]
fn t1_ignored_changes_are_never_set_again() {
    let mut world = World::applied(WEB);
    world.tell("cloud set svc-1 desired_count=10");
    world.write(IGNORING);
    let plan = world.tell("terraform plan");
    assert_eq!(
        plan,
        "cloud_service.web: Refreshing state... [id=svc-1]\n\n\
         No changes. Your infrastructure matches the configuration.\n\n\
         Terraform has compared your real infrastructure against your configuration and\n\
         found no differences, so no changes are needed."
    );
    world.apply();
    assert_eq!(world.count("svc-1"), 10, "20 is in the configuration");
}

#[test]
fn t2_drift_is_reported_and_may_be_accepted() {
    let mut world = World::applied(WEB);
    world.tell("cloud set svc-1 desired_count=10");
    let changed = "  # cloud_service.web has changed\n  ~ resource \"cloud_service\" \"web\" {\n      \
        ~ desired_count = 3 -> 10\n        id            = \"svc-1\"\n        # (1 unchanged attribute hidden)\n    }\n\n\n";
    let noted = format!(
        "cloud_service.web: Refreshing state... [id=svc-1]\n\n\
         Note: Objects have changed outside of Terraform\n\n\
         Terraform detected the following changes made outside of Terraform since the\n\
         last \"terraform apply\" which may have affected this plan:\n\n{changed}"
    );
    let only = format!(
        "{noted}This is a refresh-only plan, so Terraform will not take any actions to undo\n\
         these. If you were expecting these changes then you can apply this plan to\n\
         record the updated values in the Terraform state without changing any remote\n\
         objects."
    );
    assert_eq!(world.tell("terraform plan -refresh-only"), only);
    let plan = world.tell("terraform plan");
    let wanted = format!(
        "{noted}Unless you have made equivalent changes to your configuration, or ignored the\n\
         relevant attributes using ignore_changes, the following plan may include\n\
         actions to undo or respond to these changes.\n{}\n\n\
         Terraform used the selected providers to generate the following execution\n\
         plan. Resource actions are indicated with the following symbols:\n  ~ update in-place\n\n\
         Terraform will perform the following actions:\n\n  \
         # cloud_service.web will be updated in-place\n  ~ resource \"cloud_service\" \"web\" {{\n      \
         ~ desired_count = 10 -> 3\n        id            = \"svc-1\"\n        # (1 unchanged attribute hidden)\n    }}\n\n\
         Plan: 0 to add, 1 to change, 0 to destroy.",
        "─".repeat(78)
    );
    assert_eq!(plan, wanted);
    let ask = world.tell("terraform apply -refresh-only");
    assert!(ask.ends_with("\n  There is no undo. Only 'yes' will be accepted to confirm."), "{ask}");
    let before = world.0.iac().cloud.objects().to_vec();
    let end = world.tell("terraform answer yes");
    assert_eq!(end, "\nApply complete! Resources: 0 added, 0 changed, 0 destroyed.");
    assert_eq!(world.0.iac().cloud.objects(), before, "the cloud is not touched");
    assert_eq!(world.0.iac().state.resources[0].attributes["desired_count"], 10);
    let again = world.tell("terraform plan -refresh-only");
    assert!(again.contains("No changes. Your infrastructure still matches the configuration."), "{again}");
    assert!(world.tell("terraform plan").contains("~ desired_count = 10 -> 3"), "still wanted as written");
}

const THREE: &str = "resources:\n  cloud_dns_record.www:\n    name: www.example.com\n    value: 10.0.0.1\n    ttl: 300\n  cloud_instance_group.workers:\n    machine_type: large\n    size: 2\n  cloud_service.web:\n    desired_count: 2\n    image: app:v2\n";

#[test]
fn a_plan_adds_changes_destroys_and_replaces() {
    let mut world = World::applied(
        "resources:\n  cloud_service.old: {desired_count: 1, image: app:v1}\n  cloud_service.web: {desired_count: 3, image: app:v1}\n  cloud_instance_group.workers: {machine_type: small, size: 2}\n",
    );
    world.write(THREE);
    let plan = world.tell("terraform plan");
    let actions = plan.split("Terraform will perform the following actions:\n\n").nth(1).expect("actions");
    assert_eq!(
        actions,
        r#"  # cloud_dns_record.www will be created
  + resource "cloud_dns_record" "www" {
      + id    = (known after apply)
      + name  = "www.example.com"
      + ttl   = 300
      + value = "10.0.0.1"
    }

  # cloud_instance_group.workers must be replaced
-/+ resource "cloud_instance_group" "workers" {
      ~ id           = "grp-1" -> (known after apply)
      ~ machine_type = "small" -> "large" # forces replacement
        # (1 unchanged attribute hidden)
    }

  # cloud_service.old will be destroyed
  # (because cloud_service.old is not in configuration)
  - resource "cloud_service" "old" {
      - desired_count = 1 -> null
      - id            = "svc-2" -> null
      - image         = "app:v1" -> null
    }

  # cloud_service.web will be updated in-place
  ~ resource "cloud_service" "web" {
      ~ desired_count = 3 -> 2
        id            = "svc-3"
      ~ image         = "app:v1" -> "app:v2"
    }

Plan: 2 to add, 1 to change, 2 to destroy."#
    );
    let legend = "  + create\n  ~ update in-place\n  - destroy\n-/+ destroy and then create replacement\n";
    assert!(plan.contains(legend), "{plan}");
    let printed = world.0.iac().output.len();
    world.tell("terraform apply -auto-approve");
    world.run(20);
    let output = world.0.iac().output[printed..].join("\n");
    let end = "cloud_dns_record.www: Creating...\n\
        cloud_dns_record.www: Creation complete after 2s [id=dns-4]\n\
        cloud_instance_group.workers: Destroying... [id=grp-1]\n\
        cloud_instance_group.workers: Creation complete after 2s [id=grp-5]\n\
        cloud_service.old: Destroying... [id=svc-2]\n\
        cloud_service.old: Destruction complete after 2s\n\
        cloud_service.web: Modifying... [id=svc-3]\n\
        cloud_service.web: Modifications complete after 2s [id=svc-3]\n\n\
        Apply complete! Resources: 2 added, 1 changed, 2 destroyed.";
    assert!(output.ends_with(end), "{output}");
}

/// What succeeded stays in the state; the next plan has only the rest.
#[test]
fn an_apply_that_fails_half_way_keeps_what_it_did() {
    let mut world = World::new(THREE);
    world.tell("cloud quota cloud_instance_group --most=0");
    world.apply();
    let output = world.0.iac().output.join("\n");
    assert!(
        output.contains(
            "Error: creating cloud_instance_group.workers: LimitExceeded: the quota of cloud_instance_group is 0"
        ),
        "{output}"
    );
    assert!(!output.contains("Apply complete!"), "{output}");
    let known: Vec<String> = world.0.iac().state.resources.iter().map(|it| it.address.to_string()).collect();
    assert_eq!(known, ["cloud_dns_record.www", "cloud_service.web"]);
    assert!(world.tell("terraform plan").ends_with("Plan: 1 to add, 0 to change, 0 to destroy."));
}

#[test]
fn a_second_apply_is_refused_while_the_first_holds_the_state() {
    let mut world = World::new(WEB);
    let ask = world.tell("terraform apply --who=ada");
    assert!(ask.ends_with("  Only 'yes' will be accepted to approve."), "{ask}");
    assert!(world.0.iac().cloud.objects().is_empty(), "nobody has said yes");
    let why = world.refused("terraform apply --who=ben");
    assert!(why.starts_with("Error: Error acquiring the state lock\n"), "{why}");
    assert!(why.contains("  Who:       ada\n") && why.contains("  ID:        lock-1\n"), "{why}");
    assert_eq!(world.tell("terraform answer no"), "\nApply cancelled.");
    world.tell("terraform apply --who=ben");
    world.tell("terraform answer yes");
    assert!(world.refused("terraform plan").contains("Who:       ben"), "it is under way");
    world.run(3);
    assert!(world.tell("terraform plan").contains("No changes."));
    world.tell("cloud set svc-1 desired_count=4");
    world.tell("terraform apply");
    assert_eq!(world.tell("terraform force-unlock lock-3"), "Terraform state has been successfully unlocked!");
    assert_eq!(world.refused("terraform answer yes"), "nothing waits for an answer");
}

#[test]
fn what_was_made_by_hand_can_be_imported_and_what_was_deleted_comes_back() {
    let mut world = World::new(WEB);
    assert_eq!(world.tell("cloud create cloud_service desired_count=5 image=app:v1"), "svc-1 created");
    let said = world.tell("terraform import cloud_service.web svc-1");
    assert!(said.ends_with("Import successful!"), "{said}");
    assert!(
        world.refused("terraform import cloud_service.web svc-1").contains("Resource already managed by Terraform")
    );
    assert!(world.refused("terraform import cloud_service.api svc-1").contains("does not exist in the configuration"));
    assert!(world.tell("terraform plan").ends_with("Plan: 0 to add, 1 to change, 0 to destroy."));
    world.tell("cloud delete svc-1");
    let plan = world.tell("terraform plan");
    assert!(plan.contains("  # cloud_service.web has been deleted\n"), "{plan}");
    assert!(plan.ends_with("Plan: 1 to add, 0 to change, 0 to destroy."), "{plan}");
}

#[test]
fn a_configuration_with_mistakes_is_refused_in_the_tools_words() {
    let mut world = World::new(WEB);
    for (text, why) in [
        ("resources:\n  a: [", "Error: Invalid configuration\n\n  on main.yaml line 2"),
        ("resources: {cloud_car.a: {}}", "The provider does not support resource type \"cloud_car\"."),
        ("resources: {cloud_service.a: {image: x}}", "The argument \"desired_count\" is required"),
        ("resources: {cloud_service.a: {color: red}}", "An argument named \"color\" is not expected here."),
        ("resources: {cloud_service.a: {desired_count: many}}", "Inappropriate value for attribute \"desired_count\""),
    ] {
        let refused = world.refused(&format!("terraform write '{text}'"));
        assert!(refused.contains(why), "{refused}");
    }
    assert!(world.tell("terraform plan").ends_with("Plan: 1 to add, 0 to change, 0 to destroy."), "as it was");
}

/// What would make a loop of it: a clock. Its turns are in the trace like those of any other loop, and drift is undone
/// at its next run; a state that is locked is left alone.
#[test]
fn t1_a_scheduled_run_is_a_loop() {
    let mut world = World::applied(WEB);
    assert!(world.refused("terraform schedule --every=1s").contains("at least 10 s"));
    world.tell("terraform schedule --every=10m --apply");
    world.run(30);
    world.tell("cloud set svc-1 desired_count=7");
    world.run(540);
    assert_eq!(world.count("svc-1"), 7, "not before its time");
    world.run(60);
    assert_eq!(world.count("svc-1"), 3);
    let at = world.0.scheduled_run().expect("a loop");
    let phases: Vec<String> = world
        .0
        .trace()
        .events()
        .filter_map(|it| match &it.what {
            What::Reached { by, facts, .. } if *by == at => Some(facts.text.to_string()),
            _ => None,
        })
        .collect();
    let last: Vec<&str> = phases.iter().rev().take(3).rev().map(String::as_str).collect();
    assert_eq!(
        last,
        [
            "read **1** objects in the cloud",
            "plan: **0 to add, 1 to change, 0 to destroy**",
            "**terraform apply** -auto-approve"
        ]
    );
    let row = loopscope_engine::view::loop_rows(&world.0).into_iter().find(|it| it.name == "Scheduled run");
    assert!(row.is_some(), "it has a row");
    let is_done = |it: &loopscope_engine::sim::TraceEvent<What>| matches!(it.what, What::Outside { .. });
    let done = world.0.trace().events().rfind(is_done).expect("a change");
    let why = loopscope_engine::view::why(&world.0, done.seq.0);
    assert!(why.len() >= 4, "{why:?}");
    world.tell("cloud set svc-1 desired_count=7");
    world.tell("terraform apply");
    world.run(600);
    assert_eq!(world.count("svc-1"), 7, "the state is locked");
    world.tell("terraform answer no");
    world.tell("terraform unschedule");
    world.run(3_600);
    assert_eq!((world.count("svc-1"), world.0.scheduled_run()), (7, None));
    world.tell("terraform schedule --every=1m");
    world.run(90);
    assert_eq!(world.count("svc-1"), 7, "a plan changes nothing");
    assert!(world.0.iac().output.iter().any(|it| it == "$ terraform plan"));
    world.tell("terraform schedule --every=1m --apply");
    world.run(90);
    assert_eq!(world.count("svc-1"), 3);
}
