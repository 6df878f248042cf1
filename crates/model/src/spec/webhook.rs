//! Webhooks: what a trigger that follows calls of a URL says, and what a call gives to the run that it makes.
//!
//! Templates know the call: `payload` (its body), `headers` (lower-case names) and `logical_time` (when it came). A template
//! that is one expression gives a value with its type; any other gives text, which is read as the parameter's type. Who may
//! call, and whether a signature is right, is decided where secrets are known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{Budget, LogicalTime, ParameterType, Parameters, Problem, Template, Trigger};
use crate::time::Timestamp;

/// Calls of a URL with a token of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Webhook {
    /// How callers sign the body; without it, the token alone lets them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// What is the same for the same delivery: a second call with the same text makes no second run. Text, rendered with the
    /// call: `{{ payload.id }}`, `{{ headers["x-github-delivery"] }}`.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Template>,
}

/// How callers sign the body: HMAC-SHA256 with the trigger's secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Signature {
    /// The header that carries it.
    #[schema(value_type = String, min_length = 1, max_length = 64)]
    pub header: Box<str>,
    /// What stands before it in the header, such as `sha256=`.
    #[schema(value_type = String)]
    #[serde(skip_serializing_if = "str::is_empty")]
    pub prefix: Box<str>,
    /// How its bytes are written.
    #[serde(skip_serializing_if = "Encoding::is_default")]
    pub encoding: Encoding,
}

/// How bytes are written as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Hexadecimal digits.
    #[default]
    Hex,
    /// Base64 with padding.
    Base64,
}

/// A call of a webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The body.
    pub payload: Value,
    /// The headers, by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// When it came.
    pub at: Timestamp,
}

impl Encoding {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Webhook {
    /// What is the same for the same delivery; none when each call counts.
    pub fn key(&self, call: &Call) -> Result<Option<String>, Problem> {
        let Some(dedupe) = &self.dedupe else { return Ok(None) };
        let wrong = |message: String| Problem::new("dedupe", message);
        match dedupe.render_call(call, &mut Budget::default()).map_err(wrong)? {
            key if key.is_empty() => {
                Err(wrong("is empty for this call, so it could not be told from others".into()))
            }
            key => Ok(Some(key)),
        }
    }
}

impl Trigger {
    /// The values that it gives for a call; everything that is wrong is reported, by parameter. A value that is null is left
    /// out.
    pub fn parameters_for(
        &self,
        call: &Call,
        declared: &Parameters,
    ) -> Result<Map<String, Value>, Vec<Problem>> {
        let (mut values, mut problems, mut budget) = (Map::new(), Vec::new(), Budget::default());
        for (name, value) in &self.parameters {
            let given = match value {
                Value::String(text) => Template::from(text.as_str()).evaluate_call(call, &mut budget),
                other => Ok(other.clone()),
            };
            match given {
                Ok(Value::Null) => {}
                Ok(value) => {
                    let kind = declared.0.get(name).map(|parameter| &parameter.kind);
                    values.insert(String::from(&**name), typed(kind, value));
                }
                Err(wrong) => problems.push(Problem::new(format!("parameters.{name}"), wrong)),
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }
}

impl Call {
    /// The moment it came, on the clock of UTC.
    pub(super) fn logical_time(&self) -> LogicalTime {
        LogicalTime::new(self.at, &mainspring_cron::Zone::UTC)
    }
}

/// Text stays text where the job wants text; otherwise what reads as JSON is JSON.
fn typed(kind: Option<&ParameterType>, value: Value) -> Value {
    match (kind, value) {
        (
            None | Some(ParameterType::String { .. } | ParameterType::Enum { .. } | ParameterType::Json),
            value,
        ) => value,
        (Some(_), Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        (Some(_), value) => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spec::{When, from_value};

    fn call(payload: Value) -> Call {
        let headers = [("x-id", "d-1"), ("x-size", "7")].map(|(name, value)| (name.into(), value.into()));
        // 2026-01-31T23:30:00Z.
        let at = Timestamp::from_micros(1_769_902_200_000_000);
        Call { payload, headers: headers.into(), at }
    }

    /// What a call gives to a parameter of this type by this template; or what is wrong.
    fn check(kind: &str, template: &str, payload: Value, expected: Result<Value, &str>) {
        let file = json!({
            "name": "x", "script": "true", "parameters": {"p": {"type": kind, "required": false}},
            "triggers": [{"webhook": {}, "parameters": {"p": template}}],
        });
        let job = from_value(&file).unwrap();
        let given = job.triggers[0].parameters_for(&call(payload), &job.parameters);
        match (given, expected) {
            (Ok(mut values), Ok(expected)) => {
                assert_eq!(values.remove("p").unwrap_or_default(), expected, "{template}");
            }
            (Err(problems), Err(words)) => {
                assert_eq!(problems[0].path, "parameters.p");
                assert!(problems[0].message.contains(words), "{template}: {problems:?}");
            }
            (given, expected) => panic!("{template}: {given:?}, not {expected:?}"),
        }
    }

    #[test]
    fn one_expression_keeps_its_type_and_other_text_is_read_as_the_parameter_wants() {
        let payload =
            || json!({"n": 5, "big": 9_007_199_254_740_993_i64, "s": "7", "o": {"a": [1, null]}, "no": null});
        check("integer", "{{ payload.n }}", payload(), Ok(json!(5)));
        check("integer", "{{payload.big}}", payload(), Ok(json!(9_007_199_254_740_993_i64)));
        check("object", "{{ payload.o }}", payload(), Ok(json!({"a": [1, null]})));
        check("json", "{{ payload }}", json!([1, {"x": true}]), Ok(json!([1, {"x": true}])));
        check("string", "{{ payload.s }}", payload(), Ok(json!("7")));
        check("integer", "{{ payload.s }}", payload(), Ok(json!(7)));
        check("integer", "{{ headers['x-size'] }}", payload(), Ok(json!(7)));
        check("integer", "1{{ payload.n }}", payload(), Ok(json!(15)));
        check("json", "{{ payload.s }}", payload(), Ok(json!("7")));
        check("string", "{{ payload.n }}/{{ headers['x-id'] }}", payload(), Ok(json!("5/d-1")));
        check("string", "{{ logical_time | date }}", payload(), Ok(json!("2026-01-31")));
        check("string", "{{ logical_time }}", payload(), Ok(json!("2026-01-31T23:30:00+00")));
        check("string", "plain", payload(), Ok(json!("plain")));
        check("integer", "{{ payload.no }}", payload(), Ok(Value::Null));
        check("string", "{{ payload.gone | default('x') }}", payload(), Ok(json!("x")));
        check("integer", "{{ payload.gone | default(none) }}", payload(), Ok(Value::Null));
    }

    #[test]
    fn what_a_call_lacks_is_told_by_parameter() {
        check("string", "{{ payload.gone }}", json!({}), Err("undefined"));
        check("string", "{{ payload.a.b }}", json!({}), Err("undefined"));
        check("string", "x{{ payload.gone }}", json!({}), Err("undefined"));
        check("string", "{{ headers['x-gone'] }}", json!({}), Err("undefined"));
        check("json", "{{ [payload, payload] }}", json!("x".repeat(5_000_000)), Err("bytes in all"));
    }

    #[test]
    fn the_key_tells_deliveries_apart() {
        let key = |dedupe: &str, payload: Value| {
            let file = json!({"name": "x", "script": "true", "triggers": [{"webhook": {"dedupe": dedupe}}]});
            match &from_value(&file).unwrap().triggers[0].when {
                When::Webhook { webhook } => webhook.key(&call(payload)),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(key("{{ payload.id }}", json!({"id": 5})), Ok(Some("5".into())));
        assert_eq!(key("{{ headers['x-id'] }}", json!({})), Ok(Some("d-1".into())));
        assert_eq!(key("{{ payload.id }}", json!({"id": ""})).unwrap_err().path, "dedupe");
        assert!(key("{{ payload.id }}", json!({})).unwrap_err().message.contains("undefined"));
    }
}
