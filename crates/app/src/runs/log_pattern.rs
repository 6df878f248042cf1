//! What is searched for in the lines of a log. Matching takes time linear in the text, whatever the pattern.

use std::borrow::Cow;

use mainspring_model::ErrorCode;
use regex::bytes::{Regex, RegexBuilder};

use crate::error::{Error, Result};
use crate::limits::{LOG_PATTERN_BYTES_MAX, LOG_PATTERN_MEMORY_MAX};

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern(Regex);

impl Pattern {
    /// Of a text that is found as it is, or of a regular expression.
    pub(super) fn new(text: &str, is_regex: bool, matches_case: bool) -> Result<Self> {
        let wrong = |message: String| Error::field(ErrorCode::InvalidRequest, "text", message);
        if text.is_empty() || text.len() > LOG_PATTERN_BYTES_MAX {
            return Err(wrong(format!("must be 1 to {LOG_PATTERN_BYTES_MAX} bytes")));
        }
        let source = if is_regex { Cow::Borrowed(text) } else { Cow::Owned(regex::escape(text)) };
        let built = RegexBuilder::new(&source)
            .case_insensitive(!matches_case)
            .size_limit(LOG_PATTERN_MEMORY_MAX)
            .dfa_size_limit(LOG_PATTERN_MEMORY_MAX)
            .build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                wrong("is a regular expression that takes too much memory".into())
            }
            error => {
                let told = error.to_string();
                let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
                wrong(format!("is no regular expression: {why}"))
            }
        })
    }

    /// Whether a line matches, as it is shown.
    pub(super) fn is_in(&self, shown: &[u8]) -> bool {
        self.0.is_match(shown)
    }
}

/// A line as it is shown: without its end, and without escape sequences of terminals.
pub(super) fn shown(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.contains(&ESCAPE) {
        return Cow::Borrowed(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        rest = if *first == ESCAPE {
            &after[escape_length(after)..]
        } else {
            plain.push(*first);
            after
        };
    }
    Cow::Owned(plain)
}

/// How long an escape sequence is, without the byte that begins it.
fn escape_length(after: &[u8]) -> usize {
    let until = |end: Option<usize>| end.map_or(after.len(), |end| end + 1);
    match after.first() {
        Some(b'[') => {
            until(after.iter().skip(1).position(|byte| matches!(byte, 0x40..=0x7e)).map(|at| at + 1))
        }
        Some(b']' | b'P' | b'_' | b'^' | b'X') => {
            let bell = after.iter().position(|byte| *byte == BELL);
            let ended = after.windows(2).position(|two| two == [ESCAPE, b'\\']).map(|at| at + 1);
            until([bell, ended].into_iter().flatten().min())
        }
        Some(_) => 1,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_as_it_is_and_a_pattern_as_it_says() {
        let check = |text: &str, is_regex, case, line: &str, expected| {
            let pattern = Pattern::new(text, is_regex, case).expect("a pattern");
            assert_eq!(pattern.is_in(&shown(line.as_bytes())), expected, "{text} in {line}");
        };
        check("a.c", false, false, "xA.Cx", true);
        check("a.c", false, true, "xA.Cx", false);
        check("a.c", false, false, "abc", false);
        check("^a.c$", true, true, "abc\r\n", true);
        check("é", false, false, "É", true);
        check("red!", false, false, "\u{1b}[31mred\u{1b}[0m!", true);
        check("(a*)*b", true, true, &"a".repeat(100_000), false);
    }

    #[test]
    fn a_wrong_pattern_names_the_field_and_why() {
        let check = |text: &str, why: &str| {
            let error = Pattern::new(text, true, false).expect_err(text);
            assert_eq!((error.fields[0].path.as_str(), error.fields[0].message.as_str()), ("text", why));
        };
        check("(", "is no regular expression: unclosed group");
        check("", "must be 1 to 1024 bytes");
        check(&"x".repeat(1025), "must be 1 to 1024 bytes");
        check("(\\w{1000}){1000}", "is a regular expression that takes too much memory");
    }

    #[test]
    fn escapes_of_terminals_are_not_shown() {
        let check = |line: &[u8], expected: &[u8]| assert_eq!(&*shown(line), expected);
        check(b"plain\n", b"plain");
        check(b"\x1b[1;31mbad\x1b[0m", b"bad");
        check(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07!", b"link!");
        check(b"a\x1b[31", b"a");
        check(b"a\x1b", b"a");
        check(b"\x1bcb\xff", b"b\xff");
    }
}
