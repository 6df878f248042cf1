//! Drawing the same thing again and again (`--watch`).
//!
//! On a terminal the screen is redrawn in place, and what was on it before is pushed into the scrollback, never wiped;
//! elsewhere only what changed is printed, so that a pipe sees news and not repetitions.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};

use ratatui::crossterm::terminal;

use crate::failure::Failure;

/// A list as it is in one round.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) lines: Vec<Line>,
}

/// A line, and what makes it differ from one of the round before: ages grow although nothing happened.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) key: String,
}

impl Round {
    /// Text of which every letter counts.
    pub(crate) fn plain(text: &str) -> Self {
        let line = |text: &str| Line { text: text.to_owned(), key: text.to_owned() };
        Self { lines: text.lines().map(line).collect() }
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The lines that are new since another round.
    fn news(&self, known: &HashSet<String>) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|line| !known.contains(&line.key)).map(|line| line.text.as_str())
    }

    fn keys(&self) -> HashSet<String> {
        self.lines.iter().map(|line| line.key.clone()).collect()
    }
}

/// What was drawn last.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    last: String,
    keys: HashSet<String>,
    begun: bool,
}

impl Screen {
    /// Draws the round if it differs from what is there.
    pub(crate) fn draw(&mut self, round: &Round) -> Result<(), Failure> {
        let mut out = anstream::stdout();
        if std::io::stdout().is_terminal() {
            let text = round.text();
            if text == self.last {
                return Ok(());
            }
            let height = terminal::size().map_or(24, |(_, height)| usize::from(height));
            // Straight to the terminal: a person without colours still wants one screen.
            std::io::stdout()
                .write_all(place(std::mem::replace(&mut self.begun, true), height).as_bytes())?;
            out.write_all(fitted(round, height).as_bytes())?;
            self.last = text;
        } else {
            for line in round.news(&self.keys) {
                writeln!(out, "{line}")?;
            }
            self.keys = round.keys();
        }
        out.flush()?;
        Ok(())
    }

    /// Other words are on the screen: the next round is drawn even if it is the same.
    pub(crate) fn is_written_over(&mut self) {
        self.last.clear();
    }

    /// Prints the round below what is there if it differs from that.
    pub(crate) fn append(&mut self, round: &Round) -> Result<(), Failure> {
        let text = round.text();
        if text != self.last {
            let mut out = std::io::stdout();
            writeln!(out, "{text}")?;
            out.flush()?;
            self.last = text;
        }
        Ok(())
    }
}

/// The way to the upper left corner; the first time, behind all that the screen shows.
fn place(begun: bool, height: usize) -> String {
    let push = if begun { String::new() } else { "\n".repeat(height) };
    format!("{push}\x1b[H\x1b[2J")
}

/// As many lines as the screen has room for: one line more would scroll, and fill the scrollback with every round.
fn fitted(round: &Round, height: usize) -> String {
    let room = height.saturating_sub(1).max(1);
    let mut text = String::new();
    let shown = if round.lines.len() > room { room - 1 } else { room };
    for line in round.lines.iter().take(shown) {
        let _ = writeln!(text, "{}", line.text);
    }
    if round.lines.len() > shown {
        let _ = writeln!(text, "… and {} more", round.lines.len() - shown);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(lines: &[(&str, &str)]) -> Round {
        let line = |(key, text): &(&str, &str)| Line { text: (*text).to_owned(), key: (*key).to_owned() };
        Round { lines: lines.iter().map(line).collect() }
    }

    #[test]
    fn a_row_that_only_grew_older_is_no_news() {
        let first = round(&[("h", "ID AGE"), ("a", "a 1s"), ("b", "b 1s")]);
        let second = round(&[("h", "ID AGE"), ("a", "a 6s"), ("b, over", "b 6s over")]);
        assert_eq!(second.news(&first.keys()).collect::<Vec<_>>(), ["b 6s over"]);
    }

    #[test]
    fn the_scrollback_is_left_alone() {
        for begun in [false, true] {
            assert!(!place(begun, 24).contains("\x1b[3J"));
        }
        assert!(place(false, 3).starts_with("\n\n\n"), "what was there is pushed up, not wiped");
        let long = round(&[("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]);
        assert_eq!(fitted(&long, 4), "a\nb\n… and 2 more\n");
        assert_eq!(fitted(&long, 5), "a\nb\nc\nd\n");
    }
}
