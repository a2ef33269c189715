//! Which fields the kinds of Kubernetes v1.36 have, and of which types.

static FIELDS: &str = include_str!("fields.txt");

/// The types of `fields.txt` by name.
pub(super) struct Schema {
    /// Names and fields, in order of name.
    types: Vec<(&'static str, &'static str)>,
}

/// One field of a type.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub name: &'static str,
    pub kind: Type,
    pub is_simulated: bool,
    /// The embedded Go struct that declares it, or nothing.
    pub embedded: &'static str,
}

/// What a value must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Int32,
    Int64,
    Bool,
    Quantity,
    IntOrText,
    Any,
    /// A list; the text names the type of its items.
    List(&'static str),
    /// A mapping from any text; the text names the type of its values.
    Map(&'static str),
    Struct(&'static str),
}

impl Type {
    pub fn named(name: &'static str) -> Self {
        match name {
            "s" => Type::Text,
            "i" => Type::Int32,
            "l" => Type::Int64,
            "b" => Type::Bool,
            "q" => Type::Quantity,
            "x" => Type::IntOrText,
            "?" => Type::Any,
            _ => match (name.strip_prefix("[]"), name.strip_prefix("{}")) {
                (Some(item), _) => Type::List(item),
                (_, Some(value)) => Type::Map(value),
                _ => Type::Struct(name),
            },
        }
    }

    /// The type's name in Go, as the API server's messages give it.
    pub fn go_name(self) -> String {
        match self {
            Type::Text => "string".into(),
            // Of a number or text the server's messages name the number's type.
            Type::Int32 | Type::IntOrText => "int32".into(),
            Type::Int64 => "int64".into(),
            Type::Bool => "bool".into(),
            Type::Quantity => "resource.Quantity".into(),
            Type::Any => "interface {}".into(),
            Type::List(item) => format!("[]{}", Type::named(item).go_name()),
            Type::Map(value) => format!("map[string]{}", Type::named(value).go_name()),
            Type::Struct(name) => format!("v1.{name}"),
        }
    }
}

impl Schema {
    pub fn new() -> Self {
        let mut types = Vec::new();
        let body = FIELDS.split_once("\n\n").map_or("", |(_, body)| body);
        let mut rest = body;
        while !rest.is_empty() {
            let end = next_type(rest);
            let (entry, after) = rest.split_at(end);
            let (name, fields) = entry.split_once(char::is_whitespace).unwrap_or((entry, ""));
            let at = types.partition_point(|(known, _): &(&str, &str)| *known < name);
            types.insert(at, (name, fields));
            rest = after;
        }
        Self { types }
    }

    fn find(&self, name: &str) -> Option<&'static str> {
        let at = self.types.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        self.types.get(at).map(|(_, fields)| *fields)
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub fn fields(&self, name: &str) -> impl Iterator<Item = Field> {
        self.find(name).unwrap_or_default().split_whitespace().map(field)
    }

    pub fn field(&self, type_name: &str, name: &str) -> Option<Field> {
        self.fields(type_name).find(|field| field.name == name)
    }
}

/// Where the next type begins: after the first line break that no blank follows.
fn next_type(text: &str) -> usize {
    let bytes = text.as_bytes();
    (1..bytes.len()).find(|&at| bytes[at - 1] == b'\n' && bytes[at] != b' ').unwrap_or(bytes.len())
}

fn field(text: &'static str) -> Field {
    let (is_simulated, text) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
    let (embedded, text) = text.split_once('/').unwrap_or(("", text));
    let (name, kind) = text.split_once(':').unwrap_or((text, "s"));
    Field { name, kind: Type::named(kind), is_simulated, embedded }
}

/// The known name that is most like a mistyped one.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = if typed.len() < 5 { 1 } else { 2 };
    known
        .filter_map(|name| {
            let typed = if name.eq_ignore_ascii_case(typed) { name } else { typed };
            distance(typed, name, limit).map(|cost| (cost, name))
        })
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, name)| name)
}

/// The number of letters to insert, remove, change or swap, up to a limit.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cost = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|cost| *cost <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_a_field_names_is_there() {
        let schema = Schema::new();
        for (name, fields) in &schema.types {
            for field in fields.split_whitespace().map(field) {
                let mut kind = field.kind;
                while let Type::List(inner) | Type::Map(inner) = kind {
                    kind = Type::named(inner);
                }
                if let Type::Struct(inner) = kind {
                    assert!(schema.has(inner), "{name}.{}: {inner}", field.name);
                }
            }
        }
        assert!(schema.types.len() > 150);
        assert!(schema.field("DeploymentSpec", "replicas").is_some_and(|it| it.is_simulated && it.kind == Type::Int32));
        assert!(schema.field("Volume", "configMap").is_some_and(|it| it.embedded == "VolumeSource"));
    }

    #[test]
    fn a_mistyped_name_finds_the_one_that_was_meant() {
        let known = ["replicas", "selector", "template"];
        assert_eq!(nearest("replica", known.into_iter()), Some("replicas"));
        assert_eq!(nearest("Replicas", known.into_iter()), Some("replicas"));
        assert_eq!(nearest("repilcas", known.into_iter()), Some("replicas"));
        assert_eq!(nearest("colour", known.into_iter()), None);
    }
}
