//! What the use cases need of the process around them, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mainspring_app::Positions;
use mainspring_app::audit::Entry;
use mainspring_app::ports::{
    CellError, Cells, Changed, Command, LiveRun, LogError, LogPart, Logs, NewRun, News, NodeLoad, Overview,
};
use mainspring_engine::{Answer, Event, JobActivity, Submission, WaitingGroups};
use mainspring_model::{AttemptToken, CellId, JobId, NodeFit, NodeId, RunId, Timestamp};
use tokio::sync::{Mutex, broadcast};

use crate::clock::Clock;
use crate::owner::{CELL, Owner};

/// The one cell, for the use cases.
pub(crate) struct OneCell {
    owner: Arc<Mutex<Owner>>,
    clock: Clock,
    news: broadcast::Sender<Arc<News>>,
}

impl OneCell {
    pub(crate) fn new(owner: Arc<Mutex<Owner>>, clock: Clock) -> Self {
        Self { owner, clock, news: broadcast::Sender::new(1) }
    }
}

#[async_trait]
impl Cells for OneCell {
    fn count(&self) -> u16 {
        1
    }

    fn owns(&self, cell: CellId) -> bool {
        cell == CELL
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn host_clock(&self) -> Timestamp {
        self.clock.now()
    }

    fn clock_frozen_by(&self) -> Option<Duration> {
        None
    }

    async fn submit(&self, runs: Vec<NewRun>, mut audit: Vec<Entry>) -> Result<Vec<Answer>, CellError> {
        let mut owner = self.owner.lock().await;
        let mut answers = Vec::with_capacity(runs.len());
        for NewRun { head, spec, pause } in runs {
            let submit = |request| Event::Submit(Box::new(Submission { request, head, spec, pause }));
            answers.push(owner.ask(std::mem::take(&mut audit), submit).await.ok_or(CellError::Unavailable)?);
        }
        Ok(answers)
    }

    async fn command(&self, _: CellId, command: Command, audit: Vec<Entry>) -> Result<Answer, CellError> {
        let mut owner = self.owner.lock().await;
        owner.ask(audit, |request| command.event(request, None)).await.ok_or(CellError::Unavailable)
    }

    async fn live(&self, _: CellId, _: &[RunId]) -> Result<Vec<LiveRun>, CellError> {
        Ok(Vec::new())
    }

    async fn nearest_nodes(&self, _: CellId, _: RunId, _: usize) -> Result<Vec<NodeFit>, CellError> {
        Ok(Vec::new())
    }

    async fn tell(&self, _: CellId, _: Changed) -> Result<(), CellError> {
        // Nobody watches while the history is made.
        Ok(())
    }

    async fn loads(&self, _: CellId, _: &[NodeId]) -> Result<Vec<NodeLoad>, CellError> {
        Ok(Vec::new())
    }

    async fn overview(&self, _: CellId) -> Result<Option<Overview>, CellError> {
        Ok(None)
    }

    async fn activity(&self, _: CellId, _: &[JobId]) -> Result<Option<Vec<JobActivity>>, CellError> {
        Ok(None)
    }

    async fn waiting(&self, _: CellId, _: usize) -> Result<Option<WaitingGroups>, CellError> {
        Ok(None)
    }

    fn news(&self) -> broadcast::Receiver<Arc<News>> {
        self.news.subscribe()
    }

    fn news_at(&self) -> Positions {
        Positions::default()
    }

    fn news_since(&self, _: &Positions) -> Option<Vec<Arc<News>>> {
        None
    }
}

/// Nobody reads output while the history is made.
pub(crate) struct NoLogs;

#[async_trait]
impl Logs for NoLogs {
    async fn read(&self, _: AttemptToken, _: u64, _: usize) -> Result<LogPart, LogError> {
        Ok(LogPart::default())
    }

    async fn grown(&self, _: AttemptToken, _: u64) {}

    async fn remove(&self, _: &[RunId]) -> Result<(), LogError> {
        Ok(())
    }
}
