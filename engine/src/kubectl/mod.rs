//! kubectl: lines as people type them, answered as kubectl v1.36 answers them.
//!
//! A line becomes words (`shell`), a verb with flags (`verbs`, `flags`), the objects that it is about (`resources`), and
//! requests to the API server like those of anybody else ([`Cluster::ask`]). What is printed is made by `print`,
//! `columns`, `describe`. Commands that wait are [`Waiting`]: they look again whenever they are asked to, and what passes
//! meanwhile they read in the watch log. What is not simulated says so, with exit code 1.

mod annotate;
mod apply;
mod apply_patch;
mod autoscale;
mod change;
mod columns;
mod complete;
mod console;
mod create;
mod delete;
mod describe;
mod diff;
mod discovery;
mod drain;
mod edit;
mod errors;
mod events;
mod explain;
mod expose;
mod files;
mod flags;
mod get;
mod json;
mod jsonpath;
mod node;
mod patch;
mod pipe;
mod pod_status;
mod print;
mod resources;
mod rollout;
mod run;
mod scale;
mod selector;
mod server_side;
mod set;
mod shell;
mod tab;
mod taint;
mod terminal;
mod text_diff;
mod time;
mod top;
mod value;
mod verbs;
mod wait;
mod watch;

use serde_json::Value;

use crate::api::{Kind, Name, ObjectKey};
use crate::apiserver::{Answer, ApiError, ApiServer, Request, Verb as Ask};
use crate::sim::Time;

pub use complete::{Candidate, Completion, complete};
pub use console::{Console, Running, Went};
pub use errors::{Failure, Problem};
pub use pod_status::{is_fine, reason, status_word};
pub use shell::is_unfinished;
pub use terminal::{Block, End, Piece, Terminal};
pub use time::human as human_duration;

use flags::Args;

/// What kubectl talks to.
pub trait Cluster {
    fn api(&self) -> &ApiServer;
    /// Now, in milliseconds since 1970-01-01 UTC.
    fn wall_millis(&self) -> i64;
    /// An instant of the watch log, in milliseconds since 1970-01-01 UTC.
    fn wall_of(&self, at: Time) -> i64;
    /// Carries out a request of this person.
    ///
    /// # Errors
    /// As the API server answers.
    fn ask(&mut self, request: Request) -> Result<Answer, ApiError>;
    /// What a request would come to (`dryRun=All`).
    ///
    /// # Errors
    /// As the API server answers.
    fn try_out(&self, request: &Request) -> Result<Answer, ApiError>;
    /// Events that are kept beside the other objects, as the API writes them.
    fn events(&self) -> Vec<Value>;
    /// Carries out what is no line of a shell but a command of this simulation: `node stop node-1`. Nothing where it is none;
    /// otherwise what it answers, or why it is refused.
    fn order(&mut self, _words: &[String]) -> Option<Result<String, String>> {
        None
    }
    /// What pods and nodes use, where there is a metrics API: its `PodMetrics` and `NodeMetrics`.
    fn metrics(&self, _of_nodes: bool) -> Option<Vec<Value>> {
        None
    }
}

/// Where something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// What was printed, in its order.
#[derive(Clone, Debug, Default)]
pub struct Output(Vec<(Stream, String)>);

impl Output {
    pub fn out(&mut self, text: &str) {
        self.push(Stream::Out, text);
    }

    pub fn err(&mut self, text: &str) {
        self.push(Stream::Err, text);
    }

    fn push(&mut self, stream: Stream, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some((last, known)) if *last == stream => known.push_str(text),
            _ => self.0.push((stream, text.into())),
        }
    }

    pub fn take(&mut self) -> Vec<(Stream, String)> {
        std::mem::take(&mut self.0)
    }
}

/// How a command ended, or that it waits.
pub enum Done {
    Exit(i32),
    Wait(Box<dyn Waiting>),
}

/// A command that goes on while virtual time passes.
pub trait Waiting {
    /// Looks again. Its exit code once it has ended.
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32>;
    /// When it wants to look even if nothing has happened, in milliseconds since 1970.
    fn due(&self) -> Option<i64> {
        None
    }
    /// The text that waits for an editor.
    fn editor(&self) -> Option<&str> {
        None
    }
    /// What the editor has made of it.
    fn edited(&mut self, _text: String) {}
    /// A file that it leaves behind when it ends: its name and its text.
    fn left(&mut self) -> Option<(String, String)> {
        None
    }
}

/// Whether a request is only tried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dry {
    #[default]
    No,
    Client,
    Server,
}

impl Dry {
    /// What kubectl says behind what it would have done.
    pub fn suffix(self) -> &'static str {
        match self {
            Dry::No => "",
            Dry::Client => " (dry run)",
            Dry::Server => " (server dry run)",
        }
    }
}

/// What a verb has to work with.
pub struct Context<'a> {
    pub cluster: &'a mut dyn Cluster,
    pub args: Args,
    pub out: Output,
    /// What went wrong without stopping the rest.
    pub problems: Vec<Problem>,
    pub console: &'a mut Console,
    /// Standard input.
    pub input: Option<String>,
    pub dry: Dry,
}

impl Context<'_> {
    /// The namespace of what names none.
    pub fn namespace(&self) -> Name {
        match self.args.text("namespace") {
            "" => self.console.namespace(),
            named => named.into(),
        }
    }

    pub fn now(&self) -> i64 {
        self.cluster.wall_millis()
    }

    pub fn out(&mut self, text: &str) {
        self.out.out(text);
    }

    pub fn line(&mut self, parts: &[&str]) {
        self.out.out(&parts.concat());
        self.out.out("\n");
    }

    /// The name under which this person's changes are noted.
    pub fn manager(&self, usual: &'static str) -> &'static str {
        match self.args.text("field-manager") {
            "" => usual,
            named => crate::apiserver::manager_name(named),
        }
    }

    /// Carries a request out, or tries it out where the line says so.
    ///
    /// # Errors
    /// As the API server answers.
    pub fn send(&mut self, manager: &'static str, ask: Ask) -> Result<Answer, ApiError> {
        let request = Request::new(manager, ask);
        match self.dry {
            Dry::No => self.cluster.ask(request),
            _ => self.cluster.try_out(&request),
        }
    }

    /// The end of a verb: well, unless something went wrong on the way.
    pub fn done(&mut self) -> Result<Done, Failure> {
        match std::mem::take(&mut self.problems) {
            problems if problems.is_empty() => Ok(Done::Exit(0)),
            problems => Err(Failure::of(problems)),
        }
    }
}

/// `deployment.apps/web`, as kubectl names an object it has changed.
pub fn reference(key: &ObjectKey) -> String {
    [&resource_of(key.kind), "/", key.name.as_str()].concat()
}

/// `deployment.apps`
pub fn resource_of(kind: Kind) -> String {
    let name = kind.name().to_ascii_lowercase();
    match kind.group() {
        "" => name,
        group => [&name, ".", group].concat(),
    }
}
