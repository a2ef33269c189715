//! The room that a thermostat looks after: how it comes into the world, and what a person does to it.

use std::fmt::{self, Formatter};

use serde::{Deserialize, Serialize};

use super::command_reader::span;
use super::command_text::Span;
use super::faults::{done, invalid};
use super::{Command, Outcome, ProcessKind, Simulation, Target};
use crate::api::{Kind, fields};
use crate::apiserver::{ChangeKind, PatchType, Verb};
use crate::client::Note;
use crate::controllers::thermostat::{RoomSpec, degrees, milli_degrees, room_key};
use crate::environment::Room;
use crate::note;
use crate::sim::{Millis, Seq};

/// The longest step of a heater, in percent.
const MOST: u8 = 100;

/// One thing about a room; temperatures in thousandths of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RoomSetting {
    Desired(i32),
    /// How far from it is near enough.
    Hysteresis(i32),
    /// By how many percent the heater is turned at once.
    Step(u8),
    Window(bool),
    Outside(i32),
    /// How old what the sensor says is, in ms.
    Lag(u64),
}

impl RoomSetting {
    /// Whether it is done to the room, and not said to the thermostat.
    pub(super) fn is_disturbance(self) -> bool {
        matches!(self, RoomSetting::Window(_) | RoomSetting::Outside(_) | RoomSetting::Lag(_))
    }

    pub(super) fn write(self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RoomSetting::Desired(milli) => write!(f, "room desired {}", Cold(milli)),
            RoomSetting::Hysteresis(milli) => write!(f, "room hysteresis {}", degrees(milli)),
            RoomSetting::Step(percent) => write!(f, "room step {percent}"),
            RoomSetting::Window(true) => f.write_str("room window open"),
            RoomSetting::Window(false) => f.write_str("room window close"),
            RoomSetting::Outside(milli) => write!(f, "room outside {}", Cold(milli)),
            RoomSetting::Lag(ms) => write!(f, "room lag {}", Span(ms)),
        }
    }

    pub(super) fn read(words: &[&str]) -> Result<Command, String> {
        let temperature = |text: &str| {
            milli_degrees(text).ok_or_else(|| format!("\"{text}\" is no temperature such as 21.5, from -100 to 100"))
        };
        let setting = match words {
            ["desired", text] => RoomSetting::Desired(temperature(text)?),
            ["hysteresis", text] => match temperature(text)? {
                milli @ 0.. => RoomSetting::Hysteresis(milli),
                _ => return Err(format!("\"{text}\" is below 0")),
            },
            ["step", text] => {
                let step = text.parse().ok().filter(|step| (1..=MOST).contains(step));
                RoomSetting::Step(step.ok_or_else(|| format!("\"{text}\" is no step from 1 to 100"))?)
            }
            ["window", "open"] => RoomSetting::Window(true),
            ["window", "close"] => RoomSetting::Window(false),
            ["outside", text] => RoomSetting::Outside(temperature(text)?),
            ["lag", text] => match span(text)? {
                ms if ms <= Room::OLDEST => RoomSetting::Lag(ms),
                _ => return Err(format!("\"{text}\" is more than two minutes")),
            },
            _ => return Err(format!("unknown command \"room {}\"", words.join(" "))),
        };
        Ok(Command::SetRoom { setting })
    }

    pub(super) fn describe(self) -> Note {
        match self {
            RoomSetting::Desired(milli) => note!("set the thermostat to **{} °C**", degrees(milli)),
            RoomSetting::Hysteresis(milli) => note!("let the thermostat be content within **{} °C**", degrees(milli)),
            RoomSetting::Step(percent) => note!("let the heater be turned by **{} %** at once", i64::from(percent)),
            RoomSetting::Window(true) => note!("opened the **window**"),
            RoomSetting::Window(false) => note!("closed the **window**"),
            RoomSetting::Outside(milli) => note!("made it **{} °C** outside", degrees(milli)),
            RoomSetting::Lag(ms) => note!("made the sensor **{}** late", crate::client::Arg::Millis(ms)),
        }
    }
}

/// A temperature that is a word of its own, and no flag where it is below zero.
struct Cold(i32);

impl fmt::Display for Cold {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let quote = if self.0 < 0 { "'" } else { "" };
        write!(f, "{quote}{}{quote}", degrees(self.0))
    }
}

impl Simulation {
    /// There is a room to look after.
    pub fn has_room(&self) -> bool {
        self.room.is_some()
    }

    /// The room, as it is now.
    pub fn room(&self) -> Option<Room> {
        let mut room = self.room.as_ref()?.0.clone();
        room.settle(self.now());
        Some(room)
    }

    /// A write may be about the room: the first one brings the room and its thermostat into the world, and each says how
    /// the heater stands.
    pub(super) fn regulate(&mut self, version: u64) {
        let Some(change) = self.api.change(version).filter(|it| it.key.kind == Kind::ConfigMap) else { return };
        if change.key != room_key() {
            return;
        }
        let (cause, is_gone) = (change.cause, change.kind == ChangeKind::Deleted);
        let spec = RoomSpec::of(&change.object);
        if self.room.is_none() {
            if spec.is_none() || is_gone {
                return;
            }
            let process = self.processes.len();
            self.room = Some((Room::new(self.now()), process));
            self.start_process(ProcessKind::Thermostat, cause, Millis(1_000));
        }
        let now = self.now();
        if let Some((room, _)) = &mut self.room {
            room.settle(now);
            room.heater = spec.filter(|_| !is_gone).map_or(0, |spec| spec.heater);
            room.desired = spec.map_or(room.desired, |spec| spec.desired);
        }
    }

    pub(super) fn set_room(&mut self, setting: RoomSetting, seq: Seq) -> Outcome {
        let (name, text) = match setting {
            RoomSetting::Desired(milli) => ("desired", degrees(milli)),
            RoomSetting::Hysteresis(milli) => ("hysteresis", degrees(milli)),
            RoomSetting::Step(percent) => ("step", percent.to_string()),
            _ => return self.change_room(setting, seq),
        };
        let target = Target::from(&room_key());
        let patch = fields([("data", fields([(name, text.into())]))]);
        self.request(&target, "kubectl-patch", Verb::Patch(target.key(), PatchType::Merge, patch), "patched", seq)
    }

    fn change_room(&mut self, setting: RoomSetting, seq: Seq) -> Outcome {
        let now = self.now();
        let Some((room, _)) = &mut self.room else { return invalid("there is no room: see configmap/room".into()) };
        room.settle(now);
        match setting {
            RoomSetting::Window(open) => room.is_window_open = open,
            RoomSetting::Outside(milli) => room.outside = milli,
            RoomSetting::Lag(ms) => room.lag = ms,
            _ => {}
        }
        room.cause = Some(seq);
        done("the room has changed".into())
    }

    /// What the room's sensor says now, for its thermostat.
    pub(super) fn sense(&mut self, process: usize) -> Option<i32> {
        let now = self.now();
        let (room, _) = self.room.as_mut().filter(|(_, at)| *at == process)?;
        room.settle(now);
        Some(room.measured())
    }

    /// What made a room's temperature move that a thermostat finds by its own clock: a window or the weather.
    pub(super) fn draught(&self, process: usize) -> Option<Seq> {
        self.room.as_ref().filter(|(_, at)| *at == process)?.0.cause
    }
}
