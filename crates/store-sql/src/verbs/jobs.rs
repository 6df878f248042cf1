//! Reads of jobs and their versions.

use mainspring_model::{Job, JobId, JobVersion, Namespace};
use mainspring_store::{JobPlace, Page, check};

use super::lookup;
use super::page::{self, Placed};
use super::statement::Query;
use crate::dialect::Dialect;
use crate::rows::{job, run};
use crate::session::{Backend, Result};
use crate::value::{Damage, Param, Row};

/// A job.
pub(crate) async fn one<B: Backend>(backend: &B, id: JobId) -> Result<Option<Job>> {
    let mut query = Query::new(job::SELECT);
    query.and("id = ?", [id.as_bytes().into()]);
    Ok(query.all(backend, job::decode).await?.pop())
}

/// The job with this name.
pub(crate) async fn by_name<B: Backend>(
    backend: &B,
    namespace: &Namespace,
    name: &str,
) -> Result<Option<Job>> {
    let mut query = Query::new(job::SELECT);
    query.and("namespace = ?", [namespace.as_str().into()]).and("name = ?", [name.into()]);
    Ok(query.all(backend, job::decode).await?.pop())
}

/// Jobs of a namespace and all below it, ordered by id.
pub(crate) async fn pages<B: Backend>(
    backend: &B,
    namespace: Option<&Namespace>,
    after: Option<JobId>,
    limit: usize,
) -> Result<Page<Job>> {
    fn decode(row: &dyn Row) -> Result<Placed<JobId, Job>, Damage> {
        Ok((JobId::from_bytes(row.id(0)?), job::decode(row)))
    }
    check::rows(limit)?;
    let query = |after: Option<JobId>| {
        let mut read = Query::new(job::SELECT);
        if let Some(after) = after {
            read.and("id > ?", [after.as_bytes().into()]);
        }
        if let Some(namespace) = namespace {
            read.within(namespace);
        }
        read.page("id", limit + 1);
        read
    };
    page::read(backend, limit, after, query, decode).await
}

/// Jobs of a namespace and all below it, ordered by namespace and name.
pub(crate) async fn pages_by_name<B: Backend>(
    backend: &B,
    namespace: Option<&Namespace>,
    after: Option<JobPlace>,
    limit: usize,
) -> Result<Page<Job>> {
    fn decode(row: &dyn Row) -> Result<Placed<JobPlace, Job>, Damage> {
        Ok(((run::namespace(row, 1)?, row.text(2)?.into()), job::decode(row)))
    }
    check::rows(limit)?;
    page::read(backend, limit, after, |after| by_name_query(namespace, after, limit), decode).await
}

fn by_name_query(namespace: Option<&Namespace>, after: Option<JobPlace>, limit: usize) -> Query {
    let mut read = Query::new(job::SELECT);
    if let Some((place, name)) = after {
        // The first half is implied by the second; with it every planner begins at the right place of the index.
        read.and("namespace >= ?", [place.as_str().into()]);
        read.and("(namespace > ? OR name > ?)", [place.as_str().into(), Param::from(&*name)]);
    }
    if let Some(namespace) = namespace {
        read.within(namespace);
    }
    read.page("namespace, name", limit + 1);
    read
}

/// These versions of jobs, each once.
pub(crate) async fn versions<B: Backend>(backend: &B, keys: &[(JobId, u32)]) -> Result<Vec<JobVersion>> {
    check::rows(keys.len())?;
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys.dedup();
    let pairs: Vec<(Param, Param)> =
        keys.iter().map(|(job, version)| (job.as_bytes().into(), i64::from(*version).into())).collect();
    lookup::all(
        backend,
        lookup::by_pair(job::SELECT_VERSIONS, ("job", "version"), &pairs),
        job::decode_version,
    )
    .await
}

/// The versions of a job, newest first.
pub(crate) async fn versions_of<B: Backend>(
    backend: &B,
    job: JobId,
    after: Option<u32>,
    limit: usize,
) -> Result<Page<JobVersion>> {
    fn decode(row: &dyn Row) -> Result<Placed<u32, JobVersion>, Damage> {
        Ok((row.number(1)?, job::decode_version(row)))
    }
    check::rows(limit)?;
    let query = |after: Option<u32>| {
        let mut read = Query::new(job::SELECT_VERSIONS);
        read.and("job = ?", [job.as_bytes().into()]);
        if let Some(after) = after {
            read.and("version < ?", [i64::from(after).into()]);
        }
        read.page("version DESC", limit + 1);
        read
    };
    page::read(backend, limit, after, query, decode).await
}

/// Jobs that have runs, by id: from one to the next in the index, however many runs each has. Where the index has ended
/// runs only, so has the answer.
pub(crate) async fn with_runs<B: Backend>(
    backend: &B,
    after: Option<JobId>,
    limit: usize,
) -> Result<Page<JobId>> {
    fn decode(row: &dyn Row) -> Result<JobId, Damage> {
        row.id(0).map(JobId::from_bytes)
    }
    check::rows(limit)?;
    let (mut rows, mut last): (Vec<JobId>, Option<JobId>) = (Vec::new(), after);
    loop {
        let found = next_with_runs(B::DIALECT, last).all(backend, decode).await?;
        let all = found.len() < STEPS;
        rows.extend(found);
        last = rows.last().copied();
        if all || rows.len() > limit {
            let more = rows.len() > limit;
            rows.truncate(limit);
            return Ok(Page { rows, more });
        }
    }
}

/// Steps that every database takes in one statement. They are counted within the recursion: MySQL stops for nothing else, and
/// not every server lets a `LIMIT` stand there.
const STEPS: usize = 500;

fn next_with_runs(dialect: Dialect, after: Option<JobId>) -> Query {
    let comparison = if after.is_some() { ">" } else { ">=" };
    let over = if dialect.job_index_has_active() { "" } else { "AND runs.shelf IS NULL " };
    let mut read = Query::new(&format!(
        "WITH RECURSIVE found (job, step) AS (\
         SELECT job, 1 FROM (SELECT job FROM runs WHERE job {comparison} ? {over}ORDER BY job LIMIT 1) AS first_one \
         UNION ALL \
         SELECT (SELECT runs.job FROM runs WHERE runs.job > found.job {over}ORDER BY runs.job LIMIT 1), step + 1 \
         FROM found WHERE found.job IS NOT NULL AND step < {STEPS}) \
         SELECT job FROM found WHERE job IS NOT NULL"
    ));
    read.bind(after.unwrap_or(JobId::MIN).as_bytes().into());
    read
}

/// The read of jobs that have runs, for a look at the server's plan.
pub(crate) fn probes(dialect: Dialect, job: JobId) -> Vec<(&'static str, String)> {
    vec![("jobs with runs", next_with_runs(dialect, Some(job)).with_literals(dialect))]
}
