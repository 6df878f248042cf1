//! Open flags have names (`rustix::fs::OFlags`). A number is right on one architecture only: on aarch64 `O_NOFOLLOW` has
//! another value than on x86, and the number of the one is another flag of the other.
//!
//! A number is found in the arguments of a call, and in a constant that the arguments name.

use anyhow::Result;

use super::lexer::{is_name_char, lex};
use super::{Findings, Rule, Subject};
use crate::workspace::SourceFile;

/// Calls that take open flags.
const CALLS: &[&str] =
    &["custom_flags(", "openat(", "openat2(", "OFlags::from_bits(", "OFlags::from_bits_retain("];

pub(super) const RULE: Rule = Rule {
    name: "open flags by name",
    remedy: "write `OFlags::NOFOLLOW.bits()`, not its number, which differs between architectures",
    check,
};

fn check(subject: &Subject<'_>) -> Result<Findings> {
    Ok(judge(&subject.sources))
}

fn judge(files: &[SourceFile]) -> Findings {
    Findings::failures(files.iter().flat_map(numbers))
}

fn numbers(file: &SourceFile) -> Vec<String> {
    let code = lex(&file.text).code;
    let mut found = Vec::new();
    for call in CALLS {
        for (at, _) in code.match_indices(call).filter(|(at, _)| !code[..*at].ends_with(is_name_char)) {
            let arguments = arguments(&code[at + call.len()..]);
            let named = words(arguments).any(|word| is_numeric_binding(&code, word));
            if has_flag_number(arguments) || named {
                let line = code[..at].matches('\n').count() + 1;
                found.push(format!("{}:{line}: `{}` with a number", file.path, call.trim_end_matches('(')));
            }
        }
    }
    found
}

/// What stands between the brackets of a call.
fn arguments(after: &str) -> &str {
    let mut depth = 0_usize;
    let end = after.char_indices().find_map(|(at, c)| match c {
        '(' => {
            depth += 1;
            None
        }
        ')' if depth == 0 => Some(at),
        ')' => {
            depth -= 1;
            None
        }
        _ => None,
    });
    &after[..end.unwrap_or(after.len())]
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_name_char(c)).filter(|word| !word.is_empty())
}

/// Whether a text has a number that is no permission bits: those are octal with four digits at most.
fn has_flag_number(text: &str) -> bool {
    words(text).any(|word| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let is_mode = word.starts_with("0o") && word.len() <= "0o1777".len();
        is_number && !is_mode && word != "0"
    })
}

/// Whether a name is bound to a number: `const NOFOLLOW: i32 = 0o400_000 | …;`, `let flags = 0x8000;`.
fn is_numeric_binding(code: &str, name: &str) -> bool {
    ["const ", "static ", "let "].iter().any(|keyword| {
        code.match_indices(keyword).any(|(at, _)| {
            let binding = code[at + keyword.len()..].split(';').next().unwrap_or_default();
            let Some((bound, value)) = binding.split_once('=') else { return false };
            words(bound).next() == Some(name) && has_flag_number(value)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, lines: &[usize]) {
        let findings = judge(&[SourceFile::sample("crates/blob/src/places.rs", text)]);
        let found: Vec<usize> = findings
            .failures
            .iter()
            .map(|failure| failure.split(':').nth(1).unwrap().parse().unwrap())
            .collect();
        assert_eq!(found, lines, "{text}");
    }

    #[test]
    fn a_number_is_found_in_the_call_and_behind_a_name() {
        check("fn f() { File::options().custom_flags(0o4_000).open(path); }", &[1]);
        check("fn f() { options.custom_flags(libc_like | 0x8000) }", &[1]);
        check("const NOFOLLOW: i32 = 0o400_000;\nfn f() { options.custom_flags(NOFOLLOW) }", &[2]);
        check("fn f() {\n let both = 131072 | 0o4_000;\n options.custom_flags(both);\n}", &[3]);
        check("fn f() { openat(dir, path, OFlags::from_bits_retain(0x20000), Mode::empty()) }", &[1, 1]);
    }

    #[test]
    fn names_modes_and_words_that_look_alike_are_fine() {
        check(
            "fn f() { options.mode(0o600).custom_flags(custom(OFlags::NOFOLLOW | OFlags::NONBLOCK)) }",
            &[],
        );
        check("fn f() { let flags = OFlags::NOFOLLOW.bits() as i32; options.custom_flags(flags) }", &[]);
        check("fn f() { openat(dir, path, OFlags::CREATE, Mode::from_raw_mode(0o644)) }", &[]);
        check("// custom_flags(0o4_000)\nfn my_custom_flags(n: i32) {}", &[]);
    }
}
