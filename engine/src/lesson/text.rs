//! What is written for people: paragraphs with `code`, **bold** words, and words that light up a part of the page.

/// A part of the page that words may light up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// One of [`PARTS`].
    pub what: String,
    /// Which of them: `deployment/web`; empty where there is only one.
    pub which: String,
}

/// The parts that there are, and whether one of several is named after a slash.
pub const PARTS: [(&str, bool); 8] = [
    ("loop", true),
    ("object", true),
    ("phase", true),
    ("view", true),
    ("field", true),
    ("process", true),
    ("server", false),
    ("room", false),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Plain(String),
    Code(String),
    Bold(String),
    Lights(String, Part),
}

impl Piece {
    pub fn words(&self) -> &str {
        match self {
            Piece::Plain(it) | Piece::Code(it) | Piece::Bold(it) | Piece::Lights(it, _) => it,
        }
    }
}

/// A text, cut into paragraphs at empty lines, and those into pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose(pub Vec<Vec<Piece>>);

impl Prose {
    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut paragraphs = Vec::new();
        for paragraph in text.split("\n\n") {
            let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            if !joined.is_empty() {
                paragraphs.push(pieces(&joined)?);
            }
        }
        Ok(Self(paragraphs))
    }

    /// The words alone.
    pub fn plain(&self) -> String {
        let paragraphs = self.0.iter().map(|it| it.iter().map(Piece::words).collect::<String>());
        paragraphs.collect::<Vec<_>>().join("\n\n")
    }

    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.0.iter().flatten().filter_map(|it| match it {
            Piece::Lights(_, part) => Some(part),
            _ => None,
        })
    }
}

fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let (mut all, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some(first) = rest.chars().next() {
        let (piece, after) = match first {
            '`' => {
                let (inside, after) = closed(rest, "`", "`")?;
                (Piece::Code(inside.into()), after)
            }
            '*' if rest.starts_with("**") => {
                let (inside, after) = closed(rest, "**", "**")?;
                (Piece::Bold(inside.into()), after)
            }
            '[' => {
                let (words, after) = closed(rest, "[", "](#")?;
                let (part, after) = closed(after, "", ")")?;
                (Piece::Lights(words.into(), part_of(part)?), after)
            }
            other => {
                plain.push(other);
                rest = &rest[other.len_utf8()..];
                continue;
            }
        };
        if !plain.is_empty() {
            all.push(Piece::Plain(std::mem::take(&mut plain)));
        }
        all.push(piece);
        rest = after;
    }
    if !plain.is_empty() {
        all.push(Piece::Plain(plain));
    }
    Ok(all)
}

/// What stands between two marks, and what follows.
fn closed<'a>(text: &'a str, open: &str, close: &str) -> Result<(&'a str, &'a str), String> {
    let inside = text.get(open.len()..).unwrap_or_default();
    let wrong = || ["what begins with \"", &text.chars().take(24).collect::<String>(), "\" lacks its ", close].concat();
    inside.split_once(close).filter(|(it, _)| !it.is_empty()).ok_or_else(wrong)
}

fn part_of(text: &str) -> Result<Part, String> {
    let (what, which) = text.split_once('/').unwrap_or((text, ""));
    let wrong = || {
        let all: Vec<&str> = PARTS.iter().map(|it| it.0).collect();
        ["#", text, " is no part of the page: one of #", &all.join(", #"), ", with a name after a slash"].concat()
    };
    let is_known = PARTS.iter().any(|(name, is_named)| *name == what && *is_named != which.is_empty());
    if !is_known {
        return Err(wrong());
    }
    Ok(Part { what: what.into(), which: which.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_into_paragraphs_and_pieces() {
        let prose =
            Prose::read("A **loop** and `code`,\nand [its queue](#loop/replicaset).\n\n\nNext.\n").expect("read");
        let part = Part { what: "loop".into(), which: "replicaset".into() };
        assert_eq!(
            prose.0[0],
            [
                Piece::Plain("A ".into()),
                Piece::Bold("loop".into()),
                Piece::Plain(" and ".into()),
                Piece::Code("code".into()),
                Piece::Plain(", and ".into()),
                Piece::Lights("its queue".into(), part),
                Piece::Plain(".".into()),
            ]
        );
        assert_eq!(prose.plain(), "A loop and code, and its queue.\n\nNext.");
        assert_eq!(Prose::read("2 * 3").expect("read").plain(), "2 * 3");
    }

    #[test]
    fn what_is_not_closed_or_lights_nothing_is_said() {
        for (text, why) in [
            ("a `b", "what begins with \"`b\" lacks its `"),
            ("a **b", "lacks its **"),
            ("[a](b)", "lacks its ](#"),
            ("[a](#b)", "#b is no part of the page: one of #loop, #object"),
            ("[a](#loop)", "#loop is no part"),
            ("[a](#server/x)", "#server/x is no part"),
        ] {
            let said = Prose::read(text).expect_err(text);
            assert!(said.contains(why), "{said}");
        }
    }
}
