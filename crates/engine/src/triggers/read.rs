//! Taking rows in: all of them when the cell is taken, those of a job when somebody changed it.

use mainspring_model::{ErrorCode, JobId, Timestamp};
use mainspring_store::{Record, RecordQuery};

use super::TriggersRead;
use super::calendars::is_calendar_news;
use super::fire::is_untouched;
use super::merge::{self, news_of};
use super::pending::End;
use super::row::{TriggerKey, TriggerRow, TriggerState};
use super::{Owed, Triggers};
use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};

impl Cell {
    /// Reads all triggers of the cell; it acts when it has them.
    pub(crate) fn load_triggers(&mut self) {
        let query = TriggerRow::of_cell(self.config.cell);
        self.outbox.now.push(Message::ReadTriggers(query));
    }

    /// Looks whether somebody who could not tell changed triggers.
    pub(crate) fn look_for_trigger_news(&mut self) {
        self.outbox.now.push(Message::ReadTriggers(news_of(self.config.cell)));
    }

    /// Somebody changed the triggers of a job.
    pub(crate) fn triggers_changed(&mut self, job: JobId) {
        if let Some(is_old) = self.triggers.reading.get_mut(&job) {
            *is_old = true;
            return;
        }
        self.triggers.reading.insert(job, false);
        let query = TriggerRow::of_job(self.config.cell, job);
        self.outbox.now.push(Message::ReadTriggers(query));
    }

    /// Somebody changed the triggers of a job and waits until this owner goes by the change.
    pub(crate) fn confirm_triggers(&mut self, request: RequestId, job: JobId) {
        self.triggers.confirming.entry(job).or_default().push(request);
        self.triggers_changed(job);
    }

    /// The rows of a job are in memory. Whoever waits for that is answered after the next fenced commit: it writes what was
    /// decided by the rows before, and it fails if the cell has another owner, which may have loaded before the change.
    fn triggers_confirmed(&mut self, job: JobId) {
        for request in self.triggers.confirming.remove(&job).unwrap_or_default() {
            self.outbox.after_proof(Message::Reply { request, answer: Answer::Done });
        }
    }

    pub(crate) fn triggers_read(&mut self, now: Timestamp, read: TriggersRead) {
        let TriggersRead { query, rows, more } = read;
        if merge::is_news(&query) || is_calendar_news(&query) {
            self.news_read(&query, &rows, more);
            return match rows.last() {
                Some(last) if more => self.read_on(query, last),
                _ => {}
            };
        }
        if TriggerKey::of_ledger(&query).is_some() {
            return self.ledger_read(now, query, &rows, more);
        }
        if End::is_asked(&query) {
            return self.ends_read(query, &rows, more);
        }
        let job = query.prefix.get(2..).and_then(|job| job.try_into().ok()).map(JobId::from_bytes);
        let is_there = |record: &&Record| TriggerRow::read_gone(record).is_none();
        let (found, damaged): (Vec<_>, Vec<_>) = rows
            .iter()
            .filter(is_there)
            .map(|record| TriggerRow::read(record).ok_or(record))
            .partition(Result::is_ok);
        damaged.into_iter().filter_map(Result::err).for_each(|record| self.report_damage(record));
        let found: Vec<TriggerRow> = found.into_iter().flatten().collect();
        if let Some(job) = job {
            if self.triggers.reading.remove(&job) == Some(true) {
                return self.triggers_changed(job);
            }
            self.drop_missing(job, &found);
        }
        for row in found {
            self.take_row(row);
        }
        match (job, rows.last()) {
            (None, Some(last)) if more => self.read_on(query, last),
            (None, _) => self.outbox.now.push(Message::ReadTriggers(End::of_cell(self.config.cell))),
            (Some(job), _) => {
                self.command_unknown(now, job);
                self.triggers_confirmed(job);
            }
        }
    }

    /// A row that cannot be read stops nobody, and is not passed over in silence.
    fn report_damage(&mut self, record: &Record) {
        let key = TriggerKey::placed(record.key.as_bytes());
        let row =
            key.map_or_else(|| "a trigger".to_owned(), |key| format!("trigger {} of {}", key.name, key.job));
        self.outbox.now.push(Message::Damaged { row });
    }

    fn read_on(&mut self, query: RecordQuery, last: &Record) {
        let query = RecordQuery { after: Some(last.key.clone()), ..query };
        self.outbox.now.push(Message::ReadTriggers(query));
    }

    /// Ends that were not followed yet: the last that a new owner has to know of triggers.
    fn ends_read(&mut self, query: RecordQuery, rows: &[Record], more: bool) {
        for record in rows {
            match End::read(record) {
                Some((key, list)) => self.triggers.pending.load(key, record.revision, list),
                None => self.report_damage(record),
            }
        }
        match rows.last() {
            Some(last) if more => self.read_on(query, last),
            _ => {
                self.drop_orphans();
                self.load_runs();
            }
        }
    }

    /// What triggers that are gone had to follow is of no interest.
    fn drop_orphans(&mut self) {
        let is_gone = |key: &&TriggerKey| self.triggers.find(key.job, &key.name).is_none();
        let gone: Vec<TriggerKey> = self.triggers.pending.keys().filter(is_gone).cloned().collect();
        for key in &gone {
            self.triggers.pending.clear(key);
        }
    }

    fn news_read(&mut self, query: &RecordQuery, rows: &[Record], more: bool) {
        if is_calendar_news(query) {
            let news = self.triggers.calendar_news.hear(query, rows, more);
            return self.heard_of_calendars(&news);
        }
        for record in self.triggers.news.hear(query, rows, more) {
            if let Some(job) = merge::news_about(record) {
                self.triggers_changed(job);
            }
        }
    }

    /// What a job no longer has goes, if nothing of it is being written.
    fn drop_missing(&mut self, job: JobId, found: &[TriggerRow]) {
        for ix in self.triggers.of_job(job) {
            let entry = &mut self.triggers.entries[ix];
            if found.iter().any(|row| row.key == entry.row.key) {
                continue;
            }
            match entry.in_flight || entry.dirty && entry.row.revision > 0 {
                true => entry.stale = true, // Its write is refused, and it is read once more.
                false => self.drop_trigger(ix),
            }
        }
    }

    pub(super) fn drop_trigger(&mut self, ix: usize) {
        let key = self.triggers.entries[ix].row.key.clone();
        self.triggers.pending.clear(&key);
        for owed in self.triggers.remove(ix) {
            let (code, message) = (ErrorCode::NotFound, "the trigger was removed".to_owned());
            self.reply_now(owed.request(), Answer::Refused { code, message });
        }
    }

    fn take_row(&mut self, row: TriggerRow) {
        let Some(ix) = self.triggers.find(row.key.job, &row.key.name) else {
            let ix = self.triggers.insert(row);
            return self.recall_new(ix);
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
            entry.row.state.heeds = row.state.heeds;
            self.drop_spec(ix);
            if unwritten {
                self.mark_trigger(ix);
            }
            self.change_needs(ix, &row.state);
            // What it waits for may count by what it says now.
            self.heed_success(ix);
            return self.arm_trigger(ix);
        }
        if let Some(open) = self.triggers.open.remove(&(ix as u32)).filter(|open| !open.waiting.is_empty()) {
            entry.asked.get_or_insert_default().extend(open.waiting);
        }
        let (asked, waits) = (entry.asked.take(), entry.waits);
        let state = merge::carried(&entry.row.state, row.state.clone(), self.last_now);
        let changed = state != row.state;
        if !entry.row.state.follows_the_same(&state) {
            self.triggers.pending.clear(&row.key);
        }
        // Those who wait for an answer are answered when what was carried is written; what is asked for and not done, is done.
        let owed = self.triggers.remove(ix);
        let ix = self.triggers.insert(TriggerRow { state, ..row });
        let entry = &mut self.triggers.entries[ix];
        (entry.asked, entry.waits) = (asked, waits);
        let is_awaited = !owed.is_empty();
        for owed in owed {
            match owed {
                Owed::Moved(wanted) => self.triggers.moves.entry(ix as u32).or_default().push(wanted),
                owed @ Owed::Answer(..) => self.answer_when_written(ix, owed),
            }
        }
        if changed || is_awaited {
            self.mark_trigger(ix);
        }
        self.recall_new(ix);
    }

    /// A row that somebody put: the calendars may be others by now than those that it was planned by.
    fn recall_new(&mut self, ix: usize) {
        self.recall(ix);
        if self.loading.is_none() && self.triggers.entries[ix].row.state.heeds {
            self.plan_anew(ix, None);
        }
    }

    /// The runs are known too.
    pub(crate) fn recall_triggers(&mut self) {
        self.triggers.since = self.last_now;
        let all: Vec<usize> = self.triggers.by_key.values().map(|ix| *ix as usize).collect();
        for ix in all {
            self.recall(ix);
        }
    }

    /// What a new owner finds out: whether the last run waits, and what was not followed.
    fn recall(&mut self, ix: usize) {
        if self.loading.is_some() {
            return; // The runs are not known yet.
        }
        self.recall_backfills(ix);
        let entry = &mut self.triggers.entries[ix];
        if let Some(run) = entry.row.state.last.and_then(|last| self.runs.find(last)) {
            entry.waits = is_untouched(&self.runs.entries[run].status);
        }
        self.ask_for_ends(ix);
        self.heed_ends(ix);
        self.heed_success(ix);
    }

    /// A version that says the same may need other jobs.
    fn change_needs(&mut self, ix: usize, new: &TriggerState) {
        let Triggers { entries, needs, .. } = &mut self.triggers;
        let state = &mut entries[ix].row.state;
        if state.needs() != new.needs() {
            needs.remove(ix, state);
            state.follows.get_or_insert_default().needs = new.needs().to_vec();
            needs.insert(ix, state);
        }
    }
}
