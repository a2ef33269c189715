//! JSON patch (RFC 6902), with what the API server's library says of an operation that does not apply
//! (`evanphx/json-patch`, as `apiserver/pkg/endpoints/handlers/patch.go` v1.36 uses it).

use serde_json::Value;

use super::{ApiError, FieldError, Reason};

/// Operations in one patch at the most (`maxJSONPatchOperations`).
const MAX_OPERATIONS: usize = 10_000;

/// Carries out every operation of a patch, or none.
pub(super) fn json_patch(target: &mut Value, patch: &Value) -> Result<(), ApiError> {
    let Value::Array(operations) = patch else {
        let message = "json: cannot unmarshal object into Go value of type jsonpatch.Patch".to_string();
        return Err(ApiError::new(Reason::BadRequest, message));
    };
    if operations.len() > MAX_OPERATIONS {
        let message =
            format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}", operations.len());
        return Err(ApiError::new(Reason::BadRequest, message));
    }
    let mut result = target.clone();
    for operation in operations {
        apply(&mut result, operation).map_err(refuse)?;
    }
    *target = result;
    Ok(())
}

/// What the server answers keeps to itself what was wrong; here it is told beside.
fn refuse(why: String) -> ApiError {
    let message = "the server rejected our request due to an error in our request".to_string();
    ApiError { reason: Reason::Invalid, message, fields: vec![FieldError { path: String::new(), message: why }] }
}

fn apply(document: &mut Value, operation: &Value) -> Result<(), String> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str).unwrap_or_default();
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    let (op, path, from) = (text("op"), text("path"), text("from"));
    match op {
        "add" => add(document, path, value(), "add"),
        "remove" => remove(document, path).map(drop),
        "replace" => {
            let missing = || missing("replace", "key", path);
            *document.pointer_mut(path).ok_or_else(missing)? = value();
            Ok(())
        }
        "move" => {
            let moved = document.pointer(from).is_some().then(|| remove(document, from));
            add(document, path, moved.ok_or_else(|| missing("move", "path", from))??, "move")
        }
        "copy" => {
            let copied = document.pointer(from).cloned().ok_or_else(|| missing("copy", "from path", from))?;
            add(document, path, copied, "copy")
        }
        "test" => {
            // A member that is not there is equal to null.
            let is_equal = document.pointer(path).unwrap_or(&Value::Null) == &value();
            if is_equal { Ok(()) } else { Err(format!("testing value {path} failed: test failed")) }
        }
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn missing(op: &str, what: &str, path: &str) -> String {
    format!("{op} operation does not apply: doc is missing {what}: {path}: missing value")
}

/// The parent of a path and the name of the member in it.
fn split(path: &str) -> Option<(&str, String)> {
    let (parent, member) = path.rsplit_once('/')?;
    Some((parent, member.replace("~1", "/").replace("~0", "~")))
}

fn add(document: &mut Value, path: &str, value: Value, op: &str) -> Result<(), String> {
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let missing = || format!("{op} operation does not apply: doc is missing path: \"{path}\": missing value");
    let (parent, member) = split(path).ok_or_else(missing)?;
    match document.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.insert(member, value);
        }
        Some(Value::Array(list)) if member == "-" => list.push(value),
        Some(Value::Array(list)) => {
            let index = member.parse::<usize>().map_err(|_| missing())?;
            if index > list.len() {
                return Err(format!(
                    "{op} operation does not apply: Unable to access invalid index: {index}: invalid index referenced"
                ));
            }
            list.insert(index, value);
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Result<Value, String> {
    let missing = || format!("remove operation does not apply: doc is missing path: \"{path}\": missing value");
    let (parent, member) = split(path).ok_or_else(missing)?;
    match document.pointer_mut(parent) {
        Some(Value::Object(map)) => map.remove(&member).ok_or_else(|| {
            format!("remove operation does not apply: Unable to remove nonexistent key: {member}: missing value")
        }),
        Some(Value::Array(list)) => match member.parse::<usize>() {
            Ok(index) if index < list.len() => Ok(list.remove(index)),
            _ => Err(format!(
                "remove operation does not apply: Unable to access invalid index: {member}: invalid index referenced"
            )),
        },
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(patch: Value) -> Result<Value, ApiError> {
        let mut document = json!({"a": {"b": [1, 2], "c/d": "x"}});
        json_patch(&mut document, &patch).map(|()| document)
    }

    #[test]
    fn each_operation_does_what_the_standard_says() {
        let patch = json!([
            {"op": "test", "path": "/a/b/0", "value": 1},
            {"op": "add", "path": "/a/b/-", "value": 3},
            {"op": "add", "path": "/a/b/0", "value": 0},
            {"op": "replace", "path": "/a/c~1d", "value": "y"},
            {"op": "copy", "from": "/a/c~1d", "path": "/e"},
            {"op": "move", "from": "/a/b/1", "path": "/f"},
            {"op": "remove", "path": "/a/c~1d"}
        ]);
        assert_eq!(patched(patch).unwrap(), json!({"a": {"b": [0, 2, 3]}, "e": "y", "f": 1}));
    }

    #[test]
    fn what_does_not_apply_is_refused_whole_with_the_servers_words() {
        for (operation, why) in [
            (
                json!({"op": "replace", "path": "/a/x", "value": 1}),
                "replace operation does not apply: doc is missing key: /a/x: missing value",
            ),
            (
                json!({"op": "remove", "path": "/a/x"}),
                "remove operation does not apply: Unable to remove nonexistent key: x: missing value",
            ),
            (
                json!({"op": "add", "path": "/x/y", "value": 1}),
                "add operation does not apply: doc is missing path: \"/x/y\": missing value",
            ),
            (json!({"op": "test", "path": "/a/b/0", "value": 9}), "testing value /a/b/0 failed: test failed"),
            (json!({"op": "paint", "path": "/a"}), "Unexpected kind: paint"),
        ] {
            let error = patched(json!([{"op": "remove", "path": "/a/b"}, operation])).unwrap_err();
            assert_eq!(
                (error.code(), error.message.as_str()),
                (422, "the server rejected our request due to an error in our request")
            );
            assert_eq!(error.fields[0].message, why);
        }
        assert_eq!(patched(json!({"op": "add"})).unwrap_err().code(), 400);
    }
}
