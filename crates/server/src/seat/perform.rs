//! Performing what the engine wants: batches to the store, and then messages to whom they concern.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_app::audit;
use mainspring_app::ports::Changed;
use mainspring_engine::{Batch, Cell, Message};
use mainspring_model::BackfillId;
use mainspring_store::Outcome;
use tokio_util::sync::CancellationToken;
use tracing::error;

use super::input::Delivery;
use super::task::Seat;
use super::{Standing, commit, read, translate};
use crate::news::Column;

/// While the cell is owned.
pub(super) struct Reign {
    pub(super) cell: Cell,
    pub(super) news: Column,
    /// What callers asked, to be written down with the next batch.
    pub(super) audit: Vec<audit::Entry>,
    /// The batch under way.
    pub(super) batch: Option<Flight>,
    pub(super) given_up: CancellationToken,
    /// Backfills that watchers were told of and that are not over.
    pub(super) backfills: BTreeSet<BackfillId>,
}

/// A batch that is being written.
pub(super) struct Flight {
    /// How many of its writes are the engine's; records follow.
    engine_writes: usize,
    changes: Vec<(usize, Changed)>,
}

impl Seat {
    pub(super) fn committed(&mut self, outcomes: &[Outcome]) {
        let Some(reign) = &mut self.tenure else { return };
        let Some(flight) = reign.batch.take() else { return };
        reign.cell.committed(self.config.clock.both(), &outcomes[..flight.engine_writes.min(outcomes.len())]);
        let applied =
            |(at, change): (usize, Changed)| (outcomes.get(at) == Some(&Outcome::Applied)).then_some(change);
        reign.news.tell(flight.changes.into_iter().filter_map(applied));
    }

    /// Performs what the engine wants until it wants nothing more.
    pub(super) fn pump(&mut self) {
        while let Some(reign) = &mut self.tenure {
            if let Some(why) = reign.cell.diverged() {
                let why = why.to_owned();
                self.set_back(&why);
                break;
            }
            let wrote = self.cut();
            let Some(reign) = &mut self.tenure else { break };
            let messages = reign.cell.take_messages();
            if messages.is_empty() && !wrote {
                if self.acting().is_some() {
                    self.stand(Standing::Owns);
                }
                break;
            }
            for message in messages {
                self.say(message);
            }
        }
        self.connections.flush();
    }

    /// Sends the next batch to the store; true when there was one.
    fn cut(&mut self) -> bool {
        let Some(reign) = &mut self.tenure else { return false };
        if reign.batch.is_some() {
            return false;
        }
        let Some(Batch { mut transaction, paused, .. }) = reign.cell.cut() else { return self.write_audit() };
        let engine_writes = transaction.writes.len();
        let mut changes = translate::changes(&reign.cell, &transaction, self.config.clock.now());
        changes.extend(translate::of_triggers(&transaction, &mut reign.backfills, self.config.clock.now()));
        changes.extend(translate::pauses(&paused, &transaction));
        reign.audit.extend(paused.into_iter().map(translate::paused));
        let entries = std::mem::take(&mut reign.audit);
        let audit = self.config.chain.draft(self.config.clock.now(), entries);
        transaction.writes.extend(audit.iter().flat_map(|draft| draft.records().iter().cloned()));
        reign.batch = Some(Flight { engine_writes, changes });
        let given_up = reign.given_up.clone();
        let health = Arc::clone(&self.config.health);
        let batch = commit::Batch { transaction, audit, given_up, health };
        self.beside(commit::write(Arc::clone(&self.config.store), batch));
        true
    }

    /// What callers asked that changed nothing is written down too; that needs no fence.
    pub(super) fn write_audit(&mut self) -> bool {
        let Some(reign) = &mut self.tenure else { return false };
        let entries = std::mem::take(&mut reign.audit);
        if let Some(audit) = self.config.chain.draft(self.config.clock.now(), entries) {
            tokio::spawn(commit::write_alone(Arc::clone(&self.config.store), audit));
        }
        false
    }

    fn say(&mut self, message: Message) {
        match message {
            Message::Reply { request, answer } => self.pending.answer(request, answer),
            Message::Read(query) => {
                let Some(reign) = &self.tenure else { return };
                let (store, given_up) = (Arc::clone(&self.config.store), reign.given_up.clone());
                self.beside(async move {
                    Delivery::Read(read::page(&*store, query, &given_up).await.map(Box::new))
                });
            }
            Message::ReadTriggers(query) => {
                let Some(reign) = &self.tenure else { return };
                let (store, given_up) = (Arc::clone(&self.config.store), reign.given_up.clone());
                self.beside(async move {
                    Delivery::Triggers(read::triggers(&*store, query, &given_up).await.map(Box::new))
                });
            }
            Message::ReadSpecs(keys) => {
                let Some(reign) = &self.tenure else { return };
                let (store, given_up) = (Arc::clone(&self.config.store), reign.given_up.clone());
                self.beside(async move { Delivery::Specs(read::specs_of(&*store, keys, &given_up).await) });
            }
            Message::ReadMoments(query) => {
                let Some(reign) = &self.tenure else { return };
                let (store, given_up) = (Arc::clone(&self.config.store), reign.given_up.clone());
                self.beside(async move {
                    Delivery::Moments(read::moments(&*store, &query, &given_up).await.map(Box::new))
                });
            }
            Message::Damaged { row } => {
                error!(cell = self.id.0, %row, "a stored row is damaged and left out")
            }
            // Where another process owns that cell, it finds the runs at its next look.
            Message::Hint { cell } => {
                if let Some(hint) = self.config.hints.get(usize::from(cell.0)) {
                    hint.notify_one();
                }
            }
            message => self.connections.tell(message),
        }
    }
}
