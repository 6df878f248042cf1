//! One node's connection: from its hello until one side hangs up.

use std::sync::Arc;

use mainspring_engine::Event;
use mainspring_model::{CellId, NodeId};
use mainspring_wire::agent::{
    FromNode, Heartbeat, Hello, LogChunk, Malformed, NodeWord, OwnerWord, Redirect, ToNode, node_word,
    owner_word,
};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};
use tracing::debug;

use super::inward;
use crate::cells::{Found, LocalCells};
use crate::logs::Logs;
use crate::seat::{Input, NodeInput, SeatHandle, Usage};

/// Reads a node's words and hands them to the seat of its cell.
pub(super) struct Conversation {
    pub(super) node: NodeId,
    pub(super) cells: Arc<LocalCells>,
    pub(super) logs: Arc<Logs>,
    pub(super) outward: mpsc::Sender<ToNode>,
}

impl Conversation {
    /// Begins with the hello that was read; ends when the node hangs up, talks nonsense, or the seat is gone.
    pub(super) async fn hold(self, hello: Hello, mut inward: Streaming<FromNode>) -> Result<(), Status> {
        let cell = self.cells.cell_of_node(self.node);
        let seat = match self.cells.find(cell).await {
            Found::Here(seat) => seat,
            Found::Elsewhere(url) => return self.redirect(url).await,
            Found::Nowhere => {
                return Err(Status::unavailable("no scheduler owns the node's cell; try again"));
            }
        };
        let session = hello.session;
        self.greet(&seat, cell, &hello).await?;
        let heard = self.listen(&seat, &mut inward).await;
        let gone = Input::Node(NodeInput::Disconnected { node: self.node, session });
        drop(seat.inbox.send(gone).await);
        heard
    }

    async fn greet(&self, seat: &SeatHandle, cell: CellId, hello: &Hello) -> Result<(), Status> {
        let event = inward::hello(self.node, cell, hello).map_err(malformed)?;
        let input = NodeInput::Connected {
            node: self.node,
            session: hello.session,
            hello: Box::new(event),
            outward: self.outward.clone(),
        };
        seat.inbox.send(Input::Node(input)).await.map_err(|_| gone())
    }

    async fn listen(&self, seat: &SeatHandle, inward: &mut Streaming<FromNode>) -> Result<(), Status> {
        loop {
            // The seat drops its end of the outward channel when it gives the node up.
            let heard = tokio::select! {
                heard = inward.message() => heard,
                () = self.outward.closed() => return Err(Status::unavailable("connect again")),
            };
            let Some(FromNode { words }) = heard? else { return Ok(()) };
            let mut events = Vec::with_capacity(words.len());
            let mut usage = None;
            for NodeWord { word } in words {
                match word.ok_or_else(|| malformed(Malformed::missing("word")))? {
                    node_word::Word::Log(chunk) => self.log(chunk).await?,
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
            if !events.is_empty() {
                let said = NodeInput::Said { node: self.node, events, usage };
                seat.inbox.send(Input::Node(said)).await.map_err(|_| gone())?;
            }
        }
    }

    async fn log(&self, chunk: LogChunk) -> Result<(), Status> {
        let token = inward::token(chunk.token.as_ref()).map_err(malformed)?;
        let Some(have) = self.logs.take(self.node, token, chunk).await else { return Ok(()) };
        let words = vec![OwnerWord { word: Some(owner_word::Word::LogHave(have)) }];
        self.outward.send(ToNode { words }).await.map_err(|_| gone())
    }

    async fn redirect(self, url: String) -> Result<(), Status> {
        debug!(node = %self.node, url, "a node is sent to its owner");
        let word = owner_word::Word::Redirect(Redirect { url });
        drop(self.outward.send(ToNode { words: vec![OwnerWord { word: Some(word) }] }).await);
        Ok(())
    }
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
