//! Between the words of the use cases and those of the engine.

use mainspring_app::ports::{Changed, Command};
use mainspring_engine::{Cell, Event, LoadedRun, RequestId};
use mainspring_model::Timestamp;
use mainspring_store::{Transaction, Write};

pub(super) fn event(command: Command, request: RequestId, row: Option<Box<LoadedRun>>) -> Event {
    match command {
        Command::Cancel { run, by, kill } => Event::Cancel { request, run, row, by, kill },
        Command::RetryNow { run, by } => Event::RetryNow { request, run, row, by },
        Command::PauseJob { job, pause } => Event::PauseJob { request, job, pause },
        Command::PauseCell { pause } => Event::PauseCell { request, pause },
        Command::TriggersChanged { job } => Event::TriggersChanged { request, job },
        Command::Trigger { key, command } => Event::Trigger { request, key, command },
        Command::Drain { node, deadline } => Event::Drain { request, node, deadline },
    }
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
