//! The planted bugs of a scheduler: rules taken away from the engine, reads spoiled, leases grabbed. Each is
//! what a careless shell would do.

use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{
    Answer, Backfill, End, Event, LoadedRun, Occurrence, TriggerCommand, TriggerRow, TriggerState,
    calendar_news_key,
};
use mainspring_model::spec::Overlap;
use mainspring_model::{CellId, JobSpec, Node, NodeState, Shelf, Timestamp, limits};
use mainspring_store::{Outcome, Record, RecordKind, Transaction, Write};

use crate::plant::Plant;
use crate::scheduler::{Doing, Purpose, Scheduler};
use crate::store::{Ask, Handover};

/// What the ledger says of a moment whose templates cannot be rendered: a parameter, a key.
pub(crate) const POISON: [&str; 2] = ["day: ", "concurrency.key: "];

impl Scheduler {
    /// Plants that take a rule away from the engine.
    pub(crate) fn engine_spec(&self, spec: &Arc<JobSpec>) -> Arc<JobSpec> {
        let mut changed = (**spec).clone();
        match self.plant {
            Some(Plant::NoConcurrencyLimit) => changed.concurrency = None,
            Some(Plant::NoOverlap) => {
                if let Some(concurrency) = &mut changed.concurrency {
                    concurrency.overlap = Overlap::QueueAll;
                }
            }
            Some(Plant::NoRateLimit) => changed.rate_limit = None,
            Some(Plant::EndlessRetries) => changed.retry.max = u32::MAX - 1,
            Some(Plant::Overbooking) => {
                changed.resources.cpu_milli /= 4;
                changed.resources.memory_bytes /= 8;
            }
            _ => return spec.clone(),
        }
        Arc::new(changed)
    }

    /// Plants that spoil what a new owner reads.
    pub(crate) fn spoil(&self, shelf: Shelf, mut rows: Vec<LoadedRun>) -> Vec<LoadedRun> {
        match (self.plant, shelf) {
            (Some(Plant::ForgetFlight), Shelf::Flight) => rows.clear(),
            (Some(Plant::ForgetCalls), Shelf::Arrived) => rows.retain(|row| row.run.head.fired.is_none()),
            (Some(Plant::ForgetNode), Shelf::Flight) => {
                rows.iter_mut().for_each(|row| row.run.status.node = None);
            }
            (Some(Plant::UnguardedRescue), Shelf::Flight) => {
                for row in &mut rows {
                    row.run.status.state = mainspring_model::RunState::Waiting;
                    row.run.status.place = Some(mainspring_model::Place { shelf: Shelf::Arrived, rank: 0 });
                    row.run.status.losses += 1;
                }
            }
            _ => {}
        }
        rows
    }

    /// Plants that spoil what a new owner is told.
    pub(crate) fn spoil_handover(&self, mut handover: Handover) -> Handover {
        match self.plant {
            Some(Plant::ForgetDrain) => {
                handover.nodes.iter_mut().for_each(|node| node.state = NodeState::Up);
            }
            Some(Plant::ForgetStarts) => handover.memories.clear(),
            _ => {}
        }
        handover
    }

    /// Plant: whoever says goodbye has left, whatever it holds. Nobody waits for the answer.
    pub(crate) fn see_off(&self, cell: CellId, event: &Event, doings: &mut Vec<Doing>) {
        let Event::Goodbye { node, .. } = event else { return };
        let known = self.cell(cell).and_then(|cell| cell.nodes().find(|known| known.node.id == *node));
        if let Some(known) = known.filter(|_| self.plant == Some(Plant::HastyGoodbye)) {
            let row =
                Node { state: NodeState::Left, revision: known.node.revision + 1, ..known.node.clone() };
            let transaction = Transaction::unfenced(vec![Write::PutNode(Box::new(row))]);
            doings.push(Doing::Ask { number: u64::MAX, ask: Ask::Commit(transaction) });
        }
    }

    /// Plant: whoever is asked about a change says that it goes by it.
    pub(crate) fn confirms_unread(&self, event: &Event, doings: &mut Vec<Doing>) -> bool {
        let Event::TriggersChanged { request, .. } = event else { return false };
        let is_planted = self.plant == Some(Plant::ConfirmUnread);
        if is_planted {
            doings.push(Doing::Answer { request: request.0, answer: Answer::Done });
        }
        is_planted
    }

    /// Plant: nobody can tell a delivery from another.
    pub(crate) fn spoil_call(&self, event: &mut Event) {
        if let Event::Trigger { command: TriggerCommand::Call(call), .. } = event
            && self.plant == Some(Plant::LoseKeys)
        {
            call.key = None;
        }
    }

    /// Plants that spoil what a new owner reads of triggers.
    pub(crate) fn spoil_triggers(&self, cell: CellId, now: Timestamp, rows: Vec<Record>) -> Vec<Record> {
        let spoilt = |mut record: Record| {
            let forgets = self.plant == Some(Plant::ForgetFollow);
            if forgets && End::read(&record).is_some() {
                record.value = (*b"[]").into();
            }
            match TriggerRow::read(&record) {
                Some(mut row) => {
                    self.spoil_row(now, &mut row.state);
                    row.record(cell)
                }
                None => record,
            }
        };
        rows.into_iter().map(spoilt).collect()
    }

    /// Plant: nobody hears that a calendar changed.
    pub(crate) fn spoil_news(&self, kind: RecordKind, rows: Vec<Record>) -> Vec<Record> {
        let is_deaf = self.plant == Some(Plant::DeafToCalendars);
        let (news, _) = calendar_news_key(&self.jobs[0].job.namespace, "");
        if is_deaf && kind == news { Vec::new() } else { rows }
    }

    /// Plant: the calendar says what it said first.
    pub(crate) fn spoil_calendar(&self, version: usize) -> usize {
        if self.plant == Some(Plant::OldCalendar) { 0 } else { version }
    }

    /// Plants that spoil when a job last succeeded.
    pub(crate) fn spoil_success(&self, at: Option<Timestamp>) -> Option<Timestamp> {
        match self.plant {
            Some(Plant::HastyNeeds) => Some(Timestamp::MAX),
            Some(Plant::ForgetSuccess) => None,
            _ => at,
        }
    }

    fn spoil_row(&self, now: Timestamp, state: &mut TriggerState) {
        for backfill in state.backfills.iter_mut().flat_map(|backfills| backfills.iter_mut()) {
            self.spoil_backfill(backfill);
        }
        match self.plant {
            Some(Plant::ForgetMoments) => state.cursor = state.cursor.max(now),
            Some(Plant::LoseCount) => state.fired = 0,
            Some(Plant::ForgetMoves) => state.moved = None,
            Some(Plant::FireTwice) if state.follows.is_none() && state.delay_us == 0 => {
                state.cursor = state.cursor - Duration::from_secs(20);
                (state.next, state.fires_at) = (Some(now), Some(now));
            }
            Some(Plant::HastyDelay) if state.awaits_end => {
                (state.next, state.fires_at, state.awaits_end) = (Some(now), Some(now), false);
            }
            _ => {}
        }
    }

    fn spoil_backfill(&self, backfill: &mut Backfill) {
        match self.plant {
            Some(Plant::ForgetActive) if !backfill.looked_at_all => backfill.active.clear(),
            Some(Plant::ForgetStop) if backfill.stopped_by.is_some() => {
                (backfill.looked_at_all, backfill.stopped_by, backfill.ended_at) = (false, None, None);
            }
            Some(Plant::LoseTally) => backfill.tally = Default::default(),
            _ => {}
        }
    }

    /// Plant: a moment that cannot be rendered ends the process that looks at it.
    pub(crate) fn dies_of(&self, transaction: &Transaction) -> bool {
        self.plant == Some(Plant::DeadlyPoison) && transaction.writes.iter().any(is_poison)
    }

    /// Plant: takes the lease without watching it die.
    pub(crate) fn grab(
        &mut self,
        now: i64,
        cell: CellId,
        lease: Option<mainspring_model::Lease>,
    ) -> Vec<Doing> {
        let mut doings = Vec::new();
        let observed = lease.map(|lease| (lease.epoch, lease.expires_at));
        let expires_at = self.both(now).store + limits::LEASE_TTL;
        let request = mainspring_store::LeaseRequest { cell, member: self.member, observed, expires_at };
        self.ask(now, Purpose::Lease(cell), Ask::Acquire(request), &mut doings);
        doings
    }

    /// Plant: an outcome that nobody knows is taken for done.
    pub(crate) fn assume_done(&mut self, now: i64, cell: CellId, ask: &Ask, doings: &mut Vec<Doing>) {
        if let Ask::Commit(transaction) = ask {
            let applied = vec![Outcome::Applied; transaction.writes.len()];
            self.committed(now, cell, &applied, doings);
        }
    }
}

/// Whether a write is the line of a moment whose templates cannot be rendered.
pub(crate) fn is_poison(write: &Write) -> bool {
    let line = match write {
        Write::PutRecord(record) => Occurrence::read(record),
        _ => None,
    };
    line.is_some_and(|line| POISON.iter().any(|words| line.reason.contains(words)))
}
