//! A choice that the address may name and that is remembered.

use loopscope_engine::world::Scenario;

use super::dom::{address, put_into_address};

/// What the address calls the scenario by.
pub const SCENARIO: &str = "s";
/// The step of a lesson, from 1.
pub const STEP: &str = "step";

/// What the address says.
pub fn asked(name: &str) -> Option<String> {
    address().and_then(|url| url.search_params().get(name))
}

/// The same, where it says anything.
pub fn parameter(name: &str) -> Option<String> {
    asked(name).filter(|it| !it.is_empty())
}

/// What the address says, else what is remembered.
pub fn chosen(name: &str) -> Option<String> {
    asked(name).or_else(|| super::load(name))
}

/// Remembers a choice, and puts it into the address.
pub fn choose(name: &str, value: &str) {
    super::save(name, value);
    let _ = put_into_address(name, value);
}

/// Puts a scenario's name into the address: nothing for the first one, and for one that is not in the list.
pub fn name_scenario(scenario: &Scenario) {
    let known = Scenario::CATALOG.iter().skip(1).find(|it| it.name == scenario.name);
    let _ = put_into_address(SCENARIO, known.map_or("", |it| it.id));
}

/// Puts a lesson and its step into the address; takes out whatever was there where the name is empty.
pub fn name_lesson(id: &str, step: usize) {
    let step = if id.is_empty() { String::new() } else { step.to_string() };
    let _ = put_into_address(SCENARIO, id);
    let _ = put_into_address(STEP, &step);
}
