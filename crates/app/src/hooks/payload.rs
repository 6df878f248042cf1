//! The body of a call as templates know it: JSON, the fields of a form, or an empty map.

use mainspring_model::ErrorCode;
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// What a body says. Without a media type it is JSON.
pub(super) fn read(kind: Option<&str>, body: &[u8]) -> Result<Value> {
    if body.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match kind {
        None => json(body),
        Some(kind) if kind == "application/json" || kind.ends_with("+json") => json(body),
        Some("application/x-www-form-urlencoded") => Ok(form(body)),
        Some(_) => {
            let message = "send `application/json`, `application/x-www-form-urlencoded` or an empty body";
            Err(Error::new(ErrorCode::UnsupportedMediaType, message))
        }
    }
}

fn json(body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body).map_err(|error| {
        Error::field(ErrorCode::InvalidRequest, "payload", format!("is not valid JSON: {error}"))
    })
}

/// Fields are text; those that come more than once are lists.
fn form(body: &[u8]) -> Value {
    let mut fields = Map::new();
    for (name, value) in form_urlencoded::parse(body) {
        let value = Value::String(value.into_owned());
        match fields.get_mut(&*name) {
            None => drop(fields.insert(name.into_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_json_forms_or_empty() {
        let check = |kind: Option<&str>, body: &str, expected: Value| {
            assert_eq!(read(kind, body.as_bytes()).unwrap(), expected, "{body}");
        };
        check(None, "", json!({}));
        check(Some("text/plain"), "", json!({}));
        check(None, "[1]", json!([1]));
        check(Some("application/cloudevents+json"), r#"{"a":1}"#, json!({"a": 1}));
        check(
            Some("application/x-www-form-urlencoded"),
            "a=1&b=x+y%21&a=2&a=3",
            json!({"a": ["1", "2", "3"], "b": "x y!"}),
        );
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let wrong = read(None, b"{\"a\":").unwrap_err();
        assert_eq!((wrong.code, wrong.fields[0].path.as_str()), (ErrorCode::InvalidRequest, "payload"));
        assert_eq!(read(Some("text/xml"), b"<a/>").unwrap_err().code, ErrorCode::UnsupportedMediaType);
    }
}
