use leptos::prelude::*;
use loopscope_engine::view::{Mark, PodClass};

/// A shape of the sprite. The word beside it says the same, so assistive technology skips it.
pub fn icon(class: &'static str, href: &'static str) -> AnyView {
    view! { <svg class=class aria-hidden="true"><use href=href></use></svg> }.into_any()
}

/// A shape that changes.
pub fn icon_of(
    class: impl Fn() -> &'static str + Send + 'static,
    href: impl Fn() -> &'static str + Send + 'static,
) -> AnyView {
    view! { <svg class=class aria-hidden="true"><use href=href></use></svg> }.into_any()
}

/// One of two shapes.
pub fn icon_when(class: &'static str, on: Signal<bool>, yes: &'static str, no: &'static str) -> AnyView {
    icon_of(move || class, move || if on.get() { yes } else { no })
}

/// Class and shape of a pod, 16 px and up.
pub fn pod_icon(class: PodClass) -> (&'static str, &'static str) {
    match class {
        PodClass::Ready => ("i s-ready", "sprite.svg#pod-ready"),
        PodClass::Completed => ("i s-completed", "sprite.svg#pod-completed"),
        PodClass::Creating => ("i s-creating", "sprite.svg#pod-creating"),
        PodClass::NotReady => ("i s-notready", "sprite.svg#pod-notready"),
        PodClass::Pending => ("i s-pending", "sprite.svg#pod-pending"),
        PodClass::Terminating => ("i s-terminating", "sprite.svg#pod-terminating"),
        PodClass::Unknown => ("i s-unknown", "sprite.svg#pod-unknown"),
        PodClass::ImageError => ("i s-image", "sprite.svg#pod-image"),
        PodClass::CrashLoop => ("i s-crash", "sprite.svg#pod-crash"),
        PodClass::Failed => ("i s-failed", "sprite.svg#pod-failed"),
    }
}

/// The shape of a pod at 12 px: outline and fill only.
pub fn pod_tile(class: PodClass) -> &'static str {
    match class {
        PodClass::Ready => "sprite.svg#tile-ready",
        PodClass::Completed => "sprite.svg#tile-completed",
        PodClass::Creating => "sprite.svg#tile-creating",
        PodClass::NotReady => "sprite.svg#tile-notready",
        PodClass::Pending => "sprite.svg#tile-pending",
        PodClass::Terminating => "sprite.svg#tile-terminating",
        PodClass::Unknown => "sprite.svg#tile-unknown",
        PodClass::ImageError => "sprite.svg#tile-image",
        PodClass::CrashLoop => "sprite.svg#tile-crash",
        PodClass::Failed => "sprite.svg#tile-failed",
    }
}

/// The mark of an event in the list.
pub fn mark_icon(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::You => ("i i12 s-you", "sprite.svg#m-you"),
        Mark::Observe => ("i i12", "sprite.svg#m-observe"),
        Mark::Diff => ("i i12", "sprite.svg#m-diff"),
        Mark::Act => ("i i12", "sprite.svg#m-act"),
        Mark::Write => ("i i12", "sprite.svg#m-write"),
        Mark::Watch => ("i i12", "sprite.svg#m-watch"),
        Mark::World => ("i i12", "sprite.svg#m-world"),
        Mark::Clock => ("i i12", "sprite.svg#m-clock"),
        Mark::Error => ("i i12 s-bad", "sprite.svg#m-error"),
    }
}
