//! A look at the whole: what is wrong or odd, and what to do about it. It repairs nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use mainspring_model::{
    CellId, Job, JobSpec, MemberId, Node, NodeState, Reason, RunId, RunState, Shelf, Timestamp,
    limits as model_limits,
};
use mainspring_store::{RecordQuery, RunQuery, ShelfQuery, Versions};
use mainspring_wire::api::{self, Cell, Doctor, Finding, FindingSubject, Severity, SubjectKind};

use crate::app::App;
use crate::audit::verify;
use crate::error::Result;
use crate::nodes::LiveNodes;
use crate::operation::Operation;
use crate::ports::{LiveNode, LiveRun};
use crate::principal::Caller;
use crate::record;
use crate::triggers::KnownJobs;
use crate::words::Words;

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
            let apart = apart.as_secs();
            let message = Words::new(
                format!("the clock of this server's host is {apart} s from the store's"),
                format!("本服务器主机的时钟与存储相差 {apart} 秒"),
            );
            let remedy = Words::new(
                "synchronise the clocks of the two machines (NTP); schedules go by the store's, and nothing old is removed while they are more than a minute apart",
                "同步两台机器的时钟（NTP）；调度以存储的时钟为准，相差超过一分钟时不会清理旧数据",
            );
            findings.push(finding(Severity::Warning, "clock", message, remedy));
        }
        if let Some(behind) = self.cells.clock_frozen_by() {
            let behind = behind.as_secs();
            let message = Words::new(
                format!("the store's clock stepped back; planned moments wait for {behind} s"),
                format!("存储的时钟倒退；计划时刻要等待 {behind} 秒"),
            );
            let remedy = Words::new(
                "set the clock of the store's machine right, or wait until it has caught up",
                "校正存储所在机器的时钟，或等它追上",
            );
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
            let message = Words::new(
                format!("{more} more runs are in cells that no server owns"),
                format!("另有 {more} 个运行位于没有服务器负责的单元"),
            );
            let remedy =
                Words::new("cancel those that are named, and look again", "取消已列出的运行，然后重新检查");
            findings.push(finding(Severity::Failure, "cells", message, remedy));
        }
        for (run, cell) in runs.into_iter().take(UNOWNED_NAMED) {
            let message = Words::new(
                format!("no server owns {cell} of {run}: the cluster has {count} of them"),
                format!("没有服务器负责 {run} 所在的单元 {}：集群只有 {count} 个单元", cell.0),
            );
            let remedy = Words::new(
                format!("end it with `mainspring cancel {run}`, and submit it anew"),
                format!("用 `mainspring cancel {run}` 结束它，然后重新提交"),
            );
            let found = finding(Severity::Failure, "cells", message, remedy);
            findings.push(about(SubjectKind::Run, run, found));
        }
        Ok(())
    }

    async fn check_members(&self, cells: &[Cell], now: Timestamp, findings: &mut Vec<Finding>) -> Result<()> {
        for member in self.store.members().await? {
            let silent = now.since(member.seen_at);
            if silent > MEMBER_SILENT && !holds_any(member.id, cells, now) {
                let (id, address, seconds) = (member.id, &member.address, silent.as_secs());
                let message = Words::new(
                    format!("scheduler {id} at {address} is silent for {seconds} s"),
                    format!("调度器 {id}（{address}）已 {seconds} 秒无响应"),
                );
                let remedy = Words::new(
                    "start it again, or ignore it: its cells move to others by themselves",
                    "重新启动它，或忽略：它的单元会自动转给其他调度器",
                );
                let found = finding(Severity::Note, "schedulers", message, remedy);
                let found = about(SubjectKind::Scheduler, id, found);
                findings.push(Finding { since: Some(member.seen_at.into()), ..found });
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
            let remedy = Words::new(
                "start an agent: `mainspring node token`, then `mainspring agent` on the machine",
                "启动 agent：先 `mainspring node token`，再在机器上 `mainspring agent`",
            );
            findings.push(finding(severity, "nodes", Words::new("no node is up", "没有在线的节点"), remedy));
        }
        for (pool, _) in pools.into_iter().filter(|(_, works)| up > 0 && !works) {
            let message = Words::new(
                format!("no node of the pool `{pool}` takes work"),
                format!("节点池 `{pool}` 中没有节点接受任务"),
            );
            let remedy = Words::new(
                "resume one with `mainspring node resume NODE`, or start an agent there",
                "用 `mainspring node resume NODE` 恢复一个节点，或在其中启动 agent",
            );
            findings.push(about(
                SubjectKind::Pool,
                &pool,
                finding(Severity::Warning, "nodes", message, remedy),
            ));
        }
        for LiveNode { node, running, seen_at, .. } in silent {
            let runs = if running == 1 { "1 run".to_owned() } else { format!("{running} runs") };
            let message = Words::new(
                format!("{} ({}) is silent and has {runs}", node.name, node.id),
                format!("{}（{}）无响应，其上有 {running} 个运行", node.name, node.id),
            );
            let remedy = match self.has_credential(node.id).await? {
                true => Words::new(
                    "look at its machine and its agent's log; `mainspring node lose NODE` gives it up if the machine is gone",
                    "查看它的机器和 agent 日志；若机器已不存在，用 `mainspring node lose NODE` 放弃它",
                ),
                false => Words::new(
                    "it was removed: join it again, with `mainspring node token` or a restart of `mainspring up`, or give it up with `mainspring node lose NODE`",
                    "它已被移除：用 `mainspring node token` 或重启 `mainspring up` 重新加入，或用 `mainspring node lose NODE` 放弃它",
                ),
            };
            let found = about_node(&node, finding(Severity::Warning, "nodes", message, remedy));
            findings.push(Finding { since: seen_at.map(Into::into), ..found });
        }
        for node in lost {
            // One that was removed is not missed.
            if !self.has_credential(node.id).await? {
                continue;
            }
            let message = Words::new(
                format!("{} ({}) is lost since {}", node.name, node.id, node.updated_at),
                format!("{}（{}）自 {} 起失联", node.name, node.id, node.updated_at),
            );
            let remedy = Words::new("look at its machine and its agent's log", "查看它的机器和 agent 日志");
            let found = about_node(&node, finding(Severity::Warning, "nodes", message, remedy));
            findings.push(Finding { since: Some(node.updated_at.into()), ..found });
        }
        Ok(())
    }

    /// Runs that wait for what does not come by itself, among those that wait first.
    async fn check_waiting(&self, cells: &[Cell], findings: &mut Vec<Finding>) -> Result<()> {
        let mut stuck: BTreeMap<Words, (usize, Words)> = BTreeMap::new();
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
                    let id = run.head.id;
                    let example = Words::new(
                        format!("for {id}: {}", told.remedy),
                        format!("对于 {id}：{}", told.remedy_zh),
                    );
                    let reason = Words::new(told.message, told.message_zh);
                    stuck.entry(reason).or_insert((0, example)).0 += 1;
                }
            }
        }
        for (reason, (count, remedy)) in stuck {
            let runs = if count == 1 { "1 run waits".to_owned() } else { format!("{count} runs wait") };
            let message =
                Words::new(format!("{runs}: {}", reason.en), format!("{count} 个运行在等待：{}", reason.zh));
            findings.push(finding(Severity::Warning, "waiting", message, remedy));
        }
        for cell in unasked {
            let message = Words::new(
                format!("{cell} could not be asked why runs wait there"),
                format!("无法向单元 {} 询问其中的运行为何等待", cell.0),
            );
            let remedy = Words::new(
                "look whether the server that owns it is reached by the others at its public URL",
                "检查其他服务器能否通过公开 URL 访问负责它的服务器",
            );
            let found = finding(Severity::Warning, UNASKED, message, remedy);
            findings.push(about(SubjectKind::Cell, cell.0, found));
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
                let job = page.rows.iter().find(|job| job.id == id);
                let name = job.map_or("", |job| &job.name);
                let message = Words::new(
                    format!("version {version} of the job `{name}` ({id}) cannot be read"),
                    format!("作业 `{name}`（{id}）的版本 {version} 无法读取"),
                );
                let remedy = Words::new(
                    "put the job anew with `mainspring apply`, or delete it; the server's log says more",
                    "用 `mainspring apply` 重新写入该作业，或删除它；服务器日志有更多信息",
                );
                let found = finding(Severity::Failure, "jobs", message, remedy);
                findings.push(match job {
                    Some(job) => about_job(job, found),
                    None => about(SubjectKind::Job, id, found),
                });
            }
            after = page.rows.last().filter(|_| page.more).map(|job| job.id);
            if after.is_none() {
                return Ok(());
            }
        }
        let message = Words::new(
            format!("only the first {JOBS_LOOKED_AT} jobs were looked at"),
            format!("只检查了前 {JOBS_LOOKED_AT} 个作业"),
        );
        findings.push(finding(Severity::Note, "jobs", message, Words::new("nothing to do", "无需处理")));
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
                let namespace = &job.namespace;
                let message = Words::new(
                    format!(
                        "the trigger `{name}` of {place} does not fire: there is no job `{missing}` in `{namespace}`"
                    ),
                    format!("{place} 的触发器 `{name}` 不会触发：`{namespace}` 中没有作业 `{missing}`"),
                );
                let remedy = Words::new(
                    format!("apply the job `{missing}`, or correct its name in {place}"),
                    format!("写入作业 `{missing}`，或改正 {place} 中的名称"),
                );
                findings.push(about_job(job, finding(Severity::Warning, "jobs", message, remedy)));
            }
        }
        Ok(())
    }

    async fn check_audit(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let query = RecordQuery { reverse: true, ..RecordQuery::all(record::AUDIT, AUDIT_RECORDS) };
        for broken in verify(&self.store.records(query).await?.rows) {
            let message = Words::new(
                format!("record {} of chain {}: {}", broken.number, broken.chain, broken.what),
                format!("链 {} 的记录 {}：{}", broken.chain, broken.number, broken.what),
            );
            let remedy = Words::new(
                "somebody changed the audit in the database, or a process was killed while it wrote",
                "有人在数据库中修改了审计，或进程在写入时被终止",
            );
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
            let message = Words::new(
                format!("nobody owns cell {}: nothing in it starts", cell.cell),
                format!("没有调度器负责单元 {}：其中的运行都不会开始", cell.cell),
            );
            let remedy = Words::new(
                "wait a few seconds for a takeover; if it lasts, start a scheduler",
                "等待几秒，其他调度器会接管；若一直如此，请启动调度器",
            );
            let found = finding(Severity::Failure, "cells", message, remedy);
            findings.push(Finding { since: cell.lease_until, ..about(SubjectKind::Cell, cell.cell, found) });
        }
        if let Some(times) = cell.setbacks.filter(|times| *times > 0) {
            let message = Words::new(
                format!("cell {} was given up and loaded anew {times} times by its owner", cell.cell),
                format!("单元 {} 被其属主放弃并重新加载了 {times} 次", cell.cell),
            );
            let remedy = Words::new(
                "a defect: report what the owner's log says at `the cell is given up and loaded anew`",
                "这是缺陷：请报告属主日志中 `the cell is given up and loaded anew` 处的内容",
            );
            let found = finding(Severity::Warning, "cells", message, remedy);
            findings.push(about(SubjectKind::Cell, cell.cell, found));
        }
        if let Some(pause) = &cell.pause {
            let (cell, by, note) = (cell.cell, &pause.by, &pause.note);
            let message = match note.is_empty() {
                true => {
                    Words::new(format!("cell {cell} is paused by {by}"), format!("单元 {cell} 被 {by} 暂停"))
                }
                false => Words::new(
                    format!("cell {cell} is paused by {by}: {note}"),
                    format!("单元 {cell} 被 {by} 暂停：{note}"),
                ),
            };
            let remedy = Words::new("resume it when the reason is gone", "原因消除后恢复它");
            let found = finding(Severity::Note, "cells", message, remedy);
            findings.push(Finding { since: Some(pause.at), ..about(SubjectKind::Cell, cell, found) });
        }
    }
}

fn finding(severity: Severity, check: &str, message: Words, remedy: Words) -> Finding {
    let Words { en: message, zh: message_zh } = message;
    let Words { en: remedy, zh: remedy_zh } = remedy;
    let check = check.into();
    Finding { severity, check, message, remedy, message_zh, remedy_zh, subject: None, since: None }
}

/// A finding about one thing.
fn about(kind: SubjectKind, name: impl ToString, finding: Finding) -> Finding {
    let subject = FindingSubject { kind, name: name.to_string(), id: None, namespace: None };
    Finding { subject: Some(subject), ..finding }
}

fn about_node(node: &Node, finding: Finding) -> Finding {
    let (name, id) = (node.name.to_string(), Some(node.id.to_string()));
    let subject = FindingSubject { kind: SubjectKind::Node, name, id, namespace: None };
    Finding { subject: Some(subject), ..finding }
}

fn about_job(job: &Job, finding: Finding) -> Finding {
    let (name, id) = (job.name.to_string(), Some(job.id.to_string()));
    let subject = FindingSubject { kind: SubjectKind::Job, name, id, namespace: Some(job.namespace.clone()) };
    Finding { subject: Some(subject), ..finding }
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
