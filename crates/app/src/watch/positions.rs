//! How far somebody has heard the news, cell by cell: what makes a stream go on where it was, whichever process tells it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use mainspring_model::{CellId, Epoch};

use crate::ports::Mark;

/// The last piece of news of each cell, printed `0.5.100,1.7.33`: cell, epoch of its owner, number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Positions(BTreeMap<CellId, (Epoch, u64)>);

/// What a piece of news is to somebody who stands at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hearing {
    /// They have it, or were told to read everything anew since.
    Told,
    /// It goes on from there.
    New,
    /// Another owner tells it: what the last one may have left untold is not known.
    Gap,
}

impl Positions {
    /// The last piece of news of a cell.
    pub fn of(&self, cell: CellId) -> Option<(Epoch, u64)> {
        self.0.get(&cell).copied()
    }

    /// All of them.
    pub(super) fn marks(&self) -> impl Iterator<Item = Mark> {
        self.0.iter().map(|(cell, (epoch, number))| Mark { cell: *cell, epoch: *epoch, number: *number })
    }

    /// Goes on to a piece of news, and tells what it was.
    pub(super) fn hear(&mut self, mark: Mark) -> Hearing {
        let last = self.0.get(&mark.cell).copied();
        if last.is_some_and(|last| (mark.epoch, mark.number) <= last) {
            return Hearing::Told;
        }
        self.0.insert(mark.cell, (mark.epoch, mark.number));
        match last {
            Some((epoch, _)) if epoch != mark.epoch => Hearing::Gap,
            _ => Hearing::New,
        }
    }

    /// Stands where the other does in every cell that it knows, be that further on or further back.
    pub(super) fn go_to(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Those of cells that the other knows.
    #[must_use]
    pub(super) fn within(mut self, other: &Self) -> Self {
        self.0.retain(|cell, _| other.0.contains_key(cell));
        self
    }

    /// Those of cells that the other does not know.
    #[must_use]
    pub(super) fn without(mut self, other: &Self) -> Self {
        self.0.retain(|cell, _| !other.0.contains_key(cell));
        self
    }
}

impl FromIterator<Mark> for Positions {
    fn from_iter<T: IntoIterator<Item = Mark>>(marks: T) -> Self {
        Self(marks.into_iter().map(|mark| (mark.cell, (mark.epoch, mark.number))).collect())
    }
}

impl fmt::Display for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (cell, (epoch, number))) in self.0.iter().enumerate() {
            let comma = if n > 0 { "," } else { "" };
            write!(f, "{comma}{}.{}.{number}", cell.0, epoch.0)?;
        }
        Ok(())
    }
}

/// Not the text of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPositions;

impl FromStr for Positions {
    type Err = NotPositions;

    fn from_str(text: &str) -> Result<Self, NotPositions> {
        let mark = |text: &str| {
            let mut parts = text.splitn(3, '.');
            let cell = CellId(parts.next()?.parse().ok()?);
            let epoch = Epoch(parts.next()?.parse().ok()?);
            Some(Mark { cell, epoch, number: parts.next()?.parse().ok()? })
        };
        text.split(',').map(mark).collect::<Option<Self>>().ok_or(NotPositions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(cell: u16, epoch: u64, number: u64) -> Mark {
        Mark { cell: CellId(cell), epoch: Epoch(epoch), number }
    }

    #[test]
    fn positions_are_printed_and_read() {
        let positions: Positions = [mark(1, 7, 33), mark(0, 5, 100)].into_iter().collect();
        assert_eq!(positions.to_string(), "0.5.100,1.7.33");
        assert_eq!("0.5.100,1.7.33".parse(), Ok(positions));
        for wrong in ["", "1", "1.2", "1.2.x", "1.2.3,", "1.2.3.4", "70000.1.1", "-1.1.1"] {
            assert_eq!(wrong.parse::<Positions>(), Err(NotPositions), "{wrong:?}");
        }
    }

    #[test]
    fn another_owner_is_a_gap_and_an_earlier_one_is_heard_no_more() {
        let mut positions = Positions::default();
        assert_eq!(positions.hear(mark(0, 5, 1)), Hearing::New);
        assert_eq!(positions.hear(mark(0, 5, 9)), Hearing::New, "what is not ours to see lies between");
        assert_eq!(positions.hear(mark(0, 5, 9)), Hearing::Told);
        assert_eq!(positions.hear(mark(0, 6, 1)), Hearing::Gap);
        assert_eq!(positions.hear(mark(0, 5, 10)), Hearing::Told);
        assert_eq!(positions.hear(mark(1, 2, 4)), Hearing::New);
        assert_eq!(positions.to_string(), "0.6.1,1.2.4");
        // A store that was put back has younger epochs again.
        positions.go_to(&[mark(0, 3, 0)].into_iter().collect());
        assert_eq!(positions.hear(mark(0, 3, 1)), Hearing::New);
    }

    #[test]
    fn cells_are_told_apart_by_who_owns_them() {
        let all: Positions = [mark(0, 5, 1), mark(1, 6, 2), mark(2, 7, 3)].into_iter().collect();
        let owned: Positions = [mark(1, 9, 9)].into_iter().collect();
        assert_eq!(all.clone().within(&owned).to_string(), "1.6.2");
        assert_eq!(all.without(&owned).to_string(), "0.5.1,2.7.3");
    }
}
