//! A deterministic simulation of reconciliation loops: an API server, its watches, and controllers.
//!
//! No web, no wall clock, no input or output, no threads.
//! Modules depend on those above them in this list only; `tests/layering.rs` holds them to it.

#![forbid(unsafe_code)]

pub mod api;
pub mod manifest;
pub mod sim;

pub mod apiserver;
pub mod dump;
pub mod gitops;
pub mod iac;

pub mod client;

pub mod controllers;
pub mod environment;
pub mod kubectl;

pub mod world;

#[cfg(feature = "checkpoints")]
pub mod history;

pub mod share;
pub mod view;

pub mod embed;
pub mod export;

pub mod lesson;
