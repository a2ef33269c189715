//! What the page around wants to be told of: that all is as wanted, or that the goal of a lesson's step is reached.

use std::rc::Rc;

use leptos::prelude::GetValue;
use serde_json::{Value, json};

use super::{tell, tell_refusal, with_line};
use crate::platform;
use crate::session::{Refusal, Session, Stand, Taught, speed_named};
use crate::ui::effect;

/// The only goal that every world has.
const CONVERGED: &str = "converged";

pub enum Goal {
    Converged,
    /// Of a lesson's step, from 1.
    Step(usize),
}

impl Goal {
    pub fn read(text: &str) -> Option<Self> {
        match text {
            CONVERGED => Some(Self::Converged),
            number => number.parse().ok().filter(|it| *it > 0).map(Self::Step),
        }
    }

    fn asked() -> Option<Self> {
        platform::parameter("goal").as_deref().and_then(Self::read)
    }
}

/// Begins to look, in a world that has arrived where it begins.
pub fn follow(session: Session) {
    match Goal::asked() {
        Some(Goal::Converged) => effect(move || report(CONVERGED, session.is_converged())),
        Some(Goal::Step(number)) => follow_step(session, number),
        None => {}
    }
    // A lesson has a speed of its own, before which goes the one that the host asks for.
    if let Some(speed) = platform::parameter("speed").as_deref().and_then(speed_named) {
        session.set_speed(speed);
    }
}

fn follow_step(session: Session, number: usize) {
    let is_of_it =
        |it: &Rc<Taught>| session.scenario.try_get_value().is_some_and(|name| name == it.lesson.scenario.name);
    let has_goal = |it: &Rc<Taught>| it.lesson.course.steps.get(number - 1).is_some_and(|step| step.goal.is_some());
    let taught = with_line(|line| line.taught.clone()).filter(is_of_it).filter(has_goal);
    let Some(taught) = taught else {
        let words = ["Step ", &number.to_string(), " of this world has no goal"];
        return tell_refusal(&Refusal::new("unknown-value", &words), &Value::Null);
    };
    let (id, lesson) = (taught.id.clone(), Rc::clone(&taught.lesson));
    session.teach(&Taught { id, lesson, step: number - 1, is_first: false });
    if let Some(learning) = session.learning() {
        effect(move || report(&number.to_string(), learning.stand.get() == Stand::Met));
    }
}

fn report(id: &str, is_met: bool) {
    if with_line(|line| std::mem::replace(&mut line.is_met, is_met)) != is_met {
        tell("goal", json!({"id": id, "done": is_met}), false);
    }
}
