//! The list of scenario files, as a page knows it before it opens one.

use serde_json::Value;

/// One of those that come with the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub title: String,
    pub summary: String,
    pub misconception: String,
    pub minutes: u32,
    pub concepts: Vec<String>,
    pub n_steps: u32,
    /// A sandbox with challenges.
    pub is_free: bool,
}

/// Where a file is, from its id: lower-case letters, digits and dashes, so that an address leads nowhere else.
pub fn address(id: &str) -> Option<String> {
    let is_id = !id.is_empty() && id.len() <= 64;
    let is_plain = id.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    (is_id && is_plain).then(|| ["scenarios/", id, ".yaml"].concat())
}

/// Reads `scenarios/index.json`; what is not understood is left out.
pub fn read_index(text: &str) -> Vec<Listed> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let all = value.get("scenarios").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(listed).collect()
}

fn listed(value: &Value) -> Option<Listed> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0) as u32;
    let concepts = value.get("concept").and_then(Value::as_array).into_iter().flatten();
    let id = text("id");
    address(&id)?;
    Some(Listed {
        id,
        title: text("title"),
        summary: text("summary"),
        misconception: text("misconception"),
        minutes: number("minutes"),
        concepts: concepts.filter_map(Value::as_str).map(str::to_owned).collect(),
        n_steps: number("steps"),
        is_free: value.get("free").and_then(Value::as_bool) == Some(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_into_the_folder_and_nowhere_else() {
        assert_eq!(address("node-dies").as_deref(), Some("scenarios/node-dies.yaml"));
        for id in ["", "../index", "a/b", "A", "a.b", "http:", "%2e", &"a".repeat(65)] {
            assert_eq!(address(id), None, "{id}");
        }
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        let text = r#"{"scenarios": [{"id": "a", "title": "A", "minutes": 3, "concept": ["x"]}, {"id": "../b"}, 3]}"#;
        let all = read_index(text);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].title.as_str(), all[0].minutes, all[0].concepts.len()), ("A", 3, 1));
        assert!(read_index("no").is_empty() && read_index("{}").is_empty());
    }
}
