//! Bounded memory: what does not fit waits in the store and is read in by order.
//!
//! Invariant: every waiting run that is only in the store has a queue key after `after`, or belongs to a
//! group whose `spilled_from` is at or before its key. When memory is short, a group keeps no more than
//! its part, so a flood of runs that cannot go on never keeps those behind it out of memory (I20).

use std::collections::BinaryHeap;

use mainspring_model::{RunId, Shelf, Timestamp};
use mainspring_store::ShelfQuery;

use crate::cell::Cell;
use crate::class::QueueKey;
use crate::event::ShelfRead;
use crate::message::Message;
use crate::queue::{Block, Group};
use crate::timers::{Armed, Subject};

/// Runs that a group may keep in memory however many groups there are.
const PER_GROUP_MIN: usize = 1;
/// Parked runs are read in again after so many polls.
const UNPARK_EVERY_POLLS: u32 = 10;

#[derive(Debug, Default)]
pub(crate) struct Overflow {
    /// Waiting runs after this key may be in the store only; none when all are in memory.
    pub(crate) after: Option<QueueKey>,
    /// A read of the waiting shelf is under way.
    reading: bool,
    /// The smallest key that went to the store while the read was under way.
    spilled: Option<QueueKey>,
    /// The first of the runs that are in the store because nothing here can take them.
    parked: Option<QueueKey>,
    /// When parked runs were last looked at for no other reason than time.
    unparked_at: Timestamp,
    /// Timed runs up to here are in memory.
    pub(crate) horizon: Timestamp,
    pub(crate) horizon_armed: Armed,
}

impl Overflow {
    /// Something with this key is only in the store.
    pub(crate) fn reread_from(&mut self, key: QueueKey) {
        let before = before(key);
        self.after = Some(self.after.map_or(before, |after| after.min(before)));
        if self.reading {
            self.spilled = Some(self.spilled.map_or(before, |spilled| spilled.min(before)));
        }
    }
}

/// The largest key smaller than `key`.
fn before((rank, id): QueueKey) -> QueueKey {
    match u128::from_be_bytes(*id.as_bytes()).checked_sub(1) {
        Some(less) => (rank, RunId::from_bytes(less.to_be_bytes())),
        None => (rank - 1, RunId::MAX),
    }
}

impl Cell {
    /// Takes a waiting run into memory, or leaves it to the store.
    pub(crate) fn admit(&mut self, ix: usize) -> bool {
        let key = self.runs.entries[ix].queue_key();
        if self.overflow.after.is_some_and(|after| key > after) {
            self.spill(ix, key);
            return false;
        }
        if self.queue.waiting >= self.config.waiting_max {
            self.evict();
            if self.overflow.after.is_some_and(|after| key > after) {
                self.spill(ix, key);
                return false;
            }
        }
        if self.group_is_full(ix) {
            self.spill(ix, key);
            return false;
        }
        self.join_group(ix);
        true
    }

    fn spill(&mut self, ix: usize, key: QueueKey) {
        self.stats.spilled += 1;
        self.note_spilled(ix, key);
        self.timers.disarm(&mut self.runs.entries[ix].armed, Subject::Run(ix));
    }

    /// Remembers that a run is only in the store: with its group when that has enough in memory, else as
    /// the place to read on from.
    pub(crate) fn note_spilled(&mut self, ix: usize, key: QueueKey) {
        let found = self.queue.find_group(&self.group_key(ix));
        let keeps = |group: &usize| {
            let group = &self.queue.groups[*group];
            group.spilled_from.is_some() || group.waiting.len() > self.per_group() / 2
        };
        match found.filter(keeps) {
            Some(group) => {
                let group = &mut self.queue.groups[group];
                group.spilled_from = Some(group.spilled_from.map_or(key, |from| from.min(key)));
            }
            None => self.overflow.reread_from(key),
        }
    }

    /// Whether a run that was read in may stay in memory.
    pub(crate) fn admit_read(&mut self, ix: usize) -> bool {
        let full = self.group_is_full(ix);
        if full {
            let key = self.runs.entries[ix].queue_key();
            self.note_spilled(ix, key);
        }
        !full
    }

    /// How many runs a group keeps in memory while some are in the store.
    fn per_group(&self) -> usize {
        (self.config.waiting_max / (2 * self.queue.groups.len().max(1))).max(PER_GROUP_MIN)
    }

    /// Whether a run must not join its group in memory: it has its part of it, or some of the group that
    /// come before this run are in the store.
    fn group_is_full(&self, ix: usize) -> bool {
        let Some(group) = self.queue.find_group(&self.group_key(ix)) else { return false };
        let group = &self.queue.groups[group];
        let key = self.runs.entries[ix].queue_key();
        let short = self.overflow.after.is_some() && group.waiting.len() >= self.per_group();
        short || group.spilled_from.is_some_and(|from| key > from)
    }

    /// Puts the last runs of the queue back to the store, a page at a time.
    fn evict(&mut self) {
        let last = |group: &crate::queue::Group| group.waiting.last_key_value().map(|(key, _)| *key);
        let mut tails: BinaryHeap<(QueueKey, usize)> =
            self.queue.groups.iter().filter_map(|(ix, group)| last(group).map(|key| (key, ix))).collect();
        let mut floor = None;
        for _ in 0..self.config.page_rows {
            let Some((key, group)) = tails.pop() else { break };
            let run = self.queue.groups[group].waiting[&key] as usize;
            self.leave_queue(run);
            if let Some(key) = self.queue.groups.get(group).and_then(last) {
                tails.push((key, group));
            }
            self.timers.disarm(&mut self.runs.entries[run].armed, Subject::Run(run));
            self.stats.spilled += 1;
            let entry = &self.runs.entries[run];
            if !entry.dirty && !entry.in_flight {
                self.forget(run);
            }
            floor = Some(key);
        }
        if let Some(key) = floor {
            self.overflow.reread_from(key);
        }
    }

    /// Memory is short and some of it holds runs that cannot go on until something changes: no node fits
    /// them, or their job is paused. They make room for those behind them.
    pub(crate) fn park_hopeless(&mut self) {
        if self.overflow.after.is_none() || self.queue.waiting <= self.config.waiting_max / 2 {
            return;
        }
        let hopeless =
            |group: &Group| group.block == Some(Block::Job) || self.hopeless(group.class).is_some();
        let all = self.queue.groups.iter();
        let groups: Vec<usize> = all.filter(|(_, group)| hopeless(group)).map(|(ix, _)| ix).collect();
        for group_ix in groups {
            let group = &mut self.queue.groups[group_ix];
            let mut first = group.spilled_from.take();
            let runs: Vec<(QueueKey, usize)> =
                group.waiting.iter().map(|(key, run)| (*key, *run as usize)).collect();
            for (key, run) in runs {
                let entry = &self.runs.entries[run];
                if !entry.dirty && !entry.in_flight {
                    first = Some(first.map_or(key, |first| first.min(key)));
                    self.forget(run);
                }
            }
            self.overflow.parked = match (self.overflow.parked, first) {
                (Some(parked), Some(first)) => Some(parked.min(first)),
                (parked, first) => parked.or(first),
            };
        }
    }

    /// Once in a while parked runs are looked at anyway: their time may have ended, or another cell may help.
    pub(crate) fn unpark_sometimes(&mut self, now: Timestamp) {
        if now.since(self.overflow.unparked_at) >= self.config.poll_every * UNPARK_EVERY_POLLS {
            self.overflow.unparked_at = now;
            self.unpark();
        }
    }

    /// Something changed that may help those that were hopeless: read them in again.
    pub(crate) fn unpark(&mut self) {
        if let Some(key) = self.overflow.parked.take() {
            self.overflow.reread_from(key);
            self.read_in();
        }
    }

    /// A group lost a run: it may be empty, or have room for those of it that are in the store.
    pub(crate) fn group_shrank(&mut self, group_ix: usize) {
        let per_group = self.per_group();
        let group = &mut self.queue.groups[group_ix];
        if group.waiting.len() <= per_group / 2
            && let Some(key) = group.spilled_from.take()
        {
            self.overflow.reread_from(key);
        }
        if self.queue.groups[group_ix].waiting.is_empty() {
            let mut group = self.queue.remove_group(group_ix);
            self.timers.disarm(&mut group.armed, Subject::Group(group_ix));
            self.concurrency.forget_group(group.job, &group.key.concurrency, group_ix);
            if let Some(job) = self.shapes.jobs.get_mut(group.job) {
                job.groups.remove(&group_ix);
            }
        }
        self.read_in();
    }

    /// Reads runs in when memory has room for them.
    pub(crate) fn read_in(&mut self) {
        let Some(after) = self.overflow.after else { return };
        if self.overflow.reading || self.loading.is_some() || self.queue.waiting > self.config.waiting_max / 2
        {
            return;
        }
        self.overflow.reading = true;
        self.overflow.spilled = None;
        let limit = self.config.page_rows;
        self.read(Shelf::Waiting, Some(after), None, limit);
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

    /// A page of the waiting shelf arrived.
    pub(crate) fn waiting_read(&mut self, now: Timestamp, read: ShelfRead) {
        self.overflow.reading = false;
        let key = |run: &mainspring_model::Run| (run.status.place.map_or(0, |place| place.rank), run.head.id);
        let end = read.rows.last().map(|row| key(&row.run));
        self.overflow.after = if read.more { end.or(self.overflow.after) } else { None };
        if let Some(spilled) = self.overflow.spilled.take() {
            self.overflow.after = Some(self.overflow.after.map_or(spilled, |after| after.min(spilled)));
        }
        for row in read.rows {
            if self.runs.find(row.run.head.id).is_some() {
                continue;
            }
            let key = key(&row.run);
            if self.queue.waiting >= self.config.waiting_max {
                self.overflow.reread_from(key);
                break;
            }
            self.adopt(now, row);
        }
        self.read_in();
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
