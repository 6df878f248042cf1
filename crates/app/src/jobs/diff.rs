//! What differs between two specifications, by path. Pure.

use mainspring_model::JobSpec;
use mainspring_wire::api::Change;
use serde_json::Value;

use super::put::tree;

/// What differs between two specifications of one job. It is in its namespace whether or not a file says so.
pub(super) fn between(before: &JobSpec, after: &JobSpec) -> Vec<Change> {
    let placeless = |spec: &JobSpec| tree(&JobSpec { namespace: None, ..spec.clone() });
    diff(&placeless(before), &placeless(after))
}

/// Every difference between two trees, in the order of paths.
fn diff(before: &Value, after: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    walk(String::new(), Some(before), Some(after), &mut changes);
    changes
}

fn walk(path: String, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<Change>) {
    match (before, after) {
        (Some(one), Some(other)) if one == other => {}
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                walk(path, one.get(key), other.get(key), changes);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                walk(format!("{path}[{index}]"), one.get(index), other.get(index), changes);
            }
        }
        _ => changes.push(Change { path, before: before.cloned(), after: after.cloned() }),
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::spec::Format;
    use serde_json::json;

    use super::*;

    fn check(before: Value, after: Value, expected: &[&str]) {
        let found: Vec<String> = diff(&before, &after)
            .into_iter()
            .map(|change| match (change.before, change.after) {
                (Some(one), Some(other)) => format!("{} {one} -> {other}", change.path),
                (None, Some(other)) => format!("{} + {other}", change.path),
                (Some(one), None) => format!("{} - {one}", change.path),
                (None, None) => panic!("nothing changed at {}", change.path),
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_namespace_that_is_said_is_no_difference() {
        let read = |text: &str| mainspring_model::spec::parse(text, Format::Yaml).unwrap();
        let (bare, placed) = (read("{name: a, script: x}"), read("{name: a, namespace: default, script: x}"));
        assert_eq!(between(&bare, &placed), []);
        assert_eq!(between(&bare, &read("{name: a, script: y}")).len(), 1);
    }

    #[test]
    fn differences_are_told_by_path() {
        check(json!({"a": 1}), json!({"a": 1}), &[]);
        check(json!({"b": 1, "a": 1}), json!({"a": 2, "c": 3}), &["a 1 -> 2", "b - 1", "c + 3"]);
        check(json!({"a": {"x": [1, 2]}}), json!({"a": {"x": [1, 3, 4]}}), &["a.x[1] 2 -> 3", "a.x[2] + 4"]);
        check(json!({"a": {"x": 1}}), json!({"a": 5}), &[r#"a {"x":1} -> 5"#]);
    }
}
