//! The service that nodes call.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mainspring_model::NodeId;
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
use crate::listener::{Peer, WrongCredentials};
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
    /// How often a connected node is asked for its credential again.
    pub(crate) recheck_every: Duration,
    /// Counts wrong credentials by address.
    pub(crate) wrong_credentials: Arc<WrongCredentials>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

#[tonic::async_trait]
impl AgentService for NodeService {
    type ConnectStream = std::pin::Pin<Box<dyn Stream<Item = Result<ToNode, Status>> + Send>>;

    type FetchStream = Chunks;

    async fn fetch(&self, request: Request<FetchRequest>) -> Result<Response<Chunks>, Status> {
        let credential = bearer(request.metadata())?.to_owned();
        let guess = self.guess(&request)?;
        let FetchRequest { node, token, digest } = request.into_inner();
        let wrong = |wrong: Malformed| Status::invalid_argument(wrong.to_string());
        let node = node_id(&node).map_err(wrong)?;
        guess.judge(self.gate.admit(&credential, node).await)?;
        let token = inward::token(token.as_ref()).map_err(wrong)?;
        let digest = digest[..].try_into().map(Digest::from_bytes);
        let digest = digest.map_err(|_| Status::invalid_argument("a digest has 32 bytes"))?;
        Ok(Response::new(self.files.fetch(node, token, digest).await?))
    }

    async fn join(&self, request: Request<JoinRequest>) -> Result<Response<JoinAnswer>, Status> {
        let guess = self.guess(&request)?;
        let JoinRequest { token, node, name, nonce } = request.into_inner();
        let id = node_id(&node).map_err(|wrong| Status::invalid_argument(wrong.to_string()))?;
        let credential = guess.judge(self.gate.join(&token, id, &name, &nonce).await)?;
        Ok(Response::new(JoinAnswer { credential, node: bytes_of(id.as_bytes()) }))
    }

    async fn connect(
        &self,
        request: Request<Streaming<FromNode>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        let credential = bearer(request.metadata())?.to_owned();
        let guess = self.guess(&request)?;
        // Before anything is read: who has no credential fills no memory.
        let known = guess.judge(self.gate.identify(&credential).await)?;
        let mut inward = request.into_inner();
        let hello = tokio::time::timeout(HELLO_WAIT, first(&mut inward)).await;
        let mut hello = hello.map_err(|_| Status::deadline_exceeded("a connection begins with hello"))??;
        let node = node_id(&hello.node).map_err(|wrong| Status::invalid_argument(wrong.to_string()))?;
        if node != known {
            return Err(Status::permission_denied("the credential is another node's"));
        }
        let admission = self.gate.admit(&credential, node).await.map_err(refused)?;
        admission.clone().lay_over(&mut hello)?;
        let (outward, words) = mpsc::channel(OUTWARD_MAX);
        let conversation = Conversation {
            node,
            cells: Arc::clone(&self.cells),
            logs: Arc::clone(&self.logs),
            outward,
            stop: self.stop.clone(),
        };
        let pass = Pass { gate: Arc::clone(&self.gate), credential, node, admission };
        let recheck_every = self.recheck_every;
        let (end, ended) = mpsc::channel(1);
        self.tasks.spawn(async move {
            if let Err(status) = conversation.hold(hello, inward, pass.lapsed(recheck_every)).await {
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

impl NodeService {
    /// A call that shows a credential; refused when its address has shown too many wrong ones.
    fn guess<T>(&self, request: &Request<T>) -> Result<Guess<'_>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let guess = Guess { peer, wrong_credentials: &self.wrong_credentials };
        if !guess.peer.as_ref().is_some_and(Peer::is_authenticated) {
            self.wrong_credentials.check(guess.address()).map_err(|wait| {
                let seconds = wait.as_secs() + 1;
                Status::resource_exhausted(format!(
                    "too many wrong credentials came from this address; try again in {seconds} s"
                ))
            })?;
        }
        Ok(guess)
    }
}

/// A credential that is shown and may be wrong.
struct Guess<'a> {
    peer: Option<Peer>,
    wrong_credentials: &'a WrongCredentials,
}

impl Guess<'_> {
    /// Notes whether it was right.
    fn judge<T>(&self, answer: Result<T, GateError>) -> Result<T, Status> {
        match (&answer, &self.peer) {
            (Ok(_), Some(peer)) => peer.authenticated(),
            (Err(GateError::Refused(_)), _) => self.wrong_credentials.count(self.address()),
            _ => {}
        }
        answer.map_err(refused)
    }

    fn address(&self) -> Option<IpAddr> {
        self.peer.as_ref().map(|peer| peer.address)
    }
}

/// What a node was let in with.
struct Pass {
    gate: Arc<dyn Gate>,
    credential: String,
    node: NodeId,
    admission: Admission,
}

impl Pass {
    /// Returns when the node has to go: it was removed, or what people say of it changed. Whoever did that may have asked
    /// another server.
    async fn lapsed(self, recheck_every: Duration) -> Status {
        loop {
            tokio::time::sleep(recheck_every).await;
            match self.gate.admit(&self.credential, self.node).await {
                Ok(admission) if admission == self.admission => {}
                Ok(_) => return Status::unavailable("its labels changed; connect again"),
                Err(GateError::Unavailable) => {}
                Err(error) => return refused(error),
            }
        }
    }
}

impl Admission {
    /// A node says much about itself, but not where it was invited to, and not against what people say of it.
    fn lay_over(self, hello: &mut Hello) -> Result<(), Status> {
        if let Some(pool) = self.pool.filter(|pool| *pool != hello.pool) {
            return Err(Status::failed_precondition(format!(
                "the node was invited to the pool `{pool}`, not to `{}`: start it with `--pool {pool}`",
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Mutex, PoisonError};

    use async_trait::async_trait;
    use mainspring_model::Labels;
    use tonic::Code;

    use super::*;

    /// Answers in turn.
    struct Answers(Mutex<VecDeque<Result<Admission, GateError>>>);

    #[async_trait]
    impl Gate for Answers {
        async fn join(&self, _: &str, _: NodeId, _: &str, _: &[u8]) -> Result<String, GateError> {
            Err(GateError::Unavailable)
        }

        async fn identify(&self, _: &str) -> Result<NodeId, GateError> {
            Err(GateError::Unavailable)
        }

        async fn admit(&self, _: &str, _: NodeId) -> Result<Admission, GateError> {
            let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            answers.pop_front().expect("an answer")
        }
    }

    async fn check(answers: Vec<Result<Admission, GateError>>, code: Code) {
        let gate = Arc::new(Answers(Mutex::new(answers.into())));
        let pass = Pass {
            gate: gate.clone(),
            credential: "mine".into(),
            node: NodeId::MIN,
            admission: Admission::default(),
        };
        assert_eq!(pass.lapsed(Duration::from_secs(30)).await.code(), code);
        assert!(gate.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_was_removed_elsewhere_is_hung_up_on() {
        let same = || Ok(Admission::default());
        let refused = || Err(GateError::Refused("no such credential".into()));
        check(vec![same(), Err(GateError::Unavailable), same(), refused()], Code::PermissionDenied).await;
        let mut labels = Labels::new();
        labels.insert("zone", "a").expect("a label");
        check(vec![same(), Ok(Admission { labels, ..Admission::default() })], Code::Unavailable).await;
    }
}
