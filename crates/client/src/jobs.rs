//! Jobs: create, replace, read, pause, and what differs between versions.

use mainspring_model::spec::Format;
use mainspring_wire::api::{Dependents, Job, JobDiff, JobVersion, NoteRequest, VersionOrigin};
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

/// The text of a job file, which is kept with the version that it makes.
#[derive(Debug, Clone, Copy)]
pub struct JobText<'a> {
    /// The text: one job.
    pub text: &'a str,
    /// Its language.
    pub format: Format,
    /// Why, for those who come after; may be empty.
    pub note: &'a str,
    /// With what it is put.
    pub origin: VersionOrigin,
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
        self.ask(put.call(namespace, name).json(spec)?).await
    }

    /// The same from the text of a job file: comments and order are kept beside the version, and so is the note.
    pub async fn put_job_text(
        &self,
        namespace: Option<&str>,
        name: &str,
        text: JobText<'_>,
        put: PutJob,
    ) -> Result<Job, Error> {
        let JobText { text, format, note, origin } = text;
        let kind = match format {
            Format::Yaml => "application/yaml",
            Format::Json => "application/json",
            Format::Toml => "application/toml",
        };
        let call = put.call(namespace, name).maybe("note", (!note.is_empty()).then_some(note));
        let origin = serde_json::to_value(origin).map_err(|error| Error::Setup(error.to_string()))?;
        self.ask(call.maybe("origin", origin.as_str()).text(kind, text)).await
    }

    /// The triggers that follow or need a job.
    pub async fn job_dependents(&self, namespace: Option<&str>, job: &str) -> Result<Dependents, Error> {
        self.ask(Call::get(&["v1", "jobs", job, "dependents"]).maybe("namespace", namespace)).await
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

impl PutJob {
    fn call(self, namespace: Option<&str>, name: &str) -> Call {
        let call = Call::put(&["v1", "jobs", name])
            .maybe("namespace", namespace)
            .maybe("dry_run", self.dry_run.then_some(true))
            .if_match(self.if_revision);
        if self.only_create { call.header("if-none-match", "*") } else { call }
    }
}
