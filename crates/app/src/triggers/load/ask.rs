//! Asking for planned load: gathers the triggers that the caller may see, and how long runs of their jobs take.

use std::collections::BTreeSet;
use std::time::Duration;

use mainspring_engine::TriggerRow;
use mainspring_model::{Calendars, Counts, ErrorCode, JobId, JobSpec, Namespace, Timestamp, counter};
use mainspring_store::{CounterQuery, RecordQuery, Versions};
use mainspring_wire::api::{LoadReport, LoadRequest};
use rustc_hash::FxHashMap;

use super::plan::Plan;
use super::tally::{Span, load};
use super::{HOUR_S, SECOND_US};
use crate::app::App;
use crate::calendars::CalendarShelf;
use crate::error::{Error, Result};
use crate::limits::{
    LOAD_DAYS_DEFAULT, LOAD_DAYS_MAX, LOAD_MOMENTS_MAX, LOAD_STATS_PAGES_MAX, LOAD_TRIGGERS_MAX, PAGE_MAX,
    STATS_ROWS_MAX,
};
use crate::operation::Operation;
use crate::principal::Caller;

/// Runs of so long tell how long the next ones take.
const LOOK_BACK: Duration = Duration::from_secs(7 * 86_400);

/// What is gathered before it is counted.
#[derive(Default)]
struct Gathered {
    plans: Vec<Plan>,
    /// How many follow the ends of runs, or calls.
    following: u64,
    /// Whether there are more.
    more: bool,
}

impl App {
    /// What is planned, by hour and pool: of a namespace and all below; without one, of all that the caller may see.
    pub async fn trigger_load(&self, caller: &Caller, request: LoadRequest) -> Result<LoadReport> {
        let LoadRequest { namespace, days, from } = request;
        let places = self.places(caller, Operation::TriggerLoad, namespace.as_ref()).await?;
        let only = match places.as_slice() {
            [only] => only.clone(),
            _ => None,
        };
        let span = span(days, from.map_or_else(|| counter::hour_of(self.now()), |from| from.0))?;
        let Gathered { plans, following, more } = self.gather_plans(caller, only.as_ref()).await?;
        // So much counting is not done where requests are served.
        let counted = tokio::task::spawn_blocking(move || load(&plans, span)).await;
        let report = counted.map_err(|error| {
            tracing::error!(%error, "planned load was not counted");
            Error::new(ErrorCode::Internal, "the planned load was not counted")
        })?;
        Ok(LoadReport { following, truncated: report.truncated || more, ..report })
    }

    async fn gather_plans(&self, caller: &Caller, only: Option<&Namespace>) -> Result<Gathered> {
        let paused = self.paused_jobs(only).await?;
        let usual_us = self.usual_durations(only).await?;
        let now = self.now();
        let mut gathered = Gathered::default();
        let mut query = RecordQuery {
            kind: TriggerRow::KIND,
            prefix: Box::default(),
            after: None,
            reverse: false,
            limit: PAGE_MAX,
        };
        let mut shelf = CalendarShelf::default();
        loop {
            let page = self.store.records(query.clone()).await?;
            let is_planned = |row: &TriggerRow| {
                let namespace = &row.state.namespace;
                row.state.pause.is_none()
                    && !paused.contains(&row.key.job)
                    && only.is_none_or(|only| namespace.is_within(only))
                    && caller.principal.may(Operation::TriggerLoad, Some(namespace))
            };
            let rows: Vec<TriggerRow> =
                page.rows.iter().filter_map(TriggerRow::read).filter(is_planned).collect();
            let specs = self.specs_of_triggers(&rows).await?;
            for row in &rows {
                let Some(spec) = specs.get(&(row.key.job, row.state.version)) else { continue };
                let usual_us = usual_us.get(&row.key.job).copied().unwrap_or(0);
                let calendars = shelf.of_job(&*self.store, &row.state.namespace, spec).await?;
                let written = spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *row.key.name);
                let mut named = written.into_iter().flat_map(|trigger| &trigger.calendar);
                if named.any(|name| calendars.get(name.as_str()).is_none()) {
                    continue; // It waits for its calendar.
                }
                gathered.add(row, spec, &calendars, usual_us, now);
            }
            let last = page.rows.last().filter(|_| page.more).map(|last| last.key.clone());
            if last.is_none() || gathered.more {
                return Ok(gathered);
            }
            query.after = last;
        }
    }

    async fn specs_of_triggers(
        &self,
        rows: &[TriggerRow],
    ) -> Result<FxHashMap<(JobId, u32), std::sync::Arc<JobSpec>>> {
        let keys: BTreeSet<(JobId, u32)> = rows.iter().map(|row| (row.key.job, row.state.version)).collect();
        if keys.is_empty() {
            return Ok(FxHashMap::default());
        }
        let keys: Vec<(JobId, u32)> = keys.into_iter().collect();
        let versions = Versions::read(&*self.store, &keys).await?.readable;
        Ok(versions.into_iter().map(|version| ((version.job, version.version), version.spec)).collect())
    }

    async fn paused_jobs(&self, only: Option<&Namespace>) -> Result<BTreeSet<JobId>> {
        let mut paused = BTreeSet::new();
        let mut after = None;
        loop {
            let page = self.store.jobs(only, after, PAGE_MAX).await?;
            paused.extend(page.rows.iter().filter(|job| job.pause.is_some()).map(|job| job.id));
            after = page.rows.last().filter(|_| page.more).map(|job| job.id);
            if after.is_none() {
                return Ok(paused);
            }
        }
    }

    /// What a run of each job took of late, on average.
    async fn usual_durations(&self, only: Option<&Namespace>) -> Result<FxHashMap<JobId, u64>> {
        let until = self.now();
        let from = counter::hour_of(until - LOOK_BACK);
        let mut totals: FxHashMap<JobId, Counts> = FxHashMap::default();
        let mut after = None;
        for _ in 0..LOAD_STATS_PAGES_MAX {
            let (namespace, limit) = (only.cloned(), STATS_ROWS_MAX);
            let query = CounterQuery { namespace, job: None, from, until, after, limit };
            let page = self.store.counters(query).await?;
            for (key, counts) in &page.rows {
                totals.entry(key.job).or_default().add(counts);
            }
            after = page.rows.last().filter(|_| page.more).map(|(key, _)| (key.hour, key.job));
            if after.is_none() {
                break;
            }
        }
        let mean =
            |counts: Counts| counts.running_us.checked_div(counts.success + counts.final_failed).unwrap_or(0);
        Ok(totals.into_iter().map(|(job, counts)| (job, mean(counts))).collect())
    }
}

impl Gathered {
    fn add(
        &mut self,
        row: &TriggerRow,
        spec: &JobSpec,
        calendars: &Calendars,
        usual_us: u64,
        now: Timestamp,
    ) {
        let named = |trigger: &&mainspring_model::spec::Trigger| *trigger.name.as_str() == *row.key.name;
        let Some(trigger) = spec.triggers.iter().find(named) else { return };
        match Plan::of(row, (spec, trigger), calendars, now) {
            None => self.following += 1,
            Some(_) if self.plans.len() == LOAD_TRIGGERS_MAX => self.more = true,
            Some(plan) => self.plans.push(Plan { usual_us, ..plan }),
        }
    }
}

fn span(days: Option<u16>, from: Timestamp) -> Result<Span> {
    let days = days.unwrap_or(LOAD_DAYS_DEFAULT);
    if !(1..=LOAD_DAYS_MAX).contains(&days) {
        let message = format!("1 to {LOAD_DAYS_MAX} days are told");
        return Err(Error::field(ErrorCode::InvalidRequest, "days", message));
    }
    let span = Span {
        from: from.as_micros().div_euclid(SECOND_US),
        hours: usize::from(days) * 24,
        moments_max: LOAD_MOMENTS_MAX,
    };
    // The end can be written as a moment.
    match jiff::Timestamp::from_second(span.from + span.hours as i64 * HOUR_S) {
        Ok(_) => Ok(span),
        Err(_) => Err(Error::field(ErrorCode::InvalidRequest, "from", "is too far ahead")),
    }
}
