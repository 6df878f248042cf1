//! Taking rows in: all of them when the cell is taken, those of a job when somebody changed it.

use mainspring_model::{JobId, Timestamp};
use mainspring_store::{Record, RecordQuery};
use rustc_hash::FxHashSet;

use super::fire::is_untouched;
use super::row::{self, TriggerRow};
use super::{TriggersRead, row::news_of};
use crate::cell::Cell;
use crate::message::{Answer, Message};

impl Cell {
    /// Reads all triggers of the cell; it acts when it has them.
    pub(crate) fn load_triggers(&mut self) {
        let query = TriggerRow::of_cell(self.config.cell, None);
        self.outbox.now.push(Message::ReadTriggers(query));
    }

    /// Looks whether somebody who could not tell changed triggers.
    pub(crate) fn look_for_trigger_news(&mut self) {
        self.outbox.now.push(Message::ReadTriggers(news_of(self.config.cell)));
    }

    /// Somebody changed the triggers of a job.
    pub(crate) fn triggers_changed(&mut self, job: JobId) {
        let query = TriggerRow::of_job(self.config.cell, job);
        self.outbox.now.push(Message::ReadTriggers(query));
    }

    pub(crate) fn triggers_read(&mut self, now: Timestamp, read: TriggersRead) {
        let TriggersRead { query, rows, more } = read;
        if row::is_news(&query) {
            self.news_read(&rows, query.after.is_none() && !more);
            return match rows.last() {
                Some(last) if more => self.read_on(query, last),
                _ => {}
            };
        }
        let job = query.prefix.get(2..).and_then(|job| job.try_into().ok()).map(JobId::from_bytes);
        let found: Vec<TriggerRow> = rows.iter().filter_map(TriggerRow::read).collect();
        if let Some(job) = job {
            self.drop_missing(job, &found);
        }
        for row in found {
            self.take_row(now, row);
        }
        match (job, rows.last()) {
            (None, Some(last)) if more => self.read_on(query, last),
            (None, _) if self.loading.is_some() => self.loaded(now),
            (None, _) => {}
            (Some(_), _) => {}
        }
    }

    fn read_on(&mut self, query: RecordQuery, last: &Record) {
        let query = RecordQuery { after: Some(last.key.clone()), ..query };
        self.outbox.now.push(Message::ReadTriggers(query));
    }

    fn news_read(&mut self, rows: &[Record], whole: bool) {
        for record in rows {
            let Some(job) = row::news_about(record) else { continue };
            if self.triggers.news.insert(job, record.revision) != Some(record.revision) {
                self.triggers_changed(job);
            }
        }
        if !whole {
            return;
        }
        let known: FxHashSet<JobId> = rows.iter().filter_map(row::news_about).collect();
        self.triggers.news.retain(|job, _| known.contains(job));
    }

    /// What a job no longer has goes, if nothing of it is being written.
    fn drop_missing(&mut self, job: JobId, found: &[TriggerRow]) {
        for ix in self.triggers.of_job(job) {
            let entry = &mut self.triggers.entries[ix];
            if found.iter().any(|row| row.key == entry.row.key) {
                continue;
            }
            match entry.in_flight || entry.dirty {
                true => entry.stale = true, // Its write is refused, and it is read once more.
                false => self.drop_trigger(ix),
            }
        }
    }

    pub(super) fn drop_trigger(&mut self, ix: usize) {
        for request in self.triggers.remove(ix) {
            let message = "the trigger was removed".to_owned();
            self.reply_now(request, Answer::Refused { code: mainspring_model::ErrorCode::NotFound, message });
        }
    }

    fn take_row(&mut self, now: Timestamp, row: TriggerRow) {
        let Some(ix) = self.triggers.find(row.key.job, &row.key.name) else {
            let ix = self.triggers.insert(row);
            self.recall(now, ix);
            return self.arm_trigger(ix);
        };
        let entry = &mut self.triggers.entries[ix];
        let unwritten = entry.stale || entry.dirty;
        entry.stale = false;
        if (row.state.version, row.revision) <= (entry.row.state.version, entry.row.revision) {
            return self.arm_trigger(ix); // What is in memory is as new.
        }
        // Whoever wrote it had read it before: where it stands is known best here.
        if row.state.definition == entry.row.state.definition {
            entry.row.revision = row.revision;
            entry.row.state.version = row.state.version;
            entry.spec = None;
            if unwritten {
                self.mark_trigger(ix);
            }
            return self.arm_trigger(ix);
        }
        let (asked, waits) = (entry.asked.take(), entry.waits);
        let state = row::carried(&entry.row.state, row.state.clone());
        let changed = state != row.state;
        self.triggers.remove(ix);
        let ix = self.triggers.insert(TriggerRow { state, ..row });
        let entry = &mut self.triggers.entries[ix];
        (entry.asked, entry.waits) = (asked, waits);
        if changed {
            self.mark_trigger(ix);
        }
        self.recall(now, ix);
        self.arm_trigger(ix);
    }

    /// What a new owner finds out from the runs: whether the last one waits, or has ended meanwhile.
    fn recall(&mut self, now: Timestamp, ix: usize) {
        let state = &self.triggers.entries[ix].row.state;
        let run = state.last.and_then(|last| self.runs.find(last)).map(|run| &self.runs.entries[run].status);
        match run.filter(|run| !run.state.is_terminal()) {
            Some(run) => self.triggers.entries[ix].waits = is_untouched(run),
            // It ended, and whoever owned the cell then could not write down what follows.
            None if state.awaits_end => {
                self.delay_on(now, ix);
                self.mark_trigger(ix);
            }
            None => {}
        }
    }
}
