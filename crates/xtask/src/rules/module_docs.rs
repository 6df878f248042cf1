//! Every module opens with `//!`: what lives here, what does not and where that is, the invariant it keeps.

use anyhow::Result;

use super::{Findings, Rule, Subject};
use crate::workspace::SourceFile;

pub(super) const RULE: Rule = Rule {
    name: "module docs",
    remedy: "open the file with `//!`: what lives here, what does not, the invariant it keeps",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    Ok(judge(&subject.sources))
}

fn judge(files: &[SourceFile]) -> Findings {
    let silent = files.iter().filter(|file| file.is_module() && !opens_with_docs(&file.text));
    Findings::failures(silent.map(|file| format!("{}: does not open with a `//!` comment", file.path)))
}

fn opens_with_docs(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, good: bool) {
        let findings = judge(&[SourceFile::sample(path, text)]);
        assert_eq!(findings.failures.is_empty(), good, "{path}: {text:?}");
    }

    #[test]
    fn a_module_says_what_it_is() {
        let path = "crates/engine/src/queue.rs";
        check(path, "//! The queue of waiting runs.\nuse std::fmt;\n", true);
        check(path, "use std::fmt;\n//! Too late.\n", false);
        check(path, "// Not documentation.\n", false);
        check(path, "//!\n", false);
        check(path, "", false);
    }

    #[test]
    fn tests_and_examples_may_open_as_they_like() {
        check("crates/engine/tests/queue.rs", "use std::fmt;\n", true);
        check("crates/store-sql/src/schema.sql", "CREATE TABLE run;\n", true);
    }
}
