//! The reads. A page asks for one row more than its limit, to know whether more follow.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Job, JobId, JobVersion, Namespace, Node, NodeId, NodeState, Pause,
    Run, RunEvent, RunId,
};
use mainspring_store::{
    CounterQuery, JobPlace, Page, Record, RecordKey, RecordKind, RecordQuery, Result, RunEnd, RunQuery,
    ShelfQuery, check,
};

use crate::core::MemCore;

impl MemCore {
    /// A page of a shelf.
    pub fn shelf(&self, query: &ShelfQuery) -> Result<Page<Run>> {
        check::rows(query.limit)?;
        let (cell, shelf) = (query.cell, query.shelf);
        let (rank, id) = query.after.unwrap_or((i64::MIN, RunId::MIN));
        let first = (cell, shelf, rank, id);
        let last = (cell, shelf, query.rank_max.unwrap_or(i64::MAX), RunId::MAX);
        if first >= last {
            return Ok(Page { rows: Vec::new(), more: false });
        }
        let begin = if query.after.is_some() { Bound::Excluded(first) } else { Bound::Included(first) };
        let found = self.shelves.range((begin, Bound::Included(last)));
        Ok(page(found.filter_map(|(.., id)| self.runs.get(id).cloned()), query.limit))
    }

    /// The pause of a cell.
    pub fn cell_pause(&self, cell: CellId) -> Option<Pause> {
        self.pauses.get(&cell).cloned()
    }

    /// The nodes of a cell that have not left, by id.
    pub fn nodes(&self, cell: CellId) -> Vec<Node> {
        let here = |node: &&Node| node.cell == cell && node.state != NodeState::Left;
        self.nodes.values().filter(here).cloned().collect()
    }

    /// A run.
    pub fn run(&self, id: RunId) -> Option<&Run> {
        self.runs.get(&id)
    }

    /// Every run, by id: for checkers, no verb of the contract.
    pub fn all_runs(&self) -> impl ExactSizeIterator<Item = &Run> {
        self.runs.values()
    }

    /// These runs.
    pub fn runs_by_id(&self, ids: &[RunId]) -> Result<Vec<Run>> {
        check::rows(ids.len())?;
        let distinct: BTreeSet<&RunId> = ids.iter().collect();
        Ok(distinct.into_iter().filter_map(|id| self.runs.get(id).cloned()).collect())
    }

    /// The run with this idempotency key.
    pub fn run_by_key(&self, namespace: &Namespace, key: &str) -> Option<Run> {
        self.key_holder(namespace, key).and_then(|id| self.runs.get(&id).cloned())
    }

    /// A page of runs, in the order that is asked for.
    pub fn runs(&self, query: &RunQuery) -> Result<Page<Run>> {
        check::rows(query.limit)?;
        let (first, end) = query.ids();
        if first >= end {
            return Ok(Page { rows: Vec::new(), more: false });
        }
        let wanted = |run: &&Run| {
            query.job.is_none_or(|job| run.head.job == job)
                && (query.states.is_empty() || query.states.contains(&run.status.state))
                && query.namespace.as_ref().is_none_or(|outer| run.head.namespace.is_within(outer))
        };
        let within = self.runs.range(first..end).map(|(_, run)| run);
        Ok(match query.oldest_first {
            true => page(within.filter(wanted).cloned(), query.limit),
            false => page(within.rev().filter(wanted).cloned(), query.limit),
        })
    }

    /// The ends of the newest runs of these jobs that are over.
    pub fn newest_ends(&self, jobs: &[JobId], each: usize) -> Result<Vec<RunEnd>> {
        check::rows(jobs.len().saturating_mul(each))?;
        let mut left: BTreeMap<JobId, usize> = jobs.iter().map(|job| (*job, each)).collect();
        let mut ends = Vec::new();
        for end in self.runs.values().rev().filter_map(RunEnd::of) {
            if let Some(left) = left.get_mut(&end.job).filter(|left| **left > 0) {
                *left -= 1;
                ends.push(end);
            }
        }
        Ok(ends)
    }

    /// The earlier attempts of a run, by number.
    pub fn attempts(&self, run: RunId) -> Vec<Attempt> {
        self.attempts.range((run, 0)..=(run, u32::MAX)).map(|(_, row)| row.clone()).collect()
    }

    /// The events of a run, by (version, ordinal).
    pub fn events(&self, run: RunId) -> Vec<RunEvent> {
        self.events.range((run, 0, 0)..=(run, u64::MAX, u16::MAX)).map(|(_, row)| row.clone()).collect()
    }

    /// A job.
    pub fn job(&self, id: JobId) -> Option<Job> {
        self.jobs.get(&id).cloned()
    }

    /// The job with this name.
    pub fn job_by_name(&self, namespace: &Namespace, name: &str) -> Option<Job> {
        self.names.get(&(namespace.clone(), name.into())).and_then(|id| self.job(*id))
    }

    /// A page of jobs by id.
    pub fn jobs(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobId>,
        limit: usize,
    ) -> Result<Page<Job>> {
        check::rows(limit)?;
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let within = |job: &&Job| namespace.is_none_or(|outer| job.namespace.is_within(outer));
        let found = self.jobs.range((begin, Bound::Unbounded)).map(|(_, job)| job).filter(within);
        Ok(page(found.cloned(), limit))
    }

    /// A page of jobs by namespace and name.
    pub fn jobs_by_name(
        &self,
        namespace: Option<&Namespace>,
        after: Option<JobPlace>,
        limit: usize,
    ) -> Result<Page<Job>> {
        check::rows(limit)?;
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found = self.names.range((begin, Bound::Unbounded)).filter_map(|(_, id)| self.jobs.get(id));
        let within = |job: &&Job| namespace.is_none_or(|outer| job.namespace.is_within(outer));
        Ok(page(found.filter(within).cloned(), limit))
    }

    /// These versions of jobs.
    pub fn job_versions(&self, keys: &[(JobId, u32)]) -> Result<Vec<JobVersion>> {
        check::rows(keys.len())?;
        let distinct: BTreeSet<&(JobId, u32)> = keys.iter().collect();
        Ok(distinct.into_iter().filter_map(|key| self.job_versions.get(key).cloned()).collect())
    }

    /// The versions of a job, newest first, older than `after`.
    pub fn versions_of_job(&self, job: JobId, after: Option<u32>, limit: usize) -> Result<Page<JobVersion>> {
        check::rows(limit)?;
        let end = after.map_or(Bound::Included((job, u32::MAX)), |after| Bound::Excluded((job, after)));
        let found = self.job_versions.range((Bound::Included((job, 0)), end)).rev();
        Ok(page(found.map(|(_, version)| version.clone()), limit))
    }

    /// Jobs that have runs, by id.
    pub fn jobs_with_runs(&self, after: Option<JobId>, limit: usize) -> Result<Page<JobId>> {
        check::rows(limit)?;
        let jobs: BTreeSet<JobId> = self.runs.values().map(|run| run.head.job).collect();
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        Ok(page(jobs.range((begin, Bound::Unbounded)).copied(), limit))
    }

    /// A node, whatever its state.
    pub fn node(&self, id: NodeId) -> Option<Node> {
        self.nodes.get(&id).cloned()
    }

    /// A page of nodes of every cell, by id.
    pub fn all_nodes(&self, after: Option<NodeId>, limit: usize) -> Result<Page<Node>> {
        check::rows(limit)?;
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let found = self.nodes.range((begin, Bound::Unbounded));
        Ok(page(found.map(|(_, node)| node.clone()), limit))
    }

    /// A record.
    pub fn record(&self, kind: RecordKind, key: &RecordKey) -> Option<Record> {
        self.records.get(&(kind, key.clone())).cloned()
    }

    /// A page of records of a kind, by key.
    pub fn records(&self, query: &RecordQuery) -> Result<Page<Record>> {
        check::rows(query.limit)?;
        let of_kind = self.records.values().filter(|record| record.kind == query.kind);
        let found = of_kind.filter(|record| record.key.as_bytes().starts_with(&query.prefix)).cloned();
        let is_after = |key: &RecordKey| match &query.after {
            Some(after) if query.reverse => key < after,
            Some(after) => key > after,
            None => true,
        };
        let found = found.filter(|record| is_after(&record.key));
        Ok(if query.reverse {
            let mut all: Vec<Record> = found.collect();
            all.reverse();
            page(all.into_iter(), query.limit)
        } else {
            page(found, query.limit)
        })
    }

    /// A page of roll-ups by (hour, job).
    pub fn counters(&self, query: &CounterQuery) -> Result<Page<(CounterKey, Counts)>> {
        check::rows(query.limit)?;
        let found = self.counters.iter().filter(|((hour, job, namespace), _)| {
            (query.from..query.until).contains(hour)
                && query.after.is_none_or(|after| (*hour, *job) > after)
                && query.job.is_none_or(|wanted| *job == wanted)
                && query.namespace.as_ref().is_none_or(|outer| namespace.is_within(outer))
        });
        let rows = found.map(|((hour, job, namespace), counts)| {
            (CounterKey { namespace: namespace.clone(), job: *job, hour: *hour }, *counts)
        });
        Ok(page(rows, query.limit))
    }
}

fn page<T>(rows: impl Iterator<Item = T>, limit: usize) -> Page<T> {
    let mut rows: Vec<T> = rows.take(limit + 1).collect();
    let more = rows.len() > limit;
    rows.truncate(limit);
    Page { rows, more }
}
