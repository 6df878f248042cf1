//! Any valid job is read back equal from what it is written as; any text at all is answered, not crashed on.
//!
//! Jobs come from `arbitrary/`. Broken input comes as text, as text that looks like YAML, and as trees made
//! of words that the format knows, so that reading gets deep.

#![allow(clippy::unwrap_used)]

mod arbitrary;

use mainspring_model::JobSpec;
use mainspring_model::spec::{Format, from_value, parse};
use proptest::prelude::*;
use serde_json::Value;

fn read_back(spec: &JobSpec, text: &str, format: Format) -> Result<(), TestCaseError> {
    match parse(text, format) {
        Ok(read) => prop_assert_eq!(&read, spec, "{:?}\n{}", format, text),
        Err(errors) => prop_assert!(false, "{format:?}: {errors}\n{text}"),
    }
    Ok(())
}

/// Any tree of values made of words that the format knows, so that reading gets past the first level.
fn tree() -> impl Strategy<Value = Value> {
    let word = || {
        proptest::sample::select(vec![
            "name",
            "script",
            "process",
            "handler",
            "text",
            "command",
            "args",
            "env",
            "retry",
            "max",
            "backoff",
            "kind",
            "base",
            "cap",
            "jitter",
            "rules",
            "cause",
            "exit",
            "then",
            "timeout",
            "run",
            "total",
            "parameters",
            "type",
            "default",
            "min",
            "placement",
            "selector",
            "affinity",
            "weight",
            "dispatch",
            "balancer",
            "node",
            "resources",
            "cpu",
            "named",
            "labels",
            "concurrency",
            "limit",
            "overlap",
            "artifacts",
            "url",
            "digest",
            "priority",
            "retention",
            "runs",
            "triggers",
            "cron",
            "every",
            "misfire",
            "fixed",
            "enum",
            "values",
            "5s",
            "",
            "x",
        ])
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..5i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(word().prop_map(String::from), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_job_is_read_back_equal(spec in arbitrary::job()) {
        read_back(&spec, &serde_json::to_string(&spec).unwrap(), Format::Json)?;
        read_back(&spec, &toml::to_string(&spec).unwrap(), Format::Toml)?;
        read_back(&spec, &serde_saphyr::to_string(&spec).unwrap(), Format::Yaml)?;
        let stored: JobSpec = serde_json::from_slice(&serde_json::to_vec(&spec).unwrap()).unwrap();
        prop_assert_eq!(stored, spec);
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}|[ -~\n]{0,200}") {
        for format in Format::ALL {
            let _ = parse(&text, format);
        }
    }

    #[test]
    fn any_yaml_like_text_is_answered(text in "([a-z]{1,6}: ?|- |\\{|\\}|\\[|\\]|\"|'|\n|  |&a |\\*a|<<: |[|>]\n|!|#|, ?|[0-9]{1,4}){0,60}") {
        let _ = parse(&text, Format::Yaml);
    }

    #[test]
    fn any_tree_is_answered(tree in tree()) {
        if let Err(errors) = from_value(&tree) {
            prop_assert!(!errors.problems().is_empty());
        }
    }
}
