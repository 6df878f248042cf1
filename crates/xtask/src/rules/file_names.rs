//! A file or folder is named by its concept; a drawer for everything has no concept.

use anyhow::Result;

use super::{Findings, Rule, Subject};
use crate::workspace::SourceFile;

const NAMELESS: &[&str] =
    &["utils", "util", "common", "helpers", "helper", "manager", "managers", "misc", "v2"];

pub(super) const RULE: Rule = Rule {
    name: "file names",
    remedy: "name the file by the one concept it holds, or split it until it has one",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    Ok(judge(&subject.sources))
}

fn judge(files: &[SourceFile]) -> Findings {
    let nameless = files.iter().filter_map(|file| {
        let word = file.path.split('/').map(stem).find(|part| is_nameless(part))?;
        Some(format!("{}: `{word}` says nothing about what is inside", file.path))
    });
    Findings::failures(nameless)
}

/// Also `store_utils` and `engine-v2`: the drawer is no better for its label.
fn is_nameless(part: &str) -> bool {
    part.split(['_', '-']).any(|word| NAMELESS.contains(&word))
}

fn stem(part: &str) -> &str {
    part.split('.').next().unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, good: bool) {
        let findings = judge(&[SourceFile::sample(path, "")]);
        assert_eq!(findings.failures.is_empty(), good, "{path}: {findings:?}");
    }

    #[test]
    fn drawers_are_refused_as_files_and_as_folders() {
        check("crates/engine/src/utils.rs", false);
        check("crates/engine/src/helpers/mod.rs", false);
        check("crates/engine/src/node_manager.rs", false);
        check("crates/store-sql/src/schema-v2.sql", false);
        check("crates/engine/tests/common/mod.rs", false);
    }

    #[test]
    fn nouns_are_welcome() {
        check("crates/engine/src/queue.rs", true);
        check("crates/store-sql/src/postgres/commit.rs", true);
        check("crates/engine/src/commonality.rs", true);
    }
}
