//! Where a follower of a log stands: an attempt and an offset, printed `2:1375`. Offsets lead to pieces of the stored log, which
//! may hold many lines: within one, the lines of it that were told are counted, `2:1300.3`.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use mainspring_wire::api::LogPage;

/// A position in the output of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The attempt; without one, the current or last.
    pub(crate) attempt: Option<u32>,
    /// Where a piece of the stored log begins.
    pub(crate) offset: u64,
    /// How many lines of that piece were told.
    pub(crate) lines: usize,
}

/// The position after each line of a page.
pub(crate) fn after_each(page: &LogPage) -> Vec<Position> {
    let mut told = 0;
    let nexts = page.lines.iter().skip(1).map(|line| line.offset).chain([page.next_offset]);
    let after = |(line, next): (u64, u64)| {
        told = if line == next { told + 1 } else { 0 };
        Position { attempt: Some(page.attempt), offset: next, lines: told }
    };
    page.lines.iter().map(|line| line.offset).zip(nexts).map(after).collect()
}

impl Display for Position {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        if let Some(attempt) = self.attempt {
            write!(out, "{attempt}:")?;
        }
        write!(out, "{}", self.offset)?;
        if self.lines > 0 {
            write!(out, ".{}", self.lines)?;
        }
        Ok(())
    }
}

impl FromStr for Position {
    type Err = std::num::ParseIntError;

    /// An offset alone is a position too.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (attempt, place) = match text.split_once(':') {
            Some((attempt, place)) => (Some(attempt.parse()?), place),
            None => (None, text),
        };
        let (offset, lines) = place.split_once('.').unwrap_or((place, "0"));
        Ok(Self { attempt, offset: offset.parse()?, lines: lines.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::Timestamp;
    use mainspring_wire::api::{LogLine, LogStream};

    use super::*;

    #[test]
    fn positions_are_an_attempt_an_offset_and_lines() {
        let check = |text: &str, attempt, offset, lines| {
            let position = Position { attempt, offset, lines };
            assert_eq!(text.parse(), Ok(position));
            assert_eq!(position.to_string(), text);
        };
        check("2:1375", Some(2), 1375, 0);
        check("2:1300.3", Some(2), 1300, 3);
        check("1375", None, 1375, 0);
        for wrong in ["x", "1:", "1:2.", "1:2.x", ""] {
            assert!(wrong.parse::<Position>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn within_a_piece_lines_are_counted_and_after_it_comes_the_next() {
        let line = |offset| LogLine {
            base64: None,
            gap_bytes: None,
            offset,
            at: Timestamp::from_micros(7).into(),
            stream: LogStream::Stdout,
            text: "x\n".into(),
        };
        let lines = [0, 0, 0, 20, 40, 40].map(line).into();
        let page = LogPage { attempt: 1, lines, next_offset: 60, length: 60, ended: false };
        let texts: Vec<String> = after_each(&page).iter().map(Position::to_string).collect();
        assert_eq!(texts, ["1:0.1", "1:0.2", "1:20", "1:40", "1:40.1", "1:60"]);
    }
}
