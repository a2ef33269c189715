use serde::{Deserialize, Serialize};

use crate::api::ObjectKey;
use crate::sim::{Dict, Digest};

/// How an image and the program inside it behave. Times in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Behavior {
    /// How long a node takes to fetch the image.
    pub pull_ms: u64,
    /// From the order to start until the process runs.
    pub start_ms: u64,
    /// From there until it answers probes; never where nothing is given.
    pub serve_ms: Option<u64>,
    /// From the request to stop until the process has ended.
    pub stop_ms: u64,
    /// It ends by itself: after this long, with this exit code.
    pub exit: Option<(u64, i32)>,
    /// The registry does not have it.
    pub is_missing: bool,
    /// Only the first run ends by itself.
    #[serde(default)]
    pub exits_once: bool,
    /// When it ends by itself, it is the kernel that kills it for its memory.
    #[serde(default)]
    pub is_oom: bool,
    /// It calls itself unready: from so long after its start, for so long.
    #[serde(default)]
    pub lapse: Option<(u64, u64)>,
    /// From so long after its start it answers nothing any more.
    #[serde(default)]
    pub hang_ms: Option<u64>,
    /// It does not heed the request to stop.
    #[serde(default)]
    pub ignores_term: bool,
    /// How long an exec or HTTP hook before the stop takes.
    #[serde(default)]
    pub hook_ms: u64,
    /// Its kubelet hears from itself whether it is ready, at once and without a probe, as one that only pretends to run
    /// containers would.
    #[serde(default)]
    pub tells_ready: bool,
}

impl Behavior {
    /// A sane program with the times of an image that nobody described: always the same for the same name.
    pub fn usual(image: &str) -> Self {
        let mut digest = Digest::default();
        digest.bytes(image.as_bytes());
        let value = digest.value();
        let spread = |shift: u32, below: u64| (value >> shift) % below;
        Self {
            pull_ms: 900 + spread(0, 1800),
            start_ms: 200 + spread(16, 300),
            serve_ms: Some(400 + spread(28, 1400)),
            stop_ms: 600 + spread(44, 2400),
            exit: None,
            is_missing: false,
            exits_once: false,
            is_oom: false,
            lapse: None,
            hang_ms: None,
            ignores_term: false,
            hook_ms: 500,
            tells_ready: false,
        }
    }

    /// When and how a run ends by itself.
    pub fn end_of(&self, run: i32) -> Option<(u64, i32)> {
        self.exit.filter(|_| run == 0 || !self.exits_once).map(|(ms, code)| (ms, if self.is_oom { 137 } else { code }))
    }
}

/// The behavior of every image: those that were described, and the usual for the rest. `@namespace/name` is a pod
/// that behaves in a way of its own; no image is named so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Behaviors(pub Dict<Behavior>);

impl Behaviors {
    pub fn of(&self, image: &str) -> Behavior {
        self.0.get(image).copied().unwrap_or_else(|| Behavior::usual(image))
    }

    /// How the program of an image behaves in a pod.
    pub fn within(&self, pod: &ObjectKey, image: &str) -> Behavior {
        let some = self.0.keys().any(|name| name.starts_with('@'));
        let own = some.then(|| self.0.get(&Self::pod(pod))).flatten();
        own.copied().unwrap_or_else(|| self.of(image))
    }

    /// Whether somebody described how the program of an image behaves in a pod.
    pub fn describes(&self, pod: &ObjectKey, image: &str) -> bool {
        self.0.contains_key(image) || self.0.contains_key(&Self::pod(pod))
    }

    /// The entry of a pod.
    pub fn pod(key: &ObjectKey) -> String {
        format!("@{}/{}", key.namespace, key.name)
    }
}
