use leptos::prelude::*;
use loopscope_engine::view::Countdown;

/// Time left, as an arc that shrinks with virtual time.
#[component]
pub fn Dial(
    /// What is left of what.
    #[prop(into)]
    left: Signal<Option<Countdown>>,
    /// Class of the state that ends.
    #[prop(into)]
    class: Signal<&'static str>,
) -> impl IntoView {
    let dashes = move || {
        left.get().map(|it| {
            let percent = if it.total_ms == 0 { 0 } else { (it.left_ms * 100 / it.total_ms).min(100) };
            [percent.to_string().as_str(), " 100"].concat()
        })
    };
    view! {
        <svg class=move || class.get() viewBox="0 0 16 16" aria-hidden="true">
            <circle class="dial-t" cx="8" cy="8" r="6.25"></circle>
            <circle class="dial-v" cx="8" cy="8" r="6.25" pathLength="100" stroke-dasharray=dashes></circle>
        </svg>
    }
}
