//! How jobs fare: a page of them costs one read of ends and one question to each owner, never one for each job.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use mainspring_engine::JobActivity;
use mainspring_model::{CellId, Job, JobId, RunState};
use mainspring_store::RunEnd;
use mainspring_wire::api::{self, ActiveRuns, JobHealth, NextFiring, Percentiles};
use tokio::time::timeout;

use crate::app::App;
use crate::error::Result;
use crate::limits::HEALTH_ENDS;
use crate::ports::CellError;

/// How long owners are waited for: what they know is worth less than the rest in time.
const ACTIVITY_WAIT: Duration = Duration::from_secs(1);

impl App {
    /// How these jobs fare, in their order.
    pub(super) async fn health_of(&self, jobs: &[Job]) -> Result<Vec<JobHealth>> {
        let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        let (ends, activity) =
            tokio::join!(self.store.newest_ends(&ids, HEALTH_ENDS), self.activity_of(&ids));
        let mut ends_of: BTreeMap<JobId, Vec<RunEnd>> = BTreeMap::new();
        for end in ends? {
            ends_of.entry(end.job).or_default().push(end);
        }
        let health = |job: &Job| {
            let mut ends = ends_of.remove(&job.id).unwrap_or_default();
            ends.sort_by_key(|end| Reverse(end.run));
            let mut health = of_ends(&ends);
            activity.lay_over(job, self.cells.cell_of(&job.namespace), &mut health);
            health
        };
        Ok(jobs.iter().map(health).collect())
    }

    /// What the owners of all cells have of these jobs: a run may have been handed to another cell.
    async fn activity_of(&self, jobs: &[JobId]) -> Activity {
        let cells = (0..self.cells.count()).map(CellId);
        let asked = cells.map(|cell| async move {
            let answer = timeout(ACTIVITY_WAIT, self.cells.activity(cell, jobs)).await;
            (cell, answer.unwrap_or(Err(CellError::Unavailable)))
        });
        let mut activity = Activity::default();
        for (cell, answer) in join_all(asked).await {
            match answer {
                Ok(Some(jobs)) => {
                    activity.0.insert(cell, jobs.into_iter().map(|one| (one.job, one)).collect());
                }
                // Whoever owns it is asked for its part of the answer.
                Err(CellError::Elsewhere { .. }) => {}
                Ok(None) | Err(_) => activity.1 = true,
            }
        }
        activity
    }
}

/// What owners answered, by cell; and whether one did not.
#[derive(Debug, Default)]
struct Activity(BTreeMap<CellId, BTreeMap<JobId, JobActivity>>, bool);

impl Activity {
    fn lay_over(&self, job: &Job, home: CellId, health: &mut JobHealth) {
        let Self(cells, is_partial) = self;
        for one in cells.values().filter_map(|jobs| jobs.get(&job.id)) {
            let active =
                health.active.get_or_insert(ActiveRuns { at_least: *is_partial, ..ActiveRuns::default() });
            active.running += one.running as u64;
            active.waiting += one.waiting as u64;
            active.at_least |= one.has_more;
        }
        let Some(home) = cells.get(&home).and_then(|jobs| jobs.get(&job.id)) else { return };
        health.triggers = Some(home.triggers as u32);
        health.next = home.next.as_ref().filter(|_| job.pause.is_none()).map(|next| NextFiring {
            trigger: next.trigger.to_string(),
            planned: next.planned.into(),
            fires_at: next.fires_at.into(),
        });
    }
}

/// What follows from ends, the newest first.
fn of_ends(ends: &[RunEnd]) -> JobHealth {
    let count = |state: RunState| ends.iter().filter(|end| end.state == state).count();
    let (success, failed) = (count(RunState::Success), count(RunState::FinalFailed));
    let ended = success + failed;
    JobHealth {
        ends: ends.iter().map(view).collect(),
        success_rate: (ended > 0).then(|| success as f64 / ended as f64),
        queued_ms: Percentiles::of(ends.iter().filter_map(queued_ms).collect()),
        running_ms: Percentiles::of(ends.iter().filter_map(running_ms).collect()),
        active: None,
        triggers: None,
        next: None,
    }
}

fn view(end: &RunEnd) -> api::RunEnd {
    api::RunEnd {
        run: end.run,
        state: end.state,
        ended_at: end.finished_at.map(Into::into),
        took_ms: running_ms(end),
    }
}

/// How long a run waited for its only attempt; of others the row does not tell.
pub(crate) fn queued_ms(end: &RunEnd) -> Option<u64> {
    let (from, until) = (end.eligible_at?, end.placed_at.filter(|_| end.attempt == 1)?);
    u64::try_from(until.since(from).as_millis()).ok()
}

/// How long the last attempt of a run took.
pub(crate) fn running_ms(end: &RunEnd) -> Option<u64> {
    u64::try_from(end.finished_at?.since(end.started_at?).as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use mainspring_model::{RunId, Timestamp};

    use super::*;

    fn end(n: i64, state: RunState, attempt: u32, took: Option<i64>) -> RunEnd {
        let at = |millis: i64| Some(Timestamp::from_micros(millis * 1000));
        RunEnd {
            run: RunId::new(Timestamp::from_micros(n * 1000), 1),
            job: JobId::MIN,
            state,
            attempt,
            eligible_at: at(0),
            placed_at: at(n).filter(|_| attempt > 0),
            started_at: took.and(at(100)),
            finished_at: at(100 + took.unwrap_or(0)),
        }
    }

    #[test]
    fn rate_and_percentiles_are_of_what_really_ran() {
        let ends = [
            end(5, RunState::Success, 1, Some(10)),
            end(9, RunState::FinalFailed, 3, Some(30)),
            end(1, RunState::Skipped, 0, None),
            end(2, RunState::Cancelled, 0, None),
            end(4, RunState::Success, 1, Some(20)),
        ];
        let health = of_ends(&ends);
        assert_eq!(health.success_rate, Some(2.0 / 3.0));
        assert_eq!(health.queued_ms, Some(Percentiles { p50: 4.0, p95: 5.0, samples: 2 }));
        assert_eq!(health.running_ms, Some(Percentiles { p50: 20.0, p95: 30.0, samples: 3 }));
        assert_eq!(health.ends.len(), 5);
        assert_eq!(health.ends[2].took_ms, None);
    }

    #[test]
    fn without_ends_nothing_is_known() {
        let health = of_ends(&[end(1, RunState::Skipped, 0, None)]);
        assert_eq!((health.success_rate, health.queued_ms, health.running_ms), (None, None, None));
    }
}
