//! Looking at one run: its row, what its owner knows better, its attempts, why it is where it is.

use mainspring_model::{Cause, JobSpec, Reason, Run, RunId, RunState, RunStatus};
use mainspring_wire::api;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::list::active_by_cell;
use crate::app::App;
use crate::error::{Error, Result};
use crate::limits::WHY_NODES_MAX;
use crate::operation::Operation;
use crate::ports::{CellError, LiveRun};
use crate::principal::Caller;
use crate::words::Words;

use super::unblock::Unblock;

/// Who owns a run's cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// Somebody who has read what is in it.
    Loaded,
    /// Nobody.
    Nobody,
    /// Somebody who does not answer or has not read it, or it does not matter.
    Unknown,
}

impl App {
    /// A run with its parameters and its result.
    pub async fn run(&self, caller: &Caller, run: RunId) -> Result<api::Run> {
        let row = self.find_run(caller, Operation::RunGet, run).await?;
        let (row, reason) = match self.live(&row).await {
            Some(LiveRun { run, reason }) => (run, reason),
            None => (row, None),
        };
        let spec = self.spec_of(&row).await.ok();
        let mut seen = self.describe(&row, spec.as_deref()).await;
        if let Some(reason) = &reason {
            seen.reason = Some(reason.into());
        }
        seen.params = Some(payload(&row.head.params));
        let result = row.status.extra.as_ref().and_then(|extra| extra.result.as_ref());
        seen.result = result.map(|bytes| payload(bytes));
        Ok(seen)
    }

    /// The specification that a run pins.
    pub async fn run_spec(&self, caller: &Caller, run: RunId) -> Result<Value> {
        let row = self.find_run(caller, Operation::RunSpec, run).await?;
        let spec = self.spec_of(&row).await?;
        Ok(serde_json::to_value(&*spec).unwrap_or_default())
    }

    /// The attempts of a run, the first first.
    pub async fn attempts(&self, caller: &Caller, run: RunId) -> Result<Vec<api::Attempt>> {
        let row = self.find_run(caller, Operation::RunAttempts, run).await?;
        // As the run itself is shown: from its owner, who may know more than the row.
        let row = self.live(&row).await.map_or(row, |live| live.run);
        self.attempts_of(&row).await
    }

    /// Earlier attempts are rows; the last is in the run's.
    pub(super) async fn attempts_of(&self, row: &Run) -> Result<Vec<api::Attempt>> {
        let spec = self.spec_of(row).await.ok();
        let status = &row.status;
        let mut earlier = self.store.attempts(row.head.id).await?;
        earlier.retain(|attempt| attempt.token.number < status.attempt);
        let mut attempts: Vec<api::Attempt> = earlier.iter().map(Into::into).collect();
        if status.attempt > 0 {
            let is_over = status.state != RunState::Running;
            attempts.push(api::Attempt {
                number: status.attempt,
                attempts_max: None,
                node: status.node,
                node_name: None,
                placed_at: status.placed_at.map(Into::into),
                started_at: status.started_at.map(Into::into),
                finished_at: status.finished_at.filter(|_| is_over).map(Into::into),
                cause: status.cause.as_ref().filter(|_| is_over).map(Into::into),
                usage: status.extra.as_ref().map(|extra| (&extra.usage).into()),
            });
        }
        let mut losses = 0;
        for (index, attempt) in attempts.iter_mut().enumerate() {
            attempt.attempts_max = spec.as_ref().map(|spec| spec.attempts_max(losses));
            losses += u32::from(earlier.get(index).is_some_and(|attempt| attempt.cause.is_infrastructure()));
            if let Some(node) = attempt.node {
                attempt.node_name = self.node_name(node).await.as_deref().map(Into::into);
            }
            // It is the attempt's own node that a cause tells of.
            if let (Some(cause), Some(node), Some(name)) =
                (&mut attempt.cause, attempt.node, &attempt.node_name)
            {
                cause.name_node(node, name);
            }
        }
        Ok(attempts)
    }

    /// Why a run is where it is, from its owner if it answers.
    pub async fn why(&self, caller: &Caller, run: RunId) -> Result<api::Why> {
        let row = self.find_run(caller, Operation::RunWhy, run).await?;
        let (row, owner, reason) = match self.live(&row).await {
            Some(LiveRun { run, reason }) => (run, Owner::Loaded, reason),
            None => {
                let owner = self.owner_of(&row).await;
                let reason = self.why_not_in_memory(&row, owner == Owner::Loaded).await;
                (row, owner, reason)
            }
        };
        let is_live = owner == Owner::Loaded;
        let status = &row.status;
        let waits = !status.state.is_terminal() && status.state != RunState::Running;
        let mut reason: Option<api::Reason> = reason.as_ref().map(Into::into);
        if waits && owner == Owner::Nobody && self.is_due(&row) {
            let is_forever = status.cell.0 >= self.cells.count();
            reason = Some(api::Reason::no_owner(status.cell, is_forever));
        }
        let spec = self.spec_of(&row).await.ok();
        if let Some(reason) = &mut reason {
            let job = spec.as_deref().map(|spec| spec.name.as_str());
            reason.name(row.head.id, &row.head.namespace, job, status.cell);
        }
        let mut cause = self.cause_of(status.cause.as_ref()).await;
        if let (Some(cause), RunState::Skipped, Some(Cause::Overlap)) =
            (&mut cause, status.state, &status.cause)
            && let Some(Words { en, zh }) = self.overlap_words(&row).await
        {
            (cause.message, cause.message_zh) = (en, zh);
        }
        let Words { en: summary, zh: summary_zh } = match (&reason, &cause) {
            (Some(reason), _) => Words::new(
                format!("{}; {}", reason.message, reason.remedy),
                format!("{}；{}", reason.message_zh, reason.remedy_zh),
            ),
            (None, Some(cause)) if status.state != RunState::Running => {
                Words::new(&cause.message, &cause.message_zh)
            }
            _ if waits && !is_live => {
                Words::new("its cell's owner has not looked at it yet", "它所在单元的属主还没有看到它")
            }
            _ if waits => Words::new("it is about to be placed", "即将分配节点"),
            _ if status.state == RunState::Running => self.where_it_runs(&row).await,
            _ => Words::new("it ended well", "已成功结束"),
        };
        let nodes = self.verdicts(caller, &row, reason.as_ref()).await;
        let unblock = Unblock {
            run: &row,
            spec: spec.as_deref(),
            reason: reason.as_ref(),
            nodes: &nodes,
            principal: &caller.principal,
        };
        let actions = unblock.actions();
        let (id, state, live) = (row.head.id, status.state, is_live);
        Ok(api::Why { id, state, summary, summary_zh, reason, cause, live, actions, nodes })
    }

    /// What the nodes lack that are nearest to taking a run, when it waits for one.
    async fn verdicts(
        &self,
        caller: &Caller,
        row: &Run,
        reason: Option<&api::Reason>,
    ) -> Vec<api::NodeVerdict> {
        if !reason.is_some_and(|reason| matches!(reason.kind.as_str(), "resources" | "no_node" | "suspect")) {
            return Vec::new();
        }
        if !caller.principal.may(Operation::NodeGlance, Some(&row.head.namespace)) {
            return Vec::new();
        }
        let nearest = self.cells.nearest_nodes(row.status.cell, row.head.id, WHY_NODES_MAX).await;
        nearest.unwrap_or_default().into_iter().map(Into::into).collect()
    }

    /// Why a run waits that no owner has in memory: its time is far away, too many wait, or nobody owns its cell.
    async fn why_not_in_memory(&self, row: &Run, is_owned: bool) -> Option<Reason> {
        let status = &row.status;
        match status.state {
            RunState::Ready | RunState::Failed => Reason::of_moment(status, self.attempts_max(row).await),
            RunState::Waiting if is_owned => Some(Reason::Overflow),
            RunState::Waiting => status.reason.as_deref().cloned(),
            RunState::Running
            | RunState::Success
            | RunState::FinalFailed
            | RunState::Cancelled
            | RunState::Skipped => None,
        }
    }

    /// Whether nothing but an owner is missing: the moment that it waited for has come.
    fn is_due(&self, row: &Run) -> bool {
        let Run { status, .. } = row;
        let now = self.now();
        status.state == RunState::Waiting || status.place.is_none_or(|place| place.rank <= now.as_micros())
    }

    /// Who owns the cell of a run.
    async fn owner_of(&self, row: &Run) -> Owner {
        if row.status.state.is_terminal() {
            return Owner::Unknown;
        }
        match self.cells.overview(row.status.cell).await {
            Ok(Some(overview)) if overview.loaded => Owner::Loaded,
            Ok(None) | Err(CellError::Nowhere) => Owner::Nobody,
            Ok(Some(_)) | Err(_) => Owner::Unknown,
        }
    }

    /// How many attempts there may be; those there were, when the specification cannot be read.
    pub(super) async fn attempts_max(&self, row: &Run) -> u32 {
        let status = &row.status;
        self.spec_of(row).await.map_or(status.attempt, |spec| spec.attempts_max(status.losses))
    }

    /// Why something ended, with the node's name in place of its id.
    async fn cause_of(&self, cause: Option<&Cause>) -> Option<api::Cause> {
        let mut seen: api::Cause = cause?.into();
        if let Some(node) = seen.node
            && let Some(name) = self.node_name(node).await
        {
            seen.name_node(node, &name);
        }
        Some(seen)
    }

    async fn where_it_runs(&self, row: &Run) -> Words {
        let status = &row.status;
        let attempt = status.attempt;
        let name = match status.node {
            Some(node) => {
                Some(self.node_name(node).await.map_or_else(|| node.to_string(), |name| name.to_string()))
            }
            None => None,
        };
        let (en, zh) = (name.as_deref().unwrap_or("a node"), name.as_deref().unwrap_or("某个节点"));
        let mut words = match status.started_at {
            Some(_) => Words::new(
                format!("attempt {attempt} runs on {en}"),
                format!("第 {attempt} 次尝试正在 {zh} 上运行"),
            ),
            None => Words::new(
                format!("attempt {attempt} starts on {en}"),
                format!("第 {attempt} 次尝试正在 {zh} 上启动"),
            ),
        };
        if self.is_cut_off(status).await {
            words.en.push_str(", which is not connected: if it is not back in time, it is given up");
            words.zh.push_str("，该节点未连接：若未及时恢复，将被放弃");
        }
        if let Some(cancel) = status.cancel() {
            words.en.push_str(&format!("; {} asked for its end", cancel.by));
            words.zh.push_str(&format!("；{} 要求结束它", cancel.by));
        }
        words
    }

    /// Whether the owner knows that the node of a run is not connected.
    async fn is_cut_off(&self, status: &RunStatus) -> bool {
        let overview = self.cells.overview(status.cell).await.ok().flatten();
        let nodes = overview.into_iter().flat_map(|overview| overview.nodes);
        nodes.into_iter().any(|live| Some(live.node.id) == status.node && !live.connected)
    }

    /// The row of a run that the caller may look at, and may do this to. What they may not see does not exist.
    pub(crate) async fn find_run(&self, caller: &Caller, operation: Operation, run: RunId) -> Result<Run> {
        let missing = || Error::not_found(run);
        let row = self.store.runs_by_id(&[run]).await?.pop().ok_or_else(missing)?;
        let namespace = &row.head.namespace;
        if !caller.principal.may(Operation::RunGet, Some(namespace)) {
            self.deny(caller, operation, Some(namespace), Some(run.to_string())).await;
            return Err(missing());
        }
        self.allow(caller, operation, Some(namespace)).await?;
        Ok(row)
    }

    /// A run with what its specification adds.
    pub(super) async fn describe(&self, row: &Run, spec: Option<&JobSpec>) -> api::Run {
        let mut seen = api::Run::from(row);
        if let Some(spec) = spec {
            seen.job_name = Some(spec.name.to_string());
            seen.attempts_max = Some(spec.attempts_max(row.status.losses));
            seen.labels = spec.labels.clone();
        }
        if let Some(node) = seen.node {
            seen.node_name = self.node_name(node).await.as_deref().map(Into::into);
        }
        if seen.cause.as_ref().is_some_and(|cause| cause.node.is_some()) {
            seen.cause = self.cause_of(row.status.cause.as_ref()).await;
        }
        seen
    }

    /// Runs for a list. Those that are not over say why they wait or how far they are, where their owners answer.
    pub(super) async fn describe_all(&self, rows: &[Run]) -> Result<Vec<api::Run>> {
        let specs = self.specs_of(rows).await?;
        let mut live: FxHashMap<RunId, LiveRun> = FxHashMap::default();
        for (cell, runs) in active_by_cell(rows) {
            let known = self.cells.live(cell, &runs).await.unwrap_or_default();
            live.extend(known.into_iter().map(|live| (live.run.head.id, live)));
        }
        let mut seen = Vec::with_capacity(rows.len());
        for (row, spec) in rows.iter().zip(&specs) {
            // A run that went on since it was found stays as it was found, so that it fits the query.
            let live = live.get(&row.head.id).filter(|live| live.run.status.state == row.status.state);
            let mut run = self.describe(live.map_or(row, |live| &live.run), spec.as_deref()).await;
            if let Some(reason) = live.and_then(|live| live.reason.as_ref()) {
                run.reason = Some(reason.into());
            }
            seen.push(run);
        }
        Ok(seen)
    }

    /// A run as its owner has it, unless it is over or its owner is not here.
    pub(super) async fn live(&self, row: &Run) -> Option<LiveRun> {
        if row.status.state.is_terminal() {
            return None;
        }
        let answer = self.cells.live(row.status.cell, &[row.head.id]).await;
        answer.ok()?.into_iter().find(|live| live.run.head.id == row.head.id)
    }
}

/// JSON as it is; other bytes as text.
fn payload(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}
