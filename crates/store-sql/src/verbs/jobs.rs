//! Reads of jobs and their versions.

use mainspring_model::{Job, JobId, JobVersion, Namespace};
use mainspring_store::{Page, check};

use super::lookup;
use super::page::{self, Placed};
use super::statement::Query;
use crate::rows::job;
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
