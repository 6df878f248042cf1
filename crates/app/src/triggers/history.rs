//! The ledger: what became of planned moments.

use std::fmt;
use std::str::FromStr;

use mainspring_engine::{Occurrence, Outcome, TriggerKey};
use mainspring_model::{BackfillId, ErrorCode, Namespace, Timestamp};
use mainspring_wire::api::{self, OccurrenceOutcome};

use crate::app::App;
use crate::error::Error;
use crate::operation::Operation;
use crate::paging::{PageRequest, page};
use crate::principal::Caller;

impl App {
    /// What became of the planned moments of a trigger, the newest first. Works for triggers that are gone too.
    pub async fn trigger_history(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        (job, name): (&str, &str),
        request: &PageRequest,
    ) -> crate::error::Result<api::Page<api::Occurrence>> {
        self.allow(caller, Operation::TriggerHistory, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let before = request.after::<Place>()?.map(|Place(planned, backfill)| (planned, backfill));
        if name.len() > mainspring_model::limits::NAME_BYTES_MAX {
            return Err(Error::field(ErrorCode::InvalidRequest, "trigger", "no trigger has so long a name"));
        }
        let key = TriggerKey { job: found.id, name: name.into() };
        let part = self.store.records(key.occurrences(before, request.rows()?)).await?;
        // Of a trigger that is gone, the lines are there for a while.
        if part.rows.is_empty() && before.is_none() {
            self.find_trigger(&found, name).await?;
        }
        let lines = part.rows.iter().filter_map(Occurrence::read);
        let items = lines.map(view).collect();
        Ok(page(items, part.more, |line: &api::Occurrence| Place(line.planned.0, line.backfill).to_string()))
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

fn view(line: Occurrence) -> api::Occurrence {
    let outcome = match line.outcome {
        Outcome::Fired => OccurrenceOutcome::Fired,
        Outcome::Merged => OccurrenceOutcome::Merged,
        Outcome::Skipped => OccurrenceOutcome::Skipped,
        Outcome::Missed => OccurrenceOutcome::Missed,
    };
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
