//! Jobs: create, replace, read, pause, and what differs between versions.

use mainspring_wire::api::{Job, JobDiff, JobVersion, NoteRequest};
use serde::Serialize;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::pages::Pages;

/// Under which conditions a job is put.
#[derive(Debug, Clone, Copy, Default)]
pub struct PutJob {
    /// Only tell what would change.
    pub dry_run: bool,
    /// Only if the job still has this revision.
    pub if_revision: Option<u64>,
    /// Only if there is none yet.
    pub only_create: bool,
}

impl Client {
    /// Jobs in a namespace and all below it, or all that the caller may see; with their specifications if asked.
    pub fn jobs(&self, namespace: Option<&str>, with_spec: bool) -> Pages<Job> {
        let call = Call::get(&["v1", "jobs"]).maybe("namespace", namespace);
        Pages::new(self, call.maybe("spec", with_spec.then_some(true)))
    }

    /// A job, by name or id.
    pub async fn job(&self, namespace: Option<&str>, job: &str) -> Result<Job, Error> {
        self.ask(Call::get(&["v1", "jobs", job]).maybe("namespace", namespace)).await
    }

    /// Creates or replaces a job. `spec` is anything that writes a job file's JSON: a [`mainspring_model::JobSpec`], or
    /// a JSON value. The answer says what was done and what changed.
    pub async fn put_job(
        &self,
        namespace: Option<&str>,
        name: &str,
        spec: &impl Serialize,
        put: PutJob,
    ) -> Result<Job, Error> {
        let mut call = Call::put(&["v1", "jobs", name])
            .maybe("namespace", namespace)
            .maybe("dry_run", put.dry_run.then_some(true))
            .if_match(put.if_revision);
        if put.only_create {
            call = call.header("if-none-match", "*");
        }
        self.ask(call.json(spec)?).await
    }

    /// Removes a job; the history of its runs stays.
    pub async fn delete_job(&self, namespace: Option<&str>, job: &str) -> Result<(), Error> {
        self.tell(Call::delete(&["v1", "jobs", job]).maybe("namespace", namespace)).await
    }

    /// The versions of a job, newest first.
    pub fn job_versions(&self, namespace: Option<&str>, job: &str) -> Pages<JobVersion> {
        Pages::new(self, Call::get(&["v1", "jobs", job, "versions"]).maybe("namespace", namespace))
    }

    /// One version of a job.
    pub async fn job_version(
        &self,
        namespace: Option<&str>,
        job: &str,
        version: u32,
    ) -> Result<JobVersion, Error> {
        let call = Call::get(&["v1", "jobs", job, "versions", &version.to_string()]);
        self.ask(call.maybe("namespace", namespace)).await
    }

    /// What differs between two versions of a job.
    pub async fn job_diff(
        &self,
        namespace: Option<&str>,
        job: &str,
        from: u32,
        to: u32,
    ) -> Result<JobDiff, Error> {
        let call = Call::get(&["v1", "jobs", job, "diff"]).query("from", from).query("to", to);
        self.ask(call.maybe("namespace", namespace)).await
    }

    /// Starts no more runs of a job until it is resumed.
    pub async fn pause_job(&self, namespace: Option<&str>, job: &str, note: &str) -> Result<Job, Error> {
        let call = Call::post_repeatable(&["v1", "jobs", job, "pause"]).maybe("namespace", namespace);
        self.ask(call.json(&NoteRequest { note: note.to_owned() })?).await
    }

    /// Starts runs of a job again.
    pub async fn resume_job(&self, namespace: Option<&str>, job: &str, note: &str) -> Result<Job, Error> {
        let call = Call::post_repeatable(&["v1", "jobs", job, "resume"]).maybe("namespace", namespace);
        self.ask(call.json(&NoteRequest { note: note.to_owned() })?).await
    }
}
