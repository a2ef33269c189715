//! Recorded decision tables, as the tests of several controllers read them.

use serde_json::Value;

pub const NOW: i64 = 1_796_025_600;

pub fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("a table")
}

pub fn table<'a>(tables: &'a Value, prefix: &str, count: usize) -> &'a [Value] {
    let (_, rows) = tables.as_object().unwrap().iter().find(|(name, _)| name.starts_with(prefix)).expect(prefix);
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), count, "{prefix}");
    rows
}

pub fn int(value: &Value) -> i32 {
    value.as_i64().map_or_else(|| panic!("a number: {value}"), |it| it as i32)
}
