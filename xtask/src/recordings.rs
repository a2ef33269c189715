//! Takes recordings and tables into the project: compact, without what no test reads, packed.

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

/// `cargo xtask recordings <folder with traces/, tables/ and kubectl/>`
pub fn command(args: &[String]) -> Res {
    let [folder] = args else { return Err("which folder? It holds traces/, tables/ and kubectl/".into()) };
    for part in ["traces", "tables", "kubectl"] {
        let to = paths::root().join("engine/tests/data").join(part);
        let (count, bytes) = take(&Path::new(folder).join(part), &to)?;
        println!("{part}: {count} files, {bytes} bytes");
    }
    Ok(())
}

/// Of kubectl's recordings the table of scalars is kept beside the manifests.
fn is_meant(name: &str) -> bool {
    name.ends_with(".json") && name != "yaml_scalars.json"
}

fn take(from: &Path, to: &Path) -> Res<(usize, usize)> {
    let said = |file: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    fs::create_dir_all(to).map_err(|e| said(to, &e))?;
    let (mut count, mut bytes) = (0, 0);
    for file in fs::read_dir(from).map_err(|e| said(from, &e))?.flatten().map(|it| it.path()) {
        let Some(name) = file.file_name().and_then(|it| it.to_str()).filter(|it| is_meant(it)) else {
            continue;
        };
        let text = fs::read(&file).map_err(|e| said(&file, &e))?;
        let packed = pack(&text).map_err(|e| said(&file, &e))?;
        fs::write(to.join(format!("{name}.gz")), &packed).map_err(|e| said(&file, &e))?;
        (count, bytes) = (count + 1, bytes + packed.len());
    }
    Ok((count, bytes))
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
