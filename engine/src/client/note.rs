use std::fmt;
use std::rc::Rc;

use crate::api::{Name, ObjectKey, Text};

/// A value inside a [`Note`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    Int(i64),
    Name(Name),
    /// A pod's name cut to its own five letters.
    Short(Name),
    Key(ObjectKey),
    Word(&'static str),
    Text(Rc<str>),
    /// Milliseconds, written as seconds or milliseconds.
    Millis(u64),
}

impl From<i32> for Arg {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Arg {
    fn from(value: u64) -> Self {
        Self::Int(value as i64)
    }
}

impl From<usize> for Arg {
    fn from(value: usize) -> Self {
        Self::Int(value as i64)
    }
}

impl From<&Name> for Arg {
    fn from(value: &Name) -> Self {
        Self::Name(value.clone())
    }
}

impl From<&ObjectKey> for Arg {
    fn from(value: &ObjectKey) -> Self {
        Self::Key(value.clone())
    }
}

impl From<&Text> for Arg {
    fn from(value: &Text) -> Self {
        value.own().map_or_else(|| Self::Text(value.as_str().into()), Self::Word)
    }
}

impl From<&'static str> for Arg {
    fn from(value: &'static str) -> Self {
        Self::Word(value)
    }
}

impl From<Text> for Arg {
    fn from(value: Text) -> Self {
        Self::from(String::from(value))
    }
}

impl From<String> for Arg {
    fn from(value: String) -> Self {
        Self::Text(value.into())
    }
}

/// The part of a pod's name that tells it from its siblings: its five random letters, where it has them.
pub fn short_name(name: &str) -> &str {
    name.rsplit('-').next().filter(|tail| tail.len() == 5).unwrap_or(name)
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Int(value) => write!(f, "{value}"),
            Arg::Name(name) => f.write_str(name),
            Arg::Short(name) => f.write_str(short_name(name)),
            Arg::Key(key) => write!(f, "{key}"),
            Arg::Word(word) => f.write_str(word),
            Arg::Text(text) => f.write_str(text),
            Arg::Millis(ms) if *ms >= 10_000 => write!(f, "{} s", ms / 1000),
            Arg::Millis(ms) if *ms >= 1000 => write!(f, "{}.{} s", ms / 1000, ms / 100 % 10),
            Arg::Millis(ms) => write!(f, "{ms} ms"),
        }
    }
}

/// A sentence with values: `want **{}**, active **{}**`. Put together only when somebody reads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    pub text: &'static str,
    pub args: Vec<Arg>,
}

impl Note {
    pub fn plain(text: &'static str) -> Self {
        Self { text, args: Vec::new() }
    }

    /// Not in line, since there are hundreds of notes.
    #[inline(never)]
    pub fn of<const N: usize>(text: &'static str, args: [Arg; N]) -> Self {
        Self { text, args: args.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut args = self.args.iter();
        for (index, part) in self.text.split("{}").enumerate() {
            if index > 0
                && let Some(arg) = args.next()
            {
                write!(f, "{arg}")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// `note!("want **{}**", n)`: a [`Note`] from a template and its values.
#[macro_export]
macro_rules! note {
    ($text:literal) => { $crate::client::Note::plain($text) };
    ($text:literal, $($arg:expr),+ $(,)?) => {
        $crate::client::Note::of($text, [$($crate::client::Arg::from($arg)),+])
    };
}

/// What a loop found or decided in one phase: the fact, and the evidence under it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facts {
    pub text: Note,
    pub detail: Option<Note>,
}

impl Facts {
    #[must_use]
    #[inline(never)]
    pub fn with(mut self, detail: Note) -> Self {
        self.detail = Some(detail);
        self
    }
}

impl From<Note> for Facts {
    #[inline(never)]
    fn from(text: Note) -> Self {
        Self { text, detail: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_fills_its_places_in_order() {
        assert_eq!(note!("want **{}**, is **{}**", 5, 3).to_string(), "want **5**, is **3**");
        assert_eq!(note!("{}", Arg::Short("web-6d4cf56db6-4kx7m".into())).to_string(), "4kx7m");
        assert_eq!(note!("in {}", Arg::Millis(1500)).to_string(), "in 1.5 s");
    }
}
