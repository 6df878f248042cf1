//! Everything that the checks compare, collected when the cluster is at rest: rows, ledgers and audit through the API, the
//! witness files, and what clients know.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::api::Api;
use crate::jobs::Job;
use crate::journal::Acknowledged;
use crate::moment::{self, MicrosSinceEpoch};
use crate::observer::Ended;
use crate::witness::Witness;

/// What was collected.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) acknowledged: Acknowledged,
    pub(crate) witness: Witness,
    /// Every run, by id.
    pub(crate) runs: BTreeMap<String, Run>,
    /// Runs as they were when they were first seen ended.
    pub(crate) seen: BTreeMap<String, Ended>,
    /// Lines of ledgers by job and trigger, the oldest first.
    pub(crate) ledgers: BTreeMap<(Job, String), Vec<Line>>,
    /// Targets and operations of what the audit allowed.
    pub(crate) audit: Vec<(String, String)>,
    /// What the doctor found, and about what.
    pub(crate) findings: Vec<(String, String)>,
}

/// A run as the API tells it.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) job: Option<Job>,
    pub(crate) version: u64,
    pub(crate) state: String,
    pub(crate) attempt: u64,
    pub(crate) ended: Option<Ended>,
    pub(crate) created_at: MicrosSinceEpoch,
    pub(crate) finished_at: Option<MicrosSinceEpoch>,
    pub(crate) logical_time: Option<MicrosSinceEpoch>,
    pub(crate) trigger: Option<String>,
    pub(crate) maybe_doubled: bool,
    pub(crate) cause: String,
}

/// A line of a ledger: what became of planned moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) planned: MicrosSinceEpoch,
    pub(crate) through: MicrosSinceEpoch,
    /// When that was decided.
    pub(crate) at: MicrosSinceEpoch,
    pub(crate) outcome: String,
    pub(crate) run: Option<String>,
}

impl Evidence {
    pub(crate) fn collect(
        api: &Api,
        acknowledged: Acknowledged,
        witness: Witness,
        seen: BTreeMap<String, Ended>,
    ) -> Result<Self> {
        let mut runs = BTreeMap::new();
        for run in api.list("/v1/runs")? {
            let id = run["id"].as_str().context("a run has an id")?.to_owned();
            runs.insert(id, Run::of(&run).with_context(|| format!("cannot read the run {run}"))?);
        }
        let mut ledgers = BTreeMap::new();
        for (job, trigger) in [
            (Job::Tick, "interval"),
            (Job::Tick, "cron"),
            (Job::Follow, "lead"),
            (Job::Changing, "seconds"),
            (Job::Switched, "seconds"),
        ] {
            let lines = api.list(&format!("/v1/jobs/{}/triggers/{trigger}/history", job.name()))?;
            let mut lines: Vec<Line> = lines.iter().filter_map(Line::of).collect();
            lines.sort_by_key(|line| line.planned);
            ledgers.insert((job, trigger.to_owned()), lines);
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let audit = api.list("/v1/audit")?;
        let allowed = audit.iter().filter(|entry| entry["outcome"] == "allowed");
        let audit = allowed.map(|entry| (text(&entry["operation"]), text(&entry["target"]))).collect();
        let doctor = api.get("/v1/doctor")?;
        let findings = doctor["findings"].as_array().into_iter().flatten();
        let findings = findings.map(|found| (text(&found["check"]), text(&found["message"]))).collect();
        Ok(Self { acknowledged, witness, runs, seen, ledgers, audit, findings })
    }

    /// The runs of a job.
    pub(crate) fn runs_of(&self, job: Job) -> impl Iterator<Item = (&String, &Run)> {
        self.runs.iter().filter(move |(_, run)| run.job == Some(job))
    }

    /// The lines of a ledger.
    pub(crate) fn ledger(&self, job: Job, trigger: &str) -> &[Line] {
        self.ledgers.get(&(job, trigger.to_owned())).map_or(&[], Vec::as_slice)
    }
}

impl Run {
    fn of(run: &Value) -> Option<Self> {
        let moment = |field: &str| run[field].as_str().and_then(moment::parse);
        Some(Self {
            job: run["job_name"].as_str().and_then(Job::named),
            version: run["job_version"].as_u64()?,
            state: run["state"].as_str()?.to_owned(),
            attempt: run["attempt"].as_u64()?,
            ended: Ended::of(run),
            created_at: moment("created_at")?,
            finished_at: moment("finished_at"),
            logical_time: moment("logical_time"),
            trigger: run["trigger"].as_str().map(str::to_owned),
            maybe_doubled: run["maybe_doubled"] == true,
            cause: run["cause"].to_string(),
        })
    }
}

impl Line {
    fn of(line: &Value) -> Option<Self> {
        let planned = moment::parse(line["planned"].as_str()?)?;
        Some(Self {
            planned,
            through: line["through"].as_str().and_then(moment::parse).unwrap_or(planned),
            at: moment::parse(line["at"].as_str()?)?,
            outcome: line["outcome"].as_str()?.to_owned(),
            run: line["run"].as_str().map(str::to_owned),
        })
    }
}
