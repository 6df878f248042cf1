//! `engine` and `model` decide; they never perform. Their modules may not name an async runtime, a driver, a server,
//! the system clock, a global random source, or the operating system.
//!
//! Names are found in code, not in comments or strings, and through `use std::{fs, net}` as well as in full.

use anyhow::Result;

use super::lexer::{is_name_char, lex};
use super::{Findings, Rule, Subject};
use crate::workspace::SourceFile;

const PURE_CRATES: &[&str] = &["engine", "model"];

const FORBIDDEN: &[&str] = &[
    "tokio",
    "rusqlite",
    "tokio_postgres",
    "mysql_async",
    "axum",
    "tonic",
    "SystemTime",
    "Instant::now",
    "std::time::Instant",
    "thread_rng",
    "rand::",
    "fastrand",
    "getrandom",
    "std::fs",
    "std::net",
    "std::thread",
    "std::env",
];

pub(super) const RULE: Rule = Rule {
    name: "pure core",
    remedy: "pass the clock, the random source or the answer in; the shell that performs lives in another crate",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    Ok(judge(&subject.sources))
}

fn judge(files: &[SourceFile]) -> Findings {
    let pure = files.iter().filter(|file| file.is_module() && PURE_CRATES.contains(&file.crate_name()));
    Findings::failures(pure.flat_map(impurities))
}

fn impurities(file: &SourceFile) -> Vec<String> {
    let code = lex(&file.text).code;
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        found.extend(FORBIDDEN.iter().filter(|name| names(line, name)).map(|name| (number + 1, *name)));
    }
    for (line, path) in imported_paths(&code) {
        found.extend(FORBIDDEN.iter().filter(|name| names(&path, name)).map(|name| (line, *name)));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(line, name)| format!("{}:{line}: names `{name}`", file.path)).collect()
}

/// Whether the text holds this name as a whole: `rand::` is not in `operand::`.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let whole_before = !text[..at].ends_with(is_name_char);
        let whole_after = !name.ends_with(is_name_char) || !text[at + name.len()..].starts_with(is_name_char);
        whole_before && whole_after
    })
}

/// Every path that a `use` brings in, written out in full, with the line where its `use` stands.
fn imported_paths(code: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        if code[..at].ends_with(is_name_char) {
            continue;
        }
        let tree = code[at + 4..].split(';').next().unwrap_or_default();
        let line = code[..at].matches('\n').count() + 1;
        let mut written_out = Vec::new();
        write_out(String::new(), tree.trim(), &mut written_out);
        paths.extend(written_out.into_iter().map(|path| (line, path)));
    }
    paths
}

/// `std::{fs, time::{self, Instant}}` becomes `std::fs`, `std::time::self`, `std::time::Instant`.
fn write_out(prefix: String, tree: &str, paths: &mut Vec<String>) {
    let Some((head, group)) = tree.split_once('{') else {
        let path: String = tree.chars().filter(|c| !c.is_whitespace()).collect();
        paths.push(prefix + &path);
        return;
    };
    let head: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    let prefix = prefix + &head;
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => {
                write_out(prefix, group[start..at].trim(), paths);
                return;
            }
            ',' if depth == 0 => {
                write_out(prefix.clone(), group[start..at].trim(), paths);
                start = at + 1;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_in(path: &str, text: &str, expected: &[&str]) {
        let findings = judge(&[SourceFile::sample(path, text)]);
        assert_eq!(findings.failures, expected, "{text}");
    }

    fn check(text: &str, expected: &[&str]) {
        check_in("crates/engine/src/queue.rs", text, expected);
    }

    #[test]
    fn every_forbidden_name_is_found() {
        for name in FORBIDDEN {
            let findings =
                judge(&[SourceFile::sample("crates/model/src/id.rs", &format!("fn f() {{ {name}(); }}"))]);
            assert!(!findings.failures.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_name_is_reported_with_its_line() {
        check("//! Queue.\n\nuse tokio::time::sleep;\n", &["crates/engine/src/queue.rs:3: names `tokio`"]);
    }

    #[test]
    fn grouped_imports_do_not_hide_a_name() {
        check(
            "use std::{fmt, net::IpAddr,\n    time::{Duration, Instant}};\n",
            &[
                "crates/engine/src/queue.rs:1: names `std::net`",
                "crates/engine/src/queue.rs:1: names `std::time::Instant`",
            ],
        );
    }

    #[test]
    fn words_that_only_look_alike_are_fine() {
        check(
            "use crate::operand::Sum; fn tokio_like() {} struct SystemTimes; use std::time::Duration;",
            &[],
        );
        check("// tokio would be wrong here\nconst A: &str = \"std::fs\";", &[]);
    }

    #[test]
    fn shells_may_perform() {
        check_in("crates/store-sql/src/pool.rs", "use tokio::sync::Mutex;", &[]);
        check_in("crates/model/examples/states_md.rs", "use std::env;", &[]);
    }
}
