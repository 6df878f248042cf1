//! One node's connection: from its hello until one side hangs up.

use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::Event;
use mainspring_model::{AttemptToken, CellId, NodeId};
use mainspring_wire::agent::{
    FromNode, Heartbeat, Hello, LogChunk, Malformed, NodeWord, OwnerWord, Redirect, ToNode, node_word,
    owner_word,
};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tonic::{Status, Streaming};
use tracing::debug;

use super::inward;
use crate::cells::{Found, LocalCells};
use crate::logs::{Logs, Part};
use crate::seat::{Input, NodeInput, Outward, SeatHandle, Usage};

/// Parts of logs that may wait to be stored, and their bytes; the node says again what was dropped beyond that.
const LOG_PARTS_MAX: usize = 1_024;
const LOG_PARTS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one part of a log; the longest log of a worker in one piece is less.
const LOG_PART_BYTES_MAX: usize = 5 * 1024 * 1024;
/// How long one batch of words may wait for the answer whose logs are in it. A store or a disk that stands still must not
/// make a living node look silent.
const ADMISSION_WAIT: Duration = Duration::from_secs(2);

/// Characters of an agent's version.
const VERSION_CHARS_MAX: usize = 64;
/// How long logs are not looked at after that; the node says them again.
const CLOSED_FOR: Duration = Duration::from_secs(10);

/// Reads a node's words and hands them to the seat of its cell.
pub(super) struct Conversation {
    pub(super) node: NodeId,
    pub(super) cells: Arc<LocalCells>,
    pub(super) logs: Arc<Logs>,
    pub(super) outward: mpsc::Sender<ToNode>,
    pub(super) stop: CancellationToken,
}

impl Conversation {
    /// Begins with the hello that was read; ends when the node hangs up or talks nonsense, the seat gives it up, its pass has
    /// lapsed, or the process stops.
    pub(super) async fn hold(
        self,
        hello: Hello,
        mut inward: Streaming<FromNode>,
        lapsed: impl Future<Output = Status>,
    ) -> Result<(), Status> {
        let cell = self.cells.cell_of_node(self.node);
        let seat = match self.cells.find(cell).await {
            Found::Here(seat) => seat,
            Found::Elsewhere(url) => return self.redirect(url).await,
            Found::Nowhere => {
                return Err(Status::unavailable("no scheduler owns the node's cell; try again"));
            }
        };
        let session = hello.session;
        let hung_up = CancellationToken::new();
        self.greet(&seat, cell, &hello, &hung_up).await?;
        let (parts, waiting) = mpsc::channel(LOG_PARTS_MAX);
        let heard = tokio::select! {
            heard = self.listen(&seat, &mut inward, &parts) => heard,
            () = self.logs.store(waiting, &self.outward) => Err(gone()),
            status = lapsed => Err(status),
            () = hung_up.cancelled() => Err(Status::unavailable("connect again")),
            () = self.stop.cancelled() => Err(gone()),
        };
        let gone = Input::Node(NodeInput::Disconnected { node: self.node, session });
        drop(seat.inbox.send(gone).await);
        heard
    }

    async fn greet(
        &self,
        seat: &SeatHandle,
        cell: CellId,
        hello: &Hello,
        hung_up: &CancellationToken,
    ) -> Result<(), Status> {
        let event = inward::hello(self.node, cell, hello).map_err(malformed)?;
        let input = NodeInput::Connected {
            node: self.node,
            session: hello.session,
            hello: Box::new(event),
            agent: version_of(hello),
            outward: Outward::new(self.outward.clone(), hung_up.clone().drop_guard()),
        };
        seat.inbox.send(Input::Node(input)).await.map_err(|_| gone())
    }

    async fn listen(
        &self,
        seat: &SeatHandle,
        inward: &mut Streaming<FromNode>,
        parts: &mpsc::Sender<Part>,
    ) -> Result<(), Status> {
        // Logs that cannot be taken in time are not tried again at once: heartbeats come behind them.
        let mut closed_until = Instant::now();
        let room = Arc::new(Semaphore::new(LOG_PARTS_BYTES_MAX));
        while let Some(FromNode { words }) = inward.message().await? {
            let mut events = Vec::with_capacity(words.len());
            let mut usage = None;
            let mut logs = Vec::new();
            for NodeWord { word } in words {
                match word.ok_or_else(|| malformed(Malformed::missing("word")))? {
                    node_word::Word::Log(chunk) => {
                        inward::within("data", chunk.data.len(), LOG_PART_BYTES_MAX).map_err(malformed)?;
                        logs.push((inward::token(chunk.token.as_ref()).map_err(malformed)?, chunk));
                    }
                    node_word::Word::Heartbeat(heartbeat) => {
                        usage = used(&heartbeat).or(usage);
                        events.push(inward::heartbeat(self.node, &heartbeat).map_err(malformed)?);
                    }
                    node_word::Word::Report(report) => {
                        events.push(inward::report(self.node, report).map_err(malformed)?);
                    }
                    node_word::Word::Goodbye(goodbye) => {
                        events.push(Event::Goodbye { node: self.node, session: goodbye.session });
                    }
                    node_word::Word::Hello(_) => {
                        return Err(Status::invalid_argument("a connection has one hello"));
                    }
                }
            }
            if !logs.is_empty() && Instant::now() >= closed_until && !self.hand_over(logs, parts, &room).await
            {
                debug!(node = %self.node, "parts of logs have to be said again");
                closed_until = Instant::now() + CLOSED_FOR;
            }
            if !events.is_empty() {
                let said = NodeInput::Said { node: self.node, events, usage };
                seat.inbox.send(Input::Node(said)).await.map_err(|_| gone())?;
            }
        }
        Ok(())
    }

    /// A log is known before the end of its attempt is, so that followers wait for it; it is stored beside the other words.
    /// False when that took too long.
    async fn hand_over(
        &self,
        logs: Vec<(AttemptToken, LogChunk)>,
        parts: &mpsc::Sender<Part>,
        room: &Arc<Semaphore>,
    ) -> bool {
        let handed_over = async {
            for part in self.logs.admit(self.node, logs).await {
                let taken = Arc::clone(room).acquire_many_owned(part.bytes() as u32).await;
                let Ok(taken) = taken else { return };
                drop(parts.send(part.with_room(taken)).await);
            }
        };
        timeout(ADMISSION_WAIT, handed_over).await.is_ok()
    }

    async fn redirect(self, url: String) -> Result<(), Status> {
        debug!(node = %self.node, url, "a node is sent to its owner");
        let word = owner_word::Word::Redirect(Redirect { url });
        drop(self.outward.send(ToNode { words: vec![OwnerWord { word: Some(word) }] }).await);
        Ok(())
    }
}

/// The version that an agent names, cut to what a version needs.
fn version_of(hello: &Hello) -> Arc<str> {
    let letters = hello.version.chars().filter(|letter| !letter.is_control());
    letters.take(VERSION_CHARS_MAX).collect::<String>().into()
}

fn used(heartbeat: &Heartbeat) -> Option<Usage> {
    heartbeat
        .usage
        .as_ref()
        .map(|usage| Usage { cpu_milli: usage.cpu_milli, memory_bytes: usage.memory_bytes })
}

fn malformed(malformed: Malformed) -> Status {
    Status::invalid_argument(malformed.to_string())
}

fn gone() -> Status {
    Status::unavailable("the scheduler is going; connect again")
}
