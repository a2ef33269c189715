/// A state attribute's text.
pub fn yes(is: bool) -> &'static str {
    if is { "true" } else { "false" }
}

/// `1 pod`, `2 pods`
pub fn plural(n: usize, one: &str, many: &str) -> String {
    [n.to_string().as_str(), " ", if n == 1 { one } else { many }].concat()
}

/// `+1`, `0`, `−2`, with a true minus sign.
pub fn signed(n: i32) -> String {
    match n {
        0 => "0".into(),
        1.. => ["+", n.to_string().as_str()].concat(),
        _ => ["−", n.unsigned_abs().to_string().as_str()].concat(),
    }
}

/// `01:02.345`
pub fn clock(ms: u64) -> String {
    loopscope_engine::sim::Time(ms).to_string()
}
