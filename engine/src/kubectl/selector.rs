//! Label and field selectors (`apimachinery/pkg/labels`, `pkg/fields`, v1.36).

use serde_json::Value;

use super::value::{at, plain, text};
use crate::api::{Kind, Object};

/// One requirement on a label.
#[derive(Clone, Debug, PartialEq)]
enum Need {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    /// Greater (or less) than a number.
    Compare(String, bool, i64),
}

/// What objects are asked for.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    /// As they were written, for the words of errors.
    pub labels: String,
    pub fields: String,
    needs: Vec<Need>,
    field_needs: Vec<(String, String, bool)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Sign(&'static str),
    Word(String),
    End,
}

impl Token {
    fn literal(&self) -> &str {
        match self {
            Token::Sign(sign) => sign,
            Token::Word(word) => word,
            Token::End => "",
        }
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self, Token::Sign(it) if *it == sign)
    }
}

const SIGNS: [&str; 9] = ["==", "!=", "=", "!", ",", "(", ")", "<", ">"];

fn tokens(text: &str) -> Vec<Token> {
    let (mut found, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if rest.is_empty() {
            return found;
        }
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            found.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
            continue;
        }
        let end = rest.find(|c: char| " \t\r\n=!,()<>".contains(c)).unwrap_or(rest.len());
        found.push(Token::Word(rest[..end].to_string()));
        rest = &rest[end..];
    }
}

struct Parser {
    tokens: Vec<Token>,
    place: usize,
}

fn wrong(found: &Token, expected: &str) -> String {
    ["found '", found.literal(), "', expected: ", expected].concat()
}

impl Parser {
    fn peek(&self) -> Token {
        self.tokens.get(self.place).cloned().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.place += 1;
        token
    }

    fn all(&mut self) -> Result<Vec<Need>, String> {
        let mut needs = Vec::new();
        loop {
            let token = self.peek();
            match &token {
                Token::Word(_) => {}
                it if it.is("!") => {}
                Token::End => return Ok(needs),
                other => return Err(wrong(other, "!, identifier, or 'end of string'")),
            }
            needs.push(self.one().map_err(|error| ["unable to parse requirement: ", &error].concat())?);
            match self.next() {
                Token::End => return Ok(needs),
                it if it.is(",") => {
                    let after = self.peek();
                    if !matches!(after, Token::Word(_)) && !after.is("!") {
                        return Err(wrong(&after, "identifier after ','"));
                    }
                }
                other => return Err(wrong(&other, "',' or 'end of string'")),
            }
        }
    }

    fn one(&mut self) -> Result<Need, String> {
        let is_missing = self.peek().is("!");
        if is_missing {
            self.place += 1;
        }
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(wrong(&other, "identifier")),
        };
        if is_missing {
            return Ok(Need::Missing(key));
        }
        let token = self.peek();
        if token == Token::End || token.is(",") {
            return Ok(Need::Exists(key));
        }
        self.place += 1;
        match token.literal() {
            "in" => Ok(Need::In(key, self.values()?)),
            "notin" => Ok(Need::NotIn(key, self.values()?)),
            "=" | "==" => Ok(Need::In(key, vec![self.exact()?])),
            "!=" => Ok(Need::NotIn(key, vec![self.exact()?])),
            sign @ ("<" | ">") => {
                let value = self.exact()?;
                let number = value.parse().map_err(|_| {
                    [
                        "values[0]: Invalid value: \"",
                        &value,
                        "\": for 'Gt', 'Lt' operators, the value must be an integer",
                    ]
                    .concat()
                })?;
                Ok(Need::Compare(key, sign == ">", number))
            }
            _ => Err(wrong(&token, "in, notin, =, ==, !=, gt, lt")),
        }
    }

    fn exact(&mut self) -> Result<String, String> {
        match self.peek() {
            Token::Word(word) => {
                self.place += 1;
                Ok(word)
            }
            Token::End => Ok(String::new()),
            it if it.is(",") => Ok(String::new()),
            other => Err(wrong(&other, "identifier")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.next();
        if !open.is("(") {
            return Err(["found '", open.literal(), "' expected: '('"].concat());
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                Token::Word(word) => values.push(word),
                it if it.is(",") => {
                    if !matches!(self.peek(), Token::Word(_)) {
                        values.push(String::new());
                    }
                }
                it if it.is(")") => return Ok(values),
                other => return Err(wrong(&other, "',', ')' or identifier")),
            }
        }
    }
}

/// Fields that a kind can be selected by, beside its name and namespace.
fn has_field(kind: Kind, field: &str) -> bool {
    let own: &[&str] = match kind {
        Kind::Pod => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        Kind::Event => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        Kind::Node => &["spec.unschedulable"],
        Kind::ReplicaSet | Kind::ReplicationController => &["status.replicas"],
        Kind::Job => &["status.successful"],
        Kind::Secret => &["type"],
        Kind::Namespace => &["status.phase"],
        Kind::Service => &["spec.clusterIP", "spec.type"],
        _ => &[],
    };
    own.contains(&field) || field == "metadata.name" || (kind.is_namespaced() && field == "metadata.namespace")
}

fn field_value(value: &Value, kind: Kind, field: &str) -> String {
    match (kind, field) {
        (Kind::Node, "spec.unschedulable") | (Kind::Pod, "spec.hostNetwork") => {
            if at(value, field).as_bool() == Some(true) { "true".into() } else { "false".into() }
        }
        (Kind::Event, "source") => text(value, "source.component").into(),
        (Kind::ReplicaSet, "status.replicas") => plain(at(value, field)),
        _ => plain(at(value, field)),
    }
}

impl Selector {
    /// Reads what `-l` and `--field-selector` say.
    ///
    /// # Errors
    /// The words of the API server, without what was asked for.
    pub fn parse(labels: &str, fields: &str) -> Result<Self, String> {
        let needs = Parser { tokens: tokens(labels), place: 0 }.all()?;
        let mut field_needs = Vec::new();
        for part in fields.split(',').filter(|part| !part.is_empty()) {
            let found =
                ["!=", "==", "="].iter().find_map(|sign| part.split_once(sign).map(|pair| (pair, *sign == "!=")));
            let Some(((name, value), is_not)) = found else {
                return Err(["invalid selector: '", fields, "'; can't understand '", part, "'"].concat());
            };
            field_needs.push((name.to_string(), value.to_string(), is_not));
        }
        Ok(Self { labels: labels.into(), fields: fields.into(), needs, field_needs })
    }

    pub fn is_empty(&self) -> bool {
        self.needs.is_empty() && self.field_needs.is_empty()
    }

    /// The first field that objects of a kind cannot be selected by.
    pub fn unknown_field(&self, kind: Kind) -> Option<&str> {
        self.field_needs.iter().map(|(name, ..)| name.as_str()).find(|name| !has_field(kind, name))
    }

    pub fn matches(&self, object: &Object) -> bool {
        let labels = &object.meta().labels;
        let is_met = |need: &Need| match need {
            Need::In(key, values) => labels.get(key).is_some_and(|it| values.contains(it)),
            Need::NotIn(key, values) => labels.get(key).is_none_or(|it| !values.contains(it)),
            Need::Exists(key) => labels.contains_key(key),
            Need::Missing(key) => !labels.contains_key(key),
            Need::Compare(key, is_more, number) => {
                let value = labels.get(key).and_then(|it| it.parse::<i64>().ok());
                value.is_some_and(|it| if *is_more { it > *number } else { it < *number })
            }
        };
        if !self.needs.iter().all(is_met) {
            return false;
        }
        if self.field_needs.is_empty() {
            return true;
        }
        let value = object.to_value();
        let kind = object.kind();
        self.field_needs.iter().all(|(name, wanted, is_not)| (field_value(&value, kind, name) == *wanted) != *is_not)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_selector_is_refused_in_the_servers_words() {
        let error = |text: &str| Selector::parse(text, "").err();
        assert_eq!(error("app in web"), Some("unable to parse requirement: found 'web' expected: '('".into()));
        assert_eq!(error("=x"), Some("found '=', expected: !, identifier, or 'end of string'".into()));
        assert_eq!(error("a=b=c"), Some("found '=', expected: ',' or 'end of string'".into()));
        assert_eq!(error("a in (b,c),!d,e!=f,g"), None);
    }
}
