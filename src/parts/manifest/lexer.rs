//! Just enough of YAML to colour a line; JSON reads much the same.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Plain,
    Key,
    Text,
    Number,
    Comment,
}

impl Token {
    pub fn class(self) -> &'static str {
        match self {
            Token::Plain => "",
            Token::Key => "k",
            Token::Text => "s",
            Token::Number => "n",
            Token::Comment => "c",
        }
    }
}

/// The line's parts, which joined are the line.
pub fn tokens(line: &str) -> Vec<(Token, &str)> {
    let mut parts = Vec::new();
    let (code, comment) = split_comment(line);
    let indent = code.len() - code.trim_start_matches([' ', '-', '{', '[', ',']).len();
    let (lead, body) = code.split_at(indent);
    push(&mut parts, Token::Plain, lead);
    match key_end(body) {
        Some(end) => {
            let (key, value) = body.split_at(end);
            push(&mut parts, Token::Key, key);
            let gap = value.len() - value.trim_start_matches([':', ' ']).len();
            let (colon, value) = value.split_at(gap);
            push(&mut parts, Token::Plain, colon);
            push(&mut parts, value_token(value), value);
        }
        None => push(&mut parts, value_token(body), body),
    }
    push(&mut parts, Token::Comment, comment);
    parts
}

fn push<'a>(parts: &mut Vec<(Token, &'a str)>, token: Token, text: &'a str) {
    if !text.is_empty() {
        parts.push((token, text));
    }
}

/// Where a key ends: before a colon that a space or the end of the line follows.
fn key_end(body: &str) -> Option<usize> {
    let quoted = body.strip_prefix('"').and_then(|rest| rest.find('"')).map_or(0, |end| end + 2);
    let rest = body.get(quoted..)?;
    let colon = rest.find(": ").or_else(|| rest.ends_with(':').then(|| rest.len() - 1))?;
    (colon + quoted > 0).then_some(colon + quoted)
}

fn value_token(value: &str) -> Token {
    let bare = value.trim().trim_end_matches([',', '}', ']']);
    match bare {
        "" | "---" | "|" | ">" | "|-" | ">-" => Token::Plain,
        "true" | "false" | "null" | "~" => Token::Number,
        _ if bare.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+')) => Token::Number,
        _ => Token::Text,
    }
}

fn split_comment(line: &str) -> (&str, &str) {
    if line.trim_start().starts_with('#') {
        return ("", line);
    }
    match line.find(" #") {
        Some(at) if line.get(..at).is_some_and(|code| code.matches('"').count() % 2 == 0) => line.split_at(at),
        _ => (line, ""),
    }
}
