//! Syntax errors in plain words for people, and in go-yaml's words for what kubectl would print.

use saphyr_parser::{Marker, ScanError};

use super::Span;
use super::tree::Problem;

/// A syntax error. `first_line` is the number of lines before the text.
pub(super) fn problem(error: &ScanError, text: &str, first_line: u32) -> Problem {
    let marker = error.marker();
    let info = error.info();
    let reason = info.split_once(", ").filter(|(head, _)| head.starts_with("while ")).map_or(info, |(_, rest)| rest);
    let lines: Vec<&str> = text.trim_end().split('\n').collect();
    let line = lines.get(marker.line().saturating_sub(1)).copied().unwrap_or_default();
    let indentation = &line[..line.len() - line.trim_start().len()];
    let is_tab = indentation.contains('\t') || reason.contains("tab");
    let (message, hint) = if is_tab {
        ("a tab indents this line".into(), Some("Use spaces: YAML does not take tabs for indentation".into()))
    } else {
        explain(reason, line, marker)
    };
    let (mut number, mut column) = place(&lines, marker);
    let mut hint = hint;
    let mut message = message;
    if let Some(at) = line.chars().position(|c| c == '\t').filter(|_| is_tab) {
        column = at + 1;
    } else if (reason.starts_with("mapping values are not allowed") || reason.starts_with("simple key expect"))
        && let Some((before, fixed)) = line_without_colon(&lines, marker.line())
    {
        (number, column) = (before, indent_of(lines.get(before - 1).copied().unwrap_or_default()) + 1);
        message = "the colon after the key is missing, or the blank after the colon".into();
        hint = Some(format!("Try {fixed}"));
    }
    let span = Span { line: number as u32 + first_line, column: column as u32, length: 1 };
    let mut problem = Problem::error(span, format!("This is not valid YAML: {message}")).upstream(upstream(
        if is_tab { "found a tab" } else { reason },
        text,
        line,
        marker,
    ));
    problem.hint = hint;
    problem
}

fn indent_of(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// Where to point: not behind the end of the text.
fn place(lines: &[&str], marker: &Marker) -> (usize, usize) {
    if marker.line() <= lines.len() {
        return (marker.line().max(1), marker.col() + 1);
    }
    (lines.len(), lines.last().map_or(1, |it| it.trim_end().chars().count()).max(1))
}

/// The line before, where it looks like a field that has lost its colon, and how to write it.
fn line_without_colon(lines: &[&str], number: usize) -> Option<(usize, String)> {
    let (index, line) = lines.iter().enumerate().take(number.checked_sub(1)?).rfind(|(_, it)| !it.trim().is_empty())?;
    let content = line.trim().trim_start_matches("- ");
    if content.starts_with('#') || content.contains(": ") || content.ends_with(':') {
        return None;
    }
    let (key, value) = content.split_once(':').or_else(|| content.split_once(' '))?;
    (!key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric()))
        .then(|| (index + 1, format!("{key}: {}", value.trim())))
}

fn explain(reason: &str, line: &str, marker: &Marker) -> (String, Option<String>) {
    let next = line.chars().nth(marker.col());
    let (message, hint): (String, &str) = match reason {
        "did not find expected key" | "did not find expected '-' indicator" | "invalid indentation" => {
            ("this line does not stand under the lines that it belongs to".into(), "Indent it like its neighbours")
        }
        _ if reason.starts_with("mapping values are not allowed") => {
            ("a second colon stands on this line".into(), "Put the value in quotes, or break the line")
        }
        "simple key expect ':'" | "simple key expected" => ("a colon is missing after the key".into(), ""),
        "found unexpected end of stream" => ("a quote is not closed".into(), ""),
        "found unknown anchor" => (
            "a value that begins with * refers to an anchor, and there is none of this name".into(),
            "Put it in quotes",
        ),
        "illegal placement of ':' indicator" | "unexpected end of plain scalar" => {
            ("a bracket or brace is not closed".into(), "")
        }
        "did not find expected node content" => {
            ("a value is missing here".into(), "Close the bracket, or write the value")
        }
        "found unknown escape character" => {
            ("double quotes know no such escape".into(), "Write \\\\ for a backslash, or use single quotes")
        }
        "invalid trailing content after double-quoted scalar" => {
            ("something follows a closing quote".into(), "A comma may be missing, or a backslash before the quote")
        }
        "block sequence entries are not allowed in this context" => {
            ("a list cannot begin on the line of its key".into(), "Begin it on the next line")
        }
        _ if reason.contains("',' or") => ("a bracket or brace is not closed, or a comma is missing".into(), ""),
        _ if reason.starts_with("unexpected character") => {
            let begin = next.map(|c| format!("a value cannot begin with {c}")).unwrap_or_else(|| reason.into());
            (begin, "Put it in quotes")
        }
        _ => (reason.into(), ""),
    };
    (message, (!hint.is_empty()).then(|| hint.into()))
}

/// go-yaml's words for the same mistake.
fn upstream(reason: &str, text: &str, line: &str, marker: &Marker) -> String {
    let words = match reason {
        "found unknown anchor" => {
            let rest: String = line.chars().skip(marker.col()).collect();
            let name = rest.trim_start_matches('*');
            let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(name.len());
            return format!("yaml: unknown anchor '{}' referenced", &name[..end]);
        }
        "did not find expected <document start>" if text.starts_with("%YAML") && !text.starts_with("%YAML 1.1") => {
            return "yaml: found incompatible YAML document".into();
        }
        "found a tab" => "found character that cannot start any token",
        "simple key expected" | "simple key expect ':'" => "could not find expected ':'",
        "expected ',' or ']'" | "illegal placement of ':' indicator" => "did not find expected ',' or ']'",
        _ if reason.starts_with("unexpected character") => "found character that cannot start any token",
        _ => reason,
    };
    // go-yaml counts from 0 what its parser finds, and finds an open quote at the end.
    let number = match words {
        "did not find expected key"
        | "did not find expected '-' indicator"
        | "did not find expected node content"
        | "did not find expected <document start>"
        | "did not find expected ',' or ']'"
        | "did not find expected ',' or '}'" => marker.line().saturating_sub(1),
        "found unexpected end of stream" => text.matches('\n').count() + 1,
        _ => marker.line(),
    };
    format!("yaml: line {number}: {words}")
}
