//! Recordings of a real control plane and tables of its real decisions, held against this engine.
//!
//! `CONFORMANCE_DIR` names another folder with `traces/` and `tables/` in it; the project's own copies are the default.

mod conformance {
    mod compare;
    mod driven;
    mod exceptions;
    mod folder;
    mod free;
    mod marks;
    mod milestones;
    mod names;
    mod player;
    #[allow(dead_code, reason = "the schema as a whole, whatever the runs read of it")]
    mod recording;
    mod report;
    mod run;
    mod shape;
    mod tables;
}
