//! Bounded memory: what does not fit waits in the store.
//!
//! Invariant: every waiting run that is only in the store has a queue key after `after`, or belongs to a
//! group whose `spilled_from` is at or before its key; what a group has in memory comes before that. When
//! memory is short a group keeps no more than its part, so a flood of runs that cannot go on never keeps
//! those behind it out of memory (I20). How runs are read in again is in `refill`.
//!
//! A job whose overlap policy looks at those that wait is kept: its runs never leave memory, so the policy sees them all.
//! There are few, because the policy lets no more in. What an earlier owner left in the store is looked for by `overdue`.

use std::collections::{BTreeSet, BinaryHeap};

use mainspring_model::{RunId, Timestamp};

use crate::cell::Cell;
use crate::class::QueueKey;
use crate::queue::{Block, Group};
use crate::refill::Scan;
use crate::timers::{Armed, Subject};

/// Runs that a group may keep in memory however many groups there are.
const PER_GROUP_MIN: usize = 1;
/// Parked runs are read in again after so many polls.
const UNPARK_EVERY_POLLS: u32 = 10;

#[derive(Debug, Default)]
pub(crate) struct Overflow {
    /// Nobody has looked at the waiting runs after this key; none when all were looked at.
    pub(crate) after: Option<QueueKey>,
    /// Groups that run low and have runs in the store.
    pub(crate) hungry: BTreeSet<usize>,
    /// The look through the waiting shelf that is under way.
    pub(crate) scan: Option<Scan>,
    /// How many there were.
    pub(crate) scans: u64,
    /// The smallest key that went to the store unnoticed by a group while a look was under way.
    pub(crate) spilled: Option<QueueKey>,
    /// The first of the runs that are in the store because nothing here can take them.
    parked: Option<QueueKey>,
    /// When parked runs were last looked at for no other reason than time.
    unparked_at: Timestamp,
    /// Timed runs up to here are in memory.
    pub(crate) horizon: Timestamp,
    pub(crate) horizon_armed: Armed,
}

impl Overflow {
    /// Something with this key is only in the store, and no group remembers it.
    pub(crate) fn reread_from(&mut self, key: QueueKey) {
        let before = before(key);
        self.after = Some(self.after.map_or(before, |after| after.min(before)));
        if self.scan.is_some() {
            self.spilled = Some(self.spilled.map_or(before, |spilled| spilled.min(before)));
        }
    }
}

/// The largest key smaller than `key`.
pub(crate) fn before((rank, id): QueueKey) -> QueueKey {
    match u128::from_be_bytes(*id.as_bytes()).checked_sub(1) {
        Some(less) => (rank, RunId::from_bytes(less.to_be_bytes())),
        None => (rank - 1, RunId::MAX),
    }
}

impl Cell {
    /// Takes a waiting run into memory, or leaves it to the store.
    pub(crate) fn admit(&mut self, ix: usize) -> bool {
        if self.shapes.of(&self.runs.entries[ix]).kept {
            self.join_group(ix);
            return true;
        }
        let key = self.runs.entries[ix].queue_key();
        if self.queue.waiting >= self.config.waiting_max {
            self.make_room();
        }
        let group = self.queue.find_group(&self.group_key(ix)).map(|group| &self.queue.groups[group]);
        let behind = |from: Option<QueueKey>| from.is_some_and(|from| key >= from);
        let to_store = behind(self.overflow.after)
            || group.is_some_and(|group| {
                behind(group.spilled_from)
                    || (self.overflow.after.is_some() && group.waiting.len() >= self.per_group())
            });
        if to_store {
            self.stats.spilled += 1;
            self.note_spilled(ix, key);
            self.disarm_run(ix);
        } else {
            self.join_group(ix);
        }
        !to_store
    }

    /// Remembers that a run is only in the store: with its group, if that is in memory, else as the place to
    /// look on from.
    pub(crate) fn note_spilled(&mut self, ix: usize, key: QueueKey) {
        match self.queue.find_group(&self.group_key(ix)) {
            Some(group) => self.spill_from(group, key),
            None => self.overflow.reread_from(key),
        }
    }

    fn spill_from(&mut self, group_ix: usize, key: QueueKey) {
        let group = &mut self.queue.groups[group_ix];
        group.spilled_from = Some(group.spilled_from.map_or(key, |from| from.min(key)));
        if let Some(scan) = self.overflow.scan {
            // It may have been written after the page was read.
            group.passed_by = scan.number;
        }
        self.note_hunger(group_ix);
    }

    /// How many runs a group keeps in memory while some are in the store.
    pub(crate) fn per_group(&self) -> usize {
        (self.config.waiting_max / (2 * self.queue.loose_groups().max(1))).max(PER_GROUP_MIN)
    }

    /// Memory is full: every group gives up what it has beyond its part, else those that come last go.
    fn make_room(&mut self) {
        self.trim();
        if self.queue.waiting < self.config.waiting_max {
            return;
        }
        let last = |group: &Group| group.waiting.last_key_value().map(|(key, _)| *key);
        let mut tails: BinaryHeap<(QueueKey, usize)> =
            self.loose_groups().filter_map(|(ix, group)| Some((last(group)?, ix))).collect();
        for _ in 0..self.config.page_rows {
            let Some((key, group)) = tails.pop() else { break };
            self.leave_to_store(group, key);
            if let Some(key) = self.queue.groups.get(group).and_then(last) {
                tails.push((key, group));
            }
        }
    }

    fn loose_groups(&self) -> impl Iterator<Item = (usize, &Group)> {
        self.queue.groups.iter().filter(|(_, group)| !group.kept)
    }

    /// Every group gives up what it has beyond its part.
    pub(crate) fn trim(&mut self) {
        let per_group = self.per_group();
        let large: Vec<usize> = self
            .loose_groups()
            .filter(|(_, group)| group.waiting.len() > per_group)
            .map(|(ix, _)| ix)
            .collect();
        for group in large {
            let surplus: Vec<QueueKey> =
                self.queue.groups[group].waiting.keys().skip(per_group).copied().collect();
            for key in surplus.into_iter().rev() {
                self.leave_to_store(group, key);
            }
        }
    }

    /// Leaves a waiting run to the store. It leaves memory at once, or when it is written.
    fn leave_to_store(&mut self, group: usize, key: QueueKey) {
        let run = self.queue.groups[group].waiting[&key] as usize;
        self.spill_from(group, key);
        self.leave_queue(run);
        self.disarm_run(run);
        self.stats.spilled += 1;
        let entry = &self.runs.entries[run];
        if !entry.dirty && !entry.in_flight {
            self.forget(run);
        }
    }

    /// Memory is short and some of it holds runs that cannot go on until something changes: no node fits
    /// them, or their job is paused. They make room for those behind them.
    pub(crate) fn park_hopeless(&mut self) {
        if self.overflow.after.is_none() || self.queue.waiting <= self.config.waiting_max / 2 {
            return;
        }
        let hopeless = |group: &Group| group.block == Some(Block::Job) || self.is_hopeless(group.class);
        let groups: Vec<usize> =
            self.loose_groups().filter(|(_, group)| hopeless(group)).map(|(ix, _)| ix).collect();
        for group_ix in groups {
            let group = &mut self.queue.groups[group_ix];
            let mut first = group.spilled_from.take();
            self.overflow.hungry.remove(&group_ix);
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

    /// Once in a while parked runs are looked at anyway: another cell may help.
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

    /// A group lost a run: it may be empty, or run low while more of it is in the store.
    pub(crate) fn group_shrank(&mut self, group_ix: usize) {
        self.note_hunger(group_ix);
        if self.queue.groups[group_ix].waiting.is_empty() {
            let mut group = self.queue.remove_group(group_ix);
            self.overflow.hungry.remove(&group_ix);
            if let Some(key) = group.spilled_from {
                self.overflow.reread_from(key);
            }
            self.timers.disarm(&mut group.armed, Subject::Group(group_ix));
            self.concurrency.forget_group(group.job, group.key.concurrency(), group_ix);
            if let Some(job) = self.shapes.jobs.get_mut(group.job) {
                job.groups.remove(&group_ix);
            }
        }
        self.read_in();
    }

    pub(crate) fn note_hunger(&mut self, group_ix: usize) {
        let group = &self.queue.groups[group_ix];
        if group.spilled_from.is_some() && group.waiting.len() <= self.per_group() / 2 {
            self.overflow.hungry.insert(group_ix);
        }
    }
}
