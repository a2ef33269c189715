//! JSONPath as kubectl has it (`client-go/util/jsonpath`, v1.36): text with paths in braces.

use serde_json::Value;

use super::json::go_json;
use super::value::plain;

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Part>),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// All of a list or a map.
    All,
    Index(Vec<i64>),
    Slice(Option<i64>, Option<i64>, i64),
    Fields(Vec<String>),
    Filter(Vec<Step>, String, Operand),
    /// Every value below.
    Deep,
    Root,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Value(Value),
    Path(Vec<Step>),
}

/// So deep may ranges and filters stand in each other: reading and printing them takes stack.
const MAX_DEPTH: usize = 50;

fn check_depth(depth: usize) -> Result<(), String> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(["ranges and filters more than ", &MAX_DEPTH.to_string(), " deep in each other are not simulated"].concat())
}

/// A template that was read.
#[derive(Clone, Debug)]
pub struct Template(Vec<Part>);

/// Braces around a path that has none, and a dot before it: `metadata.name`, `.metadata.name`, `{.metadata.name}`.
///
/// # Errors
/// kubectl's words for what is no path.
pub fn relaxed(text: &str) -> Result<String, String> {
    let inner = match (text.strip_prefix('{'), text.ends_with('}')) {
        (Some(rest), true) => &rest[..rest.len() - 1],
        (None, false) => text,
        _ => {
            return Err(["unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}', but got \"", text, "\""].concat());
        }
    };
    let dot = if inner.is_empty() || inner.starts_with(['.', '[', '$', '@']) { "" } else { "." };
    Ok(["{", dot, inner, "}"].concat())
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// The parts up to the end of the range that is `depth` deep; 0 is all of the text.
    fn parts(&mut self, depth: usize) -> Result<Vec<Part>, String> {
        check_depth(depth)?;
        let inside = depth > 0;
        let mut parts = Vec::new();
        while !self.rest.is_empty() {
            let open = self.rest.find('{').unwrap_or(self.rest.len());
            if open > 0 {
                parts.push(Part::Text(self.rest[..open].into()));
            }
            self.rest = &self.rest[open..];
            if self.rest.is_empty() {
                break;
            }
            let end = action_end(self.rest).ok_or("unclosed action")?;
            let action = self.rest[1..end].trim();
            self.rest = &self.rest[end + 1..];
            if action == "end" {
                return if inside { Ok(parts) } else { Err("not in range, nothing to end".into()) };
            }
            if let Some(path) = action.strip_prefix("range ").or_else(|| action.strip_prefix("range\t")) {
                let steps = path_of(path.trim(), 0)?;
                parts.push(Part::Range(steps, self.parts(depth + 1)?));
                continue;
            }
            for word in words(action)? {
                parts.push(word);
            }
        }
        if inside { Err("unclosed range, nothing to end".into()) } else { Ok(parts) }
    }
}

/// Where an action's brace closes, quotes and brackets aside.
fn action_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '}') => return Some(at),
            _ => {}
        }
    }
    None
}

/// The quoted texts and paths of an action.
fn words(action: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = action;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(parts) };
        if first == '"' || first == '\'' {
            let end = quoted_end(rest).ok_or("unterminated quoted string")?;
            parts.push(Part::Text(unquote(&rest[1..end])));
            rest = &rest[end + 1..];
            continue;
        }
        let end = word_end(rest);
        parts.push(Part::Path(path_of(&rest[..end], 0)?));
        rest = &rest[end..];
    }
}

fn quoted_end(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

fn unquote(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(c) => c,
            None => '\\',
        });
    }
    out
}

/// Where a path ends: at a space that stands in no brackets.
fn word_end(text: &str) -> usize {
    let (mut depth, mut quote) = (0_i32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth -= 1,
            (None, ' ' | '\t' | '\n') if depth <= 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// `depth` filters stand around it.
fn path_of(text: &str, depth: usize) -> Result<Vec<Step>, String> {
    check_depth(depth)?;
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match first {
            '$' | '@' => {
                if first == '$' {
                    steps.push(Step::Root);
                }
                rest = &rest[1..];
            }
            '.' if rest.starts_with("..") => {
                steps.push(Step::Deep);
                rest = &rest[1..];
                if rest[1..].starts_with('[') {
                    rest = &rest[1..];
                }
            }
            '.' => {
                let (name, after) = field(&rest[1..]);
                rest = after;
                match name.as_str() {
                    "" => {}
                    "*" => steps.push(Step::All),
                    _ => steps.push(Step::Field(name)),
                }
            }
            '[' => {
                let end = bracket_end(rest).ok_or("unterminated array")?;
                steps.push(bracket(&rest[1..end], depth)?);
                rest = &rest[end + 1..];
            }
            '*' => {
                steps.push(Step::All);
                rest = &rest[1..];
            }
            c if c.is_alphanumeric() || c == '_' => return Err(["unrecognized identifier ", rest].concat()),
            c => return Err(["unrecognized character in action: U+", &hex(c), " '", &c.to_string(), "'"].concat()),
        }
    }
    Ok(steps)
}

fn hex(c: char) -> String {
    let mut out = String::new();
    for shift in [12_u32, 8, 4, 0] {
        out.extend(char::from_digit((u32::from(c) >> shift) & 15, 16).map(|it| it.to_ascii_uppercase()));
    }
    out
}

/// A name, in which `\.` is no end.
fn field(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[at..]),
            _ => name.push(c),
        }
    }
    (name, "")
}

fn bracket_end(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn bracket(text: &str, depth: usize) -> Result<Step, String> {
    let text = text.trim();
    if text == "*" {
        return Ok(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|it| it.strip_suffix(')')) {
        return self::filter(filter.trim(), depth + 1);
    }
    if text.starts_with(['\'', '"']) {
        let names = text.split(',').map(|it| it.trim().trim_matches(['\'', '"']).replace("\\.", ".")).collect();
        return Ok(Step::Fields(names));
    }
    let wrong = || ["invalid array index ", text].concat();
    if text.contains(':') {
        let mut numbers =
            text.split(':').map(|it| if it.trim().is_empty() { Ok(None) } else { it.trim().parse().map(Some) });
        let mut next = || numbers.next().unwrap_or(Ok(None)).map_err(|_| wrong());
        let (from, to, step) = (next()?, next()?, next()?);
        return Ok(Step::Slice(from, to, step.unwrap_or(1)));
    }
    let numbers: Result<Vec<i64>, _> = text.split(',').map(|it| it.trim().parse()).collect();
    numbers.map(Step::Index).map_err(|_| wrong())
}

fn filter(text: &str, depth: usize) -> Result<Step, String> {
    for sign in ["==", "!=", "<=", ">=", "<", ">"] {
        if let Some((left, right)) = text.split_once(sign) {
            let right = right.trim();
            let operand = if right.starts_with(['"', '\'']) {
                Operand::Value(Value::from(unquote(right.trim_matches(['"', '\'']))))
            } else if let Some(path) = right.strip_prefix('@') {
                Operand::Path(path_of(path, depth)?)
            } else {
                Operand::Value(serde_json::from_str(right).map_err(|_| ["unrecognized identifier ", right].concat())?)
            };
            return Ok(Step::Filter(path_of(left.trim(), depth)?, sign.into(), operand));
        }
    }
    Ok(Step::Filter(path_of(text, depth)?, "exists".into(), Operand::Value(Value::Null)))
}

fn compare(left: &Value, sign: &str, right: &Value) -> bool {
    use std::cmp::Ordering;
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().zip(b.as_f64()).and_then(|(a, b)| a.partial_cmp(&b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match sign {
        "==" => order == Some(Ordering::Equal),
        "!=" => order.is_some_and(|it| it != Ordering::Equal),
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "<=" => order.is_some_and(|it| it != Ordering::Greater),
        _ => order.is_some_and(|it| it != Ordering::Less),
    }
}

fn deep<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    found.push(value);
    match value {
        Value::Object(map) => map.values().for_each(|it| deep(it, found)),
        Value::Array(items) => items.iter().for_each(|it| deep(it, found)),
        _ => {}
    }
}

fn is_met(root: &Value, item: &Value, path: &[Step], sign: &str, operand: &Operand) -> bool {
    let left = walk(root, item, path).unwrap_or_default();
    match (left.first(), operand) {
        (Some(_), _) if sign == "exists" => true,
        (Some(left), Operand::Value(right)) => compare(left, sign, right),
        (Some(left), Operand::Path(path)) => {
            let right = walk(root, item, path).unwrap_or_default();
            right.first().is_some_and(|right| compare(left, sign, right))
        }
        (None, _) => false,
    }
}

fn walk<'a>(root: &'a Value, from: &'a Value, steps: &[Step]) -> Result<Vec<&'a Value>, String> {
    let mut found = vec![from];
    for (place, step) in steps.iter().enumerate() {
        let mut next: Vec<&Value> = Vec::new();
        let is_deep = place > 0 && steps[place - 1] == Step::Deep;
        for value in found {
            match (step, value) {
                (Step::Root, _) => next.push(root),
                (Step::Deep, _) => deep(value, &mut next),
                (Step::Field(name), Value::Object(map)) => next.extend(map.get(name)),
                (Step::Fields(names), Value::Object(map)) => next.extend(names.iter().filter_map(|name| map.get(name))),
                (Step::All, Value::Object(map)) => next.extend(map.values()),
                (Step::All, Value::Array(items)) => next.extend(items),
                (Step::Index(numbers), Value::Array(items)) => {
                    for number in numbers {
                        let count = items.len() as i64;
                        let index = if *number < 0 { number + count } else { *number };
                        match usize::try_from(index).ok().and_then(|it| items.get(it)) {
                            Some(item) => next.push(item),
                            None if is_deep => {}
                            None => {
                                return Err([
                                    "array index out of bounds: index ",
                                    &number.to_string(),
                                    ", length ",
                                    &count.to_string(),
                                ]
                                .concat());
                            }
                        }
                    }
                }
                (Step::Slice(from, to, by), Value::Array(items)) => {
                    let count = items.len() as i64;
                    let place = |it: i64| if it < 0 { (it + count).max(0) } else { it.min(count) };
                    let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(count)));
                    let by = usize::try_from((*by).max(1)).unwrap_or(1);
                    let (from, to) = (from as usize, to as usize);
                    next.extend(items.iter().take(to).skip(from).step_by(by));
                }
                (Step::Filter(path, sign, operand), Value::Array(items)) => {
                    next.extend(items.iter().filter(|item| is_met(root, item, path, sign, operand)));
                }
                _ => {}
            }
        }
        found = next;
    }
    Ok(found)
}

impl Template {
    /// # Errors
    /// What is wrong with it, in kubectl's words.
    pub fn read(text: &str) -> Result<Self, String> {
        Reader { rest: text }.parts(0).map(Self)
    }

    /// All that its paths find.
    ///
    /// # Errors
    /// An index that a list does not have.
    pub fn find<'a>(&self, value: &'a Value) -> Result<Vec<&'a Value>, String> {
        let mut found = Vec::new();
        for part in &self.0 {
            if let Part::Path(steps) = part {
                found.extend(walk(value, value, steps)?);
            }
        }
        Ok(found)
    }

    /// The text that it makes of a value.
    ///
    /// # Errors
    /// An index that a list does not have.
    pub fn print(&self, value: &Value) -> Result<String, String> {
        let mut out = String::new();
        print(&self.0, value, value, &mut out)?;
        Ok(out)
    }
}

fn print(parts: &[Part], root: &Value, value: &Value, out: &mut String) -> Result<(), String> {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(steps) => {
                for (index, found) in walk(root, value, steps)?.into_iter().enumerate() {
                    if index > 0 {
                        out.push(' ');
                    }
                    out.push_str(&shown(found));
                }
            }
            Part::Range(steps, parts) => {
                for item in walk(root, value, steps)? {
                    print(parts, root, item, out)?;
                }
            }
        }
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => go_json(&value.to_string()),
        other => plain(other),
    }
}

/// A value as Go's `%v` writes it: `map[app:web]`, `[a b]`.
pub fn go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::Object(map) => {
            let parts: Vec<String> =
                map.iter().map(|(name, value)| [name.as_str(), ":", &go(value)].concat()).collect();
            ["map[", &parts.join(" "), "]"].concat()
        }
        Value::Array(items) => ["[", &items.iter().map(go).collect::<Vec<_>>().join(" "), "]"].concat(),
        other => plain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_what_kubectl_finds() {
        let value = serde_json::json!({"items": [
            {"metadata": {"name": "a", "labels": {"x.y/z": "1"}}, "c": [{"type": "Ready", "status": "True"}], "n": 3},
            {"metadata": {"name": "b"}, "c": [], "n": 4},
        ]});
        let print = |text: &str| Template::read(text).and_then(|it| it.print(&value));
        for (template, text) in [
            ("{.items[*].metadata.name}", "a b"),
            ("{range .items[*]}{.metadata.name}{\"\\t\"}{.n}{\"\\n\"}{end}", "a\t3\nb\t4\n"),
            ("{.items[0].metadata.labels.x\\.y/z}", "1"),
            ("{.items[*].c[?(@.type==\"Ready\")].status}", "True"),
            ("n={.items[-1].n}", "n=4"),
            ("{.items[?(@.n>3)].metadata.name}", "b"),
            ("{..name}", "a b"),
            ("{.items[0].metadata.labels}", "{\"x.y/z\":\"1\"}"),
            ("{.nope}", ""),
        ] {
            assert_eq!(print(template).as_deref(), Ok(text), "{template}");
        }
        assert_eq!(print("{.items[9]}").unwrap_err(), "array index out of bounds: index 9, length 2");
        assert_eq!(print("{.items").unwrap_err(), "unclosed action");
    }
}
