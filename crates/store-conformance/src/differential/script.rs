//! The order of calls: which verb comes next, under which fence, and what was learnt from the answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_model::{CellId, Epoch, Lease, RunState, Shelf, Timestamp};
use mainspring_store::{
    CounterQuery, Fence, LeaseGrant, LeaseRequest, RecordKind, RecordQuery, RecordRetention, Retention,
    RunQuery, ShelfQuery, Store, Transaction, check,
};

use super::call::{Answer, Call};
use super::rows::{self, CELLS, JOBS, NODES, RUNS};
use super::seeded::Seeded;
use super::writes::write;
use crate::fixture::{hour, job_id, node_id, run_id};

pub(super) struct Script {
    random: Seeded,
    oracle: Arc<dyn Store>,
    leases: BTreeMap<CellId, Lease>,
    last: BTreeMap<CellId, Transaction>,
}

impl Script {
    pub(super) fn new(seed: u64, oracle: Arc<dyn Store>) -> Self {
        Self { random: Seeded::new(seed), oracle, leases: BTreeMap::new(), last: BTreeMap::new() }
    }

    pub(super) async fn next_call(&mut self) -> Call {
        match self.random.below(100) {
            0..50 => Call::Commit(self.transaction().await),
            50..62 => self.lease_call(),
            62..66 => self.upkeep_call(),
            _ => self.read_call(),
        }
    }

    /// Whether the store has seen this very batch under its fence.
    pub(super) fn repeats(&self, call: &Call) -> bool {
        match call {
            Call::Commit(Transaction { fence: Some(fence), writes, .. }) => {
                !writes.is_empty() && self.leases.get(&fence.cell).is_some_and(|lease| lease.seq == fence.seq)
            }
            _ => false,
        }
    }

    /// Keeps what later calls build on.
    pub(super) fn learn(&mut self, call: &Call, answer: &Answer) {
        match (call, answer) {
            (Call::Commit(Transaction { fence: Some(fence), .. }), Answer::Outcomes(_)) => {
                if let Some(lease) = self.leases.get_mut(&fence.cell) {
                    lease.seq = fence.seq;
                }
            }
            (
                Call::AcquireLease(request),
                Answer::Grant(LeaseGrant::Granted(lease) | LeaseGrant::Held(lease)),
            ) => {
                self.leases.insert(request.cell, lease.clone());
            }
            _ => {}
        }
    }

    async fn transaction(&mut self) -> Transaction {
        let fence = match self.random.below(100) {
            0..30 => None,
            30..42 => match self.last.get(&rows::cell(&mut self.random)) {
                Some(last) => return last.clone(),
                None => None,
            },
            _ => self.fence(),
        };
        let all_or_nothing = fence.is_none() && self.random.percent(40);
        let transaction = Transaction { fence, all_or_nothing, writes: self.writes(fence).await };
        if let Some(fence) = fence {
            self.last.insert(fence.cell, transaction.clone());
        }
        transaction
    }

    /// Mostly the next of the holder; sometimes stale, out of turn, or of a cell that nobody holds.
    fn fence(&mut self) -> Option<Fence> {
        let cell = rows::cell(&mut self.random);
        let Some(lease) = self.leases.get(&cell) else {
            return Some(Fence { cell, epoch: Epoch(1), seq: 1 });
        };
        let (epoch, seq) = (lease.epoch, lease.seq + 1);
        Some(match self.random.below(100) {
            0..85 => Fence { cell, epoch, seq },
            85..92 => Fence { cell, epoch: Epoch(epoch.0.saturating_sub(1)), seq },
            92..96 => Fence { cell, epoch, seq: seq + 1 },
            _ => Fence { cell, epoch, seq: seq / 2 },
        })
    }

    /// Mostly within the contract: a batch that is invalid tests nothing but its refusal.
    async fn writes(&mut self, fence: Option<Fence>) -> Vec<mainspring_store::Write> {
        let count = if self.random.percent(5) { 40 } else { self.random.below(7) };
        let epoch = fence.map_or(Epoch(0), |fence| fence.epoch);
        let mut writes = Vec::new();
        for _ in 0..count {
            writes.push(write(&mut self.random, &self.oracle, epoch, fence.is_some()).await);
            let batch = Transaction { fence, all_or_nothing: false, writes };
            let is_valid = check::transaction(&batch).is_ok();
            writes = batch.writes;
            if !is_valid && !self.random.percent(3) {
                writes.pop();
            }
        }
        writes
    }

    fn lease_call(&mut self) -> Call {
        let random = &mut self.random;
        let (cell, member) = (rows::cell(random), rows::member(random));
        let known = self.leases.get(&cell).cloned();
        let epoch = known.as_ref().map_or(Epoch(1), |lease| lease.epoch);
        let epoch = if random.percent(85) { epoch } else { Epoch(random.below(5)) };
        let holder = known.as_ref().and_then(|lease| lease.holder).unwrap_or(member);
        let speaker = if random.percent(70) { holder } else { member };
        match random.below(10) {
            0..5 => {
                let seen = known.filter(|_| random.percent(50)).map(|lease| (lease.epoch, lease.expires_at));
                Call::AcquireLease(LeaseRequest {
                    cell,
                    member,
                    observed: seen,
                    expires_at: rows::moment(random),
                })
            }
            5..7 => Call::RenewLease(cell, speaker, epoch, rows::moment(random)),
            7 => Call::ReleaseLease(cell, speaker, epoch),
            8 => Call::PutMember(rows::member_row(random)),
            _ => Call::RemoveMembers(rows::moment(random)),
        }
    }

    fn upkeep_call(&mut self) -> Call {
        let random = &mut self.random;
        if random.percent(20) {
            return Call::RetainCounters(hour(random.below(4) as i64 - 2));
        }
        if random.percent(40) {
            let rule = if random.percent(50) {
                RecordRetention::Expired { at: rows::moment(random) }
            } else {
                let from =
                    if random.percent(50) { rows::record_key(random).as_bytes().into() } else { [].into() };
                let (kind, until) = (rows::record_kind(random), rows::record_key(random));
                RecordRetention::Keys { kind, from, until }
            };
            return Call::RetainRecords(rule, random.below(4) as usize);
        }
        let rule = Retention {
            job: random.maybe(60, |random| job_id(random.below(JOBS))),
            made_before: random.maybe(50, rows::moment),
            keep_newest: random.maybe(40, |random| random.below(4)),
        };
        Call::Retain(rule, random.below(6) as usize)
    }

    fn read_call(&mut self) -> Call {
        let random = &mut self.random;
        let limit = if random.percent(1) { 10_001 } else { random.below(12) as usize };
        match random.below(21) {
            0..3 => Call::Shelf(ShelfQuery {
                cell: rows::cell(random),
                shelf: random.pick(&Shelf::ALL),
                after: random.maybe(50, |random| (rows::rank(random), run_id(random.below(RUNS)))),
                rank_max: random.maybe(40, rows::rank),
                limit,
            }),
            3..7 => Call::Runs(RunQuery {
                namespace: random.maybe(40, rows::space),
                job: random.maybe(30, |random| job_id(random.below(JOBS))),
                states: (0..random.below(4)).map(|_| random.pick(&RunState::ALL)).collect(),
                from: random.maybe(30, rows::moment),
                until: random.maybe(30, rows::moment),
                oldest_first: random.below(100) < 30,
                after: random.maybe(40, |random| run_id(random.below(RUNS))),
                limit,
            }),
            7 => Call::RunsById((0..random.below(9)).map(|_| run_id(random.below(RUNS))).collect()),
            8 => Call::RunByKey(rows::space(random), rows::key(random)),
            9 => Call::JobByName(rows::space(random), rows::key(random)),
            10 => Call::Jobs(
                random.maybe(50, rows::space),
                random.maybe(50, |random| job_id(random.below(JOBS))),
                limit,
            ),
            11 => Call::JobVersions(
                (0..random.below(6)).map(|_| (job_id(random.below(JOBS)), random.below(4) as u32)).collect(),
            ),
            12 => Call::Node(node_id(random.below(NODES))),
            13 => Call::AllNodes(random.maybe(50, |random| node_id(random.below(NODES))), limit),
            14 => Call::VersionsOfJob(
                job_id(random.below(JOBS)),
                random.maybe(50, |random| random.below(5) as u32),
                limit,
            ),
            15 => Call::NewestEnds(
                (0..random.below(4)).map(|_| job_id(random.below(JOBS))).collect(),
                random.below(4) as usize,
            ),
            16 => Call::JobsByName(
                random.maybe(50, rows::space),
                random.maybe(50, |random| (rows::space(random), rows::key(random))),
                limit,
            ),
            17 => Call::Record(rows::record_kind(random), rows::record_key(random)),
            18..20 => Call::Records(RecordQuery {
                kind: rows::record_kind(random),
                prefix: random
                    .maybe(60, |random| rows::record_key(random).as_bytes().into())
                    .unwrap_or_default(),
                after: random.maybe(40, rows::record_key),
                reverse: random.percent(50),
                limit,
            }),
            _ => Call::Counters(CounterQuery {
                namespace: random.maybe(40, rows::space),
                job: random.maybe(30, |random| job_id(random.below(JOBS))),
                from: hour(random.below(6) as i64 - 3),
                until: hour(random.below(10) as i64 - 3),
                after: random
                    .maybe(40, |random| (hour(random.below(8) as i64 - 2), job_id(random.below(JOBS)))),
                limit,
            }),
        }
    }

    /// Calls that together read every row.
    pub(super) fn read_everything(&self) -> Vec<Call> {
        let limit = 1000;
        let everything = CounterQuery {
            namespace: None,
            job: None,
            from: Timestamp::from_micros(i64::MIN),
            until: Timestamp::MAX,
            after: None,
            limit,
        };
        let mut calls = vec![
            Call::Leases,
            Call::Members,
            Call::Runs(RunQuery { limit, ..RunQuery::default() }),
            Call::Jobs(None, None, limit),
            Call::JobVersions((0..JOBS).flat_map(|n| (0..4).map(move |v| (job_id(n), v))).collect()),
            Call::Counters(everything),
            Call::AllNodes(None, limit),
        ];
        calls.extend([0, 7, u16::MAX].map(|kind| Call::Records(RecordQuery::all(RecordKind(kind), limit))));
        calls.extend((0..JOBS).map(|n| Call::VersionsOfJob(job_id(n), None, limit)));
        for cell in (0..CELLS).map(|n| CellId(n as u16)) {
            calls.extend([Call::CellPause(cell), Call::Nodes(cell)]);
            calls
                .extend(Shelf::ALL.map(|shelf| {
                    Call::Shelf(ShelfQuery { cell, shelf, after: None, rank_max: None, limit })
                }));
        }
        calls.extend((0..NODES).map(|n| Call::Node(node_id(n))));
        calls.extend((0..JOBS).map(|n| Call::Job(job_id(n))));
        calls.extend((0..RUNS).flat_map(|n| [Call::Attempts(run_id(n)), Call::Events(run_id(n))]));
        calls
    }
}
