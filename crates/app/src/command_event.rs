//! A command of the use cases as the engine hears it.

use mainspring_engine::{Event, LoadedRun, RequestId};

use crate::ports::Command;

impl Command {
    /// The event; `row` is the run that it is about, if the owner does not have it in memory.
    pub fn event(self, request: RequestId, row: Option<Box<LoadedRun>>) -> Event {
        match self {
            Self::Cancel { run, by, kill } => Event::Cancel { request, run, row, by, kill },
            Self::RetryNow { run, by } => Event::RetryNow { request, run, row, by },
            Self::Prioritise { run, by, priority } => Event::Prioritise { request, run, row, by, priority },
            Self::PauseJob { job, pause } => Event::PauseJob { request, job, pause },
            Self::PauseCell { pause } => Event::PauseCell { request, pause },
            Self::TriggersChanged { job } => Event::TriggersChanged { request, job },
            Self::CalendarsChanged => Event::CalendarsChanged { request },
            Self::Trigger { key, command } => Event::Trigger { request, key, command },
            Self::Lose { node } => Event::Lose { request, node },
            Self::Drain { node, deadline } => Event::Drain { request, node, deadline },
            Self::If { command, .. } => command.event(request, row),
        }
    }
}
