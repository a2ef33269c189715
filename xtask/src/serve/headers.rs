//! Reads the `_headers` file of a build, so that what is tested here is what a static host sends.

#[derive(Default, Debug, PartialEq, Eq)]
pub struct Headers(Vec<(String, Vec<(String, String)>)>);

impl Headers {
    pub fn parse(text: &str) -> Self {
        let mut rules: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
            if !line.starts_with([' ', '\t']) {
                rules.push((line.trim().to_string(), Vec::new()));
            } else if let (Some((_, fields)), Some((name, value))) = (rules.last_mut(), line.split_once(':')) {
                fields.push((name.trim().to_string(), value.trim().to_string()));
            }
        }
        Self(rules)
    }

    /// The fields for a path below the site, which begins with `/`.
    pub fn of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0
            .iter()
            .filter(move |(pattern, _)| matches(pattern, path))
            .flat_map(|(_, fields)| fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => {
            path.len() >= before.len() + after.len() && path.starts_with(before) && path.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_rule_that_matches_are_sent() {
        let headers = Headers::parse("# notes\n/*\n  A: 1; x: y\n\n/app.js\n  B: 2\n");
        let of = |path| headers.of(path).collect::<Vec<_>>();
        assert_eq!(of("/app.js"), [("A", "1; x: y"), ("B", "2")]);
        assert_eq!(of("/index.html"), [("A", "1; x: y")]);
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("/*.wasm", "/a/b.wasm"));
        assert!(!matches("/*.wasm", "/a.js"));
        assert!(!matches("/ab*b", "/ab"));
    }
}
