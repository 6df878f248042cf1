//! From a wish to the run that is submitted: the specification found, the parameters checked, the priority decided.
//!
//! Everything that can be refused is refused here, with the field's name, before an owner is asked.

use std::sync::{Arc, LazyLock};

use mainspring_engine::priority_of;
use mainspring_model::{
    ErrorCode, Job, JobId, JobPause, JobSpec, Namespace, OverlapRule, Payload, RunHead, Timestamp, limits,
};
use mainspring_wire::api::Submit;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::NewRun;
use crate::principal::Caller;
use crate::secret::sha256;

/// The parameters of a run that has none.
static NO_PARAMS: LazyLock<Payload> = LazyLock::new(|| Payload::from(*b"{}"));

/// What a run will execute.
pub(super) struct Pinned {
    pub(super) job: JobId,
    pub(super) version: u32,
    pub(super) spec: Arc<JobSpec>,
    pub(super) inline: Option<Payload>,
    pub(super) pause: Option<JobPause>,
}

impl App {
    /// The run that a wish stands for. `prefix` is before the paths of problems: `runs[3].`.
    pub(super) async fn new_run(
        &self,
        caller: &Caller,
        namespace: Namespace,
        wish: Submit,
        prefix: &str,
    ) -> Result<NewRun> {
        let Submit {
            job, version, spec, params, priority, not_before, deadline, force, idempotency_key, ..
        } = wish;
        let pinned = match (job, spec) {
            (Some(job), None) => {
                self.pin_job(caller, &namespace, &job, version).await.map_err(|error| at(prefix, error))?
            }
            (None, Some(spec)) if version.is_none() => pin_spec(&namespace, &spec, prefix)?,
            _ => {
                let message = "give either `job` (with or without `version`) or `spec`";
                return Err(Error::field(ErrorCode::InvalidRequest, format!("{prefix}job"), message));
            }
        };
        if !pinned.spec.artifacts.is_empty() {
            let within = if pinned.inline.is_some() { "spec." } else { "" };
            self.check_artifacts(&namespace, &pinned.spec, &format!("{prefix}{within}")).await?;
        }
        let params = params_of(&pinned.spec, params, prefix)?;
        let priority = priority.map(|priority| priority_from(&priority, prefix)).transpose()?;
        check_key(idempotency_key.as_deref(), prefix)?;
        let now = self.cells.now();
        let head = RunHead {
            id: self.random.run_id(now),
            namespace,
            job: pinned.job,
            job_version: pinned.version,
            inline_spec: pinned.inline,
            idempotency_key: idempotency_key.map(Into::into),
            priority: priority.unwrap_or_else(|| priority_of(&pinned.spec)),
            created_at: now,
            not_before: not_before.map(|at| at.0),
            deadline: deadline.map(|at| at.0),
            params,
            keys: None,
            submitted_by: caller.principal.subject.clone(),
            fired: None,
            overlap: overlap_rule(force),
        };
        Ok(NewRun { head, spec: pinned.spec, pause: pinned.pause })
    }

    /// A job's current or named version.
    pub(super) async fn pin_job(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        job: &str,
        version: Option<u32>,
    ) -> Result<Pinned> {
        let found = self.find_job_soon(namespace, job, caller.reads_since).await?;
        self.pin(&found, version.unwrap_or(found.current_version)).await
    }

    pub(super) async fn pin(&self, job: &Job, version: u32) -> Result<Pinned> {
        let spec = self.find_version(job.id, version).await?;
        Ok(Pinned { job: job.id, version, spec, inline: None, pause: job.job_pause() })
    }
}

/// A specification of the run's own.
fn pin_spec(namespace: &Namespace, spec: &Value, prefix: &str) -> Result<Pinned> {
    let prefix = format!("{prefix}spec");
    let spec = mainspring_model::spec::from_value(spec).map_err(|errors| Error::spec(&prefix, &errors))?;
    if let Some(place) = spec.namespace.as_ref().filter(|place| *place != namespace) {
        let message = format!("the specification says `{place}`, the request `{namespace}`");
        return Err(Error::field(ErrorCode::InvalidSpec, format!("{prefix}.namespace"), message));
    }
    let bytes = serde_json::to_vec(&spec).unwrap_or_default();
    if bytes.len() > limits::SPEC_BYTES_MAX {
        let message = format!("has {} bytes, at most {} are allowed", bytes.len(), limits::SPEC_BYTES_MAX);
        return Err(Error::field(ErrorCode::TooLarge, prefix, message));
    }
    Ok(Pinned {
        job: derived_job(namespace, &bytes),
        version: 1,
        spec: Arc::new(spec),
        inline: Some(bytes.into()),
        pause: None,
    })
}

/// The id that runs with the same specification of their own share.
fn derived_job(namespace: &Namespace, spec: &[u8]) -> JobId {
    let hash = sha256(&[namespace.as_str().as_bytes(), &[0], spec].concat());
    let random = u128::from_be_bytes(std::array::from_fn(|at| hash[at]));
    JobId::new(Timestamp::ZERO, random)
}

/// The parameters, checked and with defaults.
pub(super) fn params_of(spec: &JobSpec, given: Option<Map<String, Value>>, prefix: &str) -> Result<Payload> {
    let given = given.unwrap_or_default();
    if given.is_empty() && spec.parameters.is_empty() {
        return Ok(NO_PARAMS.clone());
    }
    let values = spec.parameters.resolve(&given).map_err(|problems| {
        Error::problems(ErrorCode::InvalidParameter, &format!("{prefix}params"), problems)
    })?;
    let bytes = serde_json::to_vec(&values).unwrap_or_default();
    if bytes.len() > limits::PARAMS_BYTES_MAX {
        let message = format!("have {} bytes, at most {} are allowed", bytes.len(), limits::PARAMS_BYTES_MAX);
        return Err(Error::field(ErrorCode::TooLarge, format!("{prefix}params"), message));
    }
    Ok(bytes.into())
}

/// A priority is read as a job file's is.
pub(crate) fn priority_from(priority: &Value, prefix: &str) -> Result<u16> {
    let file = json!({"name": "x", "script": "true", "priority": priority});
    let spec = mainspring_model::spec::from_value(&file).map_err(|errors| {
        let prefix = prefix.trim_end_matches('.');
        Error::problems(ErrorCode::InvalidRequest, prefix, errors.problems().iter().cloned())
    })?;
    Ok(priority_of(&spec))
}

/// How the run regards others.
pub(super) fn overlap_rule(force: bool) -> OverlapRule {
    if force { OverlapRule::Force } else { OverlapRule::Policy }
}

/// Keys have a length.
pub(super) fn check_key(key: Option<&str>, prefix: &str) -> Result<()> {
    match key.map_or(1, str::len) {
        1..=limits::IDEMPOTENCY_KEY_BYTES_MAX => Ok(()),
        _ => {
            let message = format!("has 1 to {} bytes", limits::IDEMPOTENCY_KEY_BYTES_MAX);
            Err(Error::field(ErrorCode::InvalidRequest, format!("{prefix}idempotency_key"), message))
        }
    }
}

/// Names the field of a job that was not found.
fn at(prefix: &str, error: Error) -> Error {
    if error.code == ErrorCode::NotFound && !prefix.is_empty() {
        return Error::field(error.code, format!("{prefix}job"), error.message);
    }
    error
}
