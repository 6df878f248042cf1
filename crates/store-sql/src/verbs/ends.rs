//! Ends of runs, the newest of each of many jobs in a few statements. Only what an end needs is read: the beginning of the
//! status's detail, never parameters or results.
//!
//! Where the job index has active runs too (see `newest`), ends are looked for among the first rows of it; only for jobs
//! with a backlog it is looked further, and not without limit.

use std::collections::BTreeMap;

use mainspring_model::{JobId, RunId, RunState};
use mainspring_store::{RunEnd, check};

use super::lookup;
use super::statement::Query;
use crate::dialect::Dialect;
use crate::rows::run_detail;
use crate::session::{Backend, Result};
use crate::value::{Damage, Row};

/// Jobs in one statement.
const JOBS_IN_STATEMENT: usize = 32;

/// A run that was read: its end, if it has one.
struct Seen {
    run: RunId,
    job: JobId,
    end: Option<RunEnd>,
}

/// What is asked of one job.
#[derive(Debug, Clone, Copy)]
struct Ask {
    job: JobId,
    /// Only runs before this one; then those that are over, and not without limit.
    before: Option<RunId>,
    limit: usize,
}

/// The ends of the newest runs of each of these jobs that are over.
pub(crate) async fn newest<B: Backend>(backend: &B, jobs: &[JobId], each: usize) -> Result<Vec<RunEnd>> {
    check::rows(jobs.len().saturating_mul(each))?;
    let mut jobs = jobs.to_vec();
    jobs.sort_unstable();
    jobs.dedup();
    if each == 0 {
        return Ok(Vec::new());
    }
    let has_active = B::DIALECT.job_index_has_active();
    let limit = if has_active { each * 2 } else { each };
    let asks: Vec<Ask> = jobs.into_iter().map(|job| Ask { job, before: None, limit }).collect();
    let mut found = read(backend, &asks).await?;
    let behind: Vec<Ask> = if has_active { backlogs(&mut found, each, limit) } else { Vec::new() };
    found.extend(read(backend, &behind).await?);
    Ok(found.into_iter().filter_map(|seen| seen.end).collect())
}

/// Keeps `each` ends of each job; answers what is to be asked of those that have more runs and not enough ends.
fn backlogs(found: &mut Vec<Seen>, each: usize, limit: usize) -> Vec<Ask> {
    let mut of_jobs: BTreeMap<JobId, (usize, usize, RunId)> = BTreeMap::new();
    found.sort_by_key(|seen| std::cmp::Reverse(seen.run));
    found.retain(|seen| {
        let (rows, ends, last) = of_jobs.entry(seen.job).or_insert((0, 0, seen.run));
        (*rows, *last) = (*rows + 1, seen.run);
        *ends += usize::from(seen.end.is_some());
        seen.end.is_some() && *ends <= each
    });
    let short = of_jobs.into_iter().filter(|(_, (rows, ends, _))| *rows >= limit && *ends < each);
    short.map(|(job, (_, ends, last))| Ask { job, before: Some(last), limit: each - ends }).collect()
}

async fn read<B: Backend>(backend: &B, asks: &[Ask]) -> Result<Vec<Seen>> {
    let queries = asks.chunks(JOBS_IN_STATEMENT).map(|chunk| statement(B::DIALECT, chunk));
    lookup::sound(backend, queries, decode).await
}

fn statement(dialect: Dialect, asks: &[Ask]) -> Query {
    match asks {
        [ask] => of_job(dialect, ask),
        // A power of two, filled up with a job that has no runs, so that there are few texts.
        many => {
            let nobody = Ask { job: JobId::MAX, ..many[0] };
            let size = many.len().next_power_of_two();
            Query::union((0..size).map(|at| of_job(dialect, many.get(at).unwrap_or(&nobody))))
        }
    }
}

fn of_job(dialect: Dialect, ask: &Ask) -> Query {
    let select =
        format!("SELECT id, job, state, substr(detail, 1, {}) AS part FROM runs", run_detail::END_BYTES);
    let mut read = Query::new(&select);
    read.and("job = ?", [ask.job.as_bytes().into()]);
    let has_active = dialect.job_index_has_active();
    if ask.before.is_some() || !has_active {
        read.and("shelf IS NULL", []);
    }
    if let Some(before) = ask.before {
        read.and("id < ?", [before.as_bytes().into()]);
    }
    if ask.before.is_some() && has_active {
        let bound = format!(
            "id >= COALESCE((SELECT id FROM runs WHERE job = ? ORDER BY id DESC LIMIT 1 OFFSET {}), ?)",
            RunEnd::LOOKED_PAST_MAX
        );
        read.and(&bound, [ask.job.as_bytes().into(), RunId::MIN.as_bytes().into()]);
    }
    read.page("id DESC", ask.limit);
    read
}

fn decode(row: &dyn Row) -> Result<Seen, Damage> {
    let (run, job) = (RunId::from_bytes(row.id(0)?), JobId::from_bytes(row.id(1)?));
    let state: u8 = row.number(2)?;
    let state = RunState::from_number(state).ok_or_else(|| Damage::new(format!("no state {state}")))?;
    let end = state.is_terminal().then(|| run_detail::read_end((run, job, state), row.bytes_opt(3)?));
    Ok(Seen { run, job, end: end.transpose().map_err(|damage| damage.named(run))? })
}

/// The reads of ends, for a look at the server's plans.
pub(crate) fn probes(dialect: Dialect, job: JobId) -> Vec<(&'static str, String)> {
    let first = Ask { job, before: None, limit: 60 };
    let behind = Ask { before: Some(RunId::MAX), ..first };
    vec![
        ("ends of jobs", statement(dialect, &[first, first]).with_literals(dialect)),
        ("ends behind a backlog", of_job(dialect, &behind).with_literals(dialect)),
    ]
}
