//! What kubectl prints of what went wrong (`kubectl/pkg/cmd/util/helpers.go`, v1.36).

use crate::apiserver::{ApiError, Reason};

/// One thing that went wrong.
#[derive(Clone, Debug)]
pub enum Problem {
    /// The API server's refusal; `during` is what kubectl adds: `error when creating "STDIN"`.
    Api { error: ApiError, during: String },
    /// All that is printed, without the end of its last line.
    Plain(String),
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self::Api { error, during: String::new() }
    }
}

/// Why a command ends with exit code 1.
#[derive(Clone, Debug)]
pub struct Failure(Vec<Problem>);

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(vec![error.into()])
    }
}

impl Failure {
    pub fn of(problems: Vec<Problem>) -> Self {
        Self(problems)
    }

    /// All that is printed.
    pub fn plain(text: String) -> Self {
        Self(vec![Problem::Plain(text)])
    }

    /// `error: …`
    pub fn error(message: &str) -> Self {
        Self::plain(["error: ", message].concat())
    }

    /// `error: …`, of parts.
    pub fn errors(parts: &[&str]) -> Self {
        Self::error(&parts.concat())
    }

    /// With the hint of where usage is told (`UsageErrorf`).
    pub fn usage(path: &str, message: &str) -> Self {
        Self::errors(&[message, "\nSee '", path, " -h' for help and examples"])
    }

    /// What this program does not do.
    pub fn not_simulated(what: &str, instead: &str) -> Self {
        let hint = if instead.is_empty() { String::new() } else { [". ", instead].concat() };
        Self::errors(&[what, " is not simulated", &hint])
    }

    pub fn print(&self) -> String {
        let mut text = String::new();
        let alone = self.0.len() == 1;
        for problem in &self.0 {
            text += &match problem {
                Problem::Plain(text) => text.clone(),
                Problem::Api { error, .. } if alone && error.reason == Reason::Invalid && !error.fields.is_empty() => {
                    invalid(error)
                }
                Problem::Api { error, during } => server(error, during),
            };
            text.push('\n');
        }
        text
    }
}

/// `Error from server (NotFound): …`
pub fn server(error: &ApiError, during: &str) -> String {
    let during = if during.is_empty() { String::new() } else { [during, ": "].concat() };
    ["Error from server (", error.reason.name(), "): ", &during, &error.message].concat()
}

/// `The Pod "a" is invalid: …`: one wrong field stands on the line, several in a list.
fn invalid(error: &ApiError) -> String {
    let (head, _) = error.message.split_once(" is invalid: ").unwrap_or((&error.message, ""));
    let (kind, name) = head.split_once(' ').unwrap_or((head, ""));
    let kind = kind.split('.').next().unwrap_or(kind);
    let mut text = ["The ", kind, " ", name, " is invalid: "].concat();
    if let [field] = error.fields.as_slice() {
        return text + &[&field.path, ": ", &field.message].concat();
    }
    let mut lines: Vec<String> = Vec::new();
    for field in &error.fields {
        let line = ["\n* ", &field.path, ": ", &field.message].concat();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    text += &lines.concat();
    text
}
