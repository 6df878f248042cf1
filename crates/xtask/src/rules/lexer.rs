//! Just enough of Rust's lexical grammar to tell code, string literals and comments apart.
//!
//! Rules about names look at code only, the rule about SQL at strings only; a word in a comment harms nobody.
//! Not a parser: the compiler has already accepted the file, so ill-formed input may be read in any way.

/// What the compiler sees of a file, comments left out.
pub(super) struct Lexed {
    /// The file with comments, string contents and character literals blanked; line breaks are kept.
    pub(super) code: String,
    /// Each string literal as written, with its line.
    pub(super) strings: Vec<StringLiteral>,
}

/// One string literal, escapes not resolved.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StringLiteral {
    pub(super) line: usize,
    pub(super) text: String,
}

/// Splits a Rust file.
pub(super) fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer { rest: text, line: 1, lexed: Lexed { code: String::new(), strings: Vec::new() } };
    while !lexer.rest.is_empty() {
        lexer.step();
    }
    lexer.lexed
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    lexed: Lexed,
}

impl<'a> Lexer<'a> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.blank(end);
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment_end(self.rest));
        } else if self.rest.starts_with('"') {
            self.string(1, "\"", true);
        } else if let Some(hashes) = self.raw_string_start() {
            let opening = self.rest.find('"').map_or(self.rest.len(), |at| at + 1);
            let closing = format!("\"{}", "#".repeat(hashes));
            self.string(opening, &closing, false);
        } else if self.rest.starts_with('\'') {
            match char_literal_end(self.rest) {
                Some(end) => self.blank(end),
                None => self.keep(1),
            }
        } else {
            self.keep(self.rest.chars().next().map_or(1, char::len_utf8));
        }
    }

    /// The number of `#` when a raw string starts here, and not in the middle of a name that ends in `r`.
    fn raw_string_start(&self) -> Option<usize> {
        if self.lexed.code.ends_with(is_name_char) {
            return None;
        }
        let after = ["r", "br", "cr"].iter().find_map(|prefix| self.rest.strip_prefix(prefix))?;
        let unhashed = after.trim_start_matches('#');
        unhashed.starts_with('"').then_some(after.len() - unhashed.len())
    }

    fn string(&mut self, opening: usize, closing: &str, escapes: bool) {
        let body = &self.rest[opening..];
        let end = string_end(body, closing, escapes);
        self.lexed.strings.push(StringLiteral { line: self.line, text: body[..end].to_owned() });
        // The quotes stay, so that the words before and after do not run together.
        self.lexed.code.push('"');
        self.blank((opening + end + closing.len()).min(self.rest.len()));
        self.lexed.code.push('"');
    }

    fn keep(&mut self, bytes: usize) {
        let taken = self.take(bytes);
        self.lexed.code.push_str(taken);
    }

    fn blank(&mut self, bytes: usize) {
        let taken = self.take(bytes);
        self.lexed.code.push(' ');
        self.lexed.code.extend(taken.chars().filter(|&c| c == '\n'));
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

/// Whether a character can be part of a name.
pub(super) fn is_name_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Rust's block comments nest.
fn block_comment_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn string_end(body: &str, closing: &str, escapes: bool) -> usize {
    if !escapes {
        return body.find(closing).unwrap_or(body.len());
    }
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    body.len()
}

/// The end of `'x'` or `'\n'`; `None` for a lifetime such as `'a`.
fn char_literal_end(text: &str) -> Option<usize> {
    let inner = &text[1..];
    if let Some(escape) = inner.strip_prefix('\\') {
        // At least one character belongs to the escape, and it may be a quote.
        let first = escape.chars().next()?.len_utf8();
        return escape[first..].find('\'').map(|at| 2 + first + at + 1);
    }
    let first = inner.chars().next()?.len_utf8();
    inner[first..].starts_with('\'').then_some(1 + first + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, strings: &[(usize, &str)]) {
        let lexed = lex(text);
        let words: Vec<&str> = lexed.code.split_whitespace().collect();
        assert_eq!(words.join(" "), code, "code of {text:?}");
        let found: Vec<(usize, &str)> = lexed.strings.iter().map(|s| (s.line, s.text.as_str())).collect();
        assert_eq!(found, strings, "strings of {text:?}");
        assert_eq!(lexed.code.matches('\n').count(), text.matches('\n').count(), "lines of {text:?}");
    }

    #[test]
    fn comments_vanish() {
        check("a // tokio\nb", "a b", &[]);
        check("a /* x /* nested */ tokio */ b", "a b", &[]);
        check("//! \"quoted\nfn f() {}", "fn f() {}", &[]);
    }

    #[test]
    fn strings_are_set_apart() {
        check(r#"f("SELECT 1")"#, r#"f(" ")"#, &[(1, "SELECT 1")]);
        check("x\n\"two // lines\nof text\" y", "x \" \" y", &[(2, "two // lines\nof text")]);
        check(r#"("a\"b", b"c")"#, r#"(" ", b" ")"#, &[(1, r#"a\"b"#), (1, "c")]);
        check("r#\"say \"hi\"\"# z", "\" \" z", &[(1, "say \"hi\"")]);
        check("br\"raw\" z", "\" \" z", &[(1, "raw")]);
    }

    #[test]
    fn quotes_of_characters_open_no_string() {
        check("('\"', '\\'', '\\u{22}') x", "( , , ) x", &[]);
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}", &[]);
    }

    #[test]
    fn an_ordinary_name_may_end_in_r() {
        check("writer(\"x\")", "writer(\" \")", &[(1, "x")]);
        check("r#type", "r#type", &[]);
    }
}
