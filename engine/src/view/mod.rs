//! View models: what the page draws, and how it is derived from the simulation.
//!
//! Nothing here changes anything. Everything is derived anew from the simulation at one instant, so that scrubbing and
//! playing show the same.

mod autoscaler;
mod causes;
mod class;
mod code;
mod compare;
mod conditions;
mod crowd;
mod cures;
mod diff;
mod effects;
mod faults;
mod frame;
mod gitops;
mod gone;
mod infra;
mod inspect;
mod invariants;
mod kin;
mod listing;
mod loops;
mod map;
mod model;
mod orders;
mod outlook;
mod owners;
mod ownership;
mod ownership_model;
mod picture;
mod pods;
mod programs;
mod room;
mod shape;
mod stuck;
mod timeline;
mod traffic;
mod truth;
mod twin;
mod values;
mod words;
mod workloads;
mod yaml;

pub use crate::world::{Heap, Lane, Sample, Stroke};
pub use autoscaler::{AutoscalerView, MetricValue, PassLine, autoscaler_of, autoscalers};
pub use causes::{event, events, subject, why};
pub use class::PodClass;
pub use code::{code_step, simple, telling_seq};
pub use crowd::{Crowd, Dot, Flock, crowd, pod_row};
pub use cures::cures;
pub use diff::{changes, dry_run, rebase};
pub use effects::led_to;
pub use faults::{Broken, Fault, FaultRow, FaultsView, QUOTA, SERVER, fault_command, faults, mendings};
pub use frame::{announce, frame, frame_as, summary};
pub use gitops::{AppObject, AppView, CommitRow, GitFile, GitRow, GitView, LastSync, app, commits, git, product};
pub use gone::gone;
pub use infra::{
    AttributeRow, CloudScaler, InfraView, LockRow, PrintedLine, PrintedMark, ResourceRow, RunView, cloud_types, infra,
};
pub use inspect::inspect;
pub use invariants::{InvariantRow, InvariantState, InvariantsView, Property, invariants};
pub use listing::{Column, Listing, compare, matches};
pub use loops::{loop_rows, newest_act, now_line, store};
pub use map::{listed, map, page};
pub use model::*;
pub use orders::{COUNT, OrdersView, Run, RunState, WISH, orders};
pub use outlook::outlook;
pub use ownership::{fights, ownership};
pub use ownership_model::*;
pub use picture::*;
pub use pods::{classify, status_word};
pub use programs::{BEHAVIORS, behavior};
pub use room::{RoomPoint, RoomView, room};
pub use shape::{ShapeCard, same_shape};
pub use timeline::*;
pub use traffic::{Endpoint, LoadView, LossLine, load_on, traffic};
pub use twin::{Missed, TwinSide, TwinSwitches, TwinWhy, Verdict, twin_side, twin_why};
pub use values::{Asked, source};
pub use words::age;
pub use workloads::{first_key, objects};
pub use yaml::yaml;
