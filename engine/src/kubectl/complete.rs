//! What may come next on a line: verbs, types, names, flags and their values, as the world has them now.

use super::flags::{self, Args, Flag};
use super::verbs::{self, GLOBAL, VERBS, Verb};
use super::{Cluster, Console, resources, shell};
use crate::api::{Kind, Name, Object};
use crate::sim::sort_by;

/// So many candidates are told at the most.
pub const MOST: usize = 200;

/// Something that may stand where the caret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The whole word.
    pub text: String,
    /// The word ends here: a blank follows.
    pub is_whole: bool,
}

/// What may stand in place of the word before the caret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the word begins, in bytes.
    pub from: usize,
    /// In the order of their letters.
    pub all: Vec<Candidate>,
    /// There are more than are told.
    pub has_more: bool,
}

impl Completion {
    /// What all candidates begin with.
    pub fn common(&self) -> &str {
        let Some((first, rest)) = self.all.split_first() else { return "" };
        let mut common = first.text.as_str();
        for other in rest {
            let same = common.char_indices().zip(other.text.chars()).find(|((_, a), b)| a != b);
            let end = same.map_or(common.len().min(other.text.len()), |((at, _), _)| at);
            common = &common[..end];
        }
        common
    }
}

/// What may stand at the end of a text.
pub fn complete(text: &str, console: &Console, cluster: &dyn Cluster) -> Completion {
    let Some(line) = Line::read(text) else { return Completion::default() };
    let mut found = Found { prefix: line.word.clone(), all: Vec::new() };
    let asked = Asked { line: &line, console, cluster };
    asked.find(&mut found);
    let mut all = found.all;
    sort_by(&mut all, |a, b| a.text.cmp(&b.text));
    all.dedup_by(|a, b| a.text == b.text);
    let has_more = all.len() > MOST;
    all.truncate(MOST);
    Completion { from: line.from, all, has_more }
}

/// The command that the caret is in.
struct Line {
    /// The words before the one with the caret.
    words: Vec<String>,
    word: String,
    from: usize,
    is_piped: bool,
    /// The word names a file that is read or written.
    is_file: bool,
}

impl Line {
    /// Nothing where the caret is in a quote or a here-document.
    fn read(text: &str) -> Option<Self> {
        if text.contains("<<") && shell::is_unfinished(text) {
            return None;
        }
        let mut line = Self::begin(0, false);
        let (mut quote, mut is_escaped) = (None, false);
        for (at, c) in text.char_indices() {
            let next = at + c.len_utf8();
            match c {
                _ if is_escaped => {
                    is_escaped = false;
                    line.word.push(c);
                }
                '\\' if quote != Some('\'') => is_escaped = true,
                _ if quote == Some(c) => quote = None,
                _ if quote.is_some() => line.word.push(c),
                '\'' | '"' => quote = Some(c),
                '\n' | ';' | '&' => line = Self::begin(next, false),
                '|' => line = Self::begin(next, true),
                '<' | '>' => {
                    line.end_word(next);
                    line.is_file = true;
                }
                ' ' | '\t' | '\r' => line.end_word(next),
                _ => line.word.push(c),
            }
        }
        // A word that is quoted in part is not replaced.
        let is_plain = text.get(line.from..) == Some(line.word.as_str());
        (quote.is_none() && !is_escaped && is_plain).then_some(line)
    }

    fn begin(from: usize, is_piped: bool) -> Self {
        Self { words: Vec::new(), word: String::new(), from, is_piped, is_file: false }
    }

    fn end_word(&mut self, next: usize) {
        let word = std::mem::take(&mut self.word);
        let is_prompt = self.words.is_empty() && word == "$";
        if !word.is_empty() && !std::mem::take(&mut self.is_file) && !is_prompt {
            self.words.push(word);
        }
        self.from = next;
    }
}

/// What begins as the word does.
struct Found {
    prefix: String,
    all: Vec<Candidate>,
}

impl Found {
    fn add(&mut self, parts: &[&str], is_whole: bool) {
        let text = parts.concat();
        if text.starts_with(&self.prefix) {
            self.all.push(Candidate { text, is_whole });
        }
    }

    /// Values, of which those that end in `=` go on; each behind what stands before it.
    fn values(&mut self, before: &str, values: &[&str]) {
        values.iter().for_each(|it| self.add(&[before, it], !it.ends_with('=')));
    }
}

/// What the words of a verb are about.
enum Takes {
    Nothing,
    /// A type and names; no kinds are all kinds.
    Objects(&'static [Kind]),
    Names(Kind),
    Types,
}

const SCALED: &[Kind] = &[Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet];
const ROLLED: &[Kind] = &[Kind::Deployment, Kind::DaemonSet, Kind::StatefulSet];
const EXPOSED: &[Kind] = &[Kind::Deployment, Kind::Pod, Kind::ReplicaSet, Kind::Service];
const TEMPLATED: &[Kind] =
    &[Kind::DaemonSet, Kind::Deployment, Kind::Job, Kind::Pod, Kind::ReplicaSet, Kind::StatefulSet];

fn takes(verb: &str) -> Takes {
    match verb {
        "get"
        | "describe"
        | "delete"
        | "edit"
        | "patch"
        | "label"
        | "annotate"
        | "wait"
        | "apply view-last-applied" => Takes::Objects(&[]),
        "scale" | "autoscale" => Takes::Objects(SCALED),
        "expose" => Takes::Objects(EXPOSED),
        "set image" | "set resources" | "set env" => Takes::Objects(TEMPLATED),
        "taint" => Takes::Objects(&[Kind::Node]),
        "cordon" | "uncordon" | "drain" | "top nodes" => Takes::Names(Kind::Node),
        "top pods" => Takes::Names(Kind::Pod),
        "explain" => Takes::Types,
        rollout if rollout.starts_with("rollout ") => Takes::Objects(ROLLED),
        _ => Takes::Nothing,
    }
}

struct Asked<'a> {
    line: &'a Line,
    console: &'a Console,
    cluster: &'a dyn Cluster,
}

impl Asked<'_> {
    fn find(&self, found: &mut Found) {
        if self.line.is_file {
            return self.files("", found);
        }
        match self.line.words.split_first() {
            None => self.command(found),
            Some((first, rest)) if first == "kubectl" || first == "k" => self.kubectl(rest, found),
            Some((first, _)) if first == "cat" => self.files("", found),
            Some(_) => {}
        }
    }

    fn command(&self, found: &mut Found) {
        if self.line.is_piped {
            return found.values("", &["grep", "head", "kubectl", "sort", "tail", "wc"]);
        }
        found.values("", &["cat", "clear", "echo", "kubectl", "sleep"]);
        if found.all.is_empty() {
            // A verb without kubectl before it.
            let word = std::mem::take(&mut found.prefix);
            found.prefix = ["kubectl ", &word].concat();
            VERBS.iter().for_each(|verb| found.add(&["kubectl ", first_part(verb)], true));
        }
    }

    fn kubectl(&self, words: &[String], found: &mut Found) {
        let named = super::console::named(words);
        let plain: Vec<&str> = named.iter().map(|(_, word)| *word).collect();
        let verb = verbs::find(&plain);
        let flags = || verb.iter().flat_map(|(verb, _)| verb.flags.iter().copied().flatten()).chain(GLOBAL);
        let word = &self.line.word;
        if let Some((name, _)) = word.strip_prefix("--").and_then(|it| it.split_once('=')) {
            return self.values(["--", name, "="].concat().as_str(), name, verb, words, found);
        }
        let awaits = words.last().and_then(|last| awaiting(last, flags()));
        if let Some(name) = awaits {
            return self.values("", name, verb, words, found);
        }
        if word.starts_with('-') {
            let own = verb.iter().flat_map(|(verb, _)| verb.flags.iter().copied().flatten());
            let usual = GLOBAL.iter().filter(|it| it.0 == "namespace");
            own.chain(usual).for_each(|flag| match flag.2 {
                'b' => found.add(&["--", flag.0], true),
                _ => found.add(&["--", flag.0, "="], false),
            });
            return;
        }
        verb_parts(&plain, found);
        if let Some((verb, parts)) = verb
            && let Some(args) = read(verb, words, &named, parts)
        {
            self.positional(verb, &args, found);
        }
    }

    fn positional(&self, verb: &Verb, args: &Args, found: &mut Found) {
        match takes(verb.name) {
            Takes::Nothing => {}
            Takes::Types if args.words.is_empty() => types("", &[], found),
            Takes::Types => {}
            Takes::Names(kind) => self.names(kind, "", args, &args.words, found),
            Takes::Objects(kinds) => self.objects(verb, kinds, args, found),
        }
    }

    fn objects(&self, verb: &Verb, kinds: &'static [Kind], args: &Args, found: &mut Found) {
        let word = &self.line.word;
        if let Some((kind, _)) = word.split_once('/') {
            if let Some(known) = resources::kind_of(kind) {
                self.names(known, &[kind, "/"].concat(), args, &args.words, found);
            }
            return;
        }
        let Some((first, rest)) = args.words.split_first() else {
            // Where only few kinds are meant, their objects as one writes them.
            for kind in kinds.iter().filter(|_| verb.name != "taint") {
                self.names(*kind, &[&resources::singular(*kind), "/"].concat(), args, &[], found);
            }
            if found.all.is_empty() {
                let before = word.rfind(',').map_or("", |at| &word[..=at]);
                types(before, kinds, found);
            }
            return;
        };
        let has_name = first.contains('/') || !rest.is_empty();
        if verb.name == "set image" && has_name {
            return self.containers(args, found);
        }
        match resources::kind_of(first.split(',').next().unwrap_or(first)) {
            Some(kind) if !first.contains('/') => self.names(kind, "", args, rest, found),
            _ => {}
        }
    }

    fn space(&self, kind: Kind, args: &Args) -> Option<Name> {
        match (kind.is_namespaced(), args.text("namespace")) {
            (false, _) => Some(Name::default()),
            _ if args.is("all-namespaces") => None,
            (_, "") => Some(self.console.namespace()),
            (_, named) => Some(named.into()),
        }
    }

    fn names(&self, kind: Kind, before: &str, args: &Args, known: &[String], found: &mut Found) {
        for object in resources::list(self.cluster, kind, self.space(kind, args).as_ref()) {
            let name = &*object.meta().name;
            if !known.iter().any(|it| it.strip_prefix(before) == Some(name)) {
                found.add(&[before, name], true);
            }
        }
    }

    /// `app=` for each container of the object that is named.
    fn containers(&self, args: &Args, found: &mut Found) {
        let Ok((_, named)) = resources::names(&args.words[..args.words.len().min(2)]) else { return };
        let Some((kind, name)) = named.first() else { return };
        let space = self.space(*kind, args);
        let objects = resources::list(self.cluster, *kind, space.as_ref());
        let Some(object) = objects.iter().find(|it| *it.meta().name == **name) else { return };
        let value = object.to_value();
        let path = if *kind == Kind::Pod { "spec.containers" } else { "spec.template.spec.containers" };
        for container in super::value::list(&value, path) {
            found.add(&[super::value::text(container, "name"), "="], false);
        }
    }

    fn files(&self, before: &str, found: &mut Found) {
        self.console.files.iter().for_each(|(name, _)| found.add(&[before, name], true));
    }

    /// The values of a flag.
    fn values(&self, before: &str, flag: &str, verb: Option<(&Verb, usize)>, words: &[String], found: &mut Found) {
        let verb_name = verb.map_or("", |(verb, _)| verb.name);
        let values: &[&str] = match flag {
            "namespace" => {
                let spaces = resources::list(self.cluster, Kind::Namespace, None);
                return spaces.iter().for_each(|it| found.add(&[before, &it.meta().name], true));
            }
            "filename" => return self.files(before, found),
            "selector" => return self.labels(before, verb, words, found),
            "output" if verb_name == "get" => &["custom-columns=", "json", "jsonpath=", "name", "wide", "yaml"],
            "output" => &["json", "name", "yaml"],
            "dry-run" => &["client", "none", "server"],
            "cascade" => &["background", "foreground", "orphan"],
            "for" if verb_name == "wait" => &["condition=", "create", "delete", "jsonpath="],
            "type" if verb_name == "patch" => &["json", "merge", "strategic"],
            "type" => &["ClusterIP", "LoadBalancer", "NodePort"],
            "restart" => &["Always", "Never", "OnFailure"],
            "image-pull-policy" => &["Always", "IfNotPresent", "Never"],
            "sort-by" if verb_name.starts_with("top") => &["cpu", "memory"],
            "sort-by" => &[".metadata.creationTimestamp", ".metadata.name", ".status.startTime"],
            _ => &[],
        };
        found.values(before, values);
    }

    /// `app=web` for each label of the objects that are meant; of pods where none are named.
    fn labels(&self, before: &str, verb: Option<(&Verb, usize)>, words: &[String], found: &mut Found) {
        // The flag that awaits its value is no part of what is read.
        let rest: Vec<String> =
            words.iter().filter(|it| !matches!(it.as_str(), "-l" | "--selector")).cloned().collect();
        let named = super::console::named(&rest);
        let args = verb.and_then(|(verb, parts)| read(verb, &rest, &named, parts)).unwrap_or_default();
        let kind = args.words.first().and_then(|word| resources::kind_of(word)).unwrap_or(Kind::Pod);
        let objects: Vec<Object> = resources::list(self.cluster, kind, self.space(kind, &args).as_ref());
        for object in &objects {
            object.meta().labels.iter().for_each(|(name, value)| found.add(&[before, name, "=", value], true));
        }
    }
}

fn first_part(verb: &Verb) -> &'static str {
    verb.name.split(' ').next().unwrap_or_default()
}

/// What may follow the words that name a verb so far.
fn verb_parts(plain: &[&str], found: &mut Found) {
    for verb in VERBS {
        let mut parts = verb.name.split(' ');
        let is_begun = plain.iter().all(|word| parts.next().is_some_and(|part| part == *word));
        if let Some(next) = parts.next().filter(|_| is_begun) {
            found.add(&[next], true);
        }
    }
}

/// The flag whose value is awaited after a word.
fn awaiting<'a>(word: &str, mut flags: impl Iterator<Item = &'a Flag>) -> Option<&'static str> {
    let takes_next = |flag: &&Flag| !matches!(flag.2, 'b' | 'n');
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(name), _) => flags.find(|it| it.0 == name).filter(takes_next).map(|it| it.0),
        (None, Some(letter)) if letter.len() == 1 => flags.find(|it| it.1 == letter).filter(takes_next).map(|it| it.0),
        _ => None,
    }
}

/// The words behind a verb, read by its flags; nothing where they are no such thing.
fn read(verb: &Verb, words: &[String], named: &[(usize, &str)], parts: usize) -> Option<Args> {
    let is_of_verb = |place: usize| named.iter().take(parts).any(|(at, _)| *at == place);
    let rest = words.iter().enumerate().filter(|(place, _)| !is_of_verb(*place)).map(|(_, word)| word.clone());
    flags::parse(verb, &rest.collect::<Vec<_>>()).ok()
}

/// Types by their plurals, behind those of a comma list that are there already.
fn types(before: &str, kinds: &[Kind], found: &mut Found) {
    let all = if kinds.is_empty() { Kind::ALL } else { kinds };
    all.iter().for_each(|kind| found.add(&[before, kind.plural()], true));
    if kinds.is_empty() && before.is_empty() {
        found.add(&["all"], true);
    }
}
