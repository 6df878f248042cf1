//! How runs ended, hour by hour, from roll-ups: nobody counts rows.

use std::time::Duration;

use mainspring_model::{Counts, ErrorCode, Namespace, Timestamp, counter};
use mainspring_store::CounterQuery;
use mainspring_wire::api::{StatsHour, StatsReport};

use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::STATS_ROWS_MAX;
use crate::operation::Operation;
use crate::principal::Caller;

const DAY: Duration = Duration::from_secs(86_400);

impl App {
    /// Roll-ups of a span of time, the last day unless told otherwise; of a namespace and below, or of one of its jobs.
    pub async fn stats(
        &self,
        caller: &Caller,
        namespace: Option<&Namespace>,
        job: Option<&str>,
        (from, until): (Option<Timestamp>, Option<Timestamp>),
    ) -> Result<StatsReport> {
        let places = self.places(caller, Operation::Stats, namespace).await?;
        let until = until.unwrap_or_else(|| self.now());
        let from = counter::hour_of(from.unwrap_or(until - DAY));
        if from > until {
            return Err(Error::field(ErrorCode::InvalidRequest, "from", "must not be after `until`"));
        }
        let only = match places.as_slice() {
            [only] => only.clone(),
            _ => None,
        };
        let job = match job {
            Some(job) => {
                let place = only.clone().unwrap_or_default();
                Some(self.find_job(&place, job).await?.id)
            }
            None => None,
        };
        let query = CounterQuery { namespace: only, job, from, until, after: None, limit: STATS_ROWS_MAX };
        let page = self.store.counters(query).await?;
        let mut total = Counts::default();
        let mut hours = Vec::new();
        for (key, counts) in &page.rows {
            if caller.principal.may(Operation::Stats, Some(&key.namespace)) {
                total.add(counts);
                let (hour, namespace, job) = (key.hour.into(), key.namespace.clone(), key.job);
                hours.push(StatsHour { hour, namespace, job, totals: counts.into() });
            }
        }
        Ok(StatsReport {
            from: from.into(),
            until: until.into(),
            total: (&total).into(),
            hours,
            truncated: page.more,
        })
    }
}
