use serde::Serialize;

/// The ten ways a pod is drawn, in order of attention: the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum PodClass {
    Ready,
    Completed,
    Creating,
    NotReady,
    Pending,
    Terminating,
    Unknown,
    ImageError,
    CrashLoop,
    Failed,
}

impl PodClass {
    /// In order of attention.
    pub const ALL: [PodClass; 10] = [
        PodClass::Ready,
        PodClass::Completed,
        PodClass::Creating,
        PodClass::NotReady,
        PodClass::Pending,
        PodClass::Terminating,
        PodClass::Unknown,
        PodClass::ImageError,
        PodClass::CrashLoop,
        PodClass::Failed,
    ];

    /// In a word or two: `not ready`.
    pub fn name(self) -> &'static str {
        match self {
            PodClass::Ready => "ready",
            PodClass::Completed => "completed",
            PodClass::Creating => "creating",
            PodClass::NotReady => "not ready",
            PodClass::Pending => "pending",
            PodClass::Terminating => "terminating",
            PodClass::Unknown => "unknown",
            PodClass::ImageError => "image error",
            PodClass::CrashLoop => "crash loop",
            PodClass::Failed => "failed",
        }
    }
}
