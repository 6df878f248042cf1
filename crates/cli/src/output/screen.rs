//! Drawing the same thing again and again (`--watch`).
//!
//! On a terminal the screen is redrawn in place; elsewhere only what changed is printed, so that a pipe sees news and
//! not repetitions.

use std::io::{IsTerminal, Write};

use crate::failure::Failure;

/// What was drawn last.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    last: String,
}

impl Screen {
    /// Draws `text` if it differs from what is there.
    pub(crate) fn draw(&mut self, text: &str) -> Result<(), Failure> {
        if text == self.last {
            return Ok(());
        }
        let mut out = anstream::stdout();
        if std::io::stdout().is_terminal() {
            // Straight to the terminal: a person without colours still wants one screen.
            std::io::stdout().write_all(b"\x1b[H\x1b[2J\x1b[3J")?;
            writeln!(out, "{text}")?;
        } else {
            let known: std::collections::HashSet<&str> = self.last.lines().collect();
            for line in text.lines().filter(|line| !known.contains(line)) {
                writeln!(out, "{line}")?;
            }
        }
        out.flush()?;
        self.last = text.to_owned();
        Ok(())
    }

    /// Prints `text` below what is there if it differs from that.
    pub(crate) fn append(&mut self, text: &str) -> Result<(), Failure> {
        if text != self.last {
            let mut out = std::io::stdout();
            writeln!(out, "{text}")?;
            out.flush()?;
            self.last = text.to_owned();
        }
        Ok(())
    }
}
