//! How runs ended, hour by hour, from roll-ups: nobody counts rows.

use std::time::Duration;

use mainspring_model::{Counts, ErrorCode, Namespace, Timestamp, counter};
use mainspring_store::CounterQuery;
use mainspring_wire::api::{StatsHour, StatsReport};

use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::{STATS_PAGES_MAX, STATS_ROWS_MAX};
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
        let job = match job {
            Some(job) => {
                let only = if let [only] = places.as_slice() { only.clone() } else { None };
                Some(self.find_job(&only.unwrap_or_default(), job).await?.id)
            }
            None => None,
        };
        let mut counted = Counted::default();
        for namespace in places {
            let query = CounterQuery { namespace, job, from, until, after: None, limit: STATS_ROWS_MAX };
            self.count(caller, query, &mut counted).await?;
        }
        let Counted { total, mut hours, mut is_cut, .. } = counted;
        hours.sort_by_key(|one| (one.hour, one.job));
        is_cut |= hours.len() > STATS_ROWS_MAX;
        hours.truncate(STATS_ROWS_MAX);
        Ok(StatsReport {
            from: from.into(),
            until: until.into(),
            total: (&total).into(),
            hours,
            truncated: is_cut,
        })
    }

    /// Adds up all that a query finds, and keeps the first rows of it.
    async fn count(&self, caller: &Caller, mut query: CounterQuery, counted: &mut Counted) -> Result<()> {
        let kept_max = counted.hours.len() + STATS_ROWS_MAX;
        while counted.pages < STATS_PAGES_MAX {
            counted.pages += 1;
            let page = self.store.counters(query.clone()).await?;
            for (key, counts) in &page.rows {
                if !caller.principal.may(Operation::Stats, Some(&key.namespace)) {
                    continue;
                }
                counted.total.add(counts);
                if counted.hours.len() == kept_max {
                    counted.is_cut = true;
                    continue;
                }
                let (hour, namespace, job) = (key.hour.into(), key.namespace.clone(), key.job);
                counted.hours.push(StatsHour { hour, namespace, job, totals: counts.into() });
            }
            match page.rows.last().filter(|_| page.more) {
                Some((last, _)) => query.after = Some((last.hour, last.job)),
                None => return Ok(()),
            }
        }
        let message = "there is more than can be added up at once; ask for a shorter span";
        Err(Error::field(ErrorCode::TooLarge, "from", message))
    }
}

/// What was added up so far.
#[derive(Default)]
struct Counted {
    total: Counts,
    hours: Vec<StatsHour>,
    is_cut: bool,
    pages: usize,
}
