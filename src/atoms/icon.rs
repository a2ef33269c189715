use loopscope_engine::view::{Mark, PodClass};

use crate::ui::{State, View, view};

/// A shape of the sprite. The word beside it says the same, so assistive technology skips it.
pub fn icon(class: &'static str, href: &'static str) -> View {
    view! { <svg class=class aria-hidden="true"><use href=href></use></svg> }
}

/// A shape that changes.
pub fn icon_of(
    class: impl Fn() -> &'static str + Send + 'static,
    href: impl Fn() -> &'static str + Send + 'static,
) -> View {
    view! { <svg class=class aria-hidden="true"><use href=href></use></svg> }
}

/// One of two shapes.
pub fn icon_when(class: &'static str, on: State<bool>, yes: &'static str, no: &'static str) -> View {
    icon_of(move || class, move || if on.get() { yes } else { no })
}

/// Class and shape of a pod, 16 px and up.
pub fn pod_icon(class: PodClass) -> (&'static str, &'static str) {
    match class {
        PodClass::Ready => ("i s-ready", "#pod-ready"),
        PodClass::Completed => ("i s-completed", "#pod-completed"),
        PodClass::Creating => ("i s-creating", "#pod-creating"),
        PodClass::NotReady => ("i s-notready", "#pod-notready"),
        PodClass::Pending => ("i s-pending", "#pod-pending"),
        PodClass::Terminating => ("i s-terminating", "#pod-terminating"),
        PodClass::Unknown => ("i s-unknown", "#pod-unknown"),
        PodClass::ImageError => ("i s-image", "#pod-image"),
        PodClass::CrashLoop => ("i s-crash", "#pod-crash"),
        PodClass::Failed => ("i s-failed", "#pod-failed"),
    }
}

/// The shape of a pod at 12 px: outline and fill only.
pub fn pod_tile(class: PodClass) -> &'static str {
    match class {
        PodClass::Ready => "#tile-ready",
        PodClass::Completed => "#tile-completed",
        PodClass::Creating => "#tile-creating",
        PodClass::NotReady => "#tile-notready",
        PodClass::Pending => "#tile-pending",
        PodClass::Terminating => "#tile-terminating",
        PodClass::Unknown => "#tile-unknown",
        PodClass::ImageError => "#tile-image",
        PodClass::CrashLoop => "#tile-crash",
        PodClass::Failed => "#tile-failed",
    }
}

/// The mark of an event in the list.
pub fn mark_icon(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::You => ("i i12 s-you", "#m-you"),
        Mark::Observe => ("i i12", "#m-observe"),
        Mark::Diff => ("i i12", "#m-diff"),
        Mark::Act => ("i i12", "#m-act"),
        Mark::Write => ("i i12", "#m-write"),
        Mark::Watch => ("i i12", "#m-watch"),
        Mark::World => ("i i12", "#m-world"),
        Mark::Clock => ("i i12", "#m-clock"),
        Mark::Error => ("i i12 s-bad", "#m-error"),
    }
}
