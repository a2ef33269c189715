//! What a client of the API server is made of: a cache kept by watching, a work queue, a reconciler.
//!
//! Mirrors `client-go` v1.36 (`tools/cache`, `util/workqueue`) and `pkg/controller` (expectations).

mod changed;
mod expectations;
mod limiter;
mod logged;
mod mark;
mod metrics;
mod note;
mod queue;
mod reconciler;
mod record;
mod runtime;

pub use changed::*;
pub use expectations::*;
pub use limiter::*;
pub use mark::*;
pub use metrics::*;
pub use note::*;
pub use queue::*;
pub use reconciler::*;
pub use record::*;
pub use runtime::*;
