//! Parts of the page that words of a lesson light up.

use web_sys::Element;

use super::dom::{everything, is_shown, mark_only, show_nearest};

/// The mark of what is lit.
const MARK: &str = "data-lit";

/// What to light: all that fits a selector, or of those the ones whose own words are these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitPart {
    pub selector: &'static str,
    /// What is compared, within the element; the element itself where it is empty.
    pub words_in: &'static str,
    /// In lower case with dashes; nothing where all are meant.
    pub words: String,
}

fn found(part: &LitPart) -> Vec<Element> {
    let is_meant = |element: &Element| {
        if part.words.is_empty() {
            return true;
        }
        let inner = match part.words_in {
            "" => Some(element.clone()),
            selector => element.query_selector(selector).ok().flatten(),
        };
        let words = inner.map(|it| slug(&it.text_content().unwrap_or_default())).unwrap_or_default();
        words == part.words
    };
    everything(part.selector).into_iter().filter(is_meant).collect()
}

fn slug(words: &str) -> String {
    let words: Vec<String> = words.split_whitespace().map(str::to_ascii_lowercase).collect();
    words.join("-")
}

/// Marks a part, and nothing else. Says whether there is such a part on the page now.
pub fn light(part: &LitPart) -> bool {
    let parts = found(part);
    mark_only(MARK, &parts);
    if let Some(first) = parts.first().filter(|_| !is_shown(".jump")) {
        show_nearest(first);
    }
    !parts.is_empty()
}

pub fn unlight() {
    mark_only(MARK, &[]);
}
