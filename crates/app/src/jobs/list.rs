//! Reading jobs and their versions.

use mainspring_model::Namespace;
use mainspring_wire::api::{Job, JobDiff, JobVersion, Page};

use super::diff::between;
use super::put::tree;
use crate::app::App;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::paging::{PageRequest, page};
use crate::principal::Caller;

impl App {
    /// A job with its current specification.
    pub async fn job(&self, caller: &Caller, namespace: &Namespace, job: &str) -> Result<Job> {
        self.allow(caller, Operation::JobGet, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let spec = self.find_version(found.id, found.current_version).await?;
        Ok(Job { spec: Some(tree(&spec)), ..(&found).into() })
    }

    /// The versions of a job, newest first.
    pub async fn list_job_versions(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        request: &PageRequest,
    ) -> Result<Page<JobVersion>> {
        self.allow(caller, Operation::JobVersions, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let part = self.store.versions_of_job(found.id, request.after()?, request.rows()?).await?;
        let mut items: Vec<JobVersion> = part.rows.iter().map(Into::into).collect();
        self.add_notes(found.id, &mut items).await?;
        Ok(page(items, part.more, |version: &JobVersion| version.version.to_string()))
    }

    /// A version of a job.
    pub async fn job_version(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        version: u32,
    ) -> Result<JobVersion> {
        self.allow(caller, Operation::JobVersion, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let rows = self.store.job_versions(&[(found.id, version)]).await?;
        let Some(row) = rows.first() else {
            return Err(Error::not_found(format!("version {version} of `{job}`")));
        };
        let mut told = [JobVersion::from(row)];
        self.add_notes(found.id, &mut told).await?;
        let [told] = told;
        Ok(JobVersion { source: self.source_of((found.id, version)).await?, ..told })
    }

    /// What differs between two versions; without numbers, between the current one and the one before.
    pub async fn diff_job(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        (from, to): (Option<u32>, Option<u32>),
    ) -> Result<JobDiff> {
        self.allow(caller, Operation::JobDiff, Some(namespace)).await?;
        let found = self.find_job(namespace, job).await?;
        let to = to.unwrap_or(found.current_version);
        let from = from.unwrap_or(to.saturating_sub(1).max(1));
        let before = self.find_version(found.id, from).await?;
        let after = self.find_version(found.id, to).await?;
        Ok(JobDiff { job: found.id, from, to, changes: between(&before, &after) })
    }

    /// Where the caller may do this, of what they asked for: the namespace, or all of theirs.
    pub(crate) async fn places(
        &self,
        caller: &Caller,
        operation: Operation,
        namespace: Option<&Namespace>,
    ) -> Result<Vec<Option<Namespace>>> {
        if let Some(namespace) = namespace {
            self.allow(caller, operation, Some(namespace)).await?;
            return Ok(vec![Some(namespace.clone())]);
        }
        let places = caller.principal.places(operation);
        if places.is_empty() {
            self.allow(caller, operation, None).await?;
        }
        Ok(places)
    }
}
