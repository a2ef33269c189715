//! What a file may hold, as data: the reader checks against it, and the JSON Schema is written from it.

use serde_json::Value;

use super::Mistake;
use crate::manifest::{Spans, nearest};

/// What may stand in a place.
pub enum Shape {
    /// A text; a number or a boolean is taken as it is written.
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
    Whole {
        least: i64,
        most: i64,
    },
    /// A number with at most three digits after the point.
    Number,
    Flag,
    /// A span of virtual time: `250ms`, `60s`, `5m`.
    Span,
    /// A text, a number or a boolean.
    Scalar,
    List(&'static Shape),
    Fields(&'static [Field]),
    /// A mapping with exactly one of these fields.
    One(&'static [Field]),
    /// What another reader knows better.
    Any,
}

pub struct Field {
    pub name: &'static str,
    pub shape: &'static Shape,
    pub is_needed: bool,
}

pub const fn may(name: &'static str, shape: &'static Shape) -> Field {
    Field { name, shape, is_needed: false }
}

pub const fn must(name: &'static str, shape: &'static Shape) -> Field {
    Field { name, shape, is_needed: true }
}

/// Mistakes that are told of one file.
const MOST_MISTAKES: usize = 50;

/// Walks a value beside its shape, and says what does not fit.
pub struct Checker<'a> {
    pub spans: &'a Spans,
    pub mistakes: Vec<Mistake>,
}

impl Checker<'_> {
    pub fn tell(&mut self, path: &str, message: &[&str]) {
        self.put(path, message, String::new(), false);
    }

    fn put(&mut self, path: &str, message: &[&str], hint: String, is_key: bool) {
        if self.mistakes.len() < MOST_MISTAKES {
            let span = if is_key { self.spans.locate_key(path) } else { self.spans.locate(path) };
            self.mistakes.push(Mistake::at(span, path, message.concat(), hint));
        }
    }

    fn wants(&mut self, path: &str, what: &str) {
        self.tell(path, &[name_of(path), " must be ", what]);
    }

    pub fn check(&mut self, path: &str, shape: &Shape, value: &Value) {
        match (shape, value) {
            (Shape::Any, _) => {}
            (Shape::Text | Shape::Scalar, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {}
            (Shape::Text, _) => self.wants(path, "a text"),
            (Shape::Scalar, _) => self.wants(path, "a text, a number, true or false"),
            (Shape::Word(words), value) => match value.as_str() {
                Some(word) if words.contains(&word) => {}
                other => {
                    let hint = other.and_then(|it| nearest(it, words.iter().copied())).map(meant).unwrap_or_default();
                    self.put(path, &[name_of(path), " must be one of: ", &words.join(", ")], hint, false);
                }
            },
            (Shape::Whole { least, most }, value) => {
                if !value.as_i64().is_some_and(|it| (*least..=*most).contains(&it)) {
                    self.wants(path, &["a whole number from ", &least.to_string(), " to ", &most.to_string()].concat());
                }
            }
            (Shape::Number, value) => {
                if thousandths(value).is_none() {
                    self.wants(path, "a number with at most three digits after the point");
                }
            }
            (Shape::Flag, Value::Bool(_)) => {}
            (Shape::Flag, _) => self.wants(path, "true or false"),
            (Shape::Span, value) => {
                if value.as_str().and_then(span_ms).is_none() {
                    self.wants(path, "a time such as 250ms, 60s or 5m");
                }
            }
            (Shape::List(of), Value::Array(items)) => {
                for (at, item) in items.iter().enumerate() {
                    self.check(&[path, "[", &at.to_string(), "]"].concat(), of, item);
                }
            }
            (Shape::List(_), _) => self.wants(path, "a list"),
            (Shape::Fields(fields), Value::Object(_)) => self.fields(path, fields, value),
            (Shape::One(fields), Value::Object(map)) => {
                self.fields(path, fields, value);
                if map.len() != 1 {
                    self.put(path, &[name_of(path), " must have exactly one field"], String::new(), true);
                }
            }
            _ => self.wants(path, "a mapping"),
        }
    }

    fn fields(&mut self, path: &str, fields: &'static [Field], value: &Value) {
        let Value::Object(map) = value else { return };
        for (name, value) in map {
            let at = join(path, name);
            match fields.iter().find(|it| it.name == name) {
                Some(field) => self.check(&at, field.shape, value),
                None => {
                    let hint = nearest(name, fields.iter().map(|it| it.name)).map(meant).unwrap_or_default();
                    self.put(&at, &["the field ", name, " is not known here"], hint, true);
                }
            }
        }
        for field in fields.iter().filter(|it| it.is_needed && !map.contains_key(it.name)) {
            self.put(path, &["the field ", field.name, " is missing in ", name_of(path)], String::new(), true);
        }
    }
}

fn meant(name: &str) -> String {
    ["Did you mean ", name, "?"].concat()
}

fn name_of(path: &str) -> &str {
    if path.is_empty() { "the file" } else { path }
}

pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { [path, ".", name].concat() }
}

/// Milliseconds of `250ms`, `60s` or `5m`, up to a week.
pub fn span_ms(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)? {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let is_plain = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let ms = digits.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(factor)?;
    (ms <= crate::share::LONGEST_MS).then_some(ms)
}

/// A number in thousandths.
pub fn thousandths(value: &Value) -> Option<i64> {
    let Value::Number(number) = value else { return None };
    decimal(&number.to_string())
}

/// `21.5` as 21500.
pub fn decimal(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let part = part.trim_end_matches('0');
    if whole.is_empty() || part.len() > 3 || !is_plain(whole) || !is_plain(part) {
        return None;
    }
    let mut scaled = part.to_owned();
    scaled += &"000"[part.len()..];
    Some(sign * whole.parse::<i64>().ok()?.checked_mul(1_000)?.checked_add(scaled.parse().ok()?)?)
}

/// A number of thousandths as people write it: `21.5`.
pub fn number_text(thousandths: i64) -> String {
    let (sign, all) = (if thousandths < 0 { "-" } else { "" }, thousandths.unsigned_abs());
    let part = (1_000 + all % 1_000).to_string();
    let part = part[1..].trim_end_matches('0');
    let point = if part.is_empty() { "" } else { "." };
    [sign, &(all / 1_000).to_string(), point, part].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written_in_thousandths() {
        for (text, thousandths) in [("21.5", 21_500), ("3", 3_000), ("-0.25", -250), ("0.001", 1), ("1.500000", 1_500)]
        {
            assert_eq!(decimal(text), Some(thousandths), "{text}");
        }
        for text in ["", "-", ".5", "1.2345", "1e3", "a", "1.-2", "99999999999999999999"] {
            assert_eq!(decimal(text), None, "{text}");
        }
        let written = [21_500, 3_000, -250, 1, 0].map(number_text);
        assert_eq!(written, ["21.5", "3", "-0.25", "0.001", "0"]);
    }

    #[test]
    fn spans_are_whole_numbers_with_a_unit() {
        let read = ["250ms", "60s", "5m", "2h", "0s"].map(span_ms);
        assert_eq!(read, [250, 60_000, 300_000, 7_200_000, 0].map(Some));
        for text in ["", "s", "60", "1.5s", "-1s", "60 s", "200h", "5d"] {
            assert_eq!(span_ms(text), None, "{text}");
        }
    }
}
