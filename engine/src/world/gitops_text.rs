//! Commands about Git and the agent as text: `git commit -m 'drop replicas' --author=Ada --file='web.yaml=…'`.

use std::fmt::{self, Formatter};

use super::GitDeed;
use super::command_reader::{Flags, span};
use super::command_text::{Quoted, Span};
use crate::gitops::{Edit, Ignored, Preset, Settings};

const AUTHOR: &str = "you";

fn write_author(f: &mut Formatter<'_>, author: &str) -> fmt::Result {
    if author == AUTHOR { Ok(()) } else { write!(f, " --author={}", Quoted(author)) }
}

pub(super) fn write_git(f: &mut Formatter<'_>, deed: &GitDeed) -> fmt::Result {
    match deed {
        GitDeed::Commit { author, message, edits } => {
            write!(f, "git commit -m {}", Quoted(message))?;
            write_author(f, author)?;
            for edit in edits {
                match &edit.text {
                    Some(text) => write!(f, " --file={}", Quoted(&[&edit.path, "=", text].concat()))?,
                    None => write!(f, " --remove={}", Quoted(&edit.path))?,
                }
            }
            Ok(())
        }
        GitDeed::Revert { author, commit } => {
            write!(f, "git revert {}", Quoted(commit))?;
            write_author(f, author)
        }
        GitDeed::Set { settings } => write_settings(f, settings),
        GitDeed::Refresh => f.write_str("gitops refresh"),
        GitDeed::Sync { prune } => f.write_str(if *prune { "gitops sync --prune" } else { "gitops sync" }),
        GitDeed::Rollback { commit } => write!(f, "gitops rollback {}", Quoted(commit)),
    }
}

/// The switches with their names.
fn switches(it: &mut Settings) -> [(&'static str, &mut bool); 6] {
    [
        ("auto-sync", &mut it.automated),
        ("prune", &mut it.prune),
        ("self-heal", &mut it.self_heal),
        ("allow-empty", &mut it.allow_empty),
        ("webhook", &mut it.webhook),
        ("respect-ignored", &mut it.respect_ignored),
    ]
}

fn write_settings(f: &mut Formatter<'_>, it: &Settings) -> fmt::Result {
    let (mut it, mut usual) = (it.clone(), Settings::of(it.preset));
    write!(f, "gitops {}", it.preset.word())?;
    if it.interval_ms != usual.interval_ms {
        write!(f, " --interval={}", Span(it.interval_ms))?;
    }
    for ((name, on), (_, usual)) in switches(&mut it).into_iter().zip(switches(&mut usual)) {
        if on != usual {
            write!(f, " --{name}={}", if *on { "on" } else { "off" })?;
        }
    }
    it.ignored.iter().try_for_each(|it| write!(f, " --ignore={}", Quoted(&[&it.kind, ":", &it.pointer].concat())))
}

pub(super) fn read_git(words: &[&str], flags: &mut Flags) -> Result<Option<GitDeed>, String> {
    Ok(Some(match words {
        ["git", "commit"] => {
            let message = flags.take("m").ok_or("-m is required")?;
            let author = flags.take("author").unwrap_or_else(|| AUTHOR.into());
            GitDeed::Commit { author, message, edits: read_edits(flags)? }
        }
        ["git", "revert", commit] => {
            let author = flags.take("author").unwrap_or_else(|| AUTHOR.into());
            GitDeed::Revert { author, commit: (*commit).into() }
        }
        ["gitops", "refresh"] => GitDeed::Refresh,
        ["gitops", "sync"] => GitDeed::Sync { prune: flags.take("prune").is_some() },
        ["gitops", "rollback", commit] => GitDeed::Rollback { commit: (*commit).into() },
        ["gitops", preset] => {
            let found = Preset::ALL.into_iter().find(|it| it.word() == *preset);
            let preset = found.ok_or_else(|| ["no agent \"", preset, "\": argocd or flux"].concat())?;
            GitDeed::Set { settings: read_settings(Settings::of(preset), flags)? }
        }
        _ => return Ok(None),
    }))
}

/// In the order in which they stand.
fn read_edits(flags: &mut Flags) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    while let Some((flag, value)) = flags.take_first(&["file", "remove"]) {
        edits.push(match (flag.as_str(), value.split_once('=')) {
            ("remove", _) => Edit { path: value, text: None },
            (_, Some((path, text))) => Edit { path: path.into(), text: Some(text.into()) },
            _ => return Err(["--file=", &value, ": an = is missing"].concat()),
        });
    }
    Ok(edits)
}

fn read_settings(mut it: Settings, flags: &mut Flags) -> Result<Settings, String> {
    if let Some(text) = flags.take("interval") {
        it.interval_ms = span(&text)?.max(1_000);
    }
    for (name, is_on) in switches(&mut it) {
        match flags.take(name).as_deref() {
            None => {}
            Some("on") => *is_on = true,
            Some("off") => *is_on = false,
            Some(other) => return Err(["--", name, "=", other, ": on or off"].concat()),
        }
    }
    while let Some(text) = flags.take("ignore") {
        let (kind, pointer) = text.split_once(':').ok_or_else(|| ["--ignore=", &text, ": a : is missing"].concat())?;
        it.ignored.push(Ignored { kind: kind.into(), pointer: pointer.into() });
    }
    Ok(it)
}
