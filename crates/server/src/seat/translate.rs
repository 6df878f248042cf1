//! Between the words of the use cases and those of the engine.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_app::Operation;
use mainspring_app::audit::{Entry, Outcome};
use mainspring_app::ports::{Changed, Command};
use mainspring_engine::{Cell, LoadedRun, Occurrence, TriggerKey, TriggerPaused, TriggerRow};
use mainspring_model::{BackfillId, Namespace, Timestamp};
use mainspring_store::{Record, Transaction, Write};

/// Backfills of a cell that are followed until they are over.
const BACKFILLS_FOLLOWED_MAX: usize = 10_000;

/// Whether what a command is about still has the revision that whoever sent it saw. It is compared in the step in which the
/// command is carried out. What is not in memory is as its row says.
pub(super) fn holds(cell: &Cell, command: &Command, row: Option<&LoadedRun>) -> bool {
    let Command::If { revision, command } = command else { return true };
    let known = match &**command {
        Command::Cancel { run, .. } | Command::RetryNow { run, .. } | Command::Prioritise { run, .. } => {
            cell.version_of_run(*run).or(row.map(|row| row.run.status.version))
        }
        Command::Drain { node, .. } | Command::Lose { node } => cell.revision_of_node(*node),
        // A later one than is known here was written for this owner to read.
        Command::Trigger { key, .. } => cell.revision_of_trigger(key).map(|known| known.max(*revision)),
        Command::PauseCell { .. } if cell.is_pausing() => return false,
        Command::PauseCell { .. } => Some(mainspring_app::cell_revision(cell.pause())),
        // Its row is compared when it is written.
        Command::PauseJob { .. }
        | Command::TriggersChanged { .. }
        | Command::CalendarsChanged
        | Command::If { .. } => None,
    };
    known.is_none_or(|known| known == *revision)
}

/// A trigger that paused itself, as it is written down.
pub(super) fn paused(paused: TriggerPaused) -> Entry {
    let TriggerPaused { namespace, key, job, pause } = paused;
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

/// Triggers that paused themselves, as watchers are told, each with the place of its row in the batch.
pub(super) fn pauses(paused: &[TriggerPaused], transaction: &Transaction) -> Vec<(usize, Changed)> {
    let place = |one: &TriggerPaused| {
        let is_row = |write: &Write| match write {
            Write::PutRecord(record) => TriggerRow::read(record).is_some_and(|row| row.key == one.key),
            _ => false,
        };
        let place = transaction.writes.iter().position(is_row)?;
        let TriggerPaused { namespace, key, job, pause } = one.clone();
        Some((place, Changed::TriggerPaused { namespace, key, job, pause }))
    };
    paused.iter().filter_map(place).collect()
}

/// What a batch will have changed, each with its place in it.
pub(super) fn changes(cell: &Cell, transaction: &Transaction, at: Timestamp) -> Vec<(usize, Changed)> {
    let change = |(place, write): (usize, &Write)| {
        let (id, status) = match write {
            Write::PutJob(job) => {
                let (namespace, name) = (job.namespace.clone(), job.name.clone());
                return Some((place, Changed::Job { id: job.id, namespace, name, at }));
            }
            Write::InsertRun(run) => (run.head.id, &run.status),
            Write::UpdateRun(update) => (update.id, &update.status),
            Write::PutNode(node) => return Some((place, Changed::Node { node: node.clone() })),
            _ => return None,
        };
        let head = cell.head(id)?;
        let changed = Changed::Run {
            id,
            namespace: head.namespace.clone(),
            job: head.job,
            state: status.state,
            version: status.version,
            attempt: status.attempt,
            at,
        };
        Some((place, changed))
    };
    transaction.writes.iter().enumerate().filter_map(change).collect()
}

/// What a batch will have changed of triggers, their ledgers and backfills. `live` are the backfills that were not over.
pub(super) fn of_triggers(
    transaction: &Transaction,
    live: &mut BTreeSet<BackfillId>,
    at: Timestamp,
) -> Vec<(usize, Changed)> {
    let mut changes = Vec::new();
    let mut namespaces: BTreeMap<TriggerKey, Namespace> = BTreeMap::new();
    for (place, record) in records(transaction) {
        let Some(TriggerRow { key, state, .. }) = TriggerRow::read(record) else { continue };
        for one in state.backfills() {
            let was_live = live.contains(&one.id);
            let over = one.is_over();
            if over {
                live.remove(&one.id);
            } else if live.len() < BACKFILLS_FOLLOWED_MAX {
                live.insert(one.id);
            }
            if was_live || !over {
                let (namespace, key, made) = (state.namespace.clone(), key.clone(), one.tally.made);
                changes.push((place, Changed::Backfill { namespace, key, id: one.id, over, made, at }));
            }
        }
        let (namespace, next, paused) = (state.namespace.clone(), state.next, state.pause.is_some());
        changes.push((place, Changed::Trigger { namespace, key: key.clone(), next, paused, at }));
        namespaces.insert(key, state.namespace);
    }
    for (place, record) in records(transaction) {
        let Some(key) = Occurrence::key(record) else { continue };
        // A line is written with the row of its trigger.
        if let (Some(namespace), Some(line)) = (namespaces.get(&key), Occurrence::read(record)) {
            let namespace = namespace.clone();
            changes.push((place, Changed::Occurrence { namespace, key, line: Box::new(line) }));
        }
    }
    changes
}

fn records(transaction: &Transaction) -> impl Iterator<Item = (usize, &Record)> {
    transaction.writes.iter().enumerate().filter_map(|(place, write)| match write {
        Write::PutRecord(record) => Some((place, &**record)),
        _ => None,
    })
}
