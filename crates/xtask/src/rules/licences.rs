//! Every library from outside is under a licence that lets Mainspring be used, changed and sold by anyone.
//!
//! Reads the licence expression each package declares, for all platforms and for tests too. It does not read the
//! licence texts. A new licence is added to `ALLOWED` by a person who has read it.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Findings, Rule, Subject};

const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "OpenSSL",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

pub(super) const RULE: Rule = Rule {
    name: "licences",
    remedy: "choose another library, or read the licence and add it to `ALLOWED` in licences.rs",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    judge(&subject.workspace.metadata(&[])?)
}

fn judge(metadata: &Value) -> Result<Findings> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists packages")?;
    let mut failures = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let name = format!(
            "{} {}",
            package["name"].as_str().unwrap_or("?"),
            package["version"].as_str().unwrap_or("?")
        );
        match package["license"].as_str() {
            None => failures.push(format!("{name}: declares no licence")),
            Some(expression) if !is_allowed(expression)? => failures.push(format!("{name}: {expression}")),
            Some(_) => {}
        }
    }
    Ok(Findings::failures(failures))
}

/// Evaluates an SPDX expression: one side of OR will do, both sides of AND must be allowed.
fn is_allowed(expression: &str) -> Result<bool> {
    // Old manifests write `MIT/Apache-2.0` and mean OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed =
        either(&mut rest).with_context(|| format!("cannot read the licence expression `{expression}`"))?;
    anyhow::ensure!(rest.is_empty(), "cannot read the licence expression `{expression}` to its end");
    Ok(allowed)
}

fn either(rest: &mut &[&str]) -> Option<bool> {
    let mut allowed = both(rest)?;
    while take(rest, "OR") {
        allowed |= both(rest)?;
    }
    Some(allowed)
}

fn both(rest: &mut &[&str]) -> Option<bool> {
    let mut allowed = single(rest)?;
    while take(rest, "AND") {
        allowed &= single(rest)?;
    }
    Some(allowed)
}

fn single(rest: &mut &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let allowed = either(rest)?;
        return take(rest, ")").then_some(allowed);
    }
    let (licence, after) = rest.split_first()?;
    *rest = after;
    if !take(rest, "WITH") {
        return Some(ALLOWED.contains(licence));
    }
    let (exception, after) = rest.split_first()?;
    *rest = after;
    Some(ALLOWED.contains(&format!("{licence} WITH {exception}").as_str()))
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, after)) if *first == word => {
            *rest = after;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(license: Value, good: bool) {
        let metadata = json!({ "packages": [
            { "name": "library", "version": "1.0.0", "source": "registry", "license": license },
            { "name": "ours", "version": "0.1.0", "source": null, "license": "unjudged" },
        ]});
        assert_eq!(judge(&metadata).unwrap().failures.is_empty(), good, "{license}");
    }

    #[test]
    fn permissive_licences_pass() {
        check(json!("MIT"), true);
        check(json!("MIT/Apache-2.0"), true);
        check(json!("GPL-3.0-only OR MIT"), true);
        check(json!("(MIT OR Apache-2.0) AND Unicode-3.0"), true);
        check(json!("Apache-2.0 WITH LLVM-exception"), true);
    }

    #[test]
    fn others_fail() {
        check(json!("GPL-3.0-only"), false);
        check(json!("MIT AND GPL-3.0-only"), false);
        check(json!("(MIT OR Apache-2.0) AND AGPL-3.0-only"), false);
        check(json!("GPL-2.0-only WITH Classpath-exception-2.0"), false);
        check(Value::Null, false);
    }

    #[test]
    fn an_unreadable_expression_is_an_error() {
        for broken in ["", "MIT OR", "(MIT", "MIT Apache-2.0"] {
            assert!(is_allowed(broken).is_err(), "{broken:?}");
        }
    }
}
