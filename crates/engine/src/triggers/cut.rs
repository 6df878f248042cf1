//! Writing: lines of the ledger go with their runs, and a trigger's row goes when all that it says was made is cut. So a run
//! may be in the store before the row says so, and never the other way round.

use mainspring_model::RunId;
use mainspring_store::{Conflict, Record, Write};
use rustc_hash::FxHashSet;

use super::Owed;
use super::ends::TriggerPaused;
use super::ledger::Occurrence;
use crate::cell::Cell;
use crate::outbox::Written;
use crate::timers::Armed;

/// Lines and rows written at once, each.
pub(crate) const PER_BATCH_MAX: usize = 1_000;

/// Lines that are written at once because their runs are.
const LINES_PER_BATCH_MAX: usize = 2 * PER_BATCH_MAX;
/// Ends that are followed at once.
const FOLLOWED_PER_BATCH_MAX: usize = 1_000;

/// A line of the ledger on its way.
#[derive(Debug)]
pub(crate) struct Line {
    trigger: u32,
    run: Option<u32>,
    record: Record,
    occurrence: Occurrence,
    /// The end that it tells of.
    end: Option<RunId>,
}

impl Line {
    /// Says who fired it, before what it says already.
    pub(super) fn fired_by(&mut self, who: &str) {
        self.occurrence.by_hand = true;
        self.occurrence.reason = match &*self.occurrence.reason {
            "" => format!("fired by {who}").into(),
            before => format!("fired by {who}: {before}").into(),
        };
        self.record.value = serde_json::to_vec(&self.occurrence).unwrap_or_default().into();
    }

    fn run(&self) -> Option<usize> {
        self.run.map(|run| run as usize)
    }

    /// Tells what became of an end.
    pub(super) fn tells(&mut self, end: RunId) {
        self.end = Some(end);
    }

    /// Goes over a line of this revision.
    pub(super) fn over(&mut self, revision: u64) {
        self.record.revision = revision + 1;
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
        self.note_end(ix, run, occurrence, None);
    }

    /// Writes a line of the ledger that tells what became of an end.
    pub(super) fn note_end(
        &mut self,
        ix: usize,
        run: Option<usize>,
        occurrence: Occurrence,
        end: Option<RunId>,
    ) {
        let kept = self.config.occurrences_kept;
        let record = occurrence.write(&self.triggers.entries[ix].row.key, kept);
        let line = Line { trigger: ix as u32, run: run.map(|run| run as u32), record, occurrence, end };
        *self.outbox.unfinished.entry(line.trigger).or_default() += 1;
        self.outbox.ledger.push_back(line);
    }

    /// After the runs of the batch: what follows from those that are in it.
    pub(crate) fn cut_triggers(
        &mut self,
        writes: &mut Vec<Write>,
        written: &mut Vec<Written>,
    ) -> Vec<TriggerPaused> {
        // In the order of their runs: what is behind one that waits, waits too.
        let mut keys = FxHashSet::default();
        let mut rows = Vec::new();
        let mut of = None;
        // Runs that are in the batch and whose lines are not yet.
        let is_fired = |written: &&Written| match written {
            Written::InsertRun(run) => self.runs.entries[*run].head.fired.is_some(),
            _ => false,
        };
        let mut left = written.iter().filter(is_fired).count();
        for lines in 0.. {
            let Some(line) = self.outbox.ledger.front() else { break };
            // All lines of one look go together, and with their runs.
            let is_full = lines >= PER_BATCH_MAX && (left == 0 || lines >= LINES_PER_BATCH_MAX);
            if of != Some(line.trigger) && (is_full || self.waits_for_runs(line.trigger)) {
                break;
            }
            left = left.saturating_sub(usize::from(line.run.is_some()));
            of = Some(line.trigger);
            if let Some(line) = self.outbox.ledger.pop_front() {
                if self.outbox.line_cut(line.trigger) {
                    rows.push(line.trigger as usize);
                }
                let told = line.end.zip(self.triggers.entries.get(line.trigger as usize));
                if let Some((end, entry)) = told {
                    self.triggers.pending.remove(&entry.row.key, end);
                }
                // A moment that was looked at twice is told once: a row is written once in a batch.
                if keys.insert(line.record.key.clone()) {
                    writes.push(Write::PutRecord(Box::new(line.record)));
                    written.push(Written::History);
                }
            }
        }
        // The row goes with the last of its lines: what was told and how far it got are one.
        let mut room = PER_BATCH_MAX.saturating_sub(rows.len());
        for ix in rows {
            self.cut_row(ix, writes, written);
        }
        // Those that were changed last are the last to be finished: there is no need to look at all of them.
        let looked = self.outbox.dirty_triggers.len().min(2 * PER_BATCH_MAX);
        let rest = self.outbox.dirty_triggers.split_off(looked);
        for ix in std::mem::take(&mut self.outbox.dirty_triggers) {
            let is_dirty = self.triggers.entries.get(ix).is_some_and(|entry| entry.dirty);
            let unfinished = self.outbox.unfinished.contains_key(&(ix as u32));
            if is_dirty && (unfinished || room == 0) {
                self.outbox.dirty_triggers.push(ix);
            } else if is_dirty {
                room -= 1;
                self.cut_row(ix, writes, written);
            }
        }
        self.outbox.dirty_triggers.extend(rest);
        for write in self.triggers.pending.cut(self.config.cell) {
            writes.push(write);
            written.push(Written::History);
        }
        if self.outbox.paused.is_empty() {
            return Vec::new();
        }
        let rows = written.iter().filter_map(|written| match written {
            Written::Trigger(ix) => Some(*ix),
            _ => None,
        });
        let mut paused = Vec::new();
        for ix in rows {
            if let Some((one, is_cut)) = self.outbox.paused.get_mut(&ix) {
                *is_cut = true;
                paused.push(one.clone());
            }
        }
        paused
    }

    /// Whether a run that the next lines are about is not in the batch.
    fn waits_for_runs(&self, trigger: u32) -> bool {
        let lines = self.outbox.ledger.iter().take_while(|line| line.trigger == trigger);
        let mut runs = lines.filter_map(|line| self.runs.entries.get(line.run? as usize));
        runs.any(|run| run.dirty)
    }

    /// Whoever asked for a change is answered when it is in the store, also where somebody else wrote the row meanwhile.
    pub(super) fn answer_when_written(&mut self, ix: usize, owed: Owed) {
        self.triggers.replies.entry(ix as u32).or_default().0.push(owed);
    }

    fn row_answered(&mut self, ix: usize, is_written: bool) {
        let Some((waiting, under_way)) = self.triggers.replies.get_mut(&(ix as u32)) else { return };
        let owed = std::mem::take(under_way);
        if !is_written {
            return waiting.extend(owed);
        }
        if waiting.is_empty() {
            self.triggers.replies.remove(&(ix as u32));
        }
        for owed in owed {
            let (request, answer) = owed.answer();
            self.reply_now(request, answer);
        }
    }

    /// Writes where a trigger stands, if that changed.
    fn cut_row(&mut self, ix: usize, writes: &mut Vec<Write>, written: &mut Vec<Written>) {
        let Some(entry) = self.triggers.entries.get_mut(ix).filter(|entry| entry.dirty) else { return };
        entry.dirty = false;
        if entry.row.revision == 0 {
            return; // It is being read, and written after that.
        }
        entry.in_flight = true;
        entry.row.revision += 1;
        writes.push(Write::PutRecord(Box::new(entry.row.record(self.config.cell))));
        written.push(Written::Trigger(ix));
        if let Some((waiting, under_way)) = self.triggers.replies.get_mut(&(ix as u32)) {
            under_way.append(waiting);
        }
    }

    /// How many of the runs to be written go with this batch, so that all runs of one look at a trigger go together, and not
    /// more is followed than a transaction takes.
    pub(crate) fn runs_at_once(&mut self, max: usize) -> usize {
        let mut count = self.outbox.dirty_runs.len().min(max);
        if !self.triggers.followers.is_empty() {
            let mut followed = 0;
            let fits = |run: &&usize| {
                followed += self.follower_count(**run);
                followed <= FOLLOWED_PER_BATCH_MAX
            };
            let fit = self.outbox.dirty_runs[..count].iter().take_while(fits).count();
            count = fit.max(count.min(1));
        }
        let (lines, is_all) = self.next_lines();
        if lines.is_empty() || (count == self.outbox.dirty_runs.len() && is_all) {
            return count;
        }
        let mut taken: FxHashSet<usize> = self.outbox.dirty_runs[..count].iter().copied().collect();
        let seen: FxHashSet<usize> = lines.iter().filter_map(|line| line.run()).collect();
        if !is_all {
            // A run whose line is too far behind goes with it.
            taken.retain(|run| seen.contains(run) || !self.is_told_with_its_insert(*run));
        }
        for (n, look) in lines.chunk_by(|one, other| one.trigger == other.trigger).enumerate() {
            let runs = || look.iter().filter_map(|line| line.run());
            if n == 0 || runs().any(|run| taken.contains(&run)) {
                taken.extend(runs());
            }
        }
        // Runs are as old as their lines, so they are not far behind.
        let near = self.outbox.dirty_runs.len().min(count + LINES_PER_BATCH_MAX);
        let near = &mut self.outbox.dirty_runs[..near];
        let (go, stay): (Vec<usize>, Vec<usize>) = near.iter().partition(|run| taken.contains(run));
        near[..go.len()].copy_from_slice(&go);
        near[go.len()..].copy_from_slice(&stay);
        go.len()
    }

    /// The lines that may go with the next batch, to the end of a look; and whether these are all.
    fn next_lines(&self) -> (Vec<&Line>, bool) {
        let mut lines: Vec<&Line> = Vec::new();
        for line in &self.outbox.ledger {
            let ends = lines.last().is_some_and(|last| last.trigger != line.trigger);
            if lines.len() >= LINES_PER_BATCH_MAX && ends {
                return (lines, false);
            }
            lines.push(line);
        }
        (lines, true)
    }

    /// Whether the run is new and of a moment, so that its line is written with it.
    fn is_told_with_its_insert(&self, run: usize) -> bool {
        let entry = &self.runs.entries[run];
        entry.status.version == 0 && entry.head.fired.is_some() && !self.is_unbegun_call(run)
    }

    /// A trigger's row is written, or somebody else wrote it: then it is read again.
    pub(crate) fn trigger_written(&mut self, ix: usize, conflict: Option<&Conflict>) {
        let Some(entry) = self.triggers.entries.get_mut(ix) else { return };
        entry.in_flight = false;
        let job = entry.row.key.job;
        self.row_answered(ix, conflict.is_none());
        if let Some((_, is_cut)) = self.outbox.paused.get_mut(&ix).filter(|(_, is_cut)| *is_cut) {
            *is_cut = false;
            if conflict.is_none() {
                self.outbox.paused.remove(&ix);
            }
        }
        let entry = &mut self.triggers.entries[ix];
        match conflict {
            None if entry.stale => self.triggers_changed(job),
            // What waited for its row goes on.
            None if entry.armed == Armed::NOT => self.arm_trigger(ix),
            None => {}
            Some(_) => {
                // Whatever is read is newer than what was not written. Where nothing is, it goes.
                (entry.stale, entry.dirty, entry.row.revision) = (true, false, 0);
                self.triggers_changed(job);
            }
        }
    }
}
