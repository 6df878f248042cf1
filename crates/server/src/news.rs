//! What changed lately in the cells that this process owns, for watch streams.
//!
//! A piece of news is told after its change is durable. A watcher that was away a moment goes on from its mark; one that was
//! away too long, or whose cell another process owned when it left, is told to read everything anew.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainspring_app::Positions;
use mainspring_app::ports::{Changed, Mark, News};
use mainspring_model::{CellId, Epoch};
use tokio::sync::broadcast;

/// Pieces that are remembered for watchers that come back.
const REMEMBERED_MAX: usize = 8_192;
/// Pieces that a slow watcher may be behind.
const BEHIND_MAX: usize = 4_096;

/// Where news is told.
#[derive(Debug, Clone)]
pub(crate) struct Newsroom {
    sender: broadcast::Sender<Arc<News>>,
    archive: Arc<Mutex<Archive>>,
}

#[derive(Debug, Default)]
struct Archive {
    /// The last pieces of all tenures, in the order of their telling.
    pieces: VecDeque<Arc<News>>,
    /// The tenures of this process and the number of the last piece of each.
    tenures: BTreeMap<CellId, (Epoch, u64)>,
}

/// One owner's tenure: numbers its news.
#[derive(Debug)]
pub(crate) struct Column {
    room: Newsroom,
    cell: CellId,
    epoch: Epoch,
    number: u64,
}

impl Newsroom {
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::channel(BEHIND_MAX).0, archive: Arc::default() }
    }

    pub(crate) fn column(&self, cell: CellId, epoch: Epoch) -> Column {
        self.archive().tenures.insert(cell, (epoch, 0));
        let mark = Mark { cell, epoch, number: 0 };
        // Nobody may be listening.
        drop(self.sender.send(Arc::new(News { mark, what: Changed::Owner })));
        Column { room: self.clone(), cell, epoch, number: 0 }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<News>> {
        self.sender.subscribe()
    }

    /// The last piece of each tenure.
    pub(crate) fn at(&self) -> Positions {
        self.archive().marks().collect()
    }

    /// What the tenures told after these positions; none when some of it is not remembered.
    pub(crate) fn since(&self, heard: &Positions) -> Option<Vec<Arc<News>>> {
        let archive = self.archive();
        let mut owed = 0;
        for last in archive.marks() {
            let (epoch, number) = heard.of(last.cell)?;
            if epoch != last.epoch {
                return None;
            }
            owed += last.number.checked_sub(number)?;
        }
        let is_owed = |mark: &Mark| {
            let current = archive.tenures.get(&mark.cell).is_some_and(|(epoch, _)| *epoch == mark.epoch);
            current && heard.of(mark.cell).is_some_and(|(_, number)| mark.number > number)
        };
        let pieces: Vec<_> = archive.pieces.iter().filter(|news| is_owed(&news.mark)).cloned().collect();
        (pieces.len() as u64 == owed).then_some(pieces)
    }

    fn archive(&self) -> MutexGuard<'_, Archive> {
        self.archive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Archive {
    fn marks(&self) -> impl Iterator<Item = Mark> {
        self.tenures.iter().map(|(cell, (epoch, number))| Mark {
            cell: *cell,
            epoch: *epoch,
            number: *number,
        })
    }
}

impl Column {
    pub(crate) fn tell(&mut self, changes: impl IntoIterator<Item = Changed>) {
        let mut archive = self.room.archive();
        for what in changes {
            self.number += 1;
            let mark = Mark { cell: self.cell, epoch: self.epoch, number: self.number };
            let news = Arc::new(News { mark, what });
            if archive.pieces.len() == REMEMBERED_MAX {
                archive.pieces.pop_front();
            }
            archive.pieces.push_back(Arc::clone(&news));
            archive.tenures.insert(self.cell, (self.epoch, self.number));
            // Nobody may be listening.
            drop(self.room.sender.send(news));
        }
    }
}

impl Column {
    /// Tells what passes: it has no number, and who comes later is not told.
    pub(crate) fn pass(&self, changes: impl IntoIterator<Item = Changed>) {
        let mark = Mark { cell: self.cell, epoch: self.epoch, number: self.number };
        for what in changes {
            drop(self.room.sender.send(Arc::new(News { mark, what })));
        }
    }
}

impl Drop for Column {
    /// Another process tells of the cell from now on, or a later tenure.
    fn drop(&mut self) {
        let mut archive = self.room.archive();
        if archive.tenures.get(&self.cell).is_some_and(|(epoch, _)| *epoch == self.epoch) {
            archive.tenures.remove(&self.cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use mainspring_model::{JobId, RunId, RunState, Timestamp};

    use super::*;

    fn change(n: u128) -> Changed {
        Changed::Run {
            id: RunId::new(Timestamp::ZERO, n),
            namespace: "a".parse().expect("a namespace"),
            job: JobId::MIN,
            state: RunState::Waiting,
            version: 1,
            attempt: 0,
            at: Timestamp::ZERO,
        }
    }

    fn at(places: &[(u16, u64, u64)]) -> Positions {
        let mark = |(cell, epoch, number): &(u16, u64, u64)| Mark {
            cell: CellId(*cell),
            epoch: Epoch(*epoch),
            number: *number,
        };
        places.iter().map(mark).collect()
    }

    fn numbers(room: &Newsroom, heard: &[(u16, u64, u64)]) -> Option<Vec<(u16, u64)>> {
        let number = |news: &Arc<News>| (news.mark.cell.0, news.mark.number);
        room.since(&at(heard)).map(|news| news.iter().map(number).collect())
    }

    #[test]
    fn a_watcher_goes_on_from_where_it_was_in_each_cell() {
        let room = Newsroom::new();
        let (mut one, mut other) = (room.column(CellId(0), Epoch(3)), room.column(CellId(1), Epoch(8)));
        assert_eq!(room.at(), at(&[(0, 3, 0), (1, 8, 0)]));
        one.tell((0..4).map(change));
        other.tell((0..2).map(change));
        one.tell((4..5).map(change));
        assert_eq!(room.at(), at(&[(0, 3, 5), (1, 8, 2)]));
        assert_eq!(numbers(&room, &[(0, 3, 3), (1, 8, 1)]), Some(vec![(0, 4), (1, 2), (0, 5)]));
        assert_eq!(
            numbers(&room, &[(0, 3, 5), (1, 8, 2), (7, 1, 1)]),
            Some(vec![]),
            "the seventh is not ours"
        );
        assert_eq!(numbers(&room, &[(0, 3, 6), (1, 8, 2)]), None, "from the future");
        assert_eq!(numbers(&room, &[(0, 2, 5), (1, 8, 2)]), None, "from another owner");
        assert_eq!(numbers(&room, &[(0, 3, 5)]), None, "of the other cell they heard nothing");
        drop(other);
        assert_eq!(
            numbers(&room, &[(0, 3, 4), (1, 8, 1)]),
            Some(vec![(0, 5)]),
            "somebody else tells of it now"
        );
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let room = Newsroom::new();
        let mut column = room.column(CellId(0), Epoch(1));
        let told = 2 * REMEMBERED_MAX as u64;
        column.tell((0..u128::from(told)).map(change));
        assert!(room.since(&at(&[(0, 1, 1)])).is_none());
        let last = room.since(&at(&[(0, 1, told - 7)]));
        assert_eq!(last.map(|news| news.len()), Some(7));
    }
}
