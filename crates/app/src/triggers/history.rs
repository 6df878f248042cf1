//! The ledger: what became of planned moments.

use mainspring_engine::{Occurrence, Outcome, TriggerKey};
use mainspring_model::{ErrorCode, Namespace, Timestamp};
use mainspring_wire::api::{self, OccurrenceOutcome};

use crate::app::App;
use crate::error::{Error, Result};
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
    ) -> Result<api::Page<api::Occurrence>> {
        self.allow(caller, Operation::TriggerHistory, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let before = request.after::<i64>()?.map(Timestamp::from_micros);
        if name.len() > mainspring_model::limits::NAME_BYTES_MAX {
            return Err(Error::field(ErrorCode::InvalidRequest, "trigger", "no trigger has so long a name"));
        }
        let key = TriggerKey { job: found.id, name: name.into() };
        let part = self.store.records(key.occurrences(before, request.rows()?)).await?;
        let lines = part.rows.iter().filter_map(Occurrence::read);
        let items = lines.map(view).collect();
        Ok(page(items, part.more, |line: &api::Occurrence| line.planned.0.as_micros().to_string()))
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
        at: line.at.into(),
        late_ms: line.at.since(line.planned).as_millis().try_into().unwrap_or(u64::MAX),
    }
}
