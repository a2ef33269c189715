//! A choice that the address may name and that is remembered.

use super::dom::{address, put_into_address};

/// What the address says, else what is remembered.
pub fn chosen(name: &str) -> Option<String> {
    let asked = address().and_then(|url| url.search_params().get(name));
    asked.or_else(|| super::load(name))
}

/// Remembers a choice, and puts it into the address.
pub fn choose(name: &str, value: &str) {
    super::save(name, value);
    let _ = put_into_address(name, value);
}
