//! What other programs open: a run's trace as JSON, and the map as a picture.
//!
//! Texts are put together by hand, since code that serializes types is what a page's download consists of.

mod chrome;
mod cluster;
mod json;
mod picture;
mod trace;

pub use chrome::chrome_trace;
pub use cluster::cluster_yaml;
pub use picture::{MapPicture, TOKENS, WIDTH, picture, pod_look};
pub use trace::trace_json;
