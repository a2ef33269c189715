//! The room of the thermostat, and its curve.

use serde::Serialize;

use crate::api::Object;
use crate::controllers::thermostat::{RoomSpec, room_key};
use crate::environment::RoomSample;
use crate::sim::Time;
use crate::world::Simulation;

/// What there is to show of the room. Temperatures are in thousandths of a degree Celsius, the heater in percent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoomView {
    pub desired: i32,
    pub actual: i32,
    pub measured: i32,
    pub heater: u8,
    pub outside: i32,
    pub is_window_open: bool,
    pub lag_ms: u64,
    pub hysteresis: i32,
    pub step: u8,
    /// How far beyond what is wanted it went since that was last changed; nothing where it has not yet come there.
    pub overshoot: Option<i32>,
    /// Since when it has been near enough without a break.
    pub settled_since: Option<Time>,
    /// Oldest first; the newest is now.
    pub curve: Vec<RoomPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RoomPoint {
    pub at: Time,
    pub desired: i32,
    pub actual: i32,
    pub measured: i32,
    pub heater: u8,
}

impl From<RoomSample> for RoomPoint {
    fn from(it: RoomSample) -> Self {
        let RoomSample { at, desired, actual, measured, heater } = it;
        Self { at, desired, actual, measured, heater }
    }
}

/// The room; nothing where there is none.
pub fn room(simulation: &Simulation) -> Option<RoomView> {
    let room = simulation.room()?;
    let object: Option<&Object> = simulation.api().objects().get(&room_key());
    let spec = object.and_then(RoomSpec::of);
    let mut curve: Vec<RoomPoint> = room.curve().iter().copied().map(RoomPoint::from).collect();
    let now = RoomPoint::from(room.now());
    if curve.last() != Some(&now) {
        curve.push(now);
    }
    let hysteresis = spec.map_or(0, |spec| spec.hysteresis);
    Some(RoomView {
        desired: room.desired,
        actual: now.actual,
        measured: now.measured,
        heater: now.heater,
        outside: room.outside,
        is_window_open: room.is_window_open,
        lag_ms: room.lag,
        hysteresis,
        step: spec.map_or(0, |spec| spec.step),
        overshoot: overshoot(&curve),
        settled_since: settled_since(&curve, hysteresis),
        curve,
    })
}

/// The points since what is wanted was last changed.
fn newest_wish(curve: &[RoomPoint]) -> &[RoomPoint] {
    let wish = curve.last().map(|it| it.desired);
    let from = curve.iter().rposition(|it| Some(it.desired) != wish).map_or(0, |at| at + 1);
    curve.get(from..).unwrap_or_default()
}

fn overshoot(curve: &[RoomPoint]) -> Option<i32> {
    let points = newest_wish(curve);
    let first = points.first()?;
    // Seen from below, whichever way it goes.
    let sign = if first.actual <= first.desired { 1 } else { -1 };
    points.iter().map(|it| sign * (it.actual - it.desired)).max().filter(|most| *most >= 0)
}

fn settled_since(curve: &[RoomPoint], hysteresis: i32) -> Option<Time> {
    let points = newest_wish(curve);
    let is_near = |it: &RoomPoint| (it.actual - it.desired).abs() <= hysteresis;
    let from = points.iter().rposition(|it| !is_near(it)).map_or(0, |at| at + 1);
    points.get(from).map(|it| it.at)
}
