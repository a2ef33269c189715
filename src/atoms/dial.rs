use loopscope_engine::view::Countdown;

use crate::ui::{View, view};

/// Time left, as an arc that shrinks with virtual time.
pub fn dial(left: impl Fn() -> Option<Countdown> + 'static, class: impl Fn() -> &'static str + 'static) -> View {
    let dashes = move || {
        left().map(|it| {
            let percent = (it.left_ms * 100).checked_div(it.total_ms).unwrap_or(0).min(100);
            [percent.to_string().as_str(), " 100"].concat()
        })
    };
    view! {
        <svg class=class viewBox="0 0 16 16" aria-hidden="true">
            <circle class="dial-t" cx="8" cy="8" r="6.25"></circle>
            <circle class="dial-v" cx="8" cy="8" r="6.25" pathLength="100" stroke-dasharray=dashes></circle>
        </svg>
    }
}
