//! Reads commands that are written as text.

use std::str::FromStr;

use super::command_text::{DEFAULT_NAMESPACE, DEFAULT_PODS, switches, usual, usual_of};
use super::gitops_text::read_git;
use super::iac_text::read_iac;
use super::load_text::read_load;
use super::{Command, JournalEntry, NodeSetup, Subject, Target};
use crate::api::{Kind, Labels};
use crate::apiserver::{PatchType, Propagation};
use crate::environment::Behavior;
use crate::sim::Time;

/// A word, and whether it began with a quote: then it is no flag.
type Word = (String, bool);

/// The words of one command, and what follows it.
fn split(text: &str) -> Result<(Vec<Word>, &str), String> {
    let mut words: Vec<Word> = Vec::new();
    let (mut word, mut quote): (Option<Word>, Option<char>) = (None, None);
    let (mut here, mut end) = (false, text.len());
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let is_new = word.is_none();
        let is_space = matches!(c, ' ' | '\t' | '\n') && quote.is_none();
        if is_space {
            words.extend(word.take());
            if c == '\n' {
                end = at + 1;
                break;
            }
            continue;
        }
        let (letters, is_quoted) = word.get_or_insert_default();
        match (quote, c) {
            (Some(it), _) if c == it => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                *is_quoted |= is_new;
            }
            (None | Some('"'), '\\') => letters.extend(chars.next().map(|(_, c)| c)),
            _ => {
                here |= quote.is_none() && c == '<' && letters == "<" && words.len() == 4;
                letters.push(c);
            }
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".into());
    }
    words.extend(word);
    let rest = text.get(end..).unwrap_or_default();
    if !here {
        return Ok((words, rest));
    }
    let (mark, _) = words.pop().unwrap_or_default();
    let (body, rest) = here_document(mark.trim_start_matches('<'), rest)?;
    words.push((body.into(), true));
    Ok((words, rest))
}

/// The lines before the one that is the mark, and those after it.
fn here_document<'a>(mark: &str, text: &'a str) -> Result<(&'a str, &'a str), String> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if line.strip_suffix('\n').unwrap_or(line) == mark {
            return Ok((text.get(..at).unwrap_or_default(), text.get(next..).unwrap_or_default()));
        }
        at = next;
    }
    Err(format!("the here-document does not end: no line \"{mark}\""))
}

/// The flags of a command, each taken once.
pub(super) struct Flags(Vec<(String, String)>);

impl Flags {
    /// Tells flags from other words. Those of one letter have their value in the next word.
    fn find(words: Vec<Word>) -> Result<(Vec<String>, Self), String> {
        let (mut plain, mut flags) = (Vec::new(), Vec::new());
        let mut words = words.into_iter();
        while let Some((word, is_quoted)) = words.next() {
            if is_quoted {
                plain.push(word);
            } else if let Some(flag) = word.strip_prefix("--") {
                let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
                flags.push((name.into(), value.into()));
            } else if word.len() == 2 && word.starts_with('-') {
                let (value, _) = words.next().ok_or_else(|| format!("flag needs an argument: {word}"))?;
                flags.push((word[1..].into(), value));
            } else {
                plain.push(word);
            }
        }
        Ok((plain, Self(flags)))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(it, _)| it == name)?;
        Some(self.0.remove(at).1)
    }

    /// The first of several flags that stands there.
    pub(super) fn take_first(&mut self, names: &[&str]) -> Option<(String, String)> {
        let at = self.0.iter().position(|(it, _)| names.contains(&it.as_str()))?;
        Some(self.0.remove(at))
    }

    pub(super) fn read<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        self.take(name).map(|value| number(name, &value)).transpose()
    }

    pub(super) fn need<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        self.read(name)?.ok_or_else(|| format!("--{name} is required"))
    }

    fn span(&mut self, name: &str, ms: &mut u64) -> Result<(), String> {
        if let Some(text) = self.take(name) {
            *ms = span(&text)?;
        }
        Ok(())
    }

    /// Two values joined by `@`.
    fn pair(&mut self, name: &str) -> Result<Option<(String, u64)>, String> {
        let Some(text) = self.take(name) else { return Ok(None) };
        let (what, at) = text.split_once('@').ok_or_else(|| format!("--{name}={text}: an @ is missing"))?;
        Ok(Some((what.into(), span(at)?)))
    }

    fn namespace(&mut self, is_namespaced: bool) -> String {
        self.take("n").unwrap_or_else(|| if is_namespaced { DEFAULT_NAMESPACE } else { "" }.into())
    }

    fn target(&mut self, name: &str) -> Result<Target, String> {
        let (kind, name) = name.split_once('/').ok_or_else(|| format!("\"{name}\" is not of the form kind/name"))?;
        let is_meant = |it: &&Kind| {
            let is_kind = it.name().eq_ignore_ascii_case(kind) || it.plural() == kind;
            is_kind || it.short_names().contains(&kind)
        };
        let found = Kind::ALL.iter().find(is_meant).copied();
        let kind = found.ok_or_else(|| format!("the server doesn't have a resource type \"{kind}\""))?;
        Ok(Target { kind, namespace: self.namespace(kind.is_namespaced()), name: name.into() })
    }
}

pub(super) fn number<T: FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("--{name}={text}: not a number that can be meant"))
}

/// No span is longer, so that sums of them stay numbers: a hundred years.
const LONGEST_MS: u64 = 100 * 365 * 24 * 3_600_000;

/// Milliseconds of `3s`, `1500ms` or `2m`.
pub(super) fn span(text: &str) -> Result<u64, String> {
    let (digits, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s'), text.strip_suffix('m')) {
        (Some(digits), ..) => (digits, 1),
        (_, Some(digits), _) => (digits, 1_000),
        (.., Some(digits)) => (digits, 60_000),
        _ => (text, 0),
    };
    let ms = digits.parse::<u64>().ok().filter(|_| factor > 0).and_then(|it| it.checked_mul(factor));
    ms.filter(|ms| *ms <= LONGEST_MS).ok_or_else(|| format!("\"{text}\" is no time such as 3s or 1500ms"))
}

fn read_behavior(flags: &mut Flags, mut it: Behavior) -> Result<Behavior, String> {
    flags.span("pull", &mut it.pull_ms)?;
    flags.span("start", &mut it.start_ms)?;
    flags.span("stop", &mut it.stop_ms)?;
    flags.span("hook", &mut it.hook_ms)?;
    if let Some(text) = flags.take("ready-after") {
        it.serve_ms = if text == "never" { None } else { Some(span(&text)?) };
    }
    if let Some((code, ms)) = flags.pair("exit")? {
        it.exit = Some((ms, number("exit", &code)?));
    }
    if let Some((ms, from)) = flags.pair("lapse")? {
        it.lapse = Some((from, span(&ms)?));
    }
    if let Some(text) = flags.take("hang") {
        it.hang_ms = Some(span(&text)?);
    }
    for (flag, is_set) in switches(&mut it) {
        *is_set |= flags.take(flag.trim_start_matches(" --")).is_some();
    }
    Ok(it)
}

fn read_node(flags: &mut Flags, name: &str) -> Result<NodeSetup, String> {
    let mut labels = Labels::new();
    let (cpu, memory): (String, String) = (flags.need("cpu")?, flags.need("memory")?);
    let pods = flags.read("pods")?.unwrap_or(DEFAULT_PODS);
    while let Some(label) = flags.take("label") {
        let (key, value) = label.split_once('=').ok_or_else(|| format!("--label={label}: an = is missing"))?;
        labels.insert(key.into(), value.into());
    }
    let ready_ms = flags.take("ready-after").map(|text| span(&text)).transpose()?;
    Ok(NodeSetup { name: name.into(), cpu, memory, pods, labels, ready_ms })
}

fn read_kubectl(words: &[&str], flags: &mut Flags) -> Result<Command, String> {
    Ok(match words {
        [verb @ ("apply" | "replace"), manifest] if flags.take("f").as_deref() == Some("-") => {
            of_manifest(verb, manifest)
        }
        ["scale", name] => Command::Scale { target: flags.target(name)?, replicas: flags.need("replicas")? },
        ["set", "image", name, pair] => {
            let (container, image) = pair.split_once('=').ok_or_else(|| format!("\"{pair}\": an = is missing"))?;
            Command::SetImage { target: flags.target(name)?, container: container.into(), image: image.into() }
        }
        ["rollout", "undo", name] => {
            Command::Rollback { target: flags.target(name)?, to_revision: flags.read("to-revision")?.unwrap_or(0) }
        }
        ["rollout", verb @ ("pause" | "resume"), name] => {
            Command::Pause { target: flags.target(name)?, on: *verb == "pause" }
        }
        ["rollout", "restart", name] => Command::Restart { target: flags.target(name)? },
        ["patch", name] => {
            let kind = match flags.take("type").as_deref() {
                Some("merge") => PatchType::Merge,
                Some("json") => PatchType::Json,
                None | Some("strategic") => PatchType::Strategic,
                Some(other) => return Err(format!("--type must be one of [json merge strategic], not \"{other}\"")),
            };
            let text = flags.take("p").ok_or("must specify -p to patch")?;
            let patch = serde_json::from_str(&text).map_err(|error| format!("unable to parse \"{text}\": {error}"))?;
            Command::Patch { target: flags.target(name)?, kind, patch }
        }
        ["delete", name] => {
            let propagation = match flags.take("cascade").as_deref() {
                None => None,
                Some("background") => Some(Propagation::Background),
                Some("foreground") => Some(Propagation::Foreground),
                Some("orphan") => Some(Propagation::Orphan),
                Some(other) => return Err(format!("invalid cascade value ({other})")),
            };
            Command::Delete { target: flags.target(name)?, propagation, grace: flags.read("grace-period")? }
        }
        [verb @ ("cordon" | "uncordon"), node] => Command::Cordon { node: (*node).into(), on: *verb == "cordon" },
        _ => return Err(unknown("kubectl", words)),
    })
}

fn of_manifest(verb: &str, manifest: &str) -> Command {
    let manifest = manifest.into();
    if verb == "apply" { Command::Apply { manifest } } else { Command::Replace { manifest } }
}

fn unknown(first: &str, words: &[&str]) -> String {
    format!("unknown command \"{first} {}\"", words.join(" "))
}

fn read_pod(verb: &str, pod: &str, flags: &mut Flags) -> Result<Command, String> {
    let (namespace, name) = (flags.namespace(true), pod.to_string());
    let subject = || Subject::Pod { namespace: namespace.clone(), name: name.clone() };
    Ok(match verb {
        "ready" | "unready" => Command::SetReady { ready: verb == "ready", namespace, pod: name },
        "restore" => Command::RestoreBehavior { subject: subject() },
        "behave" => Command::SetBehavior { behavior: read_behavior(flags, usual(&subject()))?, subject: subject() },
        _ => return Err(unknown("pod", &[pod, verb])),
    })
}

/// What is about Git, its agent, or infrastructure as code.
fn read_outside(words: &[&str], flags: &mut Flags) -> Result<Command, String> {
    if let Some(deed) = read_git(words, flags)? {
        return Ok(Command::Git { deed });
    }
    let deed = read_iac(words, flags)?;
    deed.map(|deed| Command::Iac { deed }).ok_or_else(|| unknown(words[0], &words[1..]))
}

fn read_words(words: &[&str], flags: &mut Flags) -> Result<Command, String> {
    if let Some(command) = super::switches::read(words, flags)? {
        return Ok(command);
    }
    Ok(match words {
        ["kubectl", rest @ ..] => read_kubectl(rest, flags)?,
        ["printf", "%s", manifest, "|", "kubectl", verb @ ("apply" | "replace")]
            if flags.take("f").as_deref() == Some("-") =>
        {
            of_manifest(verb, manifest)
        }
        ["request", manager, ask] => {
            let ask = serde_json::from_str(ask).map_err(|error| error.to_string())?;
            Command::Request { manager: (*manager).into(), ask }
        }
        ["git" | "gitops" | "terraform" | "cloud", ..] => read_outside(words, flags)?,
        ["evict", name] => Command::Evict { target: flags.target(name)? },
        ["node", "add", name] => Command::AddNode { node: read_node(flags, name)? },
        ["node", verb, node] => {
            let node = (*node).to_string();
            match *verb {
                "stop" => Command::StopNode { node },
                "start" => Command::StartNode { node },
                "cut" => Command::CutNode { node },
                "heal" => Command::HealNode { node },
                "break" => Command::BreakNode { node },
                "mend" => Command::MendNode { node },
                "remove" => Command::RemoveNode { node },
                _ => return Err(unknown("node", &words[1..])),
            }
        }
        ["controller", verb, process] => {
            let process = (*process).to_string();
            match *verb {
                "stop" => Command::StopController { process },
                "start" => Command::StartController { process },
                "crash" => Command::CrashController { process },
                "expectations-on" | "expectations-off" => {
                    Command::SetExpectations { process, on: *verb == "expectations-on" }
                }
                _ => return Err(unknown("controller", &words[1..])),
            }
        }
        ["image", image, "restore"] => Command::RestoreBehavior { subject: Subject::Image((*image).into()) },
        ["image", image, "behave"] | ["image", image] => {
            let subject = Subject::Image((*image).into());
            Command::SetBehavior { behavior: read_behavior(flags, usual(&subject))?, subject }
        }
        ["load", name, "stop"] => Command::StopLoad { target: flags.target(name)? },
        ["load", name] => Command::SetLoad { target: flags.target(name)?, load: read_load(flags)? },
        ["pod", pod, verb] => read_pod(verb, pod, flags)?,
        ["container", name, "crash"] => {
            let (pod, container) = name.split_once('/').ok_or_else(|| format!("\"{name}\" is not pod/container"))?;
            let (namespace, code) = (flags.namespace(true), flags.read("code")?.unwrap_or(1));
            Command::CrashContainer { namespace, pod: pod.into(), container: container.into(), code }
        }
        [first, rest @ ..] => return Err(unknown(first, rest)),
        [] => return Err("no command".into()),
    })
}

/// The first command of a text, and what follows it.
fn read(text: &str) -> Result<(Command, &str), String> {
    let (words, rest) = split(text)?;
    let (plain, mut flags) = Flags::find(words)?;
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    let command = read_words(&plain, &mut flags)?;
    match flags.0.first() {
        Some((flag, _)) => Err(format!("unknown flag: {}{flag}", if flag.len() == 1 { "-" } else { "--" })),
        None => Ok((command, rest)),
    }
}

impl FromStr for Command {
    type Err = String;

    /// Reads one command as it is written: `kubectl scale deployment/web --replicas=5`.
    ///
    /// # Errors
    /// What cannot be understood, in words for the person who wrote it.
    fn from_str(text: &str) -> Result<Self, String> {
        let (command, rest) = read(text)?;
        if rest.trim().is_empty() { Ok(command) } else { Err("more than one command".into()) }
    }
}

fn read_time(text: &str) -> Option<Time> {
    let (whole, part) = text.strip_suffix('s')?.split_once('.')?;
    let part = part.parse::<u64>().ok().filter(|_| part.len() == 3)?;
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(part).map(Time)
}

/// Reads what [`write_journal`] has written; empty lines and those that begin with `#` are passed over.
///
/// # Errors
/// The number of the line with the command that cannot be understood, from 1, and what is wrong with it.
pub fn read_journal(text: &str) -> Result<Vec<JournalEntry>, (usize, String)> {
    match read_journal_until(text, usize::MAX) {
        (entries, None) => Ok(entries),
        (_, Some(error)) => Err(error),
    }
}

/// The commands before the first that cannot be understood, and what is wrong with that one. More than `most` are not
/// understood.
pub fn read_journal_until(text: &str, most: usize) -> (Vec<JournalEntry>, Option<(usize, String)>) {
    let mut entries = Vec::new();
    let error = read_into(&mut entries, text, most).err();
    (entries, error)
}

fn read_into(entries: &mut Vec<JournalEntry>, text: &str, most: usize) -> Result<(), (usize, String)> {
    let mut rest = text;
    while !rest.is_empty() {
        let (line, later) = rest.split_once('\n').unwrap_or((rest, ""));
        if line.trim().is_empty() || line.starts_with('#') {
            rest = later;
            continue;
        }
        let number = || text[..text.len() - rest.len()].matches('\n').count() + 1;
        if entries.len() >= most {
            return Err((number(), format!("there are more than {most} commands")));
        }
        let (time, command) = rest.split_once(' ').unwrap_or((line, ""));
        let (at, nth) =
            read_instant(time).ok_or_else(|| (number(), format!("\"{time}\" is no time such as 12.345s")))?;
        let (command, later) = read(command).map_err(|error| (number(), error))?;
        entries.push(JournalEntry { at, nth, command });
        rest = later;
    }
    Ok(())
}

/// The flags of a behavior: see [`write_behavior_flags`](super::write_behavior_flags).
///
/// # Errors
/// What cannot be understood.
pub fn read_behavior_flags(name: &str, text: &str) -> Result<Behavior, String> {
    let (plain, mut flags) = Flags::find(split(text)?.0)?;
    let behavior = read_behavior(&mut flags, usual_of(name))?;
    match plain.first().or(flags.0.first().map(|(flag, _)| flag)) {
        Some(word) => Err(format!("unknown flag: {word}")),
        None => Ok(behavior),
    }
}

/// Reads what [`write_instant`](super::write_instant) has written.
pub fn read_instant(text: &str) -> Option<(Time, Option<u32>)> {
    match text.split_once('+') {
        Some((time, nth)) => Some((read_time(time)?, Some(nth.parse().ok()?))),
        None => Some((read_time(text)?, None)),
    }
}
