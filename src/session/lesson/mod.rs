//! A lesson that is open: which step one is in, how it stands, what was bet and what came of it.
//!
//! Goals are predicates of the engine, which change nothing; they are looked at here, a few times a second while time
//! passes and whenever it stops. What came of a step belongs to the branch in which it was found, so it is shown where that
//! is part of the past or the future of what is shown, and nowhere else.

mod deeds;
mod place;
mod state;

use std::rc::Rc;

use leptos::prelude::{StoredValue, WithValue};
use loopscope_engine::history::BranchId;
use loopscope_engine::lesson::{Deed, Lesson, Progress, Standing, Step, fill};
use loopscope_engine::sim::{Millis, Time};
use loopscope_engine::world::{Command, Instant, Ran};

use super::seek::here;
use super::{Core, Pace, Part, SPEEDS, Session, Tone};
use crate::platform::{self, wall_ms};
use crate::ui::State;

pub use state::{Came, Learning, Script, Stand, StepMark, Taught};

/// While time passes, a goal is looked at this often, in wall ms.
const LOOK_EVERY_MS: f64 = 250.0;
/// On the way to a goal: how often it is looked at, in virtual ms, or so many times in the time of a step.
const LOOK: u64 = 100;
const LOOKS: u64 = 1_000;
/// Wall time in ms that this way may take of one frame, and things that happen between two looks at the clock.
const BUDGET_MS: f64 = 12.0;
const CHUNK: usize = 64;
/// What the lessons that were done are stored as.
const DONE: &str = "lessons-done";

/// A step that has begun.
struct Begun {
    branch: BranchId,
    at: Instant,
    /// As it was when it began.
    first: Progress,
    progress: Progress,
    came: Option<Came>,
    was_met: bool,
    bet: Option<i64>,
}

/// The lesson beside the simulation.
pub(super) struct Run {
    learning: Learning,
    script: Rc<Script>,
    begins: Instant,
    /// Commands that were played before anybody looked.
    pub(super) n_given: usize,
    at: usize,
    begun: Vec<Option<Begun>>,
    due: Vec<(Time, Deed)>,
    /// The proposed command that was given last in this step, and when it is or was carried out.
    given: Option<(usize, Time)>,
    looked_at: f64,
    /// Branch and time at the last look.
    seen: (BranchId, u64),
}

/// What to do with a step once its instant is reached.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    index: usize,
    /// Nothing of what is still to come there is wanted.
    is_anew: bool,
}

/// How the way to a goal ended.
enum Skipped {
    Met,
    Late,
    Stopped,
}

impl Run {
    fn step(&self) -> Option<&Step> {
        self.script.course.steps.get(self.at)
    }

    fn now(&mut self) -> Option<&mut Begun> {
        self.begun.get_mut(self.at)?.as_mut()
    }

    fn marks(&self) -> Vec<StepMark> {
        let mark = |it: &Option<Begun>| match it {
            None => StepMark::Ahead,
            Some(begun) if begun.was_met => StepMark::Done,
            Some(_) => StepMark::Begun,
        };
        self.begun.iter().map(mark).collect()
    }

    /// All that was to be reached was reached.
    fn is_done(&self) -> bool {
        let steps = self.script.course.steps.iter().zip(&self.begun);
        let is_met = |begun: &Option<Begun>| begun.as_ref().is_some_and(|it| it.was_met);
        steps.filter(|(step, _)| step.goal.is_some()).all(|(_, begun)| is_met(begun))
    }
}

impl Core {
    /// The step begins at the instant that is shown.
    fn begin_step(&mut self, index: usize) {
        let (branch, at) = (self.history.current(), self.sim().instant());
        let first = Progress::begin(self.sim());
        let seen = (branch, at.at.0);
        let Some(run) = &mut self.lesson else { return };
        let Some(place) = run.begun.get_mut(index) else { return };
        let (bet, was_met) = place.take().map_or((None, false), |it| (it.bet, it.was_met));
        *place = Some(Begun { branch, at, first: first.clone(), progress: first, came: None, was_met, bet });
        (run.at, run.seen, run.given) = (index, seen, None);
    }

    /// What was found of another branch holds as far as the two are one.
    fn is_of_here(&self, branch: BranchId, ms: u64) -> bool {
        branch == self.history.current() || self.parted_ms(branch) >= ms
    }

    /// Looks how the step stands, and shows it. Says whether its goal has just been met.
    fn look_at_step(&mut self, wall: f64) -> bool {
        let Some(mut run) = self.lesson.take() else { return false };
        run.looked_at = wall;
        let is_new = self.look_with(&mut run);
        let (learning, at) = (run.learning, run.at);
        learning.at.put(at);
        learning.marks.put(run.marks());
        learning.n_due.put(run.due.len());
        self.lesson = Some(run);
        is_new
    }

    fn look_with(&self, run: &mut Run) -> bool {
        let (branch, now) = (self.history.current(), self.sim().instant());
        let is_known = self.is_of_here(run.seen.0, run.seen.1);
        run.seen = (branch, now.at.0);
        let (learning, script) = (run.learning, run.script.clone());
        let (Some(step), Some(begun)) = (script.course.steps.get(run.at), run.now()) else { return false };
        if !is_known {
            begun.progress = begun.first.clone();
        }
        let standing = begun.progress.look(step, self.sim());
        let mut came = begun.came.clone().filter(|it| self.is_of_here(it.branch, it.at_ms));
        let mut is_new = false;
        if let (Standing::Met(at), None, true) = (standing, &came, step.goal.is_some()) {
            let answer = step.prediction.as_ref().and_then(|it| begun.progress.answer(it, self.sim()));
            let events = step.explain.iter().map(|it| begun.progress.explain(it, self.sim())).collect();
            came = Some(Came { at_ms: at.0, answer, events, branch });
            begun.came = came.clone();
            is_new = true;
        }
        begun.was_met |= is_new;
        let seconds = |ms: Millis| ms.0.div_ceil(1_000);
        learning.stand.put(match standing {
            _ if step.goal.is_none() => Stand::Reading,
            _ if came.is_some() => Stand::Met,
            Standing::Waiting(left) => Stand::Waiting(seconds(left), seconds(step.within)),
            Standing::Late => Stand::Late,
            Standing::Before => Stand::Before,
            Standing::Met(_) => Stand::Met,
        });
        learning.can_bet.put(came.is_none() && (now.at, now.commands) == (begun.at.at, begun.at.commands));
        learning.bet.put(begun.bet);
        learning.lines.put(step.deeds.iter().map(|it| fill(&it.run, self.sim())).collect());
        learning.came.put(came);
        is_new
    }

    /// The time of the next command of the solution, where that comes before another time.
    pub(super) fn due_by(&self, until: Time) -> Time {
        let due = self.lesson.as_ref().and_then(|run| run.due.first()).map_or(until, |it| it.0);
        until.min(due.max(self.sim().now()))
    }

    /// Carries out the commands of the solution whose time has come. Returns what was refused.
    pub(super) fn do_due(&mut self, session: Session) -> Option<String> {
        loop {
            let now = self.sim().now();
            let run = self.lesson.as_mut()?;
            run.due.first().filter(|it| it.0 <= now)?;
            let (_, deed) = run.due.remove(0);
            let refused = match fill(&deed.run, self.sim()).map(|line| line.parse::<Command>()) {
                None => Some([deed.run.as_str(), ": there is no such pod now"].concat()),
                Some(Err(why)) => Some([deed.run.as_str(), ": ", &why].concat()),
                Some(Ok(command)) => {
                    let mark = self.mark();
                    let outcome = self.history.dispatch(command);
                    self.keep_typed(mark, session);
                    outcome.refusal().map(str::to_owned)
                }
            };
            if refused.is_some() {
                self.forget_due();
                return refused;
            }
        }
    }

    fn forget_due(&mut self) {
        if let Some(run) = &mut self.lesson {
            run.due.clear();
            run.learning.n_due.put(0);
        }
    }

    /// A frame's share of the way to the goal.
    fn skip_on(&mut self, session: Session) -> Result<Option<Skipped>, String> {
        let began = wall_ms();
        loop {
            if let Some(refused) = self.do_due(session) {
                return Err(refused);
            }
            self.look_at_step(began);
            let Some(run) = &mut self.lesson else { return Ok(Some(Skipped::Stopped)) };
            let within = run.step().map_or(Millis(0), |it| it.within);
            let has_due = !run.due.is_empty();
            let Some(begun) = run.now() else { return Ok(Some(Skipped::Stopped)) };
            let (end, is_met) = (begun.at.at + within, begun.came.is_some());
            let now = self.sim().now();
            if is_met && !has_due {
                return Ok(Some(Skipped::Met));
            }
            if now >= end {
                return Ok(Some(Skipped::Late));
            }
            let look = LOOK.max(within.0 / LOOKS);
            let until = self.due_by(Time((now.0 + look).min(end.0)));
            while self.run(until, CHUNK) == Ran::OnTheWay {
                if wall_ms() - began > BUDGET_MS {
                    return Ok(None);
                }
            }
            if self.stopped.is_some() {
                return Ok(Some(Skipped::Stopped));
            }
            if wall_ms() - began > BUDGET_MS {
                return Ok(None);
            }
        }
    }
}

impl Session {
    /// The open lesson.
    pub fn learning(self) -> Option<Learning> {
        self.with_core(|core| core.lesson.as_ref().map(|run| run.learning)).flatten()
    }

    /// A lesson is open: what reads it is derived anew when that ends.
    pub fn is_taught(self) -> bool {
        self.learning().is_some_and(|it| !it.is_over.get())
    }

    /// Begins a lesson in the world that is shown, which is the lesson's.
    pub fn teach(self, taught: &Taught) {
        let lesson = &taught.lesson;
        self.show_as_wished(lesson);
        if !lesson.has_course() {
            return;
        }
        let n = lesson.course.steps.len();
        let step = taught.step.min(n - 1);
        let script = Script { id: taught.id.clone(), title: lesson.title.clone(), course: lesson.course.clone() };
        let script = Rc::new(script);
        let learning = Learning {
            script: StoredValue::new_local(script.clone()),
            at: State::new(step),
            marks: State::new(vec![StepMark::Ahead; n]),
            stand: State::new(Stand::Reading),
            came: State::new(None),
            lines: State::new(Vec::new()),
            bet: State::new(None),
            can_bet: State::new(true),
            is_told: State::new(false),
            n_due: State::new(0),
            skipping: State::new(false),
            is_over: State::new(false),
        };
        self.with_core(|core| {
            let seen = (core.history.current(), 0);
            core.lesson = Some(Box::new(Run {
                learning,
                script,
                begins: lesson.moment().at,
                n_given: lesson.opening.len(),
                at: step,
                begun: (0..n).map(|_| None).collect(),
                due: Vec::new(),
                given: None,
                looked_at: f64::MIN,
                seen,
            }));
            core.begin_step(step);
        });
        self.focus.part.put(Part::Learn);
        self.look_now();
    }

    /// What a scenario wants to have on show.
    fn show_as_wished(self, lesson: &Lesson) {
        let show = &lesson.show;
        for view in show.panes.iter().chain([&show.view]) {
            if view == "console" {
                self.focus.pane.put(Part::Console);
                self.focus.first.put(Part::Console);
            }
        }
        if let Some(speed) = show.speed.filter(|_| !platform::wants_less_motion()) {
            let factor = |pace: Pace| if let Pace::Times(it) = pace { Some((it * 1_000.0) as i64) } else { None };
            let fits = |(_, pace): &(&str, Pace)| factor(*pace).is_some_and(|it| it <= speed.max(125));
            self.set_speed(SPEEDS.iter().rposition(fits).unwrap_or(0));
        }
    }

    /// Leaves the lesson. The world stays as it is.
    pub fn leave_lesson(self) {
        let Some(learning) = self.learning() else { return };
        self.stop_skipping();
        platform::unlight();
        learning.is_over.put(true);
        self.with_core(|core| core.lesson = None);
        if self.focus.part.get_untracked() == Part::Learn {
            self.focus.part.put(Part::Map);
        }
        platform::name_lesson("", 0);
    }

    /// Looks how the step stands while time passes, now and then.
    pub(super) fn look_now_and_then(self, wall: f64) {
        let is_due = |core: &mut Core| core.lesson.as_ref().is_some_and(|run| wall - run.looked_at >= LOOK_EVERY_MS);
        if self.with_core(is_due) == Some(true) {
            self.look_now();
        }
    }

    /// The same at once. What has just been reached is worth a pause.
    pub(super) fn look_now(self) {
        if self.with_core(|core| core.look_at_step(wall_ms())) == Some(true) {
            self.reached();
        }
    }

    fn reached(self) {
        let has_due = self.with_core(|core| core.lesson.as_ref().is_some_and(|run| !run.due.is_empty()));
        if has_due != Some(true) {
            self.pause();
        }
        self.say("The goal is met");
        self.remember_if_done();
    }

    /// Begins a step, or shows one that has begun.
    pub fn take_step(self, index: usize) {
        let Some(learning) = self.learning() else { return };
        let (n, is_free) = learning.script.with_value(|it| (it.course.steps.len(), it.course.is_free));
        if index >= n || index == learning.at.get_untracked() {
            return;
        }
        self.pause();
        self.leave_step(learning);
        platform::name_lesson(&learning.script.with_value(|it| it.id.clone()), index + 1);
        let has_begun = learning.marks.with_untracked(|it| it.get(index) != Some(&StepMark::Ahead));
        if has_begun {
            self.with_core(|core| core.lesson.iter_mut().for_each(|run| run.at = index));
            return self.look_now();
        }
        let then = Arrival { index, is_anew: is_free };
        if is_free {
            return self.go_then(String::new(), Some(then), |core| here(core, core.lesson.as_ref()?.begins));
        }
        if self.past.is_past.get_untracked() {
            // It follows what was done, wherever one has looked at that.
            return self.go_then(String::new(), Some(then), |core| here(core, core.history.end()));
        }
        self.with_core(|core| core.begin_step(index));
        self.look_now();
    }

    /// To the step after this one, or before it.
    pub fn next_step(self, forward: bool) {
        let Some(learning) = self.learning() else { return };
        let at = learning.at.get_untracked();
        match at.checked_add_signed(if forward { 1 } else { -1 }) {
            Some(next) => self.take_step(next),
            None => self.toast("This is the first step", Tone::Notice),
        }
    }

    /// Back to where the step began, to try it again.
    pub fn replay_step(self) {
        let Some(learning) = self.learning() else { return };
        self.pause();
        self.leave_step(learning);
        let from = self.with_core(|core| core.lesson.as_mut()?.now().map(|it| (it.branch, it.at))).flatten();
        let Some((branch, at)) = from else { return };
        let then = Arrival { index: learning.at.get_untracked(), is_anew: true };
        self.go_then(String::new(), Some(then), |core| {
            // Its branch may have been forgotten: the current one is the same up to there, or nearly.
            let (id, way) = match core.history.way_to(branch, at) {
                Some(way) => (branch, way),
                None => (core.history.current(), core.history.way_to(core.history.current(), at)?),
            };
            Some((id, way))
        });
    }

    fn leave_step(self, learning: Learning) {
        self.stop_skipping();
        self.with_core(Core::forget_due);
        learning.is_told.put(false);
        platform::unlight();
    }

    /// What follows once a step's instant is reached.
    pub(super) fn arrive(self, then: Arrival) {
        self.with_core(|core| {
            if then.is_anew && core.history.is_past() {
                core.history.fork();
            }
            core.begin_step(then.index);
        });
    }

    /// Takes down what somebody expects, in thousandths.
    pub fn bet(self, bet: Option<i64>) {
        let is_kept = self.with_core(|core| {
            core.lesson.as_mut()?.now()?.bet = bet;
            Some(())
        });
        if let (Some(Some(())), Some(learning)) = (is_kept, self.learning()) {
            learning.bet.put(bet);
        }
    }

    /// Shows the commands that solve the step.
    pub fn tell_solution(self) {
        if let Some(learning) = self.learning() {
            learning.is_told.put(!learning.is_told.get_untracked());
        }
    }

    /// Tells of a command of the solution that was refused.
    pub(super) fn after_due(self, refused: Option<String>) {
        if let Some(why) = refused {
            self.toast(why, Tone::Error);
        }
        self.tell_of_fork();
    }

    /// As fast as this machine can to where the goal is met, or to the end of the step's time.
    pub fn skip_to_goal(self) {
        let Some(learning) = self.learning() else { return };
        if let Some(words) = self.why_no_skip(learning) {
            return self.toast(words, Tone::Notice);
        }
        self.pause();
        self.stop_seeking();
        self.transport.started.put(true);
        learning.skipping.put(true);
        self.start_frames();
    }

    /// Why skipping would lead nowhere.
    fn why_no_skip(self, learning: Learning) -> Option<&'static str> {
        match learning.stand.get_untracked() {
            Stand::Late => return Some("The time of this step is over: replay it, or let time pass"),
            Stand::Met if learning.n_due.get_untracked() == 0 => return Some("The goal is met already"),
            _ => {}
        }
        let is_idle = self.with_core(|core| {
            let now = core.sim().instant();
            let run = core.lesson.as_mut()?;
            let must_act = run.due.is_empty() && run.step()?.solution.iter().any(|it| it.at == Millis(0));
            let begun = run.now()?;
            Some(must_act && now.commands <= begun.at.commands)
        });
        is_idle
            .flatten()
            .filter(|it| *it)
            .map(|_| "Nothing has been done in this step yet: do it first, or see \"Show me\"")
    }

    pub(super) fn stop_skipping(self) {
        if let Some(learning) = self.learning().filter(|it| it.skipping.get_untracked()) {
            learning.skipping.put(false);
        }
    }

    pub(super) fn is_skipping(self) -> bool {
        self.learning().is_some_and(|it| it.skipping.get_untracked())
    }

    /// One frame's share of the way; says whether another frame is wanted.
    pub(super) fn skip_on(self, wall: f64) -> bool {
        let went = self.with_core(|core| {
            let mark = core.mark();
            let went = core.skip_on(self);
            core.keep_typed(mark, self);
            core.show(self, wall);
            core.show_timeline(self, wall, false);
            core.show_console(self);
            went
        });
        self.after_typing();
        let words = match went {
            Some(Ok(None)) => return true,
            None => return false,
            Some(Ok(Some(Skipped::Late))) => "The time of this step is over, and its goal was not met",
            Some(Ok(Some(Skipped::Met))) => "The goal is met",
            Some(Ok(Some(Skipped::Stopped))) => "",
            Some(Err(refused)) => {
                self.after_due(Some(refused));
                ""
            }
        };
        self.stop_skipping();
        self.settle();
        if !words.is_empty() {
            self.say(words);
        }
        self.remember_if_done();
        self.stop_if_met();
        false
    }

    fn remember_if_done(self) {
        let is_done =
            self.with_core(|core| core.lesson.as_ref().filter(|run| run.is_done()).map(|run| run.script.id.clone()));
        if let Some(id) = is_done.flatten() {
            remember(&id);
        }
    }

    /// What the step says of lines in the console; nothing where the line may be run.
    pub(super) fn is_not_allowed(self, line: &str) -> Option<String> {
        let step =
            self.with_core(|core| core.lesson.as_ref()?.step().map(|it| (it.allows(line), it.allowed.join(", "))));
        let (_, allowed) = step.flatten().filter(|(allows, _)| !allows)?;
        Some(["This step takes only lines that begin with: ", &allowed].concat())
    }
}

/// The lessons that were done, as far as the browser keeps anything.
pub fn lessons_done() -> Vec<String> {
    platform::load(DONE).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn remember(id: &str) {
    let mut done = lessons_done();
    if !id.is_empty() && !done.iter().any(|it| it == id) {
        done.push(id.to_owned());
        platform::save(DONE, &done.join(" "));
    }
}
