//! Every library from outside is under a licence that lets Mainspring be used, changed and sold by anyone.
//!
//! Reads the licence expression each package declares, for all platforms and for tests too. It does not read the
//! licence texts. The list is in `deny.toml`.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Findings, Rule, Subject, deny_list};

pub(super) const RULE: Rule = Rule {
    name: "licences",
    remedy: "choose another library, or read the licence and add it to deny.toml",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    let allowed = deny_list::licences(subject.workspace)?;
    judge(&subject.workspace.metadata(&[])?, &allowed)
}

fn judge(metadata: &Value, allowed: &[String]) -> Result<Findings> {
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
            Some(expression) if !is_allowed(expression, allowed)? => {
                failures.push(format!("{name}: {expression}"))
            }
            Some(_) => {}
        }
    }
    Ok(Findings::failures(failures))
}

/// Evaluates an SPDX expression: one side of OR will do, both sides of AND must be allowed.
fn is_allowed(expression: &str, list: &[String]) -> Result<bool> {
    // Old manifests write `MIT/Apache-2.0` and mean OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed = either(&mut rest, list)
        .with_context(|| format!("cannot read the licence expression `{expression}`"))?;
    anyhow::ensure!(rest.is_empty(), "cannot read the licence expression `{expression}` to its end");
    Ok(allowed)
}

fn either(rest: &mut &[&str], list: &[String]) -> Option<bool> {
    let mut allowed = both(rest, list)?;
    while take(rest, "OR") {
        allowed |= both(rest, list)?;
    }
    Some(allowed)
}

fn both(rest: &mut &[&str], list: &[String]) -> Option<bool> {
    let mut allowed = single(rest, list)?;
    while take(rest, "AND") {
        allowed &= single(rest, list)?;
    }
    Some(allowed)
}

fn single(rest: &mut &[&str], list: &[String]) -> Option<bool> {
    if take(rest, "(") {
        let allowed = either(rest, list)?;
        return take(rest, ")").then_some(allowed);
    }
    let (licence, after) = rest.split_first()?;
    *rest = after;
    if !take(rest, "WITH") {
        return Some(list.iter().any(|allowed| allowed == licence));
    }
    let (exception, after) = rest.split_first()?;
    *rest = after;
    let whole = format!("{licence} WITH {exception}");
    Some(list.contains(&whole))
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
        let allowed =
            ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(String::from);
        assert_eq!(judge(&metadata, &allowed).unwrap().failures.is_empty(), good, "{license}");
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
            assert!(is_allowed(broken, &[]).is_err(), "{broken:?}");
        }
    }
}
