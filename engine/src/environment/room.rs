//! A room with a heater: the smallest thing that a loop can look after.
//!
//! Physics in fixed steps of a second and in integers, so that it is the same everywhere. The radiator warms with the
//! heater, the air with the radiator, and the outside takes from the air what the walls, or an open window, let through.

use std::collections::VecDeque;

use crate::sim::{Millis, Seq, Time};

/// From one step of the physics to the next.
const STEP: Millis = Millis(1_000);
/// How much warmer than the air a radiator gets for each percent of its heater, in thousandths of a degree.
const WARMTH: i64 = 100;
/// Seconds until about two thirds of a difference are made up: the radiator after its heater, the air after the radiator,
/// the air after the outside through the walls, and through an open window as well.
const RADIATOR: i64 = 60;
const AIR: i64 = 200;
const WALLS: i64 = 600;
const WINDOW: i64 = 200;

/// One point of the room's curve; temperatures in thousandths of a degree Celsius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomSample {
    pub at: Time,
    pub desired: i32,
    pub actual: i32,
    /// What the sensor says.
    pub measured: i32,
    /// In percent.
    pub heater: u8,
}

#[derive(Clone, Debug)]
pub struct Room {
    /// The last step that was taken.
    at: Time,
    /// In millionths of a degree.
    air: i64,
    radiator: i64,
    /// As it was asked for, in percent.
    pub heater: u8,
    /// As its object says it, in thousandths of a degree; the room does not care.
    pub desired: i32,
    pub outside: i32,
    pub is_window_open: bool,
    /// How old what the sensor says is, in ms.
    pub lag: u64,
    /// The temperatures of the last seconds, the newest last.
    readings: VecDeque<i32>,
    curve: Vec<RoomSample>,
    /// Every so many steps a sample is kept.
    every: u64,
    /// The command that last changed the window or the weather.
    pub cause: Option<Seq>,
}

impl Room {
    /// The oldest that a sensor can be, in ms.
    pub const OLDEST: u64 = 120_000;
    /// Samples kept; where there are more, every second one goes.
    pub const SAMPLES: usize = 1_024;
    /// From one sample to the next at first, in steps.
    const EVERY: u64 = 10;

    /// A room of 16 °C, on a day of 5 °C, with a sensor that is 20 s behind.
    pub fn new(now: Time) -> Self {
        let air = 16_000_000;
        Self {
            at: now,
            air,
            radiator: air,
            heater: 0,
            desired: 0,
            outside: 5_000,
            is_window_open: false,
            lag: 20_000,
            readings: VecDeque::from([(air / 1_000) as i32]),
            curve: Vec::new(),
            every: Self::EVERY,
            cause: None,
        }
    }

    /// Lets time pass, as everything is now.
    pub fn settle(&mut self, now: Time) {
        while self.at + STEP <= now {
            self.at = self.at + STEP;
            let outside = i64::from(self.outside) * 1_000;
            let target = self.air + i64::from(self.heater) * WARMTH * 1_000;
            self.radiator += (target - self.radiator) / RADIATOR;
            let through_window = if self.is_window_open { (outside - self.air) / WINDOW } else { 0 };
            self.air += (self.radiator - self.air) / AIR + (outside - self.air) / WALLS + through_window;
            if self.readings.len() as u64 > Self::OLDEST / STEP.0 {
                self.readings.pop_front();
            }
            self.readings.push_back(self.actual());
            if (self.at.0 / STEP.0).is_multiple_of(self.every) {
                self.sample();
            }
        }
    }

    fn sample(&mut self) {
        self.curve.push(self.now());
        if self.curve.len() > Self::SAMPLES {
            let mut index = 0;
            self.curve.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// As it is at its last step.
    pub fn now(&self) -> RoomSample {
        let (desired, heater) = (self.desired, self.heater);
        RoomSample { at: self.at, desired, actual: self.actual(), measured: self.measured(), heater }
    }

    /// The temperature of the air, in thousandths of a degree.
    pub fn actual(&self) -> i32 {
        i32::try_from(self.air / 1_000).unwrap_or(i32::MAX)
    }

    /// What its sensor says: how it was a while ago.
    pub fn measured(&self) -> i32 {
        let back = usize::try_from(self.lag / STEP.0).unwrap_or(usize::MAX);
        let at = self.readings.len().saturating_sub(1).saturating_sub(back);
        self.readings.get(at).copied().unwrap_or_else(|| self.actual())
    }

    /// The run so far, oldest first.
    pub fn curve(&self) -> &[RoomSample] {
        &self.curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(room: &mut Room, seconds: u64) -> i32 {
        let until = room.at + Millis(seconds * 1_000);
        room.settle(until);
        room.actual()
    }

    /// Where nothing changes any more the gain through the radiator is the loss through the walls:
    /// (radiator − air) / 200 = (air − outside) / 600.
    #[test]
    fn a_heater_of_so_many_percent_holds_a_temperature() {
        let mut room = Room::new(Time(0));
        room.heater = 50;
        let end = run(&mut room, 20_000);
        assert!((19_950..=20_010).contains(&end), "5 °C outside and 3 · 5 °C more: {end}");
        room.is_window_open = true;
        let end = run(&mut room, 20_000);
        assert!((8_700..=8_760).contains(&end), "a window of 1/200 beside walls of 1/600: a quarter of that: {end}");
        room.heater = 0;
        assert_eq!(run(&mut room, 20_000), 5_000, "as cold as outside");
    }

    #[test]
    fn a_sensor_says_how_it_was() {
        let mut room = Room::new(Time(0));
        run(&mut room, 40);
        let then = room.actual();
        run(&mut room, 20);
        assert_eq!((room.measured(), room.actual() < then), (then, true));
        room.lag = 0;
        assert_eq!(room.measured(), room.actual());
    }

    #[test]
    fn time_may_pass_in_pieces_and_its_curve_has_an_end() {
        let (mut whole, mut pieces) = (Room::new(Time(0)), Room::new(Time(0)));
        (whole.heater, pieces.heater) = (70, 70);
        whole.settle(Time(50_000_000));
        (0..=50_000).step_by(7).for_each(|second| pieces.settle(Time(second * 1_000)));
        pieces.settle(Time(50_000_000));
        assert_eq!((whole.now(), whole.curve()), (pieces.now(), pieces.curve()));
        assert!(whole.curve().len() <= Room::SAMPLES && whole.curve().len() > Room::SAMPLES / 3);
    }
}
