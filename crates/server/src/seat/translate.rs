//! Between the words of the use cases and those of the engine.

use mainspring_app::Operation;
use mainspring_app::audit::{Entry, Outcome};
use mainspring_app::ports::{Changed, Command};
use mainspring_engine::{Cell, LoadedRun, TriggerPaused, TriggerRow};
use mainspring_model::Timestamp;
use mainspring_store::{Transaction, Write};

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
