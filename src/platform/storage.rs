//! Settings that outlive the page. Storage may be blocked, for instance in another site's frame: then nothing is kept.

fn storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}

pub fn load(name: &str) -> Option<String> {
    storage()?.get_item(&key(name)).ok().flatten()
}

pub fn save(name: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&key(name), value);
    }
}

fn key(name: &str) -> String {
    ["loopscope.", name].concat()
}
