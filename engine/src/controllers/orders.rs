//! A person's script: orders, one after the other, and no loop. It looks at nothing, compares nothing, and knows nothing of
//! the run before.
//!
//! It runs through the same trait as the loops do, so that it can be drawn beside them: of its three columns two stay
//! empty.

use std::rc::Rc;

use crate::api::{Container, Kind, Labels, Object, ObjectKey, ObjectMeta, Pod, PodSpec};
use crate::apiserver::{Change, Objects, Request, Verb};
use crate::client::{Action, Context, Facts, Next, Outcome, Reconciler, Step, Stepped, Wakeup};
use crate::note;
use crate::sim::{Millis, Time};

/// The client's name in `managedFields`.
pub const MANAGER: &str = "script";
/// The most pods that one script asks for.
pub const MOST: u32 = 100;
const IMAGE: &str = "nginx:1.27.3";
/// The label `app` of the pods that scripts start.
pub const APP: &str = "ordered";

/// The key of a run: no object, so its name has spaces.
pub fn run_key(namespace: &str, count: u32, run: usize) -> ObjectKey {
    let name = ["start ", &count.to_string(), " more, run ", &run.to_string()].concat();
    ObjectKey::new(Kind::Pod, namespace, name)
}

/// How many pods a run is to start.
fn count_of(key: &ObjectKey) -> u32 {
    key.name.split(' ').nth(1).and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// Whoever runs a script.
#[derive(Clone, Debug, Default)]
pub struct Orders;

impl Reconciler for Orders {
    /// The requests that were answered.
    type State = u32;

    fn concerns(&mut self, _change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        Vec::<(ObjectKey, Millis)>::new()
    }

    fn start(&mut self, _key: &ObjectKey) -> u32 {
        0
    }

    fn step(&mut self, _context: &Context<'_>, key: &ObjectKey, sent: &mut u32, outcomes: Vec<Outcome>) -> Stepped {
        // As with `set -e`: what is refused is the end.
        if outcomes.iter().any(Result::is_err) || *sent >= count_of(key) {
            return Step::Done(Next::AwaitChange).into();
        }
        *sent += 1;
        let facts: Facts = note!("start pod **{} of {}**", i64::from(*sent), i64::from(count_of(key))).into();
        let request = Request::new(MANAGER, Verb::Create(Object::Pod(Rc::new(pod(key)))));
        Step::Act(facts.with(note!("POST pods, whatever is there")), vec![Action::Api(request)]).into()
    }
}

/// A pod of its own, with a name that the API server chooses.
fn pod(key: &ObjectKey) -> Pod {
    let labels: Labels = [("app".to_owned(), APP.to_owned())].into();
    let metadata = ObjectMeta {
        namespace: key.namespace.clone(),
        generate_name: "ordered-".into(),
        labels,
        ..ObjectMeta::default()
    };
    let container = Container { name: "app".into(), image: IMAGE.into(), ..Container::default() };
    let spec = PodSpec { containers: vec![container], ..PodSpec::default() };
    Pod { metadata, spec: spec.into(), ..Pod::default() }
}
