//! The smallest loop: a thermostat. It looks at its sensor, compares, and turns its heater by one step.
//!
//! What is wanted, and how its heater stands, is data of the ConfigMap `room`: anybody may write it, and the API server
//! tells the thermostat. No part of Kubernetes.

use serde_json::Value;

use super::Recorder;
use super::script::{Purpose, Script, Scripted};
use crate::api::{Kind, Object, ObjectKey, fields};
use crate::apiserver::{Change, Objects, PatchType, Request, Verb};
use crate::client::{Action, Context, Facts, Wakeup};
use crate::note;
use crate::sim::{Millis, Time};

/// The thermostat's name among the field managers and the loops.
pub const MANAGER: &str = "thermostat";
pub const NAME: &str = "Thermostat";
/// From one look to the next.
const PERIOD: Millis = Millis(30_000);
/// It acts on where the temperature will be after so many more looks, if it goes on as it does.
const FORESIGHT: i64 = 5;

/// The ConfigMap that says what is wanted.
pub fn room_key() -> ObjectKey {
    ObjectKey::new(Kind::ConfigMap, "default", "room")
}

/// What a room's ConfigMap says; temperatures in thousandths of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomSpec {
    pub desired: i32,
    /// How far from it is near enough.
    pub hysteresis: i32,
    /// By how many percent the heater is turned at once.
    pub step: u8,
    /// In percent.
    pub heater: u8,
}

impl RoomSpec {
    /// Nothing where it does not say what is wanted. What cannot be read is as if it were not there.
    pub fn of(object: &Object) -> Option<Self> {
        let Object::Generic(Kind::ConfigMap, map) = object else { return None };
        let data = map.fields.get("data")?;
        let text = |name: &str| data.get(name).and_then(Value::as_str);
        let percent = |name: &str| text(name).and_then(|text| text.parse::<u8>().ok()).filter(|n| *n <= 100);
        Some(Self {
            desired: text("desired").and_then(milli_degrees)?,
            hysteresis: text("hysteresis").and_then(milli_degrees).filter(|it| *it >= 0).unwrap_or(500),
            step: percent("step").filter(|it| *it > 0).unwrap_or(2),
            heater: percent("heater").unwrap_or(0),
        })
    }
}

/// What a turn's Observe said, in °C: what is wanted, and what its sensor says.
pub fn observed(facts: &Facts) -> Option<[String; 2]> {
    match facts.text.args.as_slice() {
        [want, measured] if facts.text.text.starts_with(OBSERVED) => Some([want.to_string(), measured.to_string()]),
        _ => None,
    }
}

/// How an Observe begins.
const OBSERVED: &str = "want **{}** °C";

/// Turns a heater up and down.
#[derive(Clone, Debug, Default)]
pub struct Thermostat {
    /// When it looked last, what its sensor said, and how far that was from the time before.
    last: Option<(Time, i32, i64)>,
}

impl Thermostat {
    /// How far the temperature moves from one look to the next.
    fn trend(&mut self, now: Time, measured: i32) -> i64 {
        match self.last {
            Some((at, _, trend)) if now.since(at).0 * 2 < PERIOD.0 => trend,
            Some((at, before, _)) => {
                let trend = i64::from(measured - before) * PERIOD.0 as i64 / now.since(at).0.max(1) as i64;
                self.last = Some((now, measured, trend));
                trend
            }
            None => {
                self.last = Some((now, measured, 0));
                0
            }
        }
    }
}

/// The heater after a step: up where it will be too cold, down where it will be too warm.
pub fn decide(spec: &RoomSpec, measured: i32, trend: i64) -> u8 {
    let missing = i64::from(spec.desired - measured) - trend * FORESIGHT;
    let band = i64::from(spec.hysteresis);
    if missing > band {
        (spec.heater + spec.step).min(100)
    } else if missing < -band {
        spec.heater.saturating_sub(spec.step)
    } else {
        spec.heater
    }
}

impl Scripted for Thermostat {
    fn recorder(&self) -> Recorder {
        Recorder("thermostat")
    }

    /// Its own turns of the heater are no news to it.
    fn concerns(&mut self, change: &Change, _cache: &Objects, _now: Time) -> Vec<Wakeup> {
        let wish = |object: &Object| RoomSpec::of(object).map(|spec| RoomSpec { heater: 0, ..spec });
        let is_news = change.old.as_ref().and_then(wish) != wish(&change.object);
        if change.key == room_key() && is_news { vec![(room_key(), Millis(0))] } else { Vec::new() }
    }

    fn plan(&mut self, context: &Context<'_>, key: &ObjectKey) -> Option<Script> {
        let spec = context.cache.get(key).and_then(RoomSpec::of)?;
        let measured = context.room?;
        let trend = self.trend(context.now, measured);
        let heater = decide(&spec, measured, trend);
        let tenths = |milli: i32| degrees((milli + if milli < 0 { -50 } else { 50 }) / 100 * 100);
        let observed: Facts =
            note!("want **{}** °C, measured **{}** °C", tenths(spec.desired), tenths(measured)).into();
        let observed = observed.with(note!("heater at {} %", i64::from(spec.heater)));
        let missing = spec.desired - measured;
        let coming = i32::try_from(trend * FORESIGHT).unwrap_or(0);
        let facts = match missing {
            n if n >= 0 => note!("**{} °C** too cold", tenths(n)),
            n => note!("**{} °C** too warm", tenths(-n)),
        };
        let will_be = tenths(measured + coming);
        let detail = note!("on its way to {} °C, near enough is ±{} °C", will_be, degrees(spec.hysteresis));
        let mut script = Script::new(observed, Facts::from(facts).with(detail));
        if heater != spec.heater {
            let patch = fields([("data", fields([("heater", heater.to_string().into())]))]);
            let request = Request::new(MANAGER, Verb::Patch(key.clone(), PatchType::Merge, patch));
            let facts: Facts = note!("turn the heater to **{} %**", i64::from(heater)).into();
            script.send(facts.with(note!("PATCH configmaps/room")), vec![(Action::Api(request), Purpose::Plain)]);
        }
        Some(script)
    }

    fn tick(&mut self) -> Option<(ObjectKey, Millis)> {
        Some((room_key(), PERIOD))
    }
}

/// `21.5` of 21,500 thousandths of a degree.
pub fn degrees(milli: i32) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let milli = milli.unsigned_abs();
    let part = (1_000 + milli % 1_000).to_string();
    let part = part.get(1..).unwrap_or_default().trim_end_matches('0');
    [sign, &(milli / 1_000).to_string(), ".", if part.is_empty() { "0" } else { part }].concat()
}

/// Thousandths of a degree of `21`, `21.5` or `-3.25`; nothing of other texts, and of what is beyond ±100 °C.
pub fn milli_degrees(text: &str) -> Option<i32> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 3 || whole.len() > 3 {
        return None;
    }
    let scale = [100, 10, 1][part.len() - 1];
    let milli = whole.parse::<i32>().ok()? * 1_000 + part.parse::<i32>().ok()? * scale;
    (milli <= 100_000).then_some(sign * milli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_towards_where_it_will_be() {
        let spec = RoomSpec { desired: 21_000, hysteresis: 500, step: 10, heater: 50 };
        assert_eq!(decide(&spec, 20_500, 0), 50, "near enough");
        assert_eq!((decide(&spec, 20_499, 0), decide(&spec, 21_501, 0)), (60, 40));
        assert_eq!(decide(&spec, 19_000, 400), 50, "2 °C are missing, and 2 °C are on their way");
        assert_eq!(decide(&spec, 20_000, 400), 40, "it will be too warm");
        assert_eq!(decide(&RoomSpec { heater: 95, ..spec }, 10_000, 0), 100);
        assert_eq!(decide(&RoomSpec { heater: 5, ..spec }, 30_000, 0), 0);
    }

    #[test]
    fn degrees_are_read_as_they_are_written() {
        for (text, milli) in [("21.0", 21_000), ("21.5", 21_500), ("-3.25", -3_250), ("0.001", 1), ("100.0", 100_000)] {
            assert_eq!((degrees(milli).as_str(), milli_degrees(text)), (text, Some(milli)));
        }
        assert_eq!(milli_degrees("21"), Some(21_000));
        for text in ["", "warm", "21.", ".5", "1e3", "+1", "--1", "100.001", "21.0001", "1000"] {
            assert_eq!(milli_degrees(text), None, "{text}");
        }
    }
}
