//! Takes recordings into the project: compact, without what no test reads, packed.

use crate::cmd::Res;
use crate::paths;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Keys that only tell again what others say.
const DROPPED: &[&str] = &["initialNodes", "title"];
const DROPPED_DERIVED: &[&str] = &["podTimeline", "replicaSetSteps"];

/// `cargo xtask recordings <folder with traces/>`
pub fn command(args: &[String]) -> Res {
    let [folder] = args else { return Err("which folder? It holds traces/".into()) };
    let to = paths::root().join("engine/tests/data/traces");
    fs::create_dir_all(&to).map_err(|e| format!("{}: {e}", to.display()))?;
    let from = Path::new(folder).join("traces");
    let files = fs::read_dir(&from).map_err(|e| format!("{}: {e}", from.display()))?;
    let (mut count, mut bytes) = (0, 0);
    for file in files.flatten().map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "json")) {
        let packed = pack(&fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?)
            .map_err(|e| format!("{}: {e}", file.display()))?;
        let name = format!("{}.gz", file.file_name().unwrap_or_default().to_string_lossy());
        fs::write(to.join(&name), &packed).map_err(|e| format!("{name}: {e}"))?;
        (count, bytes) = (count + 1, bytes + packed.len());
    }
    println!("{count} recordings, {bytes} bytes");
    Ok(())
}

fn pack(text: &[u8]) -> Res<Vec<u8>> {
    let mut recording: Value = serde_json::from_slice(text).map_err(|e| e.to_string())?;
    let mut drop_from = |at: &str, keys: &[&str]| {
        let object = recording.pointer_mut(at).and_then(Value::as_object_mut);
        object.into_iter().for_each(|it| it.retain(|key, _| !keys.contains(&key.as_str())));
    };
    drop_from("", DROPPED);
    drop_from("/derived", DROPPED_DERIVED);
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(recording.to_string().as_bytes()).and_then(|()| packer.finish()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_recording_loses_only_what_is_told_twice() {
        let packed = pack(br#"{"title": "t", "trace": [{"t": 1}], "derived": {"podTimeline": {}, "replicaSets": []}}"#);
        let mut text = String::new();
        flate2::read::GzDecoder::new(packed.unwrap().as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, r#"{"derived":{"replicaSets":[]},"trace":[{"t":1}]}"#);
    }
}
