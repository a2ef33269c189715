//! A console: what is typed becomes commands that run one after another, each waiting for its own end.

use std::collections::VecDeque;

use super::errors::Failure;
use super::flags::Args;
use super::shell::{self, Step};
use super::{Cluster, Context, Done, Dry, Output, Problem, Stream, Waiting, create, flags, pipe, verbs};
use crate::api::Name;

/// What a console remembers from line to line.
#[derive(Clone, Debug, Default)]
pub struct Console {
    /// Files that here-documents made, by their names.
    pub files: Vec<(String, String)>,
    namespace: Name,
}

/// Commands under way.
pub struct Running {
    steps: VecDeque<Step>,
    current: Option<Step>,
    waiting: Option<Box<dyn Waiting>>,
    /// What a command has printed that others of its pipe or a file are to get.
    held: String,
    output: Output,
    exit: Option<i32>,
    last: i32,
    why_not: Option<String>,
    /// Lines of the text that are no commands, until that is said.
    n_printed: usize,
}

/// How far [`Running::step`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// A command has ended, with this exit code.
    Ended(i32),
    /// Nothing more can be done at this instant.
    Waits,
    /// All commands have ended, the last with this exit code.
    Over(i32),
}

impl Console {
    pub fn namespace(&self) -> Name {
        if self.namespace.is_empty() { "default".into() } else { self.namespace.clone() }
    }

    pub fn set_namespace(&mut self, namespace: &str) {
        self.namespace = namespace.into();
    }

    /// Begins what a person has typed or pasted. Nothing is done before it is asked to [`Running::poll`].
    pub fn start(&self, text: &str, input: Option<&str>) -> Running {
        let mut running = Running {
            steps: VecDeque::new(),
            current: None,
            waiting: None,
            held: String::new(),
            output: Output::default(),
            exit: None,
            last: 0,
            why_not: None,
            n_printed: 0,
        };
        match shell::read(text) {
            Ok(mut script) => {
                if let (Some(first), Some(input)) = (script.steps.first_mut(), input) {
                    first.input.get_or_insert_with(|| input.into());
                }
                running.steps = script.steps.into();
                running.n_printed = script.n_printed;
            }
            Err(error) => running.why_not = Some(error),
        }
        running
    }

    /// Runs a line to its end, or until it waits.
    pub fn run(&mut self, text: &str, input: Option<&str>, cluster: &mut dyn Cluster) -> Running {
        let mut running = self.start(text, input);
        running.poll(self, cluster);
        running
    }
}

impl Running {
    /// Goes on as far as it can at this instant. Its exit code once all of it has ended.
    pub fn poll(&mut self, console: &mut Console, cluster: &mut dyn Cluster) -> Option<i32> {
        loop {
            match self.step(console, cluster) {
                Went::Ended(_) => {}
                Went::Waits => return None,
                Went::Over(exit) => return Some(exit),
            }
        }
    }

    /// Begins the next command, or goes on with the one under way, and stops where that has ended.
    pub fn step(&mut self, console: &mut Console, cluster: &mut dyn Cluster) -> Went {
        if let Some(error) = self.why_not.take() {
            self.output.err(&[&error, "\n"].concat());
            self.exit = Some(1);
        }
        if let Some(exit) = self.exit {
            return Went::Over(exit);
        }
        if self.waiting.is_none() {
            let Some(step) = self.steps.pop_front() else {
                self.exit = Some(self.last);
                return Went::Over(self.last);
            };
            if let n @ 1.. = std::mem::take(&mut self.n_printed) {
                let lines = if n == 1 { " line does" } else { " lines do" };
                let words = " not begin with \"$ \" as the commands do: taken for output and passed over)\n";
                self.output.err(&["(", &n.to_string(), lines, words].concat());
            }
            self.begin(step, console, cluster);
        }
        if let Some(waiting) = &mut self.waiting {
            let mut out = Output::default();
            let exit = waiting.look(cluster, &mut out);
            self.pass(out);
            let Some(exit) = exit else { return Went::Waits };
            if let Some((file, text)) = self.waiting.take().and_then(|mut it| it.left()) {
                console.write(&file, text);
            }
            self.end(exit, console);
        }
        if self.last != 0 {
            // What was to run only if this went well.
            while self.steps.front().is_some_and(|step| step.if_well) {
                self.steps.pop_front();
            }
        }
        Went::Ended(self.last)
    }

    /// What [`Running::step`] would begin, as it was typed; nothing while a command is under way.
    pub fn next(&self) -> Option<&str> {
        let is_between = self.exit.is_none() && self.waiting.is_none();
        self.steps.front().filter(|_| is_between).map(|step| step.text.as_str())
    }

    /// Whether a command is under way and time must pass, or an editor be closed, before it goes on.
    pub fn is_waiting(&self) -> bool {
        self.exit.is_none() && self.waiting.is_some()
    }

    /// When it is to be asked again even if nothing has happened, in milliseconds since 1970.
    pub fn due(&self) -> Option<i64> {
        self.waiting.as_ref().and_then(|it| it.due())
    }

    /// The text that is to be edited, where it waits for an editor.
    pub fn editor(&self) -> Option<&str> {
        self.waiting.as_ref().and_then(|it| it.editor())
    }

    /// Gives back the text that [`Running::editor`] offered, edited or not.
    pub fn edited(&mut self, text: &str) {
        if let Some(waiting) = &mut self.waiting {
            waiting.edited(text.into());
        }
    }

    /// Its exit code, once it has ended.
    pub fn exit(&self) -> Option<i32> {
        self.exit
    }

    /// What is under way, as it was typed.
    pub fn command(&self) -> Option<&str> {
        self.current.as_ref().map(|step| step.text.as_str())
    }

    /// What was printed since it was last asked for.
    pub fn take(&mut self) -> Vec<(Stream, String)> {
        self.output.take()
    }

    /// Stops it, as Ctrl+C does, with all that was to follow.
    pub fn cancel(&mut self) {
        if self.exit.is_none() {
            self.steps.clear();
            self.waiting = None;
            self.exit = Some(130);
        }
    }

    fn is_held(&self) -> bool {
        self.current.as_ref().is_some_and(|step| step.pipe.len() > 1 || step.to.is_some())
    }

    fn pass(&mut self, mut out: Output) {
        for (stream, text) in out.take() {
            match stream {
                Stream::Out if self.is_held() => self.held += &text,
                Stream::Out => self.output.out(&text),
                Stream::Err => self.output.err(&text),
            }
        }
    }

    fn begin(&mut self, mut step: Step, console: &mut Console, cluster: &mut dyn Cluster) {
        let mut input = step.input.take();
        if let Some(file) = &step.from {
            match console.files.iter().find(|(name, _)| name == file) {
                Some((_, text)) => input = Some(text.clone()),
                None => {
                    self.output.err(&[file, ": No such file or directory\n"].concat());
                    self.last = 1;
                    return;
                }
            }
        }
        let words = step.pipe.first().cloned().unwrap_or_default();
        // What stands before kubectl in a pipe gives it its input.
        let mut first = 0;
        let mut words = words;
        while first + 1 < step.pipe.len() && !is_kubectl(&words) {
            match pipe::run(&words, input.as_deref(), console) {
                Ok(text) => input = Some(text),
                Err(error) => return self.fail(&error),
            }
            first += 1;
            words = step.pipe[first].clone();
        }
        step.pipe.drain(..first);
        self.current = Some(step);
        let mut out = Output::default();
        let done = if is_kubectl(&words) {
            run(&words[1..], input, console, cluster, &mut out)
        } else if words.first().is_some_and(|it| it == "sleep") {
            match pipe::sleep(&words, cluster.wall_millis()) {
                Ok(waiting) => Done::Wait(waiting),
                Err(error) => {
                    out.err(&error);
                    Done::Exit(1)
                }
            }
        } else {
            match cluster.order(&words).unwrap_or_else(|| pipe::run(&words, input.as_deref(), console)) {
                Ok(text) => {
                    out.out(&text);
                    Done::Exit(0)
                }
                Err(error) => {
                    out.err(&error);
                    Done::Exit(1)
                }
            }
        };
        self.pass(out);
        match done {
            Done::Exit(exit) => self.end(exit, console),
            Done::Wait(waiting) => self.waiting = Some(waiting),
        }
    }

    fn fail(&mut self, error: &str) {
        self.output.err(error);
        self.last = 1;
    }

    /// The end of a command: what it printed goes through the rest of its pipe.
    fn end(&mut self, exit: i32, console: &mut Console) {
        self.last = exit;
        let Some(step) = self.current.take() else { return };
        let mut text = std::mem::take(&mut self.held);
        for words in step.pipe.iter().skip(1) {
            match pipe::run(words, Some(&text), console) {
                Ok(filtered) => text = filtered,
                Err(error) => return self.fail(&error),
            }
        }
        match step.to {
            Some(file) => console.write(&file, text),
            None => self.output.out(&text),
        }
    }
}

impl Console {
    pub fn write(&mut self, file: &str, text: String) {
        let name = file.strip_prefix("./").unwrap_or(file);
        self.files.retain(|(known, _)| known != name);
        self.files.push((name.into(), text));
        crate::sim::sort_by(&mut self.files, |a, b| a.0.cmp(&b.0));
    }
}

fn is_kubectl(words: &[String]) -> bool {
    words.first().is_some_and(|it| it == "kubectl" || it == "k")
}

/// The words that name the verb: those before the first flags are passed over with their values.
pub fn named(words: &[String]) -> Vec<(usize, &str)> {
    let (mut found, mut place) = (Vec::new(), 0);
    while let Some(word) = words.get(place) {
        if word == "--" {
            break;
        }
        if let Some(flag) = word.strip_prefix('-') {
            let long = flag.strip_prefix('-').map(|it| it.split_once('=').map_or(it, |(name, _)| name));
            let takes_next = verbs::GLOBAL.iter().any(|it| match long {
                Some(name) => it.0 == name && it.2 != 'b' && !word.contains('='),
                None => it.2 != 'b' && it.1 == flag,
            });
            place += usize::from(takes_next);
        } else {
            found.push((place, word.as_str()));
        }
        place += 1;
    }
    found
}

fn run(
    words: &[String],
    input: Option<String>,
    console: &mut Console,
    cluster: &mut dyn Cluster,
    out: &mut Output,
) -> Done {
    match attempt(words, input, console, cluster, out) {
        Ok(done) => done,
        Err(failure) => {
            out.err(&failure.print());
            Done::Exit(1)
        }
    }
}

/// What a known verb that is not simulated has nearby.
fn nearest(verb: &str) -> &'static str {
    match verb {
        "logs" | "exec" | "attach" | "port-forward" | "cp" | "debug" | "proxy" => {
            "No program really runs here; 'kubectl describe pod' and 'kubectl get events' say what happened to it"
        }
        "replace" | "kustomize" => "Use 'kubectl apply -f'",
        "auth" | "certificate" | "cluster-info" => "Use 'kubectl version' or 'kubectl api-resources'",
        "help" | "options" => "'kubectl' alone lists the verbs",
        _ => "'kubectl' alone lists the verbs that are",
    }
}

fn attempt(
    words: &[String],
    input: Option<String>,
    console: &mut Console,
    cluster: &mut dyn Cluster,
    out: &mut Output,
) -> Result<Done, Failure> {
    let named = named(words);
    let plain: Vec<&str> = named.iter().map(|(_, word)| *word).collect();
    let Some(first) = plain.first() else {
        if let Some(flag) = words.iter().find(|it| it.starts_with('-') && !is_known_flag(it)) {
            let flag = flag.split('=').next().unwrap_or(flag);
            return Err(Failure::errors(&["unknown flag: ", flag, "\nSee 'kubectl --help' for usage."]));
        }
        out.out(&overview());
        return Ok(Done::Exit(0));
    };
    let Some((verb, parts)) = verbs::find(&plain) else {
        if !verbs::KNOWN.contains(first) {
            return Err(Failure::plain(verbs::unknown(first).trim_end_matches('\n').into()));
        }
        return Err(Failure::not_simulated(&["kubectl ", first].concat(), nearest(first)));
    };
    let verb_places: Vec<usize> = named.iter().take(parts).map(|(place, _)| *place).collect();
    let rest: Vec<String> = words
        .iter()
        .enumerate()
        .filter(|(place, _)| !verb_places.contains(place))
        .map(|(_, word)| word.clone())
        .collect();
    let path = ["kubectl ", verb.name].concat();
    let args: Args = flags::parse(verb, &rest).map_err(|error| {
        let other = plain.get(1).filter(|_| verb.name == "create");
        let other = other.and_then(|word| create::other_kind(word, plain.get(2).copied()));
        other.unwrap_or_else(|| Failure::errors(&[&error, "\nSee '", &path, " --help' for usage."]))
    })?;
    if args.is("help") {
        return Err(Failure::not_simulated("the help text", "See https://kubernetes.io/docs/reference/kubectl/"));
    }
    let mut context =
        Context { cluster, args, out: std::mem::take(out), problems: Vec::new(), console, input, dry: Dry::No };
    let result = begin(&mut context).and_then(|()| (verb.act)(&mut context));
    let mut problems: Vec<Problem> = std::mem::take(&mut context.problems);
    *out = context.out;
    match result {
        Err(failure) if !problems.is_empty() => {
            problems.push(Problem::Plain(failure.print().trim_end_matches('\n').into()));
            Err(Failure::of(problems))
        }
        other => other,
    }
}

fn is_known_flag(word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    verbs::GLOBAL.iter().any(|it| it.0 == name || (!it.1.is_empty() && it.1 == name))
}

/// What all verbs look at first.
fn begin(context: &mut Context<'_>) -> Result<(), Failure> {
    const OTHER_CLUSTERS: [&str; 12] = [
        "as",
        "as-group",
        "as-uid",
        "cluster",
        "context",
        "kubeconfig",
        "server",
        "token",
        "user",
        "username",
        "kustomize",
        "raw",
    ];
    let is_config = context.args.path.starts_with("kubectl config");
    let is_strange = |flag: &&str| OTHER_CLUSTERS.contains(flag) && !(is_config && *flag != "kubeconfig");
    if let Some(flag) = context.args.given().find(is_strange) {
        return Err(Failure::not_simulated(&["the flag --", flag].concat(), ""));
    }
    let dry = context.args.text("dry-run").to_string();
    context.dry = match dry.as_str() {
        "" | "none" => Dry::No,
        "client" => Dry::Client,
        "server" => Dry::Server,
        "unchanged" => {
            context.out.err("W0000 00:00:00.000000       1 helpers.go:719] --dry-run is deprecated and can be replaced with --dry-run=client.\n");
            Dry::Client
        }
        _ => {
            return Err(Failure::errors(&[
                "Invalid dry-run value (",
                &dry,
                "). Must be \"none\", \"server\", or \"client\".",
            ]));
        }
    };
    Ok(())
}

/// The verbs, for whoever types `kubectl` alone.
fn overview() -> String {
    let mut text = String::from("kubectl controls the Kubernetes cluster manager.\n\nSimulated here:\n");
    for verb in verbs::VERBS {
        text += &["  ", verb.name, "\n"].concat();
    }
    text
}
