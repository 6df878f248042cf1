//! The database: the in-memory store behind a door where faults stand. Requests arrive, are done, and
//! answers leave; both ways can fail, so that a commit's outcome may be unknown.

use std::collections::BTreeMap;

use mainspring_engine::{MomentsQuery, MomentsRead, Success, Tenure};
use mainspring_model::{CellId, Epoch, JobId, JobPause, Lease, MemberId, Node, Pause, Timestamp};
use mainspring_store::{
    Error, LeaseGrant, LeaseRequest, Outcome, Page, Record, RecordQuery, ShelfQuery, Transaction, Write,
};
use mainspring_store_mem::MemCore;

use crate::plant::Plant;
use crate::spoil::is_poison;

/// A question to the store.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Commit(Transaction),
    Look(CellId),
    Acquire(LeaseRequest),
    Renew { cell: CellId, member: MemberId, epoch: Epoch, expires_at: Timestamp },
    Tenure(CellId),
    Shelf(ShelfQuery),
    Records(RecordQuery),
    Pauses { keys: Vec<(JobId, u32)>, needed: Vec<JobId> },
    Moments(Box<MomentsQuery>),
}

/// An answer of the store.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    Committed(Vec<Outcome>),
    FenceLost,
    Broken(String),
    Seen(Option<Lease>),
    Asked(LeaseGrant),
    Renewed(bool),
    /// An answer that came with the store's clock.
    Clock(Timestamp, Box<Told>),
    Tenure(Box<Handover>),
    Shelf(ShelfQuery, Page<mainspring_model::Run>, BTreeMap<JobId, JobPause>),
    Records(RecordQuery, Page<Record>),
    Pauses(Box<PausesRead>),
    Moments(Box<MomentsRead>),
    Away,
}

/// What is read with specifications: who is paused, and what the calendar says.
#[derive(Debug, Clone)]
pub(crate) struct PausesRead {
    pub keys: Vec<(JobId, u32)>,
    pub pauses: BTreeMap<JobId, JobPause>,
    pub calendar: usize,
    /// When jobs last succeeded.
    pub successes: BTreeMap<JobId, Timestamp>,
    /// When it was read.
    pub at: i64,
}

/// What a new owner has to know.
#[derive(Debug, Clone)]
pub(crate) struct Handover {
    pub nodes: Vec<Node>,
    pub pause: Option<Pause>,
    pub memories: Vec<Record>,
}

/// The store and its faults.
#[derive(Debug)]
pub(crate) struct SimStore {
    pub core: MemCore,
    pub down_until: i64,
    pub lose_answers_until: i64,
    pub clock_offset: i64,
    /// The version of the calendar.
    pub calendar: usize,
    pub fenced: u64,
    pub unknown: u64,
    pub commits: u64,
    plant: Option<Plant>,
}

impl SimStore {
    pub(crate) fn new(plant: Option<Plant>) -> Self {
        let mut core = MemCore::new();
        core.record_changes();
        Self {
            core,
            down_until: 0,
            lose_answers_until: 0,
            clock_offset: 0,
            calendar: 0,
            fenced: 0,
            unknown: 0,
            commits: 0,
            plant,
        }
    }

    /// Does what is asked. None when the answer is lost on its way: done, but nobody knows.
    pub(crate) fn ask(&mut self, now: i64, ask: Ask) -> Option<Told> {
        if now < self.down_until {
            return Some(Told::Away);
        }
        let told = match ask {
            Ask::Commit(transaction) => {
                self.commits += 1;
                let told = self.commit(transaction);
                if now < self.lose_answers_until && matches!(told, Told::Committed(_)) {
                    self.unknown += 1;
                    return None;
                }
                told
            }
            Ask::Look(cell) => {
                let lease = self.core.leases().into_iter().find(|lease| lease.cell == cell);
                self.with_clock(now, Told::Seen(lease))
            }
            Ask::Acquire(request) => {
                let grant = self.core.acquire_lease(request);
                self.with_clock(now, Told::Asked(grant))
            }
            Ask::Renew { cell, member, epoch, expires_at } => {
                let held = self.core.renew_lease(cell, member, epoch, expires_at);
                self.with_clock(now, Told::Renewed(held))
            }
            Ask::Tenure(cell) => Told::Tenure(Box::new(Handover {
                nodes: self.core.nodes(cell),
                pause: self.core.cell_pause(cell),
                memories: self.core.records(&Tenure::memories_of(cell, None)).expect("a page").rows,
            })),
            Ask::Shelf(query) => match self.core.shelf(&query) {
                Ok(page) => {
                    let paused = |run: &mainspring_model::Run| {
                        Some((run.head.job, self.core.job(run.head.job)?.job_pause()?))
                    };
                    let pauses = page.rows.iter().filter_map(paused).collect();
                    Told::Shelf(query, page, pauses)
                }
                Err(error) => Told::Broken(error.to_string()),
            },
            Ask::Records(query) => match self.core.records(&query) {
                Ok(page) => Told::Records(query, page),
                Err(error) => Told::Broken(error.to_string()),
            },
            Ask::Moments(query) => {
                let records = |query| self.core.records(&query);
                match MomentsRead::read(*query, records, |runs| self.core.runs_by_id(runs)) {
                    Ok(read) => Told::Moments(Box::new(read)),
                    Err(error) => Told::Broken(error.to_string()),
                }
            }
            Ask::Pauses { keys, needed } => {
                let paused = |(job, _): &(JobId, u32)| Some((*job, self.core.job(*job)?.job_pause()?));
                let pauses = keys.iter().filter_map(paused).collect();
                let successes = self.last_successes(&needed);
                let calendar = self.calendar;
                Told::Pauses(Box::new(PausesRead { keys, pauses, calendar, successes, at: now }))
            }
        };
        Some(told)
    }

    /// The store's time.
    pub(crate) fn clock(&self, now: i64) -> Timestamp {
        Timestamp::from_micros(now + self.clock_offset)
    }

    fn with_clock(&self, now: i64, told: Told) -> Told {
        Told::Clock(self.clock(now), Box::new(told))
    }

    fn last_successes(&self, needed: &[JobId]) -> BTreeMap<JobId, Timestamp> {
        let mut last = BTreeMap::new();
        if needed.is_empty() {
            return last;
        }
        for run in self.core.all_runs().filter(|run| needed.contains(&run.head.job)) {
            if let Some(at) = Success::moment(&run.head, &run.status) {
                let known = last.entry(run.head.job).or_insert(at);
                *known = at.max(*known);
            }
        }
        last
    }

    fn commit(&mut self, mut transaction: Transaction) -> Told {
        match self.plant {
            Some(Plant::NoUniqueKey) => strip_keys(&mut transaction),
            Some(Plant::FireTwice) => self.forge_moments(&mut transaction),
            Some(Plant::NoEpochCheck) => self.forge_fence(&mut transaction),
            Some(Plant::NoVersionCheck) => {
                self.forge_fence(&mut transaction);
                self.forge_versions(&mut transaction);
            }
            _ => {}
        }
        let silent = self.plant == Some(Plant::SilentPoison);
        let dropped: Vec<bool> = transaction.writes.iter().map(|write| silent && is_poison(write)).collect();
        let mut kept = dropped.iter().map(|dropped| !dropped);
        transaction.writes.retain(|_| kept.next().unwrap_or(true));
        match self.core.commit(&transaction) {
            Ok(outcomes) => {
                let mut outcomes = outcomes.into_iter();
                let told = |dropped| if dropped { Some(Outcome::Applied) } else { outcomes.next() };
                Told::Committed(dropped.into_iter().filter_map(told).collect())
            }
            Err(Error::FenceLost { .. }) => {
                self.fenced += 1;
                Told::FenceLost
            }
            Err(error) => Told::Broken(error.to_string()),
        }
    }

    /// Plant: whoever writes is taken for the owner.
    fn forge_fence(&mut self, transaction: &mut Transaction) {
        if let Some(fence) = &mut transaction.fence
            && let Some(lease) = self.core.leases().into_iter().find(|lease| lease.cell == fence.cell)
            && lease.epoch != fence.epoch
        {
            fence.epoch = lease.epoch;
            fence.seq = lease.seq + 1;
        }
    }

    /// Plant: a run of a moment that has one gets another id.
    fn forge_moments(&mut self, transaction: &mut Transaction) {
        for write in &mut transaction.writes {
            if let Write::InsertRun(run) = write
                && run.head.fired.is_some()
                && self.core.run(run.head.id).is_some()
            {
                let mut head = (*run.head).clone();
                let other = u128::from(head.id.hash64()) << 64 | u128::from(self.commits);
                head.id = mainspring_model::RunId::new(head.id.made_at(), other);
                run.head = head.into();
            }
        }
    }

    /// Plant: an update is written whatever the row says.
    fn forge_versions(&mut self, transaction: &mut Transaction) {
        for write in &mut transaction.writes {
            if let Write::UpdateRun(update) = write
                && let Some(run) = self.core.run(update.id)
            {
                update.expected = run.status.version;
                update.status.version = run.status.version + 1;
            }
        }
    }
}

fn strip_keys(transaction: &mut Transaction) {
    for write in &mut transaction.writes {
        if let Write::InsertRun(run) = write
            && run.head.fired.is_none()
        {
            let mut head = (*run.head).clone();
            head.idempotency_key = None;
            run.head = head.into();
        }
    }
}
