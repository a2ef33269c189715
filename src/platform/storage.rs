//! Settings that outlive the page. Storage may be blocked, for instance in another site's frame: then nothing is kept.

fn storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}

pub fn load(name: &str) -> Option<String> {
    storage()?.get_item(&key(name)).ok().flatten()
}

/// Says whether it is kept.
pub fn save(name: &str, value: &str) -> bool {
    storage().is_some_and(|storage| storage.set_item(&key(name), value).is_ok())
}

pub fn forget(name: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(&key(name));
    }
}

/// The browser lets the page keep something.
pub fn keeps() -> bool {
    let kept = save("probe", "");
    forget("probe");
    kept
}

fn key(name: &str) -> String {
    ["loopscope.", name].concat()
}
