//! The jobs of the simulated users: one for each rule that must hold.

use std::sync::Arc;

use mainspring_model::spec::{self, Format, Misfire, MisfirePolicy, Trigger};
use mainspring_model::{Calendars, Job, JobId, JobSpec, JobVersion, Namespace, Timestamp};

use crate::plan::Profile;

/// A job, and what its tasks do.
#[derive(Debug, Clone)]
pub(crate) struct SimJob {
    /// Its row.
    pub job: Job,
    /// Its first version.
    pub spec: Arc<JobSpec>,
    /// What somebody puts later: triggers that fire at the same moments, and treat what they missed in another way.
    pub later: Vec<Arc<JobSpec>>,
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
    /// They fail.
    Breaks,
    /// Most of them fail.
    Moody,
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
    (
        "counted",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{every: 4s, count: 9, misfire: {policy: all, max: 99}}, \
         {name: some, every: 3s, count: 12, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "moments",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{at: 1970-01-01T00:00:37Z}, \
         {cron: '*/11 * * * * *', zone: America/Santiago, jitter: 3s, until: 1970-01-01T00:01:40Z}]",
    ),
    ("chained", Nature::Ordinary, "script: exit 0\ntriggers: [{after: {job: follows, on: any}}]"),
    (
        "breaks",
        Nature::Breaks,
        "script: exit 0\nretry: {max: 0}\ntriggers: [{every: 5s, pause_after: 2, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "delayed",
        Nature::Ordinary,
        "script: exit 0\nretry: {max: 2, backoff: {kind: fixed, base: 30s, cap: 30s}}\ntriggers: [{delay: 4s}]",
    ),
    (
        "slots",
        Nature::Ordinary,
        "script: exit 0\nretry: {max: 0}\nconcurrency: {limit: 1, overlap: skip}\n\
         triggers: [{every: 4s, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "called",
        Nature::Ordinary,
        "script: exit 0\nparameters: {delivery: {type: integer, default: 0}}\n\
         triggers: [{webhook: {}}]",
    ),
    (
        "called-alone",
        Nature::Ordinary,
        "script: exit 0\nparameters: {delivery: {type: integer, default: 0}}\n\
         concurrency: {limit: 1, overlap: skip}\ntriggers: [{webhook: {}}]",
    ),
    (
        "needed",
        Nature::Moody,
        "script: exit 0\nretry: {max: 0}\ntriggers: [{every: 7s, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "heeds",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{every: 4s, calendar: rests, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "heeds-often",
        Nature::Ordinary,
        "script: exit 0\nconcurrency: {limit: 1, overlap: skip}\n\
         triggers: [{cron: '*/2 * * * * *', calendar: rests, misfire: skip, until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "needs",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{name: soon, every: 6s, needs: {job: needed, within: 3s}, \
         misfire: {policy: all, window: 60s, max: 99}, until: 1970-01-01T00:01:40Z}, \
         {name: both, every: 17s, needs: [needed, {job: followed, within: 5s}], misfire: skip, \
         until: 1970-01-01T00:01:40Z}]",
    ),
    (
        "called-few",
        Nature::Ordinary,
        "script: exit 0\nparameters: {delivery: {type: integer, default: 0}}\ntriggers: [{webhook: {}, count: 3}]",
    ),
    ("retimed", Nature::Ordinary, "script: exit 0"),
    ("refollows", Nature::Ordinary, "script: exit 0"),
    // Templates that pass every check and fail in the second half of each minute.
    (
        "poisoned",
        Nature::Ordinary,
        "script: exit 0\nparameters: {day: {type: string, default: ''}}\n\
         triggers: [{name: clock, every: 7s, misfire: {policy: all, max: 99}, until: 1970-01-01T00:01:40Z, \
         parameters: {day: \"{{ 'x' if (logical_time | date('%S')) < '30' else logical_time | plus_days(9999999) }}\"}}, \
         {name: rest, delay: 3s, \
         parameters: {day: \"{{ 'x' if (logical_time | date('%S')) < '30' else logical_time | plus_days(9999999) }}\"}}]",
    ),
    (
        "poisoned-key",
        Nature::Ordinary,
        "script: exit 0\nparameters: {second: {type: string, default: ''}}\n\
         concurrency: {limit: 2, key: \"{{ params.second if params.second < '30' else params.second * 1000000 }}\"}\n\
         triggers: [{every: 6s, misfire: skip, until: 1970-01-01T00:01:40Z, \
         parameters: {second: \"{{ logical_time | date('%S') }}\"}}]",
    ),
];

/// Jobs that begin without triggers, and what their later versions have: triggers come, change and go.
const CHANGING: &[(&str, &[&str])] = &[
    (
        "retimed",
        &[
            "{name: ticks, every: 3s, until: 1970-01-01T00:01:40Z}",
            "{name: ticks, every: 4s, until: 1970-01-01T00:01:40Z}, \
             {name: tocks, every: 5s, misfire: skip, until: 1970-01-01T00:01:40Z}",
            "{name: tocks, every: 5s, misfire: skip, until: 1970-01-01T00:01:40Z}",
            "",
        ],
    ),
    (
        "refollows",
        &[
            "{name: ends, after: {job: followed, on: any}}",
            "{name: ticks, every: 6s, until: 1970-01-01T00:01:40Z}",
            "{name: ends, after: followed}, {name: ticks, every: 6s, until: 1970-01-01T00:01:40Z}",
            "",
        ],
    ),
];

/// Jobs that only a world has in which nobody is there for ninety days. The clocks of the zone are turned in between.
const SLOW_JOBS: &[(&str, Nature, &str)] = &[
    (
        "slow",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{name: hours, cron: '7 */3 * * *', zone: America/Santiago, \
         misfire: {policy: all, window: 30d, max: 20}, until: 1970-04-01T00:02:00Z}, \
         {name: both, cron: '30 * * * *', zone: America/Santiago, dst: {gap: skip, overlap: both}, \
         until: 1970-04-01T00:02:00Z}]",
    ),
    (
        "quick",
        Nature::Ordinary,
        "script: exit 0\ntriggers: [{name: none, every: 20s, misfire: skip, until: 1970-04-01T00:02:00Z}, \
         {name: one, every: 5m, offset: 1s, until: 1970-04-01T00:02:00Z}]",
    ),
];

/// Triggers of a crowd, and how many of them a job has.
const CROWD: usize = 10_000;
const CROWD_PER_JOB: usize = 100;

/// The namespaces of the users.
pub(crate) const NAMESPACES: [&str; 3] = ["acme/data", "acme/web", "ops"];

/// Of all jobs, those that the users submit runs of.
pub(crate) const SUBMITTED: usize = 25;

/// All jobs. Each lives in one of the namespaces.
pub(crate) fn all(profile: Profile) -> Vec<SimJob> {
    let slow = if profile == Profile::Long { SLOW_JOBS } else { &[] };
    let listed = JOBS
        .iter()
        .chain(slow)
        .map(|(name, nature, body)| (String::from(*name), *nature, String::from(*body)));
    let crowd = if profile == Profile::Crowd { CROWD / CROWD_PER_JOB } else { 0 };
    let all = listed.chain((0..crowd).map(crowded)).enumerate();
    all.map(|(n, (name, nature, body))| job(n, &name, nature, &body)).collect()
}

/// A job of a crowd: many triggers, most of which find that another was quicker.
fn crowded(n: usize) -> (String, Nature, String) {
    let trigger = |m: usize| {
        let until = "until: 1970-01-01T00:01:40Z";
        format!("{{name: t{m}, every: 40s, offset: {}s, misfire: {{policy: all}}, {until}}}", (n + m) % 40)
    };
    let triggers: Vec<String> = (0..CROWD_PER_JOB).map(trigger).collect();
    let body = format!(
        "script: exit 0\nconcurrency: {{limit: 1, overlap: skip}}\ntriggers: [{}]",
        triggers.join(", ")
    );
    (format!("crowd-{n}"), Nature::Ordinary, body)
}

fn job(n: usize, name: &str, nature: Nature, body: &str) -> SimJob {
    let namespace: Namespace = NAMESPACES[n % NAMESPACES.len()].parse().expect("a fixed namespace");
    let text = format!("name: {name}\n{body}\n");
    let spec = spec::parse(&text, Format::Yaml).unwrap_or_else(|errors| panic!("job {name}: {errors}"));
    let later = [MisfirePolicy::Skip, MisfirePolicy::All, MisfirePolicy::Once].map(|policy| {
        let mut spec = spec.clone();
        for trigger in spec.triggers.iter_mut().filter(|trigger| has_clock(trigger)) {
            trigger.misfire = Misfire { policy, ..trigger.misfire };
        }
        Arc::new(spec)
    });
    let changing = CHANGING.iter().find(|(of, _)| *of == name).map(|(_, versions)| {
        let version = |triggers: &&str| {
            let text = format!("{text}triggers: [{triggers}]\n");
            Arc::new(spec::parse(&text, Format::Yaml).unwrap_or_else(|errors| panic!("job {name}: {errors}")))
        };
        versions.iter().map(version).collect()
    });
    let created_at = Timestamp::ZERO;
    let job = Job {
        id: JobId::new(created_at, n as u128 + 1),
        namespace,
        name: name.into(),
        current_version: 1,
        revision: 1,
        pause: None,
        created_at,
        updated_at: created_at,
    };
    let spec = Arc::new(spec);
    SimJob {
        job,
        spec,
        later: changing.unwrap_or_else(|| later.into()),
        nature,
        readable: name != "unreadable",
    }
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

    /// What a version of it says.
    pub(crate) fn spec_of(&self, version: u32) -> &Arc<JobSpec> {
        match version {
            0 | 1 => &self.spec,
            later => &self.later[(later as usize - 2) % self.later.len()],
        }
    }

    /// Whether it is one of a crowd.
    pub(crate) fn is_of_a_crowd(&self) -> bool {
        self.spec.triggers.len() == CROWD_PER_JOB
    }

    /// Whether its triggers come and go with its versions.
    pub(crate) fn is_changing(&self) -> bool {
        CHANGING.iter().any(|(name, _)| *name == self.spec.name.as_str())
    }

    /// Whether it has triggers that somebody may put anew.
    pub(crate) fn is_timed(&self) -> bool {
        !self.spec.triggers.is_empty()
    }
}

/// Whether a trigger has planned moments.
pub(crate) fn has_clock(trigger: &Trigger) -> bool {
    trigger.schedule(0, Calendars::NONE).is_some()
}
