//! What a person can switch at the programs of the control plane and at the API server, as commands and as text.

use std::fmt::{self, Formatter};

use serde::{Deserialize, Serialize};

use super::Command;
use super::command_reader::{Flags, number, span};
use super::command_text::{Quoted, Span};
use crate::apiserver::ChangeKind;
use crate::client::Note;
use crate::note;

/// Something at a program of the control plane that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Switch {
    /// Its ReplicaSet controller counts events instead of looking at what is there; see
    /// [`EdgeTriggered`](crate::controllers::replicaset::EdgeTriggered). Off at first.
    EdgeTriggered,
    /// Such a controller lists when it starts, and when its watch is broken. Off at first.
    Relists,
    /// A turn whose write meets a newer version is tried again, as always in Kubernetes. On at first.
    RetriesConflicts,
    /// It stands still (SIGSTOP): what reaches it waits. Off at first.
    Paused,
    /// Its watch brings nothing, and nobody notices. Off at first.
    WatchStalled,
}

impl Switch {
    /// Each with its words for on and for off.
    const ALL: [(Switch, [&'static str; 2]); 5] = [
        (Switch::EdgeTriggered, ["edge-triggered", "level-triggered"]),
        (Switch::Relists, ["relist-on", "relist-off"]),
        (Switch::RetriesConflicts, ["conflict-retries-on", "conflict-retries-off"]),
        (Switch::Paused, ["pause", "resume"]),
        (Switch::WatchStalled, ["watch-stall", "watch-resume"]),
    ];

    pub(super) fn word(self, on: bool) -> &'static str {
        let words = Self::ALL.iter().find(|(it, _)| *it == self).map_or(["", ""], |(_, words)| *words);
        words[usize::from(!on)]
    }

    fn read(word: &str) -> Option<(Self, bool)> {
        Self::ALL.iter().find_map(|(it, words)| {
            let at = words.iter().position(|it| *it == word)?;
            Some((*it, at == 0))
        })
    }
}

/// What becomes of an event on its way to a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mishap {
    /// It never arrives.
    Drop,
    /// It arrives twice.
    Duplicate,
    /// It arrives half a second late, after what happened meanwhile.
    Reorder,
}

const MISHAPS: [(Mishap, &str); 3] =
    [(Mishap::Drop, "drop"), (Mishap::Duplicate, "duplicate"), (Mishap::Reorder, "reorder")];

/// Which of a watch's events, as it names them itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Type {
    Added,
    Modified,
    Deleted,
}

const TYPES: [(Type, &str); 3] = [(Type::Added, "added"), (Type::Modified, "modified"), (Type::Deleted, "deleted")];

impl Type {
    pub(super) fn is(self, kind: ChangeKind) -> bool {
        matches!(
            (self, kind),
            (Type::Added, ChangeKind::Added)
                | (Type::Modified, ChangeKind::Modified)
                | (Type::Deleted, ChangeKind::Deleted)
        )
    }
}

/// How the API server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    #[default]
    Up,
    /// Nobody listens: every request is refused at once, and nothing is written.
    Down,
    /// Every request takes so much longer to reach it, in ms.
    Slow(u64),
    /// It answers every request of a program with 429.
    Refusing,
}

/// The slowest that is not already a timeout, in ms.
const SLOWEST: u64 = 9_000;

fn word<T: Copy + PartialEq>(all: &[(T, &'static str)], it: T) -> &'static str {
    all.iter().find(|(other, _)| *other == it).map_or("", |(_, word)| *word)
}

fn by_word<T: Copy>(all: &[(T, &'static str)], word: &str) -> Option<T> {
    all.iter().find(|(_, it)| *it == word).map(|(it, _)| *it)
}

/// Writes one of the commands that belong here.
pub(super) fn write(f: &mut Formatter<'_>, command: &Command) -> fmt::Result {
    match command {
        Command::SetSwitch { process, switch, on } => {
            write!(f, "controller {} {}", switch.word(*on), Quoted(process))
        }
        Command::BreakWatch { process } => write!(f, "controller watch-break {}", Quoted(process)),
        Command::CrashAfter { process, requests: 0 } => {
            write!(f, "controller crash {} --after=never", Quoted(process))
        }
        Command::CrashAfter { process, requests } => {
            write!(f, "controller crash {} --after={requests}", Quoted(process))
        }
        Command::DisturbWatch { process, mishap, next, of } => {
            write!(f, "watch {} {} --next={next}", word(&MISHAPS, *mishap), Quoted(process))?;
            of.map_or(Ok(()), |of| write!(f, " --type={}", word(&TYPES, of)))
        }
        Command::SetRoom { setting } => setting.write(f),
        Command::RunScript { by, count, crash_after } => {
            write!(f, "script run start-{count}")?;
            if by != ANYBODY {
                write!(f, " --by={}", Quoted(by))?;
            }
            crash_after.map_or(Ok(()), |n| write!(f, " --crash-after={n}"))
        }
        Command::SetServer { server } => match server {
            Server::Up => f.write_str("server up"),
            Server::Down => f.write_str("server down"),
            Server::Refusing => f.write_str("server refuse"),
            Server::Slow(ms) => write!(f, "server slow --by={}", Span(*ms)),
        },
        _ => Ok(()),
    }
}

/// Reads one of them; nothing where the words are others.
pub(super) fn read(words: &[&str], flags: &mut Flags) -> Result<Option<Command>, String> {
    Ok(Some(match words {
        ["controller", "watch-break", process] => Command::BreakWatch { process: (*process).into() },
        ["controller", "crash", process] => match flags.take("after").as_deref() {
            Some("never") => Command::CrashAfter { process: (*process).into(), requests: 0 },
            Some("0") => return Err("--after=0: at least one request is sent".into()),
            Some(text) => Command::CrashAfter { process: (*process).into(), requests: number("after", text)? },
            None => return Ok(None),
        },
        ["controller", verb, process] => {
            let Some((switch, on)) = Switch::read(verb) else { return Ok(None) };
            Command::SetSwitch { process: (*process).into(), switch, on }
        }
        ["watch", verb, process] => {
            let mishap = by_word(&MISHAPS, verb).ok_or_else(|| format!("unknown command \"watch {verb}\""))?;
            let of = match flags.take("type") {
                Some(text) => Some(by_word(&TYPES, &text).ok_or("--type must be added, modified or deleted")?),
                None => None,
            };
            Command::DisturbWatch { process: (*process).into(), mishap, next: flags.need("next")?, of }
        }
        ["script", "run", script] => read_script(script, flags)?,
        ["script", ..] => return Err(format!("unknown command \"{}\"", words.join(" "))),
        ["room", rest @ ..] => super::RoomSetting::read(rest)?,
        ["server", verb] => Command::SetServer {
            server: match *verb {
                "up" => Server::Up,
                "down" => Server::Down,
                "refuse" => Server::Refusing,
                "slow" => Server::Slow(slowness(&flags.take("by").ok_or("--by is required")?)?),
                _ => return Err(format!("unknown command \"server {verb}\"")),
            },
        },
        _ => return Ok(None),
    }))
}

/// Whoever runs a script where nobody is named.
const ANYBODY: &str = "you";

fn read_script(script: &str, flags: &mut Flags) -> Result<Command, String> {
    let count = script.strip_prefix("start-").and_then(|count| count.parse().ok());
    let count = count.ok_or_else(|| format!("no script \"{script}\": start-3"))?;
    let by = flags.take("by").unwrap_or_else(|| ANYBODY.into());
    let crash_after = flags.read("crash-after")?;
    if crash_after == Some(0) {
        return Err("--crash-after=0: at least one request is sent".into());
    }
    Ok(Command::RunScript { by, count, crash_after })
}

fn slowness(text: &str) -> Result<u64, String> {
    let ms = span(text)?;
    let is_fit = (1..=SLOWEST).contains(&ms);
    if is_fit { Ok(ms) } else { Err(format!("--by={text}: between 1ms and 9s; more is a timeout")) }
}

/// What a person did with one of them, without the subject.
pub(super) fn describe(command: &Command) -> Option<Note> {
    Some(match command {
        Command::SetSwitch { process, switch, on } => {
            let text = match (switch, on) {
                (Switch::EdgeTriggered, true) => "let the ReplicaSet controller of **{}** count events",
                (Switch::EdgeTriggered, false) => "let the ReplicaSet controller of **{}** look at what is there",
                (Switch::Relists, true) => "let **{}** count anew whenever it starts",
                (Switch::Relists, false) => "let **{}** start without a look",
                (Switch::RetriesConflicts, true) => "let **{}** try again after a conflict",
                (Switch::RetriesConflicts, false) => "let **{}** give up after a conflict",
                (Switch::Paused, true) => "paused **{}**",
                (Switch::Paused, false) => "let **{}** go on",
                (Switch::WatchStalled, true) => "stalled the watch of **{}**",
                (Switch::WatchStalled, false) => "let the watch of **{}** go on",
            };
            Note { text, args: vec![process.clone().into()] }
        }
        Command::BreakWatch { process } => note!("broke the watch of **{}**", process.clone()),
        Command::CrashAfter { process, requests: 0 } => {
            note!("let **{}** go on without a crash", process.clone())
        }
        Command::CrashAfter { process, requests } => {
            note!("let **{}** crash after {} more of its requests", process.clone(), i64::from(*requests))
        }
        Command::DisturbWatch { process, mishap, next, .. } => {
            let text = match mishap {
                Mishap::Drop => "let the next {} events about pods get lost on their way to **{}**",
                Mishap::Duplicate => "let the next {} events about pods reach **{}** twice",
                Mishap::Reorder => "let the next {} events about pods reach **{}** late",
            };
            Note { text, args: vec![i64::from(*next).into(), process.clone().into()] }
        }
        Command::SetRoom { setting } => setting.describe(),
        Command::RunScript { by, count, .. } => {
            note!("ran the script **start-{}** as {}", i64::from(*count), by.clone())
        }
        Command::SetServer { server } => match server {
            Server::Up => note!("let the **API server** answer as usual"),
            Server::Down => note!("stopped the **API server**"),
            Server::Slow(ms) => note!("made the **API server** slower by {}", crate::client::Arg::Millis(*ms)),
            Server::Refusing => note!("made the **API server** refuse requests"),
        },
        _ => return None,
    })
}
