use loopscope_engine::view::Phrase;

use crate::ui::{Content, View, view};

/// A sentence with its bold parts.
pub fn phrase(phrase: &Phrase) -> View {
    let part = |(is_bold, text): (bool, &str)| {
        let text = text.to_owned();
        if is_bold {
            view! { <b>{text}</b> }
        } else {
            text.content()
        }
    };
    phrase.parts().map(part).collect()
}
