//! How trace events are kept: written down when they happen, and read again when somebody looks.

use std::rc::Rc;

use super::{Arg, Author, Changed, Facts, Field, LoopIndex, Note, TurnPhase, What};
use crate::api::{Kind, ObjectKey, Text};
use crate::apiserver::{ChangeKind, Effect, EventDraft};
use crate::sim::{Log, LogReader, Logged, Millis};

impl Logged for What {
    fn may_begin(&self) -> bool {
        matches!(self, What::Began | What::Commanded(_) | What::Ticked(_) | What::Resynced)
    }

    fn write(&self, log: &mut Log) {
        match self {
            What::Began => log.number(0),
            What::Commanded(note) => {
                log.number(1);
                note.write(log);
            }
            What::Ticked(at) => numbers(log, [2, at.0.into()]),
            What::Resynced => log.number(3),
            What::Told { to, key, change, version } => {
                numbers(log, [4, to.0.into(), *change as u64, *version]);
                key.write(log);
            }
            What::Reached { by, key, phase, facts } => {
                numbers(log, [5, by.0.into(), *phase as u64]);
                key.write(log);
                facts.text.write(log);
                log.number(facts.detail.is_some().into());
                facts.detail.iter().for_each(|detail| detail.write(log));
            }
            What::Wrote { author, key, method, subresource, effect, version, changed } => {
                numbers(log, [6, author.number(), *effect as u64, *version, changed.len() as u64]);
                write_request(log, key, method, subresource);
                changed.iter().for_each(|it| it.write(log));
            }
            What::Refused { author, key, method, subresource, code, message } => {
                numbers(log, [7, author.number(), (*code).into()]);
                write_request(log, key, method, subresource);
                log.text(message);
            }
            What::Failed { by, key, error, retry } => {
                numbers(log, [8, by.0.into(), retry.0]);
                key.write(log);
                log.text(error);
            }
            What::Happened { node, pod, note } => {
                log.number(9);
                log.text(node);
                pod.write(log);
                note.write(log);
            }
            What::Outside { place, note } => {
                log.number(13);
                log.text(place);
                note.write(log);
            }
            What::Announced { by, event } => {
                numbers(log, [10, by.0.into(), event.is_warning.into()]);
                write_request(log, &event.about, event.reason, event.component);
                log.text(&event.message);
            }
            What::Faulted(note) => {
                log.number(11);
                note.write(log);
            }
        }
    }

    fn read(from: &mut LogReader<'_>) -> Self {
        match from.number() {
            0 => What::Began,
            1 => What::Commanded(Note::read(from)),
            2 => What::Ticked(LoopIndex::read(from)),
            3 => What::Resynced,
            4 => {
                let to = LoopIndex::read(from);
                let change = pick([ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted], from);
                let version = from.number();
                What::Told { to, change, version, key: ObjectKey::read(from) }
            }
            5 => {
                let by = LoopIndex::read(from);
                let phase = pick([TurnPhase::Observe, TurnPhase::Diff, TurnPhase::Act], from);
                let key = ObjectKey::read(from);
                let text = Note::read(from);
                let detail = (from.number() == 1).then(|| Note::read(from));
                What::Reached { by, key, phase, facts: Rc::new(Facts { text, detail }) }
            }
            6 => {
                let author = Author::read(from);
                let effect = pick(Effect::ALL, from);
                let (version, n_changed) = (from.number(), from.number());
                let (key, [method, subresource]) = read_request(from);
                let changed = (0..n_changed).map(|_| Changed::read(from)).collect();
                What::Wrote { author, key, method, subresource, effect, version, changed }
            }
            7 => {
                let (author, code) = (Author::read(from), from.number() as u16);
                let (key, [method, subresource]) = read_request(from);
                What::Refused { author, key, method, subresource, code, message: from.text().into() }
            }
            8 => {
                let (by, retry) = (LoopIndex::read(from), Millis(from.number()));
                What::Failed { by, retry, key: ObjectKey::read(from), error: from.text().into() }
            }
            9 => {
                let node = from.text().into();
                What::Happened { node, pod: ObjectKey::read(from), note: Note::read(from) }
            }
            11 => What::Faulted(Note::read(from)),
            13 => {
                let place = from.text().into();
                What::Outside { place, note: Note::read(from) }
            }
            _ => {
                let (by, is_warning) = (LoopIndex::read(from), from.number() == 1);
                let (about, [reason, component]) = read_request(from);
                let event = EventDraft { about, is_warning, reason, component, message: from.text().into() };
                What::Announced { by, event: Rc::new(event) }
            }
        }
    }
}

impl Logged for ObjectKey {
    fn write(&self, log: &mut Log) {
        log.number(self.kind as u64);
        log.text(&self.namespace);
        log.text(&self.name);
    }

    fn read(from: &mut LogReader<'_>) -> Self {
        let kind = Kind::ALL.get(from.number() as usize).copied().unwrap_or(Kind::Namespace);
        let namespace = from.text();
        Self::new(kind, namespace, from.text())
    }
}

impl Logged for Note {
    fn write(&self, log: &mut Log) {
        log.word(self.text);
        log.number(self.args.len() as u64);
        self.args.iter().for_each(|arg| arg.write(log));
    }

    fn read(from: &mut LogReader<'_>) -> Self {
        let text = from.word();
        Self { text, args: (0..from.number()).map(|_| Arg::read(from)).collect() }
    }
}

impl Logged for Arg {
    fn write(&self, log: &mut Log) {
        match self {
            Arg::Int(value) => numbers(log, [0, *value as u64]),
            Arg::Name(name) => text(log, 1, name),
            Arg::Short(name) => text(log, 2, name),
            Arg::Key(key) => {
                log.number(3);
                key.write(log);
            }
            Arg::Word(word) => {
                log.number(4);
                log.word(word);
            }
            Arg::Text(long) => text(log, 5, long),
            Arg::Millis(ms) => numbers(log, [6, *ms]),
        }
    }

    fn read(from: &mut LogReader<'_>) -> Self {
        match from.number() {
            0 => Arg::Int(from.number() as i64),
            1 => Arg::Name(from.text().into()),
            2 => Arg::Short(from.text().into()),
            3 => Arg::Key(ObjectKey::read(from)),
            4 => Arg::Word(from.word()),
            5 => Arg::Text(from.text().into()),
            _ => Arg::Millis(from.number()),
        }
    }
}

impl Logged for Changed {
    fn write(&self, log: &mut Log) {
        match &self.field {
            Field::Condition(kind) => write_text(log, 0, kind),
            Field::Reason(kind) => write_text(log, 2, kind),
            Field::Container(name) => text(log, 4, name),
            Field::Of(field) => {
                log.number(5);
                log.word(field);
            }
        }
        self.from.write(log);
        self.to.write(log);
    }

    fn read(from: &mut LogReader<'_>) -> Self {
        let field = match from.number() {
            tag @ (0 | 1) => Field::Condition(read_text(tag == 0, from)),
            tag @ (2 | 3) => Field::Reason(read_text(tag == 2, from)),
            4 => Field::Container(from.text().into()),
            _ => Field::Of(from.word()),
        };
        Self { field, from: Arg::read(from), to: Arg::read(from) }
    }
}

/// A tag, or the one after it for a text that is not the program's own.
fn write_text(log: &mut Log, tag: u64, it: &Text) {
    match it.own() {
        Some(word) => {
            log.number(tag);
            log.word(word);
        }
        None => text(log, tag + 1, it),
    }
}

fn read_text(is_own: bool, from: &mut LogReader<'_>) -> Text {
    if is_own { from.word().into() } else { from.text().to_owned().into() }
}

fn text(log: &mut Log, tag: u64, text: &str) {
    log.number(tag);
    log.text(text);
}

fn numbers<const N: usize>(log: &mut Log, all: [u64; N]) {
    all.into_iter().for_each(|number| log.number(number));
}

/// One of a few by its number.
fn pick<T: Copy, const N: usize>(all: [T; N], from: &mut LogReader<'_>) -> T {
    all[(from.number() as usize).min(N - 1)]
}

fn write_request(log: &mut Log, key: &ObjectKey, one: &'static str, other: &'static str) {
    key.write(log);
    log.word(one);
    log.word(other);
}

fn read_request(from: &mut LogReader<'_>) -> (ObjectKey, [&'static str; 2]) {
    (ObjectKey::read(from), [from.word(), from.word()])
}

impl LoopIndex {
    fn read(from: &mut LogReader<'_>) -> Self {
        Self(from.number() as u32)
    }
}

impl Author {
    fn number(self) -> u64 {
        match self {
            Author::You => 0,
            Author::Loop(at) => u64::from(at.0) + 1,
        }
    }

    fn read(from: &mut LogReader<'_>) -> Self {
        from.number().checked_sub(1).map_or(Author::You, |at| Author::Loop(LoopIndex(at as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note;

    fn all_changed() -> Vec<Changed> {
        let fields = [
            Field::Condition("Ready".into()),
            Field::Condition("Ready".to_string().into()),
            Field::Reason("Ready".into()),
            Field::Reason("Mine".to_string().into()),
            Field::Container("app".into()),
            Field::Of("status.replicas"),
        ];
        fields.into_iter().map(|field| Changed { field, from: Arg::Word(""), to: Arg::Int(-3) }).collect()
    }

    fn all() -> Vec<What> {
        let key = ObjectKey::new(Kind::Pod, "default", "web-6d4cf56db6-4kx7m");
        let node = ObjectKey::node("node-1");
        let (at, note) = (LoopIndex(300), note!("{} of {} on {}", -3, Arg::Short(key.name.clone()), &node));
        let more = note!("{} {} {} {}", "word", String::from("text"), &key.name, Arg::Millis(70_000));
        let facts = |detail| Rc::new(Facts { text: note.clone(), detail });
        let mut all = vec![What::Began, What::Commanded(more.clone()), What::Ticked(at), What::Resynced];
        for change in [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted] {
            all.push(What::Told { to: at, key: key.clone(), change, version: 12_345 });
        }
        for (phase, detail) in [(TurnPhase::Observe, None), (TurnPhase::Diff, Some(more)), (TurnPhase::Act, None)] {
            all.push(What::Reached { by: at, key: key.clone(), phase, facts: facts(detail) });
        }
        for effect in Effect::ALL {
            let (key, method, subresource) = (key.clone(), "PUT", "status");
            let changed = all_changed();
            all.push(What::Wrote { author: Author::Loop(at), key, method, subresource, effect, version: 1, changed });
        }
        let (author, method, subresource, message) = (Author::You, "POST", "", "no".to_string());
        all.push(What::Refused { author, key: key.clone(), method, subresource, code: 422, message });
        all.push(What::Failed { by: at, key: key.clone(), error: "no".into(), retry: Millis(5) });
        all.push(What::Happened { node: "node-1".into(), pod: key.clone(), note: note.clone() });
        all.push(What::Outside { place: "cloud".into(), note: note.clone() });
        for is_warning in [false, true] {
            let (about, reason, message, component) = (key.clone(), "Pulled", "Pulled it".into(), "kubelet");
            let event = Rc::new(EventDraft { about, is_warning, reason, message, component });
            all.push(What::Announced { by: LoopIndex(0), event });
        }
        all
    }

    #[test]
    fn every_event_is_read_as_it_was_written() {
        let mut log = Log::default();
        let places = all().iter().map(|what| (log.end(), what.write(&mut log)).0).collect::<Vec<_>>();
        let read: Vec<What> = places.into_iter().map(|place| What::read(&mut log.read_from(place))).collect();
        assert_eq!(read, all());
    }
}
