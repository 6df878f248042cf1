//! Writing: lines of the ledger go with their runs, and a trigger's row goes when all that it says was made is cut. So a run
//! may be in the store before the row says so, and never the other way round.

use mainspring_store::{Conflict, Record, Write};
use rustc_hash::FxHashSet;

use super::row::Occurrence;
use crate::cell::Cell;
use crate::outbox::Written;

/// Lines and rows written at once, each.
pub(crate) const PER_BATCH_MAX: usize = 2_000;

/// A line of the ledger on its way.
#[derive(Debug)]
pub(crate) struct Line {
    trigger: u32,
    run: Option<u32>,
    record: Record,
    occurrence: Occurrence,
}

impl Line {
    /// Says why.
    pub(super) fn say(&mut self, reason: &str) {
        if self.occurrence.reason.is_empty() {
            self.occurrence.reason = reason.into();
            self.record.value = serde_json::to_vec(&self.occurrence).unwrap_or_default().into();
        }
    }
}

impl Cell {
    pub(super) fn mark_trigger(&mut self, ix: usize) {
        let entry = &mut self.triggers.entries[ix];
        if !entry.dirty {
            entry.dirty = true;
            self.outbox.dirty_triggers.push(ix);
        }
    }

    /// Writes a line of the ledger, with its run.
    pub(super) fn note(&mut self, ix: usize, run: Option<usize>, occurrence: Occurrence) {
        let record = occurrence.write(&self.triggers.entries[ix].row.key);
        let line = Line { trigger: ix as u32, run: run.map(|run| run as u32), record, occurrence };
        *self.outbox.unfinished.entry(line.trigger).or_default() += 1;
        self.outbox.ledger.push_back(line);
    }

    /// After the runs of the batch: what follows from those that are in it.
    pub(crate) fn cut_triggers(&mut self, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        // In the order of their runs: what is behind one that waits, waits too.
        let mut keys = FxHashSet::default();
        for _ in 0..PER_BATCH_MAX {
            let Some(line) = self.outbox.ledger.front() else { break };
            let run = line.run.and_then(|run| self.runs.entries.get(run as usize));
            if run.is_some_and(|run| run.dirty) {
                break;
            }
            if let Some(line) = self.outbox.ledger.pop_front() {
                self.outbox.line_cut(line.trigger);
                // A moment that was looked at twice is told once: a row is written once in a batch.
                if keys.insert(line.record.key.clone()) {
                    writes.push(Write::PutRecord(Box::new(line.record)));
                    written.push(Written::History);
                }
            }
        }
        // Those that were changed last are the last to be finished: there is no need to look at all of them.
        let looked = self.outbox.dirty_triggers.len().min(2 * PER_BATCH_MAX);
        let rest = self.outbox.dirty_triggers.split_off(looked);
        let mut rows = 0;
        for ix in std::mem::take(&mut self.outbox.dirty_triggers) {
            let Some(entry) = self.triggers.entries.get_mut(ix) else { continue };
            if !entry.dirty {
                continue;
            }
            let unfinished = self.outbox.unfinished.contains_key(&(ix as u32));
            if rows == PER_BATCH_MAX || entry.in_flight || unfinished {
                self.outbox.dirty_triggers.push(ix);
                continue;
            }
            rows += 1;
            entry.dirty = false;
            entry.in_flight = true;
            entry.row.revision += 1;
            writes.push(Write::PutRecord(Box::new(entry.row.record(self.config.cell))));
            written.push(Written::Trigger(ix));
        }
        self.outbox.dirty_triggers.extend(rest);
    }

    /// A trigger's row is written, or somebody else wrote it: then it is read again.
    pub(crate) fn trigger_written(&mut self, ix: usize, conflict: Option<&Conflict>) {
        let Some(entry) = self.triggers.entries.get_mut(ix) else { return };
        entry.in_flight = false;
        let job = entry.row.key.job;
        match conflict {
            None if entry.stale => self.triggers_changed(job),
            None => {}
            Some(Conflict::Missing) => self.drop_trigger(ix),
            Some(Conflict::Version(_) | Conflict::Exists | Conflict::KeyTaken(_)) => {
                // Whatever is read is newer than what was not written.
                (entry.stale, entry.dirty, entry.row.revision) = (true, false, 0);
                self.triggers_changed(job);
            }
        }
    }
}
