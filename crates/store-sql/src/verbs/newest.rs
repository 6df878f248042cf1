//! Runs for people, by id: newest first, or oldest first. A page costs its own rows, however long the history: each read goes by an index
//! that has what is asked for in the order it is asked for.
//!
//! - All runs: by id.
//! - A job's: by (job, id). PostgreSQL keeps only ended runs there, because an update that ends a run would enter it
//!   a second time; active ones are then a read of their own.
//! - A namespace's: by the same index, for each job that has runs there (`run_jobs`).
//! - Active ones only: by the index of active work.

use std::cmp::Reverse;

use mainspring_model::{JobId, Namespace, Run, RunId};
use mainspring_store::{Page, RunQuery, check};

use super::page::{self, Placed};
use super::statement::Query;
use crate::dialect::Dialect;
use crate::rows::run;
use crate::session::{Backend, Result};
use crate::value::{Damage, Row};

/// A namespace with more jobs than this is read by id alone: it has so many runs that a page is met soon.
const JOBS_MAX: usize = 512;
/// Jobs in one statement.
const JOBS_IN_STATEMENT: usize = 32;

/// Where a part of a page comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// All runs, by id.
    Everything,
    /// Active runs.
    Active,
    /// The runs of these jobs that the job index has.
    Jobs(Vec<JobId>),
}

/// A page of runs, in the order that is asked for.
pub(crate) async fn page<B: Backend>(backend: &B, query: RunQuery) -> Result<Page<Run>> {
    fn decode(row: &dyn Row) -> Result<Placed<RunId, Run>, Damage> {
        Ok((RunId::from_bytes(row.id(0)?), run::decode(row)))
    }
    check::rows(query.limit)?;
    let (first, end) = query.ids();
    let mut page = Page { rows: Vec::new(), more: false };
    if first >= end {
        return Ok(page);
    }
    for source in sources(backend, &query).await? {
        let read = |after: Option<RunId>| {
            let after = RunQuery { after: after.or(query.after), ..query.clone() };
            read(&after, &source, B::DIALECT)
        };
        let part = page::read(backend, query.limit, None, read, decode).await?;
        page.more |= part.more;
        page.rows.extend(part.rows);
    }
    // Active ones were read first: a run that ends between two reads is in both, not in neither.
    match query.oldest_first {
        true => page.rows.sort_by_key(|run| (run.head.id, Reverse(run.status.version))),
        false => page.rows.sort_by_key(|run| Reverse((run.head.id, run.status.version))),
    }
    page.rows.dedup_by_key(|run| run.head.id);
    page.more |= page.rows.len() > query.limit;
    page.rows.truncate(query.limit);
    Ok(page)
}

async fn sources<B: Backend>(backend: &B, query: &RunQuery) -> Result<Vec<Source>> {
    let asks =
        |over: bool| query.states.is_empty() || query.states.iter().any(|state| state.is_terminal() == over);
    if !asks(true) {
        return Ok(vec![Source::Active]);
    }
    let jobs = match (query.job, &query.namespace) {
        (Some(job), _) => vec![job],
        (None, None) => return Ok(vec![Source::Everything]),
        (None, Some(namespace)) => {
            let jobs = jobs_of(backend, namespace).await?;
            if jobs.len() > JOBS_MAX {
                return Ok(vec![Source::Everything]);
            }
            jobs
        }
    };
    let has_active = B::DIALECT.job_index_has_active();
    let mut sources = Vec::new();
    if asks(false) && !has_active {
        sources.push(Source::Active);
    }
    sources.extend(jobs.chunks(JOBS_IN_STATEMENT).map(|chunk| Source::Jobs(chunk.to_vec())));
    Ok(sources)
}

/// The jobs that have runs in the namespace or below it, one more than can be used.
async fn jobs_of<B: Backend>(backend: &B, namespace: &Namespace) -> Result<Vec<JobId>> {
    let mut query = Query::new("SELECT job FROM run_jobs");
    query.within(namespace).page("namespace, job", JOBS_MAX + 1);
    let mut jobs = query.sound(backend, |row| row.id(0).map(JobId::from_bytes)).await?;
    jobs.sort_unstable();
    jobs.dedup();
    Ok(jobs)
}

fn read(query: &RunQuery, source: &Source, dialect: Dialect) -> Query {
    match source {
        Source::Everything => filtered(Query::new(run::SELECT), query),
        Source::Active => {
            let mut read = Query::with_condition(run::SELECT_ACTIVE.text(dialect));
            if let Some(job) = query.job {
                read.and("job = ?", [job.as_bytes().into()]);
            }
            filtered(read, query)
        }
        Source::Jobs(jobs) => {
            let of_job = |job: &JobId| {
                let mut read = Query::new(run::SELECT);
                read.and("job = ?", [job.as_bytes().into()]);
                if !dialect.job_index_has_active() {
                    read.and("shelf IS NULL", []);
                }
                filtered(read, query)
            };
            match jobs.as_slice() {
                [job] => of_job(job),
                // A power of two, filled up with a job that has no runs, so that there are few texts.
                many => {
                    let size = many.len().next_power_of_two();
                    let padded = (0..size).map(|at| many.get(at).unwrap_or(&JobId::MAX));
                    let mut union = Query::union(padded.map(of_job));
                    union.page(order(query), query.limit + 1);
                    union
                }
            }
        }
    }
}

const fn order(query: &RunQuery) -> &'static str {
    if query.oldest_first { "id" } else { "id DESC" }
}

fn filtered(mut read: Query, query: &RunQuery) -> Query {
    let (first, end) = query.ids();
    read.and("id < ?", [end.as_bytes().into()]);
    if first > RunId::MIN {
        read.and("id >= ?", [first.as_bytes().into()]);
    }
    if let Some(namespace) = &query.namespace {
        read.within(namespace);
    }
    if !query.states.is_empty() {
        let states: Vec<String> = query.states.iter().map(|state| (*state as u8).to_string()).collect();
        read.and(&format!("state IN ({})", states.join(", ")), []);
    }
    read.page(order(query), query.limit + 1);
    read
}

/// The reads of pages whose plans must not scan history, for a look at the server's plans.
pub(crate) fn probes(dialect: Dialect, job: JobId, namespace: &Namespace) -> Vec<(&'static str, String)> {
    use mainspring_model::RunState;
    let all = RunQuery { limit: 50, ..RunQuery::default() };
    let running = RunQuery { states: vec![RunState::Running], ..all.clone() };
    let of_job = RunQuery { job: Some(job), ..all.clone() };
    let within = RunQuery { namespace: Some(namespace.clone()), ..all.clone() };
    let turned = RunQuery { oldest_first: true, after: Some(RunId::MIN), ..within.clone() };
    let text = |query: &RunQuery, source: Source| read(query, &source, dialect).with_literals(dialect);
    vec![
        ("everything", text(&all, Source::Everything)),
        ("active", text(&running, Source::Active)),
        ("active of a job", text(&of_job, Source::Active)),
        ("of a job", text(&of_job, Source::Jobs(vec![job]))),
        ("of a namespace", text(&within, Source::Jobs(vec![job, job]))),
        ("of a namespace, oldest first", text(&turned, Source::Jobs(vec![job, job]))),
    ]
}
