//! What happened to a run, in order: from the moments in its row, its attempts, and its remarkable events.

use mainspring_model::{Reason, Run, RunEvent, RunEventKind, RunId, RunState, Timestamp};
use mainspring_wire::api::{self, TimelineEntry, TimelineKind};

use crate::app::App;
use crate::error::Result;
use crate::operation::Operation;
use crate::principal::Caller;

impl App {
    /// What happened to a run.
    pub async fn timeline(&self, caller: &Caller, run: RunId) -> Result<Vec<TimelineEntry>> {
        let row = self.find_run(caller, Operation::RunTimeline, run).await?;
        let attempts = self.attempts_of(&row).await?;
        let events = self.store.events(run).await?;
        let next = Reason::of_moment(&row.status, self.attempts_max(&row).await);
        let mut told = tell(&row, &attempts, &events, next.as_ref());
        for entry in &mut told {
            if let Some(node) = entry.node
                && let Some(name) = self.node_name(node).await
            {
                entry.message = entry.message.replace(&node.to_string(), &name);
            }
        }
        Ok(told)
    }
}

/// Everything, by time; of one moment, in the order in which things follow each other.
fn tell(
    row: &Run,
    attempts: &[api::Attempt],
    events: &[RunEvent],
    next: Option<&Reason>,
) -> Vec<TimelineEntry> {
    let (head, status) = (&row.head, &row.status);
    let mut entries = vec![TimelineEntry {
        by: Some(head.submitted_by.to_string()),
        ..entry(head.created_at, TimelineKind::Accepted, format!("submitted by {}", head.submitted_by))
    }];
    if let Some(at) = status.eligible_at {
        entries.push(entry(at, TimelineKind::Queued, "queued".into()));
    }
    for attempt in attempts {
        entries.extend(of_attempt(attempt));
    }
    entries.extend(events.iter().map(of_event));
    if status.state.is_terminal() {
        let at = status.finished_at.unwrap_or(head.created_at);
        let message = match &status.cause {
            Some(cause) => format!("{}: {cause}", status.state.name()),
            None => status.state.name().into(),
        };
        let cause = status.cause.as_ref().map(Into::into);
        entries.push(TimelineEntry { cause, ..entry(at, TimelineKind::Ended, message) });
    } else if status.state == RunState::Failed
        && let Some(reason) = next
    {
        let at = status.finished_at.unwrap_or(head.created_at);
        let queued = entry(at, TimelineKind::Queued, reason.to_string());
        entries.push(TimelineEntry { attempt: Some(status.attempt + 1), ..queued });
    }
    // Whoever accepted it may have a clock that is a little ahead of the owner's.
    let accepted = head.created_at.into();
    for entry in &mut entries {
        entry.at = entry.at.max(accepted);
    }
    entries.sort_by_key(|entry| (entry.at, step(entry), entry.kind));
    entries
}

/// What comes first of one moment: one attempt ends and the next is placed in the same.
fn step(entry: &TimelineEntry) -> u32 {
    match (entry.kind, entry.attempt) {
        (TimelineKind::Ended, _) => u32::MAX,
        (_, attempt) => attempt.unwrap_or(0),
    }
}

fn of_attempt(attempt: &api::Attempt) -> Vec<TimelineEntry> {
    let number = match attempt.attempts_max {
        Some(most) => format!("attempt {} of {most}", attempt.number),
        None => format!("attempt {}", attempt.number),
    };
    let made = |at: api::Time, kind, message| TimelineEntry {
        attempt: Some(attempt.number),
        node: attempt.node,
        ..entry(at.0, kind, message)
    };
    let mut entries = Vec::new();
    if let Some(at) = attempt.placed_at {
        let node = attempt.node_name.clone().or_else(|| attempt.node.map(|node| node.to_string()));
        let node = node.map(|node| format!(" on {node}")).unwrap_or_default();
        entries.push(made(at, TimelineKind::Placed, format!("{number} placed{node}")));
    }
    if let Some(at) = attempt.started_at {
        entries.push(made(at, TimelineKind::Started, format!("{number} started")));
    }
    if let (Some(at), Some(cause)) = (attempt.finished_at, &attempt.cause) {
        let ended = made(at, TimelineKind::AttemptEnded, format!("{number} ended: {}", cause.message));
        entries.push(TimelineEntry { cause: Some(cause.clone()), ..ended });
    }
    entries
}

fn of_event(event: &RunEvent) -> TimelineEntry {
    let made = |kind, message| entry(event.at, kind, message);
    match &event.kind {
        RunEventKind::CancelRequested { by } => TimelineEntry {
            by: Some(by.to_string()),
            ..made(TimelineKind::CancelRequested, format!("{by} asked for its end"))
        },
        RunEventKind::RetriedNow { by } => TimelineEntry {
            by: Some(by.to_string()),
            ..made(TimelineKind::RetriedNow, format!("{by} had it tried again"))
        },
        RunEventKind::Prioritised { by, from, to } => TimelineEntry {
            by: Some(by.to_string()),
            ..made(TimelineKind::Prioritised, format!("{by} changed its priority from {from} to {to}"))
        },
        RunEventKind::NodeLost { node, attempt } => TimelineEntry {
            node: Some(*node),
            attempt: Some(*attempt),
            ..made(TimelineKind::NodeLost, format!("{node} was lost"))
        },
        RunEventKind::Reattached { node, attempt } => TimelineEntry {
            node: Some(*node),
            attempt: Some(*attempt),
            ..made(TimelineKind::Reattached, format!("{node} still has it"))
        },
        RunEventKind::HandedOver { to } => made(TimelineKind::HandedOver, format!("given to {to}")),
        RunEventKind::MaybeDoubled { attempt } => TimelineEntry {
            attempt: Some(*attempt),
            ..made(TimelineKind::MaybeDoubled, "two attempts may have executed at once".into())
        },
        RunEventKind::Overlapped => made(TimelineKind::Overlapped, "a newer run replaced it".into()),
    }
}

fn entry(at: Timestamp, kind: TimelineKind, message: String) -> TimelineEntry {
    TimelineEntry { at: at.into(), kind, message, attempt: None, node: None, by: None, cause: None }
}
