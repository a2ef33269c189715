use std::fmt;

use crate::api::{Kind, ObjectKey};

/// Why a request was refused, with Kubernetes' own reasons (`metav1.StatusReason`, apimachinery v1.36).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    /// Eviction against a disruption budget.
    TooManyRequests,
    /// No answer came.
    Timeout,
}

impl Reason {
    /// `Conflict`, as kubectl prints it after `Error from server`.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::AlreadyExists => "AlreadyExists",
            Reason::BadRequest => "BadRequest",
            Reason::Conflict => "Conflict",
            Reason::Forbidden => "Forbidden",
            Reason::InternalError => "InternalError",
            Reason::Invalid => "Invalid",
            Reason::NotFound => "NotFound",
            Reason::TooManyRequests => "TooManyRequests",
            Reason::Timeout => "Timeout",
        }
    }
}

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldError {
    /// `spec.template.spec.containers[0].image`
    pub path: String,
    /// The message without the path, such as `Invalid value: -1: must be greater than or equal to 0`.
    pub message: String,
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApiError {
    pub reason: Reason,
    /// The message as kubectl would print it after `Error from server (…)`.
    pub message: String,
    /// For `Invalid`, each wrong field.
    pub fields: Vec<FieldError>,
}

impl ApiError {
    pub fn new(reason: Reason, message: String) -> Self {
        Self { reason, message, fields: Vec::new() }
    }

    pub fn not_found(key: &ObjectKey) -> Self {
        Self::new(Reason::NotFound, format!("{} \"{}\" not found", key.kind.qualified_plural(), key.name))
    }

    pub fn already_exists(key: &ObjectKey) -> Self {
        Self::new(Reason::AlreadyExists, format!("{} \"{}\" already exists", key.kind.qualified_plural(), key.name))
    }

    /// What a client makes of a request that nobody answers.
    pub fn timeout(method: &str, key: &ObjectKey) -> Self {
        let path = format!("{}/{}", key.kind.plural(), key.name);
        let message =
            format!("{method} {path}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
        Self::new(Reason::Timeout, message)
    }

    pub fn conflict(key: &ObjectKey) -> Self {
        Self::new(
            Reason::Conflict,
            format!(
                "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest version and try again",
                key.kind.qualified_plural(),
                key.name
            ),
        )
    }

    /// What admission refuses: `pods "p" is forbidden: …`.
    pub fn forbidden(key: &ObjectKey, why: impl fmt::Display) -> Self {
        let message = format!("{} \"{}\" is forbidden: {why}", key.kind.qualified_plural(), key.name);
        Self::new(Reason::Forbidden, message)
    }

    /// Whether the namespace is on its way out, so that no creation in it can succeed (`NamespaceTerminatingCause`).
    pub fn is_namespace_terminating(&self) -> bool {
        self.reason == Reason::Forbidden && self.message.ends_with("because it is being terminated")
    }

    /// All wrong fields of one object, or nothing where there are none.
    pub fn invalid(kind: Kind, name: &str, fields: Vec<FieldError>) -> Result<(), Self> {
        if fields.is_empty() {
            return Ok(());
        }
        let mut details: Vec<String> =
            fields.iter().map(|field| format!("{}: {}", field.path, field.message)).collect();
        let details = if details.len() == 1 { details.remove(0) } else { format!("[{}]", details.join(", ")) };
        let message = format!("{} \"{name}\" is invalid: {details}", kind.qualified_name());
        Err(Self { reason: Reason::Invalid, message, fields })
    }

    /// The HTTP status code.
    pub fn code(&self) -> u16 {
        match self.reason {
            Reason::AlreadyExists | Reason::Conflict => 409,
            Reason::BadRequest => 400,
            Reason::Forbidden => 403,
            Reason::InternalError => 500,
            Reason::Invalid => 422,
            Reason::NotFound => 404,
            Reason::TooManyRequests => 429,
            Reason::Timeout => 504,
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
