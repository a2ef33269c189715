//! What people do with infrastructure as code, and with the cloud behind its back.
//!
//! The tool does nothing until somebody runs it. An apply holds the state from its question to its end.

use serde::{Deserialize, Serialize};

use super::faults::invalid;
use super::iac_schedule::Schedule;
use super::simulation::Happening;
use super::{Command, Outcome, Simulation};
use crate::api::Timestamp;
use crate::client::{Note, What};
use crate::iac::{
    Action, Attributes, Autoscaler, Change, Cloud, Known, Lock, Plan, State, Type, locked, plan, question, read_config,
    render,
};
use crate::note;
use crate::sim::{Millis, Seq};

/// How long the cloud takes for one change.
const CHANGE_TAKES: Millis = Millis(2_000);
/// How often a cloud autoscaler looks (target tracking works on metrics of one minute).
const AUTOSCALER_PERIOD: Millis = Millis(60_000);
/// Lines of output that are kept.
const MOST_LINES: usize = 2_000;

/// A command about infrastructure as code or about the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "iac")]
pub enum IacDeed {
    /// Writes the configuration.
    Write {
        text: String,
    },
    Plan {
        refresh_only: bool,
    },
    /// Plans, and asks; `approved` does not ask.
    Apply {
        refresh_only: bool,
        approved: bool,
        who: String,
    },
    /// The answer to the question.
    Answer {
        yes: bool,
    },
    Import {
        address: String,
        id: String,
    },
    ForceUnlock {
        id: String,
    },
    /// By hand, in the cloud's console.
    CloudCreate {
        kind: String,
        attributes: Vec<(String, String)>,
    },
    CloudSet {
        id: String,
        attributes: Vec<(String, String)>,
    },
    CloudDelete {
        id: String,
    },
    /// Lets the cloud set `desired_count` of a service.
    CloudAutoscale {
        id: String,
        min: i64,
        max: i64,
        want: i64,
    },
    /// No more objects of a type than these.
    CloudQuota {
        kind: String,
        most: u64,
    },
    /// Lets a clock run the tool.
    Schedule {
        every_ms: u64,
        applies: bool,
    },
    Unschedule,
}

/// An apply that waits for its answer, or is under way.
#[derive(Clone)]
struct Run {
    plan: Plan,
    /// It was approved; the change that is under way.
    next: Option<usize>,
    done: [usize; 3],
    errors: Vec<String>,
    cause: Seq,
}

/// Configuration, state, cloud, and what was printed.
#[derive(Clone, Default)]
pub struct Iac {
    pub config: String,
    pub state: State,
    pub cloud: Cloud,
    pub lock: Option<Lock>,
    /// What the tool has printed, the newest lines.
    pub output: Vec<String>,
    pub schedule: Option<Schedule>,
    /// The process of scheduled runs, once there was one.
    pub(super) runner: Option<usize>,
    run: Option<Run>,
    n_locks: u64,
    is_clock_on: bool,
}

impl Iac {
    /// Whether an apply waits for somebody to say yes.
    pub fn asks(&self) -> bool {
        self.run.as_ref().is_some_and(|it| it.next.is_none())
    }

    /// Whether an apply changes the cloud.
    pub fn is_applying(&self) -> bool {
        self.run.as_ref().is_some_and(|it| it.next.is_some())
    }

    /// A command as it was typed, with what it answered.
    fn show(&mut self, typed: String, outcome: &Outcome) {
        let why = outcome.refusal().map(|why| ["\n", why].concat());
        let refused: Vec<String> = why.iter().flat_map(|why| why.split('\n')).map(str::to_owned).collect();
        self.print(&[typed]);
        self.print(&outcome.lines);
        self.print(&refused);
    }

    pub(super) fn planned(&self, refresh_only: bool) -> Result<Plan, String> {
        if let Some(lock) = &self.lock {
            return Err(locked(lock));
        }
        Ok(plan(&read_config(&self.config)?, &self.state, &self.cloud, refresh_only))
    }

    fn print(&mut self, lines: &[String]) {
        self.output.extend(lines.iter().cloned());
        let surplus = self.output.len().saturating_sub(MOST_LINES);
        self.output.drain(..surplus);
    }
}

impl IacDeed {
    pub(super) fn note(&self) -> Note {
        match self {
            IacDeed::Write { .. } => note!("wrote the **configuration** of the infrastructure"),
            IacDeed::Plan { refresh_only: true } => note!("ran **terraform plan -refresh-only**"),
            IacDeed::Plan { .. } => note!("ran **terraform plan**"),
            IacDeed::Apply { refresh_only: true, .. } => note!("ran **terraform apply -refresh-only**"),
            IacDeed::Apply { .. } => note!("ran **terraform apply**"),
            IacDeed::Answer { yes: true } => note!("approved the plan"),
            IacDeed::Answer { .. } => note!("did not approve the plan"),
            IacDeed::Import { address, id } => note!("imported {} as **{}**", id.clone(), address.clone()),
            IacDeed::ForceUnlock { .. } => note!("unlocked the state by force"),
            IacDeed::CloudCreate { kind, .. } => note!("created a **{}** in the cloud by hand", kind.clone()),
            IacDeed::CloudSet { id, .. } => note!("changed **{}** in the cloud by hand", id.clone()),
            IacDeed::CloudDelete { id } => note!("deleted **{}** in the cloud by hand", id.clone()),
            IacDeed::CloudAutoscale { id, want, .. } => {
                note!("let the cloud's autoscaler want **{}** of {}", *want, id.clone())
            }
            IacDeed::Schedule { applies: true, .. } => note!("let a clock run **terraform apply**"),
            IacDeed::Schedule { .. } => note!("let a clock run **terraform plan**"),
            IacDeed::Unschedule => note!("ended the **scheduled runs**"),
            IacDeed::CloudQuota { kind, most } => note!("set the quota of {} to **{}**", kind.clone(), *most),
        }
    }
}

fn done(lines: Vec<String>) -> Outcome {
    Outcome { lines, problems: Vec::new() }
}

/// What the terminal shows of a command; nothing where it is not typed there.
fn typed(deed: &IacDeed) -> Option<String> {
    match deed {
        IacDeed::Answer { yes } => Some(["\n  Enter a value: ", if *yes { "yes" } else { "no" }].concat()),
        IacDeed::Plan { .. } | IacDeed::Apply { .. } | IacDeed::Import { .. } | IacDeed::ForceUnlock { .. } => {
            Some(["$ ", &Command::Iac { deed: deed.clone() }.to_string()].concat())
        }
        _ => None,
    }
}

/// `cloud_service.web: Modifying... [id=svc-1]` and what it says when it is done.
fn words(action: Action) -> [&'static str; 2] {
    match action {
        Action::Create => ["Creating...", "Creation complete after 2s"],
        Action::Update => ["Modifying...", "Modifications complete after 2s"],
        Action::Delete => ["Destroying...", "Destruction complete after 2s"],
        Action::Replace => ["Destroying...", "Creation complete after 2s"],
    }
}

impl Simulation {
    /// Infrastructure as code: configuration, state, cloud.
    pub fn iac(&self) -> &Iac {
        &self.iac
    }

    pub(super) fn do_iac(&mut self, deed: IacDeed, seq: Seq) -> Outcome {
        let typed = typed(&deed);
        let outcome = match deed {
            IacDeed::Write { text } => match read_config(&text) {
                Ok(_) => {
                    self.iac.config = text;
                    done(vec!["main.yaml written".into()])
                }
                Err(why) => invalid(why),
            },
            IacDeed::Plan { refresh_only } => self.plan_only(refresh_only),
            IacDeed::Apply { refresh_only, approved, who } => self.begin_apply(refresh_only, approved, &who, seq),
            IacDeed::Answer { yes } => self.answer_plan(yes, seq),
            IacDeed::Import { address, id } => self.import(&address, &id),
            IacDeed::ForceUnlock { id } => self.force_unlock(&id),
            IacDeed::CloudCreate { kind, attributes } => self.cloud_create(&kind, &attributes),
            IacDeed::CloudSet { id, attributes } => self.cloud_set(&id, &attributes),
            IacDeed::CloudDelete { id } => match self.iac.cloud.delete(&id) {
                Ok(()) => done(vec![[&id, " deleted"].concat()]),
                Err(why) => invalid(why),
            },
            IacDeed::CloudAutoscale { id, min, max, want } => self.autoscale_in_cloud(id, [min, max, want], seq),
            IacDeed::Schedule { every_ms, applies } => self.set_schedule(Some(Schedule { every_ms, applies }), seq),
            IacDeed::Unschedule => self.set_schedule(None, seq),
            IacDeed::CloudQuota { kind, most } => match Type::find(&kind) {
                Some(it) => {
                    self.iac.cloud.quotas.insert(it.name.into(), most);
                    done(vec!["quota set".into()])
                }
                None => invalid(["there is no type \"", &kind, "\""].concat()),
            },
        };
        if let Some(line) = typed {
            self.iac.show(line, &outcome);
        }
        outcome
    }

    fn plan_only(&mut self, refresh_only: bool) -> Outcome {
        match self.iac.planned(refresh_only) {
            Ok(plan) => done(render(&plan)),
            Err(why) => invalid(why),
        }
    }

    fn begin_apply(&mut self, refresh_only: bool, approved: bool, who: &str, seq: Seq) -> Outcome {
        let plan = match self.iac.planned(refresh_only) {
            Ok(plan) => plan,
            Err(why) => return invalid(why),
        };
        let mut lines = render(&plan);
        if plan.is_empty() {
            self.iac.state = plan.refreshed;
            lines.extend([String::new(), complete([0; 3])]);
            return done(lines);
        }
        self.iac.n_locks += 1;
        let id = ["lock-", &self.iac.n_locks.to_string()].concat();
        let created = Timestamp::from_millis(self.wall_millis()).to_string();
        self.iac.lock = Some(Lock { id, who: who.to_owned(), created });
        if !approved {
            lines.extend(question(&plan));
        }
        self.iac.run = Some(Run { plan, next: None, done: [0; 3], errors: Vec::new(), cause: seq });
        if approved {
            lines.extend(self.answer_plan(true, seq).lines);
        }
        done(lines)
    }

    fn answer_plan(&mut self, yes: bool, seq: Seq) -> Outcome {
        let Some(run) = self.iac.run.as_mut().filter(|it| it.next.is_none()) else {
            return invalid("nothing waits for an answer".into());
        };
        if !yes {
            (self.iac.run, self.iac.lock) = (None, None);
            return done(vec![String::new(), "Apply cancelled.".into()]);
        }
        self.iac.state = run.plan.refreshed.clone();
        self.iac.state.serial += 1;
        (run.next, run.cause) = (Some(0), seq);
        done(self.go_on_applying())
    }

    /// Begins the next change, or ends.
    fn go_on_applying(&mut self) -> Vec<String> {
        let Some(run) = &self.iac.run else { return Vec::new() };
        if let Some(change) = run.next.and_then(|at| run.plan.changes.get(at)) {
            let id = change.id.as_ref().map(|id| [" [id=", id, "]"].concat()).unwrap_or_default();
            let line = [&change.address.to_string(), ": ", words(change.action)[0], &id].concat();
            self.queue.after(CHANGE_TAKES, Happening::Provision);
            return vec![line];
        }
        let Some(run) = self.iac.run.take() else { return Vec::new() };
        self.iac.lock = None;
        let mut lines = vec![String::new()];
        if run.errors.is_empty() {
            lines.push(complete(run.done));
        }
        lines.extend(run.errors);
        lines
    }

    /// A change has reached the cloud.
    pub(super) fn provision(&mut self) {
        let Some(run) = self.iac.run.as_mut() else { return };
        let Some(at) = run.next else { return };
        let Some(change) = run.plan.changes.get(at).cloned() else { return };
        run.next = Some(at + 1);
        let cause = run.cause;
        let address = change.address.to_string();
        let lines = match self.carry_out_in_cloud(&change) {
            Ok(id) => {
                let id = id.map(|id| [" [id=", &id, "]"].concat()).unwrap_or_default();
                vec![[&address, ": ", words(change.action)[1], &id].concat()]
            }
            Err(why) => {
                let error =
                    ["\nError: ", failing(change.action), " ", &address, ": ", &why, "\n\n  with ", &address, ","];
                self.iac.run.iter_mut().for_each(|run| run.errors.push(error.concat()));
                Vec::new()
            }
        };
        let note = match lines.first() {
            Some(line) => note!("{}", line.clone()),
            None => note!("{}: **failed**", address),
        };
        self.record(Some(cause), false, What::Outside { place: "terraform".into(), note });
        self.iac.print(&lines);
        let more = self.go_on_applying();
        self.iac.print(&more);
    }

    /// Changes the cloud and, only where that went well, the state.
    fn carry_out_in_cloud(&mut self, change: &Change) -> Result<Option<String>, String> {
        let (iac, address) = (&mut self.iac, change.address.clone());
        let old = change.id.clone().unwrap_or_default();
        let kind = Type::find(&address.kind).ok_or_else(|| "there is no such type".to_owned())?;
        let mut count = [0; 3];
        let mut id = None;
        if matches!(change.action, Action::Delete | Action::Replace) {
            iac.cloud.delete(&old)?;
            iac.state.remove(&address);
            count[2] = 1;
        }
        if matches!(change.action, Action::Create | Action::Replace) {
            let new = iac.cloud.create(kind, change.after.clone())?;
            iac.state.put(Known { address: address.clone(), id: new.clone(), attributes: change.after.clone() });
            count[0] = 1;
            id = Some(new);
        }
        if change.action == Action::Update {
            iac.cloud.update(&old, change.after.clone())?;
            iac.state.put(Known { address, id: old.clone(), attributes: change.after.clone() });
            count[1] = 1;
            id = Some(old);
        }
        if let Some(run) = &mut iac.run {
            run.done.iter_mut().zip(count).for_each(|(sum, it)| *sum += it);
        }
        Ok(id)
    }

    fn import(&mut self, address: &str, id: &str) -> Outcome {
        if let Some(lock) = &self.iac.lock {
            return invalid(locked(lock));
        }
        let wanted = read_config(&self.iac.config).unwrap_or_default();
        let Some(found) = wanted.iter().find(|it| it.address.to_string() == address) else {
            return invalid(
                ["Error: resource address \"", address, "\" does not exist in the configuration."].concat(),
            );
        };
        if self.iac.state.get(&found.address).is_some() {
            return invalid([
                "Error: Resource already managed by Terraform\n\nTerraform is already managing a remote object for ",
                address,
                ". To import to this address you must first remove the existing object from the state.",
            ]
            .concat());
        }
        let Some(object) = self.iac.cloud.get(id).filter(|it| it.kind == found.address.kind) else {
            return invalid(["Error: Cannot import non-existent remote object\n\nWhile attempting to import an existing object to \"", address, "\", the provider detected that no object exists with the given id."].concat());
        };
        let known = Known { address: found.address.clone(), id: id.into(), attributes: object.attributes.clone() };
        let lines = vec![
            [address, ": Importing from ID \"", id, "\"..."].concat(),
            [address, ": Import prepared!"].concat(),
            ["  Prepared ", &known.address.kind, " for import"].concat(),
            [address, ": Refreshing state... [id=", id, "]"].concat(),
            String::new(),
            "Import successful!".into(),
        ];
        self.iac.state.put(known);
        done(lines)
    }

    fn force_unlock(&mut self, id: &str) -> Outcome {
        match &self.iac.lock {
            Some(lock) if lock.id == id => {
                // What is under way goes on, without the lock; a question that waits is forgotten.
                self.iac.run = self.iac.run.take().filter(|it| it.next.is_some());
                self.iac.lock = None;
                done(vec!["Terraform state has been successfully unlocked!".into()])
            }
            _ => invalid(["Failed to unlock state: lock id \"", id, "\" does not match existing lock"].concat()),
        }
    }

    fn cloud_create(&mut self, kind: &str, pairs: &[(String, String)]) -> Outcome {
        let Some(kind) = Type::find(kind) else { return invalid(["there is no type \"", kind, "\""].concat()) };
        let made = read_pairs(kind, Attributes::new(), pairs).and_then(|it| self.iac.cloud.create(kind, it));
        match made {
            Ok(id) => done(vec![[&id, " created"].concat()]),
            Err(why) => invalid(why),
        }
    }

    fn cloud_set(&mut self, id: &str, pairs: &[(String, String)]) -> Outcome {
        let found = self.iac.cloud.get(id).and_then(|it| Some((Type::find(it.kind)?, it.attributes.clone())));
        let Some((kind, old)) = found else { return invalid(["there is no object \"", id, "\""].concat()) };
        match read_pairs(kind, old, pairs).and_then(|it| self.iac.cloud.update(id, it)) {
            Ok(()) => done(vec![[id, " changed"].concat()]),
            Err(why) => invalid(why),
        }
    }

    fn autoscale_in_cloud(&mut self, id: String, [min, max, want]: [i64; 3], cause: Seq) -> Outcome {
        let scales = |it: &crate::iac::CloudObject| it.attributes.contains_key("desired_count");
        if !self.iac.cloud.get(&id).is_some_and(scales) || min > max {
            return invalid(["\"", &id, "\" cannot be scaled between these"].concat());
        }
        let line = ["autoscaler of ", &id, " set"].concat();
        self.iac.cloud.autoscalers.retain(|it| it.id != id);
        self.iac.cloud.autoscalers.push(Autoscaler { id, min, max, want, cause });
        if !std::mem::replace(&mut self.iac.is_clock_on, true) {
            self.queue.after(AUTOSCALER_PERIOD, Happening::CloudClock);
        }
        done(vec![line])
    }

    /// The cloud's autoscalers look.
    pub(super) fn scale_in_cloud(&mut self) {
        if self.iac.cloud.autoscalers.is_empty() {
            self.iac.is_clock_on = false;
            return;
        }
        for it in self.iac.cloud.autoscalers.clone() {
            let Some(object) = self.iac.cloud.get(&it.id) else { continue };
            let mut attributes = object.attributes.clone();
            let (old, new) = (attributes.insert("desired_count".into(), it.count().into()), it.count());
            let old = old.and_then(|it| it.as_i64()).unwrap_or(0);
            if old != new && self.iac.cloud.update(&it.id, attributes).is_ok() {
                let note = note!("the autoscaler set **desired_count {}** of {}, from {}", new, it.id, old);
                self.record(Some(it.cause), false, What::Outside { place: "cloud".into(), note });
            }
        }
        self.queue.after(AUTOSCALER_PERIOD, Happening::CloudClock);
    }
}

fn failing(action: Action) -> &'static str {
    match action {
        Action::Create | Action::Replace => "creating",
        Action::Update => "updating",
        Action::Delete => "deleting",
    }
}

fn complete([added, changed, destroyed]: [usize; 3]) -> String {
    let [added, changed, destroyed] = [added, changed, destroyed].map(|it| it.to_string());
    let text = [&added, " added, ", &changed, " changed, ", &destroyed, " destroyed."].concat();
    ["Apply complete! Resources: ", &text].concat()
}

fn read_pairs(kind: &Type, mut all: Attributes, pairs: &[(String, String)]) -> Result<Attributes, String> {
    for (name, text) in pairs {
        all.insert(name.clone(), kind.value(name, &text.as_str().into())?);
    }
    Ok(all)
}
