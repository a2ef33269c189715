//! Commands as text: kubectl's words where it has them, plain verbs for what happens to machines and programs.
//!
//! Words are quoted as a shell quotes them. `command_reader` reads what is written here as the same command.

use std::borrow::Borrow;
use std::fmt::{self, Display, Formatter, Write};

use super::{Command, JournalEntry, NodeSetup, Subject, Target};
use crate::apiserver::{PatchType, Propagation};
use crate::environment::Behavior;
use crate::sim::Time;

pub(super) const DEFAULT_NAMESPACE: &str = "default";
pub(super) const DEFAULT_PODS: u32 = 110;

/// A word as a shell takes it for one.
pub(super) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,%+".contains(c);
        if !self.0.is_empty() && !self.0.starts_with('-') && self.0.chars().all(is_plain) {
            return f.write_str(self.0);
        }
        f.write_char('\'')?;
        for (index, part) in self.0.split('\'').enumerate() {
            f.write_str(if index > 0 { "'\\''" } else { "" })?;
            f.write_str(part)?;
        }
        f.write_char('\'')
    }
}

impl Command {
    /// Reads a command that a shell has taken apart.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_words(words: &[String]) -> Result<Self, String> {
        let quoted: Vec<String> = words.iter().map(|it| quoted_word(it)).collect();
        quoted.join(" ").parse()
    }
}

/// Flags stay flags, which a quote would undo.
fn quoted_word(word: &str) -> String {
    match word.split_once('=').filter(|_| word.starts_with("--")) {
        Some((flag, value)) => format!("{flag}={}", Quoted(value)),
        None if word.starts_with('-') => word.to_owned(),
        None => Quoted(word).to_string(),
    }
}

/// `deployment/web`
struct Named<'a>(&'a Target);

impl Display for Named<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.0.kind.name().to_ascii_lowercase(), Quoted(&self.0.name))
    }
}

/// ` -n shop`, where it is not the usual namespace.
struct In<'a>(&'a str, bool);

impl Display for In<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let usual = if self.1 { DEFAULT_NAMESPACE } else { "" };
        if self.0 == usual { Ok(()) } else { write!(f, " -n {}", Quoted(self.0)) }
    }
}

fn of(target: &Target) -> In<'_> {
    In(&target.namespace, target.kind.is_namespaced())
}

/// `3s` or `1500ms`
pub(super) struct Span(pub u64);

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 > 0 && self.0.is_multiple_of(1_000) {
            write!(f, "{}s", self.0 / 1_000)
        } else {
            write!(f, "{}ms", self.0)
        }
    }
}

/// What differs from how a program usually behaves.
fn write_behavior(f: &mut Formatter<'_>, usual: &Behavior, it: &Behavior) -> fmt::Result {
    for (flag, usual, ms) in [
        ("pull", usual.pull_ms, it.pull_ms),
        ("start", usual.start_ms, it.start_ms),
        ("stop", usual.stop_ms, it.stop_ms),
        ("hook", usual.hook_ms, it.hook_ms),
    ] {
        if ms != usual {
            write!(f, " --{flag}={}", Span(ms))?;
        }
    }
    match it.serve_ms {
        same if same == usual.serve_ms => {}
        Some(ms) => write!(f, " --ready-after={}", Span(ms))?,
        None => f.write_str(" --ready-after=never")?,
    }
    if let Some((ms, code)) = it.exit {
        write!(f, " --exit={code}@{}", Span(ms))?;
    }
    if let Some((from, ms)) = it.lapse {
        write!(f, " --lapse={}@{}", Span(ms), Span(from))?;
    }
    if let Some(ms) = it.hang_ms {
        write!(f, " --hang={}", Span(ms))?;
    }
    for (flag, is_set) in switches(&mut it.clone()) {
        f.write_str(if *is_set { flag } else { "" })?;
    }
    Ok(())
}

/// The flags that need no value.
pub(super) fn switches(it: &mut Behavior) -> [(&'static str, &mut bool); 5] {
    [
        (" --missing", &mut it.is_missing),
        (" --exit-once", &mut it.exits_once),
        (" --oom", &mut it.is_oom),
        (" --ignores-term", &mut it.ignores_term),
        (" --tells-ready", &mut it.tells_ready),
    ]
}

/// What a behavior in text is told apart from.
pub(super) fn usual(subject: &Subject) -> Behavior {
    Behavior::usual(match subject {
        Subject::Image(image) => image,
        Subject::Pod { .. } => "",
    })
}

fn write_node(f: &mut Formatter<'_>, node: &NodeSetup) -> fmt::Result {
    write!(f, "node add {} --cpu={} --memory={}", Quoted(&node.name), Quoted(&node.cpu), Quoted(&node.memory))?;
    if node.pods != DEFAULT_PODS {
        write!(f, " --pods={}", node.pods)?;
    }
    if let Some(ms) = node.ready_ms {
        write!(f, " --ready-after={}", Span(ms))?;
    }
    for (key, value) in &node.labels {
        write!(f, " --label={}", Quoted(&format!("{key}={value}")))?;
    }
    Ok(())
}

/// A here-document; one that ends in the middle of a line is printed into a pipe.
fn write_manifest(f: &mut Formatter<'_>, verb: &str, manifest: &str) -> fmt::Result {
    if !manifest.ends_with('\n') {
        return write!(f, "printf %s {} | kubectl {verb} -f -", Quoted(manifest));
    }
    let mut end = String::from("EOF");
    while manifest.lines().any(|line| line == end) {
        end.push('_');
    }
    write!(f, "kubectl {verb} -f - <<'{end}'\n{manifest}{end}")
}

fn write_delete(f: &mut Formatter<'_>, target: &Target, how: Option<Propagation>, grace: Option<i64>) -> fmt::Result {
    write!(f, "kubectl delete {}", Named(target))?;
    if let Some(how) = how {
        write!(f, " --cascade={}", cascade(how))?;
    }
    if let Some(seconds) = grace {
        write!(f, " --grace-period={seconds}")?;
    }
    write!(f, "{}", of(target))
}

fn cascade(how: Propagation) -> &'static str {
    match how {
        Propagation::Background => "background",
        Propagation::Foreground => "foreground",
        Propagation::Orphan => "orphan",
    }
}

fn patch_type(kind: PatchType) -> &'static str {
    match kind {
        PatchType::Merge => "merge",
        PatchType::Strategic => "strategic",
        PatchType::Json => "json",
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Command::Apply { manifest } => write_manifest(f, "apply", manifest),
            Command::Replace { manifest } => write_manifest(f, "replace", manifest),
            Command::Scale { target, replicas } => {
                write!(f, "kubectl scale {} --replicas={replicas}{}", Named(target), of(target))
            }
            Command::SetImage { target, container, image } => {
                let pair = format!("{container}={image}");
                write!(f, "kubectl set image {} {}{}", Named(target), Quoted(&pair), of(target))
            }
            Command::Rollback { target, to_revision: 0 } => {
                write!(f, "kubectl rollout undo {}{}", Named(target), of(target))
            }
            Command::Rollback { target, to_revision } => {
                write!(f, "kubectl rollout undo {} --to-revision={to_revision}{}", Named(target), of(target))
            }
            Command::Pause { target, on } => {
                let verb = if *on { "pause" } else { "resume" };
                write!(f, "kubectl rollout {verb} {}{}", Named(target), of(target))
            }
            Command::Restart { target } => write!(f, "kubectl rollout restart {}{}", Named(target), of(target)),
            Command::Request { manager, ask } => {
                let ask = serde_json::to_string(ask).unwrap_or_default();
                write!(f, "request {} {}", Quoted(manager), Quoted(&ask))
            }
            Command::Patch { target, kind, patch } => {
                let text = patch.to_string();
                let kind = patch_type(*kind);
                write!(f, "kubectl patch {} --type={kind} -p {}{}", Named(target), Quoted(&text), of(target))
            }
            Command::Delete { target, propagation, grace } => write_delete(f, target, *propagation, *grace),
            Command::Git { deed } => super::gitops_text::write_git(f, deed),
            Command::Iac { deed } => super::iac_text::write_iac(f, deed),
            Command::Evict { target } => write!(f, "evict {}{}", Named(target), of(target)),
            Command::Cordon { node, on: true } => write!(f, "kubectl cordon {}", Quoted(node)),
            Command::Cordon { node, on: false } => write!(f, "kubectl uncordon {}", Quoted(node)),
            other => write_fault(f, other),
        }
    }
}

fn write_fault(f: &mut Formatter<'_>, command: &Command) -> fmt::Result {
    let about = |f: &mut Formatter<'_>, what: &str, verb: &str, name: &str| write!(f, "{what} {verb} {}", Quoted(name));
    match command {
        Command::StopNode { node } => about(f, "node", "stop", node),
        Command::StartNode { node } => about(f, "node", "start", node),
        Command::CutNode { node } => about(f, "node", "cut", node),
        Command::HealNode { node } => about(f, "node", "heal", node),
        Command::BreakNode { node } => about(f, "node", "break", node),
        Command::MendNode { node } => about(f, "node", "mend", node),
        Command::RemoveNode { node } => about(f, "node", "remove", node),
        Command::StopController { process } => about(f, "controller", "stop", process),
        Command::StartController { process } => about(f, "controller", "start", process),
        Command::CrashController { process } => about(f, "controller", "crash", process),
        Command::SetExpectations { process, on: true } => about(f, "controller", "expectations-on", process),
        Command::SetExpectations { process, .. } => about(f, "controller", "expectations-off", process),
        Command::AddNode { node } => write_node(f, node),
        Command::SetLoad { target, load } => {
            write!(f, "load {}", Named(target))?;
            super::load_text::write_load(f, load)?;
            write!(f, "{}", of(target))
        }
        Command::StopLoad { target } => write!(f, "load {} stop{}", Named(target), of(target)),
        Command::SetReady { namespace, pod, ready } => {
            let verb = if *ready { "ready" } else { "unready" };
            write!(f, "pod {} {verb}{}", Quoted(pod), In(namespace, true))
        }
        Command::CrashContainer { namespace, pod, container, code } => {
            let name = format!("{pod}/{container}");
            write!(f, "container {} crash --code={code}{}", Quoted(&name), In(namespace, true))
        }
        Command::SetBehavior { subject, behavior } => {
            write_subject(f, subject, "behave")?;
            write_behavior(f, &usual(subject), behavior)?;
            write_place(f, subject)
        }
        Command::RestoreBehavior { subject } => {
            write_subject(f, subject, "restore")?;
            write_place(f, subject)
        }
        other => super::switches::write(f, other),
    }
}

fn write_subject(f: &mut Formatter<'_>, subject: &Subject, verb: &str) -> fmt::Result {
    match subject {
        Subject::Image(image) => write!(f, "image {} {verb}", Quoted(image)),
        Subject::Pod { name, .. } => write!(f, "pod {} {verb}", Quoted(name)),
    }
}

fn write_place(f: &mut Formatter<'_>, subject: &Subject) -> fmt::Result {
    match subject {
        Subject::Image(_) => Ok(()),
        Subject::Pod { namespace, .. } => write!(f, "{}", In(namespace, true)),
    }
}

/// `12.345s kubectl cordon node-1`
impl Display for JournalEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", write_instant(self.at, self.nth), self.command)
    }
}

/// `12.345s`, or `12.345s+3`: after three of the things that happen then.
pub fn write_instant(at: Time, nth: Option<u32>) -> String {
    let ms = (1_000 + at.0 % 1_000).to_string();
    let mut text = [(at.0 / 1_000).to_string().as_str(), ".", ms.get(1..).unwrap_or_default(), "s"].concat();
    if let Some(nth) = nth {
        text += &["+", &nth.to_string()].concat();
    }
    text
}

/// The flags by which an image's behavior, or that of `@namespace/pod`, differs from the usual: `--pull=3s --missing`.
pub fn write_behavior_flags(name: &str, it: &Behavior) -> String {
    struct Flags<'a>(&'a Behavior, &'a Behavior);
    impl Display for Flags<'_> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            write_behavior(f, self.0, self.1)
        }
    }
    Flags(&usual_of(name), it).to_string().trim_start().to_owned()
}

/// What the behavior of an image, or of `@namespace/pod`, is told apart from.
pub(super) fn usual_of(name: &str) -> Behavior {
    Behavior::usual(if name.starts_with('@') { "" } else { name })
}

/// A journal as text: a command a line, with its time in seconds before it.
pub fn write_journal<T: Borrow<JournalEntry>>(journal: &[T]) -> String {
    let mut text = String::new();
    for entry in journal {
        text.push_str(&format!("{}\n", entry.borrow()));
    }
    text
}
