//! Committed files that are made from code are fresh: what the code says now is what a reader finds.
//!
//! The list of files is `commands::generate::GENERATED`.

use std::fs;

use anyhow::Result;

use super::{Findings, Rule, Subject};
use crate::commands::generate::{self, GENERATED};

pub(super) const RULE: Rule =
    Rule { name: "generated files", remedy: "run `cargo xtask generate` and commit the difference", check };

fn check(subject: &Subject<'_>) -> Result<Findings> {
    let programs = generate::build(subject.workspace)?;
    let mut failures = Vec::new();
    for generated in GENERATED {
        let fresh = generated.produce(&programs)?;
        let committed = fs::read_to_string(subject.workspace.path(generated.file)).ok();
        failures.extend(difference(generated.file, committed.as_deref(), &fresh));
    }
    Ok(Findings::failures(failures))
}

fn difference(file: &str, committed: Option<&str>, fresh: &str) -> Option<String> {
    let Some(committed) = committed else {
        return Some(format!("{file}: missing"));
    };
    if committed == fresh {
        return None;
    }
    let line = committed.lines().zip(fresh.lines()).take_while(|(a, b)| a == b).count() + 1;
    Some(format!("{file}:{line}: differs from what the code says now"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(committed: Option<&str>, fresh: &str, expected: Option<&str>) {
        assert_eq!(difference("docs/states.md", committed, fresh).as_deref(), expected);
    }

    #[test]
    fn a_stale_file_is_named_with_its_first_stale_line() {
        check(Some("a\nb\n"), "a\nb\n", None);
        check(None, "a\n", Some("docs/states.md: missing"));
        check(Some("a\nb\n"), "a\nc\n", Some("docs/states.md:2: differs from what the code says now"));
        check(Some("a\n"), "a\nb\n", Some("docs/states.md:2: differs from what the code says now"));
    }
}
