//! A turn whose writes are all decided from the cache before the first of them is sent.

use std::collections::VecDeque;

use super::Recorder;
use crate::api::{Name, ObjectKey, Uid};
use crate::apiserver::{Answer, Change, EventDraft, Objects};
use crate::client::{
    Action, Context, Expectations, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup, WorkQueue,
};
use crate::sim::{Millis, Time};

/// What a request is for, so that its answer can be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// Nobody is told.
    Plain,
    Create,
    Delete(Name, Uid),
    /// The Event that tells of its success.
    Tell(&'static str, String, bool),
}

/// Requests that are sent at once.
#[derive(Clone, Debug)]
pub struct Batch {
    facts: Facts,
    requests: Vec<(Action, Purpose)>,
    /// Sent even after an earlier batch failed: a status tells of failures too.
    always: bool,
}

/// What a turn found and will do.
#[derive(Clone, Debug)]
pub struct Script {
    observed: Facts,
    differs: Facts,
    batches: VecDeque<Batch>,
    events: Vec<EventDraft>,
    next: Next,
    /// The turn ends with a write that is decided when all others are through ([`Scripted::last`]).
    has_last: bool,
}

impl Script {
    pub fn new(observed: Facts, differs: Facts) -> Self {
        let (batches, events, next) = (VecDeque::new(), Vec::new(), Next::AwaitChange);
        Self { observed, differs, batches, events, next, has_last: false }
    }

    pub fn send(&mut self, facts: impl Into<Facts>, requests: Vec<(Action, Purpose)>) {
        if !requests.is_empty() {
            self.batches.push_back(Batch { facts: facts.into(), requests, always: false });
        }
    }

    pub fn send_always(&mut self, facts: impl Into<Facts>, action: Action, purpose: Purpose) {
        self.batches.push_back(Batch { facts: facts.into(), requests: vec![(action, purpose)], always: true });
    }

    /// Asks for another turn; of several the first counts.
    pub fn look_again(&mut self, after: Millis) {
        self.next = match self.next {
            Next::After(known) => Next::After(known.min(after)),
            _ => Next::After(after),
        };
    }

    /// Asks for [`Scripted::last`]; without need where nothing else is written.
    pub fn end_with_last(&mut self, needs: bool) {
        self.has_last = needs || !self.batches.is_empty();
    }

    pub fn is_quiet(&self) -> bool {
        self.batches.is_empty() && !self.has_last
    }

    /// Publishes Events as the turn begins to act.
    pub fn tell(&mut self, events: impl IntoIterator<Item = EventDraft>) {
        self.events.extend(events);
    }

    pub fn explain(&mut self, differs: impl Into<Facts>) {
        self.differs = differs.into();
    }
}

/// A controller that decides a whole turn at once.
pub trait Scripted: Clone + 'static {
    fn recorder(&self) -> Recorder;

    fn concerns(&mut self, change: &Change, cache: &Objects, now: Time) -> Vec<Wakeup>;

    /// Decides the turn; nothing where there is nothing to look at.
    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script>;

    /// The write at the end of a turn, from what the cache shows by then.
    fn last(&mut self, _context: &Context<'_>, _key: &ObjectKey) -> Option<(Facts, Action)> {
        None
    }

    /// A request succeeded. Returns the Event that tells of it.
    fn done(&mut self, key: &ObjectKey, purpose: &Purpose, answer: &Answer) -> Option<EventDraft> {
        tell_success(self.recorder(), key, purpose, answer)
    }

    /// A request was refused, or will not be sent since one before it was. Returns the Event that tells of a refusal.
    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft> {
        tell_refusal(self.recorder(), key, purpose, error)
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        None
    }

    /// Base and cap of the back-off after failures.
    fn backoff(&self) -> (Millis, Millis) {
        WorkQueue::BACKOFF
    }
}

/// The Event that tells of a request that was carried out.
pub(super) fn tell_success(
    recorder: Recorder,
    key: &ObjectKey,
    purpose: &Purpose,
    answer: &Answer,
) -> Option<EventDraft> {
    match purpose {
        Purpose::Create => {
            let message = format!("Created pod: {}", answer.object.meta().name);
            Some(recorder.normal(key, "SuccessfulCreate", message))
        }
        Purpose::Delete(name, _) => Some(recorder.normal(key, "SuccessfulDelete", format!("Deleted pod: {name}"))),
        Purpose::Tell(reason, message, true) => Some(recorder.warning(key, reason, message.clone())),
        Purpose::Tell(reason, message, _) => Some(recorder.normal(key, reason, message.clone())),
        Purpose::Plain => None,
    }
}

/// The Event that tells of a pod that could not be created or deleted.
pub(super) fn tell_refusal(
    recorder: Recorder,
    key: &ObjectKey,
    purpose: &Purpose,
    error: Option<&str>,
) -> Option<EventDraft> {
    let error = error?;
    match purpose {
        Purpose::Create => Some(recorder.warning(key, "FailedCreate", format!("Error creating: {error}"))),
        Purpose::Delete(..) => Some(recorder.warning(key, "FailedDelete", format!("Error deleting: {error}"))),
        _ => None,
    }
}

/// Takes back the expectation of a request that came to nothing.
pub(super) fn lower(expectations: &mut Expectations, key: &ObjectKey, purpose: &Purpose) {
    match purpose {
        Purpose::Create => expectations.creation_observed(key),
        Purpose::Delete(_, uid) => expectations.deletion_observed(key, *uid),
        _ => {}
    }
}

/// Runs a [`Scripted`] controller.
#[derive(Clone, Debug, Default)]
pub struct Scripts<T>(pub T);

#[derive(Clone, Debug, Default)]
pub struct Turn {
    script: Option<Script>,
    stage: Stage,
    sent: Vec<Purpose>,
    failure: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    #[default]
    Observe,
    Diff,
    Act,
}

/// What a turn asks of its controller, whichever it is.
trait Deeds {
    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script>;
    fn last(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<(Facts, Action)>;
    fn done(&mut self, key: &ObjectKey, purpose: &Purpose, answer: &Answer) -> Option<EventDraft>;
    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft>;
}

impl<T: Scripted> Deeds for T {
    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        Scripted::plan(self, context, key)
    }

    fn last(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<(Facts, Action)> {
        Scripted::last(self, context, key)
    }

    fn done(&mut self, key: &ObjectKey, purpose: &Purpose, answer: &Answer) -> Option<EventDraft> {
        Scripted::done(self, key, purpose, answer)
    }

    fn undone(&mut self, key: &ObjectKey, purpose: &Purpose, error: Option<&str>) -> Option<EventDraft> {
        Scripted::undone(self, key, purpose, error)
    }
}

impl<T: Scripted> Reconciler for Scripts<T> {
    type State = Turn;

    fn concerns(&mut self, change: &Change, cache: &Objects, now: Time) -> Vec<Wakeup> {
        self.0.concerns(change, cache, now)
    }

    fn start(&mut self, _key: &ObjectKey) -> Turn {
        Turn::default()
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        self.0.tick()
    }

    fn backoff(&self, _key: &ObjectKey) -> (Millis, Millis) {
        self.0.backoff()
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: &mut Turn, outcomes: Vec<Outcome>) -> Stepped {
        turn.step(&mut self.0, context, key, outcomes)
    }
}

impl Turn {
    fn step(
        &mut self,
        controller: &mut dyn Deeds,
        context: &Context<'_>,
        key: &ObjectKey,
        outcomes: Vec<Outcome>,
    ) -> Stepped {
        let stage = self.stage;
        if let Stage::Observe = stage {
            self.script = controller.plan(context, key);
        }
        let Some(script) = &self.script else { return Step::Done(Next::AwaitChange).into() };
        let is_background = script.is_quiet();
        match stage {
            Stage::Observe => {
                self.stage = Stage::Diff;
                Stepped { is_background, ..Step::Observe(script.observed.clone()).into() }
            }
            Stage::Diff => {
                self.stage = Stage::Act;
                Stepped { is_background, ..Step::Diff(script.differs.clone()).into() }
            }
            Stage::Act => self.act(controller, context, key, outcomes),
        }
    }

    fn act(
        &mut self,
        controller: &mut dyn Deeds,
        context: &Context<'_>,
        key: &ObjectKey,
        outcomes: Vec<Outcome>,
    ) -> Stepped {
        let Some(script) = &mut self.script else { return Step::Done(Next::AwaitChange).into() };
        let mut events = std::mem::take(&mut script.events);
        for (purpose, outcome) in std::mem::take(&mut self.sent).iter().zip(outcomes) {
            match outcome {
                Ok(Some(answer)) => events.extend(controller.done(key, purpose, &answer)),
                Ok(None) => {}
                // What was to go is gone already.
                Err(error) if error.code() == 404 && !matches!(purpose, Purpose::Create) => {
                    controller.undone(key, purpose, None);
                }
                Err(error) => {
                    events.extend(controller.undone(key, purpose, Some(&error.to_string())));
                    self.failure.get_or_insert(error.message);
                }
            }
        }
        while let Some(batch) = script.batches.pop_front() {
            if self.failure.is_some() && !batch.always {
                batch.requests.iter().for_each(|(_, purpose)| drop(controller.undone(key, purpose, None)));
                continue;
            }
            let (actions, purposes) = batch.requests.into_iter().unzip();
            self.sent = purposes;
            return Stepped { events, ..Step::Act(batch.facts, actions).into() };
        }
        if std::mem::take(&mut script.has_last)
            && let Some((facts, action)) = controller.last(context, key)
        {
            self.sent = vec![Purpose::Plain];
            return Stepped { events, ..Step::Act(facts, vec![action]).into() };
        }
        let step = match self.failure.take() {
            Some(error) => Step::Fail(error),
            None => Step::Done(script.next),
        };
        Stepped { events, ..step.into() }
    }
}
