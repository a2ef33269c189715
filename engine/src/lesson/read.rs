//! A file into a lesson, or into what is wrong with it.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::fill::{check as check_blanks, read_labels};
use super::goal::{Bounds, Found, Goal, Measure, Pods, read_key, read_kind};
use super::matching::{About, Match};
use super::shape::{Checker, Shape, decimal, join, number_text, span_ms, thousandths};
use super::table::{FILE, SCENARIO};
use super::{Choice, Claim, Course, Deed, Explain, Lesson, Mistake, Prediction, Prose, Show, Step};
use crate::api::{Kind, ObjectKey};
use crate::manifest::{self, Severity, Span, Spans, located};
use crate::share::{LONGEST_MS, MARK, MOST_COMMANDS, VERSION, most_bytes, read_scenario};
use crate::sim::{Millis, Time};
use crate::world::{Command, JournalEntry, Scenario, read_journal_until};

/// How long a step may take where it does not say.
const WITHIN: Millis = Millis(60_000);
const START: Span = Span { line: 1, column: 1, length: 1 };

/// Reads a scenario file, with a lesson in it or without.
///
/// # Errors
/// All that is wrong with it.
pub fn read(text: &str) -> Result<Lesson, Vec<Mistake>> {
    let one = |message: String| vec![Mistake::at(START, "", message, String::new())];
    let most = most_bytes(text);
    if text.len() > most {
        return Err(one(["the file has more than ", &(most / 1024).to_string(), " kB"].concat()));
    }
    // The first line is a comment: with it, places are those of the file.
    let text = text.trim_start_matches('\u{feff}');
    head(text).map_err(one)?;
    let (value, spans) = located(text).map_err(|it| {
        let span = Span { line: it.line, column: it.column, length: it.length };
        vec![Mistake::at(span, "", it.message, it.hint.unwrap_or_default())]
    })?;
    let mut checker = Checker { spans: &spans, mistakes: Vec::new() };
    checker.check("", &Shape::Fields(&FILE), &value);
    if !checker.mistakes.is_empty() {
        return Err(checker.mistakes);
    }
    let mut reader = Reader { checker, spans: &spans, slots: 0 };
    let lesson = reader.lesson(&value);
    match reader.checker.mistakes {
        mistakes if mistakes.is_empty() => Ok(lesson),
        mistakes => Err(mistakes),
    }
}

/// The first line says what it is, and in which version.
fn head(text: &str) -> Result<(), String> {
    let first = text.lines().next().unwrap_or_default().trim_end();
    let mut words = first.strip_prefix(MARK).unwrap_or_default().split(' ');
    match (words.next(), words.next().map(str::parse::<u32>)) {
        (Some("scenario"), Some(Ok(version))) if version > VERSION => Err([
            "the file is in version ",
            &version.to_string(),
            " of the format; this Loopscope reads up to ",
            &VERSION.to_string(),
            ". A newer one reads it",
        ]
        .concat()),
        (Some("scenario"), Some(Ok(1..))) => Ok(()),
        _ => Err([
            "the first line must be \"",
            MARK,
            "scenario ",
            &VERSION.to_string(),
            "\": this file was not written for Loopscope",
        ]
        .concat()),
    }
}

struct Reader<'a> {
    checker: Checker<'a>,
    spans: &'a Spans,
    /// Predicates and measures so far that need a memory.
    slots: usize,
}

/// A mapping that has been checked, and its path.
#[derive(Clone, Copy)]
struct At<'a> {
    map: Option<&'a Map<String, Value>>,
    path: &'a str,
}

impl<'a> At<'a> {
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.map?.get(name)
    }

    fn text(&self, name: &str) -> String {
        match self.get(name) {
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let items = self.get(name).and_then(Value::as_array);
        items.into_iter().flatten().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect()
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(thousandths)
    }

    fn span(&self, name: &str) -> Option<Millis> {
        self.get(name).and_then(Value::as_str).and_then(span_ms).map(Millis)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }

    fn path(&self, name: &str) -> String {
        join(self.path, name)
    }
}

/// The name and the value of a mapping's only field.
fn tagged(value: &Value) -> (String, Option<Value>) {
    let found = value.as_object().and_then(|map| map.iter().next());
    found.map_or_else(Default::default, |(name, value)| (name.clone(), Some(value.clone())))
}

impl Reader<'_> {
    fn lesson(&mut self, value: &Value) -> Lesson {
        let file = At { map: value.as_object(), path: "" };
        let scenario = self.scenario(file);
        let opening = self.opening(file);
        let show_path = file.path("show");
        let shown = At { map: file.get("show").and_then(Value::as_object), path: &show_path };
        let show = self.show(shown);
        let last = opening.last().map_or(Time(0), |it| it.at);
        let begins = shown.span("at").map_or(last, |it| Time(it.0));
        if begins < last {
            self.checker.tell("show.at", &["show.at lies before the last command of the opening"]);
        }
        let course = match file.get("lesson").and_then(Value::as_object) {
            Some(map) => self.course(At { map: Some(map), path: "lesson" }),
            None => Course::default(),
        };
        let title = Some(file.text("title")).filter(|it| !it.is_empty()).unwrap_or_else(|| scenario.name.clone());
        Lesson { title, summary: file.text("summary"), scenario, opening, begins, show, course }
    }

    fn scenario(&mut self, file: At<'_>) -> Scenario {
        let mut fields = Map::new();
        for (name, value) in file.map.into_iter().flatten().filter(|(name, _)| SCENARIO.contains(&name.as_str())) {
            fields.insert(name.clone(), value.clone());
        }
        if let (false, Some(title)) = (fields.contains_key("name"), file.get("title")) {
            fields.insert("name".to_owned(), title.clone());
        }
        match read_scenario(&fields, Scenario::empty(1)) {
            Ok(scenario) => {
                self.manifest(&scenario.manifest);
                scenario
            }
            Err(wrong) => {
                self.checker.tell(&wrong.path, &[&wrong.words]);
                Scenario::empty(1)
            }
        }
    }

    fn opening(&mut self, file: At<'_>) -> Vec<Rc<JournalEntry>> {
        let Some(text) = file.get("opening").and_then(Value::as_str) else { return Vec::new() };
        let (entries, error) = read_journal_until(text, MOST_COMMANDS);
        if let Some((line, why)) = error {
            let place = Span { line: line as u32, column: 1, length: 1 };
            self.in_block("opening", place, why, String::new());
        }
        let disorder = entries.windows(2).find(|pair| pair[0].at > pair[1].at);
        if let Some(pair) = disorder {
            self.checker.tell("opening", &["the command at ", &pair[1].at.to_string(), " comes after a later one"]);
        }
        if entries.iter().any(|it| it.at.0 > LONGEST_MS) {
            self.checker.tell("opening", &["a command lies beyond a week"]);
        }
        entries.into_iter().map(Rc::new).collect()
    }

    /// What the API server would refuse to read.
    fn manifest(&mut self, text: &str) {
        for it in manifest::read(text).diagnostics.into_iter().filter(|it| it.severity == Severity::Error) {
            let place = Span { line: it.line, column: it.column, length: it.length };
            let words = if it.path.is_empty() { it.message } else { [&it.path, ": ", &it.message].concat() };
            self.in_block("manifest", place, words, it.hint.unwrap_or_default());
        }
    }

    /// A mistake in a text of lines that begins below its key.
    fn in_block(&mut self, name: &str, place: Span, why: String, hint: String) {
        let key = self.spans.locate_key(name);
        let span = Span { line: key.line + place.line, column: key.column + 1 + place.column, length: place.length };
        self.checker.mistakes.push(Mistake::at(span, name, why, hint));
    }

    fn show(&mut self, at: At<'_>) -> Show {
        let object = at.get("object").and_then(|_| self.key(at, "object"));
        Show { view: at.text("view"), panes: at.texts("panes"), object, speed: at.number("speed") }
    }

    fn course(&mut self, at: At<'_>) -> Course {
        let steps = self.each(at, "steps", Self::step);
        let course = Course {
            concepts: at.texts("concept"),
            misconception: at.text("misconception"),
            minutes: at.get("minutes").and_then(Value::as_u64).unwrap_or(0) as u32,
            backed_by: at.texts("backed-by"),
            steps,
            is_free: at.flag("free") == Some(true),
            order: at.get("order").and_then(Value::as_u64).unwrap_or(0) as u32,
        };
        if course.steps.iter().all(|it| it.goal.is_none()) {
            self.checker.tell("lesson.steps", &["lesson.steps must have a step with a goal"]);
        }
        course
    }

    fn each<T>(&mut self, at: At<'_>, name: &str, read: impl Fn(&mut Self, At<'_>) -> T) -> Vec<T> {
        let mut all = Vec::new();
        for (index, item) in at.get(name).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let path = [&at.path(name), "[", &index.to_string(), "]"].concat();
            all.push(read(self, At { map: item.as_object(), path: &path }));
        }
        all
    }

    fn step(&mut self, at: At<'_>) -> Step {
        let path = at.path("prediction");
        let prediction = at.get("prediction").and_then(Value::as_object);
        let prediction = prediction.map(|map| self.prediction(At { map: Some(map), path: &path }));
        let deeds = self.each(at, "do", Self::deed);
        let solution = match at.get("solution") {
            // Empty where waiting is all it takes.
            Some(_) => self.each(at, "solution", Self::deed),
            None => deeds.clone(),
        };
        let goal = at.get("goal").map(|value| self.goal(&at.path("goal"), value));
        let step = Step {
            title: at.text("title"),
            text: self.prose(at, "text"),
            prediction,
            allowed: at.texts("allowed"),
            deeds,
            goal,
            within: at.span("within").unwrap_or(WITHIN),
            solution,
            then: self.prose(at, "then"),
            explain: self.each(at, "explain", Self::explain),
            claims: self.each(at, "claims", Self::claim),
        };
        if step.goal.is_some() && step.solution.is_empty() && at.get("solution").is_none() {
            self.checker.tell(at.path, &["a step with a goal needs a solution: commands that reach it"]);
        }
        for deed in step.deeds.iter().chain(&step.solution).filter(|it| !step.allows(&it.run)) {
            self.checker.tell(&at.path("allowed"), &["the step does not allow its own command: ", &deed.run]);
        }
        for deed in step.solution.iter().filter(|it| it.at > step.within) {
            self.checker.tell(&at.path("solution"), &["beyond the time of the step: ", &deed.run]);
        }
        step
    }

    fn deed(&mut self, at: At<'_>) -> Deed {
        let run = at.text("run");
        let is_command = match check_blanks(&run) {
            Ok(sample) => sample.parse::<Command>().err(),
            Err(why) => Some(why),
        };
        // A console takes more than a journal: `kubectl get` only looks.
        let deed = Deed { run, label: at.text("label"), at: at.span("at").unwrap_or_default() };
        if let Some(why) = is_command.filter(|_| !deed.is_kubectl() || at.path.contains(".solution[")) {
            self.checker.tell(&at.path("run"), &["the command cannot be read: ", &why]);
        }
        deed
    }

    fn prose(&mut self, at: At<'_>, name: &str) -> Prose {
        match Prose::read(&at.text(name)) {
            Ok(prose) => prose,
            Err(why) => {
                self.checker.tell(&at.path(name), &[&why]);
                Prose::default()
            }
        }
    }

    fn prediction(&mut self, at: At<'_>) -> Prediction {
        let path = at.path("number");
        let number = at.get("number").and_then(Value::as_object).map(|map| At { map: Some(map), path: &path });
        let range = number.map(|it| (it.number("least").unwrap_or(0), it.number("most").unwrap_or(0), it.text("unit")));
        let choices = self.each(at, "choices", |this, at| Choice {
            text: this.prose(at, "text"),
            when: at.get("when").map(|value| this.goal(&at.path("when"), value)),
        });
        let answer = at.number("answer").unwrap_or(0);
        match (&range, choices.len()) {
            (Some((least, most, _)), 0) => {
                if !(least..=most).contains(&&answer) {
                    self.checker.tell(&at.path("answer"), &["the answer is not between least and most"]);
                }
            }
            (None, 2..) => {
                if !(1_000..=choices.len() as i64 * 1_000).contains(&answer) || answer % 1_000 != 0 {
                    let n = choices.len().to_string();
                    self.checker
                        .tell(&at.path("answer"), &["the answer must be the place of a choice, from 1 to ", &n]);
                }
            }
            _ => self.checker.tell(at.path, &["a prediction asks for a number, or for one of at least two choices"]),
        }
        let measure = at.get("measure").map(tagged);
        let measure = measure.and_then(|(name, inner)| {
            let path = join(&at.path("measure"), &name);
            self.measure(&name, At { map: inner.as_ref().and_then(Value::as_object), path: &path })
        });
        Prediction {
            question: self.prose(at, "question"),
            range,
            choices,
            answer,
            give: at.number("give").unwrap_or(0),
            measure,
            right: self.prose(at, "right"),
            wrong: self.prose(at, "wrong"),
        }
    }

    fn explain(&mut self, at: At<'_>) -> Explain {
        let path = at.path("event");
        let event = self.matching(At { map: at.get("event").and_then(Value::as_object), path: &path });
        Explain { text: self.prose(at, "text"), event }
    }

    fn claim(&mut self, at: At<'_>) -> Claim {
        let that = at.get("that").map(|value| self.goal(&at.path("that"), value));
        Claim { says: at.text("says"), that: that.unwrap_or(Goal::All(Vec::new())) }
    }

    fn matching(&mut self, at: At<'_>) -> Match {
        let about = match at.get("object") {
            None => About::Anything,
            Some(_) => About::read(&at.text("object")).unwrap_or_else(|| {
                self.checker.tell(&at.path("object"), &["there is no kind of object called so: ", &at.text("object")]);
                About::Anything
            }),
        };
        Match { kind: at.text("kind"), by: at.text("by"), about, text: at.text("text") }
    }

    fn key(&mut self, at: At<'_>, name: &str) -> Option<ObjectKey> {
        let key = read_key(&at.text(name));
        if key.is_none() {
            let text = at.text(name);
            self.checker
                .tell(&at.path(name), &[name, " must name an object, such as deployment/web, not \"", &text, "\""]);
        }
        key
    }

    fn goal(&mut self, path: &str, value: &Value) -> Goal {
        let (name, inner) = tagged(value);
        let path = join(path, &name);
        let inner = inner.unwrap_or(Value::Null);
        let at = At { map: inner.as_object(), path: &path };
        let nobody = || ObjectKey::new(Kind::Pod, "", "");
        match name.as_str() {
            "all" | "any" => {
                let items = inner.as_array().into_iter().flatten().enumerate();
                let goals: Vec<Goal> =
                    items.map(|(n, it)| self.goal(&[&path, "[", &n.to_string(), "]"].concat(), it)).collect();
                if goals.is_empty() {
                    self.checker.tell(&path, &[&path, " names nothing"]);
                }
                if name == "all" { Goal::All(goals) } else { Goal::Any(goals) }
            }
            "not" => Goal::Not(Box::new(self.goal(&path, &inner))),
            "stays" => {
                let slot = self.slots;
                self.slots += 1;
                let that = at.get("that").map(|it| self.goal(&at.path("that"), it));
                let ms = at.span("for").unwrap_or_default().0;
                Goal::Stays { ms, that: Box::new(that.unwrap_or(Goal::All(Vec::new()))), slot }
            }
            "converged" => Goal::Converged(inner.as_bool() != Some(false)),
            "exists" => Goal::Exists(self.key(at, "object").unwrap_or_else(nobody)),
            "observed" => Goal::Observed(self.key(at, "object").unwrap_or_else(nobody)),
            "rolled-out" => Goal::RolledOut(self.key(at, "object").unwrap_or_else(nobody)),
            "condition" => Goal::Condition {
                key: self.key(at, "object").unwrap_or_else(nobody),
                kind: at.text("type"),
                status: at.text("status"),
                reason: at.text("reason"),
            },
            "event" => {
                let key = at.get("object").and_then(|_| self.key(at, "object"));
                Goal::Event { reason: at.text("reason"), key, text: at.text("text") }
            }
            "owner" => Goal::Owner {
                key: self.key(at, "object").unwrap_or_else(nobody),
                path: at.text("path").trim_start_matches('.').to_owned(),
                manager: at.text("manager"),
            },
            "git" => {
                if at.map.is_some_and(Map::is_empty) {
                    self.checker.tell(&path, &[&path, " names nothing: sync or health"]);
                }
                Goal::Git { sync: at.text("sync"), health: at.text("health") }
            }
            "up" => Goal::Up { process: at.text("process"), is: at.flag("is") != Some(false) },
            _ => self.compare(&name, at),
        }
    }

    fn compare(&mut self, name: &str, at: At<'_>) -> Goal {
        let bounds = Bounds {
            is: at.get("is").map(|it| Found::of(Some(it))),
            least: at.number("least"),
            most: at.number("most"),
        };
        if bounds.is_empty() {
            self.checker.tell(at.path, &[at.path, " compares with nothing: is, least or most"]);
        }
        match self.measure(name, at) {
            Some(measure) => Goal::Compare(measure, bounds),
            None => Goal::All(Vec::new()),
        }
    }

    fn measure(&mut self, name: &str, at: At<'_>) -> Option<Measure> {
        Some(match name {
            "ready" => Measure::Ready(self.workload(at)?),
            "pods" => Measure::Pods(self.pods(at)?),
            "objects" => match read_kind(&at.text("kind")) {
                Some(kind) => Measure::Objects(kind),
                None => {
                    self.checker.tell(&at.path("kind"), &["there is no kind of object called so: ", &at.text("kind")]);
                    return None;
                }
            },
            "field" => Measure::Field { key: self.key(at, "object")?, path: at.text("path") },
            "trace" => {
                let slot = self.slots;
                self.slots += 1;
                let since = at.get("since").map(|_| self.inner_match(at, "since"));
                Measure::Trace(self.matching(at), since, slot)
            }
            "between" => Measure::Between(self.inner_match(at, "from"), self.inner_match(at, "to")),
            "peak" => Measure::Peak(at.text("name"), at.flag("active") == Some(true)),
            "lowest-ready" => Measure::LowestReady,
            "room" => Measure::Room(at.text("of")),
            "plan" => Measure::Plan,
            "cloud" => Measure::Cloud { id: at.text("id"), attribute: at.text("attribute") },
            "traffic" => Measure::Traffic { key: self.key(at, "to")?, of: at.text("of") },
            "fights" => {
                let key = at.get("object").and_then(|_| self.key(at, "object"));
                Measure::Fights { key, path: at.text("path").trim_start_matches('.').to_owned() }
            }
            "elapsed" => Measure::Elapsed,
            _ => return None,
        })
    }

    fn inner_match(&mut self, at: At<'_>, name: &str) -> Match {
        let path = at.path(name);
        self.matching(At { map: at.get(name).and_then(Value::as_object), path: &path })
    }

    /// The workload whose ready pods are counted; nothing in it for those of all.
    fn workload(&mut self, at: At<'_>) -> Option<Option<ObjectKey>> {
        let kinds = [
            ("deployment", Kind::Deployment),
            ("replicaset", Kind::ReplicaSet),
            ("statefulset", Kind::StatefulSet),
            ("daemonset", Kind::DaemonSet),
            ("job", Kind::Job),
        ];
        let named: Vec<ObjectKey> = kinds
            .iter()
            .filter(|(name, _)| at.get(name).is_some())
            .map(|(name, kind)| ObjectKey::new(*kind, "default", at.text(name)))
            .collect();
        match (named.as_slice(), at.flag("all")) {
            ([one], None) => Some(Some(one.clone())),
            ([], Some(true)) => Some(None),
            _ => {
                self.checker.tell(at.path, &[at.path, " must name one workload: deployment: web, or all: true"]);
                None
            }
        }
    }

    fn pods(&mut self, at: At<'_>) -> Option<Pods> {
        let labels = read_labels(&at.text("selector"));
        if labels.is_none() {
            self.checker.tell(&at.path("selector"), &["selector must be labels such as app=web"]);
        }
        Some(Pods { labels: labels?, node: at.text("node"), image: at.text("image"), state: at.text("state") })
    }
}

/// A bet as somebody typed it, in thousandths.
pub fn read_bet(text: &str) -> Option<i64> {
    decimal(text.trim()).filter(|it| !number_text(*it).is_empty())
}
