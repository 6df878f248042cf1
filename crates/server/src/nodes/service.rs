//! The service that nodes call.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::spec::Digest;
use mainspring_wire::agent::agent_service_server::AgentService;
use mainspring_wire::agent::{
    FetchRequest, FromNode, Hello, JoinAnswer, JoinRequest, Malformed, NodeWord, ToNode, bytes_of, node_id,
    node_word,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status, Streaming};
use tracing::debug;

use super::fetch::{Chunks, Files};
use super::gate::{Admission, Gate, GateError};
use super::inward;
use super::stream::Conversation;
use crate::cells::LocalCells;
use crate::logs::Logs;

/// Batches that a node may be behind before it is disconnected.
const OUTWARD_MAX: usize = 1_024;

/// How long somebody may be connected who has not said who they are.
const HELLO_WAIT: Duration = Duration::from_secs(10);

/// Serves nodes.
pub(crate) struct NodeService {
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) cells: Arc<LocalCells>,
    pub(crate) logs: Arc<Logs>,
    pub(crate) files: Files,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

#[tonic::async_trait]
impl AgentService for NodeService {
    type ConnectStream = std::pin::Pin<Box<dyn Stream<Item = Result<ToNode, Status>> + Send>>;

    type FetchStream = Chunks;

    async fn fetch(&self, request: Request<FetchRequest>) -> Result<Response<Chunks>, Status> {
        let credential = bearer(request.metadata())?.to_owned();
        let FetchRequest { node, token, digest } = request.into_inner();
        let wrong = |wrong: Malformed| Status::invalid_argument(wrong.to_string());
        let node = node_id(&node).map_err(wrong)?;
        self.gate.admit(&credential, node).await.map_err(refused)?;
        let token = inward::token(token.as_ref()).map_err(wrong)?;
        let digest = digest[..].try_into().map(Digest::from_bytes);
        let digest = digest.map_err(|_| Status::invalid_argument("a digest has 32 bytes"))?;
        Ok(Response::new(self.files.fetch(node, token, digest).await?))
    }

    async fn join(&self, request: Request<JoinRequest>) -> Result<Response<JoinAnswer>, Status> {
        let JoinRequest { token, node, name, nonce } = request.into_inner();
        let id = node_id(&node).map_err(|wrong| Status::invalid_argument(wrong.to_string()))?;
        let credential = self.gate.join(&token, id, &name, &nonce).await.map_err(refused)?;
        Ok(Response::new(JoinAnswer { credential, node: bytes_of(id.as_bytes()) }))
    }

    async fn connect(
        &self,
        request: Request<Streaming<FromNode>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        let credential = bearer(request.metadata())?.to_owned();
        let mut inward = request.into_inner();
        let hello = tokio::time::timeout(HELLO_WAIT, first(&mut inward)).await;
        let mut hello = hello.map_err(|_| Status::deadline_exceeded("a connection begins with hello"))??;
        let node = node_id(&hello.node).map_err(|wrong| Status::invalid_argument(wrong.to_string()))?;
        let admission = self.gate.admit(&credential, node).await.map_err(refused)?;
        admission.lay_over(&mut hello)?;
        let (outward, words) = mpsc::channel(OUTWARD_MAX);
        let conversation = Conversation {
            node,
            cells: Arc::clone(&self.cells),
            logs: Arc::clone(&self.logs),
            outward,
            stop: self.stop.clone(),
        };
        let (end, ended) = mpsc::channel(1);
        self.tasks.spawn(async move {
            if let Err(status) = conversation.hold(hello, inward).await {
                debug!(%node, %status, "a node's connection ended");
                drop(end.send(status).await);
            }
        });
        // What was said before the end reaches the node before it.
        let words = ReceiverStream::new(words).map(Ok);
        let end = ReceiverStream::new(ended).map(Err);
        Ok(Response::new(Box::pin(words.chain(end))))
    }
}

impl Admission {
    /// A node says much about itself, but not where it was invited to, and not against what people say of it.
    fn lay_over(self, hello: &mut Hello) -> Result<(), Status> {
        if let Some(pool) = self.pool.filter(|pool| *pool != hello.pool) {
            return Err(Status::failed_precondition(format!(
                "the node was invited to the pool `{pool}`, not to `{}`",
                hello.pool
            )));
        }
        hello.labels.extend(self.labels.iter().map(|(key, value)| (key.to_string(), value.to_string())));
        Ok(())
    }
}

async fn first(inward: &mut Streaming<FromNode>) -> Result<Hello, Status> {
    let not_hello = || Status::invalid_argument("a connection begins with hello");
    let mut words = inward.message().await?.ok_or_else(not_hello)?.words;
    match words.pop() {
        Some(NodeWord { word: Some(node_word::Word::Hello(hello)) }) if words.is_empty() => Ok(hello),
        _ => Err(not_hello()),
    }
}

fn bearer(metadata: &MetadataMap) -> Result<&str, Status> {
    let shown = metadata.get("authorization").and_then(|value| value.to_str().ok());
    shown.and_then(|value| value.strip_prefix("Bearer ")).ok_or_else(|| {
        Status::unauthenticated("show the node's credential; `mainspring node token` makes a join token")
    })
}

fn refused(error: GateError) -> Status {
    match error {
        GateError::Refused(why) => Status::permission_denied(why),
        GateError::Unavailable => Status::unavailable("the store does not answer; try again"),
    }
}
