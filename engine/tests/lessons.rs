//! The lessons that come with the page: each is read, played without its solution and with it, and what it says is so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use loopscope_engine::kubectl::{Block, End, Terminal};
use loopscope_engine::lesson::{self, CONCEPTS, Deed, Lesson, Played, Progress, Prose, Standing, Step, number_text};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::Simulation;

const ENGINE: &str = env!("CARGO_MANIFEST_DIR");

fn folder() -> PathBuf {
    Path::new(ENGINE).join("../public/scenarios")
}

/// All of them by their ids, in their order.
fn lessons() -> Vec<(String, Lesson)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder()).expect("the folder is there").filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_none_or(|it| it != "yaml") {
            continue;
        }
        let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("it can be read");
        let lesson = lesson::read(&text).unwrap_or_else(|mistakes| {
            let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            panic!("{id}.yaml\n{}", told.join("\n"))
        });
        all.push((id, lesson));
    }
    all.sort_by_key(|(id, lesson)| (lesson.course.order, id.clone()));
    all
}

fn opened(id: &str, lesson: &Lesson) -> Simulation {
    lesson::open(lesson).unwrap_or_else(|why| panic!("{id}: {why}"))
}

#[track_caller]
fn played(place: &str, simulation: &mut Simulation, step: &Step, deeds: &[Deed]) -> Played {
    lesson::play(simulation, step, deeds).unwrap_or_else(|why| panic!("{place}: {why}"))
}

/// A step that starts where it starts: after the ones before it, or, of a free course, at the beginning.
fn each_step(mut act: impl FnMut(&str, &Lesson, &Step, &mut Simulation)) {
    for (id, lesson) in lessons() {
        let mut simulation = opened(&id, &lesson);
        for (at, step) in lesson.course.steps.iter().enumerate() {
            if lesson.course.is_free {
                simulation = opened(&id, &lesson);
            }
            act(&format!("{id}, step {}", at + 1), &lesson, step, &mut simulation);
        }
    }
}

/// All that a step says to people.
fn texts(step: &Step) -> Vec<&Prose> {
    let prediction = step.prediction.iter();
    let mut all = vec![&step.text, &step.then];
    all.extend(step.explain.iter().map(|it| &it.text));
    all.extend(prediction.flat_map(|it| [&it.question, &it.right, &it.wrong]));
    all.extend(step.prediction.iter().flat_map(|it| it.choices.iter().map(|choice| &choice.text)));
    all
}

/// Each goal is out of reach without its solution, and reached with it in the time that the step says; each prediction's
/// answer is the one that the engine finds; each claim holds; each link to an event finds one.
#[test]
fn every_lesson_can_be_done_and_none_does_itself() {
    each_step(|place, _, step, simulation| {
        if step.goal.is_none() {
            return;
        }
        let mut alone = simulation.clone();
        let idle = played(place, &mut alone, &Step { within: Millis(0), ..step.clone() }, &[]);
        assert!(!matches!(idle.standing, Standing::Met(_)), "{place}: its goal is met before anything is done");
        if !step.solution.is_empty() {
            let idle = played(place, &mut alone, step, &[]);
            assert!(!matches!(idle.standing, Standing::Met(_)), "{place}: its goal is met though nothing is done");
        }
        let done = played(place, simulation, step, &step.solution);
        assert!(matches!(done.standing, Standing::Met(_)), "{place}: not reached: {:#?}", done.lines);
        let (oldest, began) = (simulation.trace().oldest_seq(), done.progress.memory.seq);
        assert!(oldest.0 <= began.0 + 1, "{place}: the trace begins at {oldest:?}, the step after {began:?}");
        if let Some(prediction) = &step.prediction {
            let came = done.progress.answer(prediction, simulation);
            let told = came.map(number_text);
            let is_right = came.is_some_and(|came| prediction.is_right(prediction.answer, came));
            assert!(is_right, "{place}: it says {}, and {told:?} came", number_text(prediction.answer));
        }
        for claim in &step.claims {
            let mut memory = done.progress.memory.clone();
            assert!(claim.that.is_met(simulation, &mut memory), "{place}: \"{}\" does not hold", claim.says);
        }
        for explain in &step.explain {
            let event = done.progress.explain(explain, simulation);
            assert!(event.is_some(), "{place}: nothing is explained by: {}", explain.text.plain());
        }
    });
}

/// Where no command of the lesson is given, no step's goal comes true by itself: not even one that only takes waiting.
#[test]
fn without_any_solution_no_goal_is_reached() {
    for (id, lesson) in lessons() {
        let waits = lesson.course.steps.iter().filter(|it| it.goal.is_some() && it.solution.is_empty());
        for step in waits {
            let mut simulation = opened(&id, &lesson);
            let idle = played(&id, &mut simulation, step, &[]);
            assert!(!matches!(idle.standing, Standing::Met(_)), "{id}: {} comes true by itself", step.title);
        }
    }
}

/// Plays a step's solution as somebody does who types kubectl's commands into the console.
fn typed(place: &str, simulation: &mut Simulation, step: &Step) -> Standing {
    let (mut terminal, mut progress) = (Terminal::default(), Progress::begin(simulation));
    let (began, mut next) = (simulation.now(), 0);
    loop {
        // The next line is typed once the one before has ended.
        let is_due = |it: &&Deed| began + it.at <= simulation.now() && !terminal.is_busy();
        if let Some(deed) = step.solution.get(next).filter(is_due) {
            let line = lesson::fill(&deed.run, simulation).unwrap_or_else(|| panic!("{place}: {}", deed.run));
            if deed.is_kubectl() {
                terminal.enter(&line);
            } else {
                let outcome = simulation.dispatch(line.parse().expect("a command"));
                assert!(outcome.is_ok(), "{place}: {line}: {outcome:?}");
            }
            next += 1;
        }
        let now = simulation.now();
        while terminal.is_busy() && terminal.poll(simulation, now) {}
        let standing = progress.look(step, simulation);
        let is_done = next == step.solution.len() && !terminal.is_busy();
        if (is_done && matches!(standing, Standing::Met(_))) || standing == Standing::Late {
            let failed = terminal.blocks().iter().find(|it| !matches!(it.end, End::Exit(0) | End::Open));
            assert!(failed.is_none(), "{place}: {}", failed.map(Block::text).unwrap_or_default());
            return standing;
        }
        simulation.run_until(now + Millis(100), 1_000_000);
    }
}

/// Goals say what has to be so: not what the names of pods are, which ms it is, or which words bring it about.
#[test]
fn solutions_work_from_another_seed_and_typed_into_the_console() {
    for (id, mut lesson) in lessons() {
        lesson.scenario.seed += 1_000;
        let mut simulation = opened(&id, &lesson);
        for step in lesson.course.steps.iter().filter(|it| it.goal.is_some()) {
            if lesson.course.is_free {
                simulation = opened(&id, &lesson);
            }
            let standing = typed(&format!("{id}, {}", step.title), &mut simulation, step);
            assert!(matches!(standing, Standing::Met(_)), "{id}: {}", step.title);
        }
    }
}

/// Words in square brackets light up something that is there.
#[test]
fn every_part_that_is_named_is_there() {
    let slug = |name: &str| name.to_ascii_lowercase().replace(' ', "-");
    each_step(|place, lesson, step, _| {
        let world = opened(place, lesson);
        for part in texts(step).into_iter().flat_map(Prose::parts) {
            let is_there = match part.what.as_str() {
                "loop" => world.loops().iter().any(|it| slug(&it.name) == part.which),
                "phase" => ["observe", "diff", "act"].contains(&part.which.as_str()),
                "view" => lesson::VIEWS.contains(&part.which.as_str()),
                "process" => ["kube-controller-manager", "kube-scheduler", "thermostat"].contains(&part.which.as_str()),
                "object" => {
                    let (kind, name) = part.which.split_once('/').expect("kind/name");
                    let mut keys = world.api().objects().iter().map(|(key, _)| key);
                    keys.any(|key| key.kind.name().eq_ignore_ascii_case(kind) && *key.name == *name)
                }
                _ => true,
            };
            assert!(is_there, "{place}: there is no #{}/{}", part.what, part.which);
        }
    });
}

fn sources(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Whether a lesson's backing is there: `cases::s1_…` in a test's file or folder, or `recording b_delete_pods`.
fn is_backing(name: &str) -> bool {
    if let Some(recording) = name.strip_prefix("recording ") {
        return Path::new(ENGINE).join(format!("tests/data/traces/{recording}.json.gz")).exists();
    }
    let Some((place, test)) = name.split_once("::") else { return false };
    let tests = Path::new(ENGINE).join("tests");
    let mut files = sources(&tests.join(place));
    files.push(tests.join(format!("{place}.rs")));
    files.iter().filter_map(|file| fs::read_to_string(file).ok()).any(|text| text.contains(&format!("fn {test}(")))
}

#[test]
fn what_backs_a_lesson_is_there() {
    for (id, lesson) in lessons() {
        assert!(!lesson.course.backed_by.is_empty(), "{id} is backed by nothing");
        for name in &lesson.course.backed_by {
            assert!(is_backing(name), "{id}: there is no {name}");
        }
    }
    assert!(!is_backing("cases::s1_a_deleted_pod_stays_away") && !is_backing("recording none") && !is_backing("cases"));
}

/// Each point of the concept has a lesson, and each lesson is of a length for one sitting.
#[test]
fn every_point_of_the_concept_has_its_lesson() {
    let all = lessons();
    let told: Vec<&str> = all.iter().flat_map(|(_, it)| it.course.concepts.iter().map(String::as_str)).collect();
    for concept in CONCEPTS {
        assert!(told.contains(&concept), "no lesson is about {concept}");
    }
    assert!(all.len() >= 19, "{}", all.len());
    for (id, lesson) in &all {
        let course = &lesson.course;
        assert!((2..=5).contains(&course.minutes) || course.is_free, "{id}: {} min", course.minutes);
        assert!((3..=6).contains(&course.steps.len()), "{id}: {} steps", course.steps.len());
        assert!(course.is_free || course.steps.iter().any(|it| it.prediction.is_some()), "{id} asks for no prediction");
        let is_id = id.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
        assert!(is_id && !course.concepts.is_empty() && !lesson.summary.is_empty(), "{id}");
        assert!(!lesson.show.view.is_empty(), "{id} shows nothing");
    }
    let orders: BTreeMap<u32, &str> = all.iter().map(|(id, it)| (it.course.order, id.as_str())).collect();
    assert_eq!(orders.len(), all.len(), "two lessons have the same place: {orders:?}");
}

/// What a step claims, it also says.
#[test]
fn claims_are_words_of_the_lesson() {
    each_step(|place, _, step, _| {
        let all: String = texts(step).into_iter().map(|it| it.plain() + "\n").collect();
        for claim in &step.claims {
            let says = Prose::read(&claim.says).expect("a text").plain();
            assert!(all.to_lowercase().contains(&says.to_lowercase()), "{place} does not say \"{says}\":\n{all}");
        }
    });
}

/// `index.json` is what the files say: `cargo run -p loopscope-run -- --index public/scenarios` writes it.
#[test]
fn the_index_is_what_the_files_say() {
    let all = lessons();
    let all: Vec<(&str, &Lesson)> = all.iter().map(|(id, lesson)| (id.as_str(), lesson)).collect();
    let text = fs::read_to_string(folder().join("index.json")).expect("the index is there");
    assert_eq!(text, format!("{:#}\n", lesson::index(&all)), "loopscope-run --index writes it anew");
    let listed = lesson::read_index(&text);
    for ((id, lesson), listed) in all.iter().zip(&listed) {
        let course = &lesson.course;
        assert_eq!((&*listed.id, &listed.title, &listed.concepts), (*id, &lesson.title, &course.concepts));
        assert_eq!((listed.minutes, listed.n_steps as usize), (course.minutes, course.steps.len()));
    }
    assert_eq!(listed.len(), all.len());
}
