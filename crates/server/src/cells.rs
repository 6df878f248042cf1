//! The cells as this process reaches them: seats of its own, and where the others are owned.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mainspring_app::Positions;
use mainspring_app::audit;
use mainspring_app::ports::{CellError, Cells, Changed, Command, LiveRun, NewRun, News, NodeLoad, Overview};
use mainspring_engine::{Answer, JobActivity, LoadedRun, WaitingGroups};
use mainspring_model::{CellId, ErrorCode, JobId, MemberId, Namespace, NodeFit, NodeId, RunId, Timestamp};
use mainspring_store::{Conflict, Outcome, Store, Transaction, Write};
use serde_json::json;
use tokio::sync::{Notify, broadcast, oneshot};
use tracing::{error, warn};

use crate::clock::Clock;
use crate::health::StoreHealth;
use crate::http::forward;
use crate::http::under_way::{self, Subjects};
use crate::news::Newsroom;
use crate::others::Others;
use crate::seat::{Hints, Input, NodeInput, SeatHandle, Standing, read};
use crate::settle::settle;
use crate::unowned::{Unowned, UnownedLock};

/// How long a caller waits for a cell that nobody owns at the moment, or whose owner loads.
const OWNER_WAIT: Duration = Duration::from_secs(5);
/// How long a caller waits for an owner whose store does not answer.
const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// How long a store may refuse every write before callers are told: its disk may be full.
const FAILING_WAIT: Duration = Duration::from_secs(2);
/// How long a caller waits for a store that does not answer.
const STORE_WAIT: Duration = Duration::from_secs(10);

/// The seats of this process, one for each cell (none without the scheduler's role), and the way to others.
pub(crate) struct LocalCells {
    pub(crate) seats: Vec<SeatHandle>,
    pub(crate) count: u16,
    pub(crate) member: MemberId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) news: Newsroom,
    pub(crate) chain: Arc<audit::Chain>,
    /// By cell: wakes the seat to look for runs that were put into the store.
    pub(crate) hints: Hints,
    pub(crate) others: Others,
    pub(crate) health: Arc<StoreHealth>,
    pub(crate) unowned: UnownedLock,
}

/// Where a cell is owned.
#[derive(Debug)]
pub(crate) enum Found {
    /// By this process.
    Here(SeatHandle),
    /// By the process with this URL.
    Elsewhere(String),
    /// By nobody, as far as is known.
    Nowhere,
}

impl LocalCells {
    /// The cell of a node.
    pub(crate) fn cell_of_node(&self, node: NodeId) -> CellId {
        CellId((node.hash64() % u64::from(self.count.max(1))) as u16)
    }

    /// Finds the owner; waits a little when there is none.
    pub(crate) async fn find(&self, cell: CellId) -> Found {
        match tokio::time::timeout(OWNER_WAIT, self.owner(cell)).await {
            Ok(found) => found,
            Err(_) => Found::Nowhere,
        }
    }

    /// Whether this process has a seat at every cell, as owner or follower that knows the owner.
    pub(crate) fn is_ready(&self) -> bool {
        self.seats.iter().all(|seat| *seat.standing.borrow() != Standing::Unknown)
    }

    /// Whether this process owns the cell now.
    pub(crate) fn owns(&self, cell: CellId) -> bool {
        self.seats.iter().any(|seat| seat.cell == cell && *seat.standing.borrow() == Standing::Owns)
    }

    async fn owner(&self, cell: CellId) -> Found {
        let Some(seat) = self.seats.iter().find(|seat| seat.cell == cell) else {
            return self.holder(cell).await;
        };
        let mut standing = seat.standing.clone();
        loop {
            let now = *standing.borrow_and_update();
            match now {
                Standing::Owns => return Found::Here(seat.clone()),
                Standing::Follows(member) => return self.address(member).await,
                Standing::Unknown => {}
            }
            if standing.changed().await.is_err() {
                return Found::Nowhere;
            }
        }
    }

    /// Who holds the lease, as the store says: for processes without seats.
    async fn holder(&self, cell: CellId) -> Found {
        let leases = match self.store.leases().await {
            Ok(leases) => leases,
            Err(error) => {
                warn!(%error, "leases cannot be read");
                return Found::Nowhere;
            }
        };
        match leases.into_iter().find(|lease| lease.cell == cell).and_then(|lease| lease.holder) {
            Some(member) => self.address(member).await,
            None => Found::Nowhere,
        }
    }

    async fn address(&self, member: MemberId) -> Found {
        if member == self.member {
            return Found::Nowhere;
        }
        let members = self.store.members().await.unwrap_or_default();
        members
            .into_iter()
            .find(|known| known.id == member)
            .map_or(Found::Nowhere, |known| Found::Elsewhere(known.address.into()))
    }

    /// Asks the seat of a cell; the answer is lost when the seat gives the cell up.
    async fn ask<T>(
        &self,
        cell: CellId,
        input: impl FnOnce(oneshot::Sender<T>) -> Input,
    ) -> Result<T, CellError> {
        let seat = match self.find(cell).await {
            Found::Here(seat) => seat,
            Found::Elsewhere(url) => return Err(CellError::Elsewhere { url }),
            Found::Nowhere => return Err(CellError::Nowhere),
        };
        let (reply, answer) = oneshot::channel();
        seat.inbox.send(input(reply)).await.map_err(|_| CellError::Nowhere)?;
        // What is not answered in time may be done yet: the caller asks again, with the same key.
        tokio::select! {
            biased;
            answer = answer => answer.map_err(|_| CellError::Nowhere),
            () = self.health.failing_for(FAILING_WAIT) => Err(CellError::Unavailable),
            () = tokio::time::sleep(ANSWER_WAIT) => Err(CellError::Unavailable),
        }
    }

    /// Puts runs into the store for an owner to find: no owner is needed, and doing it again changes nothing.
    async fn deposit(&self, runs: Vec<NewRun>, audit: Vec<audit::Entry>) -> Result<Vec<Answer>, CellError> {
        let mut answers: Vec<Option<Answer>> = vec![None; runs.len()];
        let mut writes = Vec::with_capacity(runs.len() + 1);
        let mut places = Vec::with_capacity(runs.len());
        for (place, NewRun { mut head, spec, .. }) in runs.into_iter().enumerate() {
            match mainspring_engine::render_keys(&spec, &head.params) {
                Ok(keys) => head.keys = keys,
                Err(message) => {
                    answers[place] = Some(Answer::Refused { code: ErrorCode::InvalidTemplate, message });
                    continue;
                }
            }
            places.push((place, head.id));
            let cell = self.cell_of(&head.namespace);
            writes.push(Write::insert_arrived(head, cell));
        }
        let audit = self.chain.draft(self.clock.now(), audit);
        writes.extend(audit.iter().flat_map(|draft| draft.records().iter().cloned()));
        let outcomes =
            settle(&*self.store, Transaction::unfenced(writes), STORE_WAIT).await.map_err(|error| {
                warn!(error = &error as &dyn std::error::Error, "runs were not written");
                // What was asked is left over, and written down when the store is back.
                CellError::Unavailable
            })?;
        if let Some(audit) = audit {
            audit.written();
        }
        self.hints.iter().for_each(Notify::notify_one);
        for ((place, run), outcome) in places.into_iter().zip(outcomes) {
            answers[place] = Some(match outcome {
                Outcome::Conflict(Conflict::KeyTaken(Some(first))) => {
                    Answer::Submitted { run: first, duplicate: true }
                }
                // A run with this very id is this one: written before, by the owner or by us.
                Outcome::Applied | Outcome::Conflict(Conflict::Exists) => {
                    Answer::Submitted { run, duplicate: false }
                }
                other => {
                    error!(%run, ?other, "the store's answer to a new run makes no sense");
                    Answer::Refused { code: ErrorCode::Internal, message: "the run was not written".into() }
                }
            });
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Commands to a cell that no server of this cluster ever owns.
    fn unowned(&self, cell: CellId) -> Unowned<'_> {
        let Self { store, member, chain, unowned: lock, .. } = self;
        Unowned { cell, member: *member, store: &**store, chain, lock }
    }

    /// The row of a run that is not in its owner's memory.
    async fn row(&self, run: RunId) -> Result<Option<Box<LoadedRun>>, CellError> {
        let unavailable = |error: mainspring_store::Error| {
            warn!(%error, "a run cannot be read");
            CellError::Unavailable
        };
        let rows = self.store.runs_by_id(&[run]).await.map_err(unavailable)?;
        let mut loaded = read::load(&*self.store, rows).await.map_err(unavailable)?;
        Ok(loaded.pop().map(Box::new))
    }
}

#[async_trait]
impl Cells for LocalCells {
    fn count(&self) -> u16 {
        self.count
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn host_clock(&self) -> Timestamp {
        self.clock.host_now()
    }

    fn clock_frozen_by(&self) -> Option<Duration> {
        self.clock.frozen_by()
    }

    async fn submit(&self, runs: Vec<NewRun>, audit: Vec<audit::Entry>) -> Result<Vec<Answer>, CellError> {
        let Some(first) = runs.first() else { return Ok(Vec::new()) };
        let cell = self.cell_of(&first.head.namespace);
        if runs.iter().any(|run| self.cell_of(&run.head.namespace) != cell) {
            return self.deposit(runs, audit).await;
        }
        let kept = runs.clone();
        let kept_audit = audit.clone();
        let asked = self.ask(cell, |reply| Input::Submit { runs, audit, reply }).await;
        match asked {
            Ok(Ok(answers)) => Ok(answers),
            // The store tells what is there already.
            Ok(Err(CellError::Nowhere)) | Err(CellError::Nowhere) => self.deposit(kept, kept_audit).await,
            Ok(Err(CellError::Deposed)) => self.deposit(kept, Vec::new()).await,
            // Who owns the cell is asked first; if it is not reached, whoever takes over finds them.
            Err(CellError::Elsewhere { url }) if !under_way::goes_to(&url) => {
                self.deposit(kept, kept_audit).await
            }
            Ok(Err(error)) | Err(error) => Err(error),
        }
    }

    async fn command(
        &self,
        cell: CellId,
        command: Command,
        audit: Vec<audit::Entry>,
    ) -> Result<Answer, CellError> {
        if cell.0 >= self.count {
            return self.unowned(cell).command(command, audit).await;
        }
        let run = command.run();
        let first = Input::command(command.clone(), None, audit);
        let answer = self.ask(cell, first).await??;
        match (run, &answer) {
            (Some(run), Answer::Refused { code: ErrorCode::NotFound, .. }) => match self.row(run).await? {
                Some(row) => self.ask(cell, Input::command(command, Some(row), Vec::new())).await?,
                None => Ok(answer),
            },
            _ => Ok(answer),
        }
    }

    async fn live(&self, cell: CellId, runs: &[RunId]) -> Result<Vec<LiveRun>, CellError> {
        let subjects = Subjects::runs(runs);
        let runs = runs.to_vec();
        noted(self.ask(cell, |reply| Input::Live { runs, reply }).await, subjects)
    }

    async fn nearest_nodes(&self, cell: CellId, run: RunId, count: usize) -> Result<Vec<NodeFit>, CellError> {
        self.ask(cell, |reply| Input::NearestNodes { run, count, reply }).await
    }

    async fn tell(&self, cell: CellId, what: Changed) -> Result<(), CellError> {
        match self.find(cell).await {
            Found::Here(seat) => seat.inbox.send(Input::Tell(what)).await.map_err(|_| CellError::Nowhere),
            Found::Elsewhere(url) => Err(CellError::Elsewhere { url }),
            Found::Nowhere => Err(CellError::Nowhere),
        }
    }

    async fn loads(&self, cell: CellId, nodes: &[NodeId]) -> Result<Vec<NodeLoad>, CellError> {
        let nodes = nodes.to_vec();
        noted(self.ask(cell, |reply| Input::Loads { nodes, reply }).await, Subjects::cell(cell))
    }

    async fn overview(&self, cell: CellId) -> Result<Option<Overview>, CellError> {
        noted(self.ask(cell, |reply| Input::Overview { reply }).await, Subjects::cell(cell))
    }

    async fn waiting(&self, cell: CellId, groups_max: usize) -> Result<Option<WaitingGroups>, CellError> {
        let asked = self.ask(cell, |reply| Input::Waiting { groups_max, reply }).await;
        noted(asked, Subjects::cell(cell))
    }

    async fn activity(&self, cell: CellId, jobs: &[JobId]) -> Result<Option<Vec<JobActivity>>, CellError> {
        let jobs = jobs.to_vec();
        noted(self.ask(cell, |reply| Input::Activity { jobs, reply }).await, Subjects::cell(cell))
    }

    async fn confirm_elsewhere(
        &self,
        url: &str,
        namespace: &Namespace,
        job: JobId,
    ) -> mainspring_app::Result<()> {
        let path = format!("/v1/jobs/{job}/confirm?namespace={namespace}");
        forward::errand(url, &path, &json!({})).await
    }

    async fn relabelled(&self, node: NodeId) {
        let cell = self.cell_of_node(node);
        if let Some(seat) = self.seats.iter().find(|seat| seat.cell == cell) {
            drop(seat.inbox.send(Input::Node(NodeInput::Relabelled { node })).await);
        }
    }

    fn news(&self) -> broadcast::Receiver<Arc<News>> {
        self.news.subscribe()
    }

    fn news_at(&self) -> Positions {
        self.news.at()
    }

    fn news_since(&self, heard: &Positions) -> Option<Vec<Arc<News>>> {
        self.news.since(heard)
    }

    fn owns(&self, cell: CellId) -> bool {
        Self::owns(self, cell)
    }

    fn owns_all(&self) -> bool {
        !self.seats.is_empty() && self.seats.iter().all(|seat| *seat.standing.borrow() == Standing::Owns)
    }

    async fn owners_elsewhere(&self) -> Vec<String> {
        self.others.owners(self.member, &self.seats, self.store.as_ref()).await
    }

    async fn owners_other_than(&self, known: &[String]) -> Vec<String> {
        self.others.owners_other_than(known, self.member, &self.seats, self.store.as_ref()).await
    }
}

/// Whoever reads how things stand may be sent to where that is known.
fn noted<T>(answer: Result<T, CellError>, subjects: Subjects) -> Result<T, CellError> {
    match &answer {
        Ok(_) => under_way::is_known_here(),
        Err(CellError::Elsewhere { url }) => under_way::is_known_at(url, subjects),
        Err(CellError::Nowhere | CellError::Deposed | CellError::Unavailable) => {}
    }
    answer
}
