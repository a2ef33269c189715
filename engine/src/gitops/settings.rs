use serde::{Deserialize, Serialize};

/// How an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Preset {
    /// Polls, compares on every change that a watch tells, and applies as a client
    /// (argo-cd `controller/appcontroller.go`, `docs/user-guide/auto_sync.md`).
    ArgoCd,
    /// Applies all of Git every interval by server-side apply, and looks at nothing in between
    /// (kustomize-controller `docs/spec/v1/kustomizations.md`).
    Flux,
}

impl Preset {
    pub const ALL: [Preset; 2] = [Preset::ArgoCd, Preset::Flux];

    /// As commands name it.
    pub fn word(self) -> &'static str {
        match self {
            Preset::ArgoCd => "argocd",
            Preset::Flux => "flux",
        }
    }

    /// The program, by which it is stopped and started.
    pub fn program(self) -> &'static str {
        match self {
            Preset::ArgoCd => "argocd-application-controller",
            Preset::Flux => "kustomize-controller",
        }
    }

    /// Its field manager.
    pub fn manager(self) -> &'static str {
        match self {
            Preset::ArgoCd => "argocd-controller",
            Preset::Flux => "kustomize-controller",
        }
    }
}

/// A field in which Git and the cluster may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ignored {
    /// `Deployment`
    pub kind: String,
    /// A JSON pointer: `/spec/replicas`.
    pub pointer: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    pub preset: Preset,
    /// Syncs by itself.
    pub automated: bool,
    /// Deletes what is no longer in Git.
    pub prune: bool,
    /// Syncs again where the cluster has changed and Git has not.
    pub self_heal: bool,
    /// Lets a repository without objects delete everything.
    pub allow_empty: bool,
    /// Git tells of commits.
    pub webhook: bool,
    pub interval_ms: u64,
    pub ignored: Vec<Ignored>,
    /// Leaves ignored fields alone when it syncs, too.
    pub respect_ignored: bool,
}

impl Settings {
    /// As the product is where nobody sets anything; automated, since it would be no loop without.
    pub fn of(preset: Preset) -> Self {
        let is_flux = preset == Preset::Flux;
        Self {
            preset,
            automated: true,
            prune: is_flux,
            self_heal: false,
            allow_empty: false,
            webhook: false,
            interval_ms: if is_flux { 600_000 } else { 120_000 },
            ignored: Vec::new(),
            respect_ignored: false,
        }
    }

    /// The most that chance adds to the interval, in ms.
    pub fn jitter_ms(&self) -> u64 {
        if self.preset == Preset::ArgoCd { 60_000 } else { 0 }
    }

    /// Whether a field such as `.spec.replicas`, or what it is in, is one that may differ.
    pub fn ignores(&self, kind: &str, path: &str) -> bool {
        let is_within = |it: &Ignored| {
            let whole = it.pointer.replace('/', ".");
            path.strip_prefix(whole.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.ignored.iter().any(|it| it.kind == kind && is_within(it))
    }
}
