//! Jobs and their immutable versions as rows.

use std::sync::Arc;

use mainspring_model::spec::{self, Format};
use mainspring_model::{Job, JobId, JobVersion, Timestamp};
use mainspring_store::Error;

use super::{detail, run};
use crate::batch::{Action, Batch, Column, Kind, column};
use crate::value::{Damage, Param, Row};

const COLUMNS: &[Column] = &[
    column("id", Kind::Id),
    column("namespace", Kind::Bytes),
    column("name", Kind::Bytes),
    column("current_version", Kind::Big),
    column("revision", Kind::Big),
    column("pause", Kind::Bytes),
    column("created_at", Kind::Big),
    column("updated_at", Kind::Big),
];

/// Inserts jobs.
pub(crate) static INSERT: Batch = Batch {
    table: "jobs",
    columns: COLUMNS,
    key: 1,
    action: Action::InsertAbsent { unique: &[1, 2] },
    row_type: None,
};

/// Replaces jobs.
pub(crate) static UPDATE: Batch = Batch {
    table: "jobs",
    columns: &[
        column("id", Kind::Id),
        column("revision", Kind::Big),
        column("namespace", Kind::Bytes),
        column("name", Kind::Bytes),
        column("current_version", Kind::Big),
        column("revision", Kind::Big),
        column("pause", Kind::Bytes),
        column("created_at", Kind::Big),
        column("updated_at", Kind::Big),
    ],
    key: 1,
    action: Action::CompareAndSet,
    row_type: None,
};

/// Inserts versions.
pub(crate) static INSERT_VERSION: Batch = Batch {
    table: "job_versions",
    columns: &[
        column("job", Kind::Id),
        column("version", Kind::Big),
        column("created_at", Kind::Big),
        column("created_by", Kind::Bytes),
        column("spec", Kind::Bytes),
    ],
    key: 2,
    action: Action::InsertAbsent { unique: &[] },
    row_type: None,
};

/// What a read of jobs selects.
pub(crate) const SELECT: &str =
    "SELECT id, namespace, name, current_version, revision, pause, created_at, updated_at FROM jobs";
/// What a read of versions selects.
pub(crate) const SELECT_VERSIONS: &str =
    "SELECT job, version, created_at, created_by, spec FROM job_versions";

/// The row of a job.
pub(crate) fn encode(job: &Job) -> Vec<Param> {
    vec![
        job.id.as_bytes().into(),
        job.namespace.as_str().into(),
        (&*job.name).into(),
        i64::from(job.current_version).into(),
        (job.revision as i64).into(),
        job.pause.as_ref().map_or(Param::Null, |pause| detail::to_json(pause).into()),
        job.created_at.into(),
        job.updated_at.into(),
    ]
}

/// The row of an update of a job: its key, the revision before, the rest.
pub(crate) fn encode_update(job: &Job) -> Vec<Param> {
    let mut row = encode(job);
    row.insert(1, Param::Int(job.revision.wrapping_sub(1) as i64));
    row
}

/// The job of a row.
pub(crate) fn decode(row: &dyn Row) -> Result<Job, Damage> {
    let id = JobId::from_bytes(row.id(0)?);
    decode_named(row, id).map_err(|damage| damage.named(id))
}

fn decode_named(row: &dyn Row, id: JobId) -> Result<Job, Damage> {
    Ok(Job {
        id,
        namespace: run::namespace(row, 1)?,
        name: row.text(2)?.into(),
        current_version: row.number(3)?,
        revision: row.int(4)? as u64,
        pause: row.bytes_opt(5)?.map(detail::json).transpose()?,
        created_at: Timestamp::from_micros(row.int(6)?),
        updated_at: Timestamp::from_micros(row.int(7)?),
    })
}

/// The row of a version, if its specification can be written.
pub(crate) fn encode_version(version: &JobVersion) -> Result<Vec<Param>, Error> {
    let spec = serde_json::to_vec(&*version.spec)
        .map_err(|error| Error::Invalid(format!("specification of {}: {error}", version.job)))?;
    Ok(vec![
        version.job.as_bytes().into(),
        i64::from(version.version).into(),
        version.created_at.into(),
        (&*version.created_by).into(),
        spec.into(),
    ])
}

/// The version of a row.
pub(crate) fn decode_version(row: &dyn Row) -> Result<JobVersion, Damage> {
    let job = JobId::from_bytes(row.id(0)?);
    let version: u32 = row.number(1)?;
    decode_version_named(row, job, version)
        .map_err(|damage| damage.named(format_args!("{job} version {version}")))
}

fn decode_version_named(row: &dyn Row, job: JobId, version: u32) -> Result<JobVersion, Damage> {
    let spec = spec::parse(row.text(4)?, Format::Json).map_err(|errors| Damage::new(errors.to_string()))?;
    Ok(JobVersion {
        job,
        version,
        spec: Arc::new(spec),
        created_at: Timestamp::from_micros(row.int(2)?),
        created_by: row.text(3)?.into(),
    })
}
