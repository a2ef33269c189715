//! Which objects a line is about (`cli-runtime/pkg/resource/builder.go`, v1.36).

use super::selector::Selector;
use super::{Context, Failure, Problem};
use crate::api::{Kind, Name, Object, ObjectKey};
use crate::apiserver::{ApiError, Reason};
use crate::sim::sort_by;

/// What `all` stands for, in the order of the API's groups.
const ALL: [Kind; 10] = [
    Kind::Pod,
    Kind::ReplicationController,
    Kind::Service,
    Kind::DaemonSet,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::HorizontalPodAutoscaler,
    Kind::CronJob,
    Kind::Job,
];

/// Resources of Kubernetes that nothing here knows, by their plural and short names.
const STRANGE: [&str; 32] = [
    "bindings",
    "binding",
    "componentstatuses",
    "componentstatus",
    "cs",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "selfsubjectreviews",
    "tokenreviews",
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
    "certificatesigningrequests",
    "csr",
    "flowschemas",
    "prioritylevelconfigurations",
    "ipaddresses",
    "ip",
    "servicecidrs",
    "deviceclasses",
    "resourceclaims",
    "resourceclaimtemplates",
    "resourceslices",
    "csidrivers",
    "csinodes",
    "csistoragecapacities",
    "volumeattachments",
    "volumeattributesclasses",
    "vac",
    "certificatesigningrequest",
    "volumeattachment",
];

/// The singular of a plural as the API gives it.
pub fn singular(kind: Kind) -> String {
    kind.name().to_ascii_lowercase()
}

/// The kind that a word names: plural, singular, short, with version and group behind it or not.
pub fn kind_of(word: &str) -> Option<Kind> {
    let lower = word.to_ascii_lowercase();
    let (name, rest) = lower.split_once('.').unwrap_or((&lower, ""));
    let is_named = |kind: &Kind| kind.plural() == name || singular(*kind) == name || kind.short_names().contains(&name);
    let is_meant = |kind: &Kind| {
        let (group, version) = (kind.group(), kind.version());
        rest.is_empty()
            || rest == group
            || rest.strip_prefix(version).is_some_and(|it| it.strip_prefix('.').unwrap_or(it) == group)
            || (*kind == Kind::HorizontalPodAutoscaler && rest == "v1.autoscaling")
    };
    Kind::ALL.iter().copied().find(|kind| is_named(kind) && is_meant(kind))
}

fn kinds_of(words: &str) -> Result<Vec<Kind>, Failure> {
    let mut kinds = Vec::new();
    for word in words.split(',') {
        if word.is_empty() {
            return Err(Failure::error("arguments in resource/name form must have a single resource and name"));
        }
        if word == "all" {
            kinds.extend(ALL);
            continue;
        }
        match kind_of(word) {
            Some(kind) if !kinds.contains(&kind) => kinds.push(kind),
            Some(_) => {}
            None => return Err(no_type(word)),
        }
    }
    Ok(kinds)
}

/// kubectl's words for a type that there is not, or ours for one that there is in Kubernetes.
pub fn no_type(word: &str) -> Failure {
    let name = word.split('.').next().unwrap_or(word);
    let lower = name.to_ascii_lowercase();
    if STRANGE.contains(&lower.as_str()) {
        return Failure::not_simulated(&["the resource type \"", name, "\""].concat(), "");
    }
    Failure::errors(&["the server doesn't have a resource type \"", name, "\""])
}

/// What a verb takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    /// A type alone means all of it.
    pub type_alone: bool,
    pub all: bool,
    /// Objects of all namespaces.
    pub everywhere: bool,
    pub ignore_not_found: bool,
    /// Types alone are no mistake of the line, but find nothing.
    pub names_only: bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub objects: Vec<Object>,
    /// One object was asked for by its name, and nothing else.
    pub is_single: bool,
    pub kinds: Vec<Kind>,
    /// What was asked for by name.
    pub named: Vec<ObjectKey>,
}

pub const NOTHING: &str = "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'";

const MIXED: &str = "there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'";

/// Types, and objects by their types and names.
pub type Named = (Vec<Kind>, Vec<(Kind, String)>);

/// The types and the names that the words of a line stand for.
///
/// # Errors
/// kubectl's words for a line that says no such thing.
pub fn names(words: &[String]) -> Result<Named, Failure> {
    if words.iter().any(|word| word.contains('/')) {
        let mut named = Vec::new();
        for word in words {
            let Some((kind, name)) = word.split_once('/') else { return Err(Failure::error(MIXED)) };
            if kind.is_empty() || name.is_empty() || name.contains('/') {
                return Err(Failure::error("arguments in resource/name form must have a single resource and name"));
            }
            for kind in kinds_of(kind)? {
                named.push((kind, name.to_string()));
            }
        }
        return Ok((Vec::new(), named));
    }
    let Some((first, rest)) = words.split_first() else { return Ok((Vec::new(), Vec::new())) };
    let kinds = kinds_of(first)?;
    if rest.iter().any(|name| name.is_empty()) {
        return Err(Failure::error("resource name may not be empty"));
    }
    let named = kinds.iter().flat_map(|kind| rest.iter().map(|name| (*kind, name.clone()))).collect();
    Ok((kinds, named))
}

/// The objects of a kind, in the order of their namespaces and names.
pub fn of_kind(context: &Context<'_>, kind: Kind, namespace: Option<&Name>) -> Vec<Object> {
    list(context.cluster, kind, namespace)
}

/// The same, for those who have no line.
pub fn list(cluster: &dyn super::Cluster, kind: Kind, namespace: Option<&Name>) -> Vec<Object> {
    let is_there = |object: &&Object| namespace.is_none_or(|it| *it == object.meta().namespace);
    let mut found: Vec<Object> = cluster.api().objects().of_kind(kind).filter(is_there).cloned().collect();
    if kind == Kind::Event {
        let more = cluster.events().into_iter().filter_map(|it| Object::from_value(Kind::Event, it).ok());
        found.extend(more.filter(|object| is_there(&object)));
    }
    sort_by(&mut found, |a, b| {
        let (a, b) = (a.meta(), b.meta());
        (&*a.namespace, &*a.name).cmp(&(&*b.namespace, &*b.name))
    });
    found
}

impl Context<'_> {
    /// The namespace of a kind's objects on this line; `None` for all.
    pub fn space(&self, kind: Kind, everywhere: bool) -> Option<Name> {
        match kind.is_namespaced() {
            true if everywhere => None,
            true => Some(self.namespace()),
            false => Some(Name::default()),
        }
    }

    pub fn live(&self, kind: Kind, name: &str) -> Result<Object, ApiError> {
        let namespace = if kind.is_namespaced() { self.namespace() } else { Name::default() };
        self.live_in(kind, &namespace, name)
    }

    pub fn live_in(&self, kind: Kind, namespace: &Name, name: &str) -> Result<Object, ApiError> {
        let key = ObjectKey::new(kind, namespace.clone(), name);
        if kind == Kind::Event {
            let found = of_kind(self, kind, Some(namespace)).into_iter().find(|it| *it.meta().name == *name);
            return found.ok_or_else(|| ApiError::not_found(&key));
        }
        self.cluster.api().objects().get(&key).cloned().ok_or_else(|| ApiError::not_found(&key))
    }

    /// What `-l` and `--field-selector` say, held against the kinds that they are to select.
    pub fn selector(&self, kinds: &[Kind]) -> Result<Selector, Failure> {
        let (labels, fields) = (self.args.text("selector"), self.args.text("field-selector"));
        let refuse = |kind: Kind, why: &str| {
            let message = [
                "Unable to find \"",
                kind.group(),
                "/",
                kind.version(),
                ", Resource=",
                kind.plural(),
                "\" that match label selector \"",
                labels,
                "\", field selector \"",
                fields,
                "\": ",
                why,
            ];
            Failure::from(ApiError::new(Reason::BadRequest, message.concat()))
        };
        let selector = match Selector::parse(labels, fields) {
            Ok(selector) => selector,
            Err(why) if why.starts_with("invalid selector") => return Err(Failure::error(&why)),
            Err(why) => return Err(refuse(kinds.first().copied().unwrap_or(Kind::Pod), &why)),
        };
        for kind in kinds {
            if let Some(field) = selector.unknown_field(*kind) {
                return Err(refuse(*kind, &["field label not supported: ", field].concat()));
            }
        }
        Ok(selector)
    }

    /// The objects that the words of this line are about. Those that are not there are noted as problems.
    ///
    /// # Errors
    /// kubectl's words for a line that says no such thing.
    pub fn find(&mut self, words: &[String], wants: Wants) -> Result<Found, Failure> {
        let has_selector = self.args.has("selector") && !self.args.text("selector").is_empty();
        let has_fields = !self.args.text("field-selector").is_empty();
        if wants.all && has_selector {
            return Err(Failure::error("setting 'all' parameter but found a non empty selector. "));
        }
        if words.is_empty() {
            return Err(Failure::error(NOTHING));
        }
        let (kinds, named) = names(words)?;
        if named.is_empty() {
            if !(wants.type_alone || wants.all || has_selector || has_fields) {
                return Err(Failure::error("resource(s) were provided, but no name was specified"));
            }
            let selector = self.selector(&kinds)?;
            let mut found = Found { kinds: kinds.clone(), ..Found::default() };
            for kind in kinds {
                let space = self.space(kind, wants.everywhere);
                found.objects.extend(of_kind(self, kind, space.as_ref()).into_iter().filter(|it| selector.matches(it)));
            }
            return Ok(found);
        }
        if has_selector || has_fields {
            return Err(Failure::error("name cannot be provided when a selector is specified"));
        }
        if wants.everywhere && named.iter().any(|(kind, _)| kind.is_namespaced()) {
            return Err(Failure::error("a resource cannot be retrieved by name across all namespaces"));
        }
        let mut found = Found { is_single: named.len() == 1, ..Found::default() };
        for (kind, name) in &named {
            if !found.kinds.contains(kind) {
                found.kinds.push(*kind);
            }
            let namespace = if kind.is_namespaced() { self.namespace() } else { Name::default() };
            found.named.push(ObjectKey::new(*kind, namespace, name.as_str()));
            match self.live(*kind, name) {
                Ok(object) => found.objects.push(object),
                Err(_) if wants.ignore_not_found => {}
                Err(error) => self.problems.push(Problem::from(error)),
            }
        }
        Ok(found)
    }
}
