use super::{Ask, Command, JournalEntry, Simulation, Subject, Target};
use crate::apiserver::Propagation;
use crate::client::Note;
use crate::manifest::{self, Manifest};
use crate::note;
use crate::sim::Seq;

/// Characters of a patch that are told.
const MOST_OF_A_PATCH: usize = 80;

const REFUSED: &str = "**refused**";

/// Bytes of a manifest that is read for nothing but its objects' names.
const MOST_OF_A_MANIFEST: usize = 32 * 1024;

impl Command {
    /// What a person did with it, without the subject: `deleted pod **web-1**`.
    pub fn words(&self) -> String {
        self.note().to_string()
    }

    fn note(&self) -> Note {
        let manifest = self.manifest().filter(|it| it.len() <= MOST_OF_A_MANIFEST).map(manifest::read);
        describe_with(self, manifest.as_ref())
    }
}

/// The same where what the text holds is known: one with nothing to send is refused before there is a request.
pub(super) fn describe_with(command: &Command, manifest: Option<&Manifest>) -> Note {
    let why = match command {
        Command::Apply { .. } => manifest.and_then(|it| it.refusal(false)),
        Command::Replace { .. } => manifest.and_then(|it| it.refusal(true)),
        _ => None,
    };
    match (command, why) {
        (Command::Apply { .. }, Some(why)) => note!("tried to apply a manifest, **refused**: {}", why.to_owned()),
        (_, Some(why)) => note!("tried to replace an object, **refused**: {}", why.to_owned()),
        (_, None) => describe(command, manifest),
    }
}

/// A command in words, without the subject; for one with a manifest, that as it was read.
pub(super) fn describe(command: &Command, manifest: Option<&Manifest>) -> Note {
    let kind = |target: &Target| target.kind.name().to_ascii_lowercase();
    let name = |target: &Target| target.name.clone();
    match command {
        Command::Apply { .. } => applied(manifest),
        Command::Replace { .. } => match manifest.and_then(|it| it.documents.first()).map(|it| it.object.key()) {
            Some(key) => note!("replaced {} **{}** by an edited one", key.kind.name(), &key.name),
            None => note!("replaced an object by an edited one"),
        },
        Command::Scale { target, replicas } => note!("set **replicas {}** on {}", *replicas, name(target)),
        Command::SetImage { target, image, .. } => note!("set image **{}** on {}", image.clone(), name(target)),
        Command::Rollback { target, to_revision: 0 } => note!("rolled back {}", name(target)),
        Command::Rollback { target, to_revision } => {
            note!("rolled back {} to revision {}", name(target), *to_revision)
        }
        Command::Pause { target, on: true } => note!("paused the rollout of **{}**", name(target)),
        Command::Pause { target, .. } => note!("resumed the rollout of **{}**", name(target)),
        Command::Restart { target } => note!("restarted **{}**", name(target)),
        Command::Patch { target, patch, .. } => {
            let mut patch = patch.to_string();
            if let Some((end, _)) = patch.char_indices().nth(MOST_OF_A_PATCH) {
                patch.truncate(end);
                patch.push('…');
            }
            note!("patched {} **{}**: {}", kind(target), name(target), patch)
        }
        Command::Delete { target, propagation, .. } => {
            let text = match propagation {
                Some(Propagation::Foreground) => "deleted {} **{}** in the foreground",
                Some(Propagation::Orphan) => "deleted {} **{}** and kept what it owns",
                _ => "deleted {} **{}**",
            };
            Note { text, args: vec![kind(target).into(), name(target).into()] }
        }
        Command::Request { ask, .. } => asked(ask),
        Command::Git { deed } => deed.note(),
        Command::Iac { deed } => deed.note(),
        Command::Evict { target } => note!("evicted {} **{}**", kind(target), name(target)),
        Command::Cordon { node, on: true } => note!("cordoned **{}**", node.clone()),
        Command::Cordon { node, .. } => note!("uncordoned **{}**", node.clone()),
        other => describe_fault(other),
    }
}

/// What kubectl asked of the API server.
fn asked(ask: &Ask) -> Note {
    let target = ask.target();
    let (kind, name) = target
        .map_or_else(|| ("object".to_owned(), String::new()), |it| (it.kind.name().to_ascii_lowercase(), it.name));
    let text = match ask {
        Ask::Create { .. } => "created {} **{}**",
        Ask::Apply { .. } | Ask::ServerSideApply { .. } => "applied {} **{}**",
        Ask::Delete { .. } => "deleted {} **{}**",
        Ask::Evict { .. } => "evicted {} **{}**",
        Ask::Update { .. } | Ask::Scale { .. } | Ask::Patch { .. } => "changed {} **{}**",
    };
    Note { text, args: vec![kind.into(), name.into()] }
}

/// `applied Deployment web and 2 more`
fn applied(manifest: Option<&Manifest>) -> Note {
    let documents = manifest.map_or(&[][..], |it| &it.documents);
    let Some(first) = documents.first() else { return note!("applied a manifest") };
    let (kind, name) = (first.object.kind().name(), &first.object.meta().name);
    match documents.len() - 1 {
        0 => note!("applied {} **{}**", kind, name),
        more => note!("applied {} **{}** and {} more", kind, name, more),
    }
}

fn describe_fault(command: &Command) -> Note {
    let of = |subject: &Subject| match subject {
        Subject::Image(image) => image.clone(),
        Subject::Pod { name, .. } => name.clone(),
    };
    match command {
        Command::SetBehavior { subject, .. } => note!("changed how **{}** behaves", of(subject)),
        Command::RestoreBehavior { subject } => note!("let **{}** behave as usual", of(subject)),
        Command::SetReady { pod, ready: true, .. } => note!("made **{}** answer that it is ready", pod.clone()),
        Command::SetReady { pod, .. } => note!("made **{}** answer that it is not ready", pod.clone()),
        Command::CrashContainer { pod, container, code, .. } => {
            note!("ended container **{}** of {} with code {}", container.clone(), pod.clone(), *code)
        }
        Command::SetLoad { target, .. } => note!("put a load on **{}**", target.name.clone()),
        Command::StopLoad { target } => note!("took the load off **{}**", target.name.clone()),
        Command::StopNode { node } => note!("killed node **{}**", node.clone()),
        Command::StartNode { node } => note!("restored node **{}**", node.clone()),
        Command::CutNode { node } => note!("cut **{}** off from the network", node.clone()),
        Command::HealNode { node } => note!("joined **{}** to the network again", node.clone()),
        Command::BreakNode { node } => note!("broke the network plugin of **{}**", node.clone()),
        Command::MendNode { node } => note!("mended the network plugin of **{}**", node.clone()),
        Command::AddNode { node } => note!("added node **{}**", node.name.clone()),
        Command::RemoveNode { node } => note!("removed node **{}**", node.clone()),
        Command::StopController { process } => note!("stopped **{}**", process.clone()),
        Command::StartController { process } => note!("started **{}**", process.clone()),
        Command::CrashController { process } => note!("crashed **{}**", process.clone()),
        Command::SetExpectations { process, on: true } => note!("let **{}** wait for its own writes", process.clone()),
        Command::SetExpectations { process, .. } => {
            note!("let **{}** act before it has seen its own writes", process.clone())
        }
        other => super::switches::describe(other).unwrap_or_else(|| note!("did something")),
    }
}

/// What a refused command would have done: `tried to create deployment **web**`.
fn tried(done: &str) -> String {
    const VERBS: [(&str, &str); 12] = [
        ("created ", "create "),
        ("applied ", "apply "),
        ("changed ", "change "),
        ("deleted ", "delete "),
        ("evicted ", "evict "),
        ("patched ", "patch "),
        ("replaced ", "replace "),
        ("restarted ", "restart "),
        ("rolled back ", "roll back "),
        ("paused ", "pause "),
        ("resumed ", "resume "),
        ("set ", "set "),
    ];
    let found = VERBS.iter().find_map(|(past, verb)| done.strip_prefix(past).map(|rest| (*verb, rest)));
    match found {
        Some((verb, rest)) => ["tried to ", verb, rest].concat(),
        None => done.into(),
    }
}

impl Simulation {
    /// Notes that the last command was refused.
    pub(super) fn note_refusal(&mut self, why: &str) {
        if let Some(place) = self.journal.len().checked_sub(1) {
            self.refusals.push((place, why.into()));
        }
    }

    /// [`Command::words`] of an entry of the journal, and that it was refused where it was.
    pub fn words_of(&self, place: usize) -> Option<String> {
        let words = self.journal.get(place)?.command.words();
        Some(match self.refusals.binary_search_by_key(&place, |it| it.0) {
            Ok(found) if !words.contains(REFUSED) => {
                [&tried(&words), ", ", REFUSED, ": ", &self.refusals[found].1].concat()
            }
            _ => words,
        })
    }

    /// The trace event of a command, by its place in the journal.
    pub fn event_of(&self, place: usize) -> Option<Seq> {
        self.commands.get(place).copied()
    }

    /// The command that is a trace event, whether or not the event is still kept.
    pub fn command_of(&self, seq: Seq) -> Option<(&JournalEntry, Note)> {
        let index = self.commands.binary_search(&seq).ok()?;
        let entry = self.journal.get(index)?;
        Some((entry, entry.command.note()))
    }
}
