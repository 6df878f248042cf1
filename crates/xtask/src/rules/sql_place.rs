//! SQL lives in `store-sql`. Elsewhere a string literal with a statement in it, or a `.sql` file, is in the wrong
//! crate.
//!
//! `bench` may issue raw statements beside ours to compare; `xtask` prepares the test servers and holds this rule.

use anyhow::Result;

use super::lexer::lex;
use super::{Findings, Rule, Subject};
use crate::workspace::SourceFile;

const SQL_CRATES: &[&str] = &["store-sql", "bench", "xtask"];

pub(super) const RULE: Rule = Rule {
    name: "SQL only in store-sql",
    remedy: "make it a verb of the store contract, written in store-sql",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    Ok(judge(&subject.sources))
}

fn judge(files: &[SourceFile]) -> Findings {
    let outside = files.iter().filter(|file| !SQL_CRATES.contains(&file.crate_name()));
    Findings::failures(outside.flat_map(statements))
}

fn statements(file: &SourceFile) -> Vec<String> {
    if file.path.ends_with(".sql") {
        return vec![format!("{}: a file of SQL", file.path)];
    }
    let strings = lex(&file.text).strings;
    let found = strings.iter().filter_map(|string| Some((string.line, statement(&string.text)?)));
    found.map(|(line, verb)| format!("{}:{line}: a string with {verb} in it", file.path)).collect()
}

/// The kind of statement that a text seems to hold. Only capitals count: "select a node" is English.
fn statement(text: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == '(').filter(|word| !word.is_empty()).collect();
    let pair = |first, second| words.windows(2).any(|pair| pair == [first, second]);
    if words.len() > 1 && words.contains(&"SELECT") {
        Some("SELECT")
    } else if pair("INSERT", "INTO") {
        Some("INSERT INTO")
    } else if pair("DELETE", "FROM") {
        Some("DELETE FROM")
    } else if words.iter().skip_while(|word| **word != "UPDATE").any(|word| *word == "SET") {
        Some("UPDATE … SET")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, failures: usize) {
        let findings = judge(&[SourceFile::sample(path, text)]);
        assert_eq!(findings.failures.len(), failures, "{path}: {text}: {findings:?}");
    }

    #[test]
    fn statements_are_found_in_strings() {
        let path = "crates/engine/src/queue.rs";
        check(path, r#"query("SELECT id FROM run")"#, 1);
        check(path, "query(r\"\n  SELECT\n id FROM run\")", 1);
        check(path, r#"query("EXISTS (SELECT id FROM run)")"#, 1);
        check(path, r#"query("INSERT INTO run VALUES (1)"); query("DELETE FROM run")"#, 2);
        check(path, r#"query("UPDATE run SET state = 1")"#, 1);
        check("crates/server/migrations/first.sql", "CREATE TABLE run;", 1);
    }

    #[test]
    fn words_are_not_statements() {
        let path = "crates/engine/src/queue.rs";
        check(path, "// SELECT id FROM run\nfn f() {}", 0);
        check(path, r#"error("select a node, then UPDATE it")"#, 0);
        check(path, r#"verb("SELECT")"#, 0);
        check(path, r#"error("SET comes before UPDATE")"#, 0);
    }

    #[test]
    fn the_storage_crate_may() {
        check("crates/store-sql/src/commit.rs", r#"query("SELECT id FROM run")"#, 0);
        check("crates/bench/src/raw.rs", r#"query("SELECT id FROM run")"#, 0);
    }
}
