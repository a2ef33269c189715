//! kubectl's verbs with their flags, and the nearest to one that is none.

use super::flags::Flag;
use super::{
    Context, Done, Failure, annotate, apply, autoscale, create, delete, describe, diff, discovery, drain, edit, events,
    explain, expose, get, node, patch, rollout, run, scale, set, taint, top, wait,
};

/// What carries a verb out.
pub type Act = fn(&mut Context<'_>) -> Result<Done, Failure>;

/// A verb, or a verb with what it is about: `rollout status`.
pub struct Verb {
    pub name: &'static str,
    pub flags: &'static [&'static [Flag]],
    pub act: Act,
}

/// Flags of every verb.
pub const GLOBAL: &[Flag] = &[
    ("as", "", 's', ""),
    ("as-group", "", 's', ""),
    ("as-uid", "", 's', ""),
    ("as-user-extra", "", 's', ""),
    ("cache-dir", "", 's', ""),
    ("certificate-authority", "", 's', ""),
    ("client-certificate", "", 's', ""),
    ("client-key", "", 's', ""),
    ("cluster", "", 's', ""),
    ("context", "", 's', ""),
    ("disable-compression", "", 'b', ""),
    ("help", "h", 'b', ""),
    ("insecure-skip-tls-verify", "", 'b', ""),
    ("kubeconfig", "", 's', ""),
    ("kuberc", "", 's', ""),
    ("log-flush-frequency", "", 's', ""),
    ("match-server-version", "", 'b', ""),
    ("namespace", "n", 's', ""),
    ("password", "", 's', ""),
    ("profile", "", 's', ""),
    ("profile-output", "", 's', ""),
    ("request-timeout", "", 's', ""),
    ("server", "s", 's', ""),
    ("tls-server-name", "", 's', ""),
    ("token", "", 's', ""),
    ("user", "", 's', ""),
    ("username", "", 's', ""),
    ("v", "v", 's', ""),
    ("vmodule", "", 's', ""),
    ("warnings-as-errors", "", 'b', ""),
];

const PRINT: &[Flag] = &[
    ("allow-missing-template-keys", "", 'b', ""),
    ("output", "o", 's', ""),
    ("show-managed-fields", "", 'b', ""),
    ("template", "", 's', ""),
];
const FILES: &[Flag] = &[("filename", "f", 'l', ""), ("kustomize", "k", 's', ""), ("recursive", "R", 'b', "")];
const SELECT: &[Flag] = &[("selector", "l", 's', "")];
const FIELDS: &[Flag] = &[("field-selector", "", 's', "")];
const ALL: &[Flag] = &[("all", "", 'b', "")];
const SPACES: &[Flag] = &[("all-namespaces", "A", 'b', "")];
const DRY: &[Flag] = &[("dry-run", "", 'n', "unchanged")];
const MANAGER: &[Flag] = &[("field-manager", "", 's', "")];
const SAVE: &[Flag] = &[("save-config", "", 'b', ""), ("validate", "", 'n', "strict")];
const LOCAL: &[Flag] = &[("local", "", 'b', "")];
const TIMEOUT: &[Flag] = &[("timeout", "", 'd', "")];
const CREATE: &[Flag] = &[
    ("save-config", "", 'b', ""),
    ("validate", "", 'n', "strict"),
    ("edit", "", 'b', ""),
    ("raw", "", 's', ""),
    ("windows-line-endings", "", 'b', ""),
];
const DELETING: &[Flag] =
    &[("cascade", "", 'n', "background"), ("force", "", 'b', ""), ("grace-period", "", 'i', ""), ("wait", "", 'b', "")];
const TABLE: &[Flag] = &[
    ("chunk-size", "", 'i', ""),
    ("ignore-not-found", "", 'b', ""),
    ("label-columns", "L", 'l', ""),
    ("no-headers", "", 'b', ""),
    ("output-watch-events", "", 'b', ""),
    ("raw", "", 's', ""),
    ("server-print", "", 'b', ""),
    ("show-kind", "", 'b', ""),
    ("show-labels", "", 'b', ""),
    ("sort-by", "", 's', ""),
    ("subresource", "", 's', ""),
    ("watch", "w", 'b', ""),
    ("watch-only", "", 'b', ""),
];
const APPLY: &[Flag] = &[
    ("force-conflicts", "", 'b', ""),
    ("openapi-patch", "", 'b', ""),
    ("overwrite", "", 'b', ""),
    ("prune", "", 'b', ""),
    ("prune-allowlist", "", 'l', ""),
    ("server-side", "", 'b', ""),
    ("subresource", "", 's', ""),
    ("validate", "", 'n', "strict"),
];
const LABEL: &[Flag] = &[("list", "", 'b', ""), ("overwrite", "", 'b', ""), ("resource-version", "", 's', "")];
const TOP: &[Flag] = &[
    ("containers", "", 'b', ""),
    ("no-headers", "", 'b', ""),
    ("show-capacity", "", 'b', ""),
    ("show-swap", "", 'b', ""),
    ("sort-by", "", 's', ""),
    ("sum", "", 'b', ""),
    ("use-protocol-buffers", "", 'b', ""),
];

const fn verb(name: &'static str, flags: &'static [&'static [Flag]], act: Act) -> Verb {
    Verb { name, flags, act }
}

/// All verbs that are simulated; of two that begin alike the longer one comes first.
#[rustfmt::skip]
pub const VERBS: &[Verb] = &[
    verb("get", &[PRINT, FILES, SELECT, FIELDS, SPACES, TABLE], get::get),
    verb("describe", &[FILES, SELECT, SPACES, &[("chunk-size", "", 'i', ""), ("show-events", "", 'b', "")]], describe::describe),
    verb("apply view-last-applied", &[FILES, SELECT, ALL, &[("output", "o", 's', "")]], apply::view_last_applied),
    verb("apply", &[PRINT, FILES, SELECT, ALL, DRY, MANAGER, DELETING, TIMEOUT, APPLY], apply::apply),
    verb("diff", &[FILES, SELECT, MANAGER, APPLY, &[("concurrency", "", 'i', ""), ("show-managed-fields", "", 'b', "")]], diff::diff),
    verb("create deployment", &[PRINT, DRY, MANAGER, SAVE, &[("image", "", 'l', ""), ("port", "", 'i', ""), ("replicas", "r", 'i', "")]], create::deployment),
    verb("create namespace", &[PRINT, DRY, MANAGER, SAVE], create::namespace),
    verb("create configmap", &[PRINT, DRY, MANAGER, SAVE, &[("append-hash", "", 'b', ""), ("from-env-file", "", 's', ""), ("from-file", "", 's', ""), ("from-literal", "", 's', "")]], create::configmap),
    verb("create quota", &[PRINT, DRY, MANAGER, SAVE, &[("hard", "", 's', ""), ("scopes", "", 's', "")]], create::quota),
    verb("create poddisruptionbudget", &[PRINT, DRY, MANAGER, SAVE, &[("max-unavailable", "", 's', ""), ("min-available", "", 's', ""), ("selector", "", 's', "")]], create::budget),
    verb("create job", &[PRINT, DRY, MANAGER, SAVE, &[("from", "", 's', ""), ("image", "", 's', "")]], create::job),
    verb("create service clusterip", &[PRINT, DRY, MANAGER, SAVE, &[("clusterip", "", 's', ""), ("tcp", "", 'l', "")]], create::clusterip),
    verb("create", &[PRINT, FILES, SELECT, DRY, MANAGER, CREATE], create::create),
    verb("run", &[PRINT, FILES, DRY, MANAGER, DELETING, TIMEOUT, &[
        ("annotations", "", 's', ""), ("attach", "", 'b', ""), ("command", "", 'b', ""), ("env", "", 's', ""), ("expose", "", 'b', ""), ("image", "", 's', ""),
        ("image-pull-policy", "", 's', ""), ("labels", "l", 's', ""), ("leave-stdin-open", "", 'b', ""), ("override-type", "", 's', ""), ("overrides", "", 's', ""),
        ("pod-running-timeout", "", 'd', ""), ("port", "", 's', ""), ("privileged", "", 'b', ""), ("quiet", "q", 'b', ""), ("restart", "", 's', ""), ("rm", "", 'b', ""),
        ("save-config", "", 'b', ""), ("stdin", "i", 'b', ""), ("tty", "t", 'b', "")]], run::run),
    verb("expose", &[PRINT, FILES, DRY, MANAGER, &[
        ("cluster-ip", "", 's', ""), ("external-ip", "", 's', ""), ("labels", "l", 's', ""), ("load-balancer-ip", "", 's', ""), ("name", "", 's', ""), ("override-type", "", 's', ""),
        ("overrides", "", 's', ""), ("port", "", 's', ""), ("protocol", "", 's', ""), ("save-config", "", 'b', ""), ("selector", "", 's', ""), ("session-affinity", "", 's', ""),
        ("target-port", "", 's', ""), ("type", "", 's', "")]], expose::expose),
    verb("delete", &[FILES, SELECT, FIELDS, SPACES, ALL, DRY, DELETING, TIMEOUT, &[("ignore-not-found", "", 'b', ""), ("interactive", "i", 'b', ""), ("now", "", 'b', ""), ("output", "o", 's', ""), ("raw", "", 's', "")]], delete::delete),
    verb("scale", &[PRINT, FILES, SELECT, ALL, DRY, TIMEOUT, &[("current-replicas", "", 'i', ""), ("replicas", "", 'i', ""), ("resource-version", "", 's', "")]], scale::scale),
    verb("autoscale", &[PRINT, FILES, DRY, MANAGER, &[("cpu", "", 's', ""), ("cpu-percent", "", 'i', ""), ("max", "", 'i', ""), ("memory", "", 's', ""), ("min", "", 'i', ""), ("name", "", 's', ""), ("save-config", "", 'b', "")]], autoscale::autoscale),
    verb("set image", &[PRINT, FILES, SELECT, ALL, DRY, MANAGER, LOCAL], set::image),
    verb("set resources", &[PRINT, FILES, SELECT, ALL, DRY, MANAGER, LOCAL, &[("containers", "c", 's', ""), ("limits", "", 's', ""), ("requests", "", 's', "")]], set::resources),
    verb("set env", &[PRINT, FILES, SELECT, ALL, DRY, MANAGER, LOCAL, &[("containers", "c", 's', ""), ("env", "e", 's', ""), ("from", "", 's', ""), ("keys", "", 'l', ""), ("list", "", 'b', ""), ("overwrite", "", 'b', ""), ("prefix", "", 's', ""), ("resolve", "", 'b', "")]], set::env),
    verb("edit", &[PRINT, FILES, MANAGER, SAVE, &[("output-patch", "", 'b', ""), ("subresource", "", 's', ""), ("windows-line-endings", "", 'b', "")]], edit::edit),
    verb("patch", &[PRINT, FILES, DRY, MANAGER, LOCAL, &[("patch", "p", 's', ""), ("patch-file", "", 's', ""), ("subresource", "", 's', ""), ("type", "", 's', "")]], patch::patch),
    verb("label", &[PRINT, FILES, SELECT, FIELDS, SPACES, ALL, DRY, MANAGER, LOCAL, LABEL], annotate::label),
    verb("annotate", &[PRINT, FILES, SELECT, FIELDS, SPACES, ALL, DRY, MANAGER, LOCAL, LABEL], annotate::annotate),
    verb("taint", &[PRINT, SELECT, ALL, DRY, MANAGER, &[("overwrite", "", 'b', ""), ("validate", "", 'n', "strict")]], taint::taint),
    verb("cordon", &[SELECT, DRY], node::cordon),
    verb("uncordon", &[SELECT, DRY], node::uncordon),
    verb("drain", &[SELECT, DRY, TIMEOUT, &[
        ("chunk-size", "", 'i', ""), ("delete-emptydir-data", "", 'b', ""), ("disable-eviction", "", 'b', ""), ("force", "", 'b', ""), ("grace-period", "", 'i', ""),
        ("ignore-daemonsets", "", 'b', ""), ("pod-selector", "", 's', ""), ("skip-wait-for-delete-timeout", "", 'i', "")]], drain::drain),
    verb("rollout status", &[FILES, SELECT, TIMEOUT, &[("revision", "", 'i', ""), ("watch", "w", 'b', "")]], rollout::status),
    verb("rollout history", &[PRINT, FILES, SELECT, &[("revision", "", 'i', "")]], rollout::history),
    verb("rollout undo", &[PRINT, FILES, SELECT, DRY, &[("to-revision", "", 'i', "")]], rollout::undo),
    verb("rollout pause", &[PRINT, FILES, SELECT, MANAGER], rollout::pause),
    verb("rollout resume", &[PRINT, FILES, SELECT, MANAGER], rollout::resume),
    verb("rollout restart", &[PRINT, FILES, SELECT, MANAGER], rollout::restart),
    verb("rollout", &[], rollout::rollout),
    verb("set", &[], set::set),
    verb("wait", &[PRINT, FILES, SELECT, FIELDS, SPACES, ALL, LOCAL, TIMEOUT, &[("for", "", 's', "")]], wait::wait),
    verb("top pods", &[SELECT, FIELDS, SPACES, TOP], top::pods),
    verb("top nodes", &[SELECT, TOP], top::nodes),
    verb("top", &[], top::top),
    verb("events", &[PRINT, SPACES, &[("chunk-size", "", 'i', ""), ("for", "", 's', ""), ("no-headers", "", 'b', ""), ("types", "", 'l', ""), ("watch", "w", 'b', "")]], events::events),
    verb("explain", &[&[("api-version", "", 's', ""), ("output", "o", 's', ""), ("recursive", "", 'b', "")]], explain::explain),
    verb("api-resources", &[&[("api-group", "", 's', ""), ("cached", "", 'b', ""), ("categories", "", 'l', ""), ("namespaced", "", 'b', ""), ("no-headers", "", 'b', ""), ("output", "o", 's', ""), ("show-managed-fields", "", 'b', ""), ("sort-by", "", 's', ""), ("verbs", "", 'l', "")]], discovery::api_resources),
    verb("api-versions", &[], discovery::api_versions),
    verb("version", &[&[("client", "", 'b', ""), ("output", "o", 's', "")]], discovery::version),
    verb("config view", &[PRINT, &[("flatten", "", 'b', ""), ("merge", "", 's', ""), ("minify", "", 'b', ""), ("raw", "", 'b', "")]], discovery::config_view),
    verb("config current-context", &[], discovery::current_context),
    verb("config get-contexts", &[&[("no-headers", "", 'b', ""), ("output", "o", 's', "")]], discovery::get_contexts),
    verb("config set-context", &[&[("cluster", "", 's', ""), ("current", "", 'b', ""), ("namespace", "n", 's', ""), ("user", "", 's', "")]], discovery::set_context),
];

/// All of kubectl's own verbs, in its order.
pub const KNOWN: [&str; 46] = [
    "create",
    "expose",
    "run",
    "set",
    "explain",
    "get",
    "edit",
    "delete",
    "rollout",
    "scale",
    "autoscale",
    "certificate",
    "cluster-info",
    "top",
    "cordon",
    "uncordon",
    "drain",
    "taint",
    "describe",
    "logs",
    "attach",
    "exec",
    "port-forward",
    "proxy",
    "cp",
    "auth",
    "debug",
    "events",
    "diff",
    "apply",
    "patch",
    "replace",
    "wait",
    "kustomize",
    "label",
    "annotate",
    "completion",
    "alpha",
    "api-resources",
    "api-versions",
    "config",
    "plugin",
    "version",
    "options",
    "kuberc",
    "help",
];

/// Other names of what a verb is about.
pub fn canonical(word: &str) -> &str {
    match word {
        "deploy" => "deployment",
        "ns" => "namespace",
        "cm" => "configmap",
        "resourcequota" => "quota",
        "pdb" => "poddisruptionbudget",
        "svc" => "service",
        "pod" | "po" => "pods",
        "node" | "no" => "nodes",
        other => other,
    }
}

/// The verb that a line begins with, and how many of its words name it.
pub fn find(words: &[&str]) -> Option<(&'static Verb, usize)> {
    VERBS.iter().find_map(|verb| {
        let mut parts = 0;
        for (index, part) in verb.name.split(' ').enumerate() {
            let word = words.get(index)?;
            let named = if index == 0 || words[0] == "rollout" || words[0] == "set" { word } else { canonical(word) };
            if named != part {
                return None;
            }
            parts = index + 1;
        }
        Some((verb, parts))
    })
}

/// How many letters must change (Levenshtein).
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}

/// kubectl's words for a verb that it does not know.
pub fn unknown(word: &str) -> String {
    let mut text = ["error: unknown command \"", word, "\" for \"kubectl\"\n"].concat();
    let lower = word.to_ascii_lowercase();
    if word.len() > 64 {
        return text;
    }
    let near: Vec<&str> = KNOWN
        .into_iter()
        .filter(|it| distance(&lower, it) <= 2 || (!lower.is_empty() && it.starts_with(&lower)))
        .collect();
    if !near.is_empty() {
        text += "\nDid you mean this?\n";
        for it in near {
            text += &["\t", it, "\n"].concat();
        }
    }
    text
}
