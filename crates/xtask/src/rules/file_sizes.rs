//! A file is one concept: past 400 lines ask what second concept moved in, past 800 it is a defect.

use anyhow::Result;

use super::{Findings, Rule, Subject};
use crate::workspace::SourceFile;

const NOTED_ABOVE_LINES: usize = 400;
const BROKEN_ABOVE_LINES: usize = 800;

pub(super) const RULE: Rule = Rule {
    name: "file sizes",
    remedy: "move the second concept into a file of its own, named by its noun",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    Ok(judge(&subject.sources))
}

fn judge(files: &[SourceFile]) -> Findings {
    let mut findings = Findings::default();
    for file in files {
        let lines = file.text.lines().count();
        if lines > BROKEN_ABOVE_LINES {
            findings
                .failures
                .push(format!("{}: {lines} lines, the limit is {BROKEN_ABOVE_LINES}", file.path));
        } else if lines > NOTED_ABOVE_LINES {
            findings.notes.push(format!("{}: {lines} lines; did a second concept move in?", file.path));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: usize, failures: usize, notes: usize) {
        let findings = judge(&[SourceFile::sample("crates/engine/src/queue.rs", &"x\n".repeat(lines))]);
        assert_eq!((findings.failures.len(), findings.notes.len()), (failures, notes), "{lines} lines");
    }

    #[test]
    fn long_files_are_noted_and_longer_ones_fail() {
        check(400, 0, 0);
        check(401, 0, 1);
        check(800, 0, 1);
        check(801, 1, 0);
    }
}
