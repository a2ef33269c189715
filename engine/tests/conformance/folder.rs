//! Where recordings and tables are.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// A folder with `traces/` and `tables/`.
pub struct Folder(PathBuf);

impl Folder {
    /// The one that `CONFORMANCE_DIR` names, from here or from the workspace, or the project's own.
    pub fn chosen() -> Self {
        let Some(named) = std::env::var_os("CONFORMANCE_DIR").map(PathBuf::from) else { return Self::own() };
        let in_workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&named);
        Self(if !named.exists() && in_workspace.exists() { in_workspace } else { named })
    }

    pub fn own() -> Self {
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"))
    }

    /// Names of all recordings without their endings, in order.
    pub fn traces(&self) -> Vec<String> {
        self.names("traces")
    }

    /// Names of all tables without their endings, in order.
    pub fn tables(&self) -> Vec<String> {
        self.names("tables")
    }

    pub fn trace(&self, name: &str) -> Result<String, String> {
        read(&self.0.join("traces"), name)
    }

    pub fn table(&self, name: &str) -> Result<String, String> {
        read(&self.0.join("tables"), name)
    }

    fn names(&self, part: &str) -> Vec<String> {
        let files = std::fs::read_dir(self.0.join(part)).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        let stems = |name: String| {
            let plain = name.strip_suffix(".gz").unwrap_or(&name);
            plain.strip_suffix(".json").map(str::to_string)
        };
        let mut names: Vec<String> = names.filter_map(stems).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// `name.json`, or `name.json.gz` as the project keeps its own.
fn read(folder: &Path, name: &str) -> Result<String, String> {
    let file = folder.join(format!("{name}.json"));
    if let Ok(text) = std::fs::read_to_string(&file) {
        return Ok(text);
    }
    let packed = std::fs::File::open(folder.join(format!("{name}.json.gz")));
    let mut text = String::new();
    let unpacked = packed.and_then(|it| GzDecoder::new(it).read_to_string(&mut text));
    unpacked.map(|_| text).map_err(|error| format!("cannot be read: {error}"))
}
