//! A look at the whole: what is wrong or odd, and what to do about it. It repairs nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_model::{
    CellId, Job, JobSpec, MemberId, NodeState, Reason, RunId, RunState, Shelf, Timestamp,
    limits as model_limits,
};
use mainspring_store::{RecordQuery, RunQuery, ShelfQuery, Versions};
use mainspring_wire::api::{self, Cell, Doctor, Finding, Severity};

use crate::app::App;
use crate::audit::verify;
use crate::error::Result;
use crate::nodes::LiveNodes;
use crate::operation::Operation;
use crate::ports::{LiveNode, LiveRun};
use crate::principal::Caller;
use crate::record;
use crate::triggers::KnownJobs;

/// The check that finds cells of which nobody could be asked.
pub const UNASKED: &str = "owners";

/// A scheduler that was silent for so long is gone or cut off.
const MEMBER_SILENT: Duration = Duration::from_secs(60);
/// Clocks that differ by more than this show in what people read.
const CLOCK_APART: Duration = Duration::from_secs(5);
/// Jobs that are looked at, and so many at once: a specification may be large.
const JOBS_LOOKED_AT: usize = 10_000;
const JOBS_AT_ONCE: usize = 100;
/// Runs of each cell that are asked why they wait.
const WAITING_LOOKED_AT: usize = 200;
/// Runs of cells without an owner that are named.
const UNOWNED_NAMED: usize = 20;
/// Active runs that are looked at, the newest, whether a server owns their cell.
const ACTIVE_LOOKED_AT: usize = 1_000;
/// Records of the audit that are looked through, the newest.
const AUDIT_RECORDS: usize = 1_000;

impl App {
    /// Looks for what is wrong or odd.
    pub async fn doctor(&self, caller: &Caller) -> Result<Doctor> {
        self.allow(caller, Operation::Doctor, None).await?;
        let now = self.now();
        let mut findings = Vec::new();
        self.check_clock(&mut findings).await?;
        let cells = self.look_at_cells().await?;
        check_cells(&cells, now, &mut findings);
        self.check_unowned(&mut findings).await?;
        self.check_members(&cells, now, &mut findings).await?;
        self.check_nodes(&cells, &mut findings).await?;
        self.check_waiting(&cells, &mut findings).await?;
        self.check_jobs(&mut findings).await?;
        self.check_audit(&mut findings).await?;
        findings.sort_by_key(|finding| finding.severity);
        let healthy = findings.iter().all(|finding| finding.severity == Severity::Note);
        let checked = ["clock", "cells", "schedulers", "nodes", "waiting", UNASKED, "jobs", "audit"]
            .map(str::to_owned)
            .to_vec();
        Ok(Doctor { at: now.into(), healthy, findings, checked })
    }

    async fn check_clock(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let (store, host) = (self.store.clock().await?, self.cells.host_clock());
        let apart = store.since(host).max(host.since(store));
        if apart > CLOCK_APART {
            let message =
                format!("the clock of this server's host is {} s from the store's", apart.as_secs());
            let remedy = "synchronise the clocks of the two machines (NTP); schedules go by the store's, and nothing \
                old is removed while they are more than a minute apart";
            findings.push(finding(Severity::Warning, "clock", message, remedy));
        }
        if let Some(behind) = self.cells.clock_frozen_by() {
            let message =
                format!("the store's clock stepped back; planned moments wait for {} s", behind.as_secs());
            let remedy = "set the clock of the store's machine right, or wait until it has caught up";
            findings.push(finding(Severity::Warning, "clock", message, remedy));
        }
        Ok(())
    }

    /// Runs in cells beyond the number of cells: no server ever owns those. They are looked for in cells that have a lease row,
    /// and among the newest active runs.
    async fn check_unowned(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let count = self.cells.count();
        let mut runs: BTreeMap<RunId, CellId> = BTreeMap::new();
        for lease in self.store.leases().await?.into_iter().filter(|lease| lease.cell.0 >= count) {
            for shelf in Shelf::ALL {
                let (cell, limit) = (lease.cell, WAITING_LOOKED_AT);
                let query = ShelfQuery { cell, shelf, after: None, rank_max: None, limit };
                runs.extend(self.store.shelf(query).await?.rows.iter().map(|run| (run.head.id, cell)));
            }
        }
        let states = RunState::ALL.into_iter().filter(|state| !state.is_terminal()).collect();
        let newest = RunQuery { states, limit: ACTIVE_LOOKED_AT, ..RunQuery::default() };
        for run in self.store.runs(newest).await?.rows {
            if run.status.cell.0 >= count {
                runs.insert(run.head.id, run.status.cell);
            }
        }
        let more = runs.len().saturating_sub(UNOWNED_NAMED);
        if more > 0 {
            let message = format!("{more} more runs are in cells that no server owns");
            findings.push(finding(
                Severity::Failure,
                "cells",
                message,
                "cancel those that are named, and look again",
            ));
        }
        for (run, cell) in runs.into_iter().take(UNOWNED_NAMED) {
            let message = format!("no server owns {cell} of {run}: the cluster has {count} of them");
            let remedy = format!("end it with `mainspring cancel {run}`, and submit it anew");
            findings.push(finding(Severity::Failure, "cells", message, &remedy));
        }
        Ok(())
    }

    async fn check_members(&self, cells: &[Cell], now: Timestamp, findings: &mut Vec<Finding>) -> Result<()> {
        for member in self.store.members().await? {
            let silent = now.since(member.seen_at);
            if silent > MEMBER_SILENT && !holds_any(member.id, cells, now) {
                let message = format!(
                    "scheduler {} at {} is silent for {} s",
                    member.id,
                    member.address,
                    silent.as_secs()
                );
                let remedy = "start it again, or ignore it: its cells move to others by themselves";
                findings.push(finding(Severity::Note, "schedulers", message, remedy));
            }
        }
        Ok(())
    }

    async fn check_nodes(&self, cells: &[Cell], findings: &mut Vec<Finding>) -> Result<()> {
        let (mut up, mut lost, mut silent) = (0, Vec::new(), Vec::new());
        let mut live = LiveNodes::default();
        let mut pools: BTreeMap<Box<str>, bool> = BTreeMap::new();
        let mut after = None;
        loop {
            let page = self.store.all_nodes(after, model_limits::PAGE_ROWS_MAX).await?;
            up += page.rows.iter().filter(|node| node.takes_work()).count();
            for node in page.rows.iter().filter(|node| !node.is_gone()) {
                *pools.entry(node.pool.clone()).or_default() |= node.takes_work();
                silent.extend(live.find(self, node).await.filter(|live| !live.connected && live.running > 0));
            }
            after = page.rows.last().filter(|_| page.more).map(|node| node.id);
            lost.extend(page.rows.into_iter().filter(|node| node.state == NodeState::Lost));
            if after.is_none() {
                break;
            }
        }
        let waiting: usize = cells.iter().filter_map(|cell| cell.waiting).sum();
        if up == 0 {
            let severity = if waiting > 0 { Severity::Failure } else { Severity::Warning };
            // No number: each owner counts its own, and what they find is put together.
            let remedy = "start an agent: `mainspring node token`, then `mainspring agent` on the machine";
            findings.push(finding(severity, "nodes", "no node is up".to_owned(), remedy));
        }
        for (pool, _) in pools.into_iter().filter(|(_, works)| up > 0 && !works) {
            let message = format!("no node of the pool `{pool}` takes work");
            let remedy = "resume one with `mainspring node resume NODE`, or start an agent there";
            findings.push(finding(Severity::Warning, "nodes", message, remedy));
        }
        for LiveNode { node, running, .. } in silent {
            let runs = if running == 1 { "1 run".to_owned() } else { format!("{running} runs") };
            let message = format!("{} ({}) is silent and has {runs}", node.name, node.id);
            let remedy = match self.has_credential(node.id).await? {
                true => {
                    "look at its machine and its agent's log; `mainspring node lose NODE` gives it up if the machine is gone"
                }
                false => {
                    "it was removed: join it again, with `mainspring node token` or a restart of `mainspring up`, or give it up with `mainspring node lose NODE`"
                }
            };
            findings.push(finding(Severity::Warning, "nodes", message, remedy));
        }
        for node in lost {
            // One that was removed is not missed.
            if !self.has_credential(node.id).await? {
                continue;
            }
            let message = format!("{} ({}) is lost since {}", node.name, node.id, node.updated_at);
            findings.push(finding(
                Severity::Warning,
                "nodes",
                message,
                "look at its machine and its agent's log",
            ));
        }
        Ok(())
    }

    /// Runs that wait for what does not come by itself, among those that wait first.
    async fn check_waiting(&self, cells: &[Cell], findings: &mut Vec<Finding>) -> Result<()> {
        let mut stuck: BTreeMap<String, (usize, String)> = BTreeMap::new();
        let mut unasked = Vec::new();
        for cell in cells.iter().map(|cell| CellId(cell.cell)) {
            let (shelf, limit) = (Shelf::Waiting, WAITING_LOOKED_AT);
            let query = ShelfQuery { cell, shelf, after: None, rank_max: None, limit };
            let waiting = self.store.shelf(query).await?.rows;
            let ids: Vec<RunId> = waiting.iter().map(|run| run.head.id).collect();
            let Ok(live) = self.cells.live(cell, &ids).await else {
                unasked.extend((!ids.is_empty()).then_some(cell));
                continue;
            };
            for LiveRun { run, reason } in live {
                if let Some(reason @ (Reason::NoNode(_) | Reason::Quarantined { .. })) = reason {
                    let mut told = api::Reason::from(&reason);
                    told.name(run.head.id, &run.head.namespace, None, cell);
                    let example = format!("for {}: {}", run.head.id, told.remedy);
                    stuck.entry(told.message).or_insert((0, example)).0 += 1;
                }
            }
        }
        for (reason, (count, remedy)) in stuck {
            let runs = if count == 1 { "1 run waits".to_owned() } else { format!("{count} runs wait") };
            findings.push(finding(Severity::Warning, "waiting", format!("{runs}: {reason}"), &remedy));
        }
        for cell in unasked {
            let message = format!("{cell} could not be asked why runs wait there");
            let remedy = "look whether the server that owns it is reached by the others at its public URL";
            findings.push(finding(Severity::Warning, UNASKED, message, remedy));
        }
        Ok(())
    }

    /// Jobs whose current version cannot be read, or names jobs that are not there; among the first.
    async fn check_jobs(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let (mut after, mut known) = (None, KnownJobs::default());
        for _ in 0..JOBS_LOOKED_AT / JOBS_AT_ONCE {
            let page = self.store.jobs(None, after, JOBS_AT_ONCE).await?;
            let keys: Vec<_> = page.rows.iter().map(|job| (job.id, job.current_version)).collect();
            let versions = Versions::read(&*self.store, &keys).await?;
            for version in versions.readable {
                let job = page.rows.iter().find(|job| job.id == version.job);
                if let Some(job) = job {
                    self.check_named_jobs(job, &version.spec, &mut known, findings).await?;
                }
            }
            for ((id, version), _) in versions.damaged {
                let name = page.rows.iter().find(|job| job.id == id).map_or("", |job| &job.name);
                let message = format!("version {version} of the job `{name}` ({id}) cannot be read");
                let remedy =
                    "put the job anew with `mainspring apply`, or delete it; the server's log says more";
                findings.push(finding(Severity::Failure, "jobs", message, remedy));
            }
            after = page.rows.last().filter(|_| page.more).map(|job| job.id);
            if after.is_none() {
                return Ok(());
            }
        }
        let message = format!("only the first {JOBS_LOOKED_AT} jobs were looked at");
        findings.push(finding(Severity::Note, "jobs", message, "nothing to do"));
        Ok(())
    }

    /// Triggers that follow or need a job that is not there.
    async fn check_named_jobs(
        &self,
        job: &Job,
        spec: &JobSpec,
        known: &mut KnownJobs,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        for trigger in &spec.triggers {
            for (_, missing) in known.missing(&*self.store, &job.namespace, trigger).await? {
                let (place, name) = (format!("{}/{}", job.namespace, job.name), &trigger.name);
                let message = format!(
                    "the trigger `{name}` of {place} does not fire: there is no job `{missing}` in `{}`",
                    job.namespace
                );
                let remedy = format!("apply the job `{missing}`, or correct its name in {place}");
                findings.push(finding(Severity::Warning, "jobs", message, &remedy));
            }
        }
        Ok(())
    }

    async fn check_audit(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let query = RecordQuery { reverse: true, ..RecordQuery::all(record::AUDIT, AUDIT_RECORDS) };
        for broken in verify(&self.store.records(query).await?.rows) {
            let message = format!("record {} of chain {}: {}", broken.number, broken.chain, broken.what);
            let remedy = "somebody changed the audit in the database, or a process was killed while it wrote";
            findings.push(finding(Severity::Warning, "audit", message, remedy));
        }
        Ok(())
    }
}

/// Whether a scheduler renews a lease, which it does more often than it writes its own row, if it ever writes that again.
fn holds_any(member: MemberId, cells: &[Cell], now: Timestamp) -> bool {
    cells.iter().any(|cell| cell.holder == Some(member) && is_held(cell, now))
}

fn is_held(cell: &Cell, now: Timestamp) -> bool {
    cell.holder.is_some() && cell.lease_until.is_some_and(|until| until.0 > now)
}

fn check_cells(cells: &[Cell], now: Timestamp, findings: &mut Vec<Finding>) {
    for cell in cells {
        if !is_held(cell, now) {
            let message = format!("nobody owns cell {}: nothing in it starts", cell.cell);
            let remedy = "wait a few seconds for a takeover; if it lasts, start a scheduler";
            findings.push(finding(Severity::Failure, "cells", message, remedy));
        }
        if let Some(times) = cell.setbacks.filter(|times| *times > 0) {
            let message =
                format!("cell {} was given up and loaded anew {times} times by its owner", cell.cell);
            let remedy =
                "a defect: report what the owner's log says at `the cell is given up and loaded anew`";
            findings.push(finding(Severity::Warning, "cells", message, remedy));
        }
        if let Some(pause) = &cell.pause {
            let note = if pause.note.is_empty() { String::new() } else { format!(": {}", pause.note) };
            let message = format!("cell {} is paused by {}{note}", cell.cell, pause.by);
            findings.push(finding(Severity::Note, "cells", message, "resume it when the reason is gone"));
        }
    }
}

fn finding(severity: Severity, check: &str, message: String, remedy: &str) -> Finding {
    Finding { severity, check: check.into(), message, remedy: remedy.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_alive_while_it_holds_a_lease() {
        let (member, other) = (MemberId::from_bytes([1; 16]), MemberId::from_bytes([2; 16]));
        let (then, now) = (Timestamp::from_micros(1_000), Timestamp::from_micros(2_000));
        let cell = |lease_until: Option<Timestamp>| Cell {
            cell: 0,
            holder: Some(member),
            epoch: 1,
            lease_until: lease_until.map(Into::into),
            loaded: None,
            pause: None,
            revision: 0,
            waiting: None,
            running: None,
            nodes: None,
            setbacks: None,
        };
        assert!(holds_any(member, &[cell(Some(now))], then));
        assert!(!holds_any(member, &[cell(Some(then))], now));
        assert!(!holds_any(member, &[cell(None)], now));
        assert!(!holds_any(other, &[cell(Some(now))], then));
        assert!(!holds_any(member, &[], now));
    }
}
