//! Infrastructure as code that a clock runs: what makes a loop of it.
//!
//! All that it knows is what a plan says. It writes through the same tool as a person, and meets the same lock.

use crate::api::{Kind, ObjectKey};
use crate::apiserver::{Change, Objects};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::iac::{Action as Fate, Plan};
use crate::note;
use crate::sim::{Millis, Time};

/// The loop's name.
pub const NAME: &str = "Scheduled run";

/// Runs the tool whenever so much time has passed.
#[derive(Clone, Debug)]
pub struct ScheduledRun {
    pub every: Millis,
    /// It applies what it has planned; else it only reports.
    pub applies: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Turn {
    stage: u8,
    differs: Option<Facts>,
    has_work: bool,
    is_quiet: bool,
}

/// The configuration as a whole has one turn at a time.
pub fn whole() -> ObjectKey {
    ObjectKey::new(Kind::Namespace, "", "default")
}

impl Reconciler for ScheduledRun {
    type State = Turn;

    fn concerns(&mut self, _change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        Vec::new()
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn step(&mut self, context: &Context<'_>, _key: &ObjectKey, turn: &mut Turn, _outcomes: Vec<Outcome>) -> Stepped {
        let Some(infrastructure) = context.infrastructure else { return Step::Done(Next::AwaitChange).into() };
        turn.stage += 1;
        let step = match turn.stage {
            1 => Step::Observe(match infrastructure.plan() {
                Ok(plan) => read(&plan, turn),
                Err(why) => refused(&why, turn),
            }),
            2 => Step::Diff(turn.differs.take().unwrap_or_else(|| note!("nothing differs").into())),
            3 if turn.has_work => {
                let facts = match self.applies {
                    true => note!("**terraform apply** -auto-approve"),
                    false => note!("**terraform plan**: reports, and changes nothing"),
                };
                Step::Act(facts.into(), vec![Action::Provision(self.applies)])
            }
            _ => Step::Done(Next::AwaitChange),
        };
        Stepped { is_background: turn.is_quiet, ..step.into() }
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((whole(), self.every))
    }
}

fn read(plan: &Plan, turn: &mut Turn) -> Facts {
    turn.has_work = !plan.is_empty();
    turn.is_quiet = !turn.has_work && plan.drift.is_empty();
    let count = |which: &[Fate]| plan.count(which);
    let (add, change, destroy) =
        (count(&[Fate::Create, Fate::Replace]), count(&[Fate::Update]), count(&[Fate::Delete, Fate::Replace]));
    let differs = match turn.has_work {
        true => note!("plan: **{} to add, {} to change, {} to destroy**", add, change, destroy),
        false => note!("**no changes**"),
    };
    let drift = note!("{} changed outside of Terraform", plan.drift.len());
    turn.differs = Some(Facts::from(differs).with(drift));
    Facts::from(note!("read **{}** objects in the cloud", plan.read.len()))
        .with(note!("and compared them with the state"))
}

/// There is no plan: the state is locked, or the configuration cannot be read.
fn refused(why: &str, turn: &mut Turn) -> Facts {
    let first = why.lines().next().unwrap_or_default().to_owned();
    turn.differs = Some(note!("no plan: {}", first.clone()).into());
    note!("could not plan: {}", first).into()
}
