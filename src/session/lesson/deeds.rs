//! What a step proposes to do, and its solution: carried out at once, or each at its time.

use loopscope_engine::lesson::{Deed, fill};
use loopscope_engine::sim::Millis;
use loopscope_engine::world::Command;

use super::{Core, Session, Tone};

impl Core {
    /// Takes down that a proposed command is given; where those before it need some time to be seen, it waits for that.
    /// Says for how long, in ms of virtual time; nothing where it is to be carried out now.
    fn put_off(&mut self, index: usize) -> Option<u64> {
        let now = self.sim().now();
        let run = self.lesson.as_mut()?;
        let deeds = &run.step()?.deeds;
        let deed: Deed = deeds.get(index)?.clone();
        let earliest = run.given.filter(|(before, _)| *before < index).and_then(|(before, at)| {
            let gap = Millis(deed.at.0.saturating_sub(deeds.get(before)?.at.0));
            Some(at + gap)
        });
        let at = earliest.filter(|it| *it > now);
        run.given = Some((index, at.unwrap_or(now)));
        let at = at?;
        run.due.push((at, deed));
        run.learning.n_due.put(run.due.len());
        Some(at.since(now).0)
    }
}

impl Session {
    /// Carries out one of the commands that are proposed, no sooner after the one before than the lesson says: what that
    /// one did has to be seen first.
    pub fn do_deed(self, index: usize) {
        if let Some(ms) = self.with_core(|core| core.put_off(index)).flatten() {
            let seconds = ms.div_ceil(1_000).to_string();
            self.toast(["Follows in ", &seconds, " s of virtual time"].concat(), Tone::Notice);
            return self.play();
        }
        let line = self.with_core(|core| {
            let deed = core.lesson.as_ref()?.step()?.deeds.get(index)?;
            Some(fill(&deed.run, core.sim()))
        });
        match line.flatten() {
            None => {}
            Some(None) => self.toast("There is no such pod now", Tone::Error),
            Some(Some(line)) => match line.parse::<Command>() {
                Ok(command) => self.meddle(command),
                // Only a console takes it: it looks, and changes nothing.
                Err(_) => self.run_line(&line),
            },
        }
        self.look_now();
    }

    /// A command as it would be typed now.
    pub fn filled(self, run: &str) -> String {
        self.with_core(|core| fill(run, core.sim())).flatten().unwrap_or_else(|| run.to_owned())
    }

    /// Carries them out, each at its time from now on.
    pub fn do_solution(self) {
        self.stop_seeking();
        let refused = self.with_core(|core| {
            let now = core.sim().now();
            let run = core.lesson.as_mut()?;
            let deeds = run.step()?.solution.clone();
            run.due = deeds.into_iter().map(|deed| (now + deed.at, deed)).collect();
            core.do_due(self)
        });
        self.after_due(refused.flatten());
        self.refresh();
    }
}
