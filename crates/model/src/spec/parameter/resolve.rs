//! From the values that a run was given to the values that it has.
//!
//! This is the one gate for parameters: after it, every value is of its declared type, every required one
//! is there, and there is none that the job does not declare.

use serde_json::{Map, Value};

use super::{Parameters, Presence};
use crate::spec::nearest::nearest;
use crate::spec::{Problem, read};

impl Parameters {
    /// The values of a run: those that were given, checked, and the defaults of those that were not.
    /// Everything that is wrong is reported, by parameter.
    pub fn resolve(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Vec<Problem>> {
        let mut values = Map::new();
        let mut problems = Vec::new();
        for (name, parameter) in &self.0 {
            let name = &**name;
            match (given.get(name), &parameter.presence) {
                (Some(value), _) => match read::check_value(&parameter.kind, value) {
                    Ok(()) => drop(values.insert(name.to_owned(), value.clone())),
                    Err(message) => problems.push(Problem::new(name, message)),
                },
                (None, Presence::Default(value)) => drop(values.insert(name.to_owned(), value.clone())),
                (None, Presence::Optional) => {}
                (None, Presence::Required) => problems.push(Problem::new(name, "a value is required")),
            }
        }
        problems.extend(given.keys().filter(|name| !self.0.contains_key(name.as_str())).map(|name| {
            let problem = Problem::new(name, "the job has no such parameter");
            match nearest(name, self.0.keys().map(|known| &**known)) {
                Some(near) => problem.with_hint(format!("did you mean `{near}`?")),
                None => problem,
            }
        }));
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Resolves `given` against `declared`; `expected` is the values, or words of each problem in order.
    fn check(declared: Value, given: Value, expected: Result<Value, &[&str]>) {
        let job = json!({"name": "x", "script": "true", "parameters": declared});
        let parameters = read::from_value(&job).unwrap().parameters;
        match (parameters.resolve(given.as_object().unwrap()), expected) {
            (Ok(values), Ok(want)) => assert_eq!(Value::Object(values), want),
            (Err(problems), Err(want)) => {
                let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
                assert_eq!(said.len(), want.len(), "{said:?}");
                for (said, words) in said.iter().zip(want) {
                    assert!(said.contains(words), "{said} has no {words}");
                }
            }
            (got, want) => panic!("got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn given_values_win_over_defaults() {
        let declared = json!({
            "day": "string",
            "count": {"type": "integer", "default": 3},
            "note": {"type": "string", "required": false},
        });
        check(declared.clone(), json!({"day": "mon"}), Ok(json!({"day": "mon", "count": 3})));
        check(
            declared,
            json!({"day": "mon", "count": 5, "note": "x"}),
            Ok(json!({"day": "mon", "count": 5, "note": "x"})),
        );
        check(json!({}), json!({}), Ok(json!({})));
    }

    #[test]
    fn reports_all_that_is_wrong() {
        let declared = json!({"day": "string", "count": {"type": "integer", "min": 1, "max": 9}});
        check(declared.clone(), json!({}), Err(&["count: a value is required", "day: a value is required"]));
        check(
            declared,
            json!({"day": 5, "cuont": 1, "count": 10, "other_thing": 1}),
            Err(&[
                "count: 10 is more than 9",
                "day: expected text, found the number 5",
                "cuont: the job has no such parameter; did you mean `count`?",
                "other_thing: the job has no such parameter",
            ]),
        );
    }

    #[test]
    fn checks_every_type() {
        for (declared, good, bad) in [
            (json!("string"), json!("x"), json!(1)),
            (json!({"type": "string", "min_length": 2}), json!("日本"), json!("x")),
            (json!({"type": "string", "max_length": 1}), json!("日"), json!("xy")),
            (json!("integer"), json!(-1), json!(1.0)),
            (json!("integer"), json!(i64::MAX), json!(u64::MAX)),
            (json!("number"), json!(1), json!("1")),
            (json!({"type": "number", "min": 0.5}), json!(0.5), json!(0.4)),
            (json!("boolean"), json!(false), json!(0)),
            (json!({"type": "enum", "values": ["a", "b"]}), json!("b"), json!("c")),
            (json!("list"), json!([1, "x"]), json!({})),
            (json!({"type": "list", "items": "integer"}), json!([1, 2]), json!([1, "x"])),
            (json!({"type": "list", "max_length": 1}), json!([1]), json!([1, 2])),
            (json!("object"), json!({"a": 1}), json!([])),
        ] {
            check(json!({"p": declared}), json!({"p": good}), Ok(json!({"p": good})));
            check(json!({"p": declared}), json!({"p": bad}), Err(&["p: "]));
        }
        check(json!({"p": "json"}), json!({"p": null}), Ok(json!({"p": null})));
    }
}
