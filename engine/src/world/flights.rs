//! The requests under way.

use std::collections::VecDeque;
use std::rc::Rc;

use super::simulation::Turn;
use crate::apiserver::Request;
use crate::client::LoopIndex;
use crate::sim::{Seq, Time};

/// A request on its way, and its answer on the way back.
#[derive(Clone)]
pub(super) struct Flight {
    pub request: Rc<Request>,
    pub by: LoopIndex,
    pub turn: Turn,
    pub slot: usize,
    pub epoch: u32,
    pub cause: Seq,
    pub outcome: Option<crate::client::Outcome>,
    /// When it, or its answer, was sent, and when that is there.
    pub sent: Time,
    pub due: Time,
    /// It, or its answer, got nowhere: its sender waits until it gives up.
    pub is_lost: bool,
}

/// The requests under way, by the number they were given.
#[derive(Clone, Default)]
pub(super) struct Flights {
    first: u64,
    all: VecDeque<Option<Flight>>,
}

impl Flights {
    /// Takes a request and returns its number.
    pub fn add(&mut self, flight: Flight) -> u64 {
        self.all.push_back(Some(flight));
        self.first + self.all.len() as u64 - 1
    }

    fn position(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    pub fn get(&self, number: u64) -> Option<&Flight> {
        self.all.get(self.position(number)?)?.as_ref()
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Flight> {
        let position = self.position(number)?;
        self.all.get_mut(position)?.as_mut()
    }

    pub fn remove(&mut self, number: u64) -> Option<Flight> {
        let position = self.position(number)?;
        let flight = self.all.get_mut(position)?.take();
        while let Some(None) = self.all.front() {
            self.all.pop_front();
            self.first += 1;
        }
        flight
    }

    /// Numbers of those that some loops sent and that were lost on their way.
    pub fn lost(&self, by: &[LoopIndex]) -> Vec<u64> {
        let is_lost = |it: &Flight| by.contains(&it.by) && matches!(it.outcome, Some(Err(_)));
        let all = (self.first..).zip(&self.all);
        all.filter(|(_, it)| it.as_ref().is_some_and(is_lost)).map(|(number, _)| number).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Flight> {
        self.all.iter().flatten()
    }

    /// With their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, &Flight)> {
        (self.first..).zip(&self.all).filter_map(|(number, it)| Some((number, it.as_ref()?)))
    }
}
