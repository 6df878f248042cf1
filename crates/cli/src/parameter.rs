//! Values of parameters on the command line: `-p day=2026-01-31 -p limit=5 -p 'tables=["a","b"]'`.

use serde_json::{Map, Value};

use crate::context::Context;
use crate::failure::Failure;

/// A `key=value` of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl std::str::FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not `key=value`"))?;
        if key.is_empty() {
            return Err(format!("`{text}` has no key before the `=`"));
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}

/// The values with the types that the job gives them; none when there are none.
pub(crate) async fn values_for(
    context: &Context,
    job: &str,
    pairs: &[Pair],
) -> Result<Option<Map<String, Value>>, Failure> {
    if pairs.is_empty() {
        return Ok(None);
    }
    let spec = context.job(job).await?.spec.unwrap_or_default();
    Ok(Some(typed(&spec, pairs)))
}

/// The values with the types that a specification gives them.
pub(crate) fn typed(spec: &Value, pairs: &[Pair]) -> Map<String, Value> {
    pairs
        .iter()
        .map(|pair| {
            let declared = &spec["parameters"][&pair.key];
            let kind = declared["type"].as_str().or_else(|| declared.as_str());
            (pair.key.clone(), read(kind, &pair.value))
        })
        .collect()
}

/// Text stays text where the job wants text; otherwise what reads as JSON is JSON. The server has the last word.
fn read(kind: Option<&str>, text: &str) -> Value {
    match kind {
        Some("string" | "enum") => text.into(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_job_says_what_a_value_is() {
        let spec = json!({ "parameters": { "day": { "type": "string" }, "limit": { "type": "integer" }, "zone": "string" } });
        let pairs: Vec<Pair> = ["day=20260131", "limit=5", "zone=1", "other=[1]", "word=x=y"]
            .map(|text| text.parse().unwrap())
            .into();
        let expected = json!({ "day": "20260131", "limit": 5, "zone": "1", "other": [1], "word": "x=y" });
        assert_eq!(Value::Object(typed(&spec, &pairs)), expected);
        assert!("day".parse::<Pair>().is_err() && "=x".parse::<Pair>().is_err());
    }
}
