//! Crates depend on each other only along the edges drawn in the architecture; `ALLOWED` is that drawing.
//!
//! A new crate gets its row here together with its place in the drawing. Libraries from outside are not judged
//! here: see `banned_crates` and `licences`.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Findings, Rule, Subject};

/// What one crate may depend on.
struct Edges {
    from: &'static str,
    to: &'static [&'static str],
    /// Only in its own tests, examples and benches.
    to_in_tests: &'static [&'static str],
}

/// Every edge there may be, without the prefix `mainspring-`. A crate without a row has none.
const ALLOWED: &[Edges] = &[
    Edges { from: "model", to: &["cron"], to_in_tests: &[] },
    Edges { from: "store", to: &["model"], to_in_tests: &[] },
    Edges { from: "engine", to: &["model", "cron", "store"], to_in_tests: &["store-mem"] },
    Edges { from: "store-sql", to: &["model", "store"], to_in_tests: &["store-conformance", "store-mem"] },
    Edges { from: "store-mem", to: &["model", "store"], to_in_tests: &["store-conformance"] },
    Edges { from: "store-conformance", to: &["model", "store"], to_in_tests: &["store-mem"] },
    Edges { from: "sim", to: &["model", "store", "store-mem", "engine"], to_in_tests: &[] },
    Edges { from: "wire", to: &["model"], to_in_tests: &[] },
    Edges { from: "blob", to: &["model"], to_in_tests: &[] },
    Edges {
        from: "app",
        to: &["model", "cron", "store", "engine", "wire", "blob"],
        to_in_tests: &["store-mem", "store-sql"],
    },
    Edges { from: "sidecar", to: &["model"], to_in_tests: &[] },
    Edges { from: "agent", to: &["model", "wire", "blob", "sidecar"], to_in_tests: &[] },
    Edges { from: "client", to: &["model", "wire"], to_in_tests: &[] },
    Edges { from: "console", to: &[], to_in_tests: &[] },
    Edges {
        from: "server",
        to: &["model", "store", "store-sql", "store-mem", "engine", "wire", "blob", "app", "console"],
        to_in_tests: &["client"],
    },
    Edges {
        from: "demo",
        to: &["model", "store", "store-mem", "engine", "wire", "app"],
        to_in_tests: &["store-sql"],
    },
    Edges {
        from: "cli",
        to: &["model", "wire", "client", "server", "agent", "sidecar", "demo"],
        to_in_tests: &[],
    },
    Edges { from: "e2e", to: &[], to_in_tests: &["model", "wire", "client"] },
    Edges {
        from: "bench",
        to: &["model", "store", "store-mem", "store-sql", "engine", "client"],
        to_in_tests: &[],
    },
    Edges { from: "chaos", to: &[], to_in_tests: &[] },
    Edges { from: "xtask", to: &["chaos"], to_in_tests: &[] },
];

pub(super) const RULE: Rule = Rule {
    name: "crate edges",
    remedy: "turn the dependency round; a wanted new edge changes the architecture and `ALLOWED` in crate_edges.rs",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    judge(&subject.workspace.metadata(&["--no-deps"])?)
}

fn judge(metadata: &Value) -> Result<Findings> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists packages")?;
    let ours: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut failures = Vec::new();
    for package in packages {
        let from = package["name"].as_str().context("a package has a name")?;
        for dependency in package["dependencies"].as_array().context("a package lists its dependencies")? {
            let to = dependency["name"].as_str().context("a dependency has a name")?;
            let in_tests = dependency["kind"].as_str() == Some("dev");
            if ours.contains(to) && !is_allowed(short(from), short(to), in_tests) {
                let place = if in_tests { " in its tests" } else { "" };
                failures.push(format!("{from} depends on {to}{place}, an edge that is not drawn"));
            }
        }
    }
    Ok(Findings::failures(failures))
}

fn is_allowed(from: &str, to: &str, in_tests: bool) -> bool {
    ALLOWED
        .iter()
        .filter(|edges| edges.from == from)
        .any(|edges| edges.to.contains(&to) || in_tests && edges.to_in_tests.contains(&to))
}

fn short(package: &str) -> &str {
    package.strip_prefix("mainspring-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(from: &str, to: &str, kind: Value, good: bool) {
        let metadata = json!({ "packages": [
            { "name": from, "dependencies": [{ "name": to, "kind": kind }, { "name": "serde", "kind": null }] },
            { "name": to, "dependencies": [] },
        ]});
        let findings = judge(&metadata).unwrap();
        assert_eq!(findings.failures.is_empty(), good, "{from} -> {to} ({kind}): {findings:?}");
    }

    #[test]
    fn drawn_edges_hold() {
        check("mainspring-engine", "mainspring-model", Value::Null, true);
        check("mainspring-engine", "mainspring-store-mem", json!("dev"), true);
        check("mainspring-store-sql", "mainspring-store", json!("build"), true);
    }

    #[test]
    fn other_edges_fail() {
        check("mainspring-model", "mainspring-engine", Value::Null, false);
        check("mainspring-engine", "mainspring-store-sql", Value::Null, false);
        check("mainspring-engine", "mainspring-store-mem", Value::Null, false);
        check("mainspring-engine", "mainspring-store-mem", json!("build"), false);
        check("mainspring-engine", "mainspring-store-sql", json!("dev"), false);
        check("xtask", "mainspring-model", json!("dev"), false);
        check("mainspring-unheard-of", "mainspring-model", Value::Null, false);
    }
}
