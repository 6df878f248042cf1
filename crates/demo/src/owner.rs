//! The owner of the one cell in virtual time: the engine, and the store in memory that it writes to.
//!
//! Nothing here waits: a batch is written when it is cut, and what the engine asks is answered at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mainspring_app::audit::{Chain, Entry, Outcome};
use mainspring_app::{Operation, read_moments};
use mainspring_engine::{
    Answer, Batch, Cell, Config, Event, Message, OwnLease, RequestId, Tenure, TriggerPaused, TriggersRead,
};
use mainspring_model::{CellId, Elapsed, MemberId, Timestamp};
use mainspring_store::{LeaseGrant, LeaseRequest, Store};
use mainspring_store_mem::MemStore;

use crate::clock::Clock;
use crate::error::Error;
use crate::read;

/// The cell of everything.
pub(crate) const CELL: CellId = CellId(0);
/// Longer than any history: nobody is silent, nothing is polled for, and nothing waits in the store alone.
const EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// What a request makes due at the same moment, and what that does in turn, is fewer steps than this.
const DUE_AT_ONCE_MAX: usize = 100;

/// The owner.
pub(crate) struct Owner {
    store: MemStore,
    clock: Clock,
    chain: Arc<Chain>,
    cell: Cell,
    requests: u64,
    answers: HashMap<u64, Answer>,
    audit: Vec<Entry>,
    to_machines: Vec<Message>,
    /// What went wrong while somebody asked, for whoever lives through it.
    broken: Option<Error>,
}

impl Owner {
    /// Takes the cell of a new store.
    pub(crate) async fn take(store: MemStore, clock: Clock, chain: Arc<Chain>) -> Result<Self, Error> {
        let expires_at = clock.now() + EVER;
        let member = MemberId::new(clock.now(), 1);
        let request = LeaseRequest { cell: CELL, member, observed: None, expires_at };
        let LeaseGrant::Granted(lease) = store.acquire_lease(request).await? else {
            return Err(Error::Broken("somebody owns the cell".into()));
        };
        let config = Config {
            cell: CELL,
            lost_after: EVER,
            outage_max: EVER,
            lease_ttl: EVER,
            timed_horizon: EVER,
            poll_every: EVER,
            ..Config::default()
        };
        let tenure = Tenure {
            epoch: lease.epoch,
            lease: OwnLease { until: Elapsed::MAX, extends_until: Elapsed::MAX },
            succeeds_other: false,
            nodes: Vec::new(),
            pause: None,
            memories: Vec::new(),
        };
        let cell = Cell::new(config, tenure, clock.both());
        let (answers, audit, to_machines) = Default::default();
        let mut owner =
            Self { store, clock, chain, cell, requests: 0, answers, audit, to_machines, broken: None };
        owner.pump().await?;
        Ok(owner)
    }

    /// When time is next of use.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let due = self.cell.next_deadline();
        let elapsed = due.elapsed.map(|at| Timestamp::from_micros(at.as_micros()));
        [elapsed, due.store].into_iter().flatten().min()
    }

    /// Something happened.
    pub(crate) async fn hear(&mut self, event: Event) -> Result<(), Error> {
        self.cell.handle(self.clock.both(), event);
        self.pump().await
    }

    /// Somebody wants something, and it is written down. Without an answer, something broke.
    pub(crate) async fn ask(
        &mut self,
        audit: Vec<Entry>,
        event: impl FnOnce(RequestId) -> Event,
    ) -> Option<Answer> {
        self.requests += 1;
        let request = self.requests;
        self.audit.extend(audit);
        let event = event(RequestId(request));
        let what = format!("{event:.200?}");
        if let Err(error) = self.hear_out(event).await {
            self.broken.get_or_insert(error);
        }
        let answer = self.answers.remove(&request);
        if answer.is_none() {
            self.broken.get_or_insert_with(|| Error::Broken(format!("no answer to {what}")));
        }
        answer
    }

    /// Something happened, and with it all that it makes due at once.
    async fn hear_out(&mut self, event: Event) -> Result<(), Error> {
        self.hear(event).await?;
        for _ in 0..DUE_AT_ONCE_MAX {
            if self.next_deadline().is_none_or(|due| due > self.clock.now()) {
                break;
            }
            self.hear(Event::Tick).await?;
        }
        Ok(())
    }

    /// What broke while somebody asked.
    pub(crate) fn take_broken(&mut self) -> Option<Error> {
        self.broken.take()
    }

    /// What machines are told.
    pub(crate) fn take_words(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.to_machines)
    }

    async fn pump(&mut self) -> Result<(), Error> {
        loop {
            if let Some(why) = self.cell.diverged() {
                return Err(Error::Broken(why.to_owned()));
            }
            let (batch, messages) = (self.cell.cut(), self.cell.take_messages());
            if batch.is_none() && messages.is_empty() {
                return Ok(());
            }
            if let Some(batch) = batch {
                self.write(batch).await?;
            }
            for message in messages {
                self.say(message).await?;
            }
        }
    }

    async fn write(&mut self, Batch { mut transaction, paused }: Batch) -> Result<(), Error> {
        let writes = transaction.writes.len();
        self.audit.extend(paused.into_iter().map(paused_itself));
        let audit = self.chain.draft(self.clock.now(), std::mem::take(&mut self.audit));
        transaction.writes.extend(audit.iter().flat_map(|draft| draft.records().iter().cloned()));
        let mut outcomes = self.store.commit(transaction).await?;
        if let Some(draft) = audit {
            draft.written();
        }
        outcomes.truncate(writes);
        self.cell.committed(self.clock.both(), &outcomes);
        Ok(())
    }

    async fn say(&mut self, message: Message) -> Result<(), Error> {
        let event = match message {
            Message::Reply { request, answer } => {
                self.answers.insert(request.0, answer);
                return Ok(());
            }
            Message::Read(query) => Event::ShelfRead(Box::new(read::shelf(&self.store, query).await?)),
            Message::ReadTriggers(query) => {
                let page = self.store.records(query.clone()).await?;
                Event::TriggersRead(Box::new(TriggersRead { query, rows: page.rows, more: page.more }))
            }
            Message::ReadSpecs(keys) => Event::SpecsRead(read::specs(&self.store, &keys).await?),
            Message::ReadMoments(query) => {
                Event::MomentsRead(Box::new(read_moments(&self.store, *query).await?))
            }
            Message::Damaged { row } => return Err(Error::Broken(format!("{row} cannot be read"))),
            Message::Hint { .. } => return Ok(()),
            to_machine => {
                self.to_machines.push(to_machine);
                return Ok(());
            }
        };
        self.cell.handle(self.clock.both(), event);
        Ok(())
    }
}

/// A trigger that paused itself, as it is written down.
fn paused_itself(TriggerPaused { namespace, key, job, pause }: TriggerPaused) -> Entry {
    Entry {
        at: pause.at,
        actor: pause.by.as_ref().into(),
        token: None,
        operation: Operation::TriggerPause,
        namespace: Some(namespace),
        target: Some(format!("{job}/{}", key.name).into()),
        outcome: Outcome::Allowed,
        detail: Some(pause.note),
        request_id: None,
        from: None,
    }
}
