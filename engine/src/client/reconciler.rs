use super::{Expectations, Facts, Metrics, NodeRuntime, RuntimeCall, WorkQueue};
use crate::api::{Object, ObjectKey, Timestamp};
use crate::apiserver::{Answer, ApiError, Change, EventDraft, Objects, Request};
use crate::gitops::Gitops;
use crate::iac::Plan;
use crate::sim::{Millis, Slots, Time};

/// What a reconciler may look at: its cache, its clock, and for a kubelet the containers on its node.
pub struct Context<'a> {
    pub cache: &'a Objects,
    /// The version up to which the cache has heard.
    pub version: u64,
    pub now: Time,
    /// The same instant as the API writes it.
    pub wall: Timestamp,
    /// The same instant in milliseconds since 1970.
    pub wall_millis: i64,
    /// Whether a controller waits until its cache shows its own writes ([`Expectations`]).
    pub expects: bool,
    pub runtime: Option<&'a NodeRuntime>,
    /// The metrics API, where there is one.
    pub metrics: Option<&'a dyn Metrics>,
    /// What a thermostat's sensor says, in thousandths of a degree.
    pub room: Option<i32>,
    /// The repository and what the agent remembers, for the one loop that reads Git.
    pub git: Option<&'a Gitops>,
    /// Infrastructure as code, for the one loop that runs it.
    pub infrastructure: Option<&'a dyn Infrastructure>,
}

/// What infrastructure as code tells of itself.
pub trait Infrastructure {
    /// What an apply would do now.
    ///
    /// # Errors
    /// In the tool's words: the state is locked, or the configuration cannot be read.
    fn plan(&self) -> Result<Plan, String>;
}

/// One thing a controller does to the world.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Api(Request),
    Runtime(ObjectKey, crate::api::Uid, RuntimeCall),
    /// Runs the tool of infrastructure as code, which applies what it has planned or only prints it.
    Provision(bool),
}

/// The answer to one action; calls of the container runtime always succeed.
pub type Outcome = Result<Option<Answer>, ApiError>;

/// When a key gets its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    AwaitChange,
    After(Millis),
    /// As soon as the queue's rate limits let it, although nothing failed (`AddRateLimited`).
    RateLimited,
}

/// What a turn does next. Between two steps virtual time passes and other loops run.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Observe(Facts),
    Diff(Facts),
    /// One request, or one batch that is sent at once.
    Act(Facts, Vec<Action>),
    Done(Next),
    /// Try again with back-off.
    Fail(String),
}

/// The result of one step: what it was, and the Events it publishes.
#[derive(Debug)]
pub struct Stepped {
    pub step: Step,
    pub events: Vec<EventDraft>,
    /// Part of the steady hum: nothing differed, nothing was asked for.
    pub is_background: bool,
    /// What the agent that reads Git is to remember.
    pub report: Option<Box<crate::gitops::Status>>,
}

impl From<Step> for Stepped {
    #[inline(never)]
    fn from(step: Step) -> Self {
        Self { step, events: Vec::new(), is_background: false, report: None }
    }
}

/// A key and how long to wait before its turn.
pub type Wakeup = (ObjectKey, Millis);

/// A control loop. It is given a key and a cache, never the event that woke it.
pub trait Reconciler: Clone + 'static {
    /// What is remembered between the steps of one turn.
    type State: Clone;

    /// An informer's handler: which keys a change concerns. May lower expectations, must not decide anything.
    fn concerns(&mut self, change: &Change, cache: &Objects, now: Time) -> Vec<Wakeup>;

    /// A key's place in the queue: higher ranks go first, equals in their order.
    fn rank(&self, _key: &ObjectKey, _cache: &Objects, _now: Time) -> i64 {
        0
    }

    /// Base and cap of the back-off after failures of a key.
    fn backoff(&self, _key: &ObjectKey) -> (Millis, Millis) {
        WorkQueue::BACKOFF
    }

    fn start(&mut self, key: &ObjectKey) -> Self::State;

    /// The next step of a key's turn. `outcomes` answers the actions of the step before, in their order.
    fn step(
        &mut self,
        context: &Context<'_>,
        key: &ObjectKey,
        state: &mut Self::State,
        outcomes: Vec<Outcome>,
    ) -> Stepped;

    /// The keys for which the loop's own clock asks a turn, and how long until it comes round again.
    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        None
    }

    /// All that there is is going to be told anew: what was counted before is void. Nothing to who counts nothing.
    fn relisted(&mut self) {}
}

/// A reconciler with its turns under way, whatever their state's type.
pub trait Turns {
    fn concerns(&mut self, change: &Change, cache: &Objects, now: Time) -> Vec<Wakeup>;
    fn rank(&self, key: &ObjectKey, cache: &Objects, now: Time) -> i64;
    fn backoff(&self, key: &ObjectKey) -> (Millis, Millis);
    /// Begins a turn and returns its number.
    fn begin(&mut self, key: &ObjectKey) -> u32;
    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: u32, outcomes: Vec<Outcome>) -> Stepped;
    fn end(&mut self, turn: u32);
    fn tick(&mut self) -> Option<(ObjectKey, Millis)>;
    fn relisted(&mut self);
    fn boxed_clone(&self) -> Box<dyn Turns>;
}

#[derive(Clone)]
struct Runner<R: Reconciler> {
    reconciler: R,
    /// Apart, so that places that are empty are small.
    turns: Slots<Box<R::State>>,
}

impl<R: Reconciler> Turns for Runner<R> {
    fn concerns(&mut self, change: &Change, cache: &Objects, now: Time) -> Vec<Wakeup> {
        self.reconciler.concerns(change, cache, now)
    }

    fn rank(&self, key: &ObjectKey, cache: &Objects, now: Time) -> i64 {
        self.reconciler.rank(key, cache, now)
    }

    fn backoff(&self, key: &ObjectKey) -> (Millis, Millis) {
        self.reconciler.backoff(key)
    }

    fn begin(&mut self, key: &ObjectKey) -> u32 {
        let state = self.reconciler.start(key);
        self.turns.add(Box::new(state))
    }

    fn step(&mut self, context: &Context<'_>, key: &ObjectKey, turn: u32, outcomes: Vec<Outcome>) -> Stepped {
        match self.turns.get_mut(turn) {
            Some(state) => self.reconciler.step(context, key, state, outcomes),
            None => Step::Done(Next::AwaitChange).into(),
        }
    }

    fn end(&mut self, turn: u32) {
        self.turns.take(turn);
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        self.reconciler.tick()
    }

    fn relisted(&mut self) {
        self.reconciler.relisted();
    }

    fn boxed_clone(&self) -> Box<dyn Turns> {
        Box::new(self.clone())
    }
}

/// A loop's reconciler behind one type.
pub struct AnyReconciler(Box<dyn Turns>);

impl AnyReconciler {
    pub fn new<R: Reconciler>(reconciler: R) -> Self {
        Self(Box::new(Runner { reconciler, turns: Slots::default() }))
    }
}

impl Clone for AnyReconciler {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl std::ops::Deref for AnyReconciler {
    type Target = dyn Turns;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl std::ops::DerefMut for AnyReconciler {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

/// Lowers the expectations of a pod's controller as its informer hears of the pod.
///
/// Returns the key of the controller, where it is of the kind asked for.
pub fn observe_pod_of(
    expectations: &mut Expectations,
    owner_kind: crate::api::Kind,
    change: &Change,
) -> Option<ObjectKey> {
    use crate::apiserver::ChangeKind;
    let Object::Pod(pod) = &change.object else { return None };
    let owner = pod.metadata.controller().filter(|owner| owner.kind == owner_kind.name())?;
    let key = ObjectKey::new(owner_kind, pod.metadata.namespace.clone(), owner.name.clone());
    match change.kind {
        ChangeKind::Added => expectations.creation_observed(&key),
        ChangeKind::Deleted => expectations.deletion_observed(&key, pod.metadata.uid),
        ChangeKind::Modified if pod.is_terminating() => expectations.deletion_observed(&key, pod.metadata.uid),
        ChangeKind::Modified => {}
    }
    Some(key)
}
