//! Reading waiting runs in again, by order.
//!
//! A look through the waiting shelf begins where a hungry group left off, or where nobody has looked yet, and
//! goes on page by page until those it is for have enough. Invariant: a group takes a run from the store
//! only if it took all of its own before that one; a run that was passed by makes the group wait for the next
//! look, which begins there.

use mainspring_model::{RunId, Shelf, Timestamp};
use mainspring_store::ShelfQuery;

use crate::cell::Cell;
use crate::class::QueueKey;
use crate::event::ShelfRead;
use crate::message::Message;
use crate::overflow::before;
use crate::timers::{Armed, Subject};

/// A look through the waiting shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) number: u64,
    /// It began after this key.
    from: QueueKey,
    /// It looks at what nobody has looked at, and not only for hungry groups.
    discovers: bool,
}

impl Cell {
    /// Begins a look through the waiting shelf, if there is room and need and none is under way.
    pub(crate) fn read_in(&mut self) {
        if self.overflow.scan.is_some() || self.loading.is_some() {
            return;
        }
        let hungry = self.overflow.hungry.iter().filter_map(|ix| self.queue.groups[*ix].spilled_from).min();
        let (from, discovers) = match (hungry, self.overflow.after) {
            (Some(first), _) if self.queue.waiting < self.config.waiting_max => (before(first), false),
            (_, Some(after)) if self.queue.waiting <= self.config.waiting_max / 2 => (after, true),
            _ => return,
        };
        self.overflow.scans += 1;
        self.overflow.scan = Some(Scan { number: self.overflow.scans, from, discovers });
        self.overflow.spilled = None;
        self.read(Shelf::Waiting, Some(from), None, self.config.page_rows);
    }

    /// A page of the waiting shelf arrived.
    pub(crate) fn waiting_read(&mut self, now: Timestamp, read: ShelfRead) {
        let Some(scan) = self.overflow.scan else { return };
        let key = |run: &mainspring_model::Run| (run.status.place.map_or(0, |place| place.rank), run.head.id);
        let mut at = read.query.after;
        let mut at_end = !read.more;
        let mut full = false;
        for row in read.rows {
            let key = key(&row.run);
            if !scan.discovers && self.overflow.after.is_some_and(|after| key > after) {
                at_end = true;
                break;
            }
            if self.runs.find(row.run.head.id).is_none() {
                if self.queue.waiting >= self.config.waiting_max {
                    (full, at_end) = (true, false);
                    break;
                }
                self.adopt(now, row);
            }
            at = Some(key);
        }
        if scan.discovers {
            self.overflow.after = if at_end { None } else { at };
        }
        if at_end {
            self.all_taken(scan);
        }
        if !at_end && !full && self.wants_more(scan) {
            return self.read(Shelf::Waiting, at, None, self.config.page_rows);
        }
        self.overflow.scan = None;
        if let Some(spilled) = self.overflow.spilled.take() {
            self.overflow.after = Some(self.overflow.after.map_or(spilled, |after| after.min(spilled)));
        }
        self.read_in();
    }

    /// Whether a run that was read in may stay in memory.
    pub(crate) fn admit_read(&mut self, ix: usize) -> bool {
        let Some(scan) = self.overflow.scan else { return true };
        if self.shapes.of(&self.runs.entries[ix]).kept {
            return true;
        }
        let key = self.runs.entries[ix].queue_key();
        let Some(group_ix) = self.queue.find_group(&self.group_key(ix)) else { return true };
        let per_group = self.per_group();
        let group = &mut self.queue.groups[group_ix];
        let full = group.waiting.len() >= per_group;
        match group.spilled_from {
            Some(from) if key >= from => {
                if full || scan.from >= from || group.passed_by == scan.number {
                    group.passed_by = scan.number;
                    return false;
                }
                group.spilled_from = Some(after(key));
                if group.waiting.len() >= per_group / 2 {
                    self.overflow.hungry.remove(&group_ix);
                }
                true
            }
            _ if full => {
                group.spilled_from = Some(key);
                group.passed_by = scan.number;
                false
            }
            _ => true,
        }
    }

    /// Whether the next page may still help those that the look is for.
    fn wants_more(&self, scan: Scan) -> bool {
        if scan.discovers {
            return self.queue.waiting <= self.config.waiting_max / 2;
        }
        let mut hungry = self.overflow.hungry.iter().map(|ix| &self.queue.groups[*ix]);
        hungry.any(|group| {
            group.passed_by != scan.number && group.spilled_from.is_some_and(|from| from > scan.from)
        })
    }

    /// The look came to its end: groups of which it passed nothing by have all of theirs in memory.
    fn all_taken(&mut self, scan: Scan) {
        for (ix, group) in &mut self.queue.groups {
            if group.passed_by != scan.number && group.spilled_from.is_some_and(|from| from > scan.from) {
                group.spilled_from = None;
                self.overflow.hungry.remove(&ix);
            }
        }
    }

    pub(crate) fn read(
        &mut self,
        shelf: Shelf,
        after: Option<QueueKey>,
        rank_max: Option<i64>,
        limit: usize,
    ) {
        let query = ShelfQuery { cell: self.config.cell, shelf, after, rank_max, limit };
        self.outbox.now.push(Message::Read(query));
    }

    /// The horizon moves on: what becomes due is read in.
    pub(crate) fn horizon_due(&mut self, now: Timestamp) {
        self.overflow.horizon_armed = Armed::NOT;
        let old = self.overflow.horizon;
        self.overflow.horizon = old.max(now + self.config.timed_horizon);
        let after = (old.as_micros(), RunId::MAX);
        self.read(Shelf::Timed, Some(after), Some(self.overflow.horizon.as_micros()), self.config.page_rows);
        self.arm_horizon();
    }

    pub(crate) fn arm_horizon(&mut self) {
        let at = self.overflow.horizon - self.config.timed_horizon / 2;
        self.timers.arm(&mut self.overflow.horizon_armed, Some(at), Subject::Horizon);
    }
}

/// The smallest key larger than `key`.
fn after((rank, id): QueueKey) -> QueueKey {
    match u128::from_be_bytes(*id.as_bytes()).checked_add(1) {
        Some(more) => (rank, RunId::from_bytes(more.to_be_bytes())),
        None => (rank + 1, RunId::MIN),
    }
}
