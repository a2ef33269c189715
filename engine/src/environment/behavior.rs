use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sim::Digest;

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
        }
    }
}

/// The behavior of every image: those that were described, and the usual for the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Behaviors(pub BTreeMap<String, Behavior>);

impl Behaviors {
    pub fn of(&self, image: &str) -> Behavior {
        self.0.get(image).copied().unwrap_or_else(|| Behavior::usual(image))
    }
}
