//! Creating a job, or giving it a new version. What says the same as the current version changes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_model::spec::{Trigger, When};
use mainspring_model::{ErrorCode, Job, JobId, JobSpec, JobVersion, Namespace};
use mainspring_store::{Conflict, Outcome, Write};
use mainspring_wire::api::{self, Change, PutOutcome};

use super::diff::between;
use super::source::Sourced;
use crate::app::App;
use crate::audit::{Entry, told};
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::precondition::Precondition;
use crate::principal::Caller;
use crate::triggers::{Merging, warnings};

/// A job to be.
#[derive(Debug, Clone)]
pub struct PutJob<'a> {
    /// Where.
    pub namespace: Namespace,
    /// Its name, or the id of one that exists.
    pub job: &'a str,
    /// The specification, and what comes with it.
    pub source: Sourced<'a>,
    /// What must hold.
    pub condition: Precondition,
    /// Only tell what would change.
    pub dry_run: bool,
}

impl App {
    /// Creates or replaces a job.
    pub async fn put_job(&self, caller: &Caller, request: PutJob<'_>) -> Result<api::Job> {
        let Sourced { text, format, .. } = request.source;
        self.put_checked(caller, request).await.map_err(|error| error.located(text, format))
    }

    async fn put_checked(&self, caller: &Caller, request: PutJob<'_>) -> Result<api::Job> {
        let PutJob { namespace, job, source, condition, dry_run } = request;
        let Sourced { text, format, .. } = source;
        self.allow(caller, Operation::JobPut, Some(&namespace)).await?;
        if dry_run {
            told();
        }
        source.check()?;
        let spec = mainspring_model::spec::parse(text, format).map_err(|errors| Error::spec("", &errors))?;
        let found = match self.find_job(&namespace, job).await {
            Ok(found) => Some(found),
            Err(error) if error.code == ErrorCode::NotFound => None,
            Err(error) => return Err(error),
        };
        let entry = Entry {
            target: Some(spec.name.as_str().into()),
            ..caller.entry(self.now(), Operation::JobPut, Some(&namespace))
        };
        let checked = check_place(&spec, &namespace, job, found.as_ref())
            .and_then(|()| condition.check(found.as_ref().map(|job| job.revision)));
        let checked = match checked {
            Ok(()) => self.check_schedules(&spec, &namespace).await,
            wrong => wrong,
        };
        let checked = match checked {
            Ok(()) => self.check_artifacts(&namespace, &spec, "").await,
            wrong => wrong,
        };
        if let Err(error) = checked {
            return if dry_run { Err(error) } else { self.refused(entry, error).await };
        }
        let warnings = warnings(&*self.store, &namespace, &spec).await?;
        let put = match found {
            None => self.create_job(caller, namespace, (spec, source), entry, dry_run).await,
            Some(found) => self.replace_job(caller, found, (spec, source), entry, dry_run).await,
        }?;
        Ok(api::Job { warnings, ..put })
    }

    async fn create_job(
        &self,
        caller: &Caller,
        namespace: Namespace,
        (spec, source): (JobSpec, Sourced<'_>),
        entry: Entry,
        dry_run: bool,
    ) -> Result<api::Job> {
        let now = self.now();
        let job = Job {
            id: self.random.job_id(now),
            namespace,
            name: spec.name.as_str().into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at: now,
            updated_at: now,
        };
        self.write_version(caller, job, (spec, source), entry, dry_run, (PutOutcome::Created, Vec::new()))
            .await
    }

    async fn replace_job(
        &self,
        caller: &Caller,
        mut job: Job,
        (spec, source): (JobSpec, Sourced<'_>),
        entry: Entry,
        dry_run: bool,
    ) -> Result<api::Job> {
        // What cannot be read can still be replaced.
        let current = match self.find_version(job.id, job.current_version).await {
            Ok(current) => Some(current),
            Err(error) if error.code == ErrorCode::Internal => None,
            Err(error) => return Err(error),
        };
        let changes = current.as_ref().map(|current| between(current, &spec)).unwrap_or_default();
        if let Some(current) = current.filter(|_| changes.is_empty()) {
            if !dry_run {
                let is_other_text = self.replace_source((job.id, job.current_version), source).await?;
                let detail = if is_other_text {
                    "its text changed, and nothing that it says"
                } else {
                    "nothing changed"
                };
                let detail = Some(detail.into());
                self.journal.note(Entry { detail, ..entry }).await;
                self.confirmed_if_new(&job.namespace, job.id).await?;
            }
            let outcome = Some(PutOutcome::Unchanged);
            return Ok(api::Job { spec: Some(tree(&current)), outcome, ..(&job).into() });
        }
        job.current_version += 1;
        job.revision += 1;
        job.updated_at = self.now();
        self.write_version(caller, job, (spec, source), entry, dry_run, (PutOutcome::Updated, changes)).await
    }

    async fn write_version(
        &self,
        caller: &Caller,
        job: Job,
        (spec, source): (JobSpec, Sourced<'_>),
        entry: Entry,
        dry_run: bool,
        (outcome, changes): (PutOutcome, Vec<Change>),
    ) -> Result<api::Job> {
        let spec = Arc::new(spec);
        let answer = api::Job { spec: Some(tree(&spec)), outcome: Some(outcome), changes, ..(&job).into() };
        if dry_run {
            return Ok(answer);
        }
        let version = JobVersion {
            job: job.id,
            version: job.current_version,
            spec: spec.clone(),
            created_at: job.updated_at,
            created_by: caller.subject().into(),
        };
        let entry = Entry { detail: Some(format!("version {}", version.version).into()), ..entry };
        let (namespace, name) = (job.namespace.clone(), job.name.clone());
        let key = (version.job, version.version);
        let merged =
            Merging { namespace: &namespace, job: job.id, version: job.current_version, spec: Some(&spec) };
        let mut writes = vec![Write::PutJob(Box::new(job)), Write::InsertJobVersion(Box::new(version))];
        writes.extend(source.writes(key, &BTreeMap::new()));
        let (outcomes, has_triggers) = self.commit_with_triggers(writes, merged, entry).await?;
        self.jobs.forget(&namespace, &name);
        let is_written = outcomes.iter().all(|outcome| *outcome == Outcome::Applied);
        match outcomes.iter().find_map(Outcome::conflict) {
            None if is_written => {
                self.jobs.remember_version(key, &spec);
                self.announce_job(&namespace, key.0, &name).await;
                if has_triggers {
                    self.confirmed(&namespace, key.0).await?;
                }
                Ok(answer)
            }
            Some(Conflict::KeyTaken(_)) => Err(Error::new(
                ErrorCode::AlreadyExists,
                format!("`{name}` was made meanwhile in `{namespace}`"),
            )),
            _ => Err(Error::new(ErrorCode::Conflict, "the job changed meanwhile")),
        }
    }

    /// What `H` stands for, and what calendars leave out, is known now: it may be a day that no month has.
    pub(super) async fn check_schedules(&self, spec: &JobSpec, namespace: &Namespace) -> Result<()> {
        let calendars = self.calendars_of(namespace, spec).await?;
        let seed = Trigger::seed(namespace, spec.name.as_str());
        for (index, trigger) in spec.triggers.iter().enumerate() {
            if let When::Cron { cron, .. } = &trigger.when
                && trigger.schedule(seed, &calendars).is_none()
            {
                let message = format!("`{cron}`: with what `H` stands for in this job, it never fires");
                return Err(Error::field(ErrorCode::InvalidSpec, format!("triggers[{index}].cron"), message));
            }
        }
        Ok(())
    }
}

/// The file and the address must mean the same job.
pub(super) fn check_place(
    spec: &JobSpec,
    namespace: &Namespace,
    job: &str,
    found: Option<&Job>,
) -> Result<()> {
    let wrong = |path: &str, message: String| Err(Error::field(ErrorCode::InvalidSpec, path, message));
    if let Some(place) = spec.namespace.as_ref().filter(|place| *place != namespace) {
        return wrong("namespace", format!("the file says `{place}`, the request `{namespace}`"));
    }
    let name = found.map_or(job, |found| &*found.name);
    if spec.name.as_str() != name {
        return wrong("name", format!("the file says `{}`, the request `{name}`", spec.name));
    }
    if name.parse::<JobId>().is_ok() {
        return wrong("name", "a name must not look like the id of a job".into());
    }
    Ok(())
}

/// A specification as the API writes it.
pub(crate) fn tree(spec: &JobSpec) -> serde_json::Value {
    serde_json::to_value(spec).unwrap_or_default()
}
