//! What changed lately in the cells that this process owns, for watch streams.
//!
//! A piece of news is told after its change is durable. A watcher that was away a moment goes on from its mark; one that was
//! away too long, or asks another owner, is told to read everything anew.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

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
    remembered: Arc<Mutex<VecDeque<Arc<News>>>>,
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
        Self { sender: broadcast::channel(BEHIND_MAX).0, remembered: Arc::default() }
    }

    pub(crate) fn column(&self, cell: CellId, epoch: Epoch) -> Column {
        Column { room: self.clone(), cell, epoch, number: 0 }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<News>> {
        self.sender.subscribe()
    }

    /// What came after `mark`; none when that is not remembered.
    pub(crate) fn since(&self, mark: Mark) -> Option<Vec<Arc<News>>> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let at = remembered.iter().rposition(|news| news.mark == mark)?;
        Some(remembered.range(at + 1..).cloned().collect())
    }
}

impl Column {
    pub(crate) fn tell(&mut self, changes: impl IntoIterator<Item = Changed>) {
        let mut remembered = self.room.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        for what in changes {
            self.number += 1;
            let mark = Mark { cell: self.cell, epoch: self.epoch, number: self.number };
            let news = Arc::new(News { mark, what });
            if remembered.len() == REMEMBERED_MAX {
                remembered.pop_front();
            }
            remembered.push_back(Arc::clone(&news));
            // Nobody may be listening.
            drop(self.room.sender.send(news));
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

    #[test]
    fn a_watcher_goes_on_from_its_mark() {
        let room = Newsroom::new();
        let mut column = room.column(CellId(0), Epoch(3));
        column.tell((0..5).map(change));
        let mark = |number| Mark { cell: CellId(0), epoch: Epoch(3), number };
        let numbers: Option<Vec<u64>> =
            room.since(mark(3)).map(|news| news.iter().map(|news| news.mark.number).collect());
        assert_eq!(numbers, Some(vec![4, 5]));
        assert_eq!(room.since(mark(5)).map(|news| news.len()), Some(0));
        assert!(room.since(mark(6)).is_none(), "from another owner, or the future");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let room = Newsroom::new();
        let mut column = room.column(CellId(0), Epoch(1));
        column.tell((0..2 * REMEMBERED_MAX as u128).map(change));
        assert!(room.since(Mark { cell: CellId(0), epoch: Epoch(1), number: 1 }).is_none());
    }
}
