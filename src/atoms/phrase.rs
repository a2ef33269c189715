use leptos::prelude::*;
use loopscope_engine::view::Phrase;

/// A sentence with its bold parts.
pub fn phrase(phrase: &Phrase) -> AnyView {
    let part = |(is_bold, text): (bool, &str)| {
        let text = text.to_owned();
        if is_bold { view! { <b>{text}</b> }.into_any() } else { text.into_any() }
    };
    phrase.parts().map(part).collect_view().into_any()
}
