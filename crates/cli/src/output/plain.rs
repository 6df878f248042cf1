//! Text of others for the person's terminal: a terminal obeys control characters, and what tasks, handlers and other tenants
//! wrote must not command it.

use super::heat;

/// In one line: every control character is a blank.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The same where lines are meant.
pub(crate) fn plain_lines(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// The same where our own styles stand between the words. Whatever else a terminal would obey is not ours.
pub(super) fn only_styles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        kept.push_str(&plain_lines(&rest[..at]));
        let length = style_length(&rest[at..]).unwrap_or(0);
        match length {
            0 => kept.push(' '),
            length => kept.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length.max(1)..];
    }
    kept.push_str(&plain_lines(rest));
    kept
}

/// The length of the style that the text begins with, if it is one that we write. Others could hide words.
fn style_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("\x1b[")?;
    let (numbers, _) = inner.split_once('m')?;
    let is_ours = matches!(numbers, "0" | "1" | "2" | "31" | "32" | "33" | "34" | "35" | "36")
        || numbers.strip_prefix("38;5;").is_some_and(heat::is_shade);
    is_ours.then_some("\x1b[m".len() + numbers.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{BAD, DIM, Paint};

    #[test]
    fn a_terminal_is_not_commanded_by_the_text_of_others() {
        let text = "a\x1b[2Jb\x07\u{9b}8m\x7fc\r\n\td 等待";
        assert_eq!(plain(text), "a [2Jb  8m c   d 等待");
        assert_eq!(plain_lines(text), "a [2Jb  8m c \n d 等待");
        assert_eq!(only_styles(text), plain_lines(text));
    }

    #[test]
    fn our_own_styles_stay() {
        for style in [BAD, DIM] {
            let text = format!("{} and\nmore", "bad".paint(style));
            assert_eq!(only_styles(&text), text);
        }
        let map = heat::sample();
        assert_eq!(only_styles(&map), map);
        for hidden in ["\x1b[8mx", "\x1b[38;5;16mx", "\x1b[x", "\x1b[", "\x1b", "\x1b\x1b[1", "\x1b]0;x\x07"]
        {
            assert_eq!(only_styles(hidden), plain(hidden), "{hidden:?}");
        }
    }
}
