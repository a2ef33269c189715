//! What was read of a dump and what was not, in words.

use crate::api::Kind;

/// Objects that are named one by one.
const MOST_NAMED: usize = 10;

/// Objects of one kind that are not in the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub kind: String,
    /// The version, where no such kind is known.
    pub version: String,
    pub count: usize,
}

/// What became of what a dump holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What the world is made of.
    pub read: Vec<(Kind, usize)>,
    pub left_out: Vec<LeftOut>,
    /// What was taken out of objects while reading, and how often.
    pub dropped: Vec<(&'static str, usize)>,
    /// The first objects that could not be read: which, and why.
    pub broken: Vec<String>,
    pub n_broken: usize,
    /// Objects that stood there more than once.
    pub n_twice: usize,
    /// What was made up or put aside so that the world can begin as the cluster stood.
    pub notes: Vec<String>,
}

impl Report {
    pub(super) fn leave_out(&mut self, kind: &str, version: &str) {
        match self.left_out.iter_mut().find(|it| it.kind == kind && it.version == version) {
            Some(it) => it.count += 1,
            None => {
                // A text of a million kinds is no dump.
                if self.left_out.len() < 1_000 {
                    self.left_out.push(LeftOut { kind: kind.into(), version: version.into(), count: 1 });
                }
            }
        }
    }

    pub(super) fn broken(&mut self, who: &str, line: Option<u32>, why: &str) {
        self.n_broken += 1;
        if self.broken.len() < MOST_NAMED {
            let place = line.map_or_else(String::new, |line| [" (line ", &line.to_string(), ")"].concat());
            self.broken.push([who, &place, ": ", why].concat());
        }
    }

    pub(super) fn note_twice(&mut self) {
        self.n_twice += 1;
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.read.iter().find(|(it, _)| *it == kind).map_or(0, |(_, count)| *count)
    }

    /// Sentences, the most important first.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |head: &str, all: Vec<String>| {
            if !all.is_empty() {
                lines.push([head, ": ", &all.join(", "), "."].concat());
            }
        };
        say("Read", self.read.iter().map(|(kind, count)| counted(*count, kind.name())).collect());
        say("Left out", self.left_out.iter().map(LeftOut::words).collect());
        say("Dropped", self.dropped.iter().map(|(what, count)| [&count.to_string(), " ", what].concat()).collect());
        if self.n_twice > 0 {
            lines.push([&self.n_twice.to_string(), " stood there more than once; the first counts."].concat());
        }
        lines.extend(self.notes.iter().cloned());
        lines.extend(self.broken.iter().map(|it| ["Could not be read: ", it, "."].concat()));
        if self.n_broken > self.broken.len() {
            let more = self.n_broken - self.broken.len();
            lines.push([&more.to_string(), " more could not be read."].concat());
        }
        lines
    }
}

impl LeftOut {
    fn words(&self) -> String {
        let name = counted(self.count, &short(&self.kind));
        if self.version.is_empty() { name } else { [&name, " (", &short(&self.version), ")"].concat() }
    }
}

/// What anybody may have written is not told at full length.
fn short(text: &str) -> String {
    if text.chars().count() <= 64 { text.into() } else { text.chars().take(64).chain(['…']).collect() }
}

/// `3 Pods`
fn counted(count: usize, kind: &str) -> String {
    let plural = match kind {
        _ if count == 1 => kind.to_owned(),
        _ if kind.ends_with("cy") || kind.ends_with("ity") => [&kind[..kind.len() - 1], "ies"].concat(),
        _ if kind.ends_with('s') => [kind, "es"].concat(),
        _ => [kind, "s"].concat(),
    };
    [&count.to_string(), " ", &plural].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_in_words() {
        let all = [(1, "Pod"), (2, "Pod"), (3, "Ingress"), (2, "NetworkPolicy"), (2, "PriorityClass")];
        let words: Vec<String> = all.into_iter().map(|(count, kind)| counted(count, kind)).collect();
        assert_eq!(words, ["1 Pod", "2 Pods", "3 Ingresses", "2 NetworkPolicies", "2 PriorityClasses"]);
    }
}
