//! The cursor is moved, or is behind what the ledger says.
//!
//! Forward, what is jumped over is told in one line when its time has passed. Back, moments are looked at again: the ledger is
//! read first, what made a run keeps its line and makes none again, and every other line is told anew, in place. In the same
//! way a new owner reads the ledger where somebody who put the job may have been quicker than the last owner's row.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mainspring_cron::Schedule;
use mainspring_model::spec::{Misfire, Trigger};
use mainspring_model::{ErrorCode, Timestamp};
use mainspring_store::{Record, RecordQuery};
use serde::{Deserialize, Serialize};

use super::Owed;
use super::catch_up::{Moments, Stretch};
use super::ledger::{Occurrence, Outcome};
use super::row::{TriggerKey, TriggerState};
use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};

/// Lines that are looked at again at most, the latest: more than moments that fire late, and few enough to be told anew at once.
/// Those of calls are only counted, all of them, as many at a time.
const LINES_MAX: usize = 2 * Misfire::MAX_MAX as usize;

/// What stands between the cursor and the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moved {
    /// Moments after the cursor and up to here have lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Timestamp>,
    /// Somebody wrote the row who did not know how far the owner was: later moments may have lines too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub put: bool,
    /// Moments after this one and up to the cursor were jumped over, and have no line yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jumped: Option<Jumped>,
}

/// A jump of the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jumped {
    /// From here.
    pub from: Timestamp,
    /// Who moved it.
    pub by: Box<str>,
}

/// Somebody wants the cursor elsewhere.
#[derive(Debug)]
pub(super) struct Move {
    pub(super) request: RequestId,
    pub(super) to: Timestamp,
    pub(super) by: Box<str>,
}

/// What the ledger says of the moments that are looked at again.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// The newest first.
    lines: Vec<(u64, Occurrence)>,
    /// Of calls: how many runs they made, and the moment of the last.
    pub(super) calls: (u64, Option<Timestamp>),
    is_read: bool,
    /// What is under way was asked for something else.
    is_void: bool,
}

/// A look at moments of which some were looked at before.
pub(super) struct Again<'a> {
    pub(super) moments: Moments<'a>,
    book: Book,
    from: Timestamp,
    /// Moments that have a run of their own.
    pub(super) kept: BTreeSet<Timestamp>,
    /// Lines that are told anew, with their revisions.
    pub(super) old: BTreeMap<Timestamp, u64>,
}

impl<'a> Again<'a> {
    pub(super) fn new(schedule: &'a Schedule, state: &TriggerState, book: Book) -> Self {
        let from = state.told_until();
        let (kept, old) = (book.kept(from), book.old(from));
        Self { moments: Moments(schedule), book, from, kept, old }
    }
}

impl Book {
    /// Moments after this one that have a run of their own.
    fn kept(&self, after: Timestamp) -> BTreeSet<Timestamp> {
        let later = self.lines.iter().map(|(_, line)| line).filter(|line| line.planned > after);
        later.filter(|line| line.is_own()).map(|line| line.planned).collect()
    }

    /// Of those, how many runs the trigger made later than this by itself.
    pub(super) fn made(&self, after: Timestamp) -> u64 {
        let counts = |line: &&Occurrence| {
            line.planned > after && line.outcome == Outcome::Fired && line.backfill.is_none() && !line.by_hand
        };
        self.lines.iter().map(|(_, line)| line).filter(counts).count() as u64
    }

    /// The last moment that was told.
    pub(super) fn end(&self) -> Option<Timestamp> {
        let lines = self.lines.iter().map(|(_, line)| line).filter(|line| line.backfill.is_none());
        lines.map(|line| line.through.unwrap_or(line.planned)).max()
    }

    /// Lines after this moment that are told anew, with their revisions.
    fn old(&self, after: Timestamp) -> BTreeMap<Timestamp, u64> {
        let later = self.lines.iter().filter(|(_, line)| line.planned > after && line.backfill.is_none());
        later.filter(|(_, line)| !line.is_own()).map(|(revision, line)| (line.planned, *revision)).collect()
    }

    /// The line that begins at or before this moment and goes on after it.
    fn across(&self, at: Timestamp) -> Option<&(u64, Occurrence)> {
        let is_across =
            |line: &Occurrence| line.planned <= at && line.through.is_some_and(|through| through > at);
        self.lines.iter().find(|(_, line)| is_across(line))
    }
}

impl Cell {
    /// Somebody wants the cursor elsewhere: it is moved when what the trigger says is known.
    pub(super) fn want_move(&mut self, ix: usize, wanted: Move) {
        if self.triggers.entries[ix].row.state.follows_ends() {
            let message =
                "it follows the ends of runs, or calls, and not the clock: there is nothing to move"
                    .to_owned();
            let answer = Answer::Refused { code: ErrorCode::InvalidRequest, message };
            return self.reply_now(wanted.request, answer);
        }
        self.triggers.moves.entry(ix as u32).or_default().push(wanted);
        self.arm_trigger(ix);
    }

    /// Moves the cursor for those who asked.
    pub(super) fn move_asked(
        &mut self,
        ix: usize,
        trigger: &Trigger,
        schedule: Option<&Schedule>,
        seed: u64,
    ) {
        let moves = self.triggers.moves.remove(&(ix as u32)).unwrap_or_default();
        let Some(schedule) = schedule else {
            for Move { request, .. } in moves {
                let message = "it follows no clock any more: there is nothing to move".to_owned();
                self.reply_now(request, Answer::Refused { code: ErrorCode::InvalidRequest, message });
            }
            return;
        };
        for wanted in moves {
            let (to, by) = (wanted.to, wanted.by.clone());
            let state = &mut self.triggers.entries[ix].row.state;
            let reached = state.told_until();
            let mut moved = state.moved.take().map(|moved| *moved).unwrap_or_default();
            moved.jumped = (to > reached).then_some(Jumped { from: reached, by });
            if to < reached {
                moved.told = moved.told.max(Some(reached));
            }
            state.cursor = to;
            state.wait_for(None);
            let next = schedule.next(to.as_micros()).map(Timestamp::from_micros);
            state.next = next.filter(|_| !state.is_spent(trigger));
            state.fires_at = state.next.map(|next| trigger.fires_at(seed, next));
            if moved.jumped.is_some() {
                state.fires_at = Some(state.fires_at.map_or(to, |at| at.min(to)));
            }
            state.moved = (moved != Moved::default()).then(|| Box::new(moved));
            self.forget_book(ix);
            self.mark_trigger(ix);
            self.answer_when_written(ix, Owed::Moved(wanted));
        }
    }

    /// What the ledger says of what is looked at again; none while that is being read.
    pub(super) fn book(&mut self, ix: usize) -> Option<Book> {
        let entry = &self.triggers.entries[ix];
        let Some(moved) = &entry.row.state.moved else { return Some(Book::default()) };
        let from = entry.row.state.told_until();
        if !moved.put && moved.told.is_none_or(|told| told <= from) {
            return Some(Book::default());
        }
        if let Some(book) = self.triggers.books.remove(&(ix as u32)) {
            if book.is_read {
                return Some(book);
            }
            self.triggers.books.insert(ix as u32, book);
            return None;
        }
        let key = &entry.row.key;
        let query = match entry.row.state.is_called {
            true => key.lines_after(key.ledger_before(from + Duration::from_micros(1)), LINES_MAX),
            false => key.occurrences(None, LINES_MAX),
        };
        self.triggers.books.insert(ix as u32, Book::default());
        self.outbox.now.push(Message::ReadTriggers(query));
        None
    }

    /// What the ledger said, or is about to say, is of no use any more.
    pub(super) fn forget_book(&mut self, ix: usize) {
        match self.triggers.books.get_mut(&(ix as u32)) {
            Some(book) if !book.is_read => book.is_void = true,
            _ => drop(self.triggers.books.remove(&(ix as u32))),
        }
    }

    /// The ledger of a trigger was read.
    pub(super) fn ledger_read(&mut self, now: Timestamp, query: RecordQuery, rows: &[Record], more: bool) {
        let Some(ix) = TriggerKey::of_ledger(&query).and_then(|key| self.triggers.find(key.job, &key.name))
        else {
            return;
        };
        let from = self.triggers.entries[ix].row.state.told_until();
        let Some(book) = self.triggers.books.get_mut(&(ix as u32)) else { return };
        if book.is_void {
            self.triggers.books.remove(&(ix as u32));
            return self.arm_trigger(ix);
        }
        let lines = rows.iter().filter_map(|record| Some((record.revision, Occurrence::read(record)?)));
        if !query.reverse {
            let page = Book { lines: lines.collect(), ..Book::default() };
            book.calls = (book.calls.0 + page.made(from), book.calls.1.max(page.end()));
            book.is_read = !more || rows.is_empty();
            if book.is_read {
                return self.trigger_due(now, ix);
            }
            let after = rows.last().map(|last| last.key.clone());
            return self.outbox.now.push(Message::ReadTriggers(RecordQuery { after, ..query }));
        }
        book.lines.extend(lines);
        book.is_read = true;
        let oldest = book.lines.last().map(|(_, line)| line.planned);
        if let Some(oldest) = oldest.filter(|oldest| more && *oldest > from) {
            let state = &mut self.triggers.entries[ix].row.state;
            match state.moved.as_mut().and_then(|moved| moved.jumped.as_mut()) {
                Some(jumped) => jumped.from = oldest,
                None => state.cursor = oldest,
            }
        }
        self.trigger_due(now, ix);
    }

    /// What was jumped over is told, and the line that the cursor was moved into is made shorter.
    pub(super) fn tell_moves(&mut self, now: Timestamp, ix: usize, again: &Again<'_>) {
        let Again { moments, book, from, .. } = again;
        let state = &mut self.triggers.entries[ix].row.state;
        let Some(moved) = &mut state.moved else { return };
        let cursor = state.cursor;
        let jumped = moved.jumped.take_if(|_| cursor <= now);
        if std::mem::take(&mut moved.put) {
            state.fired += book.made(moved.told.map_or(*from, |told| told.max(*from)));
            // Also what is not planned any more, because a calendar changed.
            moved.told = moved.told.max(book.end());
        }
        if let Some((revision, line)) = book.across(*from) {
            let stretch = moments.stretch(line.planned, moments.until(line.planned, *from));
            let (through, count) = stretch.map_or((None, Some(1)), |stretch| {
                ((stretch.last > stretch.first).then_some(stretch.last), stretch.count)
            });
            self.note_over(ix, Occurrence { through, count, ..line.clone() }, Some(*revision));
        }
        if let Some(Jumped { from, by }) = jumped {
            let first = moments.after(from).filter(|first| *first <= cursor);
            let stretch = first.and_then(|first| moments.stretch(first, moments.until(first, cursor)));
            self.pass(now, ix, (again, stretch), Outcome::Missed, &format!("the cursor was moved by {by}"));
        }
    }

    /// Planned moments that made no run: one line for all of them, or, where some had lines before, one for each part.
    pub(super) fn pass(
        &mut self,
        now: Timestamp,
        ix: usize,
        (again, stretch): (&Again<'_>, Option<Stretch>),
        outcome: Outcome,
        reason: &str,
    ) {
        let Some(stretch) = stretch else { return };
        for Stretch { first, last, count } in again.moments.parts(stretch, &again.kept, &again.old) {
            let through = (last > first).then_some(last);
            let line =
                Occurrence { through, count, reason: reason.into(), ..Occurrence::one(first, now, outcome) };
            self.note_over(ix, line, again.old.get(&first).copied());
        }
    }

    /// Writes a line, over one of this revision if there is one.
    fn note_over(&mut self, ix: usize, line: Occurrence, revision: Option<u64>) {
        self.note(ix, None, line);
        self.tell_over(revision);
    }

    /// The line that was written last goes over one of this revision.
    pub(super) fn tell_over(&mut self, revision: Option<u64>) {
        if let (Some(line), Some(revision)) = (self.outbox.ledger.back_mut(), revision) {
            line.over(revision);
        }
    }
}
