//! Calendars change by themselves. Whoever changes one leaves a piece of news with it; each owner hears of that, and finds the
//! next moments of the triggers that may heed it anew.

use std::time::Duration;

use mainspring_model::spec::Trigger;
use mainspring_model::{Calendars, ErrorCode, Namespace, Timestamp};
use mainspring_store::{Record, RecordKey, RecordKind, RecordQuery, Write};

use super::Triggers;
use super::cursor::Move;
use super::due::UNREADABLE_WAIT;
use super::news;
use super::row::PAGE_ROWS;
use crate::cell::Cell;
use crate::message::{Answer, Message};
use crate::timers::Subject;

/// Calendars that were changed: by namespace and name.
const NEWS: RecordKind = RecordKind(1_005);
/// How long an owner may be away.
const NEWS_KEPT: Duration = Duration::from_secs(7 * 86_400);
/// What a calendar said so long ago is asked again before anything fires.
const FRESH: Duration = Duration::from_secs(10);

/// The key under which news of a calendar stands, to find its revision by.
pub fn calendar_news_key(namespace: &Namespace, name: &str) -> (RecordKind, RecordKey) {
    (NEWS, [namespace.as_str().as_bytes(), &[0], name.as_bytes()].concat().into())
}

/// A calendar changes: what tells the owners, in the transaction that changes it. `standing` is the revision of the news before.
pub fn calendar_news(namespace: &Namespace, name: &str, standing: Option<u64>, now: Timestamp) -> Write {
    news::tell(calendar_news_key(namespace, name), standing, now, NEWS_KEPT)
}

pub(super) fn is_calendar_news(query: &RecordQuery) -> bool {
    query.kind == NEWS
}

/// Where a calendar lives that a piece of news is about.
fn place(record: &Record) -> Option<Namespace> {
    let namespace = record.key.as_bytes().split(|byte| *byte == 0).next()?;
    std::str::from_utf8(namespace).ok()?.parse().ok()
}

impl Triggers {
    /// The calendars that a trigger names.
    pub(super) fn calendars_of(&self, ix: usize) -> &Calendars {
        self.calendars.get(&(ix as u32)).map_or(Calendars::NONE, |(_, calendars)| calendars)
    }
}

impl Cell {
    /// Looks whether somebody changed calendars.
    pub(crate) fn look_for_calendar_news(&mut self) {
        self.outbox.now.push(Message::ReadTriggers(RecordQuery::all(NEWS, PAGE_ROWS)));
    }

    /// Somebody changed calendars.
    pub(super) fn heard_of_calendars(&mut self, news: &[&Record]) {
        let changed_at = |record: &Record| record.expires_at.map_or(self.last_now, |at| at - NEWS_KEPT);
        let changes = news.iter().filter_map(|record| Some((place(record)?, changed_at(record))));
        let changes: Vec<(Namespace, Timestamp)> = changes.collect();
        if !changes.is_empty() {
            self.calendars_changed(&changes);
        }
    }

    /// Triggers of these namespaces and below find their next moments anew, from when the calendars changed.
    fn calendars_changed(&mut self, changes: &[(Namespace, Timestamp)]) {
        let all: Vec<usize> = self.triggers.by_key.values().map(|ix| *ix as usize).collect();
        for ix in all {
            let state = &self.triggers.entries[ix].row.state;
            let concerns = |change: &&(Namespace, Timestamp)| state.namespace.is_within(&change.0);
            let first = changes.iter().filter(concerns).map(|(_, at)| *at).min();
            if let Some(at) = first.filter(|_| state.heeds) {
                self.plan_anew(ix, Some(at));
            }
        }
    }

    /// Has a trigger find its next moment by the calendars of now.
    pub(super) fn plan_anew(&mut self, ix: usize, changed_at: Option<Timestamp>) {
        self.drop_spec(ix);
        let entry = &mut self.triggers.entries[ix];
        let wanted = self.triggers.wanted.get(&(entry.row.key.job, entry.row.state.version));
        if wanted.is_some_and(|waiting| waiting.contains(&(ix as u32))) {
            // What is being read may be from before the change.
            self.triggers.reread.insert(ix as u32);
        }
        let state = &mut entry.row.state;
        // What the calendars of before left out was not planned, and stays so.
        let is_moved =
            state.moved.as_ref().is_some_and(|moved| moved.told.is_some() || moved.jumped.is_some());
        let changed_at = changed_at.filter(|_| !is_moved).map(|at| at.min(self.last_now));
        if let Some(at) = changed_at.filter(|at| state.next.is_none_or(|next| next > *at)) {
            state.cursor = state.cursor.max(at);
        }
        state.fires_at = Some(self.last_now);
        self.arm_trigger(ix);
    }

    /// Whether a calendar that the trigger names is not there, or cannot be read.
    pub(super) fn lacks_calendar(&self, ix: usize, trigger: &Trigger) -> bool {
        let known = self.triggers.calendars_of(ix);
        trigger.calendar.iter().any(|name| known.get(name.as_str()).is_none())
    }

    /// Better late than on a day on which it must not fire.
    pub(super) fn wait_for_calendar(&mut self, now: Timestamp, ix: usize) {
        self.drop_spec(ix);
        for Move { request, .. } in self.triggers.moves.remove(&(ix as u32)).unwrap_or_default() {
            let message = "a calendar that it names cannot be read".to_owned();
            self.reply_now(request, Answer::Refused { code: ErrorCode::Internal, message });
        }
        let entry = &mut self.triggers.entries[ix];
        self.triggers.timers.disarm(&mut entry.armed, Subject::Trigger(ix));
        self.triggers.timers.arm(&mut entry.armed, Some(now + UNREADABLE_WAIT), Subject::Trigger(ix));
    }

    /// What calendars said long ago is forgotten.
    pub(super) fn drop_old_calendars(&mut self, now: Timestamp, ix: usize) {
        let read = self.triggers.calendars.get(&(ix as u32));
        if read.is_some_and(|(at, _)| now.since(*at) > FRESH) {
            self.drop_spec(ix);
        }
    }
}
