//! The ledger: what became of planned moments.

use std::fmt;
use std::str::FromStr;

use mainspring_engine::{Occurrence, Outcome, TriggerKey};
use mainspring_model::{BackfillId, ErrorCode, Namespace, Timestamp};
use mainspring_wire::api::{self, OccurrenceOutcome};

use crate::app::App;
use crate::error::Error;
use crate::limits::{LINES_LOOKED_AT_MAX, PAGE_MAX};
use crate::operation::Operation;
use crate::paging::PageRequest;
use crate::principal::Caller;

impl App {
    /// What became of the planned moments of a trigger, the newest first. Works for triggers that are gone too.
    pub async fn trigger_history(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        (job, name): (&str, &str),
        moments: &Moments,
        request: &PageRequest,
    ) -> crate::error::Result<api::Page<api::Occurrence>> {
        moments.check()?;
        self.allow(caller, Operation::TriggerHistory, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let after = request.after::<Place>()?.map(|Place(planned, backfill)| (planned, backfill));
        let until = moments.until.map(|until| (until, None));
        let mut before = after.map_or(until, |after| Some(until.map_or(after, |until| after.min(until))));
        let is_first = after.is_none();
        if name.len() > mainspring_model::limits::NAME_BYTES_MAX {
            return Err(Error::field(ErrorCode::InvalidRequest, "trigger", "no trigger has so long a name"));
        }
        let key = TriggerKey { job: found.id, name: name.into() };
        let (limit, mut left) = (request.rows()?, LINES_LOOKED_AT_MAX);
        let (mut items, mut last) = (Vec::new(), None);
        let is_more = 'pages: loop {
            let read_at_once = if moments.outcome.is_none() { limit } else { PAGE_MAX };
            let part = self.store.records(key.occurrences(before, read_at_once.min(left))).await?;
            // Of a trigger that is gone, the lines are there for a while.
            if part.rows.is_empty() && is_first && last.is_none() {
                self.find_trigger(&found, name).await?;
            }
            for line in part.rows.iter().filter_map(Occurrence::read) {
                if moments.from.is_some_and(|from| line.planned < from) {
                    break 'pages false;
                }
                if items.len() == limit {
                    break 'pages true;
                }
                before = Some((line.planned, line.backfill));
                last = Some(Place(line.planned, line.backfill));
                left -= 1;
                if moments.passes(&line) {
                    items.push(view(line));
                }
            }
            if !part.more || part.rows.is_empty() {
                break false;
            }
            if items.len() == limit || left == 0 {
                break true;
            }
        };
        let next_cursor = last.filter(|_| is_more).map(|place| place.to_string());
        Ok(api::Page { items, next_cursor })
    }
}

/// Which lines of ledgers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// Planned at or after.
    pub from: Option<Timestamp>,
    /// Planned before.
    pub until: Option<Timestamp>,
    /// What became of them.
    pub outcome: Option<OccurrenceOutcome>,
}

impl Moments {
    pub(super) fn check(&self) -> crate::error::Result<()> {
        match (self.from, self.until) {
            (Some(from), Some(until)) if from > until => {
                Err(Error::field(ErrorCode::InvalidRequest, "from", "must not be after `until`"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn passes(&self, line: &Occurrence) -> bool {
        self.outcome.is_none_or(|outcome| outcome == outcome_of(line.outcome))
    }
}

/// Where a page ends: a moment, and the backfill of its line.
struct Place(Timestamp, Option<BackfillId>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_micros())?;
        self.1.map_or(Ok(()), |backfill| write!(f, ".{backfill}"))
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (moment, backfill) = match text.split_once('.') {
            Some((moment, backfill)) => (moment, Some(backfill.parse().map_err(drop)?)),
            None => (text, None),
        };
        Ok(Self(Timestamp::from_micros(moment.parse().map_err(drop)?), backfill))
    }
}

pub(super) fn view(line: Occurrence) -> api::Occurrence {
    let outcome = outcome_of(line.outcome);
    api::Occurrence {
        planned: line.planned.into(),
        through: line.through.map(Into::into),
        count: line.count,
        outcome,
        reason: line.reason.into(),
        run: line.run,
        backfill: line.backfill,
        at: line.at.into(),
        late_ms: line.at.since(line.planned).as_millis().try_into().unwrap_or(u64::MAX),
    }
}

/// What became of a moment, as the API says it.
pub(crate) const fn outcome_of(outcome: Outcome) -> OccurrenceOutcome {
    match outcome {
        Outcome::Fired => OccurrenceOutcome::Fired,
        Outcome::Merged => OccurrenceOutcome::Merged,
        Outcome::Skipped => OccurrenceOutcome::Skipped,
        Outcome::Missed => OccurrenceOutcome::Missed,
    }
}
