//! The jobs of the simulated users: one for each rule that must hold.

use std::sync::Arc;

use mainspring_model::spec::{self, Format};
use mainspring_model::{Job, JobId, JobSpec, JobVersion, Namespace, Timestamp};

/// A job, and what its tasks do.
#[derive(Debug, Clone)]
pub(crate) struct SimJob {
    /// Its row.
    pub job: Job,
    /// Its only version.
    pub spec: Arc<JobSpec>,
    /// What the tasks do.
    pub nature: Nature,
    /// Whether its version can be read from the store.
    pub readable: bool,
}

/// What the tasks of a job do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// They end, mostly well.
    Ordinary,
    /// They write down how far they are, fail, and are continued.
    Resumes,
    /// Some never end.
    Hangs,
    /// They take their machine down.
    KillsNode,
    /// They can be placed nowhere.
    Impossible,
    /// They outlive the start timeout by far.
    Long,
}

const JOBS: &[(&str, Nature, &str)] = &[
    ("plain", Nature::Ordinary, "script: exit 0\nretry: {max: 2, backoff: {kind: fixed, base: 1s}}"),
    ("resumes", Nature::Resumes, "script: exit 0\nretry: {max: 4, backoff: {kind: fixed, base: 1s}}"),
    (
        "limited",
        Nature::Ordinary,
        "script: exit 0\nconcurrency: {limit: 2, key: '{{ params.k }}'}\nparameters: {k: integer}",
    ),
    ("newest", Nature::Ordinary, "script: exit 0\nconcurrency: {limit: 1, overlap: cancel_old}"),
    ("single", Nature::Ordinary, "script: exit 0\nconcurrency: {limit: 1, overlap: queue_one}"),
    (
        "skips",
        Nature::Ordinary,
        "script: exit 0\nconcurrency: {limit: 1, overlap: skip}\npriority: {class: spare}",
    ),
    ("rated", Nature::Ordinary, "script: exit 0\nrate_limit: {limit: 2, per: 30s}\nretry: {max: 1}"),
    ("once", Nature::Ordinary, "script: exit 0\ndelivery: at_most_once"),
    (
        "heavy",
        Nature::Ordinary,
        "script: exit 0\nresources: {cpu: 1500m, memory: 1Gi}\npriority: {class: service}",
    ),
    (
        "large",
        Nature::Ordinary,
        "script: exit 0\nresources: {cpu: 6}\nretry: {max: 3, backoff: {kind: fixed, base: 1s}}",
    ),
    (
        "hangs",
        Nature::Hangs,
        "script: exit 0\ntimeout: {run: 4s, start: 20s, stop_grace: 1s}\nretry: {max: 1, backoff: {kind: exponential, base: 1s}}",
    ),
    (
        "total",
        Nature::Hangs,
        "script: exit 0\ntimeout: {total: 30s, queue: 20s, stop_grace: 1s}\nretry: {max: 5}",
    ),
    (
        "zoned",
        Nature::Ordinary,
        "script: exit 0\nplacement: {selector: 'zone=a'}\ndispatch: {balancer: round_robin}\nretry: {max: 3}",
    ),
    (
        "hashed",
        Nature::Ordinary,
        "script: exit 0\ndispatch: {balancer: {consistent_hash: '{{ params.k }}'}}\nretry: {node: same}\nparameters: {k: integer}",
    ),
    ("spread", Nature::Ordinary, "script: exit 0\ndispatch: {balancer: spread}\nplacement: {spread: zone}"),
    (
        "long",
        Nature::Long,
        "script: exit 0\ntimeout: {start: 10s}\nretry: {max: 0}\nplacement: {sticky: prefer}",
    ),
    (
        "keeps",
        Nature::Long,
        "script: exit 0\non_disconnect: keep\nretry: {max: 2, backoff: {kind: fixed, base: 1s}}",
    ),
    ("killer", Nature::KillsNode, "script: exit 0\nretry: {max: 3}"),
    ("nowhere", Nature::Impossible, "script: exit 0\nplacement: {selector: 'gpu=h100'}"),
    ("unreadable", Nature::Ordinary, "script: exit 0"),
    (
        "ticks",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{name: all, every: 5s, misfire: {policy: all, max: 99}, until: 1970-01-01T00:01:40Z}, \
         {name: none, every: 13s, misfire: skip, jitter: 2s, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "followed",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{every: 9s, until: 1970-01-01T00:01:40Z}]\nretry: {max: 1}",
    ),
    ("padding", Nature::Ordinary, "script: exit 0"),
    ("other-padding", Nature::Ordinary, "script: exit 0"),
    ("follows", Nature::Ordinary, "script: exit 0\ntriggers: [{after: followed}]"),
];

/// The namespaces of the users.
pub(crate) const NAMESPACES: [&str; 3] = ["acme/data", "acme/web", "ops"];

/// All jobs. Each lives in one of the namespaces.
pub(crate) fn all() -> Vec<SimJob> {
    let jobs = JOBS.iter().enumerate().map(|(n, (name, nature, body))| {
        let namespace: Namespace = NAMESPACES[n % NAMESPACES.len()].parse().expect("a fixed namespace");
        let text = format!("name: {name}\n{body}\n");
        let spec = spec::parse(&text, Format::Yaml).unwrap_or_else(|errors| panic!("job {name}: {errors}"));
        let created_at = Timestamp::ZERO;
        let job = Job {
            id: JobId::new(created_at, n as u128 + 1),
            namespace,
            name: (*name).into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at,
            updated_at: created_at,
        };
        SimJob { job, spec: Arc::new(spec), nature: *nature, readable: *name != "unreadable" }
    });
    jobs.collect()
}

impl SimJob {
    /// Its version's row.
    pub(crate) fn version(&self) -> JobVersion {
        JobVersion {
            job: self.job.id,
            version: 1,
            spec: self.spec.clone(),
            created_at: self.job.created_at,
            created_by: "sim".into(),
        }
    }
}
