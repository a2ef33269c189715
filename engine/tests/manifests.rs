//! Manifests as people write them, and as they break them.

use loopscope_engine::api::Kind;
use loopscope_engine::manifest::{Manifest, Severity, read};

fn file(name: &str) -> Manifest {
    let path = format!("{}/tests/data/manifests/{name}", env!("CARGO_MANIFEST_DIR"));
    read(&std::fs::read_to_string(path).unwrap())
}

#[test]
fn print_all() {
    for entry in std::fs::read_dir(format!("{}/tests/data/manifests", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let m = file(&name);
        println!("== {name} {}", m.documents.len());
        let mut c = std::collections::BTreeMap::new();
        for d in &m.documents {
            *c.entry(d.object.kind()).or_insert(0) += 1;
        }
        println!("{c:?}");
        for d in &m.diagnostics {
            println!("{:?} {}:{}+{} {} | {:?}", d.severity, d.line, d.column, d.length, d.message, d.hint);
        }
    }
    let _ = (Kind::Pod, Severity::Error);
}
