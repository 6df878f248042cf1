//! How runs ended, step by step: counts and means from roll-ups; percentiles from the rows of ends, where all of a step fit into the
//! budget (`docs/adr/0001-percentiles.md`).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_model::{Counts, ErrorCode, JobId, Namespace, Timestamp, counter, duration_text};
use mainspring_store::{CounterQuery, RunEnd};
use mainspring_wire::api::{Percentiles, SeriesBy, SeriesGroup, SeriesPoint, StatsSeries};

use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs::{queued_ms, running_ms};
use crate::limits::{SERIES_ENDS_MAX, SERIES_GROUPS_MAX, SERIES_STEPS_MAX, STATS_PAGES_MAX, STATS_ROWS_MAX};
use crate::operation::Operation;
use crate::principal::Caller;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

/// What a series is about.
#[derive(Debug, Clone, Default)]
pub struct SeriesQuery {
    /// Here and in all below; without it, everywhere that the caller may look.
    pub namespace: Option<Namespace>,
    /// Of this job of the namespace.
    pub job: Option<String>,
    /// Hours that begin at or after; without it, a day before `until`.
    pub from: Option<Timestamp>,
    /// Hours that begin before; without it, now.
    pub until: Option<Timestamp>,
    /// How long a step is; without it, an hour.
    pub step: Option<String>,
    /// A group for each of these; without it, one for everything.
    pub by: Option<SeriesBy>,
}

/// What makes a group.
type GroupKey = (Namespace, Option<JobId>);
/// What was counted, by step.
type Counted = BTreeMap<Timestamp, Counts>;
/// Ends, by step.
type Ended = BTreeMap<Timestamp, Vec<RunEnd>>;

/// The steps of a span.
#[derive(Debug, Clone, Copy)]
struct Steps {
    from: Timestamp,
    until: Timestamp,
    step: Duration,
}

/// Everything that was added up.
#[derive(Default)]
struct Tally {
    all: Counted,
    groups: BTreeMap<GroupKey, Counted>,
    /// Ends of each job, and the group that it counts in.
    jobs: BTreeMap<JobId, (u64, Option<GroupKey>)>,
    partial: bool,
}

impl App {
    /// How runs ended, step by step.
    pub async fn stats_series(&self, caller: &Caller, query: &SeriesQuery) -> Result<StatsSeries> {
        let places = self.places(caller, Operation::StatsSeries, query.namespace.as_ref()).await?;
        let steps = Steps::of(query, self.now())?;
        let job = match &query.job {
            Some(job) => {
                let only = if let [only] = places.as_slice() { only.clone() } else { None };
                Some(self.find_job(&only.unwrap_or_default(), job).await?.id)
            }
            None => None,
        };
        let mut tally = Tally::default();
        for namespace in places {
            let counters = CounterQuery {
                namespace,
                job,
                from: steps.from,
                until: steps.until,
                after: None,
                limit: STATS_ROWS_MAX,
            };
            self.tally(caller, counters, (query.by, steps), &mut tally).await?;
        }
        let (all_ends, ends) = self.ends_of(&tally, steps).await?;
        let mut groups: Vec<(GroupKey, Counted)> = tally.groups.into_iter().collect();
        groups.sort_by_key(|(_, points)| Reverse((sum(points).final_failed, sum(points).ended())));
        let partial = tally.partial || groups.len() > SERIES_GROUPS_MAX;
        groups.truncate(SERIES_GROUPS_MAX);
        let mut told = Vec::with_capacity(groups.len());
        for ((namespace, job), counted) in groups {
            let job_name = match job {
                Some(job) => self.store.job(job).await?.map(|job| job.name.to_string()),
                None => None,
            };
            let points = points(&counted, ends.get(&(namespace.clone(), job)));
            told.push(SeriesGroup { namespace, job, job_name, points });
        }
        Ok(StatsSeries {
            from: steps.from.into(),
            until: steps.until.into(),
            step_s: steps.step.as_secs(),
            total: (&sum(&tally.all)).into(),
            points: points(&tally.all, Some(&all_ends)),
            groups: told,
            partial,
        })
    }

    async fn tally(
        &self,
        caller: &Caller,
        mut query: CounterQuery,
        (by, steps): (Option<SeriesBy>, Steps),
        tally: &mut Tally,
    ) -> Result<()> {
        for _ in 0..STATS_PAGES_MAX {
            let page = self.store.counters(query.clone()).await?;
            for (key, counts) in &page.rows {
                if !caller.principal.may(Operation::StatsSeries, Some(&key.namespace)) {
                    continue;
                }
                let group = match by {
                    None => None,
                    Some(SeriesBy::Namespace) => Some((key.namespace.clone(), None)),
                    Some(SeriesBy::Job) => Some((key.namespace.clone(), Some(key.job))),
                };
                tally.jobs.entry(key.job).or_insert((0, group.clone())).0 += counts.ended();
                let at = steps.begin(key.hour);
                tally.all.entry(at).or_default().add(counts);
                if let Some(group) = group {
                    tally.groups.entry(group).or_default().entry(at).or_default().add(counts);
                }
            }
            match page.rows.last().filter(|_| page.more) {
                Some((last, _)) => query.after = Some((last.hour, last.job)),
                None => return Ok(()),
            }
        }
        tally.partial = true;
        Ok(())
    }

    /// The ends of the span by step, as many as fit, each job with the same room; and those of each group.
    async fn ends_of(&self, tally: &Tally, steps: Steps) -> Result<(Ended, BTreeMap<GroupKey, Ended>)> {
        let (mut all, mut groups): (Ended, BTreeMap<GroupKey, Ended>) = Default::default();
        let most = tally.jobs.values().map(|(count, _)| *count).max().unwrap_or_default();
        let each =
            (SERIES_ENDS_MAX / tally.jobs.len().max(1)).min(usize::try_from(most).unwrap_or(usize::MAX));
        if each == 0 {
            return Ok((all, groups));
        }
        let jobs: Vec<JobId> = tally.jobs.keys().copied().collect();
        for end in self.store.newest_ends(&jobs, each).await? {
            let Some(hour) = end.finished_at.map(counter::hour_of) else { continue };
            if hour < steps.from || hour >= steps.until {
                continue;
            }
            let at = steps.begin(hour);
            all.entry(at).or_default().push(end);
            if let Some((_, Some(group))) = tally.jobs.get(&end.job) {
                groups.entry(group.clone()).or_default().entry(at).or_default().push(end);
            }
        }
        Ok((all, groups))
    }
}

fn sum(counted: &Counted) -> Counts {
    let mut total = Counts::default();
    counted.values().for_each(|counts| total.add(counts));
    total
}

fn points(counted: &Counted, ends: Option<&Ended>) -> Vec<SeriesPoint> {
    counted.iter().map(|(at, counts)| point(*at, counts, ends.and_then(|ends| ends.get(at)))).collect()
}

impl Steps {
    fn of(query: &SeriesQuery, now: Timestamp) -> Result<Self> {
        let wrong =
            |field: &str, message: String| Err(Error::field(ErrorCode::InvalidRequest, field, message));
        let until = query.until.unwrap_or(now);
        let from = counter::hour_of(query.from.unwrap_or(until - DAY));
        if from > until {
            return wrong("from", "must not be after `until`".into());
        }
        let step = match query.step.as_deref().map(duration_text::parse) {
            None => HOUR,
            Some(Ok(step)) => step,
            Some(Err(error)) => return wrong("step", error.to_string()),
        };
        if step.is_zero() || step.as_nanos() % HOUR.as_nanos() != 0 {
            return wrong("step", "takes whole hours: `1h`, `6h`, `1d`".into());
        }
        if until.since(from).as_secs() / step.as_secs() > SERIES_STEPS_MAX {
            return wrong(
                "step",
                format!("the span has more than {SERIES_STEPS_MAX} steps: take longer ones"),
            );
        }
        Ok(Self { from, until, step })
    }

    /// The beginning of the step that an hour is in.
    fn begin(&self, hour: Timestamp) -> Timestamp {
        let steps = hour.since(self.from).as_secs() / self.step.as_secs();
        self.from + Duration::from_secs(steps * self.step.as_secs())
    }
}

fn point(at: Timestamp, counts: &Counts, ends: Option<&Vec<RunEnd>>) -> SeriesPoint {
    let ran = counts.ran();
    let mean = |sum_us: u64| (ran > 0).then(|| sum_us as f64 / ran as f64 / 1000.0);
    // Fewer rows than were counted: some are gone or were not read, and a percentile of the rest is one of something else.
    let ends = ends.filter(|ends| ends.len() as u64 >= counts.ended());
    let percentiles = |of: fn(&RunEnd) -> Option<u64>| {
        ends.and_then(|ends| Percentiles::of(ends.iter().filter_map(of).collect()))
    };
    SeriesPoint {
        at: at.into(),
        success: counts.success,
        final_failed: counts.final_failed,
        cancelled: counts.cancelled,
        skipped: counts.skipped,
        queued_ms_mean: mean(counts.queued_us),
        running_ms_mean: mean(counts.running_us),
        queued_ms: percentiles(queued_ms),
        running_ms: percentiles(running_ms),
    }
}
