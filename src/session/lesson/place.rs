//! Where somebody is in a lesson, as text: kept for the tab beside the steps, and found again with them.

use loopscope_engine::lesson::Progress;
use loopscope_engine::sim::{Seq, Time};
use loopscope_engine::world::Instant;

use super::{Begun, Core, Run, Session};
use crate::platform;

/// What it is stored as.
const STORED: &str = "tab-lesson";

impl Run {
    /// The lesson; the step; a line for each that has begun.
    fn place(&self) -> String {
        let mut text = [self.script.id.as_str(), "\n", &self.at.to_string()].concat();
        for (index, begun) in self.begun.iter().enumerate() {
            let Some(it) = begun else { continue };
            let Instant { at, commands, nth } = it.at;
            let numbers =
                [index as u64, at.0, commands.into(), nth.into(), it.first.memory.seq.0, u64::from(it.was_met)];
            text.push('\n');
            for number in numbers {
                text.push_str(&number.to_string());
                text.push(' ');
            }
            text.push_str(&it.bet.map_or_else(|| "-".to_owned(), |it| it.to_string()));
        }
        text
    }
}

impl Core {
    /// Puts the lesson that is open to where it was. Says which step that is.
    fn resume(&mut self, text: &str) -> Option<usize> {
        let branch = self.history.current();
        let run = self.lesson.as_mut()?;
        let mut lines = text.lines();
        lines.next().filter(|it| *it == run.script.id)?;
        let at = lines.next()?.parse().ok().filter(|it| *it < run.begun.len())?;
        for line in lines {
            let mut words = line.split(' ');
            let mut number = || words.next()?.parse::<u64>().ok();
            let place = run.begun.get_mut(usize::try_from(number()?).ok()?)?;
            let begins = Time(number()?);
            let commands = u32::try_from(number()?).ok()?;
            let instant = Instant { at: begins, commands, nth: u32::try_from(number()?).ok()? };
            let first = Progress::since(begins, Seq(number()?));
            let was_met = number()? == 1;
            let bet = words.next().and_then(|it| it.parse().ok());
            *place =
                Some(Begun { branch, at: instant, first: first.clone(), progress: first, came: None, was_met, bet });
        }
        run.at = at;
        Some(at)
    }
}

impl Session {
    pub(in crate::session) fn keep_place(self) {
        let place = self.with_core(|core| core.lesson.as_ref().map(|run| run.place())).flatten();
        if let Some(text) = place.filter(|_| self.was_acted_in()) {
            platform::save_for_tab(STORED, &text);
        }
    }

    /// To the step that one was in before the page was reloaded.
    pub(in crate::session) fn resume_lesson(self) {
        let Some(text) = platform::load_for_tab(STORED) else { return };
        if let Some(Some(step)) = self.with_core(|core| core.resume(&text)) {
            let id = text.lines().next().unwrap_or_default();
            platform::name_lesson(id, step + 1);
            self.look_now();
        }
    }
}
