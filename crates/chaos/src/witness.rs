//! What tasks wrote down outside of the system, one file for each run; see `jobs` for its lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::moment::MicrosSinceEpoch;

/// Every run that was executed.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    pub(crate) runs: BTreeMap<String, Executions>,
}

/// The executions of one run, in the order in which they happened.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    pub(crate) events: Vec<Event>,
    /// Attempts that found an earlier one alive: both numbers.
    pub(crate) overlaps: Vec<(u32, u32)>,
    /// Lines that cannot be read.
    pub(crate) unread: Vec<String>,
}

/// An execution began or reached its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Start { attempt: u32, at: MicrosSinceEpoch },
    End { at: MicrosSinceEpoch },
}

impl Witness {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut runs = BTreeMap::new();
        for entry in fs::read_dir(folder).context("cannot list the witness files")? {
            let entry = entry.context("cannot list the witness files")?;
            let text = fs::read_to_string(entry.path()).context("cannot read a witness file")?;
            runs.insert(entry.file_name().to_string_lossy().into_owned(), Executions::parse(&text));
        }
        Ok(Self { runs })
    }
}

impl Executions {
    fn parse(text: &str) -> Self {
        let mut executions = Self::default();
        for line in text.lines() {
            if executions.take(line).is_none() {
                executions.unread.push(line.to_owned());
            }
        }
        executions
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        let micros = |text: &str| text.parse::<i64>().ok().map(|nanos| nanos / 1_000);
        match words[..] {
            ["start", attempt, _, _, at] => {
                self.events.push(Event::Start { attempt: attempt.parse().ok()?, at: micros(at)? });
            }
            ["end", _, _, at] => self.events.push(Event::End { at: micros(at)? }),
            ["overlap", attempt, _, other] => {
                self.overlaps.push((attempt.parse().ok()?, other.parse().ok()?));
            }
            _ => return None,
        }
        Some(())
    }

    /// The attempts that were executed.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u32> {
        self.events.iter().filter_map(|event| match event {
            Event::Start { attempt, .. } => Some(*attempt),
            Event::End { .. } => None,
        })
    }

    /// When an execution reached its end last.
    pub(crate) fn last_end(&self) -> Option<MicrosSinceEpoch> {
        self.events.iter().rev().find_map(|event| match event {
            Event::End { at } => Some(*at),
            Event::Start { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_order() {
        let read = Executions::parse(
            "start 1 70 900 5000\noverlap 2 71 1\nstart 2 71 901 6000\nend 2 71 9000\nhm\n",
        );
        let start = |attempt, at| Event::Start { attempt, at };
        assert_eq!(read.events, [start(1, 5), start(2, 6), Event::End { at: 9 }]);
        assert_eq!(read.overlaps, [(2, 1)]);
        assert_eq!((read.last_end(), read.unread), (Some(9), vec!["hm".to_owned()]));
    }
}
