//! Command lines of services: their words, prefixes and variables, and how a shell says the same.

/// A command of `ExecStart=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Whether its failure counts as success (`-`).
    pub(super) ignores_failure: bool,
    /// Whether variables are filled in (no `:`).
    expands: bool,
    /// Prefixes that have no equal.
    pub(super) unknown_prefixes: Vec<char>,
}

/// A piece of a word.
enum Piece<'a> {
    Text(String),
    Variable(&'a str),
}

/// Reads a command line: a command, or several with `;` between them. What a word stands for is said of each word, when the line
/// is split: a name with a blank in it stays one word.
pub(super) fn read(line: &str, mut expand: impl FnMut(&str) -> String) -> Result<Vec<Command>, String> {
    let words = split(line)?;
    let mut word = |word: &Word| match word.text.as_str() {
        // The word itself.
        "\\;" => ";".to_owned(),
        text => expand(text),
    };
    let commands = words.split(|word| word.is_bare && word.text == ";").filter(|words| !words.is_empty());
    commands.map(|words| Command::of(words.iter().map(&mut word).collect())).collect()
}

impl Command {
    fn of(mut words: Vec<String>) -> Result<Self, String> {
        let program = words.first().cloned().unwrap_or_default();
        let path = program.trim_start_matches(['-', '@', ':', '+', '!', '|']);
        let prefixes = &program[..program.len() - path.len()];
        if path.is_empty() {
            return Err("there is no program".to_owned());
        }
        words[0] = path.to_owned();
        if prefixes.contains('@') && words.len() > 1 {
            words.remove(1);
        }
        Ok(Self {
            words,
            ignores_failure: prefixes.contains('-'),
            expands: !prefixes.contains(':'),
            unknown_prefixes: prefixes.chars().filter(|c| !matches!(c, '-' | ':')).collect(),
        })
    }

    /// Its words, if nothing in it needs a shell.
    pub(super) fn plain_words(&self) -> Option<Vec<String>> {
        if self.ignores_failure {
            return None;
        }
        let word = |word: &String| match self.pieces(word).as_slice() {
            [] => Some(String::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        };
        self.words.iter().map(word).collect()
    }

    /// Whether a word of it is to be split, as `$OPTIONS` is.
    pub(super) fn has_split_words(&self) -> bool {
        self.words.iter().any(|word| self.split_variable(word).is_some())
    }

    /// As a shell says it.
    pub(super) fn shell(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| self.shell_word(word)).collect();
        let end = if self.ignores_failure { " || true" } else { "" };
        words.join(" ") + end
    }

    fn shell_word(&self, word: &str) -> String {
        if self.split_variable(word).is_some() {
            return word.to_owned();
        }
        let pieces = self.pieces(word);
        if pieces.is_empty() {
            return "''".to_owned();
        }
        let piece = |piece: &Piece<'_>| match piece {
            Piece::Text(text) => quote(text),
            Piece::Variable(name) => format!("\"${{{name}}}\""),
        };
        pieces.iter().map(piece).collect()
    }

    /// The variable of a word that is nothing else: its value becomes as many words as it has.
    fn split_variable<'a>(&self, word: &'a str) -> Option<&'a str> {
        word.strip_prefix('$').filter(|name| self.expands && is_name(name))
    }

    fn pieces<'a>(&self, word: &'a str) -> Vec<Piece<'a>> {
        if let Some(name) = self.split_variable(word) {
            return vec![Piece::Variable(name)];
        }
        let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), word);
        while let Some(at) = rest.find('$').filter(|_| self.expands) {
            let after = &rest[at + 1..];
            text.push_str(&rest[..at]);
            let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            if let Some((name, behind)) = braced.filter(|(name, _)| is_name(name)) {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Variable(name));
                rest = behind;
            } else {
                // `$$` is a dollar, and so is one that begins nothing.
                text.push('$');
                rest = after.strip_prefix('$').unwrap_or(after);
            }
        }
        text.push_str(rest);
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        pieces
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A word that a shell leaves as it is.
fn quote(text: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(is_safe) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it was written without quotes and escapes.
    is_bare: bool,
}

impl Default for Word {
    fn default() -> Self {
        Self { text: String::new(), is_bare: true }
    }
}

/// Words as systemd splits them: quotes anywhere, escapes as in C.
pub(super) fn split(line: &str) -> Result<Vec<Word>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Word>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default().is_bare = false;
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (_, '\\') => {
                let text = escape(&mut chars).ok_or("an escape is not finished")?;
                let word = word.get_or_insert_default();
                word.is_bare = false;
                word.text.push_str(&text);
            }
            _ => word.get_or_insert_default().text.push(c),
        }
    }
    if quote.is_some() {
        return Err("a quotation mark is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

/// What follows a backslash.
fn escape(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let c = chars.next()?;
    let plain = match c {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        's' => ' ',
        '\\' | '"' | '\'' => c,
        'x' => return code(chars, 2, 16),
        'u' => return code(chars, 4, 16),
        'U' => return code(chars, 8, 16),
        '0'..='3' => {
            let rest: String = chars.by_ref().take(2).collect();
            let number = u32::from_str_radix(&format!("{c}{rest}"), 8).ok().filter(|_| rest.len() == 2)?;
            return char::from_u32(number).map(String::from);
        }
        // Unknown ones stay, `\;` among them.
        other => return Some(format!("\\{other}")),
    };
    Some(plain.to_string())
}

fn code(chars: &mut std::str::Chars<'_>, length: usize, radix: u32) -> Option<String> {
    let digits: String = chars.by_ref().take(length).collect();
    let number = u32::from_str_radix(&digits, radix).ok().filter(|_| digits.len() == length)?;
    char::from_u32(number).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_and_unquoted() {
        let check = |line: &str, words: &[&str]| {
            let split: Vec<String> = split(line).unwrap().into_iter().map(|word| word.text).collect();
            assert_eq!(split, words, "{line}");
        };
        check(r"/bin/a  b\tc", &["/bin/a", "b\tc"]);
        check(
            r#"/bin/sh -c "echo 'x y'" 'a "b"' c"d e"f """#,
            &["/bin/sh", "-c", "echo 'x y'", "a \"b\"", "cd ef", ""],
        );
        check(r"a\sb \x41\u00e4 \101 \\ \q", &["a b", "Aä", "A", "\\", "\\q"]);
        assert!(split("'a").is_err() && split("a \\").is_err() && split(r"\x4").is_err());
    }

    #[test]
    fn commands_have_prefixes_and_variables() {
        let read = |line: &str| read(line, |word| word.replace("%i", "a b ; c"));
        let one = |line: &str| read(line).unwrap().remove(0);
        let command = one("-@/bin/a argv0 b");
        assert_eq!(
            (command.words.as_slice(), command.ignores_failure),
            (&["/bin/a", "b"].map(String::from)[..], true)
        );
        assert_eq!(command.unknown_prefixes, ['@']);
        assert_eq!(one("/bin/a b$$c 'd e'").plain_words().unwrap(), ["/bin/a", "b$c", "d e"]);
        assert_eq!(one(":/bin/a ${B}").plain_words().unwrap(), ["/bin/a", "${B}"]);
        assert_eq!(one("/bin/a ${B}").plain_words(), None);
        assert_eq!(
            one("/bin/a x${B}y $OPTS 'it is' $$ ''").shell(),
            r#"/bin/a x"${B}"y $OPTS 'it is' '$' ''"#
        );
        assert!(one("/bin/a $OPTS").has_split_words() && !one("/bin/a $$OPTS").has_split_words());
        assert_eq!(one("-/bin/a \"don't\"").shell(), r"/bin/a 'don'\''t' || true");
        let several = read(r"/bin/a x ; -/bin/b \; y").unwrap();
        assert_eq!((several.len(), several[1].words[1].as_str(), several[1].ignores_failure), (2, ";", true));
        assert!(read("-").is_err());
        assert_eq!(
            one("/bin/a ';' %i").words,
            ["/bin/a", ";", "a b ; c"],
            "what is quoted, or filled in, separates nothing"
        );
    }
}
