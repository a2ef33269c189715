//! `kubectl explain`: which fields there are. Their descriptions are a megabyte of text, which is not carried along.

use super::resources;
use super::{Context, Done, Failure};

pub fn explain(context: &mut Context<'_>) -> Result<Done, Failure> {
    let Some(path) = context.args.words.first().cloned() else {
        return Err(Failure::error(
            "You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    };
    let mut parts = path.split('.');
    let word = parts.next().unwrap_or_default();
    let Some(kind) = resources::kind_of(word) else {
        return Err(Failure::plain(["the server doesn't have a resource type \"", word, "\""].concat()));
    };
    let fields: Vec<&str> = parts.collect();
    if let Some(unknown) = crate::manifest::unknown_field(kind, &fields) {
        let group = kind.group();
        if !group.is_empty() {
            context.line(&["GROUP:      ", group]);
        }
        context.line(&["KIND:       ", kind.name()]);
        context.line(&["VERSION:    ", kind.version()]);
        context.line(&[""]);
        return Err(Failure::errors(&["field \"", &unknown, "\" does not exist"]));
    }
    Err(Failure::not_simulated(
        "the text of kubectl explain",
        "There is such a field; https://kubernetes.io/docs/reference/kubernetes-api/ says what it means",
    ))
}
