use super::{Command, Subject, Target};
use crate::apiserver::Propagation;
use crate::client::Note;
use crate::manifest::Manifest;
use crate::note;

impl Command {
    /// What a person did with it, without the subject: `deleted pod **web-1**`.
    pub fn words(&self) -> String {
        describe(self).to_string()
    }
}

/// The same where what the text holds is known: one with nothing to send is refused before there is a request.
pub(super) fn describe_with(command: &Command, text: &Manifest) -> Note {
    let why = match command {
        Command::Apply { .. } => text.refusal(false),
        Command::Replace { .. } => text.refusal(true),
        _ => None,
    };
    match (command, why) {
        (Command::Apply { .. }, Some(why)) => note!("tried to apply a manifest, **refused**: {}", why.to_owned()),
        (_, Some(why)) => note!("tried to replace an object, **refused**: {}", why.to_owned()),
        (_, None) => describe(command),
    }
}

/// A command in words, without the subject.
pub(super) fn describe(command: &Command) -> Note {
    let kind = |target: &Target| target.kind.name().to_ascii_lowercase();
    match command {
        Command::Apply { .. } => note!("applied a manifest"),
        Command::Replace { .. } => note!("replaced an object by an edited one"),
        Command::Scale { target, replicas } => note!("set **replicas {}** on {}", *replicas, target.name.clone()),
        Command::SetImage { target, image, .. } => note!("set image **{}** on {}", image.clone(), target.name.clone()),
        Command::Rollback { target, .. } => note!("rolled back {}", target.name.clone()),
        Command::Pause { target, on: true } => note!("paused the rollout of **{}**", target.name.clone()),
        Command::Pause { target, .. } => note!("resumed the rollout of **{}**", target.name.clone()),
        Command::Restart { target } => note!("restarted **{}**", target.name.clone()),
        Command::Patch { target, .. } => note!("patched {} **{}**", kind(target), target.name.clone()),
        Command::Delete { target, propagation, .. } => {
            let text = match propagation {
                Some(Propagation::Foreground) => "deleted {} **{}** in the foreground",
                Some(Propagation::Orphan) => "deleted {} **{}** and kept what it owns",
                _ => "deleted {} **{}**",
            };
            Note { text, args: vec![kind(target).into(), target.name.clone().into()] }
        }
        Command::Evict { target } => note!("evicted {} **{}**", kind(target), target.name.clone()),
        Command::Cordon { node, on: true } => note!("cordoned **{}**", node.clone()),
        Command::Cordon { node, .. } => note!("uncordoned **{}**", node.clone()),
        other => describe_fault(other),
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
        _ => note!("did something"),
    }
}
