//! A call of any verb as data, and its answer in a form that can be compared.

use std::sync::Arc;

use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use mainspring_store::{
    CounterQuery, Error, JobPlace, LeaseGrant, LeaseRequest, Outcome, Page, Record, RecordKey, RecordKind,
    RecordQuery, RecordRetention, Result, Retention, RunEnd, RunQuery, ShelfQuery, Store, Transaction,
};

/// A call; the clock and migrations are left out, because no two stores need agree on them.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Commit(Transaction),
    AcquireLease(LeaseRequest),
    RenewLease(CellId, MemberId, Epoch, Timestamp),
    ReleaseLease(CellId, MemberId, Epoch),
    Leases,
    PutMember(Member),
    RemoveMembers(Timestamp),
    Members,
    Shelf(ShelfQuery),
    CellPause(CellId),
    Nodes(CellId),
    RunsById(Vec<RunId>),
    RunByKey(Namespace, Box<str>),
    Runs(RunQuery),
    NewestEnds(Vec<JobId>, usize),
    Attempts(RunId),
    Events(RunId),
    Job(JobId),
    JobByName(Namespace, Box<str>),
    Jobs(Option<Namespace>, Option<JobId>, usize),
    JobsByName(Option<Namespace>, Option<JobPlace>, usize),
    JobVersions(Vec<(JobId, u32)>),
    VersionsOfJob(JobId, Option<u32>, usize),
    Node(NodeId),
    AllNodes(Option<NodeId>, usize),
    Record(RecordKind, RecordKey),
    Records(RecordQuery),
    Counters(CounterQuery),
    Retain(Retention, usize),
    RetainCounters(Timestamp),
    RetainRecords(RecordRetention, usize),
}

/// What came back. Rows that may come in any order are sorted.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Outcomes(Vec<Outcome>),
    Grant(LeaseGrant),
    Flag(bool),
    Count(u64),
    Nothing,
    Leases(Vec<Lease>),
    Members(Vec<Member>),
    Pause(Option<Pause>),
    Nodes(Vec<Node>),
    RunPage(Page<Run>),
    RunSet(Vec<Run>),
    Ends(Vec<RunEnd>),
    Attempts(Vec<Attempt>),
    Events(Vec<RunEvent>),
    Job(Option<Job>),
    JobPage(Page<Job>),
    JobVersions(Vec<JobVersion>),
    JobVersionPage(Page<JobVersion>),
    NodePage(Page<Node>),
    Record(Option<Record>),
    RecordPage(Page<Record>),
    CounterPage(Page<(CounterKey, Counts)>),
    FenceLost(CellId, Epoch),
    Invalid,
    Failed(String),
}

impl Call {
    pub(super) async fn play(&self, store: &Arc<dyn Store>) -> Answer {
        match self.ask(store).await {
            Ok(answer) => answer,
            Err(Error::FenceLost { cell, epoch }) => Answer::FenceLost(cell, epoch),
            // The words of a refusal are the store's own.
            Err(Error::Invalid(_)) => Answer::Invalid,
            Err(error) => Answer::Failed(format!("{error:?}")),
        }
    }

    async fn ask(&self, store: &Arc<dyn Store>) -> Result<Answer> {
        Ok(match self.clone() {
            Self::Commit(transaction) => Answer::Outcomes(store.commit(transaction).await?),
            Self::AcquireLease(request) => Answer::Grant(store.acquire_lease(request).await?),
            Self::RenewLease(cell, member, epoch, end) => {
                Answer::Flag(store.renew_lease(cell, member, epoch, end).await?.is_some())
            }
            Self::ReleaseLease(cell, member, epoch) => {
                Answer::Flag(store.release_lease(cell, member, epoch).await?)
            }
            Self::Leases => Answer::Leases(store.leases().await?),
            Self::PutMember(member) => {
                store.put_member(member).await?;
                Answer::Nothing
            }
            Self::RemoveMembers(before) => Answer::Count(store.remove_members(before).await?),
            Self::Members => Answer::Members(store.members().await?),
            Self::Shelf(query) => Answer::RunPage(store.shelf(query).await?),
            Self::CellPause(cell) => Answer::Pause(store.cell_pause(cell).await?),
            Self::Nodes(cell) => Answer::Nodes(store.nodes(cell).await?),
            Self::RunsById(ids) => {
                let mut runs = store.runs_by_id(&ids).await?;
                runs.sort_by_key(|run| run.head.id);
                Answer::RunSet(runs)
            }
            Self::RunByKey(namespace, key) => {
                Answer::RunSet(store.run_by_key(&namespace, &key).await?.into_iter().collect())
            }
            Self::Runs(query) => Answer::RunPage(store.runs(query).await?),
            Self::NewestEnds(jobs, each) => {
                let mut ends = store.newest_ends(&jobs, each).await?;
                ends.sort_by_key(|end| end.run);
                Answer::Ends(ends)
            }
            Self::Attempts(run) => Answer::Attempts(store.attempts(run).await?),
            Self::Events(run) => Answer::Events(store.events(run).await?),
            Self::Job(id) => Answer::Job(store.job(id).await?),
            Self::JobByName(namespace, name) => Answer::Job(store.job_by_name(&namespace, &name).await?),
            Self::Jobs(namespace, after, limit) => {
                Answer::JobPage(store.jobs(namespace.as_ref(), after, limit).await?)
            }
            Self::JobsByName(namespace, after, limit) => {
                Answer::JobPage(store.jobs_by_name(namespace.as_ref(), after, limit).await?)
            }
            Self::JobVersions(keys) => {
                let mut versions = store.job_versions(&keys).await?;
                versions.sort_by_key(|row| (row.job, row.version));
                Answer::JobVersions(versions)
            }
            Self::Node(id) => Answer::Nodes(store.node(id).await?.into_iter().collect()),
            Self::VersionsOfJob(job, after, limit) => {
                Answer::JobVersionPage(store.versions_of_job(job, after, limit).await?)
            }
            Self::AllNodes(after, limit) => Answer::NodePage(store.all_nodes(after, limit).await?),
            Self::Record(kind, key) => Answer::Record(store.record(kind, &key).await?),
            Self::Records(query) => Answer::RecordPage(store.records(query).await?),
            Self::RetainRecords(rule, limit) => Answer::Count(store.retain_records(rule, limit).await?),
            Self::Counters(query) => Answer::CounterPage(store.counters(query).await?),
            Self::Retain(rule, limit) => Answer::Count(store.retain(rule, limit).await?),
            Self::RetainCounters(before) => Answer::Count(store.retain_counters(before).await?),
        })
    }
}
