//! Scenario files that somebody opens.

use loopscope_engine::lesson::{Lesson, Progress, Standing, fill, open, play, read};
use loopscope_engine::sim::Time;
use loopscope_engine::view;

use super::share::{check_moment, check_scenario};
use super::sum;
use super::world::{look, n_pods};

/// What would be played for longer is only read.
const LONGEST: Time = Time(60_000);
const MOST_WITHIN: u64 = 120_000;
const MOST_NODES: usize = 20;
const MOST_OPENING: usize = 30;
/// Of this many inputs one is played.
const NOW_AND_THEN: u64 = 4;

pub fn scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lesson = match read(&text) {
        Ok(lesson) => lesson,
        Err(mistakes) => {
            let n_lines = 1 + text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() as u32;
            assert!(!mistakes.is_empty(), "it is refused without a word");
            for it in mistakes {
                assert!((1..=n_lines).contains(&it.line) && it.column >= 1 && !it.message.is_empty(), "{it:?}");
            }
            return;
        }
    };
    check_scenario(&lesson.scenario);
    check_moment(&lesson.moment());
    let is_long = lesson.begins > LONGEST || lesson.opening.len() > MOST_OPENING;
    if !is_long && lesson.scenario.nodes.len() <= MOST_NODES && sum(data).is_multiple_of(NOW_AND_THEN) {
        play_all(&lesson);
    }
}

fn play_all(lesson: &Lesson) {
    let Ok(mut simulation) = open(lesson) else { return };
    for step in &lesson.course.steps {
        if n_pods(&simulation) > 100 {
            return;
        }
        let mut progress = Progress::begin(&simulation);
        let standing = progress.look(step, &simulation);
        assert!(standing != Standing::Before);
        for deed in step.deeds.iter().chain(&step.solution) {
            drop((step.allows(&deed.run), fill(&deed.run, &simulation)));
        }
        if step.within.0 <= MOST_WITHIN
            && let Ok(played) = play(&mut simulation, step, &step.solution)
        {
            let _ = step.prediction.as_ref().map(|it| played.progress.answer(it, &simulation));
            let _ = step.explain.iter().filter_map(|it| played.progress.explain(it, &simulation)).count();
        }
    }
    look(&simulation);
    view::announce(&simulation);
}
